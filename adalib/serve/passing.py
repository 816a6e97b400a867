"""Pass a request on to an upstream, and its reply back: bytes in, bytes out.

Path, query, body and headers, repeated ones too, go on as they came. Left out are the headers of
one connection. The server (`adalib.serve.server`) decides what is passed on.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote_to_bytes, urlsplit

import httpx2
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]

# Headers that belong to one connection, or are set anew.
_NOT_PASSED = frozenset(
    b"host connection keep-alive proxy-connection proxy-authenticate proxy-authorization te "
    b"trailer transfer-encoding upgrade expect".split()
)


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers that are for the other end, in their order and with their bytes."""
    pairs = list(headers)
    named = [value.lower() for name, value in pairs if name.lower() == b"connection"]
    dropped = _NOT_PASSED.union(part.strip() for value in named for part in value.split(b","))
    if any(name.lower() == b"transfer-encoding" for name, _ in pairs):
        dropped |= {b"content-length"}  # of a body that comes in chunks, it is not the length
    return [(name, value) for name, value in pairs if name.lower() not in dropped]


def without(headers: Headers, *names: bytes) -> Headers:
    """Return the headers but for those of these names, which are in small letters."""
    return [pair for pair in headers if pair[0].lower() not in names]


def climbs(path: bytes) -> bool:
    """Whether a path leads upwards, however often it is decoded on the way."""
    for _ in range(5):
        # Some servers read "..;x" as "..", so no part of a path may begin with two dots.
        if any(part.startswith(b"..") for part in path.replace(b"\\", b"/").split(b"/")):
            return True
        path, before = unquote_to_bytes(path), path
        if path == before:
            return False
    return True  # no honest path is encoded so often


def outgoing_request(
    request: Request, upstream: str, headers: Headers, body: bytes, timeout: float
) -> httpx2.Request:
    """Return a request under /v1 as it goes to the upstream, with the given headers."""
    path: bytes = request.scope["raw_path"]
    target = urlsplit(upstream).path.encode() + path.removeprefix(b"/v1")
    if request.scope["query_string"]:
        target += b"?" + request.scope["query_string"]
    # Made by hand and not by the client, which would add headers and mend the path.
    return httpx2.Request(
        request.method,
        upstream,
        headers=headers,
        content=body,
        extensions={"target": target, "timeout": httpx2.Timeout(timeout).as_dict()},
    )


class Passed(StreamingResponse):
    """The upstream's reply as it goes to the caller, while it comes."""

    def __init__(self, reply: httpx2.Response) -> None:
        super().__init__(reply.aiter_raw(), reply.status_code)
        self.raw_headers = end_to_end(reply.headers.raw)
        self.reply = reply

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply, and give its connection back also if the caller has gone before."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self.reply.aclose()
