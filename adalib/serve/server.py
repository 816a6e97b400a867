"""The router behind one OpenAI-compatible address, in front of another one.

A chat completion that wants one short answer is voted on. Everything else is passed on byte by
byte and comes back so, streams included. The rule for "one short answer" is in two steps. From the
request, `why_passed_on` takes only plain text turns with ordinary sampling settings. From the first
reply, `short_answer` (`adalib.serve.router`) takes only a text whose answer is marked, or a short
text; any other text is the reply. A reply that is no text at all (an error, a refusal, a page) is
the reply too, as it came: an upstream in trouble is asked once. If anything else goes wrong with a
vote, the request is passed on, so that the caller never gets less than the upstream would give.

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
from collections.abc import AsyncIterator, Awaitable, Callable
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
from adalib.serve.listening import OfOneCaller, listen
from adalib.serve.log import LogLines
from adalib.serve.passing import Headers, Passed, climbs, end_to_end, outgoing_request, without
from adalib.serve.router import LONGEST, NOT_SHORT, WORTH, Routed, Router, in_words

Result = TypeVar("Result")

LARGEST_BODY = 20_000_000  # bytes of a request; an image in it takes a few millions
LONGEST_VOTE = 200_000  # bytes of a request that is voted on; reading a longer one takes too long
AT_ONCE = 64  # votes that are open at a time; others wait for their turn
MOST_OF_ONE = 512  # requests of one address that are open at a time; more are refused
LOG = logging.getLogger("adalib.serve")

# Fields of a request that is voted on; with any other one it is passed on.
_SAMPLING = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "stop")
_LIMITS = ("max_tokens", "max_completion_tokens")
_VOTED = {"model", "messages", "n", "stream", "user", *_SAMPLING, *_LIMITS}
# Headers that every answer of a vote is sent with: who asks, for whom, and as part of which trace.
# The others are about one request and its body, or about the caller's own client.
_OF_THE_CALLER = re.compile(
    rb"authorization|api-key|.+-(api-key|auth|authorization|token)|openai-.+|user-agent|"
    rb"http-referer|x-title|traceparent|tracestate|baggage|b3|x-b3-.+|x-datadog-.+|sentry-trace|"
    rb"x-(client-)?request-id|x-correlation-id|x-amzn-trace-id|x-cloud-trace-context"
)


class RefusedError(Exception):
    """A request that gets an error of ours as its reply."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def why_passed_on(fields: dict[str, Any], model: str) -> str:
    """Return why a request is passed on instead of voted on; "" if it is voted on.

    Examples
    --------
    >>> turn = {"role": "user", "content": "What is 3 + 4?"}
    >>> why_passed_on({"model": "m", "messages": [turn], "temperature": 0.7}, "m")
    ''
    >>> why_passed_on({"model": "m", "messages": [turn], "tools": [{}]}, "m")
    'it has tools'
    """
    if fields.get("model") != model:
        return "another model"
    others = [name for name, value in fields.items() if name not in _VOTED and value is not None]
    if others:
        return f"it has {others[0][:40]}"
    if fields.get("stream") or fields.get("n") not in (None, 1):
        return "a stream, or several choices"
    if fields.get("temperature") == 0:
        return "temperature 0, at which all answers are the same"
    turns = fields.get("messages")
    turns = turns if isinstance(turns, list) else []
    texts = [turn.get("content") for turn in turns if isinstance(turn, dict)]
    if not texts or not all(isinstance(text, str) for text in texts):
        return "not plain text"
    return ""


