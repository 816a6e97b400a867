"""Exercises of chapter 7, "Results"."""

from __future__ import annotations

from functools import cache

from adalib.datasets.loading import load
from adalib.evaluate.crossfit import cross_fitted_oracle
from adalib.paper.results import claimed_gains, mix_cost
from adalib.paper.settings import path
from adalib.teach.exercises import Exercise, checker
from adalib.teach.exercises.ladder_rest import MIX


def _over_mix() -> float:
    return float(claimed_gains().set_index("setting").over_mix["qwen2.5-7b-math"])


@cache
def _oracle() -> float:
    return float(cross_fitted_oracle(load("word-zeroshot"), [2]).value.mean[0])


def _match(accuracy: float) -> float:
    table = load("word-zeroshot").table()
    return mix_cost(table.acc, table.cost, accuracy)


check = checker(
    {
        "equal": Exercise(
            _over_mix,
            "the mix of 1 and 4 that costs 2.58 gives (2.58 - 1) / 3 of the questions four answers; subtract its "
            "accuracy from 0.554",
            1e-3,
            more="the mix has 0.495 + 1.58 / 3 * (0.539 - 0.495)",
            wrong={
                "that is the gain over one answer, which costs 1": lambda: 0.554 - 0.495,
                "that is the gain over four answers, which cost 4": lambda: 0.554 - 0.539,
                "that is the gain over the mix at cost 3; it spent 2.58": lambda: 0.554 - (0.495 + 2 / 3 * 0.044),
                "that is the mix's accuracy; subtract it from 0.554": lambda: 0.495 + 1.58 / 3 * 0.044,
            },
        ),
        "memory": Exercise(
            lambda: (0.575 - 0.518) / (0.586 - 0.518),
            "a share s of the questions has the oracle's accuracy and the rest has 0.518; set the average to 0.575",
            5e-3,
            more="0.575 = s * 0.586 + (1 - s) * 0.518",
            wrong={
                "that is the share of the others": lambda: (0.586 - 0.575) / (0.586 - 0.518),
                "that is a ratio of accuracies; measure both from 0.518": lambda: 0.575 / 0.586,
                "that is a gain, not a share of one": lambda: 0.575 - 0.518,
            },
        ),
        "match": Exercise(
            lambda: _match(_oracle()),
            "take value.mean of cross_fitted_oracle(answers, [2]) and ask mix_cost(table.acc, table.cost, ...) for it",
            0.02,
            more="float(score.value.mean[0]) is the accuracy to match",
            wrong={
                "that is the in-sample oracle; choose on one half and score on the other": lambda: _match(
                    path("word-zeroshot").at(2).accuracy
                ),
                "that is what the oracle itself may spend": lambda: 2.0,
                "that is its accuracy; the mix's cost is asked for": _oracle,
            },
        ),
        "thrift": Exercise(
            lambda: 0.55 - (0.50 + 1.4 / 3 * 0.06),
            "compare at the cost that was paid: which mix of 1 and 4 costs 2.4",
            1e-3,
            more="1.4 / 3 of the questions get four answers, so the mix has 0.50 + 1.4 / 3 * 0.06",
            wrong={
                "that is against the mix at 3, which it was allowed; it paid 2.4": lambda: 0.55 - (0.50 + 2 / 3 * 0.06),
                "that is against one answer for everyone, which costs 1": lambda: 0.55 - 0.50,
                "that is against four answers for everyone, which cost 4": lambda: 0.55 - 0.56,
                "that is the mix's accuracy; subtract it": lambda: 0.50 + 1.4 / 3 * 0.06,
            },
        ),
        "best mix": MIX,
    }
)
