"""A small model endpoint on loopback that streams what it is told to, and counts what it wrote."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp


class Upstream:
    """An OpenAI-compatible endpoint.

    ``texts`` are given one after the other, over and over. A text of ``n`` tokens takes
    ``n * pace`` seconds; ``tokens`` says how many each text has. ``seen`` has every request,
    ``finished`` and ``cancelled`` count answers that were written to the end or cut by the caller.
    ``page`` is a content type and a body that come in place of every answer.
    """

    def __init__(self, texts=("Answer: 7",), tokens=(5,), *, logprobs=True, usage=True, pace=0.0):
        self.texts = texts
        self.tokens = tokens
        self.logprobs = logprobs
        self.usage = usage
        self.pace = pace
        self.status = 200
        self.statuses: list[int] = []  # of the first requests, if they differ
        self.streams = True
        self.refuses: set[str] = set()  # fields of a request
        self.finish = "stop"
        self.refusal: str | None = None
        self.page: tuple[str, bytes] | None = None
        self.replied: dict[str, str] = {}  # headers of every answer
        self.more: dict = {}  # further fields of every message
        self.seen: list[dict] = []
        self.headers: list[dict] = []
        self.written: Counter = Counter()
        self.finished = 0
        self.cancelled = 0

    def app(self) -> Starlette:
        every = ["GET", "POST", "DELETE"]
        routes = [
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
            Route("/v1/responses", self.responses, methods=["POST"]),
            Route("/v1/{path:path}", self.other, methods=every),
        ]
        return Starlette(routes=routes)

    async def other(self, request: Request) -> Response:
        """Say what came."""
        body = (await request.body()).decode()
        return JSONResponse({"path": request.url.path, "query": request.url.query, "body": body})

    async def chat(self, request: Request) -> Response:
        fields = await request.json()
        number = len(self.seen)
        self.seen.append(fields)
        self.headers.append(dict(request.headers))
        status = self.statuses[number] if number < len(self.statuses) else self.status
        if status != 200:
            return JSONResponse({"error": {"message": "broken"}}, status, self.replied)
        if self.refuses & set(fields):
            return JSONResponse({"error": {"message": "unknown field"}}, 400)
        if self.page is not None:
            return Response(self.page[1], media_type=self.page[0])
        text = self.texts[number % len(self.texts)]
        tokens = self.tokens[number % len(self.tokens)]
        if fields.get("stream") and self.streams:
            events = self.events(fields, number, text, tokens)
            return StreamingResponse(events, 200, self.replied, "text/event-stream")
        await asyncio.sleep(tokens * self.pace)
        self.written[number] = tokens
        message = {"role": "assistant", "content": text, "refusal": self.refusal, **self.more}
        if fields.get("tools"):
            called = {"name": "add", "arguments": '{"a": 3, "b": 4}'}
            message["tool_calls"] = [{"id": "1", "type": "function", "function": called}]
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        if fields.get("logprobs") and self.logprobs:
            choice["logprobs"] = {"content": [self.token()] * tokens}
        reply = self.head() | {"choices": [choice], "usage": self.used(tokens)}
        return JSONResponse(reply, headers=self.replied)

    async def responses(self, request: Request) -> Response:
        """Reply as the Responses interface does, whole or as events."""
        fields = await request.json()
        number = len(self.seen)
        self.seen.append(fields)
        self.headers.append(dict(request.headers))
        part = {"type": "output_text", "text": self.texts[number % len(self.texts)]}
        part |= {"annotations": [], "logprobs": []}
        if self.refusal:
            part = {"type": "refusal", "refusal": self.refusal}
        message = {"type": "message", "role": "assistant", "status": "completed", "id": "msg"}
        thought = {"type": "reasoning", "id": "rs", "summary": []}
        used = {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25}
        used["output_tokens_details"] = {"reasoning_tokens": 1}
        reply = {"id": "resp", "object": "response", "model": "m-2026-01-01", "created_at": 1}
        reply |= {"output": [thought, message | {"content": [part]}], "usage": used}
        cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        reply |= {"status": "completed"} if self.finish == "stop" else cut
        if not fields.get("stream"):
            return JSONResponse(reply, headers=self.replied)
        whole = {"type": f"response.{reply['status']}", "response": reply}
        pieces = [{"type": "response.output_text.delta", "delta": "x"}] * 5 + [whole]
        body = b"".join(b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in pieces)
        return Response(body, 200, self.replied, "text/event-stream")

    async def events(self, fields, number, text, tokens):
        """Write a text in as many events as it has tokens."""
        try:
            for place in range(tokens):
                await asyncio.sleep(self.pace)
                self.written[number] += 1
                is_last = place == tokens - 1
                delta = {"role": "assistant", "content": text if is_last else ""}
                delta |= self.more if is_last else {}
                choice = {"index": 0, "delta": delta, "finish_reason": None}
                if fields.get("logprobs") and self.logprobs:
                    choice["logprobs"] = {"content": [self.token()]}
                yield self.event([choice])
            last = {"refusal": self.refusal} if self.refusal else {}
            yield self.event([{"index": 0, "delta": last, "finish_reason": self.finish}])
            if self.usage and (fields.get("stream_options") or {}).get("include_usage"):
                yield self.event([], usage=self.used(tokens))
            yield b"data: [DONE]\n\n"
            self.finished += 1
        except (asyncio.CancelledError, GeneratorExit):
            self.cancelled += 1
            raise

    def head(self) -> dict:
        head = {"id": "1", "object": "chat.completion", "created": 1, "model": "m-2026-01-01"}
        return head | {"system_fingerprint": "fp_1"}

    def token(self) -> dict:
        return {"token": "x", "logprob": -0.1, "bytes": None, "top_logprobs": []}

    def event(self, choices, **more) -> bytes:
        head = self.head() | {"object": "chat.completion.chunk"}
        return b"data: " + json.dumps(head | {"choices": choices} | more).encode() + b"\n\n"

    def used(self, tokens) -> dict:
        used = {"prompt_tokens": 20, "completion_tokens": tokens, "total_tokens": 20 + tokens}
        return used | {"completion_tokens_details": {"reasoning_tokens": 1}}


@contextmanager
def listening(app: ASGIApp, **options) -> Iterator[str]:
    """Serve an application in a thread; yields its base URL, with /v1."""
    options = {"log_level": "warning", "timeout_graceful_shutdown": 1} | options
    config = uvicorn.Config(app, port=0, **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    finally:
        server.should_exit = True
        thread.join(10)
