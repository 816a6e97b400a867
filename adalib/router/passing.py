"""Passing a request on as it came, and its reply back as it comes.

All methods, all end-to-end headers both ways, bodies of any size in the pieces in which they
arrive. Only hop-by-hop headers and the key are ours. Nothing here is read, priced or booked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
from starlette.requests import Request as Call
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from adalib.llm.client import SECRET, Client, EndpointError

_HOP_BY_HOP = {
    b"connection",
    b"keep-alive",
    b"proxy-authenticate",
    b"proxy-authorization",
    b"te",  # codespell:ignore te
    b"trailer",
    b"trailers",
    b"transfer-encoding",
    b"upgrade",
}
_OURS = {b"host", b"authorization"}
_ERROR_BODY = 1 << 20  # bytes of an upstream's error that are looked through for the key
_STALE = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError)


async def read_start(call: Call, size: int) -> tuple[bytes, bool]:
    """Read a body up to about ``size`` bytes; return it, and whether that is all of it."""
    start = bytearray()
    async for piece in call.stream():
        start += piece
        if len(start) > size:
            return bytes(start), False
    return bytes(start), True


class Upstream:
    """The upstream as a place to which requests are passed on."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._http = client.http_client()
        self._http.timeout = httpx2.Timeout(client.timeout)  # on silences: a stream may last

    async def aclose(self) -> None:
        await self._http.aclose()

    async def pass_on(
        self, call: Call, path: str, start: bytes, whole: bool, reason: str
    ) -> Response:
        """Pass a request on, of whose body ``start`` was read, and return the upstream's reply."""
        try:
            reply = await self._send(call, path, start, whole)
        except httpx2.HTTPError as error:
            why = self.client.clean(str(error) or type(error).__name__)
            raise EndpointError(f"the upstream failed: {why}") from None
        headers = _end_to_end(reply.headers.raw)
        headers.append((b"x-adalib-reason", f'"passed on: {reason}"'.encode("ascii", "replace")))
        if reply.status_code >= 400 and len(self.client.key) >= SECRET:
            return await self._without_key(reply, headers)
        return _PassedReply(reply, headers)

    async def models(self, call: Call) -> list[dict[str, Any]]:
        """The upstream's own list of models, empty where it has none."""
        try:
            reply = await self._send(call, "models", b"", True)
            try:
                await reply.aread()
            finally:
                await reply.aclose()
            models = reply.json()["data"]
            return [model for model in models if isinstance(model, dict) and "id" in model]
        except (httpx2.HTTPError, ValueError, LookupError, TypeError):
            return []

    async def _send(self, call: Call, path: str, start: bytes, whole: bool) -> httpx2.Response:
        """Send a request to the upstream, with its key in the place of the caller's."""
        url = f"{self.client.url}/{path}"
        if call.url.query:
            url += f"?{call.url.query}"
        headers = [
            (name, value) for name, value in _end_to_end(call.headers.raw) if name not in _OURS
        ]
        if whole:  # its length is known, and perhaps another one
            headers = [(name, value) for name, value in headers if name != b"content-length"]
        if self.client.key:
            headers.append((b"authorization", f"Bearer {self.client.key}".encode()))
        connected: list[str] = []  # filled if the connection is a new one

        async def trace(event: str, info: dict[str, Any]) -> None:
            if event == "connection.connect_tcp.started":
                connected.append(event)

        for last in (False, True):
            body = (start or None) if whole else _continued(start, call)
            request = httpx2.Request(
                call.method, url, headers=headers, content=body, extensions={"trace": trace}
            )
            request.extensions["timeout"] = self._http.timeout.as_dict()
            try:
                return await self._http.send(request, stream=True)
            except _STALE:
                # The upstream had closed an idle connection; try once more, on a new one.
                if last or connected or not whole:
                    raise
        raise AssertionError("unreachable")

    async def _without_key(
        self, reply: httpx2.Response, headers: list[tuple[bytes, bytes]]
    ) -> Response:
        """An error of the upstream, from which the key is blotted out if it is repeated there."""
        body = bytearray()
        try:
            async for piece in reply.aiter_bytes():
                body += piece
                if len(body) > _ERROR_BODY:
                    break
        finally:
            await reply.aclose()
        changed = (b"content-length", b"content-encoding")
        kept = [(name, value) for name, value in headers if name.lower() not in changed]
        response = Response(
            bytes(body).replace(self.client.key.encode(), b"[key]"), reply.status_code
        )
        response.raw_headers += kept
        return response


async def _continued(start: bytes, call: Call) -> AsyncIterator[bytes]:
    """Yield the part of a body that was read, and then the rest as it arrives."""
    yield start
    async for piece in call.stream():
        if piece:
            yield piece


def _end_to_end(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers that are for the other end, without those for the next hop."""
    named = [value for name, value in headers if name.lower() == b"connection"]
    hop = _HOP_BY_HOP | {word.strip().lower() for value in named for word in value.split(b",")}
    return [(name.lower(), value) for name, value in headers if name.lower() not in hop]


class _PassedReply(StreamingResponse):
    """The upstream's reply, byte for byte, whose connection is given back however it ends."""

    def __init__(self, reply: httpx2.Response, headers: list[tuple[bytes, bytes]]) -> None:
        super().__init__(reply.aiter_raw(), reply.status_code)
        self.raw_headers = headers
        self._reply = reply

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._reply.aclose()
