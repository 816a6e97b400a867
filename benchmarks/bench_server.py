"""What does the server add, how much throughput does it keep, and does its memory grow?

A loopback upstream (a process of its own) answers after a while; `adalib serve` (another process)
stands in front, and so does a pass-through of the same packages that decides nothing: what it
costs, any such server costs. The same client asks all by turns, one answer a question: one request
at a time for what is added, 64 at a time for what is kept; the figures are medians over the
rounds, and the ratio is of one run. Then one process answers 100,000 requests through the whole
application, with an upstream that takes no time, and its memory is looked at on the way.

    python benchmarks/bench_server.py
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import openai
import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adalib import Router, load
from adalib.llm.client import Answer, Client
from adalib.router.asking import Asking
from adalib.router.listening import listen
from adalib.router.server import Service, make_app

UPSTREAM = Path(__file__).parent.parent / "tests" / "helpers" / "fault_server.py"
CONCURRENCY = 64
BODY = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Tim has 3 nuts and finds 4 more. How many are there?"}
    ],
    "temperature": 0.7,
    "adalib": {"price": 100.0},  # so dear that one answer is all
}


async def ask(url: str, requests: int, at_a_time: int) -> tuple[float, list[float]]:
    """Seconds for all, and for each."""
    waits: list[float] = []
    left = iter(range(requests))
    # A line each: one pool of 64 costs its owner more than the server's whole work.
    clients = [
        httpx.AsyncClient(timeout=60, trust_env=False, verify=False) for _ in range(at_a_time)
    ]

    async def worker(client: httpx.AsyncClient) -> None:
        for _ in left:
            start = time.perf_counter()
            reply = await client.post(f"{url}/chat/completions", json=BODY)
            waits.append(time.perf_counter() - start)
            reply.raise_for_status()

    start = time.perf_counter()
    await asyncio.gather(*map(worker, clients))
    took = time.perf_counter() - start
    for client in clients:
        await client.aclose()
    return took, waits


def compare(bare: str, others: dict[str, str], rounds: int, requests: int) -> None:
    """Print what each adds to one request, and which share of the throughput it keeps."""
    added = defaultdict(list)
    kept = defaultdict(list)
    for _ in range(rounds):
        urls = {"": bare, **others}
        alone = {
            name: statistics.median(asyncio.run(ask(url, requests // 16, 1))[1])
            for name, url in urls.items()
        }
        busy = {
            name: requests / asyncio.run(ask(url, requests, CONCURRENCY))[0]
            for name, url in urls.items()
        }
        for name in others:
            added[name].append(1e3 * (alone[name] - alone[""]))
            kept[name].append((busy[name] / busy[""], busy[name], busy[""]))
    for name in others:
        share, after, before = (
            statistics.median(column) for column in zip(*kept[name], strict=True)
        )
        print(
            f"  {name} adds {statistics.median(added[name]):.2f} ms to a request, "
            "p50 (under 5 wanted)"
        )
        print(
            f"    and keeps {share:.0%} of the throughput at {CONCURRENCY} ({after:.0f} of "
            f"{before:.0f} a second)"
        )


def pass_through(upstream: str) -> None:
    """Serve the bare minimum: read a request, ask the official client, send the reply on."""
    client = openai.AsyncOpenAI(base_url=upstream, api_key="none", max_retries=0)

    async def chat(call: Request) -> Response:
        asked = await call.json()
        asked.pop("adalib")
        return JSONResponse((await client.chat.completions.create(**asked)).model_dump())

    app = Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])
    with listen("127.0.0.1", 0) as listening:
        print(f"m listens at http://127.0.0.1:{listening.getsockname()[1]}/v1,", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(
            sockets=[listening]
        )


@contextmanager
def started(*command: str) -> Iterator[str]:
    """A program of its own while it is needed, and its first line."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


class Instant(Client):
    """An upstream that takes no time."""

    async def sample(self, messages, **how) -> Answer:
        return Answer("3 + 4 = 7. Answer: 7", "stop", 9, 20)


async def grown(router: Router, requests: int) -> list[float]:
    """Megabytes in use after each tenth of the requests, all through the application."""
    service = Service(router, Instant("http://127.0.0.1:9/v1", "m"), Asking())
    app = make_app(service)
    body = json.dumps(BODY).encode()
    found = []
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/chat/completions",
        "headers": [],
    }
    scope |= {
        "raw_path": b"/v1/chat/completions",
        "query_string": b"",
        "scheme": "http",
        "root_path": "",
    }

    async def one() -> None:
        told = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict:
            return told.pop() if told else await asyncio.Event().wait()

        async def send(message: dict) -> None:
            assert message.get("status", 200) == 200

        await app(dict(scope), receive, send)

    for number in range(requests):
        await one()
        if (number + 1) % (requests // 10) == 0:
            gc.collect()
            found.append(psutil.Process().memory_info().rss / 1e6)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--latency",
        type=float,
        nargs="+",
        default=[0.02, 0.5],
        help="seconds that the upstream takes",
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=640, help="a round, at 64 at a time")
    parser.add_argument(
        "--memory", type=int, default=100_000, help="requests while the memory is watched"
    )
    parser.add_argument("--pass-through", metavar="URL", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.pass_through:
        pass_through(args.pass_through)
        return
    router = Router.fit(load("word-fewshot"), budget=3)
    with tempfile.TemporaryDirectory() as folder:
        router.save(folder)
        for latency in args.latency:
            print(f"an upstream that takes {1e3 * latency:g} ms:")
            with started(str(UPSTREAM), "--latency", str(latency)) as url:
                serve = (
                    "-m",
                    "adalib",
                    "serve",
                    folder,
                    "--upstream",
                    url,
                    "--model",
                    "m",
                    "--port",
                    "0",
                )
                with (
                    started(__file__, "--pass-through", url) as plain,
                    started(*serve, "--limit", "200") as ours,
                ):
                    lines = {"a pass-through": plain, "adalib serve": ours}
                    others = {
                        name: line.split(" listens at ")[1].split(",")[0]
                        for name, line in lines.items()
                    }
                    compare(url, others, args.rounds, args.requests)
    if args.memory:
        sizes = asyncio.run(grown(router, args.memory))
        print(
            f"memory over {args.memory:,} requests: {sizes[0]:.1f} MB after a tenth, "
            f"{sizes[-1]:.1f} MB at the end"
        )


if __name__ == "__main__":
    main()
