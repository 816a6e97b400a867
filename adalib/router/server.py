"""An OpenAI-compatible server: an existing client changes its base URL and nothing else.

The reply is known only when the vote is closed, so a stream is silent until then, apart from comments that keep the
line open, and then brings the winning text at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from importlib.resources import files

from starlette.applications import Starlette
from starlette.requests import Request as Call
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from adalib.router.protocol import Request, RequestError, completion, error_body, extras, read_request, stream_chunks
from adalib.router.service import Service

__all__ = ["make_app"]

_LARGEST = 1 << 20  # bytes of a request
_QUIET = 10.0  # seconds of silence in a stream before a comment says that we are still here


def make_app(service: Service, token: str = "") -> Starlette:
    """Make the application.

    Parameters
    ----------
    service : Service
    token : str
        What callers must send as their key; empty lets everyone in who can reach the port.
    """

    def guarded(handler: Callable) -> Callable:
        async def guard(call: Call) -> Response:
            try:
                _check_token(call, token)
                response = await handler(call)
            except RequestError as error:
                headers = {"Retry-After": "1"} if error.status == 429 else {}
                response = JSONResponse(error_body(error), error.status, headers)
            if call.url.path == "/v1/chat/completions":
                service.replies.labels(str(response.status_code)).inc()
            return response

        return guard

    async def chat(call: Call) -> Response:
        asked = read_request(await _body(call), service.endpoint.model, service.how, service.prompt)
        service.enter()
        if asked.stream:
            return _Stream(_events(service, asked), service.leave)
        try:
            return await _whole(service, asked, call)
        finally:
            service.leave()

    async def models(call: Call) -> Response:
        model = {"id": service.endpoint.model, "object": "model", "created": 0, "owned_by": "adalib"}
        return JSONResponse({"object": "list", "data": [model]})

    async def metrics(call: Call) -> Response:
        return Response(service.metrics(), media_type="text/plain; version=0.0.4")

    async def live(call: Call) -> Response:
        return JSONResponse(service.live(), headers={"Cache-Control": "no-store"})

    async def health(call: Call) -> Response:
        return JSONResponse({"status": "ok"})

    async def page(call: Call) -> Response:
        return HTMLResponse(files("adalib.router").joinpath("live.html").read_text(encoding="utf-8"))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with service.endpoint, service.share or contextlib.nullcontext():
            yield

    return Starlette(
        routes=[
            Route("/v1/chat/completions", guarded(chat), methods=["POST"]),
            Route("/v1/models", guarded(models)),
            Route("/metrics", guarded(metrics)),
            Route("/live.json", guarded(live)),
            Route("/health", health),
            Route("/", page),
        ],
        lifespan=lifespan,
    )


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


async def _whole(service: Service, asked: Request, call: Call) -> Response:
    """Answer in one piece; a caller who hangs up is answered no further."""
    work, gone = asyncio.create_task(service.answer(asked)), asyncio.create_task(_gone(call))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            return Response(status_code=499)
        found = work.result()
    finally:
        work.cancel()
        gone.cancel()
    told = extras(found)
    headers = {
        f"X-Adalib-{name.title()}": f"{told[name]:g}" for name in ("samples", "rounds", "cost", "price", "certainty")
    }
    # A header is one line of ASCII, and a short one.
    headers["X-Adalib-Reason"] = json.dumps(told["reason"])[:300]
    headers["X-Adalib-Votes"] = json.dumps(dict(list(told["votes"].items())[:16]))[:1000]
    return JSONResponse(completion(found, service.endpoint.model), headers=headers)


async def _gone(call: Call) -> None:
    while (await call.receive())["type"] != "http.disconnect":
        pass


async def _events(service: Service, asked: Request) -> AsyncIterator[bytes]:
    work = asyncio.create_task(service.answer(asked))
    try:
        yield b": voting\n\n"
        while not (await asyncio.wait({work}, timeout=_QUIET))[0]:
            yield b": still voting\n\n"
        try:
            chunks = stream_chunks(work.result(), service.endpoint.model, asked.include_usage)
        except RequestError as error:
            chunks = [error_body(error)]
        for chunk in chunks:
            yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"
    finally:
        work.cancel()


class _Stream(StreamingResponse):
    """A stream that gives its place back when it ends, however it ends."""

    def __init__(self, events: AsyncIterator[bytes], leave: Callable[[], None]):
        super().__init__(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._leave = leave

    async def __call__(self, scope, receive, send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()
