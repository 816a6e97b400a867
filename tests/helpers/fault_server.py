"""A loopback chat-completions endpoint that misbehaves on demand.

It speaks HTTP by hand, so that it can cut a connection in the middle of a body or hang. In a test:
``with FaultServer(["500", "cut"]) as server`` answers the first request with a 500, cuts the
second, and behaves from then on. As a program (``python fault_server.py --latency 0.02``) it prints
its base URL and serves well until it is ended.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import threading
from collections.abc import Callable, Sequence

PAGE = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"
TOP = [math.log(0.5), math.log(0.25)]  # what every token's top_logprobs are; their entropy is ln 2
USAGE = {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}


class FaultServer:
    """Serve ``faults`` in order (or as a function of the request's number), then good answers.

    Requests are numbered from 0. ``seen`` holds the body of every request; ``sent`` counts the good
    answers that left whole, each of which reports 20 tokens read and 9 written.
    """

    def __init__(
        self,
        faults: Sequence[str] | Callable[[int], str] = (),
        *,
        latency: float = 0.0,
        text: str = "Three and four are seven.\nAnswer: 7",
    ):
        self.fault = (
            faults if callable(faults) else lambda k: faults[k] if k < len(faults) else "ok"
        )
        self.latency = latency
        self.text = text
        self.seen: list[dict] = []
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
        self._stop = asyncio.Event()
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

    async def exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; say whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        request = json.loads(await reader.readexactly(int(headers["content-length"])))
        fault = self.fault(len(self.seen))
        self.seen.append(request)
        await asyncio.sleep(self.latency)
        if fault == "hang":
            await self._stop.wait()
            return False
        if fault == "cut":
            writer.write(_head(200, 1000) + b'{"choices": [{"mess')
            await writer.drain()
            return False
        status, body = self.reply(fault, request, headers.get("authorization", ""))
        # Whole before the write: a client that is killed now has lost an answer in flight, not one
        # that was refused.
        self.sent += fault == "ok"
        kind = "text/html" if fault == "html" else "application/json"
        retry = "Retry-After: 0\r\n" * (status == 429)
        writer.write(_head(status, len(body), kind, retry) + body)
        return True

    def reply(self, fault: str, request: dict, key: str) -> tuple[int, bytes]:
        if fault == "html":
            return 200, PAGE
        if fault.isdigit():
            # An unkind server: it repeats the key, over two lines and with a terminal's control
            # codes.
            error = {"message": f"refused\n key \x1b[31m{key} with {fault}", "code": None}
            return int(fault), json.dumps({"error": error}).encode()
        message = {"role": "assistant", "content": self.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        if fault == "odd":
            choice["message"] = "not an object"
        if request.get("logprobs"):
            top = [
                {"token": token, "logprob": value, "bytes": None}
                for token, value in zip("ab", TOP, strict=True)
            ]
            choice["logprobs"] = {"content": [{**token, "top_logprobs": top} for token in top]}
        reply = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [] if fault == "empty" else [choice],
            "usage": USAGE,
        }
        return 200, json.dumps(reply).encode()


def _head(status: int, length: int, kind: str = "application/json", extra: str = "") -> bytes:
    fields = f"Content-Type: {kind}\r\nContent-Length: {length}\r\n{extra}"
    return f"HTTP/1.1 {status} -\r\n{fields}\r\n".encode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    with FaultServer(latency=parser.parse_args().latency) as server:
        print(server.url, flush=True)
        threading.Event().wait()
