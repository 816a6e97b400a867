"""How much of the bare client's speed does `collect` keep?

The same client asks the same loopback server (in a process of its own, answering after 20 ms) the
same questions at the same concurrency: once in a bare ``asyncio.gather`` with a semaphore that
throws the answers away, once through `collect`, which stores, counts, shows and exports them. The
two take turns, and the ratio is that of the medians.

    python benchmarks/bench_collect.py
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import openai

from adalib.ask.collect import collect, fill_prompt, load_prompt, load_questions

SERVER = Path(__file__).parent.parent / "tests" / "helpers" / "fault_server.py"
CONCURRENCY = 16


async def bare(url: str, questions: list[dict], samples: int) -> None:
    """Ask everything at once through a semaphore, and keep nothing."""
    prompt = load_prompt()
    gate = asyncio.Semaphore(CONCURRENCY)
    http = openai.DefaultAsyncHttpxClient(trust_env=False)
    async with openai.AsyncOpenAI(
        base_url=url, api_key="none", max_retries=0, http_client=http
    ) as client:

        async def ask(question: dict) -> None:
            async with gate:
                await client.chat.completions.create(
                    model="m",
                    messages=fill_prompt(prompt, question["question"]),
                    temperature=0.7,
                    max_tokens=256,
                )

        await asyncio.gather(*(ask(question) for _ in range(samples) for question in questions))


def seconds(action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    calls = args.questions * args.samples
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, str(SERVER), "--latency", "0.02"], stdout=subprocess.PIPE, text=True
        ) as server,
    ):
        url = server.stdout.readline().strip()
        file = Path(folder) / "questions.jsonl"
        lines = [
            {"id": str(i), "question": f"What is {i} + 4?", "gold": str(i + 4)}
            for i in range(args.questions)
        ]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        questions = load_questions(file)

        def ours(number: int) -> None:
            collect(
                file,
                f"{folder}/{number}",
                base_url=url,
                model="m",
                samples=args.samples,
                concurrency=CONCURRENCY,
            )

        asyncio.run(bare(url, questions, 2))  # imports, sockets and caches warm up
        times = [
            (
                seconds(lambda: asyncio.run(bare(url, questions, args.samples))),
                seconds(lambda k=k: ours(k)),
            )
            for k in range(args.rounds)
        ]
        server.terminate()
    without, withal = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        f"bare loop: {calls / without:.0f} answers a second; collect: "
        f"{calls / withal:.0f} answers a second"
    )
    print(f"ratio: {without / withal:.3f} (at least 0.95 wanted)")


if __name__ == "__main__":
    main()
