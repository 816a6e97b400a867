"""The router behind one OpenAI-compatible address, in front of another one.

A chat completion that wants one short answer is voted on, and so is a plain-text request of the
Responses interface. The rule for "one short answer" is in two steps. From the request,
`adalib.serve.requests` takes only plain text turns whose settings can go with every answer. From
the first reply, `short_answer` (in `adalib.sequential.live_vote`) takes only a text whose answer is
marked, or a short text; any other text is the reply. A reply that is no text at all (an error, a
refusal, a page) is the reply too, as it came: an upstream in trouble is asked once. Any other chat
completion is passed on byte by byte and comes back so, streams included, and so is a vote that
fails by a defect of ours. Besides these, the list of models and the server's health are served.

The server knows no users, keys, prices or rate limits: put a gateway in front for those.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import socket
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from adalib.ask.endpoint import NoAnswerError, Send, Wishes, asker, check_base_url
from adalib.ask.preflight import abilities
from adalib.ask.reply import CHAT, RESPONSES, Interface
from adalib.ask.runner import Runner
from adalib.sequential.live_vote import ENDING, LONGEST, NOT_SHORT, WORTH, Routed, in_words
from adalib.serve.listening import GRACE, LOOPBACK, OfHosts, hosts, prepared
from adalib.serve.log import LogLines
from adalib.serve.passing import Headers, Passed, end_to_end, without
from adalib.serve.requests import question_of, why_passed_on, why_refused
from adalib.serve.router import Router

Result = TypeVar("Result")

LARGEST_BODY = 20_000_000  # bytes of a request; an image in it takes a few millions
LONGEST_VOTE = 200_000  # bytes of a request that is voted on; reading a longer one takes too long
AT_ONCE = 64  # votes that are open at a time; others wait for their turn
REASONS = 100  # that are counted one by one; callers may invent fields without end
LOG = logging.getLogger("adalib.serve")

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
# Headers that every answer of a vote is sent with: who asks, for whom, and as part of which trace.
# The others are about one request and its body, or about the caller's own client.
_OF_THE_CALLER = re.compile(
    rb"authorization|api-key|.+-(api-key|auth|authorization|token)|openai-.+|user-agent|"
    rb"http-referer|x-title|traceparent|tracestate|baggage|b3|x-b3-.+|x-datadog-.+|sentry-trace|"
    rb"x-(client-)?request-id|x-correlation-id|x-amzn-trace-id|x-cloud-trace-context"
)


class RefusedError(Exception):
    """A request that gets an error of ours as its reply."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