@dataclass(eq=False)
class Server:
    """The server: one router in front of one upstream, with the options of `serve`."""

    router: Router
    upstream: str
    model: str
    key: str = field(default="", repr=False)  # never shown
    timeout: float = 120.0
    deadline: float = 300.0

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
        self.wishes = Wishes.of(self.router.policy.reads, streams=self.router.races)
        self.places = asyncio.Semaphore(AT_ONCE)
        self.voted = self.passed_on = 0
        self.failed: Counter[str] = Counter()

    def app(self) -> ASGIApp:
        """Return the application, for any server that speaks ASGI."""
        every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        routes = [
            Route("/health", self.health),
            Route("/v1/chat/completions", self._logged(self.chat), methods=["POST"]),
            Route("/v1/{path:path}", self._logged(self.other), methods=every),
        ]
        return OfOneCaller(Starlette(routes=routes, lifespan=self._lifespan), MOST_OF_ONE)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Close the connections to the upstream, and the debt's file, when the server ends."""
        yield
        await self.http.aclose()
        self.router.controller.let_go()

    async def health(self, request: Request) -> Response:
        """Reply that the server runs, how the budget is held, and what became of requests."""
        controller = self.router.controller
        names = ("budget", "asked", "average", "debt", "price", "fault")
        figures = {name: getattr(controller, name) for name in names}
        if self.router.unit == "samples":  # the bound on tokens needs the length of the longest
            figures["bound"] = self.router.bound(AT_ONCE)
        counts = {"voted": self.voted, "passed_on": self.passed_on, "failed": dict(self.failed)}
        return JSONResponse({"status": "ok", "unit": self.router.unit, **figures, **counts})

    async def chat(self, request: Request) -> Response:
        """Vote on a chat completion, or pass it on."""
        body = await self._body(request)
        is_long = len(body) > LONGEST_VOTE
        fields = {} if is_long else _json_object(body)
        why = "a long conversation" if is_long else why_passed_on(fields, self.model)
        if request.url.query:
            why = "a query in its address"
        if not why:
            try:
                return await self.vote(request, fields)
            except ClientDisconnect:
                raise
            except Exception as error:
                self.failed[in_words(error)] += 1
                if isinstance(error, NoAnswerError):
                    request.state.line["why"] = f"no vote: {error}"
                    return _as_it_came(error)
                if isinstance(error, TimeoutError | httpx2.HTTPError):
                    raise _refused(error) from None
                # A defect of ours: the caller gets what the upstream itself replies.
                why = f"the vote failed ({_place_of(error)})"
        return await self.forward(request, body, why)

    async def other(self, request: Request) -> Response:
        """Pass on any other request."""
        return await self.forward(request, await self._body(request), "another path")

    async def vote(self, request: Request, fields: dict[str, Any]) -> Response:
        """Ask as often as the router says, and reply with the winner."""
        headers = [pair for pair in self._headers(request) if _OF_THE_CALLER.fullmatch(pair[0])]
        sent = {name: fields[name] for name in fields if name not in ("n", "stream")}
        ask = asker(self._sender(headers), sent, self.wishes)
        question = fields["messages"][-1]["content"]
        routed = await _unless_gone(request, self._in_turn(question, ask))
        if routed.reason == NOT_SHORT:
            self.passed_on += 1
        else:
            self.voted += 1
            if routed.reason not in (WORTH, LONGEST):
                self.failed[routed.reason] += 1
        figures = _figures(routed)
        request.state.line |= figures
        return _completion(routed, figures)

    def _sender(self, headers: Headers) -> Send:
        """Return a function that sends the fields of a chat completion with these headers."""
        url = f"{self.upstream}/chat/completions"
        headers = [*headers, (b"content-type", b"application/json"), (b"accept", b"*/*")]
        headers.append((b"accept-encoding", b"gzip, deflate"))  # what httpx2 reads anywhere

        async def send(fields: dict[str, Any]) -> httpx2.Response:
            body = json.dumps(fields).encode()
            extensions = {"timeout": httpx2.Timeout(self.timeout).as_dict()}
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
            return await self.router.answer(question, ask, seconds=ends - time.monotonic())
        finally:
            self.places.release()

    def _headers(self, request: Request) -> Headers:
        """Return the headers of a request for the upstream, with the server's key if it has one."""
        headers = end_to_end(request.scope["headers"])
        return [*without(headers, b"authorization"), *self._own_key()] if self.key else headers

    def _own_key(self) -> Headers:
        """Return the header that holds the server's key."""
        return [(b"authorization", f"Bearer {self.key}".encode())]

    async def forward(self, request: Request, body: bytes, why: str) -> Response:
        """Send a request to the upstream as it came, and its reply back as it comes."""
        self.passed_on += 1
        request.state.line["why"] = f"passed on: {why}"
        path: bytes = request.scope["raw_path"]
        if not path.startswith(b"/v1/") or climbs(path):
            raise RefusedError(404, "there is no such path")
        outgoing = outgoing_request(
            request, self.upstream, self._headers(request), body, self.timeout
        )
        try:
            reply = await _unless_gone(request, self.http.send(outgoing, stream=True))
        except httpx2.HTTPError as error:
            raise _refused(error) from None
        return Passed(reply)

    async def abilities(self) -> list[str]:
        """Return what the upstream can do, a line each; see `adalib.ask.preflight`."""
        async with self.http:
            return await abilities(self._sender(self._own_key() if self.key else []), self.model)

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
                # A page of another site, open in a browser here, must not spend the key.
                if "origin" in request.headers:
                    raise RefusedError(403, "requests of web pages are not served")
                response = await handle(request)
            except ClientDisconnect:
                response = Response(status_code=499)
                request.state.line["why"] = "the caller has gone"
            except RefusedError as error:
                response = _error(error.status, str(error))
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


def _error(status: int, message: str) -> Response:
    """Return an error in the form in which clients of the interface expect it."""
    error = {"message": message, "type": "server_error", "code": status}
    return JSONResponse({"error": error}, status)


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


def _completion(routed: Routed, figures: dict[str, Any]) -> Response:
    """Return the winner's own reply, with what all answers used and a field of ours."""
    usage: dict[str, Any] = {}
    for answer in routed.answers:
        _sum(usage, answer.reply.get("usage") or {})
    if routed.cancelled:  # what they wrote is paid for too, and they have reported nothing
        written = usage.get("completion_tokens", 0)
        usage["completion_tokens"] = max(routed.tokens, written)
        usage["total_tokens"] = usage.get("prompt_tokens", 0) + usage["completion_tokens"]
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


async def _unless_gone(request: Request, work: Awaitable[Result]) -> Result:
    """Wait for the work, or cancel it when the caller hangs up."""

    async def hung_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(hung_up())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        gone.cancel()
        task.cancel()
        await asyncio.wait({task})  # until its connections are closed


def serve(
    folder: str | os.PathLike,
    upstream: str,
    model: str,
    *,
    host: str = "127.0.0.1",
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
    router = Router.load(folder)
    controller = router.controller
    key = os.environ.get(key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError(f"{key_env} holds no key: some of its characters cannot stand in a header")
    if key and host not in ("127.0.0.1", "localhost"):
        warnings.warn(
            f"anyone who reaches {host} can spend the key in {key_env}; put a gateway in front",
            stacklevel=2,
        )
    server = Server(router, upstream, model, key, timeout, deadline)
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
        listen(server.app(), listening)
