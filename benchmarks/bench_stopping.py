"""How long does priced stopping take to learn, at all prices, to decide after one answer, and to be
evaluated?

python benchmarks/bench_stopping.py
"""

from __future__ import annotations

import time

import numpy as np

from adalib.datasets.loading import load
from adalib.evaluate.compare import stopping_policies
from adalib.evaluate.heldout import held_out
from adalib.evaluate.learners import planning_policies
from adalib.learn.features import text_features
from adalib.sequential.priced_stopping import PricedStopping


def main() -> None:
    """Measure and print."""
    answers = load("word-fewshot")
    features = text_features(answers.questions).to_numpy(dtype=float)
    answers.values  # noqa: B018 - answers are compared once, which is not what is measured
    start = time.process_time()
    policy = PricedStopping().fit(answers, features)
    taken = time.process_time() - start
    print(
        f"fit: {taken:.2f} s of processor time for {answers.n} x {answers.samples} answers (under "
        "10 s wanted)"
    )
    waits = []
    for _ in range(200):
        session = policy.start(policy.costs[len(policy.costs) // 2], features[0])
        session.add("7", logprob=-0.2)
        begin = time.perf_counter()
        session.add("8", logprob=-0.5)
        waits.append(time.perf_counter() - begin)
    print(
        f"decision: {1e3 * np.min(waits):.3f} ms, the quickest of {len(waits)} (under 0.05 ms "
        "wanted)"
    )
    begin = time.perf_counter()
    start = time.process_time()
    held_out(answers, (1.5, 2, 3), learners=planning_policies() | stopping_policies())
    taken = time.process_time() - start
    waited = time.perf_counter() - begin
    print(
        f"evaluate: {taken:.1f} s of processor time, {waited:.1f} s by the clock (under 40 s on 2 "
        "idle cores wanted)"
    )


if __name__ == "__main__":
    main()
