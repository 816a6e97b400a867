"""Exercises of chapter 2, "The oracle"."""

from __future__ import annotations

import numpy as np

from adalib.paper.settings import answers, utility
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost, chosen, oracle_labels
from adalib.teach.exercises import Exercise, checker
from adalib.teach.exercises.ladder import AVERAGE_COST, ORACLE
from adalib.teach.exercises.proofs import EVERETT, MONOTONE

_PRICE = 0.02


def _tree() -> np.ndarray:
    return utility("word-fewshot").acc[answers("word-fewshot").ids.index("word-trees-05")]


def _let_go() -> float:
    # The last step of the question's own frontier leads to 16; its slope is the price at which 16 is let go.
    return float(frontier(_tree()[None], utility("word-fewshot").cost).lam[-2])


def _spent(name: str, price: float = _PRICE) -> float:
    table = utility(name)
    return average_cost(table.acc, table.cost, price)


def _best_and_same() -> tuple[float, float]:
    table = utility("word-fewshot")
    net = table.acc - _PRICE * table.cost
    return float(net.max(axis=1).mean()), float(net.mean(axis=0).max())


def _accuracies_apart() -> float:
    table = utility("word-fewshot")
    same = int((table.acc.mean(axis=0) - _PRICE * table.cost).argmax())
    return float(chosen(table.acc, oracle_labels(table.acc, table.cost, _PRICE)).mean() - table.acc[:, same].mean())


def _many_and_little() -> tuple[np.ndarray, np.ndarray]:
    table = utility("word-fewshot")
    labels = oracle_labels(table.acc, table.cost, 0.03)
    return labels >= table.budgets.index(4), table.acc[:, 1] - table.acc[:, 0] < 0.03


check = checker(
    {
        "letgo": Exercise(
            _let_go,
            "divide the gain of the last step by the answers it costs",
            1e-4,
            more="the budget it falls back to is 8: the gain from 8 to 16, over 8 answers",
            wrong={
                "that is the gain of the step; a price is for one answer": lambda: 8 * _let_go(),
                "that is the slope from 1 to 16; it falls back to a nearer budget": lambda: float(
                    (_tree()[4] - _tree()[0]) / 15
                ),
                "divide by the answers of the step, 8, not by 16": lambda: _let_go() / 2,
            },
        ),
        "spend": Exercise(
            lambda: _spent("word-hot"),
            "adalib.average_cost takes the table of word-hot and a price",
            5e-3,
            more='hot = tables["word-hot"]; adalib.average_cost(hot.acc, hot.cost, 0.02)',
            wrong={
                "that is word-fewshot; the hot model is asked for": lambda: _spent("word-fewshot"),
                "those are columns, not answers": lambda: float(
                    oracle_labels(utility("word-hot").acc, utility("word-hot").cost, _PRICE).mean()
                ),
                "that is all questions together; the average is asked for": lambda: (
                    _spent("word-hot") * answers("word-hot").n
                ),
                "that is the bill at a price of 0.2": lambda: _spent("word-hot", 0.2),
            },
        ),
        "uniform": Exercise(
            lambda: _best_and_same()[0] - _best_and_same()[1],
            "net values are acc - 0.02 * cost; compare the mean of the row maxima with the largest column mean",
            1e-3,
            more="values.max(axis=1).mean() - values.mean(axis=0).max()",
            wrong={
                "that is the oracle's net value; subtract the best uniform one": lambda: _best_and_same()[0],
                "that is the uniform plan's net value": lambda: _best_and_same()[1],
                "that is the difference in accuracy; net value counts the cost too": _accuracies_apart,
            },
        ),
        "second": Exercise(
            lambda: int(np.logical_and(*_many_and_little()).sum()),
            "of the rows whose label at 0.03 is column 2 or more, count those with acc[:, 1] - acc[:, 0] below 0.03",
            more="column 2 is b = 4; combine the two conditions with &",
            wrong={
                "those are all that buy four or more; count those whose second answer brings little": lambda: int(
                    _many_and_little()[0].sum()
                ),
                "that counts questions that buy fewer than four too": lambda: int(_many_and_little()[1].sum()),
                "that is a share; the number is asked for": lambda: float(
                    np.logical_and(*_many_and_little()).sum() / _many_and_little()[0].sum()
                ),
            },
        ),
        "oracle": ORACLE,
        "average cost": AVERAGE_COST,
        "monotone": MONOTONE,
        "everett": EVERETT,
    }
)
