"""Exercises of chapter 11, "Deploy"."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from adalib.router.controller import BudgetController
from adalib.teach.exercises import Construction, Exercise, checker
from adalib.teach.games.bill import PriceList


def _prices_fault(mine: Any) -> str | None:
    """Hold a reader's ``prices(costs, budget, first, step)`` against the controller, on costs of all kinds."""
    rng = np.random.default_rng(11)
    for budget, first, step in ((4.0, 0.02, 0.2), (1.5, 0.3, 0.05)):
        costs = rng.choice([1, 2, 3, 8, 16], 40).astype(float)
        controller = BudgetController(budget, first, step=step)
        truth = []
        for cost in costs:
            controller.open(budget)
            controller.close(budget, cost)
            truth.append(controller.price)
        try:
            found = np.asarray(mine(costs, budget, first, step), dtype=float)
        except Exception as error:
            return f"it ends in an error ({type(error).__name__}); it is called as mine(costs, budget, first, step)"
        if found.shape != (len(costs),):
            return "return one price a cost: the price after that question"
        if not np.allclose(found, truth, rtol=1e-9):
            return "the logarithm moves by step * (cost - budget) / budget after every question"
    return None


check = checker(
    {
        "law": Exercise(
            lambda: log(2) / (0.2 * 500),
            "the average is off by the logarithm of the factor, divided by the step and the number of questions",
            tolerance=2e-4,
        ),
        "settles": Exercise(
            lambda: log(3) / 0.05,
            "a steady rise of the price's logarithm: how much a question, and how much in all",
            tolerance=0.5,
        ),
        "dollars": Exercise(
            lambda: 1e4 * PriceList(read=0.4, cached=0.1, written=1.6, prompt=250, answer=300).dollars(3),
            "one prompt is read, two are read again from the cache, three answers are written",
            tolerance=0.05,
        ),
        "controller": Construction(_prices_fault),
    }
)
