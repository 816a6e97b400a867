"""Exercises of chapter 12, "The referee"."""

from __future__ import annotations

from math import sqrt

from adalib.paper.register import verdict_counts
from adalib.paper.results import implied_held_out
from adalib.teach.exercises import Exercise, checker


def _share(of: str = "oracle") -> float:
    cells = implied_held_out()
    oracle = (cells.accuracy_if - cells.one_answer) / 0.8  # undo the share that the column assumes
    learned = cells.accuracy - cells.one_answer
    squares = {"oracle": oracle, "learned": learned}[of] ** 2
    return float((oracle * learned).sum() / squares.sum())


def _verdicts(name: str) -> int:
    return int(verdict_counts()[name].sum())


check = checker(
    {
        "falls": Exercise(
            lambda: _verdicts("falls"),
            "read it off the figure at the top: add up one colour over all parts of the paper",
            more='replication.verdict_counts()["falls"].sum()',
            wrong={
                "those are all claims": lambda: int(verdict_counts().to_numpy().sum()),
                "that is one part of the paper; add up all parts": lambda: int(verdict_counts()["falls"].max()),
                "that is a share; the number is asked for": lambda: (
                    _verdicts("falls") / verdict_counts().to_numpy().sum()
                ),
            },
        ),
        "share": Exercise(
            _share,
            "with x = Oracle - Acc(1) and y = Ours - Acc(1), the best share is sum(x y) / sum(x x)",
            2e-3,
            more="set the derivative of the sum of (y - rho x) ** 2 to zero",
            wrong={
                "that is the share that the protocol suggests; fit it": lambda: 0.8,
                "that is the share of the others": lambda: 1 - _share(),
                "divide by sum(x x), not by sum(y y)": lambda: _share(of="learned"),
            },
        ),
        "others": Exercise(
            lambda: (0.945 - 0.8) / 0.2,
            "0.945 is 0.8 times 1 plus 0.2 times what you look for",
            1e-3,
            more="(0.945 - 0.8) / 0.2",
            wrong={
                "that is counted over all questions; divide by the fifth that is left": lambda: 0.945 - 0.8,
                "those are the labels that it misses": lambda: 1 - (0.945 - 0.8) / 0.2,
                "that is the share of the commonest label": lambda: 0.77,
            },
        ),
        "spread": Exercise(
            lambda: sqrt(0.55 * 0.45 / 40),
            "a right answer has variance p (1 - p); the mean of 40 has a fortieth of it",
            1e-3,
            more="the root of 0.55 * 0.45 / 40",
            wrong={
                "that is the variance; its root is asked for": lambda: 0.55 * 0.45 / 40,
                "that is the spread of one question; the mean of 40 wobbles less": lambda: sqrt(0.55 * 0.45),
                "that is over three test sets together; one is asked for": lambda: sqrt(0.55 * 0.45 / 120),
            },
        ),
        "bound": Exercise(
            lambda: 1 / 200,
            "one question is split, and splitting it is worth at most one question",
            1e-6,
            more="chapter 4: the gap is at most 1 / N",
            wrong={
                "with coins there is no gap; without them there can be": lambda: 0,
                "that is how a mean wobbles, 1 / sqrt(N); the gap is smaller": lambda: 1 / sqrt(200),
                "each budget does not add to it: one question is split, whatever K": lambda: 5 / 200,
            },
        ),
    }
)
