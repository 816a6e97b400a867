"""An OpenAI-compatible server: an existing client changes its base URL and nothing else.

A chat completion with a short answer is voted on. Whatever else a client sends (tools, pictures,
other models, other paths) is passed on as it came and is not booked.

The reply to a vote is known only when the vote is closed, so a stream begins then, with the winning
text at once. If the vote takes longer than a few seconds the stream begins earlier, with comments
that keep the connection open: then the figures come with the last chunk alone, and a fault as an
event.

When a caller hangs up, the server asks for no more answers. Those under way may come in, and are
booked as the upstream reports them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from importlib.resources import files
from math import inf
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.requests import Request as Call
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from adalib.llm.client import Client, EndpointError
from adalib.llm.questions import Prompt
from adalib.router import protocol
from adalib.router.asking import Asking, CapError, SpentError
from adalib.router.keep import VoteFile
from adalib.router.passing import Upstream, read_start
from adalib.router.protocol import RequestError, VoteRequest, read_body
from adalib.router.question import OpenQuestion
from adalib.router.routed import Routed
from adalib.router.router import Router
from adalib.router.watch import Watch
from adalib.vote.answers import same_answer
from adalib.vote.kinds import answer_reader

if TYPE_CHECKING:  # Redis is needed only where several servers share
    from adalib.router.shared import Share

LARGEST_VOTE = 1 << 20  # bytes of a request that is voted on; longer ones are passed on
QUIET = 10.0  # seconds of silence in a stream before a comment keeps the connection open
SLOW = 60.0  # seconds for the body of a request
FAULTS = 3  # consecutive upstream errors before it counts as failing
SHADOW = "the first answer; the vote is only watched"
PROBE = "one token, to see what the upstream reports"
PROBE_SECONDS = 15.0  # for that token; an upstream that is slower shows it with its first answer
_LOGGED = (  # figures of a vote
    "samples",
    "rounds",
    "cost",
    "price",
    "reason",
    "counted",
    "tokens",
    "prompt_tokens",
    "waiting",
    "cancelled",
    "cancelled_tokens",
)
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads
_LINES = logging.getLogger("adalib.requests")  # one line per request, and nothing else


@dataclass
class _LogLine:
    """What is logged of one request."""

    path: str
    id: str
    status: int = 200
    figures: dict[str, Any] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    is_vote: bool = False  # then the vote logs it when it ends, even if the caller has gone

    @staticmethod
    def of(call: Call) -> _LogLine:
        """Begin the line of a request, under the caller's name for it if that is harmless."""
        given = call.headers.get("x-request-id", "")
        is_plain = re.fullmatch(r"[\w.:-]{1,80}", given, re.ASCII)
        return _LogLine(call.url.path, given if is_plain else uuid4().hex)


def make_app(service: Service, token: str = "") -> Starlette:
    """Make the application; callers send ``token`` as their key, if there is one."""

    def guarded(
        handler: Callable[[Call], Awaitable[Response]],
    ) -> Callable[[Call], Awaitable[Response]]:
        """Wrap a handler: check the caller, turn errors into replies, log the request."""

        async def guard(call: Call) -> Response:
            call.state.line = line = _LogLine.of(call)
            try:
                admit(call, token)
                response = await handler(call)
            except ClientDisconnect:
                response = Response(status_code=499)
            except Exception as error:
                fault = protocol.error_for(error, service.client.url)
                response = JSONResponse(fault.body, fault.status, fault.headers)
            response.headers.setdefault("x-request-id", line.id)
            if not line.is_vote:
                line.status = response.status_code
                service.log_line(line)
            return response

        return guard

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with service:
            yield

    return Starlette(
        routes=[
            Route("/v1/chat/completions", guarded(service.chat), methods=["POST"]),
            Route("/v1/models", guarded(service.models), methods=["GET"]),
            Route("/v1/{path:path}", guarded(service.other), methods=METHODS),
            Route("/simulate", guarded(service.simulate), methods=["POST"]),
            Route("/metrics", guarded(service.metrics)),
            Route("/live.json", guarded(service.live)),
            Route("/health", service.health),
            Route("/ready", service.ready),
            Route("/", service.page),
        ],
        lifespan=lifespan,
    )


