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
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Gauge, Histogram, generate_latest
from prometheus_client import Counter as Counted
from starlette.applications import Starlette
from starlette.requests import Request as Call
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from adalib.llm.endpoint import Endpoint, EndpointError
from adalib.llm.questions import Prompt
from adalib.router.ask import LATE, PURSE, Asking, NotShortError, Routed, ask
from adalib.router.protocol import Request, RequestError, completion, error_body, extras, read_request, stream_chunks
from adalib.router.router import Router

if TYPE_CHECKING:
    from adalib.router.shared import Share

__all__ = ["Service", "make_app"]


# What stands behind the server: room for so many requests, and figures for whoever watches.


_SHOWN = 300  # questions on the live page


class Service:
    """A router in front of an endpoint, shared by all requests. Explained in chapter 11, "Deploy".

    Parameters
    ----------
    router : Router
    endpoint : Endpoint
    how : Asking
        Defaults of a request.
    prompt : Prompt, optional
        Put around a request of a single turn; others are passed on as they are.
    limit : int
        Requests at a time; further ones are told to come back.
    share : Share, optional
        Where several servers share one budget.
    """

    def __init__(
        self,
        router: Router,
        endpoint: Endpoint,
        how: Asking,
        prompt: Prompt | None = None,
        limit: int = 64,
        share: Share | None = None,
    ):
        if limit < 1:
            raise ValueError(f"the limit is {limit}; give at least 1")
        self.router, self.endpoint, self.how, self.prompt, self.limit = router, endpoint, how, prompt, limit
        self.share = share
        self.open = 0
        self.recent: deque[list[float]] = deque(maxlen=_SHOWN)
        self.samples: Counter[int] = Counter()
        self._make_metrics()

    def enter(self) -> None:
        """Take one of the places, or be told to come back."""
        if self.open >= self.limit:
            raise RequestError(429, f"{self.limit} requests are open; come back", "rate_limit_error", "server_busy")
        self.open += 1

    def leave(self) -> None:
        """Give the place back."""
        self.open -= 1

    async def answer(self, asked: Request) -> list[Routed]:
        """Answer a request, every choice of it."""
        with self.seconds.time():
            tasks = [
                asyncio.create_task(ask(self.router, self.endpoint, asked.question, asked.messages, asked.how))
                for _ in range(asked.choices)
            ]
            try:
                found = await asyncio.gather(*tasks)
            except NotShortError as error:
                raise RequestError(422, str(error), code="no_short_answer") from None
            except EndpointError as error:
                raise _told(error) from None
            finally:
                for task in tasks:
                    task.cancel()
        if self.share is not None:
            await self.share.flush()  # what a caller was told, the others know
        for one in found:
            self._note(one)
        return found

    def _note(self, one: Routed) -> None:
        self.samples[one.samples] += 1
        self.asked.inc()
        self.sampled.inc(one.samples)
        self.spent.inc(one.cost)
        self.money.inc(one.money)
        self.tokens.labels("written").inc(one.tokens)
        self.tokens.labels("read").inc(one.prompt_tokens)
        self.agreement.observe(one.agreement)
        average = self.router.controller.average or 0.0
        self.recent.append([self.router.controller.asked, one.price, average, one.samples, one.agreement])

    def live(self) -> dict[str, Any]:
        """What the live page shows."""
        controller, purse = self.router.controller, self.router.purse
        return {
            "model": self.endpoint.model,
            "budget": controller.budget,
            "unit": self.router.unit,
            "average": controller.average,
            "price": controller.price,
            "asked": controller.asked,
            "money": purse.spent,
            "total": None if purse.total == float("inf") else purse.total,
            "open": self.open,
            "limit": self.limit,
            "shared": None if self.share is None else self.share.reached,
            "samples": sorted(self.samples.items()),
            "recent": [[round(value, 6) for value in row] for row in self.recent],
        }

    def _shared(self) -> bool:
        return self.share is not None and self.share.reached

    def metrics(self) -> bytes:
        """The figures in Prometheus' text format."""
        return generate_latest(self._registry)

    def _make_metrics(self) -> None:
        self._registry = registry = CollectorRegistry()
        controller = self.router.controller
        self.replies = Counted("adalib_requests", "Replies by status", ["status"], registry=registry)
        self.asked = Counted("adalib_questions", "Questions answered", registry=registry)
        self.sampled = Counted("adalib_samples", "Answers sampled", registry=registry)
        self.spent = Counted("adalib_cost", "Cost in the router's unit", registry=registry)
        self.money = Counted("adalib_dollars", "Cost in dollars", registry=registry)
        self.tokens = Counted("adalib_tokens", "Tokens", ["kind"], registry=registry)
        shares = [k / 10 for k in range(1, 11)]
        self.agreement = Histogram("adalib_agreement", "Share of the winner", buckets=shares, registry=registry)
        self.seconds = Histogram("adalib_seconds", "Seconds a request", registry=registry)
        for name, told, value in (
            ("adalib_price", "Price of compute, in accuracy a unit of cost", lambda: controller.price),
            ("adalib_budget", "Average cost to hold", lambda: controller.budget),
            ("adalib_average_cost", "Average cost so far", lambda: controller.average or 0.0),
            ("adalib_shared", "Whether the budget is shared and the store answers", self._shared),
            ("adalib_open_requests", "Requests being answered", lambda: self.open),
        ):
            Gauge(name, told, registry=registry).set_function(value)


def _told(error: EndpointError) -> RequestError:
    """An endpoint's fault as the caller's error: no credit, too late, too many, a bad request, or a bad gateway.

    A key or an address that the endpoint refuses is ours and not the caller's: a 401 would send them to their own key.
    """
    why = str(error)
    if why.startswith(PURSE) or error.code == "insufficient_quota":
        return RequestError(429, why, "insufficient_quota", "insufficient_quota")
    if why.startswith(LATE):
        return RequestError(504, why, "timeout_error", "timeout")
    if error.status == 429:
        return RequestError(429, why, "rate_limit_error", "upstream_busy")
    if error.status in (400, 413, 415, 422):
        return RequestError(error.status, why, "invalid_request_error", "upstream_refused")
    return RequestError(502, why, "upstream_error", "upstream_error")


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
                told = _server_told(error)
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


def _server_told(error: Exception) -> RequestError:
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
        f"X-Adalib-{name.title()}": f"{told[name]:g}" for name in ("samples", "rounds", "cost", "price", "confidence")
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
            chunks = [error_body(_server_told(error))]
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
