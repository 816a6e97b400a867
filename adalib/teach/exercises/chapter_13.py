"""Exercises of chapter 13, "Three minds"."""

from __future__ import annotations

import numpy as np

from adalib.datasets.loading import load
from adalib.datasets.menu import Menu
from adalib.solve.frontier import frontier
from adalib.teach.exercises import Exercise, checker


def _sent_to_the_large() -> float:
    models = {"0.5B": load("story-qwen05"), "1.5B": load("story-qwen15")}
    table = Menu(models, {"0.5B": 1, "1.5B": 10}).priced({"0.5B": 1, "1.5B": 10}, per="samples").table()
    large = np.array([arm.startswith("1.5B") for arm in table.budgets])
    return float(large[frontier(table.acc, table.cost).at(5).labels].mean())


check = checker(
    {
        "unit": Exercise(
            lambda: 4 * 50 * 1.5,
            "an arm costs its answers times the tokens of one times the price of a token",
            tolerance=1e-9,
        ),
        "sent": Exercise(
            _sent_to_the_large,
            'make the table with menu.priced({"0.5B": 1, "1.5B": 10}, per="samples").table(), take the labels of its '
            "frontier at 5, and count the columns whose name starts with 1.5B",
            tolerance=5e-3,
        ),
    }
)
