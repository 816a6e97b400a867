"""Exercises of chapter 12, "The referee"."""

from __future__ import annotations

from math import sqrt

from adalib.paper.results import implied_held_out
from adalib.teach.exercises import Exercise, checker


def _share() -> float:
    cells = implied_held_out()
    oracle = (cells.accuracy_if - cells.one_answer) / 0.8  # undo the share that the column assumes
    learned = cells.accuracy - cells.one_answer
    return float((oracle * learned).sum() / (oracle**2).sum())


check = checker(
    {
        "share": Exercise(
            _share,
            "with x = Oracle - Acc(1) and y = Ours - Acc(1), the best share is sum(x y) / sum(x x)",
            tolerance=2e-3,
        ),
        "others": Exercise(
            lambda: (0.945 - 0.8) / 0.2,
            "0.945 is 0.8 times 1 plus 0.2 times what you look for",
            tolerance=1e-3,
        ),
        "spread": Exercise(
            lambda: sqrt(0.55 * 0.45 / 40),
            "a right answer has variance p (1 - p); the mean of 40 has a fortieth of it",
            tolerance=1e-3,
        ),
    }
)
