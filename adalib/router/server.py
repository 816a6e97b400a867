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
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import prometheus_client as prometheus
from starlette.applications import Starlette
from starlette.requests import Request as Call
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from adalib.llm.endpoint import Endpoint, EndpointError
from adalib.llm.questions import Prompt
from adalib.router.ask import LATE, PURSE, Asking, NotShortError, Routed, ask
from adalib.router.protocol import Request, RequestError, completion, error_body, extras, read_request, stream_chunks
from adalib.router.router import Router

if TYPE_CHECKING:  # Redis is needed by those alone who share
    from adalib.router.shared import Share

__all__ = ["Service", "make_app"]

_SHOWN = 300  # questions on the live page
_LARGEST = 1 << 20  # bytes of a request
_QUIET = 10.0  # seconds of silence in a stream before a comment says that we are still here
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads


def make_app(service: Service, token: str = "") -> Starlette:
    """Make the application; callers send ``token`` as their key, where there is one. Explained in chapter 11."""

    def guarded(handler: Callable[[Call], Awaitable[Response]]) -> Callable[[Call], Awaitable[Response]]:
        async def guard(call: Call) -> Response:
            try:
                _check_token(call, token)
                response = await handler(call)
            except Exception as error:
                told = _told(error)
                headers = {"Retry-After": "1"} if told.status == 429 else {}
                response = JSONResponse(error_body(told), told.status, headers)
            if handler == service.chat:
                service.replies.labels(str(response.status_code)).inc()
            return response

        return guard

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with service.endpoint, service.share or contextlib.nullcontext():
            yield

    return Starlette(
        routes=[
            Route("/v1/chat/completions", guarded(service.chat), methods=["POST"]),
            Route("/v1/models", guarded(service.models)),
            Route("/metrics", guarded(service.metrics)),
            Route("/live.json", guarded(service.live)),
            Route("/health", service.health),
            Route("/", service.page),
        ],
        lifespan=lifespan,
    )


