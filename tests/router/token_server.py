"""Upstreams for races: one that streams token by token over HTTP, and one on a clock of its own."""

import asyncio
import contextlib
import json
from collections import Counter

from fault_server import FaultServer

from adalib.llm.reply import Answer

_HEAD = b"HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class TokenServer(FaultServer):
    """Stream answers token by token, and stop when the line is closed.

    Request k gets ``answers[k]``, a text and how many tokens to write before it. ``written`` has
    the tokens of every request, ``cancelled`` the requests whose line was closed too early, and
    ``prompt_tokens`` is 20 for each.
    """

    def __init__(self, answers, *, usage=True, per_event=1, pace=0.002):
        super().__init__()
        self.answers = answers
        self.usage = usage
        self.per_event = per_event
        self.pace = pace
        self.written = Counter()
        self.cancelled = set()

    async def exchange(self, reader, writer):
        request, _ = await self.received(reader)
        assert request["stream"]
        number = len(self.seen) - 1
        text, length = self.answers[number % len(self.answers)]
        closed = asyncio.create_task(reader.read())
        writer.write(_HEAD)
        while self.written[number] < length and not closed.done():
            self.written[number] += self.per_event
            await self.send(writer, {"choices": [{"delta": {"reasoning_content": "hm "}}]})
            await asyncio.sleep(self.pace)
        if closed.done():
            self.cancelled.add(number)
            return False
        closed.cancel()
        self.written[number] += 1
        choice = {"delta": {"content": text}, "finish_reason": "stop"}
        await self.send(writer, {"choices": [choice]})
        if self.usage and (request.get("stream_options") or {}).get("include_usage"):
            usage = {"prompt_tokens": 20, "completion_tokens": self.written[number]}
            await self.send(writer, {"choices": [], "usage": usage})
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()
        return False

    async def send(self, writer, event):
        with contextlib.suppress(ConnectionError):
            writer.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            await writer.drain()


class RecordedModel:
    """A client that gives recorded answers, one token per second of the loop's clock.

    ``started`` and ``written`` have, for every request, the question and the tokens; ``cancelled``
    counts requests that were cut.
    """

    url = "http://127.0.0.1:9/v1"
    model = "m"
    key = ""
    timeout = 60.0

    def __init__(self, answers, tokens):
        self.answers = answers
        self.tokens = tokens
        self.asked = Counter()
        self.written = []
        self.cancelled = 0

    async def sample(self, messages, arriving=None, **settings):
        question = int(messages[-1]["content"])
        place = self.asked[question] % len(self.answers[question])
        self.asked[question] += 1
        length = int(self.tokens[question][place])
        loop = asyncio.get_running_loop()
        start = loop.time()
        try:
            await asyncio.sleep(length)
        except asyncio.CancelledError:
            written = round(loop.time() - start)
            self.cancelled += 1
            self.written.append(written)
            if arriving is not None and written:
                arriving(written)
            raise
        self.written.append(length)
        if arriving is not None:
            arriving(length)
        return Answer(f"Answer: {self.answers[question][place]}", "stop", length, 20)