def admit(call: Call, token: str) -> None:
    """Check the caller's token; without one accept only same-machine, same-origin requests."""
    if token:
        given = call.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not hmac.compare_digest(given.encode(), token.encode()):
            why = "the key is not this server's token"
            raise RequestError(401, why, "authentication_error", "invalid_api_key")
        return
    host = call.headers.get("host", "")
    origin = call.headers.get("origin")
    if not protocol.is_this_machine(host) or (origin and urlsplit(origin).netloc != host):
        why = "without a token this server answers its own machine and its own page alone"
        raise RequestError(403, why)


@dataclass(eq=False)
class Service:
    """A router in front of an endpoint, shared by all requests.

    Attributes
    ----------
    router, client : Router, Client
        What decides, and the upstream.
    asking : Asking
        The defaults of a request.
    prompt : Prompt or None
        Put around a request of a single turn.
    limit : int
        Votes at a time; further ones get 429.
    share : Share or None
        One budget for several servers.
    aliases : tuple of str
        Other names of the model.
    own_prices : bool
        Whether a request may name its price.
    shadow : bool
        Reply with the first answer and vote in the background.
    log : bool
        Whether each request is logged.
    keep : VoteFile or None
        Where votes are kept to learn from.
    """

    router: Router
    client: Client
    asking: Asking
    prompt: Prompt | None = None
    limit: int = 64
    share: Share | None = None
    aliases: tuple[str, ...] = ()
    own_prices: bool = True
    shadow: bool = False
    log: bool = False
    keep: VoteFile | None = None

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"the limit is {self.limit}; give at least 1")
        self.open = 0  # votes
        self.faults = 0  # consecutive errors of the upstream
        self.running: set[asyncio.Task] = set()  # votes, watched or not
        self.router.controller.reach = self.router.reach(self.asking)
        self.watch = Watch(self.router, lambda: self.open, self._bound, self._shared)

    async def __aenter__(self) -> Service:
        self.upstream = Upstream(self.client)
        if self.share is not None:
            await self.share.__aenter__()
        if self.router.reads:
            await self._probe()
        return self

    async def _probe(self) -> None:
        """Ask for one token, and go on with votes alone if it comes without what the policy reads.

        The token is booked like a vote. If the upstream fails, the first answer decides instead.
        """
        asking = replace(
            self.asking,
            max_tokens=1,
            cap=self.router.cost_of(1),
            price=self.router.controller.price,
            deadline=PROBE_SECONDS,
            tries=1,
            other="pass",
        )
        line = _LogLine("/v1/chat/completions", uuid4().hex)
        line.figures["reason"] = PROBE
        messages = [{"role": "user", "content": "Hi"}]
        question = OpenQuestion(self.router, self.client, messages, asking)
        try:
            await question.run("")
        except EndpointError as error:
            line.status = protocol.error_for(error, self.client.url).status
            _LOG.warning("the upstream did not give the first token: %s", error)
        line.figures["money"] = question.account.money
        self.log_line(line)

    async def __aexit__(self, *_: object) -> None:
        if self.running:
            await asyncio.wait(self.running, timeout=self.asking.deadline)
        if self.share is not None:
            await self.share.__aexit__()
        await self.upstream.aclose()
        await self.client.__aexit__()

    @property
    def _names(self) -> tuple[str, ...]:
        """The names under which the model may be asked for."""
        return self.client.model, *self.aliases

    async def chat(self, call: Call) -> Response:
        """A chat completion: voted on where that can be, else passed on."""
        content_type = call.headers.get("content-type", "")
        if content_type and "json" not in content_type:
            raise RequestError(415, "the content type must be application/json")
        start, whole = await _start_of(call)
        if not whole:
            return await self._pass(call, "chat/completions", start, False, "longer than 1 MB")
        fields = await asyncio.to_thread(read_body, start)
        reason = protocol.why_not_voted(fields, self._names, self.asking)
        if reason:
            body = self._as_upstream_knows_it(fields, start)
            return await self._pass(call, "chat/completions", body, True, reason)
        request = protocol.read_request(fields, self.asking, self.prompt)
        if request.asking.price is not None and not self.own_prices:
            why = "this server takes no prices of its callers; leave adalib.price out"
            raise RequestError(400, why)
        return await self._vote(call, request)

    async def other(self, call: Call) -> Response:
        """Any other path of the interface, passed on."""
        path = call.path_params["path"]
        if any(part in ("", ".", "..") for part in path.rstrip("/").split("/")):
            raise RequestError(404, "there is no such path")
        alias = path.removeprefix("models/")
        if call.method == "GET" and path.startswith("models/") and alias in self.aliases:
            return JSONResponse(protocol.model_object(alias))
        start, whole = await _start_of(call)
        if whole and self.aliases and b'"model"' in start:
            with contextlib.suppress(RequestError):
                start = self._as_upstream_knows_it(read_body(start), start)
        return await self._pass(call, quote(path), start, whole, "another path")

    def _as_upstream_knows_it(self, fields: dict[str, Any], body: bytes) -> bytes:
        """The body as it came, but for an alias of the model and our own field."""
        if fields.get("model") not in self.aliases and protocol.OWN not in fields:
            return body
        changed = {name: value for name, value in fields.items() if name != protocol.OWN}
        if fields.get("model") in self.aliases:
            changed["model"] = self.client.model
        return json.dumps(changed, ensure_ascii=False).encode()

    async def _pass(
        self, call: Call, path: str, start: bytes, whole: bool, reason: str
    ) -> Response:
        """Pass a request on as it came; ``start`` is its body, or the beginning of a long one."""
        call.state.line.figures = {"reason": f"passed on: {reason}", "money": 0.0}
        try:
            return await self.upstream.pass_on(call, path, start, whole, reason)
        except EndpointError:
            self._upstream_answers(False)
            raise

    async def _vote(self, call: Call, request: VoteRequest) -> Response:
        """Vote in a task of its own, which outlives a caller who hangs up, and reply."""
        self._take_place()
        line = call.state.line
        line.is_vote = True
        loop = asyncio.get_running_loop()
        question = OpenQuestion(
            self.router,
            self.client,
            request.messages,
            request.asking,
            first_answer=loop.create_future() if self.shadow else None,
            early_reply=loop.create_future(),
        )
        work = asyncio.create_task(self._run(question, request, line))
        self.running.add(work)
        work.add_done_callback(self._ended)
        reply = self._shadow_reply if self.shadow else self._first_reply
        shown = asyncio.create_task(reply(work, question))
        shown.add_done_callback(_retrieve)
        # A stream waits up to `QUIET` seconds for the vote, so that its headers can have the
        # figures; then it begins without them.
        if not await _wait(shown, call, QUIET if request.stream else None):
            self._caller_left(question)
            line.status = 499
            return Response(status_code=499)
        headers = protocol.vote_headers(shown.result()) if shown.done() else {}
        if not request.stream:
            return JSONResponse(protocol.completion(shown.result(), request.model), headers=headers)
        events = self._events(request, shown, question, line)
        headers["Cache-Control"] = "no-store"
        return StreamingResponse(events, headers=headers, media_type="text/event-stream")

    async def _run(self, question: OpenQuestion, request: VoteRequest, line: _LogLine) -> Routed:
        """Vote, and note what came of it, whether or not the caller is still there."""
        try:
            with self.watch.seconds.time():
                routed = await question.run(request.question)
        except Exception as error:
            if line.status == 200:
                line.status = protocol.error_for(error, self.client.url).status
            self._note_failure(error)
            raise
        else:
            self._upstream_answers(True)
            line.figures |= {name: getattr(routed, name) for name in _LOGGED}
            self._note_shadow(question, request, routed, line)
            self.watch.note(routed)
            if self.keep is not None:
                answers = question.ballots.answers
                self.keep.add(line.id, self.client.model, request.messages, answers)
            return routed
        finally:
            self.open -= 1
            line.figures["money"] = question.account.money
            self.log_line(line)
            if self.share is not None:
                await self.share.flush()  # the other servers know of it before the caller does

    def _ended(self, work: asyncio.Task) -> None:
        """Forget a vote that has ended."""
        self.running.discard(work)
        _retrieve(work)

    def _caller_left(self, question: OpenQuestion) -> None:
        """Ask no further, unless the vote is only watched and goes on without its caller."""
        if not self.shadow:
            question.caller_gone.set()

    def _note_shadow(
        self, question: OpenQuestion, request: VoteRequest, routed: Routed, line: _LogLine
    ) -> None:
        """In shadow mode, note whether the vote would have changed the first answer."""
        if question.first_answer is None:
            return
        first = question.first_answer.result()
        extracted = answer_reader(request.asking.kind)(first.text, first.finish == "stop")
        changed = bool(routed.answer) and not same_answer(extracted, routed.answer)
        line.figures |= {"vote": "closed", "changed": changed}
        self.watch.changed.inc(changed)

    async def _first_reply(self, work: asyncio.Task, question: OpenQuestion) -> Routed:
        """The outcome as soon as it is certain, though answers may still be under way."""
        early = question.early_reply
        assert early is not None
        await asyncio.wait({work, early}, return_when=asyncio.FIRST_COMPLETED)
        return early.result() if early.done() and not work.done() else await work

    async def _shadow_reply(self, work: asyncio.Task, question: OpenQuestion) -> Routed:
        """The first answer as soon as it is there, in the shape of a vote."""
        first = question.first_answer
        assert first is not None
        await asyncio.wait({work, first}, return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            return await work
        answer = first.result()
        tokens = answer.tokens or 0
        read = answer.prompt_tokens or 0
        return Routed(
            answer="",
            text=answer.text,
            votes={},
            samples=1,
            rounds=1,
            cost=self.router.cost_of(tokens),
            money=self.asking.prices.of(answer, read, tokens),
            confidence=0.0,
            agreement=0.0,
            reason=SHADOW,
            price=self.router.controller.price,
            tokens=tokens,
            prompt_tokens=read,
            finish=answer.finish,
            counted=False,
            fingerprint=answer.fingerprint,
        )

    async def _events(
        self, request: VoteRequest, work: asyncio.Task, question: OpenQuestion, line: _LogLine
    ) -> AsyncIterator[bytes]:
        """Yield the events of a stream: comments until the vote is closed, then its chunks."""
        try:
            while not work.done():
                yield b": still voting\n\n"
                await asyncio.wait({work}, timeout=QUIET)
        finally:
            if not work.done():
                self._caller_left(question)
                line.status = 499
        try:
            chunks = protocol.stream_chunks(work.result(), request.model, request.include_usage)
        except Exception as error:
            chunks = [protocol.error_for(error, self.client.url).body]
        for chunk in chunks:
            yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"

    def _take_place(self) -> None:
        """Count one more open vote; raise 429 beyond the limit."""
        if self.open >= self.limit:
            why = f"{self.limit} votes are open; come back"
            raise RequestError(429, why, "rate_limit_error", "server_busy", 1.0)
        self.open += 1

    def log_line(self, line: _LogLine) -> None:
        """Count a request by its status, and log it."""
        if not line.path.startswith("/v1/"):
            return
        self.watch.replies.labels(str(line.status)).inc()
        if self.log:
            seconds = round(time.monotonic() - line.began, 4)
            head = {"id": line.id, "path": line.path, "status": line.status, "seconds": seconds}
            _LINES.info("%s", json.dumps(head | line.figures))

    def _note_failure(self, error: Exception) -> None:
        """Count an error of the upstream; an error of the caller or of our own limits is none."""
        if isinstance(error, SpentError | CapError) or not isinstance(error, EndpointError):
            return
        if error.status is None or error.status >= 429:
            self._upstream_answers(False)

    def _upstream_answers(self, answers: bool) -> None:
        """Note whether the upstream answers, and say so when that changes."""
        if answers and self.faults >= FAULTS:
            _LOG.warning("the upstream answers again")
        self.faults = 0 if answers else self.faults + 1
        if self.faults == FAULTS:
            _LOG.warning("the upstream has failed %d times in a row", FAULTS)

    def reload(self, router: Router, kind: str | None = None) -> None:
        """Decide by another router from now on; the budget, and what was spent, stay."""
        if router.unit != self.router.unit:
            units = f"the new router counts {router.unit}, the old one {self.router.unit}"
            raise ValueError(f"{units}: start anew")
        self.asking = replace(self.asking, kind=kind or router.kind)
        self.router.adopt(router, self.asking)
        self.watch.forget()

    async def models(self, call: Call) -> Response:
        """The upstream's models, and ours by all their names."""
        listed = await self.upstream.models(call)
        names = {model["id"] for model in listed}
        own = [protocol.model_object(name) for name in self._names if name not in names]
        return JSONResponse({"object": "list", "data": [*own, *listed]})

    async def simulate(self, call: Call) -> Response:
        """What would be asked for a question, at a price or a budget, without asking."""
        start, whole = await _start_of(call)
        if not whole:
            raise RequestError(413, f"the request is larger than {LARGEST_VOTE} bytes")
        self._take_place()
        try:
            fields = await asyncio.to_thread(read_body, start)
            return JSONResponse(await asyncio.to_thread(self._simulated, fields))
        except (TypeError, ValueError, OverflowError) as error:
            raise RequestError(400, str(error)) from None
        finally:
            self.open -= 1

    def _simulated(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Plan a question at a price; raise ValueError for bad fields."""
        router = self.router
        price = router.controller.price if fields.get("price") is None else float(fields["price"])
        if fields.get("budget") is not None:
            price = router.price(float(fields["budget"]))
        if not 0 <= price < inf or not isinstance(fields.get("question"), str):
            raise ValueError("give a question, and perhaps a price or a budget of 0 or more")
        decision = router.plan(fields["question"], price)
        return {
            "price": price,
            "expected_cost": decision.expected,
            "unit": router.unit,
            "stops": decision.stops,
            "answers_at_most": decision.stops[-1],
            "asked_at_first": decision.session.asks,
        }

    async def metrics(self, call: Call) -> Response:
        """The figures in Prometheus' text format."""
        return Response(self.watch.metrics(), media_type="text/plain; version=0.0.4")

    async def health(self, call: Call) -> Response:
        """That the server runs."""
        return JSONResponse({"status": "ok"})

    async def ready(self, call: Call) -> Response:
        """Whether a question would be answered now, and if not, why."""
        reasons = {
            "the total in money is spent": self.router.purse.empty,
            "the upstream fails": self.faults >= FAULTS,
            "Redis does not answer": self._shared() is False,
        }
        why = [reason for reason, holds in reasons.items() if holds]
        status = "not ready" if why else "ready"
        return JSONResponse({"status": status, "why": why}, 503 if why else 200)

    async def page(self, call: Call) -> Response:
        """The live page, which asks for what `live` gives."""
        page = files("adalib.router").joinpath("live.html").read_text(encoding="utf-8")
        return HTMLResponse(page)

    async def live(self, call: Call) -> Response:
        """What the live page shows."""
        figures = {"model": self.client.model, "open": self.open, "limit": self.limit}
        return JSONResponse(figures | self.watch.live(), headers={"Cache-Control": "no-store"})

    def _bound(self) -> float:
        """The most by which all costs together can pass their budgets."""
        controller = self.router.controller
        return controller.bound(max(self.limit, controller.at_once))

    def _shared(self) -> bool | None:
        """Whether Redis answers; None where nothing is shared."""
        return None if self.share is None else self.share.reached


async def _start_of(call: Call) -> tuple[bytes, bool]:
    """Read a body up to `LARGEST_VOTE` bytes; return them, and whether that is all."""
    try:
        async with asyncio.timeout(SLOW):
            return await read_start(call, LARGEST_VOTE)
    except TimeoutError:
        raise RequestError(408, f"the request did not come within {SLOW:g} s") from None


def _retrieve(work: asyncio.Task) -> None:
    """Retrieve a task's exception, so that asyncio does not warn after a disconnect."""
    _ = work.cancelled() or work.exception()


async def _wait(work: asyncio.Task, call: Call, seconds: float | None) -> bool:
    """Wait for the work, or so many seconds; False if the caller hung up before."""

    async def hung_up() -> None:
        while (await call.receive())["type"] != "http.disconnect":
            pass

    gone = asyncio.create_task(hung_up())
    try:
        await asyncio.wait({work, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return work.done() or not gone.done()
    finally:
        gone.cancel()
