"""How long the router itself takes for a question: reading its text, and one decision.

python benchmarks/bench_router.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable

import numpy as np

from adalib import Router, load

PRICE = 0.01


def median_ms(actions: Iterable[Callable[[], object]]) -> float:
    """Return the processor time of the median action in ms, whatever else the machine does."""
    taken = []
    for action in actions:
        start = time.process_time_ns()
        action()
        taken.append(time.process_time_ns() - start)
    return float(np.median(taken)) / 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=300)
    args = parser.parse_args()
    answers = load("word-fewshot")
    router = Router.fit(answers, budget=4)
    asked = list(np.resize(np.array(answers.questions, dtype=object), args.questions))
    reading = median_ms([lambda text=text: router.plan(text, PRICE) for text in asked])
    print(f"text: {reading:.3f} ms per question, p50 (under 1 wanted)")
    sessions = [router.plan(text, PRICE).session for text in asked[:50]]
    deciding = median_ms([lambda s=s, k=k: s.add(k % 3) for k in range(15) for s in sessions])
    print(f"stopping decision: {deciding:.3f} ms, p50 (under 0.2 wanted)")


if __name__ == "__main__":
    main()
