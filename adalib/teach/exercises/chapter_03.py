"""Exercises of chapter 3, "Budgets"."""

from __future__ import annotations

from functools import cache

import numpy as np

from adalib.paper.settings import answers, path, utility
from adalib.solve.frontier import Frontier, frontier
from adalib.table import UtilityTable
from adalib.teach.exercises import Exercise, checker
from adalib.teach.exercises.ladder import BISECTION, COIN, ENVELOPE, FRONTIER
from adalib.teach.exercises.proofs import ONE_SPLIT, PRICE_OF_MORE


def _worth(name: str) -> float:
    return path(name).at(3).bound - path(name).at(2).bound


@cache
def _mix() -> Frontier:
    table = utility("word-fewshot")
    return frontier(table.acc.mean(axis=0)[None, :], table.cost)


def _mix_cost() -> float:
    return float(np.interp(path("word-fewshot").at(2).bound, _mix().accuracy, _mix().cost))


@cache
def _tokens() -> UtilityTable:
    return answers("word-fewshot").table(cost="tokens")


def _bill() -> float:
    return float(_tokens().cost[:, _tokens().budgets.index(2)].mean())


check = checker(
    {
        "worth": Exercise(
            lambda: _worth("word-hot"),
            'compare paths["word-hot"].at(3).bound with the bound at 2',
            5e-4,
            more="at(3).bound - at(2).bound",
            wrong={
                "that is word-fewshot; the hot answers are asked for": lambda: _worth("word-fewshot"),
                "that is the price at 2; it falls on the way to 3": lambda: path("word-hot").at(2).lam,
                "that is the price at 3; it was higher on the way": lambda: path("word-hot").at(3).lam,
                "that is the accuracy at 3; the gain is asked for": lambda: path("word-hot").at(3).bound,
            },
        ),
        "save": Exercise(
            _mix_cost,
            "read the cost off the mix where its accuracy is path.at(2).bound",
            2e-2,
            more="numpy.interp(path.at(2).bound, mix.accuracy, mix.cost)",
            wrong={
                "that is what the mix needs on top of 2; its whole cost is asked for": lambda: _mix_cost() - 2,
                "that is the oracle's cost": lambda: 2.0,
                "that is how many times as much the mix needs; its cost is asked for": lambda: _mix_cost() / 2,
                "that is the mix's accuracy at 2; the two axes are exchanged": lambda: float(
                    np.interp(2, _mix().cost, _mix().accuracy)
                ),
            },
        ),
        "tokens": Exercise(
            lambda: frontier(_tokens().acc, _tokens().cost).at(_bill()).bound,
            "the bill is the mean of the column for b = 2 of the token costs; solve the token table at that budget",
            5e-4,
            more="tokens.cost[:, 1].mean() is the bill",
            wrong={
                "that is the bound in answers; count tokens": lambda: path("word-fewshot").at(2).bound,
                "that is the bill; the accuracy at it is asked for": _bill,
                "that is two answers for everyone; let the frontier spend the same bill": lambda: float(
                    _tokens().acc[:, 1].mean()
                ),
            },
        ),
        "bisection": BISECTION,
        "envelope": ENVELOPE,
        "frontier": FRONTIER,
        "coin": COIN,
        "price of more": PRICE_OF_MORE,
        "one split": ONE_SPLIT,
    }
)
