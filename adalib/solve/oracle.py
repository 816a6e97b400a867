"""The oracle: what every question should get once compute has a price.

At price ``lam`` question i takes the budget j with the largest net value
``acc[i, j] - lam * cost[i, j]``. Given the price, each question is settled by itself. Labels are
column indices, 0 to K-1. Costs are one row for all questions, shape (K,), or one row per question,
shape (N, K). `adalib.frontier` leads from a budget back to a price.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from adalib.table import takes_table
from adalib.tolerances import TIE

Random = np.random.Generator | int | None


@takes_table
def oracle_labels(
    acc: np.ndarray, cost: np.ndarray, lam: float, ties: str = "cheapest", rng: Random = None
) -> np.ndarray:
    r"""Give every question the budget with the largest net value at price ``lam``.

    .. math:: b_\lambda(x_i) = \arg\max_j \; acc_{ij} - \lambda\, cost_{ij}

    Columns whose net value is within 1e-12 of the row's largest are tied. By default the cheapest
    of them is taken, and among equal costs the first. The explorer in the browser repeats this rule
    operation by operation. Explained in the chapter "The oracle".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. A `UtilityTable` may take the place of
        ``acc`` and ``cost``.
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    lam : float
        Price of one unit of cost, at least 0.
    ties : {"cheapest", "dearest", "random", "first"}
        Which of the tied columns to take. "first" is a plain argmax: no tolerance, and the first of
        the largest values.
    rng : numpy Generator or int, optional
        Source of the random choice, for ``ties="random"``.

    Returns
    -------
    ndarray of int, shape (N,)
        Column of each question.

    Raises
    ------
    ValueError
        If the table or the price is not valid, or the tie rule is unknown.

    Examples
    --------
    >>> oracle_labels([[0.5, 0.9, 1.0], [0.2, 0.2, 0.2]], cost=[1, 2, 4], lam=0.05)
    array([1, 0])
    """
    return labels_at(acc, cost, check_price(lam), ties, rng)


@takes_table
def average_cost(
    acc: np.ndarray, cost: np.ndarray, lam: ArrayLike, ties: str = "cheapest", rng: Random = None
) -> float | np.ndarray:
    """Average the cost of the oracle's labels over the questions, at one price or at many.

    The average never rises with the price, whatever the tie rule. Explained in the chapter "The
    oracle".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. A `UtilityTable` may take the place of
        ``acc`` and ``cost``.
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    lam : float or array_like
        Price or prices.
    ties : {"cheapest", "dearest", "random", "first"}
        Which of the tied columns to take, as in `oracle_labels`.
    rng : numpy Generator or int, optional
        Source of the random choice, for ``ties="random"``.

    Returns
    -------
    float or ndarray
        One average cost per price, in the shape of ``lam``.

    Examples
    --------
    >>> average_cost([[0.5, 0.9, 1.0], [0.2, 0.2, 0.2]], cost=[1, 2, 4], lam=[0.05, 0.5])
    array([1.5, 1. ])
    """
    rng = np.random.default_rng(rng)
    return _at_each_price(lam, lambda price: average(cost, labels_at(acc, cost, price, ties, rng)))


@takes_table
def dual(acc: np.ndarray, cost: np.ndarray, lam: ArrayLike, budget: float) -> float | np.ndarray:
    r"""Evaluate the dual function, an upper bound on the accuracy that a budget can buy.

    .. math:: G(\lambda) = \frac1N \sum_i \max_j (acc_{ij} - \lambda\, cost_{ij}) + \lambda B

    No allocation within the budget B is more accurate than G at any price. The smallest value of G
    over all prices is what the relaxed problem attains. Explained in the chapter "Duality".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. A `UtilityTable` may take the place of
        ``acc`` and ``cost``.
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    lam : float or array_like
        Price or prices.
    budget : float
        Average cost allowed, B.

    Returns
    -------
    float or ndarray
        One value per price, in the shape of ``lam``.

    Examples
    --------
    >>> dual([[0.1, 0.9], [0.2, 0.6]], cost=[1, 2], lam=0.5, budget=1.75)
    0.675
    """

    def value(price: float) -> float:
        return float((acc - price * cost).max(axis=1).mean() + price * budget)

    return _at_each_price(lam, value)


@takes_table
def subdifferential(
    acc: np.ndarray, cost: np.ndarray, lam: float, budget: float
) -> tuple[float, float]:
    r"""Return the slopes of the dual function on both sides of a price.

    .. math:: \partial G(\lambda) = [B - \bar C(\lambda^-),\; B - \bar C(\lambda^+)]

    A price is optimal for the budget exactly when this interval contains 0. Inside a jump of the
    average cost it contains 0 although no label at that price costs the budget. Prices end at 0, so
    only the right slope binds there and the interval starts at minus infinity.

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. A `UtilityTable` may take the place of
        ``acc`` and ``cost``.
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    lam : float
        Price of one unit of cost, at least 0.
    budget : float
        Average cost allowed, B.

    Returns
    -------
    tuple of two floats
        Left and right slope.

    Examples
    --------
    >>> subdifferential([[0.0, 0.5], [0.0, 0.5]], cost=[1, 2], lam=0.5, budget=1.5)
    (-0.5, 0.5)
    """
    lam = check_price(lam)
    high = budget - average(cost, labels_at(acc, cost, lam, "cheapest"))
    if lam == 0:
        return -np.inf, high
    low = budget - average(cost, labels_at(acc, cost, lam, "dearest"))
    return low, high


def labels_at(
    acc: np.ndarray, cost: np.ndarray, lam: float, ties: str, rng: Random = None
) -> np.ndarray:
    """Return what `oracle_labels` returns, for a checked table and price."""
    if ties == "first":
        return (acc - lam * cost).argmax(axis=1)
    tied = tied_columns(acc, cost, lam)
    # Costs never fall along a row: the first tied column is the cheapest, the last the dearest.
    if ties == "cheapest":
        return tied.argmax(axis=1)
    if ties == "dearest":
        return tied.shape[1] - 1 - tied[:, ::-1].argmax(axis=1)
    if ties == "random":
        return np.where(tied, np.random.default_rng(rng).random(tied.shape), -1.0).argmax(axis=1)
    raise ValueError(f'ties is {ties!r}; choose "cheapest", "dearest", "random" or "first"')


def tied_columns(acc: np.ndarray, cost: np.ndarray, lam: float) -> np.ndarray:
    """Mark the columns of every row whose net value is the largest, or within `TIE` of it."""
    net = acc - lam * cost
    return net >= net.max(axis=1, keepdims=True) - TIE


def chosen(table: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the labelled entry of every row, of a table or of one row that all share."""
    if table.ndim == 1:
        return table[labels]
    return np.take_along_axis(table, labels[:, None], axis=1)[:, 0]


def average(table: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean over the rows of the labelled entries."""
    return float(chosen(table, labels).mean())


def _at_each_price(lam: ArrayLike, value: Callable[[float], float]) -> float | np.ndarray:
    """Evaluate a function of one price at one price or at an array of them."""
    prices = np.asarray(lam, dtype=float)
    values = [value(check_price(price)) for price in prices.ravel()]
    return values[0] if prices.ndim == 0 else np.reshape(values, prices.shape)


def check_price(lam: float) -> float:
    """Return the price as a float; ValueError unless it is a finite number, 0 or more."""
    if not 0 <= lam < np.inf:
        raise ValueError(f"the price is {lam}; give a finite number, 0 or more")
    return float(lam)
