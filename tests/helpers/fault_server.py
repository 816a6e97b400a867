"""A loopback chat-completions endpoint that misbehaves on demand.

It speaks HTTP by hand, so that it can cut a connection in the middle of a body, hang, drip, or send
bytes that are not UTF-8. In a test: ``with FaultServer(["500", "cut"]) as server`` answers the
first request with a 500, cuts the second, and behaves from then on. As a program (``python
fault_server.py --latency 0.02``) it prints its base URL and serves well until it is ended.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import threading
from collections.abc import Callable, Sequence

PAGE = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"
FIXED = {
    "quota": (429, b'{"error": {"message": "no money left", "code": "insufficient_quota"}}'),
    "html": (200, PAGE),
    "page-as-json": (200, PAGE),
    "html502": (502, PAGE),
    "error200": (200, b'{"error": {"message": "upstream overloaded"}}'),
    "list": (200, b"[1, 2]"),
}
TOP = [math.log(0.5), math.log(0.25)]  # what every token's top_logprobs are; their entropy is ln 2


USAGE = {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}
STREAM = [
    b'data: {"id": "x", "choices": [{"index": 0, "delta": {"content": "Three and "}}]}\n\n',
    b'data: {"id": "x", "choices": [{"index": 0, "delta": {"content": "four"}, '
    b'"finish_reason": "stop"}]}\n\n',
    b'data: {"id": "x", "choices": [], "usage": ' + json.dumps(USAGE).encode() + b"}\n\n",
    b"data: [DONE]\n\n",
]


class FaultServer:
    """Serve ``faults`` in order (or as a function of the request's number), then good answers.

    ``replies`` adds faults of one's own: a status, header lines and a body by name.

    ``refuses`` names parameters that it does not know; the first ``together`` requests are answered
    when all of them are there. Requests are numbered from 0. ``seen`` holds the body of every
    request, ``keys`` its Authorization header, ``calls`` its method, path and headers; ``sent``
    counts the good answers that left whole, each of which reports 20 tokens read and 9 written.
    """

    def __init__(
        self,
        faults: Sequence[str] | Callable[[int], str] = (),
        *,
        latency: float = 0.0,
        text: str = "Three and four are seven.\nAnswer: 7",
        retry_after: str = "0",
        replies: dict[str, tuple[int, str, bytes]] | None = None,
        refuses: Sequence[str] = (),
        together: int = 0,
    ):
        self.fault = (
            faults if callable(faults) else lambda k: faults[k] if k < len(faults) else "ok"
        )
        self.latency, self.text, self.retry_after = latency, text, retry_after
        self.replies, self.refuses, self.together = replies or {}, refuses, together
        self.calls: list[tuple[str, dict[str, str]]] = []
        self.seen: list[dict] = []
        self.keys: list[str] = []
        self.sent = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FaultServer:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._main())

    async def _main(self) -> None:
        self._stop, self._gate = asyncio.Event(), asyncio.Barrier(max(self.together, 1))
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self.exchange(reader, writer):
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def received(self, reader: asyncio.StreamReader) -> tuple[dict, str]:
        """Read one request, note it, and return its body and its key."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = json.loads(body) if body.startswith(b"{") else {}
        self.calls.append((head[0].rsplit(" ", 1)[0], headers))
        self.seen.append(request)
        key = headers.get("authorization", "").removeprefix("Bearer ")
        self.keys.append(key)
        return request, key

    async def exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        request, key = await self.received(reader)
        fault = self.fault(len(self.seen) - 1)
        if len(self.seen) <= self.together:
            await self._gate.wait()
        if self.latency:
            await asyncio.sleep(self.latency)
        if fault == "hang":
            await self._stop.wait()
        if fault == "cut":
            writer.write(_head(200, 1000) + b'{"choices": [{"mess')
            await writer.drain()
        if fault in ("endless", "drip"):
            head = b"HTTP/1.1 200 -\r\nContent-Type: application/json\r\n\r\n"
            writer.write(head if fault == "endless" else _head(200, 10**6))
            while not self._stop.is_set():
                writer.write(b" " * (1_000_000 if fault == "endless" else 1))
                await writer.drain()
                await asyncio.sleep(0 if fault == "endless" else 0.02)
        if fault in ("hang", "refuse", "cut", "endless", "drip"):
            return False
        if fault == "cutstream":
            head = b"HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\n"
            head += b"Transfer-Encoding: chunked\r\n\r\n"
            writer.write(head + b"%x\r\n%s\r\n" % (len(STREAM[0]), STREAM[0]))
            await writer.drain()
            return False
        status, body, extra = self.reply(fault, request, key)
        kind = "text/html" if fault.startswith("html") else "application/json"
        kind = (
            "text/event-stream"
            if request.get("stream") and status == 200 and body[:1] == b"d"
            else kind
        )
        # Whole before the write: a client that is killed now has lost an answer in flight, not one
        # that was refused.
        self.sent += fault in ("ok", "echo", "surrogate")
        writer.write(_head(status, len(body), kind, extra) + body)
        return True

    def reply(self, fault: str, request: dict, key: str) -> tuple[int, bytes, str]:
        if fault in self.replies:
            status, extra, body = self.replies[fault]
            return status, body, extra
        if fault.isdigit():
            # An unkind server: it repeats the key, over two lines and with a terminal's control
            # codes.
            error = {"message": f"refused\n key \x1b[31m{key} with {fault}", "code": None}
            extra = f"Retry-After: {self.retry_after}\r\n" if fault == "429" else ""
            return int(fault), json.dumps({"error": error}).encode(), extra
        if fault in FIXED:
            return *FIXED[fault], ""
        for name in filter(request.__contains__, self.refuses):
            error = {
                "message": f"Unsupported parameter: '{name}' is not supported with this model.",
                "param": name,
            }
            return (
                400,
                json.dumps({"error": error | {"code": "unsupported_parameter"}}).encode(),
                "",
            )
        if self.calls[-1][0].endswith("/embeddings"):  # which cities a text names
            rows = [
                [float(city in text) for city in ("Paris", "London", "Rome")]
                for text in request.get("input", [])
            ]
            choices = [
                {"index": k, "object": "embedding", "embedding": row} for k, row in enumerate(rows)
            ]
            usage = {"prompt_tokens": 3 * len(rows), "total_tokens": 3 * len(rows)}
            return (
                200,
                json.dumps(
                    {"object": "list", "data": choices, "model": "cities", "usage": usage}
                ).encode(),
                "",
            )
        if request.get("stream"):
            choices = (request.get("stream_options") or {}).get("include_usage")
            return 200, b"".join(STREAM if choices else STREAM[:2] + STREAM[3:]), ""
        text = {
            "echo": f"your key is {key}\nAnswer: 7",
            "surrogate": "broken \ud83d\nAnswer: 7",
        }.get(fault, self.text)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        if fault == "odd":
            choice["message"] = "not an object"
        if request.get("tools"):
            call = {
                "id": "call_1",
                "type": "function",
                "function": {"name": "add", "arguments": '{"a": 3, "b": 4}'},
            }
            choice |= {"finish_reason": "tool_calls"}
            choice["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
        if request.get("logprobs"):
            top = [
                {"token": token, "logprob": value, "bytes": None}
                for token, value in zip("ab", TOP, strict=True)
            ]
            choice["logprobs"] = {
                "content": [{**top[0], "top_logprobs": top}, {**top[1], "top_logprobs": top}]
            }
        reply = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": request.get("model"),
        }
        reply |= {"system_fingerprint": "fp_1"}
        reply |= {"choices": [] if fault == "empty" else [choice]}
        reply |= {"usage": USAGE}
        body = json.dumps(reply).encode()
        return 200, body.replace(b"seven", b"se\xff\xfeen") if fault == "bytes" else body, ""


def _head(status: int, length: int, kind: str = "application/json", extra: str = "") -> bytes:
    fields = f"Content-Type: {kind}\r\nContent-Length: {length}\r\n{extra}"
    return f"HTTP/1.1 {status} -\r\n{fields}\r\n".encode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    with FaultServer(latency=parser.parse_args().latency) as server:
        print(server.url, flush=True)
        threading.Event().wait()
