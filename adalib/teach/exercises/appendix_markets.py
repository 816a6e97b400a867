"""The three markets of the appendix "One price, other markets", and its exercises."""

from __future__ import annotations

import numpy as np

from adalib.solve.frontier import Allocation, frontier
from adalib.teach.exercises import Exercise, checker
from adalib.teach.exercises.dispatch import DISPATCH, FLOOR

__all__ = ["MARKETS", "check"]

_CAPACITY, _FUEL = np.array([120.0, 200, 150, 100, 60]), np.array([2.0, 9, 31, 48, 95])
_REST = np.outer(_CAPACITY, [0, 0.5, 1])

#: Name -> value and cost of every choice, a row a taker.
MARKETS = {
    "power": (_REST * _FUEL[:, None], _REST),
    "advertising": (
        np.array(
            [[0, 9, 16, 22], [0, 30, 48, 70], [0, 26, 60, 84], [0, 21, 38, 55], [0, 42, 110, 150], [0, 12, 40, 52]]
        ),
        np.array(
            [[0, 10, 25, 50], [0, 15, 30, 60], [0, 20, 45, 90], [0, 20, 50, 100], [0, 30, 70, 140], [0, 15, 40, 80]]
        ),
    ),
    "projects": (
        np.array([[0, 60, 90], [0, 220, 450], [0, 30, 75], [0, 180, 420], [0, 80, 130], [0, 260, 640], [0, 90, 380]]),
        np.array(
            [[0, 150, 300], [0, 400, 900], [0, 120, 240], [0, 600, 1000], [0, 90, 200], [0, 800, 1500], [0, 500, 1200]]
        ),
    ),
}


def _at(market: str, total: float) -> Allocation:
    values, cost = MARKETS[market]
    return frontier(values, cost, any_scale=True).at(total / len(values))


def _price_at(demand: float) -> float:
    return _at("power", _CAPACITY.sum() - demand).lam


check = checker(
    {
        "hurdle": Exercise(
            lambda: _at("projects", 3600).lam,
            "it is the price of the frontier at the new total; budgets are averages over the seven projects",
            1e-3,
            more="firm.at(3600 / 7).lam",
            wrong={
                "that is the hurdle at 3000, before the money came": lambda: _at("projects", 3000).lam,
                "that is what 600 bring in all, in thousands; a rate is asked for": lambda: (
                    7 * (_at("projects", 3600).bound - _at("projects", 3000).bound)
                ),
                "that is the mean worth of a euro over all projects": lambda: _at("projects", 3600).bound * 7 / 3600,
            },
        ),
        "demand": Exercise(
            lambda: _price_at(500),
            "add up capacities from the cheapest until 500 is reached; whose fuel is that",
            1e-6,
            more="power.at((plants.capacity.sum() - 500) / 5).lam",
            wrong={
                "that is the price at 410": lambda: _price_at(410),
                "oil is not needed before 570": lambda: 95,
                "that is the mean fuel of a megawatt-hour; the price is that of the last one": lambda: (
                    (120 * 2 + 200 * 9 + 150 * 31 + 30 * 48) / 500
                ),
            },
        ),
        "click": Exercise(
            lambda: 1 / _at("advertising", 160).lam,
            "the price of the frontier is in clicks a euro, at 160 euros; a click costs the inverse",
            5e-3,
            more="1 / ads.at(160 / 6).lam",
            wrong={
                "that is clicks a euro; euros a click are asked for": lambda: _at("advertising", 160).lam,
                "that is a click at the margin of 240 euros; with less to spend the last click is cheaper": lambda: (
                    1 / _at("advertising", 240).lam
                ),
                "that is what a click costs on average; the last one costs more": lambda: (
                    160 / (6 * _at("advertising", 160).bound)
                ),
            },
        ),
        "dispatch": DISPATCH,
        "floor": FLOOR,
    }
)
