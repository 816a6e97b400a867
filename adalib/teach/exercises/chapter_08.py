"""Exercises of chapter 8, "Patterns"."""

from __future__ import annotations

import numpy as np

from adalib.datasets.loading import load
from adalib.datasets.populations import flat_null
from adalib.paper.patterns import by_difficulty, difficulty_bins, gain_by
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable
from adalib.teach.exercises import Construction, Exercise, checker


def _middle() -> float:
    table = flat_null(1000).sample(48).table()
    labels = frontier(table.acc, table.cost).at(3).labels
    return float(by_difficulty(table.acc[:, 0], labels, table.budgets)["budget"][2])


def _highest() -> float:
    found = gain_by(load("word-zeroshot"), 3, lambda table: difficulty_bins(table.acc[:, 0]), 5)
    parts = found["share"] * found["gain"]
    return float(parts[4] / parts.sum())


def _thin_fault(table: object) -> str | None:
    if not isinstance(table, UtilityTable) or table.acc.shape != (20, 5) or table.budgets != (1, 2, 4, 8, 16):
        return "give an adalib.UtilityTable of 20 questions with cost [1, 2, 4, 8, 16]"
    gain = table.acc[:, -1] - table.acc[:, 0]
    one, other = gain[:10].mean(), gain[10:].mean()
    if one <= other + 1e-9:
        return f"the first ten gain {one:.3f} on average and the last ten {other:.3f}; let the first ten gain more"
    labels = frontier(table.acc, table.cost).at(1.5).labels
    if labels[:10].any():
        row = np.flatnonzero(labels[:10])[0]
        return f"the oracle buys more for row {row}, one of the first ten; spread their gain thinner"
    if not labels[10:].any():
        return "the oracle buys nothing for the last ten either; let one of them gain much from a small budget"
    return None


check = checker(
    {
        "middle": Exercise(
            _middle,
            "make the table with the default estimator, take the frontier's labels at 3, and read by_difficulty",
            tolerance=0.05,
        ),
        "highest": Exercise(
            _highest,
            "gain_by with difficulty_bins gives share and gain of each fifth; weigh the gains by the shares",
            tolerance=0.01,
        ),
        "thin": Construction(_thin_fault),
    }
)
