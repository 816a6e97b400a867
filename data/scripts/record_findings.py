"""Record what votes alone gain.

The record is data/recorded/findings.jsonl, which `adabook.findings` reads: for every set, the best
accuracy with three answers for everyone on average, any number or two by lot, minus that of one
answer. Where only counts of right answers are known it is computed at both ends, as if all wrong
answers agreed and as if all differed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from recording import main

from adabook.findings import BUDGET, COUNTED, SETS
from adabook.paper.counts import bounded_votes
from adabook.paper.settings import benchmark
from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.evaluate.intervals import mean_interval

BUDGETS = range(1, 25)


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the name of a part, and a function that computes its row."""
    for name in SETS:
        yield f"{name}, votes", partial(votes, name)


def votes(name: str) -> list[dict]:
    """Compare a mix of plain votes with one answer, question by question."""
    if name in COUNTED:
        counted = load("math-qwen7b")
        assert isinstance(counted, Responses)
        right = counted.values.sum(axis=1).astype(int)
        both = bounded_votes(right, 50, BUDGETS).clip(0, 1)  # sums of chances round
        return [gain_of_mix(acc, end) for acc, end in zip(both, ("agree", "differ"), strict=True)]
    answers = benchmark(name.partition("-")[0]) if name.endswith("1.5b") else load(name)
    assert isinstance(answers, Responses)
    return [gain_of_mix(answers.table(BUDGETS[: answers.samples // 2]).acc, "")]


def gain_of_mix(acc: np.ndarray, end: str) -> dict[str, str | float]:
    """The gain of the best mix over one answer, with its interval over questions."""
    numbers = np.arange(1, acc.shape[1] + 1)
    mix = best_mix(acc, numbers, BUDGET).expected(acc)
    found = mean_interval(mix - acc[:, 0])
    figures = {"gain": found.mean, "gain_low": found.low, "gain_high": found.high}
    return {"end": end} | {key: round(float(value), 5) for key, value in figures.items()}


if __name__ == "__main__":
    main(findings=parts())
