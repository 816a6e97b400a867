"""The router behind one OpenAI-compatible address, in front of another one.

A chat completion that wants one short answer is voted on. Everything else is passed on byte by
byte and comes back so, streams included. The rule for "one short answer" is in two steps. From the
request, `why_passed_on` takes only plain text turns with ordinary sampling settings. From the first
reply, `short_answer` (`adalib.serve.router`) takes only a text whose answer is marked, or a short
text; any other text is the reply. Whatever goes wrong with a vote, the request is passed on, so
that the caller never gets less than the upstream would give.

The server knows no users, keys, prices or rate limits: put a gateway in front for those.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import sys
import time
import traceback
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import httpx2
import openai
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adalib.ask.endpoint import Ask, check_base_url, model_asker
from adalib.ask.preflight import abilities
from adalib.serve.log import LogLines
from adalib.serve.passing import Headers, climbs, end_to_end, outgoing_request, returned
from adalib.serve.router import Routed, Router

Result = TypeVar("Result")

LARGEST_BODY = 20_000_000  # bytes of a request; an image in it takes a few millions
LONGEST_VOTE = 200_000  # bytes of a request that is voted on; reading a longer one takes too long
AT_ONCE = 64  # votes that are open at a time; others wait for their turn
LOG = logging.getLogger("adalib.serve")

# Fields of a request that is voted on; with any other one it is passed on.
_SAMPLING = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "stop")
_LIMITS = ("max_tokens", "max_completion_tokens")
_VOTED = {"model", "messages", "n", "stream", "user", *_SAMPLING, *_LIMITS}
# Headers about one request and its body, of which every answer of a vote has its own.
_OF_ONE_REQUEST = {
    *("accept", "accept-encoding", "content-encoding", "content-length", "content-type"),
    "idempotency-key",
}


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
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        self.http = openai.DefaultAsyncHttpxClient(
            timeout=self.timeout, follow_redirects=False, cookies=no_cookies
        )
        self.client = openai.AsyncOpenAI(
            base_url=self.upstream,
            api_key=self.key or "none",
            timeout=self.timeout,
            max_retries=0,  # the caller retries what is passed on
            http_client=self.http,
        )
        # The client took them from the environment; votes carry the caller's, as what is passed on.
        self.client.organization = self.client.project = None
        self.places = asyncio.Semaphore(AT_ONCE)

    def app(self) -> Starlette:
        """Return the application, for any server that speaks ASGI."""
        every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        routes = [
            Route("/health", self.health),
            Route("/v1/chat/completions", self._logged(self.chat), methods=["POST"]),
            Route("/v1/{path:path}", self._logged(self.other), methods=every),
        ]
        return Starlette(routes=routes, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Close the connections to the upstream when the server ends."""
        yield
        await self.client.close()

    async def health(self, request: Request) -> Response:
        """Reply that the server runs, and how the budget is held."""
        names = ("budget", "asked", "average", "debt", "price")
        figures = {name: getattr(self.router.controller, name) for name in names}
        return JSONResponse({"status": "ok", "unit": self.router.unit, **figures})

    async def chat(self, request: Request) -> Response:
        """Vote on a chat completion, or pass it on."""
        body = await _body(request)
        if len(body) > LONGEST_VOTE:
            return await self.pass_on(request, body, "a long conversation")
        fields = _json_object(body)
        why = "a query in its address" if request.url.query else why_passed_on(fields, self.model)
        if why:
            return await self.pass_on(request, body, why)
        try:
            return await self.vote(request, fields)
        except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException):
            limit = min(self.deadline, self.timeout)
            raise RefusedError(504, f"no answer came within {limit:g} s") from None
        except ClientDisconnect:
            raise
        except Exception as error:
            # No answer to vote on: the caller gets what the upstream itself replies.
            why = f"the vote failed ({_in_words(error)})"
            return await self.pass_on(request, body, why)

    async def other(self, request: Request) -> Response:
        """Pass on any other request."""
        return await self.pass_on(request, await _body(request), "another path")

    async def vote(self, request: Request, fields: dict[str, Any]) -> Response:
        """Ask as often as the router says, and reply with the winner."""
        sent = {name: fields[name] for name in fields if name not in ("messages", "n", "stream")}
        headers: dict[str, Any] = {}
        for raw, value in self._headers(request):
            name = raw.decode()
            if name in _OF_ONE_REQUEST:
                continue
            before = f"{headers[name]}, " if name in headers else ""  # a repeated one is joined
            headers[name] = before + value.decode("latin-1")
        headers.setdefault("authorization", openai.Omit())  # or the client would send one
        reads = self.router.policy.reads
        ask = model_asker(self.client, fields["messages"], reads, extra_headers=headers, **sent)
        question = fields["messages"][-1]["content"]
        routed = await _unless_gone(request, self._in_turn(question, ask))
        figures = _figures(routed)
        request.state.line |= figures
        return JSONResponse(_completion(routed, self.model, figures))

    async def _in_turn(self, question: str, ask: Ask) -> Routed:
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
        if self.key:
            headers = [pair for pair in headers if pair[0].lower() != b"authorization"]
            headers.append((b"authorization", f"Bearer {self.key}".encode()))
        return headers

    async def pass_on(self, request: Request, body: bytes, why: str) -> Response:
        """Send a request to the upstream as it came, and its reply back as it comes."""
        request.state.line["why"] = f"passed on: {why}"
        path: bytes = request.scope["raw_path"]
        if not path.startswith(b"/v1/") or climbs(path):
            raise RefusedError(404, "there is no such path")
        outgoing = outgoing_request(
            request, self.upstream, self._headers(request), body, self.timeout
        )
        try:
            reply = await _unless_gone(request, self.http.send(outgoing, stream=True))
        except httpx2.TimeoutException:
            raise RefusedError(504, "the upstream did not answer in time") from None
        except httpx2.HTTPError as error:
            raise RefusedError(502, f"the upstream failed ({type(error).__name__})") from None
        return returned(reply)

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
                request.state.line["why"] = _in_words(error)
            seconds = round(time.monotonic() - began, 3)
            head = {"path": request.url.path, "status": response.status_code, "seconds": seconds}
            LOG.info(json.dumps(head | request.state.line))
            return response

        return logged


