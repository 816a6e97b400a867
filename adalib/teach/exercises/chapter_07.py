"""Exercises of chapter 7, "Results"."""

from __future__ import annotations

from adalib.datasets.loading import load
from adalib.evaluate.crossfit import cross_fitted_oracle
from adalib.paper.results import claimed_gains, mix_cost
from adalib.teach.exercises import Exercise, checker


def _over_mix() -> float:
    return float(claimed_gains().set_index("setting").over_mix["qwen2.5-7b-math"])


def _match() -> float:
    answers = load("word-zeroshot")
    table = answers.table()
    return mix_cost(table.acc, table.cost, float(cross_fitted_oracle(answers, [2]).value.mean[0]))


check = checker(
    {
        "equal": Exercise(
            _over_mix,
            "the mix of 1 and 4 that costs 2.58 gives (2.58 - 1) / 3 of the questions four answers; subtract its "
            "accuracy from 0.554",
            tolerance=1e-3,
        ),
        "memory": Exercise(
            lambda: (0.575 - 0.518) / (0.586 - 0.518),
            "a share s of the questions has the oracle's accuracy and the rest has 0.518; set the average to 0.575",
            tolerance=5e-3,
        ),
        "match": Exercise(
            _match,
            "take value.mean of cross_fitted_oracle(answers, [2]) and ask mix_cost(table.acc, table.cost, ...) for it",
            tolerance=0.02,
        ),
    }
)
