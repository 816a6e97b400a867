"""How do time and memory of ``evaluate`` grow with the number of questions?

Questions of 16 answers, from a simulated population, in a file. Every measurement is a process of
its own, because a peak of memory is that of a process: one only reads the file, the other
evaluates it. The difference, divided by the questions, is what a question costs on top of the
file. What does not grow (a fold learns from a thousand questions at most) is in the figures of
small files too, so the last column has the growth from one size to the next.

    python benchmarks/bench_evaluate.py                                  # a thousand and ten
    thousand questions python benchmarks/bench_evaluate.py --sizes 1000 10000 100000
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
import time
from importlib import import_module
from pathlib import Path

import numpy as np
from timing import in_a_process, report

SAMPLES = 16
ANSWERS = 6
THINGS = (
    "apples",
    "red pens",
    "tickets to the fair",
    "litres of milk",
    "hours of work",
    "old books",
)


def make_file(path: Path, questions: int) -> None:
    """Write questions whose text hints at their difficulty by a number."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for i in range(questions):
            steps = int(rng.integers(1, 9))
            things = [
                f"{rng.integers(2, 99)} {THINGS[j]}" for j in rng.integers(0, len(THINGS), steps)
            ]
            right = rng.beta(6, 1 + steps)
            wrong = rng.dirichlet(np.full(ANSWERS - 1, 0.5)) * (1 - right)
            answers = rng.choice(ANSWERS, SAMPLES, p=[right, *wrong])
            text = f"Customer {i} buys {' and then '.join(things)}. How many things is that?"
            line = {
                "id": f"q{i}",
                "question": text,
                "gold": "0",
                "answers": [str(answer) for answer in answers],
            }
            file.write(json.dumps(line) + "\n")


def child(what: str, path: str) -> None:
    """Read or evaluate the file in this process, and print what it took."""
    from adalib.cli import main as command
    from adalib.datasets.loading import load

    start = time.perf_counter()
    if what == "load":
        # What evaluating imports counts with reading.
        import_module("adalib.evaluate.heldout")
        load(path)
    else:
        with contextlib.redirect_stdout(io.StringIO()):
            command(["evaluate", path, "--targets", "1.5,2,3", "--json"])
    report(wall=time.perf_counter() - start)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(*args.child)
        return
    heads = ("seconds", "CPU s", "peak MB", "file read MB", "KB above/q", "KB growth/q")
    print(f"{'16 answers per question':<22}" + "".join(f"{head:>14}" for head in heads))
    before = None
    with tempfile.TemporaryDirectory() as folder:
        for questions in args.sizes:
            path = Path(folder) / f"{questions}.jsonl"
            make_file(path, questions)
            read, took = (
                in_a_process(__file__, "--child", what, path) for what in ("load", "evaluate")
            )
            if read is None or took is None:
                continue
            above = 2**10 * (took["peak"] - read["peak"])  # in kilobytes
            grown = (
                "" if before is None else f"{(above - before[1]) / (questions - before[0]):,.1f}"
            )
            before = questions, above
            print(
                f"{f'N={questions:,}':<22}{took['wall']:>14,.1f}{took['cpu']:>14,.1f}{took['peak']:>14,.0f}"
                f"{read['peak']:>14,.0f}{above / questions:>14,.1f}{grown:>14}",
                flush=True,
            )


if __name__ == "__main__":
    main()
