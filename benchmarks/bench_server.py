"""What does the server add to a request, and how much throughput does it keep?

An endpoint on loopback answers at once, and `adalib serve` stands in front of it. Each runs in a
process of its own, so that neither waits for the other or for the client to release Python's lock.
The same client asks both by turns. A request with tools is passed on, which shows what any such
server costs; one without is a vote, at a price so high that one answer is all.

    python benchmarks/bench_server.py
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from adalib import PricedStopping, Router, load

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))
from upstream import Upstream, listening

TURN = {"role": "user", "content": "Tim has 3 nuts and finds 4 more. How many are there?"}
VOTE = {"model": "m", "messages": [TURN], "temperature": 0.7}
PASSED = VOTE | {"tools": []}


def answer_at_once(urls: multiprocessing.Queue) -> None:
    """Run the endpoint until the process is ended; its base URL goes into the queue."""
    with listening(Upstream().app()) as url:
        urls.put(url)
        threading.Event().wait()


@contextmanager
def endpoint() -> Iterator[str]:
    """Run an endpoint that answers at once; yields its base URL."""
    new_process = multiprocessing.get_context("spawn")
    urls = new_process.Queue()
    process = new_process.Process(target=answer_at_once, args=(urls,))
    process.start()
    try:
        yield urls.get()
    finally:
        process.terminate()


@contextmanager
def serving(folder: str, upstream: str) -> Iterator[str]:
    """Run `adalib serve` on a saved router; yields its base URL."""
    words = ["serve", folder, "--upstream", upstream, "--model", "m", "--port", "0"]
    command = [sys.executable, "-m", "adalib", *words]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        try:
            yield process.stderr.readline().split(" at ")[1].split(",")[0]
        finally:
            process.terminate()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=320)
    args = parser.parse_args()
    few = load("word-fewshot").take(range(0, 372, 6))
    # At the least budget a question gets one answer.
    router = Router.fit(few, 1, PricedStopping(("votes",)))
    with tempfile.TemporaryDirectory() as folder, endpoint() as bare:
        router.save(folder)
        with serving(folder, bare) as ours:
            ways = {"the endpoint itself": (bare, PASSED), "passed on": (ours, PASSED)}
            ways["voted on"] = (ours, VOTE)
            asyncio.run(measure(ways, args.requests))


async def measure(ways: dict[str, tuple[str, dict]], requests: int) -> None:
    """Ask in all ways, and print: one request at a time by turns, then 32 at a time."""
    waits: dict[str, list[float]] = {name: [] for name in ways}
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        for _ in range(requests):
            for name, (url, body) in ways.items():
                waits[name].append(await ask(client, url, body))
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {requests} requests each way")
    for name, (url, body) in ways.items():
        alone = statistics.median(waits[name])
        busy = await per_second(url, body, requests, 32)
        print(f"{name}: {1e3 * alone:.2f} ms per request, {busy:.0f} per second at 32")


async def ask(client: httpx.AsyncClient, url: str, body: dict) -> float:
    """Return the seconds for one request."""
    start = time.perf_counter()
    reply = await client.post(f"{url}/chat/completions", json=body)
    reply.raise_for_status()
    return time.perf_counter() - start


async def per_second(url: str, body: dict, requests: int, at_a_time: int) -> float:
    """Return how many requests are answered in a second."""
    left = iter(range(requests))

    async def worker() -> None:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            for _ in left:
                await ask(client, url, body)

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_a_time)))
    return requests / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
