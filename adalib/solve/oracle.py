"""The oracle: what every question should get once compute has a price.

At price ``lam`` question ``i`` takes the budget with the largest net value ``acc[i, j] - lam * cost[j]``. One number
settles all questions, each on its own. Labels are column indices, 0 to K-1. Costs are one row for all questions, shape
(K,), or one row each, shape (N, K). The way from a budget back to a price is `adalib.frontier`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from adalib.table import check_table

__all__ = ["TIE", "Random", "average", "average_cost", "check_price", "chosen", "dual", "labels_at", "oracle_labels"]
__all__ += ["subdifferential"]

#: Net values closer than this are tied. A price at which two budgets tie is a ratio, hence rounded, and the two
#: net values computed from it differ in the last digit; comparing them exactly would settle the tie by accident.
TIE = 1e-12

Random = np.random.Generator | int | None


def oracle_labels(
    acc: ArrayLike, cost: ArrayLike, lam: float, ties: str = "cheapest", rng: Random = None
) -> np.ndarray:
    """Give every question the budget of largest net value at price ``lam``.

    The rule, which the explorer in the browser repeats operation by operation: the label is the cheapest column whose
    net value ``acc - lam * cost`` is at least the row's largest minus 1e-12; among equal costs, the first. Explained
    in chapter 2, "The oracle".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1].
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    lam : float
        Price of one unit of cost, at least 0.
    ties : {"cheapest", "dearest", "random", "first"}
        Which of the tied columns to take. "first" is a plain argmax: no tolerance, the first of the largest values.
    rng : numpy Generator or int, optional
        For ``ties="random"``.

    Returns
    -------
    ndarray of int, shape (N,)
        Column of each question.

    Examples
    --------
    >>> oracle_labels([[0.5, 0.9, 1.0], [0.2, 0.2, 0.2]], cost=[1, 2, 4], lam=0.05)
    array([1, 0])
    """
    acc, cost = check_table(acc, cost)
    return labels_at(acc, cost, check_price(lam), ties, rng)


def average_cost(
    acc: ArrayLike, cost: ArrayLike, lam: ArrayLike, ties: str = "cheapest", rng: Random = None
) -> float | np.ndarray:
    """Average cost of the oracle's labels, at one price or at many.

    It never rises with the price, whatever the tie rule. Explained in chapter 2, "The oracle".

    Parameters
    ----------
    acc, cost, ties, rng
        As for `oracle_labels`.
    lam : float or array_like
        Price or prices; the result has the same shape.
    """
    acc, cost = check_table(acc, cost)
    rng = np.random.default_rng(rng)
    return _each_price(lam, lambda price: average(cost, labels_at(acc, cost, price, ties, rng)))


def dual(acc: ArrayLike, cost: ArrayLike, lam: ArrayLike, budget: float) -> float | np.ndarray:
    """Dual function ``G(lam) = mean_i max_j (acc[i, j] - lam * cost[i, j]) + lam * budget``.

    No allocation within the budget is more accurate, at any price; the smallest value, over all prices, is what the
    relaxed problem attains. Explained in chapter 3, "Budgets".

    Parameters
    ----------
    acc, cost
        As for `oracle_labels`.
    lam : float or array_like
        Price or prices; the result has the same shape.
    budget : float
        Average cost allowed.
    """
    acc, cost = check_table(acc, cost)
    return _each_price(lam, lambda price: float((acc - price * cost).max(axis=1).mean() + price * budget))


def subdifferential(acc: ArrayLike, cost: ArrayLike, lam: float, budget: float) -> tuple[float, float]:
    """Slopes of the dual function at ``lam``: from ``budget - C(lam-)`` to ``budget - C(lam+)``.

    A price is optimal for the budget exactly when the interval holds 0. Inside a jump of the average cost C it holds 0
    although no label at that price costs ``budget``. The price 0 is the end of the domain, so only the right slope
    binds there and the interval starts at minus infinity. Explained in chapter 3, "Budgets".

    Parameters
    ----------
    acc, cost, lam
        As for `oracle_labels`.
    budget : float
        Average cost allowed.
    """
    acc, cost = check_table(acc, cost)
    lam = check_price(lam)
    high = budget - average(cost, labels_at(acc, cost, lam, "cheapest"))
    low = budget - average(cost, labels_at(acc, cost, lam, "dearest")) if lam > 0 else -np.inf
    return low, high


def labels_at(acc: np.ndarray, cost: np.ndarray, lam: float, ties: str, rng: Random = None) -> np.ndarray:
    """`oracle_labels` of a checked table."""
    net = acc - lam * cost
    if ties == "first":
        return net.argmax(axis=1)
    tied = net >= net.max(axis=1, keepdims=True) - TIE
    # Costs never fall along a row: the first tied column is the cheapest, the last one the dearest.
    if ties == "cheapest":
        return tied.argmax(axis=1)
    if ties == "dearest":
        return tied.shape[1] - 1 - tied[:, ::-1].argmax(axis=1)
    if ties == "random":
        return np.where(tied, np.random.default_rng(rng).random(tied.shape), -1.0).argmax(axis=1)
    raise ValueError(f'ties is {ties!r}; choose "cheapest", "dearest", "random" or "first"')


def chosen(table: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Every row's entry of a table, or of one row that all share."""
    return table[labels] if table.ndim == 1 else np.take_along_axis(table, labels[:, None], axis=1)[:, 0]


def average(table: np.ndarray, labels: np.ndarray) -> float:
    """Mean over the rows of the labelled entries."""
    return float(chosen(table, labels).mean())


def _each_price(lam: ArrayLike, value: Callable[[float], float]) -> float | np.ndarray:
    prices = np.asarray(lam, dtype=float)
    values = [value(check_price(price)) for price in prices.ravel()]
    return values[0] if prices.ndim == 0 else np.reshape(values, prices.shape)


def check_price(lam: float) -> float:
    """Return the price as a float, or say what is wrong with it."""
    if not 0 <= lam < np.inf:
        raise ValueError(f"the price is {lam}; give a finite number, 0 or more")
    return float(lam)
