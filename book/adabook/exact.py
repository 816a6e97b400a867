"""The allocation problem in fractions, for tables that fit on a sheet of paper.

Keys of homework and exams come from here and not from `adalib`, whose floats can miss a tie by
their last digit: 0.25/3 and 1/12 are one price on paper. A table is an array of fractions, one row
per question and one column per budget, with one row of costs, the cheapest first.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np


class Step(NamedTuple):
    """A step of a question's envelope: what it brings per unit of cost, and its two columns."""

    slope: Fraction
    row: int
    low: int
    high: int


class Plan(NamedTuple):
    """The best allocation within a budget: the steepest steps that fit, and part of the next.

    ``lam`` is the slope of the next step, 0 if there is none. ``labels``, ``cost`` and ``accuracy``
    are of the plan that splits no question, ``bound`` is that of the one that takes the ``share``
    of the ``step``.
    """

    lam: Fraction
    labels: np.ndarray
    cost: Fraction
    accuracy: Fraction
    bound: Fraction
    step: Step | None
    share: Fraction


def table(numerators: Any, denominator: int) -> np.ndarray:
    """A table of fractions.

    >>> table([[1, 2]], 4).tolist()
    [[Fraction(1, 4), Fraction(1, 2)]]
    """
    rows = np.asarray(numerators).tolist()
    return np.array([[Fraction(one, denominator) for one in row] for row in rows], dtype=object)


def mean(values: Iterable[Any]) -> Fraction:
    """The mean of whole numbers and fractions, as a fraction.

    >>> mean([1, 2, 4])
    Fraction(7, 3)
    """
    listed = list(values)
    return Fraction(sum(listed)) / len(listed)


def chosen(acc: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The labelled entry of every row."""
    return acc[np.arange(len(acc)), labels]


def labels_at(acc: np.ndarray, cost: np.ndarray, lam: Fraction) -> np.ndarray:
    """The column with the largest net value of every row, the cheapest of those that are tied."""
    return (acc - lam * cost).argmax(axis=1)


def cost_at(acc: np.ndarray, cost: np.ndarray, lam: Fraction) -> Fraction:
    """What the oracle spends on a question at a price, on average."""
    return mean(cost[labels_at(acc, cost, lam)])


def steps(acc: np.ndarray, cost: np.ndarray) -> list[Step]:
    """The steps of the envelopes of all questions, the steepest first.

    >>> found = steps(table([[40, 60, 70], [50, 55, 85]], 100), np.array([1, 2, 4], dtype=object))
    >>> [(str(step.slope), step.row, step.low, step.high) for step in found]
    [('1/5', 0, 0, 1), ('7/60', 1, 0, 2), ('1/20', 0, 1, 2)]
    """
    found = []
    for row, values in enumerate(acc):
        low = 0
        while low < len(cost) - 1:
            slopes = [
                Step((values[high] - values[low]) / (cost[high] - cost[low]), row, low, high)
                for high in range(low + 1, len(cost))
            ]
            steepest = max(slopes, key=lambda step: (step.slope, step.high))
            if steepest.slope <= 0:
                break
            found.append(steepest)
            low = steepest.high
    return sorted(found, key=lambda step: -step.slope)


def prices(acc: np.ndarray, cost: np.ndarray) -> list[Fraction]:
    """Every price at which a question changes its budget, from the highest down."""
    return sorted({step.slope for step in steps(acc, cost)}, reverse=True)


def best_within(acc: np.ndarray, cost: np.ndarray, budget: Fraction | int) -> Plan:
    """The best allocation within an average budget.

    >>> cost = np.array([1, 2, 4], dtype=object)
    >>> best = best_within(table([[40, 60, 70], [50, 55, 85]], 100), cost, 2)
    >>> str(best.lam), str(best.accuracy), str(best.bound), str(best.share)
    ('7/60', '11/20', '73/120', '1/3')
    """
    n = len(acc)
    labels = np.zeros(n, dtype=int)
    paid = Fraction(cost[0])
    for step in steps(acc, cost):
        rise = Fraction(cost[step.high] - cost[step.low], n)
        if paid + rise > budget:
            left = budget - paid
            accuracy = mean(chosen(acc, labels))
            bound = accuracy + step.slope * left
            return Plan(step.slope, labels, paid, accuracy, bound, step, left / rise)
        labels[step.row] = step.high
        paid += rise
    accuracy = mean(chosen(acc, labels))
    return Plan(Fraction(0), labels, paid, accuracy, accuracy, None, Fraction(0))


def all_plans(acc: np.ndarray) -> np.ndarray:
    """All plans that give every question one column, one row each."""
    return np.array(list(product(range(acc.shape[1]), repeat=len(acc))))


def whole_plans(acc: np.ndarray, cost: np.ndarray, total: Fraction | int) -> tuple[Any, Any]:
    """All plans that cost no more in all, and what each reaches in all."""
    plans = all_plans(acc)
    plans = plans[cost[plans].sum(axis=1) <= total]
    return plans, acc[np.arange(len(acc)), plans].sum(axis=1)


def best_whole(
    acc: np.ndarray, cost: np.ndarray, budget: Fraction | int
) -> tuple[np.ndarray, Fraction]:
    """The most accurate plan within an average budget that splits no question, and its accuracy.

    >>> cost = np.array([1, 2, 4], dtype=object)
    >>> plan, accuracy = best_whole(table([[40, 60, 70], [50, 55, 85]], 100), cost, 2)
    >>> plan.tolist(), str(accuracy)
    ([1, 1], '23/40')
    """
    plans, reached = whole_plans(acc, cost, budget * len(acc))
    best = reached.argmax()
    return plans[best], reached[best] / len(acc)
