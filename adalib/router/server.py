"""An OpenAI-compatible server: an existing client changes its base URL and nothing else.

The reply is known only when the vote is closed, so a stream begins then, with the winning text at once. Where the vote
takes longer than a few seconds it begins earlier, with comments that keep the line open: then the figures come with the
last chunk alone, and a fault as an event.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request as Call
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from adalib.router.asking import Routed
from adalib.router.protocol import Request, RequestError, completion, error_body, extras, read_request, stream_chunks
from adalib.router.service import Service

__all__ = ["make_app"]

_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads
_LARGEST = 1 << 20  # bytes of a request
_QUIET = 10.0  # seconds of silence in a stream before a comment says that we are still here


def make_app(service: Service, token: str = "") -> Starlette:
    """Make the application. Explained in chapter 11, "Deploy".

    Parameters
    ----------
    service : Service
    token : str
        What callers must send as their key; empty lets everyone in who can reach the port.
    """

    doors = _Doors(service, token)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with service.endpoint, service.share or contextlib.nullcontext():
            yield

    return Starlette(
        routes=[
            Route("/v1/chat/completions", doors.guarded(doors.chat), methods=["POST"]),
            Route("/v1/models", doors.guarded(doors.models)),
            Route("/metrics", doors.guarded(doors.metrics)),
            Route("/live.json", doors.guarded(doors.live)),
            Route("/health", doors.health),
            Route("/", doors.page),
        ],
        lifespan=lifespan,
    )


class _Doors:
    """What stands behind each address of the server."""

    def __init__(self, service: Service, token: str):
        self.service, self.token = service, token

    def guarded(self, handler: Callable) -> Callable:
        async def guard(call: Call) -> Response:
            try:
                _check_token(call, self.token)
                response = await handler(call)
            except Exception as error:
                told = _told(error)
                headers = {"Retry-After": "1"} if told.status == 429 else {}
                response = JSONResponse(error_body(told), told.status, headers)
            if call.url.path == "/v1/chat/completions":
                self.service.replies.labels(str(response.status_code)).inc()
            return response

        return guard

    async def chat(self, call: Call) -> Response:
        service = self.service
        asked = read_request(await _body(call), service.endpoint.model, service.how, service.prompt)
        service.enter()
        work = asyncio.create_task(service.answer(asked))

        def end() -> None:
            work.cancel()
            service.leave()

        streams = False
        try:
            # A vote that is closed soon has its figures in the headers of a stream, too, and a fault its status.
            if await _wait(work, call, _QUIET if asked.stream else None) and not asked.stream:
                found = work.result()
                return JSONResponse(completion(found, service.endpoint.model), headers=_headers(found))
            headers = _headers(work.result()) if work.done() else {}
            streams = True
            return _Stream(_events(service, asked, work), headers, end)
        except _GoneError:
            return Response(status_code=499)
        finally:
            if not streams:
                end()

    async def models(self, call: Call) -> Response:
        model = {"id": self.service.endpoint.model, "object": "model", "created": 0, "owned_by": "adalib"}
        return JSONResponse({"object": "list", "data": [model]})

    async def metrics(self, call: Call) -> Response:
        return Response(self.service.metrics(), media_type="text/plain; version=0.0.4")

    async def live(self, call: Call) -> Response:
        return JSONResponse(self.service.live(), headers={"Cache-Control": "no-store"})

    async def health(self, call: Call) -> Response:
        return JSONResponse({"status": "ok"})

    async def page(self, call: Call) -> Response:
        return HTMLResponse(files("adalib.router").joinpath("live.html").read_text(encoding="utf-8"))


def _told(error: Exception) -> RequestError:
    """What the caller is told; of a fault of ours the operator gets one line, since its context may hold a key."""
    if isinstance(error, RequestError):
        return error
    at = traceback.extract_tb(error.__traceback__)[-1]
    _LOG.error("%s in %s, line %d: please report it", type(error).__name__, Path(at.filename).name, at.lineno)
    return RequestError(500, f"the server failed on this request ({type(error).__name__})", "server_error")


def _check_token(call: Call, token: str) -> None:
    given = call.headers.get("authorization", "").removeprefix("Bearer ").strip()
    if token and not hmac.compare_digest(given.encode(), token.encode()):
        raise RequestError(401, "the key is not this server's token", "authentication_error", "invalid_api_key")


async def _body(call: Call) -> bytes:
    found = b""
    async for part in call.stream():
        found += part
        if len(found) > _LARGEST:
            raise RequestError(413, f"the request is larger than {_LARGEST} bytes")
    return found


def _headers(found: Sequence[Routed]) -> dict[str, str]:
    told = extras(found)
    headers = {
        f"X-Adalib-{name.title()}": f"{told[name]:g}" for name in ("samples", "rounds", "cost", "price", "certainty")
    }
    # A header is one line of ASCII, and a short one.
    headers["X-Adalib-Reason"] = json.dumps(told["reason"])[:300]
    headers["X-Adalib-Votes"] = json.dumps(dict(list(told["votes"].items())[:16]))[:1000]
    return headers


async def _wait(work: asyncio.Task, call: Call, seconds: float | None = None) -> bool:
    """Whether the answer came in so many seconds; `_GoneError` where the caller hung up."""
    gone = asyncio.create_task(_gone(call))
    try:
        await asyncio.wait({work, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if gone.done() and not work.done():
            raise _GoneError
        return work.done()
    finally:
        gone.cancel()


async def _gone(call: Call) -> None:
    while (await call.receive())["type"] != "http.disconnect":
        pass


class _GoneError(Exception):
    """The caller hung up: nobody is left to be answered."""


async def _events(service: Service, asked: Request, work: asyncio.Task) -> AsyncIterator[bytes]:
    try:
        while not work.done():
            yield b": still voting\n\n"
            await asyncio.wait({work}, timeout=_QUIET)
        try:
            chunks = stream_chunks(work.result(), service.endpoint.model, asked.include_usage)
        except Exception as error:
            chunks = [error_body(_told(error))]
        for chunk in chunks:
            yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"
    finally:
        work.cancel()


class _Stream(StreamingResponse):
    """A stream that gives its place back when it ends, however it ends."""

    def __init__(self, events: AsyncIterator[bytes], headers: dict[str, str], end: Callable[[], None]):
        super().__init__(events, media_type="text/event-stream", headers={"Cache-Control": "no-store", **headers})
        self._end = end

    async def __call__(self, scope, receive, send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._end()
