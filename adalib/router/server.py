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
import time
import traceback
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import prometheus_client as prometheus
from starlette.applications import Starlette
from starlette.requests import Request as Call
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from adalib.llm.endpoint import Endpoint, EndpointError
from adalib.llm.questions import Prompt
from adalib.router.ask import LATE, PURSE, Asking, NotShortError, Routed, ask
from adalib.router.router import Router

if TYPE_CHECKING:  # Redis is needed by those alone who share
    from adalib.router.shared import Share

__all__ = ["Service", "make_app"]

_OWN = "adalib"  # the field of a request with our settings, and of a reply with our figures
_LIMITS = ("max_completion_tokens", "max_tokens")
_READ = ("model", "messages", "stream", "stream_options", "n", "temperature", "seed", _OWN, *_LIMITS)
_REFUSED = ("tools", "functions", "logprobs", "top_logprobs", "audio", "modalities")
_MOST_CHOICES = 128
_SHOWN = 300  # questions on the live page
_LARGEST = 1 << 20  # bytes of a request
_QUIET = 10.0  # seconds of silence in a stream before a comment says that we are still here
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads


class RequestError(Exception):
    """What the caller is told, in the shape of an OpenAI error."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error", code: str | None = None):
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": None, "code": code}}


def make_app(service: Service, token: str = "") -> Starlette:
    """Make the application; callers send ``token`` as their key, where there is one. Explained in chapter 10."""

    def guarded(handler: Callable[[Call], Awaitable[Response]]) -> Callable[[Call], Awaitable[Response]]:
        async def guard(call: Call) -> Response:
            try:
                given = call.headers.get("authorization", "").removeprefix("Bearer ").strip()
                if token and not hmac.compare_digest(given.encode(), token.encode()):
                    told = "the key is not this server's token"
                    raise RequestError(401, told, "authentication_error", "invalid_api_key")
                response = await handler(call)
            except Exception as error:
                fault = _told(error)
                headers = {"Retry-After": "1"} if fault.status == 429 else {}
                response = JSONResponse(fault.body, fault.status, headers)
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


@dataclass(eq=False)
class Service:
    """A router in front of an endpoint, shared by all requests, with figures for whoever watches."""

    router: Router
    endpoint: Endpoint
    how: Asking  # the defaults of a request
    prompt: Prompt | None = None  # put around a request of a single turn
    limit: int = 64  # requests at a time; further ones are told to come back
    share: Share | None = None  # of one budget for several servers

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"the limit is {self.limit}; give at least 1")
        self.open = 0
        self.recent: deque[list[float]] = deque(maxlen=_SHOWN)
        self.samples: Counter[int] = Counter()
        self.router.controller.reach = self.router.reach(self.how)
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

        with contextlib.ExitStack() as undo:
            undo.callback(end)
            # A vote that is closed soon has its figures in the headers of a stream, too, and a fault its status.
            if not await _wait(work, call, _QUIET if asked.stream else None):
                return Response(status_code=499)  # nobody is left to be answered
            headers = _headers(work.result()) if work.done() else {}
            if not asked.stream:
                return JSONResponse(completion(work.result(), self.endpoint.model), headers=headers)
            undo.pop_all()
        return _Stream(self._events(asked, work), headers, end)

    async def _answer(self, asked: Request) -> list[Routed]:
        """Answer a request, every choice of it."""
        one = partial(ask, self.router, self.endpoint, asked.question, asked.messages, asked.how)
        with self.seconds.time():
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(one()) for _ in range(asked.choices)]
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
        if self.share is not None:
            await self.share.flush()  # what a caller was told, the others know
        return [self._noted(task.result()) for task in tasks]

    async def _events(self, asked: Request, work: asyncio.Task[list[Routed]]) -> AsyncIterator[bytes]:
        while not work.done():
            yield b": still voting\n\n"
            await asyncio.wait({work}, timeout=_QUIET)
        try:
            chunks = stream_chunks(work.result(), self.endpoint.model, asked.include_usage)
        except Exception as error:
            chunks = [_told(error).body]
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
        names = ("budget", "average", "price", "asked", "let_go", "apart", "apart_spent")
        shown = {name: getattr(controller, name) for name in names} | {
            "model": self.endpoint.model,
            "unit": self.router.unit,
            "bound": self._bound(),
            "money": purse.spent,
            "total": None if purse.total == inf else purse.total,
            "open": self.open,
            "limit": self.limit,
            "shared": self.share and self.share.reached,
            "samples": sorted(self.samples.items()),
            "recent": [[round(value, 6) for value in row] for row in self.recent],
        }
        return JSONResponse(shown, headers={"Cache-Control": "no-store"})

    def _bound(self) -> float:
        return self.router.controller.bound(max(self.limit, self.router.controller.at_once))

    def _noted(self, one: Routed) -> Routed:
        self.samples[one.samples] += 1
        self.asked.inc()
        for field, counter in self.sums.items():
            counter.inc(getattr(one, field))
        self.tokens.labels("written").inc(one.tokens)
        self.tokens.labels("read").inc(one.prompt_tokens)
        self.agreement.observe(one.agreement)
        controller = self.router.controller
        if one.counted:
            self.recent.append([controller.asked, one.price, controller.average or 0.0, one.samples, one.agreement])
        return one

    def _make_metrics(self) -> None:
        self._registry = registry = prometheus.CollectorRegistry()
        counter = partial(prometheus.Counter, registry=registry)
        histogram = partial(prometheus.Histogram, registry=registry)
        controller = self.router.controller
        self.replies = counter("adalib_requests", "Replies by status", ["status"])
        self.asked = counter("adalib_questions", "Questions answered")
        self.sums = {
            "samples": counter("adalib_samples", "Answers sampled"),
            "cost": counter("adalib_cost", "Cost in the router's unit"),
            "money": counter("adalib_dollars", "Cost in dollars"),
        }
        self.tokens = counter("adalib_tokens", "Tokens", ["kind"])
        self.agreement = histogram("adalib_agreement", "Share of the winner", buckets=[k / 10 for k in range(1, 11)])
        self.seconds = histogram("adalib_seconds", "Seconds a request")
        gauges: list[tuple[str, str, Callable[[], float]]] = [
            ("price", "Price of compute, in accuracy a unit of cost", lambda: controller.price),
            ("budget", "Average cost to hold", lambda: controller.budget),
            ("average_cost", "Average cost so far", lambda: controller.average or 0.0),
            ("bound", "Most that costs can pass their budgets by, in sum", self._bound),
            ("let_go", "Unspent budget forgotten, less debt written off", lambda: controller.let_go),
            ("apart_questions", "Questions outside the average: own price, or no vote", lambda: controller.apart),
            ("apart_cost", "Their cost", lambda: controller.apart_spent),
            ("shared", "Whether a store of several servers answers", lambda: bool(self.share and self.share.reached)),
            ("open_requests", "Requests being answered", lambda: self.open),
        ]
        for name, told, value in gauges:
            prometheus.Gauge(f"adalib_{name}", told, registry=registry).set_function(value)


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
    """What the caller is told of an error. A key that the endpoint refuses is ours, so no 401 sends them to their own.

    Of a fault of ours the operator gets one line, since its context may hold a key."""
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
    headers["X-Adalib-Reason"] = json.dumps(told["reason"])[:300]  # one line of ASCII, and a short one
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


class Request(NamedTuple):
    """A request that was read: what to send, what the policy reads, and how to ask."""

    messages: list[dict[str, Any]]
    question: str
    how: Asking
    choices: int
    stream: bool
    include_usage: bool


def read_request(body: bytes, model: str, defaults: Asking, prompt: Prompt | None) -> Request:
    """Read the body of a chat completion. What we do not know is passed on; what we cannot answer is a `RequestError`.

    Temperature 0 gives one answer again and again, and ``n > 1`` asks for choices, not a vote: both get plain answers.
    """
    try:
        asked = json.loads(body)
        json.dumps(asked, ensure_ascii=False).encode()  # JSON can carry half a character, which nothing else can
    except UnicodeEncodeError:
        raise RequestError(400, "the body holds half a character (a surrogate without its other half)") from None
    except ValueError:
        raise RequestError(400, "the body is not JSON") from None
    except RecursionError:
        raise RequestError(400, "the body is nested too deep") from None
    if not isinstance(asked, dict):
        raise RequestError(400, "the body must be a JSON object")
    if asked.get("model") != model:
        told = str(asked.get("model"))[:80]
        raise RequestError(404, f"the model {told!r} is not here; this server has {model!r}", code="model_not_found")
    for name in filter(asked.get, _REFUSED):
        raise RequestError(400, f"{name} cannot be voted on; ask the upstream itself", code="unsupported_parameter")
    messages = asked.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(turn, dict) for turn in messages):
        raise RequestError(400, "messages must be a list of turns, each with role and content")
    question = _last_question(messages)
    if prompt is not None and len(messages) == 1:
        messages = prompt.fill(question)
    choices, options = asked.get("n") or 1, asked.get("stream_options") or {}
    if not isinstance(choices, int) or not 1 <= choices <= _MOST_CHOICES:
        raise RequestError(400, f"n must be a whole number from 1 to {_MOST_CHOICES}")
    try:
        how, usage = _asking(asked, defaults, choices), bool(options.get("include_usage"))
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RequestError(400, f"a setting of the request is not sound: {error}") from None
    return Request(messages, question, how, choices, bool(asked.get("stream")), usage)


def _asking(asked: dict, defaults: Asking, choices: int) -> Asking:
    own = asked.get(_OWN) or {}
    unknown = set(own) - {"price", "cap"}
    if unknown:
        raise ValueError(f"{_OWN} knows price and cap, not {sorted(unknown)[0]!r}")
    temperature = defaults.temperature if asked.get("temperature") is None else float(asked["temperature"])
    tokens = next((asked[name] for name in _LIMITS if asked.get(name) is not None), defaults.max_tokens)
    extra = {name: value for name, value in asked.items() if name not in _READ and value is not None}
    return replace(
        defaults,
        temperature=temperature,
        max_tokens=int(tokens),
        # A caller may be more careful than the server, never less.
        cap=min(defaults.cap, float(own.get("cap", inf))),
        price=None if own.get("price") is None else float(own["price"]),
        votes=temperature > 0 and choices == 1 and not extra.get("response_format"),
        seed=None if asked.get("seed") is None else int(asked["seed"]),
        extra=extra,
    )


def _last_question(messages: list[dict]) -> str:
    """The text of the user's last turn."""
    asked = [turn.get("content") for turn in messages if turn.get("role") == "user"]
    if not asked:
        raise RequestError(400, "messages must hold a turn of the user")
    parts = [{"type": "text", "text": asked[-1]}] if isinstance(asked[-1], str) else asked[-1]
    if not isinstance(parts, list) or not all(isinstance(one, dict) and one.get("type") == "text" for one in parts):
        raise RequestError(400, "the content of a turn must be text; this server reads no pictures or sound")
    return "\n".join(str(one.get("text", "")) for one in parts)


