"""An OpenAI-compatible server: an existing client changes its base URL and nothing else.

A question with a short answer is voted on. Whatever else a client sends (tools, pictures, other models, other paths)
goes to the upstream as it came and comes back as it came, streams included; it is billed and counted, apart.

The reply to a vote is known only when the vote is closed, so a stream begins then, with the winning text at once. Where
the vote takes longer than a few seconds it begins earlier, with comments that keep the line open: then the figures come
with the last chunk alone, and a fault as an event.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import re
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from math import inf
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

import httpx
import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.applications import Starlette
from starlette.requests import Request as Call
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from adalib.llm.endpoint import Answer, Endpoint, EndpointError, ReplyError
from adalib.llm.questions import Prompt
from adalib.router import protocol
from adalib.router.ask import CAP, PURSE, Asking, Routed, ask
from adalib.router.protocol import Passing, Request, RequestError, read_body
from adalib.router.router import Router
from adalib.vote.answers import answer_reader, same_answer

if TYPE_CHECKING:  # Redis is needed by those alone who share
    from adalib.router.shared import Share

__all__ = ["Service", "Tenant", "make_app"]

_FOR_ALL = re.compile("traceparent|tracestate|x-request-id|openai-organization|openai-project")  # answers of a vote
_TO_UPSTREAM = re.compile(_FOR_ALL.pattern + "|content-type|accept|x-client-request-id|openai-beta|idempotency-key")
_TO_CALLER = re.compile("content-type|content-disposition|x-request-id|retry-after|openai-.*|x-ratelimit-.*")
_SHOWN = 300  # questions on the live page
_LARGEST = 16 << 20  # bytes of a request
_QUIET = 10.0  # seconds of silence in a stream before a comment says that we are still here
_SLOW = 60.0  # seconds for the body of a request
_FAULTS = 3  # of the upstream in a row, from which it is said to fail
SHADOW = "the first answer, for the vote is only watched"
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads
_JSON_PATHS = ("/v1/chat/completions", "/v1/responses", "/simulate")
_LINES = logging.getLogger("adalib.requests")  # one line per request


@dataclass(eq=False)
class Tenant:
    """A caller with a token, a budget, a cap and a total of its own: its router holds the last three."""

    name: str
    router: Router
    how: Asking  # the defaults of a request
    share: Share | None = None  # of one budget for several servers
    token: str = ""


class _Line:
    """What is logged of one request, and what it will be counted as."""

    def __init__(self, call: Call) -> None:
        self.began, self.path, self.status, self.tenant = time.monotonic(), call.url.path, 200, ""
        self.at, self.headers = time.time_ns(), protocol.chosen(call.headers, _FOR_ALL)
        self.counts = call.method == "POST" and self.path.startswith("/v1/")
        given = call.headers.get("x-request-id", "")
        self.id = given if re.fullmatch(r"[\w.:-]{1,80}", given, re.ASCII) else uuid4().hex
        self.told: dict[str, Any] = {}


def make_app(service: Service, token: str = "") -> Starlette:
    """Make the application; callers send ``token`` as their key, where there is one. Explained in chapter 10."""
    service.main.token = token

    def guarded(handler: Callable[[Call], Awaitable[Response]]) -> Callable[[Call], Awaitable[Response]]:
        async def guard(call: Call) -> Response:
            call.state.line = line = _Line(call)
            try:
                call.state.tenant = service.admitted(call)
                line.tenant = call.state.tenant.name
                response = await handler(call)
            except Exception as error:
                fault = service.told(error, getattr(call.state, "tenant", service.main))
                response = JSONResponse(fault.body, fault.status, fault.headers)
            response.headers.setdefault("x-request-id", line.id)
            line.status = response.status_code
            if not isinstance(response, _Stream):  # which is counted when it ends
                service.ended(line)
            return response

        return guard

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(service.endpoint)
            for tenant in service.everyone:
                await stack.enter_async_context(tenant.share or contextlib.nullcontext())
            yield
            if service.beside:
                await asyncio.wait(service.beside, timeout=service.how.deadline)

    return Starlette(
        routes=[
            Route("/v1/chat/completions", guarded(service.chat), methods=["POST"]),
            Route("/v1/responses", guarded(service.responses), methods=["POST"]),
            Route("/v1/models", guarded(service.models)),
            Route("/v1/{path:path}", guarded(service.other), methods=["GET", "POST"]),
            Route("/simulate", guarded(service.simulate), methods=["POST"]),
            Route("/metrics", guarded(service.metrics)),
            Route("/live.json", guarded(service.live)),
            Route("/health", service.health),
            Route("/ready", service.ready),
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
    aliases: tuple[str, ...] = ()  # other names of the model
    own_prices: bool = True  # whether a request may name its price
    shadow: bool = False  # vote beside, reply with the first answer
    tenants: tuple[Tenant, ...] = ()
    prices: dict[str, tuple[float, float]] = field(default_factory=dict)  # of other models, per million tokens
    log: str = ""  # "text" or "json": a line per request

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"the limit is {self.limit}; give at least 1")
        self.open = self.faults = 0
        self.beside: set[asyncio.Task] = set()  # votes that nobody waits for
        self.recent: deque[list[float]] = deque(maxlen=_SHOWN)
        self.spread: deque[tuple[float, float]] = deque(maxlen=_SHOWN)  # what questions cost, and did in training
        self.samples: Counter[int] = Counter()
        self.main = Tenant("", self.router, self.how, self.share)
        self.everyone = (self.main, *self.tenants)
        for tenant in self.everyone:
            tenant.router.controller.reach = tenant.router.reach(tenant.how)
        self.drifts = False
        self._make_metrics()

    def admitted(self, call: Call) -> Tenant:
        """Who calls: by the token, or, where there is none, anyone on this machine who is no page of another site."""
        given = call.headers.get("authorization", "").removeprefix("Bearer ").strip()
        known = [one for one in self.everyone if one.token and hmac.compare_digest(given.encode(), one.token.encode())]
        if known:
            return known[0]
        if any(one.token for one in self.everyone):
            raise RequestError(401, "the key is not this server's token", "authentication_error", "invalid_api_key")
        host, origin = call.headers.get("host", ""), call.headers.get("origin")
        if not protocol.is_here(host) or (origin and urlsplit(origin).netloc != host):
            raise RequestError(403, "without a token this server answers its own machine and its own page alone")
        return self.main

    async def chat(self, call: Call) -> Response:
        """A chat completion: one reply, or a stream; voted on where that can be."""
        body = await _body(call)
        asked = read_body(body)
        why = protocol.why_passed(asked, self._names, self.how)
        if why:
            return await self._pass(call, "chat/completions", body, asked, why)
        return await self._vote(call, self._request(call, asked), protocol.completion)

    async def responses(self, call: Call) -> Response:
        """A response: text that stands alone is voted on as a chat is; streams and all else are passed on."""
        body = await _body(call)
        asked = read_body(body)
        turns = protocol.turns_of(asked)
        why = protocol.why_passed(asked | {"messages": turns or []}, self._names, self.how)
        if why or turns is None:
            return await self._pass(call, "responses", body, asked, why or "more than text that stands alone")
        known = {name: value for name, value in asked.items() if name not in ("input", "instructions", "store")}
        return await self._vote(call, self._request(call, known | {"messages": turns}), protocol.response_object)

    async def other(self, call: Call) -> Response:
        """Any other path of the interface."""
        path = call.path_params["path"]
        if path.removeprefix("models/") in self._names and path.startswith("models/"):
            return JSONResponse(protocol.model_object(path.removeprefix("models/")))
        body = await _body(call)
        asked: dict[str, Any] = {}
        if body and "json" in call.headers.get("content-type", "json"):
            asked = read_body(body)
        return await self._pass(call, path, body, asked, "another path")

    def _request(self, call: Call, asked: dict) -> Request:
        tenant: Tenant = call.state.tenant
        headers = protocol.chosen(call.headers, _FOR_ALL)
        request = protocol.read_request(asked, replace(tenant.how, headers=headers), self.prompt)
        if request.how.price is not None and not self.own_prices:
            raise RequestError(400, "this server takes no prices of its callers; leave adalib.price out")
        return request

    @property
    def _names(self) -> tuple[str, ...]:
        return self.endpoint.model, *self.aliases

    async def _vote(self, call: Call, asked: Request, shape: Callable[[Routed, str], dict[str, Any]]) -> Response:
        self._come_in()
        tenant, line = call.state.tenant, call.state.line
        first = asyncio.get_running_loop().create_future() if self.shadow else None
        work = asyncio.create_task(self._answer(asked, tenant, line, first))
        if first is not None:
            self.beside.add(work)
            work.add_done_callback(self._watched)
            shown = asyncio.create_task(self._first(work, first, tenant))
        else:
            shown = work

        async def end() -> None:
            if first is None:
                work.cancel()
                self.open -= 1

        async with contextlib.AsyncExitStack() as undo:
            undo.push_async_callback(end)
            # A vote that is closed soon has its figures in the headers of a stream, too, and a fault its status.
            if not await _wait(shown, call, _QUIET if asked.stream else None):
                return Response(status_code=499)  # nobody is left to be answered
            headers = protocol.vote_headers(shown.result()) if shown.done() else {}
            if not asked.stream:
                return JSONResponse(shape(shown.result(), asked.model), headers=headers)
            undo.pop_all()
        return _Stream(self._events(asked, shown, line, tenant), headers, partial(self._end, line, end))

    async def _answer(
        self, asked: Request, tenant: Tenant, line: _Line, first: asyncio.Future[Answer] | None
    ) -> Routed:
        try:
            with self.seconds.time():
                one = await ask(tenant.router, self.endpoint, asked.question, asked.messages, asked.how, first)
        except EndpointError as error:
            if not str(error).startswith((PURSE, CAP)) and (error.status is None or error.status >= 429):
                self._upstream(False)
            raise
        finally:
            if tenant.share is not None:
                await tenant.share.flush()  # what a caller was told, the others know
        self._upstream(True)
        names = ("samples", "rounds", "cost", "money", "price", "reason", "counted", "tokens", "prompt_tokens")
        line.told |= {name: getattr(one, name) for name in names}
        if first is not None:
            said = answer_reader(asked.how.kind)(first.result().text, True)
            line.told |= {"vote": "closed", "changed": bool(one.answer) and not same_answer(said, one.answer)}
            self.changed.inc(line.told["changed"])
            self._logged(line)
        return self._noted(one, tenant)

    def _watched(self, work: asyncio.Task[Routed]) -> None:
        """A vote has ended that nobody waits for; of a fault the caller knows, or nobody need."""
        self.beside.discard(work)
        self.open -= 1
        _ = work.cancelled() or work.exception()

    async def _first(self, work: asyncio.Task[Routed], first: asyncio.Future[Answer], tenant: Tenant) -> Routed:
        """The first answer, as soon as it is there, in the shape of a vote."""
        waiting: set[asyncio.Future[Any]] = {work, first}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            return await work
        said, by = first.result(), tenant.router
        tokens = said.tokens or 0, said.prompt_tokens or 0
        cost, money = by.cost_of(tokens[0]), tenant.how.dollars(tokens[1], tokens[0])
        mark, price = said.fingerprint, by.controller.price
        found = Routed("", said.text, {}, 1, 1, cost, money, 0.0, 0.0, SHADOW, price, *tokens, said.finish)
        return replace(found, counted=False, fingerprint=mark)

    async def _events(
        self, asked: Request, work: asyncio.Task[Routed], line: _Line, tenant: Tenant
    ) -> AsyncIterator[bytes]:
        while not work.done():
            yield b": still voting\n\n"
            await asyncio.wait({work}, timeout=_QUIET)
        try:
            chunks = protocol.stream_chunks(work.result(), asked.model, asked.include_usage)
        except Exception as error:
            fault = self.told(error, tenant)
            chunks, line.status = [fault.body], fault.status
        for chunk in chunks:
            yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"

    async def _pass(self, call: Call, path: str, body: bytes, asked: dict, why: str) -> Response:
        """Send a request to the upstream as it came, and its reply back as it comes; book what it reports."""
        if any(part in ("", ".", "..") for part in path.split("/")):
            raise RequestError(404, "there is no such path")
        tenant, line = call.state.tenant, call.state.line
        body, hides = protocol.as_sent(path, body, asked, self.endpoint.model, self.aliases)
        price_in, price_out = self.prices.get(str(asked.get("model")), (tenant.how.price_in, tenant.how.price_out))
        how = replace(tenant.how, price_in=price_in, price_out=price_out)
        one, stack = Passing(self.endpoint, tenant.router, how, path, asked, len(body)), contextlib.AsyncExitStack()

        async def end() -> None:
            self.open -= 1
            one.settle()
            line.told |= {"reason": f"passed on: {why}", "money": one.money}
            await stack.aclose()
            if tenant.share is not None:
                await tenant.share.flush()

        self._come_in()
        async with contextlib.AsyncExitStack() as undo:
            undo.push_async_callback(end)
            await one.put_aside()
            headers = protocol.chosen(call.headers, _TO_UPSTREAM)
            query = f"?{call.url.query}" if call.url.query else ""
            work = asyncio.create_task(one.fetch(stack, call.method, quote(path) + query, headers, body))
            undo.callback(work.cancel)
            if not await _wait(work, call, None):
                return Response(status_code=499)
            try:
                reply, whole = work.result()
            except EndpointError:
                self._upstream(False)
                raise
            told = protocol.chosen(reply.headers, _TO_CALLER)
            told["X-Adalib-Reason"] = json.dumps(f"passed on: {why}")
            if whole is None:
                undo.pop_all()
            else:
                self._upstream(reply.status_code < 500)
        if whole is None:
            return _Stream(self._passed(one, reply, hides, line), told, partial(self._end, line, end))
        return Response(whole, reply.status_code, told | one.figures())

    async def _passed(self, one: Passing, reply: httpx.Response, hides: bool, line: _Line) -> AsyncIterator[bytes]:
        """A stream as it comes; a fault in it is an event, and counts as one."""
        try:
            async for event in one.events(reply, hides):
                yield event
            self._upstream(True)
        except ReplyError as error:
            fault = RequestError(502, f"the upstream failed: {error}", "upstream_error", "upstream_error")
            line.status = fault.status
            self._upstream(False)
            yield b"data: " + json.dumps(fault.body).encode() + b"\n\n"

    def _come_in(self) -> None:
        if self.open >= self.limit:
            raise RequestError(429, f"{self.limit} requests are open; come back", "rate_limit_error", "server_busy")
        self.open += 1

    async def _end(self, line: _Line, end: Callable[[], Awaitable[None]]) -> None:
        await end()
        self.ended(line)

    def ended(self, line: _Line) -> None:
        """Count a request by what became of it, and log it."""
        if line.counts:
            self.replies.labels(str(line.status)).inc()
            protocol.traced(self._logged(line), line.at, line.headers)

    def _logged(self, line: _Line) -> dict[str, Any]:
        told = {"id": line.id, "tenant": line.tenant, "path": line.path, "status": line.status}
        told |= {"seconds": round(time.monotonic() - line.began, 4)} | line.told
        if self.log:
            text = " ".join(f"{name}={json.dumps(value)}" for name, value in told.items())
            _LINES.info("%s", json.dumps(told) if self.log == "json" else text)
        return told

    def _upstream(self, answers: bool) -> None:
        """Note whether the upstream answers, and say so when that changes."""
        if answers and self.faults >= _FAULTS:
            _LOG.warning("the upstream answers again")
        self.faults = 0 if answers else self.faults + 1
        if self.faults == _FAULTS:
            _LOG.warning("the upstream has failed %d times in a row", _FAULTS)

    def reload(self, router: Router) -> None:
        """Decide by another router from now on; budgets, and what was spent, stay."""
        if router.unit != self.router.unit:
            raise ValueError(f"the new router counts {router.unit}, the old one {self.router.unit}: start anew")
        for tenant in self.everyone:
            tenant.router.adopt(router, tenant.how)
        self.spread.clear()

    async def models(self, call: Call) -> Response:
        """The model that is voted on, by all its names."""
        return JSONResponse({"object": "list", "data": [protocol.model_object(name) for name in self._names]})

    async def simulate(self, call: Call) -> Response:
        """What would be asked for a question, at a price or a budget, without asking."""
        asked, router = read_body(await _body(call)), call.state.tenant.router
        try:
            price = router.controller.price if asked.get("price") is None else float(asked["price"])
            if asked.get("budget") is not None:
                price = router.policy.price(float(asked["budget"]))
            if not 0 <= price < inf or not isinstance(asked.get("question"), str):
                raise ValueError("give a question, and perhaps a price or a budget of 0 or more")
            decision = router.plan(asked["question"], price)
        except (TypeError, ValueError) as error:
            raise RequestError(400, str(error)) from None
        told = {"price": price, "expected_cost": decision.expected, "unit": router.unit, "stops": decision.stops}
        return JSONResponse(told | {"answers_at_most": decision.stops[-1]})

    async def metrics(self, call: Call) -> Response:
        """The figures in Prometheus' text format."""
        return Response(prometheus.generate_latest(self._registry), media_type="text/plain; version=0.0.4")

    async def health(self, call: Call) -> Response:
        """That the server runs."""
        return JSONResponse({"status": "ok"})

    async def ready(self, call: Call) -> Response:
        """Whether a question would be answered now, and if not, why."""
        reasons = {
            "the total in money is spent": self.router.purse.empty,
            "the upstream fails": self.faults >= _FAULTS,
            "Redis does not answer": self.share is not None and not self.share.reached,
        }
        why = [reason for reason, holds in reasons.items() if holds]
        return JSONResponse({"status": "not ready" if why else "ready", "why": why}, 503 if why else 200)

    async def page(self, call: Call) -> Response:
        """The live page, which asks for what `live` gives."""
        return HTMLResponse(files("adalib.router").joinpath("live.html").read_text(encoding="utf-8"))

    async def live(self, call: Call) -> Response:
        """What the live page shows."""
        router = call.state.tenant.router
        controller, purse = router.controller, router.purse
        names = ("budget", "average", "price", "asked", "let_go", "apart", "apart_spent")
        shown = {name: getattr(controller, name) for name in names} | {
            "model": self.endpoint.model,
            "unit": router.unit,
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

    def told(self, error: Exception, tenant: Tenant) -> RequestError:
        """What the caller is told of an error, which never names the upstream's address."""
        return protocol.as_fault(error, self.endpoint.url, tenant.router.purse)

    def _bound(self) -> float:
        return self.router.controller.bound(max(self.limit, self.router.controller.at_once))

    def _noted(self, one: Routed, tenant: Tenant) -> Routed:
        self.asked.inc()
        self.agreement.observe(one.agreement)
        controller = tenant.router.controller
        if tenant is self.main:
            self.samples[one.samples] += 1
        if tenant is self.main and one.counted:
            self.recent.append([controller.asked, one.price, controller.average or 0.0, one.samples, one.agreement])
            self.spread.append((one.cost, one.expected))
            drifts = len(self.spread) == _SHOWN and not 2 / 3 < self.ratio < 3 / 2
            if drifts and not self.drifts:
                _LOG.warning("questions cost %.2g times what they did in training: collect and fit again", self.ratio)
            self.drifts = drifts
        return one

    @property
    def ratio(self) -> float:
        """What the latest questions cost, as a multiple of what their rules cost in training."""
        return sum(cost for cost, _ in self.spread) / (sum(expected for _, expected in self.spread) or 1.0)

    def collect(self) -> Iterator[Metric]:
        """What Prometheus is told that others keep: sums over all tenants, then each tenant's own."""
        tallies = [one.router.tally for one in self.everyone]
        yield CounterMetricFamily("adalib_samples", "Answers sampled", sum(one.samples for one in tallies))
        yield CounterMetricFamily("adalib_cost", "Cost in the router's unit", sum(one.cost for one in tallies))
        yield CounterMetricFamily("adalib_dollars", "Cost in dollars", sum(one.money for one in tallies))
        tokens = CounterMetricFamily("adalib_tokens", "Tokens", labels=["kind"])
        tokens.add_metric(["written"], sum(one.tokens for one in tallies))
        tokens.add_metric(["read"], sum(one.prompt_tokens for one in tallies))
        yield tokens
        yield GaugeMetricFamily("adalib_purse_spent", "Dollars spent of the total", self.router.purse.spent)
        yield GaugeMetricFamily("adalib_purse_total", "Dollars that may be spent", self.router.purse.total)
        for name, figure in _TENANT.items():
            gauge = GaugeMetricFamily(f"adalib_tenant_{name}", f"A tenant's {name}", labels=["tenant"])
            for one in self.tenants:
                gauge.add_metric([one.name], figure(one.router))
            yield gauge

    def _make_metrics(self) -> None:
        self._registry = registry = prometheus.CollectorRegistry()
        registry.register(self)
        counter = partial(prometheus.Counter, registry=registry)
        histogram = partial(prometheus.Histogram, registry=registry)
        controller = self.router.controller
        self.replies = counter("adalib_requests", "Replies by status", ["status"])
        self.asked = counter("adalib_questions", "Questions voted on")
        self.changed = counter("adalib_shadow_changed", "Votes that would have changed the reply")
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
            ("drift", "Latest costs as a multiple of those in training", lambda: self.ratio),
            ("open_requests", "Requests being answered", lambda: self.open),
        ]
        for name, told, value in gauges:
            prometheus.Gauge(f"adalib_{name}", told, registry=registry).set_function(value)


