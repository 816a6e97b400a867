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


_LIST = PriceList(read=0.4, cached=0.1, written=1.6, prompt=250, answer=300)
_ASKED, _AVERAGES = (100, 300, 600), (2.2, 2.0, 1.95)


check = checker(
    {
        "law": Exercise(
            lambda: log(2) / (0.2 * 500),
            "the average is off by the logarithm of the factor, divided by the step and the number of questions",
            2e-4,
            more="numpy.log(2) / (0.2 * 500)",
            wrong={
                "that is the factor; the law has its logarithm": lambda: 2 / (0.2 * 500),
                "that leaves the step out": lambda: log(2) / 500,
                "that is in all; divide by the questions": lambda: log(2) / 0.2,
            },
        ),
        "settles": Exercise(
            lambda: log(3) / 0.05,
            "a steady rise of the price's logarithm: how much a question, and how much in all",
            0.5,
            more="every question adds 0.2 * 0.25 to the logarithm, and it must rise by log 3",
            wrong={
                "the logarithm rises by the step times what is over, a quarter": lambda: log(3) / 0.2,
                "that leaves the step out": lambda: log(3) / 0.25,
                "the price triples, so its logarithm rises by log 3": lambda: 3 / 0.05,
            },
        ),
        "dollars": Exercise(
            lambda: 1e4 * _LIST.dollars(3),
            "one prompt is read, two are read again from the cache, three answers are written",
            0.05,
            more="(250 * (0.40 + 2 * 0.10) + 3 * 300 * 1.60) / 1e6 for one question",
            wrong={
                "that is one answer each": lambda: 1e4 * _LIST.dollars(1),
                "that reads every prompt at the full price; two come from the cache": lambda: (
                    1e4 * 3 * (250 * 0.4 + 300 * 1.6) / 1e6
                ),
                "the prompt is paid too": lambda: 1e4 * 3 * 300 * 1.6 / 1e6,
            },
        ),
        "together": Exercise(
            lambda: float(np.average(_AVERAGES, weights=_ASKED)),
            "add up what was spent, and divide by all questions",
            2e-3,
            more="(100 * 2.2 + 300 * 2.0 + 600 * 1.95) / 1000",
            wrong={
                "that is the mean of three averages; the third server had most questions": lambda: np.mean(_AVERAGES),
                "that is the busiest server alone": lambda: _AVERAGES[2],
                "that is the idlest server alone": lambda: _AVERAGES[0],
            },
        ),
        "controller": Construction(
            _prices_fault, more="first * numpy.exp(step * numpy.cumsum(costs - budget) / budget)"
        ),
    }
)
