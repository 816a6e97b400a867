"""The router behind one OpenAI-compatible address, in front of another one.

A chat completion that wants one short answer is voted on. Everything else is passed on unchanged
and comes back unchanged, streams included. The rule for "one short answer" is in two steps. From
the request, `why_passed_on` takes only plain text turns with ordinary sampling settings. From the
first reply, `adalib.router.short_answer` takes only a text whose answer is marked, or a short text;
any other first reply is the reply.

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
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import httpx2
import openai
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from adalib.endpoint import model_asker
from adalib.router import Routed, Router

Result = TypeVar("Result")

LARGEST_BODY = 20_000_000  # bytes of a request; an image in it takes a few millions
AT_ONCE = 64  # votes that are open at a time; others wait for their turn
LOG = logging.getLogger("adalib.server")

# Fields of a request that is voted on; with any other one it is passed on.
_SAMPLING = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "stop")
_LIMITS = ("max_tokens", "max_completion_tokens")
_VOTED = {"model", "messages", "n", "stream", "user", *_SAMPLING, *_LIMITS}
# Headers that belong to one connection, and those that are set anew.
_NOT_PASSED = {"host", "connection", "keep-alive", "transfer-encoding", "content-length", "upgrade"}


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
    keep: str | os.PathLike | None = None
    timeout: float = 120.0
    deadline: float = 300.0

    def __post_init__(self) -> None:
        self.upstream = self.upstream.rstrip("/")
        self.http = openai.DefaultAsyncHttpxClient(timeout=self.timeout)
        self.client = openai.AsyncOpenAI(
            base_url=self.upstream,
            api_key=self.key or "none",
            timeout=self.timeout,
            http_client=self.http,
        )
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
        fields = _json_object(body)
        why = why_passed_on(fields, self.model)
        if why:
            return await self.pass_on(request, body, why)
        try:
            return await self.vote(request, fields)
        except TimeoutError:
            raise RefusedError(504, f"no answer came within {self.deadline:g} s") from None
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, TypeError) as error:
            # No answer to vote on: the caller gets what the upstream itself replies.
            why = f"the vote failed ({type(error).__name__})"
            return await self.pass_on(request, body, why)

    async def other(self, request: Request) -> Response:
        """Pass on any other request."""
        return await self.pass_on(request, await _body(request), "another path")

    async def vote(self, request: Request, fields: dict[str, Any]) -> Response:
        """Ask as often as the router says, and reply with the winner."""
        sent = {name: fields[name] for name in fields if name not in ("messages", "n", "stream")}
        ask = model_asker(self.client, fields["messages"], self.router.policy.reads, **sent)
        question = fields["messages"][-1]["content"]
        async with self.places:
            vote = self.router.answer(question, ask, seconds=self.deadline)
            routed = await _unless_gone(request, vote)
        name = uuid4().hex
        if self.keep is not None:
            _keep(self.keep, name, question, routed)
        figures = _figures(routed)
        request.state.line |= figures
        return JSONResponse(_completion(routed, name, self.model, figures))

    async def pass_on(self, request: Request, body: bytes, why: str) -> Response:
        """Send a request to the upstream as it came, and its reply back as it comes."""
        request.state.line["why"] = f"passed on: {why}"
        path = request.url.path.removeprefix("/v1")
        if ".." in path.split("/"):
            raise RefusedError(404, "there is no such path")
        query = f"?{request.url.query}" if request.url.query else ""
        headers = _passed_headers(request.headers.items())
        if self.key:
            headers["authorization"] = f"Bearer {self.key}"
        url = f"{self.upstream}{path}{query}"
        outgoing = self.http.build_request(request.method, url, headers=headers, content=body)
        try:
            reply = await _unless_gone(request, self.http.send(outgoing, stream=True))
        except httpx2.TimeoutException:
            raise RefusedError(504, "the upstream did not answer in time") from None
        except httpx2.HTTPError as error:
            raise RefusedError(502, f"the upstream failed ({type(error).__name__})") from None
        back = _passed_headers(reply.headers.items())
        return StreamingResponse(_bytes_of(reply), reply.status_code, headers=back)

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
                message = {"message": str(error), "type": "server_error", "code": error.status}
                response = JSONResponse({"error": message}, error.status)
                request.state.line["why"] = str(error)
            seconds = round(time.monotonic() - began, 3)
            head = {"path": request.url.path, "status": response.status_code, "seconds": seconds}
            LOG.info(json.dumps(head | request.state.line))
            return response

        return logged


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


def _completion(routed: Routed, name: str, model: str, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the winner as a chat completion, with the tokens of all answers as its usage."""
    message = {"role": "assistant", "content": routed.winner.text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": routed.winner.finish}
    read = sum(answer.prompt_tokens or 0 for answer in routed.answers)
    usage = {"prompt_tokens": read, "completion_tokens": routed.tokens}
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{**choice, "logprobs": None}],
        "usage": usage | {"total_tokens": read + routed.tokens},
        "adalib": {"answer": routed.answer, "votes": routed.votes, **figures},
    }


def _keep(path: str | os.PathLike, name: str, question: str, routed: Routed) -> None:
    """Append the answers of a vote as a line for `adalib.load`; "gold" is to be filled in."""
    answers = routed.answers
    record: dict[str, Any] = {"id": name, "question": question, "gold": ""}
    record["answers"] = [answer.answer for answer in answers]
    for measure in ("tokens", "logprob"):
        values = [getattr(answer, measure) for answer in answers]
        if None not in values:
            record[measure] = values
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


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


def _passed_headers(headers: Any) -> dict[str, str]:
    """Return the headers that are for the other end."""
    return {name: value for name, value in headers if name.lower() not in _NOT_PASSED}


async def _bytes_of(reply: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield a reply as it comes, and give its connection back however it ends."""
    try:
        async for piece in reply.aiter_raw():
            yield piece
    finally:
        await reply.aclose()


def serve(
    folder: str | os.PathLike,
    upstream: str,
    model: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8081,
    key_env: str = "OPENAI_API_KEY",
    debt: str | os.PathLike | None = None,
    keep: str | os.PathLike | None = None,
    timeout: float = 120.0,
    deadline: float = 300.0,
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
    keep : path-like, optional
        A file to which the answers of every vote are appended.
    timeout : float
        Seconds of silence of the upstream.
    deadline : float
        Seconds for a whole vote.
    """
    router = Router.load(folder)
    controller = router.controller
    controller.keep_in(Path(folder) / "debt.json" if debt is None else debt)
    key = os.environ.get(key_env, "").strip()
    server = Server(router, upstream, model, key, keep, timeout, deadline)
    LOG.addHandler(logging.StreamHandler(sys.stdout))
    LOG.setLevel("INFO")
    with socket.create_server((host, port)) as listening:
        address = f"http://{host}:{listening.getsockname()[1]}/v1"
        budget = f"{controller.budget:g} {router.unit} per question"
        print(f"{model} at {address}, budget {budget}", file=sys.stderr, flush=True)
        config = uvicorn.Config(server.app(), log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[listening])