_TENANT: dict[str, Callable[[Router], float]] = {
    "budget": lambda router: router.controller.budget,
    "average_cost": lambda router: router.controller.average or 0.0,
    "dollars": lambda router: router.tally.money,
    "purse_spent": lambda router: router.purse.spent,
    "purse_total": lambda router: router.purse.total,
}


class _Stream(StreamingResponse):
    """A stream that gives its place back when it ends, however it ends."""

    def __init__(self, events: AsyncIterator[bytes], headers: dict[str, str], end: Callable[[], Awaitable[None]]):
        headers = {"Cache-Control": "no-store", "content-type": "text/event-stream", **headers}
        super().__init__(events, headers=headers)
        self._end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.shield(asyncio.ensure_future(self._end()))


async def _body(call: Call) -> bytes:
    kind = call.headers.get("content-type", "")
    if call.url.path in _JSON_PATHS and kind and "json" not in kind:
        raise RequestError(415, "the content type must be application/json")
    body = bytearray()
    try:
        async with asyncio.timeout(_SLOW):
            async for part in call.stream():
                body += part
                if len(body) > _LARGEST:
                    raise RequestError(413, f"the request is larger than {_LARGEST} bytes")
    except TimeoutError:
        raise RequestError(408, f"the request did not come within {_SLOW:g} s") from None
    return bytes(body)


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