@dataclass(eq=False)
class Server:
    """The server: one router in front of one upstream, with the options of `serve`."""

    router: Router
    upstream: str
    model: str
    key: str = field(default="", repr=False)  # never shown
    timeout: float = 120.0
    deadline: float = 300.0
    hosts: Sequence[str] = LOOPBACK
    is_ending: Callable[[], bool] = bool  # whether the server was told to end

    def __post_init__(self) -> None:
        self.upstream = self.upstream.rstrip("/")
        # Redirects are left to the caller: the headers must not go to another origin. Cookies are
        # too: this client would send the cookie of one caller with the votes of the next.
        self.http = httpx2.AsyncClient(
            timeout=self.timeout,
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            # As many as requests are open, so that no request waits for one that hangs.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=AT_ONCE),
        )
        # Only a race cuts answers short, and so reads them while they are written.
        self.wishes = {
            each: Wishes.of(self.router.policy.reads, streams=self.router.races, interface=each)
            for each in (CHAT, RESPONSES)
        }
        self.places = asyncio.Semaphore(AT_ONCE)
        self.ending = asyncio.Event()  # votes close with the answers in hand
        self.over = asyncio.Event()  # those that have none are given up
        self.voted = 0
        self.passed_on: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def app(self) -> ASGIApp:
        """Return the application, for any server that speaks ASGI."""
        routes = [
            Route("/health", self.health),
            Route("/v1/models", self._logged(self.models)),
            Route("/v1/chat/completions", self._logged(self.chat), methods=["POST"]),
            Route("/v1/responses", self._logged(self.responses), methods=["POST"]),
            Route("/{path:path}", self._logged(self.elsewhere), methods=_METHODS),
        ]
        return OfHosts(Starlette(routes=routes, lifespan=self._lifespan), self.hosts)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Watch for the end; then close the connections to the upstream, and the debt's file."""
        watching = asyncio.create_task(self._watch())
        yield
        watching.cancel()
        await self.http.aclose()
        self.router.controller.let_go()

    async def _watch(self) -> None:
        """End the votes in time when the server is to end."""
        while not self.is_ending():
            await asyncio.sleep(0.05)
        self.ending.set()
        await asyncio.sleep(GRACE - 1)
        self.over.set()

    async def health(self, request: Request) -> Response:
        """Reply that the server runs, how the budget is held, and what became of requests."""
        controller = self.router.controller
        names = ("budget", "asked", "cuts", "spent", "average", "debt", "price", "fault")
        figures = {name: getattr(controller, name) for name in names}
        if self.router.unit == "samples":  # the bound on tokens needs the length of the longest
            figures["bound"] = self.router.bound(AT_ONCE) + controller.cuts * controller.budget
        counts = {"voted": self.voted, "passed_on": self.passed_on.total()}
        reasons = {"reasons": dict(self.passed_on), "failed": dict(self.failed)}
        return JSONResponse(
            {"status": "ok", "unit": self.router.unit, **figures, **counts, **reasons}
        )

    async def chat(self, request: Request) -> Response:
        """Vote on a chat completion, or pass it on."""
        body = await self._body(request)
        fields = _json_object(body)
        why = "a long conversation" if len(body) > LONGEST_VOTE else ""
        why = why or why_passed_on(fields, self.model)
        if request.url.query:
            why = "a query in its address"
        if not why:
            try:
                return await self.vote(request, fields, CHAT)
            except (ClientDisconnect, RefusedError):
                raise
            except Exception as error:
                # A defect of ours: the caller gets what the upstream itself replies.
                why = f"the vote failed ({_place_of(error)})"
                self.failed[in_words(error)] += 1
        return await self.forward(request, CHAT.path, body, why)

    async def responses(self, request: Request) -> Response:
        """Vote on a request of the Responses interface, or refuse it."""
        body = await self._body(request)
        fields = _json_object(body)
        why = "it is long" if len(body) > LONGEST_VOTE else why_refused(fields, self.model)
        if why:
            raise RefusedError(
                400,
                f"{why}; this address takes plain text for {self.model} and no stream, ask the "
                "model's own address for anything else",
            )
        return await self.vote(request, fields, RESPONSES)

    async def models(self, request: Request) -> Response:
        """Pass on the question which models there are."""
        return await self.forward(request, "/models", b"", "the list of models")

    async def elsewhere(self, request: Request) -> Response:
        """Refuse any other path, and name those that are served."""
        raise RefusedError(
            404,
            "served are POST /v1/chat/completions, POST /v1/responses, GET /v1/models and "
            "GET /health; a gateway in front can serve the model's other paths",
        )

    async def vote(
        self, request: Request, fields: dict[str, Any], interface: Interface
    ) -> Response:
        """Ask as often as the router says, and reply with the winner."""
        headers = [pair for pair in self._headers(request) if _OF_THE_CALLER.fullmatch(pair[0])]
        sent = {name: fields[name] for name in fields if name not in ("n", "stream")}
        ask = asker(self._sender(headers, interface), sent, self.wishes[interface])
        try:
            routed = await self._unless_gone(request, self._in_turn(question_of(fields), ask))
        except NoAnswerError as error:
            self.failed[in_words(error)] += 1
            request.state.line["why"] = f"no vote: {error}"
            return _as_it_came(error)
        except (TimeoutError, httpx2.HTTPError) as error:
            self.failed[in_words(error)] += 1
            raise _refused(error) from None
        if routed.reason == NOT_SHORT:
            self._note(NOT_SHORT)
        else:
            self.voted += 1
            if routed.reason not in (WORTH, LONGEST, ENDING):
                self.failed[routed.reason] += 1
        figures = _figures(routed)
        request.state.line |= figures
        return _completion(routed, figures, interface)

    def _sender(self, headers: Headers, interface: Interface) -> Send:
        """Return a function that sends the fields of a request with these headers."""
        url = self.upstream + interface.path
        headers = [*headers, (b"content-type", b"application/json"), (b"accept", b"*/*")]
        headers.append((b"accept-encoding", b"gzip, deflate"))  # what httpx2 reads anywhere

        async def send(fields: dict[str, Any], runner: Runner) -> httpx2.Response:
            async def trace(event: str, _: dict[str, Any]) -> None:
                # From here to the last byte of the request, nothing can come between.
                runner.paid = runner.paid or event.endswith("send_request_body.started")

            extensions = {"timeout": httpx2.Timeout(self.timeout).as_dict(), "trace": trace}
            body = json.dumps(fields).encode()
            request = httpx2.Request(
                "POST", url, headers=headers, content=body, extensions=extensions
            )
            return await self.http.send(request, stream=True)

        return send

    async def _in_turn(self, question: str, ask: Any) -> Routed:
        """Vote once there is a place; the deadline covers the wait for it."""
        ends = time.monotonic() + self.deadline
        async with asyncio.timeout(self.deadline):
            await self.places.acquire()
        try:
            seconds = ends - time.monotonic()
            return await self.router.answer(question, ask, seconds=seconds, ending=self.ending)
        finally:
            self.places.release()

    def _headers(self, request: Request) -> Headers:
        """Return the headers of a request for the upstream, with the server's key if it has one."""
        headers = end_to_end(request.scope["headers"])
        return [*without(headers, b"authorization"), *self._own_key()] if self.key else headers

    def _own_key(self) -> Headers:
        """Return the header that holds the server's key."""
        return [(b"authorization", f"Bearer {self.key}".encode())]

    def _note(self, why: str) -> None:
        """Count a request that is not voted on, and say each reason once."""
        if why not in self.passed_on:
            if len(self.passed_on) >= REASONS:
                why = "other reasons"
            else:
                LOG.info(json.dumps({"not_voted_on": why}))
        self.passed_on[why] += 1

    async def forward(self, request: Request, path: str, body: bytes, why: str) -> Response:
        """Send a request to the upstream as it came, and its reply back as it comes."""
        self._note(why)
        request.state.line["why"] = f"passed on: {why}"
        query = f"?{request.url.query}" if request.url.query else ""
        # Made by hand and not by the client, which would add headers.
        outgoing = httpx2.Request(
            request.method,
            self.upstream + path + query,
            headers=self._headers(request),
            content=body,
            extensions={"timeout": httpx2.Timeout(self.timeout).as_dict()},
        )
        try:
            reply = await self._unless_gone(request, self.http.send(outgoing, stream=True))
        except httpx2.HTTPError as error:
            raise _refused(error) from None
        return Passed(reply)

    async def _unless_gone(self, request: Request, work: Awaitable[Result]) -> Result:
        """Wait for the work, or cancel it when the caller hangs up or the server ends."""

        async def hung_up() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        task = asyncio.ensure_future(work)
        over = asyncio.ensure_future(self.over.wait())
        gone = asyncio.ensure_future(hung_up())
        try:
            await asyncio.wait({task, over, gone}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if over.done():
                raise RefusedError(503, "the server is ending, and has no answer yet")
            raise ClientDisconnect
        finally:
            for each in (over, gone, task):
                each.cancel()
            await asyncio.wait({task})  # until its connections are closed

    async def abilities(self) -> list[str]:
        """Return what the upstream can do, a line each; see `adalib.ask.preflight`."""
        async with self.http:
            own = self._own_key() if self.key else []
            return await abilities(self._sender(own, CHAT), self.model)

    async def _body(self, request: Request) -> bytes:
        """Read the body of a request, up to a limit and while it comes."""
        body = bytearray()
        try:
            async with asyncio.timeout(self.timeout):
                async for piece in request.stream():
                    body += piece
                    if len(body) > LARGEST_BODY:
                        limit = f"{LARGEST_BODY:,} bytes"
                        raise RefusedError(413, f"the request is larger than {limit}")
        except TimeoutError:
            raise RefusedError(408, "the request did not come whole in time") from None
        return bytes(body)

    def _logged(
        self, handle: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler that turns refusals into replies, and logs one line per request."""

        async def logged(request: Request) -> Response:
            began = time.monotonic()
            request.state.line = {}
            try:
                if {"content-length", "transfer-encoding"} <= set(request.headers):
                    why = "the request has both Content-Length and Transfer-Encoding"
                    raise RefusedError(400, why, connection="close")  # the next may be no request
                # A page of another site, open in a browser here, must not spend the key.
                if "origin" in request.headers:
                    raise RefusedError(403, "requests of web pages are not served")
                response = await handle(request)
            except ClientDisconnect:
                response = Response(status_code=499)
                request.state.line["why"] = "the caller has gone"
            except RefusedError as error:
                response = _error(error.status, str(error), error.headers)
                request.state.line["why"] = str(error)
            except Exception as error:  # a defect of ours
                response = _error(500, "the server failed; its log says why")
                request.state.line["why"] = _place_of(error)
            seconds = round(time.monotonic() - began, 3)
            head = {"path": request.url.path, "status": response.status_code, "seconds": seconds}
            LOG.info(json.dumps(head | request.state.line))
            return response

        return logged


def _refused(error: Exception) -> RefusedError:
    """Return the refusal where the upstream gave no reply; it is not asked again."""
    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        return RefusedError(504, "the upstream did not answer in time")
    return RefusedError(502, f"the upstream failed ({in_words(error)})")


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error in the form in which clients of the interface expect it."""
    error = {"message": message, "type": "server_error", "code": status}
    return JSONResponse({"error": error}, status, headers)


def _as_it_came(error: NoAnswerError) -> Response:
    """Return the upstream's own reply, with its status and headers."""
    response = Response(error.body, error.status)
    response.raw_headers += _about_the_reply(error.headers)
    return response


def _about_the_reply(headers: Any) -> Headers:
    """Return the headers of a reply whose body we have read; its length and encoding are ours."""
    return without(end_to_end(headers), b"content-length", b"content-encoding")


def _place_of(error: Exception) -> str:
    """Say what went wrong, and where; the upstream's own words may hold a text or a key."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"


def _figures(routed: Routed) -> dict[str, Any]:
    """What a reply and the log tell about a vote."""
    return {
        "answers": len(routed.answers),
        "cancelled": routed.cancelled,
        "tokens": routed.tokens,
        "cost": routed.cost,
        "price": routed.price,
        "why": routed.reason,
    }


def _completion(routed: Routed, figures: dict[str, Any], interface: Interface) -> Response:
    """Return the winner's own reply, with what all answers used and a field of ours."""
    usage: dict[str, Any] = {}
    for answer in routed.answers:
        _sum(usage, answer.reply.get("usage") or {})
    if routed.cancelled:  # what they read and wrote is paid for too, and they have reported nothing
        names = (interface.read_tokens, interface.written_tokens)
        read, written = (usage.get(name, 0) for name in names)
        read += routed.cancelled * (routed.winner.prompt_tokens or 0)
        written = max(routed.tokens, written)
        usage |= dict(zip(names, (read, written), strict=True), total_tokens=read + written)
    ours = {"answer": routed.answer, "votes": routed.votes, **figures}
    body = routed.winner.reply | ({"usage": usage} if usage else {}) | {"adalib": ours}
    response = Response(json.dumps(body).encode(), media_type="application/json")
    response.raw_headers += without(_about_the_reply(routed.winner.headers), b"content-type")
    return response


def _sum(total: dict[str, Any], usage: dict[str, Any]) -> None:
    """Add the numbers of a usage, and of its details, to those of other answers."""
    for name, value in usage.items():
        before = total.get(name)
        if isinstance(value, dict):
            total[name] = before if isinstance(before, dict) else {}
            _sum(total[name], value)
        elif type(value) in (int, float) and type(before) in (int, float):
            total[name] = before + value
        elif before is None:
            total[name] = value


def _json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body; an empty one where it is anything else."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def serve(
    folder: str | os.PathLike,
    upstream: str,
    model: str,
    *,
    host: str = "127.0.0.1",
    allow_host: Sequence[str] = (),
    port: int = 8081,
    key_env: str = "OPENAI_API_KEY",
    debt: str | os.PathLike | None = None,
    timeout: float = 120.0,
    deadline: float = 300.0,
    check: bool = False,
) -> None:
    """Serve a saved router until interrupted, with one line of JSON per request on stdout.

    Explained in the chapter "Deploy".

    Parameters
    ----------
    folder : path-like
        A router that `Router.save` wrote.
    upstream : str
        The base URL of an OpenAI-compatible endpoint.
    model : str
        The model that is voted on; requests for others pass on.
    host : str
        The address to listen at.
    allow_host : sequence of str
        Further names by which the server is called, such as the name of its machine.
    port : int
        The port; 0 takes a free one, and standard error says which.
    key_env : str
        The environment variable that holds the endpoint's key.
    debt : path-like, optional
        The file that keeps the budget's debt over restarts; default: debt.json in the folder.
        Several servers need one each.
    timeout : float
        Seconds of silence of the upstream.
    deadline : float
        Seconds for a whole vote.
    check : bool
        Ask the upstream twice, say what it can do (stream, log-probabilities, cancel), and end.
    """
    check_base_url(upstream, "the upstream")
    if not (0 <= port < 2**16 and timeout > 0 and deadline > 0):
        raise ValueError(
            f"the port is {port}, the timeout {timeout} and the deadline {deadline}; give a port "
            "below 65536, and seconds above 0"
        )
    called = hosts(host, allow_host)
    router = Router.load(folder)
    controller = router.controller
    key = os.environ.get(key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError(f"{key_env} holds no key: some of its characters cannot stand in a header")
    if key and host not in LOOPBACK:
        warnings.warn(
            f"anyone who reaches {host} can spend the key in {key_env}; put a gateway in front",
            stacklevel=2,
        )
    server = Server(router, upstream, model, key, timeout, deadline, called)
    if check:
        print(*asyncio.run(server.abilities()), sep="\n")
        return
    controller.keep_in(Path(folder) / "debt.json" if debt is None else debt)
    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        controller.let_go()
        raise ValueError(
            f"nothing can listen at {host}:{port} ({error.strerror}); choose another --port"
        ) from None
    with listening:
        url = f"http://{host}:{listening.getsockname()[1]}/v1"
        budget = f"{controller.budget:g} {router.unit} per question"
        print(f"{model} at {url}, budget {budget}", file=sys.stderr, flush=True)
        lines = LogLines()
        for name in ("adalib.ask", "adalib.serve"):
            logging.getLogger(name).addHandler(lines)
            logging.getLogger(name).setLevel("INFO")
        logging.getLogger("asyncio").setLevel("ERROR")  # it warns of callers who have gone
        running = prepared(server.app(), listening)
        server.is_ending = lambda: running.should_exit
        running.run(sockets=[listening])
