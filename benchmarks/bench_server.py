"""What does the server add to a request, and how much throughput does it keep?

An endpoint on loopback answers at once, in a thread of its own, and `adalib serve` stands in front
of it in a process of its own. The same client asks both by turns. A request with tools is passed
on, which shows what any such server costs; one without is a vote, at a price so high that one
answer is all.

    python benchmarks/bench_server.py
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
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


async def ask(url: str, body: dict, requests: int, at_a_time: int) -> tuple[float, list[float]]:
    """Return the seconds for all requests, and for each."""
    waits: list[float] = []
    left = iter(range(requests))

    async def worker() -> None:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            for _ in left:
                start = time.perf_counter()
                reply = await client.post(f"{url}/chat/completions", json=body)
                waits.append(time.perf_counter() - start)
                reply.raise_for_status()

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_a_time)))
    return time.perf_counter() - start, waits


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
    with tempfile.TemporaryDirectory() as folder, listening(Upstream().app()) as bare:
        router.save(folder)
        with serving(folder, bare) as ours:
            measure(bare, ours, args.requests)


def measure(bare: str, ours: str, requests: int) -> None:
    """Ask in all three ways, and print."""
    ways = {"the endpoint itself": (bare, PASSED), "passed on": (ours, PASSED)}
    ways["voted on"] = (ours, VOTE)
    for name, (url, body) in ways.items():
        alone = statistics.median(asyncio.run(ask(url, body, requests // 8, 1))[1])
        busy = requests / asyncio.run(ask(url, body, requests, 32))[0]
        print(f"{name}: {1e3 * alone:.2f} ms per request, {busy:.0f} per second at 32")


if __name__ == "__main__":
    main()
