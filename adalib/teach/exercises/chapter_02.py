"""Exercises of chapter 2, "The oracle"."""

from __future__ import annotations

from adalib.datasets.loading import load
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost, oracle_labels
from adalib.teach.exercises import Exercise, checker

_PRICE = 0.02


def _let_go() -> float:
    word = load("word-fewshot")
    row = word.ids.index("word-trees-05")
    table = word.table()
    # The last step of the question's own frontier leads to 16; its slope is the price at which 16 is let go.
    return float(frontier(table.acc[row : row + 1], table.cost).lam[-2])


def _spent() -> float:
    table = load("word-hot").table()
    return average_cost(table.acc, table.cost, _PRICE)


def _worth_of_telling_apart() -> float:
    table = load("word-fewshot").table()
    net = table.acc - _PRICE * table.cost
    return float(net.max(axis=1).mean() - net.mean(axis=0).max())


def _second_brings_little() -> int:
    table = load("word-fewshot").table()
    labels = oracle_labels(table.acc, table.cost, 0.03)
    return int(((labels >= table.budgets.index(4)) & (table.acc[:, 1] - table.acc[:, 0] < 0.03)).sum())


check = checker(
    {
        "letgo": Exercise(_let_go, "divide the gain of the last step by the answers it costs", tolerance=1e-4),
        "spend": Exercise(_spent, "adalib.average_cost takes the table of word-hot and a price", tolerance=5e-3),
        "uniform": Exercise(
            _worth_of_telling_apart,
            "net values are acc - 0.02 * cost; compare the mean of the row maxima with the largest column mean",
            tolerance=1e-3,
        ),
        "second": Exercise(
            _second_brings_little,
            "of the rows whose label at 0.03 is column 2 or more, count those with acc[:, 1] - acc[:, 0] below 0.03",
        ),
    }
)
