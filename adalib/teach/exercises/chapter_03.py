"""Exercises of chapter 3, "Budgets"."""

from __future__ import annotations

import numpy as np

from adalib.datasets.loading import load
from adalib.solve.frontier import frontier
from adalib.teach.exercises import Exercise, checker


def _worth() -> float:
    table = load("word-hot").table()
    path = frontier(table.acc, table.cost)
    return path.at(3).bound - path.at(2).bound


def _mix_cost() -> float:
    table = load("word-fewshot").table()
    mix = frontier(table.acc.mean(axis=0)[None, :], table.cost)
    return float(np.interp(frontier(table.acc, table.cost).at(2).bound, mix.accuracy, mix.cost))


def _token_bound() -> float:
    table = load("word-fewshot").table(cost="tokens")
    bill = table.cost[:, table.budgets.index(2)].mean()
    return frontier(table.acc, table.cost).at(bill).bound


check = checker(
    {
        "worth": Exercise(_worth, 'compare paths["word-hot"].at(3).bound with the bound at 2', tolerance=5e-4),
        "save": Exercise(_mix_cost, "read the cost off the mix where its accuracy is path.at(2).bound", tolerance=2e-2),
        "tokens": Exercise(
            _token_bound,
            "the bill is the mean of the column for b = 2 of the token costs; solve the token table at that budget",
            tolerance=5e-4,
        ),
    }
)