class Service:
    """A router in front of an endpoint, shared by all requests, with figures for whoever watches.

    ``how`` has the defaults of a request; ``prompt`` is put around a request of a single turn; more than ``limit``
    requests at a time are told to come back; with ``share`` several servers have one budget.
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

    async def chat(self, call: Call) -> Response:
        """A chat completion: one reply, or a stream."""
        asked = read_request(await _body(call), self.endpoint.model, self.how, self.prompt)
        if self.open >= self.limit:
            raise RequestError(429, f"{self.limit} requests are open; come back", "rate_limit_error", "server_busy")
        self.open += 1
        work = asyncio.create_task(self._answer(asked))

        def end() -> None:
            work.cancel()
            self.open -= 1

        streams = False
        try:
            # A vote that is closed soon has its figures in the headers of a stream, too, and a fault its status.
            if not await _wait(work, call, _QUIET if asked.stream else None):
                return Response(status_code=499)  # nobody is left to be answered
            headers = _headers(work.result()) if work.done() else {}
            if not asked.stream:
                return JSONResponse(completion(work.result(), self.endpoint.model), headers=headers)
            streams = True
            return _Stream(self._events(asked, work), headers, end)
        finally:
            if not streams:
                end()

    async def _answer(self, asked: Request) -> list[Routed]:
        """Answer a request, every choice of it."""
        with self.seconds.time():
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [
                        group.create_task(ask(self.router, self.endpoint, asked.question, asked.messages, asked.how))
                        for _ in range(asked.choices)
                    ]
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
        if self.share is not None:
            await self.share.flush()  # what a caller was told, the others know
        routed = [task.result() for task in tasks]
        for one in routed:
            self._note(one)
        return routed

    async def _events(self, asked: Request, work: asyncio.Task[list[Routed]]) -> AsyncIterator[bytes]:
        while not work.done():
            yield b": still voting\n\n"
            await asyncio.wait({work}, timeout=_QUIET)
        try:
            chunks = stream_chunks(work.result(), self.endpoint.model, asked.include_usage)
        except Exception as error:
            chunks = [error_body(_told(error))]
        for chunk in chunks:
            yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"

    async def models(self, call: Call) -> Response:
        """The one model that is here."""
        model = {"id": self.endpoint.model, "object": "model", "created": 0, "owned_by": "adalib"}
        return JSONResponse({"object": "list", "data": [model]})

    async def metrics(self, call: Call) -> Response:
        """The figures in Prometheus' text format."""
        return Response(prometheus.generate_latest(self._registry), media_type="text/plain; version=0.0.4")

    async def health(self, call: Call) -> Response:
        """That the server runs."""
        return JSONResponse({"status": "ok"})

    async def page(self, call: Call) -> Response:
        """The live page, which asks for what `live` gives."""
        return HTMLResponse(files("adalib.router").joinpath("live.html").read_text(encoding="utf-8"))

    async def live(self, call: Call) -> Response:
        """What the live page shows."""
        controller, purse = self.router.controller, self.router.purse
        shown = {
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
        return JSONResponse(shown, headers={"Cache-Control": "no-store"})

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

    def _make_metrics(self) -> None:
        self._registry = registry = prometheus.CollectorRegistry()
        controller = self.router.controller
        self.replies = prometheus.Counter("adalib_requests", "Replies by status", ["status"], registry=registry)
        self.asked = prometheus.Counter("adalib_questions", "Questions answered", registry=registry)
        self.sampled = prometheus.Counter("adalib_samples", "Answers sampled", registry=registry)
        self.spent = prometheus.Counter("adalib_cost", "Cost in the router's unit", registry=registry)
        self.money = prometheus.Counter("adalib_dollars", "Cost in dollars", registry=registry)
        self.tokens = prometheus.Counter("adalib_tokens", "Tokens", ["kind"], registry=registry)
        shares = [k / 10 for k in range(1, 11)]
        self.agreement = prometheus.Histogram(
            "adalib_agreement", "Share of the winner", buckets=shares, registry=registry
        )
        self.seconds = prometheus.Histogram("adalib_seconds", "Seconds a request", registry=registry)
        gauges: dict[tuple[str, str], Callable[[], float]] = {
            ("adalib_price", "Price of compute, in accuracy a unit of cost"): lambda: controller.price,
            ("adalib_budget", "Average cost to hold"): lambda: controller.budget,
            ("adalib_average_cost", "Average cost so far"): lambda: controller.average or 0.0,
            ("adalib_shared", "Whether the budget is shared and the store answers"): lambda: (
                self.share is not None and self.share.reached
            ),
            ("adalib_open_requests", "Requests being answered"): lambda: self.open,
        }
        for (name, told), value in gauges.items():
            prometheus.Gauge(name, told, registry=registry).set_function(value)


class _Stream(StreamingResponse):
    """A stream that gives its place back when it ends, however it ends."""

    def __init__(self, events: AsyncIterator[bytes], headers: dict[str, str], end: Callable[[], None]):
        super().__init__(events, media_type="text/event-stream", headers={"Cache-Control": "no-store", **headers})
        self._end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._end()


def _told(error: Exception) -> RequestError:
    """What the caller is told of an error.

    A key or an address that the endpoint refuses is ours and not the caller's: a 401 would send them to their own key.
    Of a fault of ours the operator gets one line, since its context may hold a key.
    """
    why = str(error)
    if isinstance(error, RequestError):
        return error
    if isinstance(error, NotShortError):
        return RequestError(422, why, code="no_short_answer")
    if not isinstance(error, EndpointError):
        at = traceback.extract_tb(error.__traceback__)[-1]
        _LOG.error("%s in %s, line %d: please report it", type(error).__name__, Path(at.filename).name, at.lineno)
        return RequestError(500, f"the server failed on this request ({type(error).__name__})", "server_error")
    if why.startswith(PURSE) or error.code == "insufficient_quota":
        return RequestError(429, why, "insufficient_quota", "insufficient_quota")
    if why.startswith(LATE):
        return RequestError(504, why, "timeout_error", "timeout")
    if error.status == 429:
        return RequestError(429, why, "rate_limit_error", "upstream_busy")
    if error.status in (400, 413, 415, 422):
        return RequestError(error.status, why, "invalid_request_error", "upstream_refused")
    return RequestError(502, why, "upstream_error", "upstream_error")


def _check_token(call: Call, token: str) -> None:
    given = call.headers.get("authorization", "").removeprefix("Bearer ").strip()
    if token and not hmac.compare_digest(given.encode(), token.encode()):
        raise RequestError(401, "the key is not this server's token", "authentication_error", "invalid_api_key")


async def _body(call: Call) -> bytes:
    body = b""
    async for part in call.stream():
        body += part
        if len(body) > _LARGEST:
            raise RequestError(413, f"the request is larger than {_LARGEST} bytes")
    return body


def _headers(routed: Sequence[Routed]) -> dict[str, str]:
    told = extras(routed)
    names = ("samples", "rounds", "cost", "price", "confidence")
    headers = {f"X-Adalib-{name.title()}": f"{told[name]:g}" for name in names}
    # A header is one line of ASCII, and a short one.
    headers["X-Adalib-Reason"] = json.dumps(told["reason"])[:300]
    headers["X-Adalib-Votes"] = json.dumps(dict(list(told["votes"].items())[:16]))[:1000]
    return headers


async def _wait(work: asyncio.Task, call: Call, seconds: float | None) -> bool:
    """Wait for the work, or so many seconds; False where the caller hung up before."""

    async def hung_up() -> None:
        while (await call.receive())["type"] != "http.disconnect":
            pass

    gone = asyncio.create_task(hung_up())
    try:
        await asyncio.wait({work, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return work.done() or not gone.done()
    finally:
        gone.cancel()