def extras(routed: Sequence[Routed]) -> dict[str, Any]:
    """Our figures: of one vote all of them, of several plain answers what they share."""
    told = {name: value for name, value in vars(routed[0]).items() if name not in ("text", "finish")}
    if len(routed) > 1:
        for name in ("samples", "cost", "money", "tokens", "prompt_tokens"):
            told[name] = sum(getattr(one, name) for one in routed)
    return told


def completion(routed: Sequence[Routed], model: str) -> dict[str, Any]:
    """The reply: the winning answer's own text, and ``usage`` over all samples."""
    said = [{"role": "assistant", "content": one.text, "refusal": None} for one in routed]
    choices = [_choice(number, _finish(one), message=said[number]) for number, one in enumerate(routed)]
    return _head("chat.completion", model) | {"choices": choices, "usage": _usage(routed), _OWN: extras(routed)}


def stream_chunks(routed: Sequence[Routed], model: str, include_usage: bool) -> list[dict[str, Any]]:
    """The same reply as a stream: the text of each choice, its end, and our figures with the last."""
    head = _head("chat.completion.chunk", model)
    chunks = []
    for number, one in enumerate(routed):
        for delta, finish in (({"role": "assistant", "content": one.text}, None), ({}, _finish(one))):
            chunks.append(head | {"choices": [_choice(number, finish, delta=delta)]})
    chunks[-1] |= {_OWN: extras(routed)}
    return [*chunks, head | {"choices": [], "usage": _usage(routed)}] if include_usage else chunks


def _choice(number: int, finish: str | None, **said: dict[str, Any]) -> dict[str, Any]:
    return {"index": number, **said, "logprobs": None, "finish_reason": finish}


def _head(kind: str, model: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def _usage(routed: Sequence[Routed]) -> dict[str, int]:
    read, written = sum(one.prompt_tokens for one in routed), sum(one.tokens for one in routed)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _finish(one: Routed) -> str:
    return one.finish if one.finish in ("stop", "length", "content_filter") else "stop"