def _error(status: int, message: str) -> Response:
    """Return an error in the form in which clients of the interface expect it."""
    error = {"message": message, "type": "server_error", "code": status}
    return JSONResponse({"error": error}, status)


def _in_words(error: Exception) -> str:
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


def _completion(routed: Routed, model: str, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the winner as a chat completion, with the tokens of all answers as its usage."""
    message = {"role": "assistant", "content": routed.winner.text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": routed.winner.finish}
    read = sum(answer.prompt_tokens or 0 for answer in routed.answers)
    usage = {"prompt_tokens": read, "completion_tokens": routed.tokens}
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{**choice, "logprobs": None}],
        "usage": usage | {"total_tokens": read + routed.tokens},
        "adalib": {"answer": routed.answer, "votes": routed.votes, **figures},
    }


async def _body(request: Request) -> bytes:
    """Read the body of a request, up to a limit."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            raise RefusedError(413, f"the request is larger than {LARGEST_BODY:,} bytes")
    return bytes(body)


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
    controller.keep_in(Path(folder) / "debt.json" if debt is None else debt)
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
        print(*asyncio.run(abilities(server.client, model)), sep="\n")
        return
    with socket.create_server((host, port)) as listening:
        # Without it every small reply waits 40 ms for the client's delayed acknowledgement.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        url = f"http://{host}:{listening.getsockname()[1]}/v1"
        budget = f"{controller.budget:g} {router.unit} per question"
        print(f"{model} at {url}, budget {budget}", file=sys.stderr, flush=True)
        config = uvicorn.Config(
            server.app(),
            log_level="critical",  # the lines of our log say what failed
            access_log=False,
            date_header=False,  # the upstream's own come back
            server_header=False,
        )
        LOG.addHandler(LogLines())
        LOG.setLevel("INFO")
        uvicorn.Server(config).run(sockets=[listening])
