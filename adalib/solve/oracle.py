"""The oracle: what every question should get once compute has a price.

At price ``lam`` question ``i`` takes the budget with the largest net value ``acc[i, j] - lam * cost[j]``. One number
settles all questions, each on its own. This module holds that choice, the average cost and the dual bound it leads
to, and the paper's way from a budget back to a price: bisection, and mixing the two allocations around the budget.
The exact answer for every budget at once is `adalib.frontier`.

Labels are column indices, 0 to K-1. Costs are one row for all questions, shape (K,), or one row each, shape (N, K).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from adalib.table import check_table

__all__ = ["TIE", "Bisection", "Mixture", "PricedPoint"]
__all__ += ["average_cost", "bisect", "chosen", "dual", "mix", "oracle_labels", "subdifferential"]

#: Net values closer than this are tied. A price at which two budgets tie is a ratio, hence rounded, and the two
#: net values computed from it differ in the last digit; comparing them exactly would settle the tie by accident.
TIE = 1e-12

Random = np.random.Generator | int | None


@dataclass(frozen=True, eq=False)
class PricedPoint:
    """An allocation and the price that produced it.

    Attributes
    ----------
    lam : float
        Price of one unit of cost.
    labels : ndarray of int, shape (N,)
        Column given to each question.
    cost, accuracy : float
        Averages over the questions.
    """

    lam: float
    labels: np.ndarray
    cost: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class Bisection(PricedPoint):
    """What the paper's bisection found; the inherited fields describe the end of the bracket closest to the budget.

    Attributes
    ----------
    budget : float
        The average cost asked for.
    error : float
        ``abs(cost - budget)``; the cost may lie above the budget.
    feasible, above : PricedPoint
        The two ends of the last bracket: within the budget, and beyond it (the same point where nothing is beyond).
    path : ndarray, structured, one row a step
        Bracket before the step (``lo``, ``hi``), price tried (``mid``), and ``cost_lo``, ``cost_hi``, ``cost_mid``.
    """

    budget: float
    error: float
    feasible: PricedPoint
    above: PricedPoint
    path: np.ndarray


@dataclass(frozen=True, eq=False)
class Mixture:
    """Two allocations, one below and one above the budget, and the chance of the dearer one.

    Attributes
    ----------
    cheap, dear : PricedPoint
        The allocations that are mixed.
    share : float
        Probability, question by question, of the dear label.
    cost, accuracy : float
        Expected averages, exact.
    """

    cheap: PricedPoint
    dear: PricedPoint
    share: float
    cost: float
    accuracy: float

    def draw(self, rng: Random = None) -> np.ndarray:
        """Labels of one random mixture: each question takes its dear label with probability ``share``."""
        coin = np.random.default_rng(rng).random(self.cheap.labels.size)
        return np.where(coin < self.share, self.dear.labels, self.cheap.labels)


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

    Raises
    ------
    ValueError
        If the table is broken, the price is negative or the tie rule is unknown.

    Examples
    --------
    >>> oracle_labels([[0.5, 0.9, 1.0], [0.2, 0.2, 0.2]], cost=[1, 2, 4], lam=0.05)
    array([1, 0])
    """
    acc, cost = check_table(acc, cost)
    return _labels(acc, cost, _price(lam), ties, rng)


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
    return _each_price(lam, lambda price: _average(cost, _labels(acc, cost, price, ties, rng)))


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

    Returns
    -------
    low, high : float
        Ends of the interval.
    """
    acc, cost = check_table(acc, cost)
    lam = _price(lam)
    high = budget - _average(cost, _labels(acc, cost, lam, "cheapest"))
    low = budget - _average(cost, _labels(acc, cost, lam, "dearest")) if lam > 0 else -np.inf
    return low, high


def bisect(
    acc: ArrayLike,
    cost: ArrayLike,
    budget: float,
    iterations: int = 50,
    bracket: tuple[float, float] = (0.0, 5.0),
) -> Bisection:
    """Search for the price whose average cost is the budget: the paper's method, step by step.

    Net values are compared exactly here (``ties="first"``): after fifty steps the bracket is narrower than `TIE`, and a
    tolerance would tell apart questions that no price can tell apart. Explained in chapter 3, "Budgets".

    Parameters
    ----------
    acc, cost
        As for `oracle_labels`.
    budget : float
        Average cost to aim for.
    iterations : int
        Halvings of the bracket.
    bracket : (float, float)
        Lowest and highest price considered.

    Returns
    -------
    Bisection
        The end of the last bracket whose cost is closest to the budget, the feasible end, and the path.

    Raises
    ------
    ValueError
        If the table is broken or even the highest price costs more than the budget.

    Examples
    --------
    >>> found = bisect([[0.1, 0.9], [0.1, 0.9]], cost=[1, 16], budget=8.5)
    >>> found.cost, found.error, len(found.path)
    (1.0, 7.5, 50)
    """
    acc, cost = check_table(acc, cost)
    lo, hi = (_price(end) for end in bracket)

    def cost_at(price: float) -> float:
        return _average(cost, _labels(acc, cost, price, "first"))

    cost_lo, cost_hi = cost_at(lo), cost_at(hi)
    if cost_hi > budget:
        raise ValueError(
            f"price {hi:g} still costs {cost_hi:g} a question, more than the budget {budget:g}; "
            f"raise the bracket, or the budget to at least {cost[..., 0].mean():g}"
        )
    path = []
    for _ in range(iterations):
        mid = (lo + hi) / 2
        cost_mid = cost_at(mid)
        path.append((lo, hi, mid, cost_lo, cost_hi, cost_mid))
        if cost_mid > budget:
            lo, cost_lo = mid, cost_mid
        else:
            hi, cost_hi = mid, cost_mid
    above = _point(acc, cost, lo)
    # Where even the lowest price is within the budget there is nothing to trade: that price is the answer.
    feasible = above if cost_lo <= budget else _point(acc, cost, hi)
    closest = min(feasible, above, key=lambda point: abs(point.cost - budget))
    names = ["lo", "hi", "mid", "cost_lo", "cost_hi", "cost_mid"]
    return Bisection(
        **vars(closest),
        budget=budget,
        error=abs(closest.cost - budget),
        feasible=feasible,
        above=above,
        path=np.array(path, dtype=[(name, float) for name in names]),
    )


def mix(
    acc: ArrayLike,
    cost: ArrayLike,
    budget: float,
    iterations: int = 50,
    bracket: tuple[float, float] = (0.0, 5.0),
) -> Mixture:
    """Meet the budget in expectation by mixing the two allocations around it at random: the paper's repair.

    Every question whose two labels differ is randomised; `adalib.frontier` reaches the same expectation with one.
    Explained in chapter 3, "Budgets".

    Parameters
    ----------
    acc, cost, budget, iterations, bracket
        As for `bisect`.

    Returns
    -------
    Mixture
        Its expected cost is the budget, unless even the lowest price costs less.

    Examples
    --------
    >>> both = mix([[0.1, 0.9], [0.1, 0.9]], cost=[1, 16], budget=8.5)
    >>> both.share, both.cost, both.accuracy
    (0.5, 8.5, 0.5)
    """
    found = bisect(acc, cost, budget, iterations, bracket)
    cheap, dear = found.feasible, found.above
    share = 0.0 if dear is cheap else (budget - cheap.cost) / (dear.cost - cheap.cost)
    return Mixture(
        cheap,
        dear,
        share,
        cost=(1 - share) * cheap.cost + share * dear.cost,
        accuracy=(1 - share) * cheap.accuracy + share * dear.accuracy,
    )


def _labels(acc: np.ndarray, cost: np.ndarray, lam: float, ties: str, rng: Random = None) -> np.ndarray:
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


def _average(table: np.ndarray, labels: np.ndarray) -> float:
    """Mean over the rows of the labelled entries."""
    return float(chosen(table, labels).mean())


def _point(acc: np.ndarray, cost: np.ndarray, lam: float) -> PricedPoint:
    labels = _labels(acc, cost, lam, "first")
    return PricedPoint(lam, labels, _average(cost, labels), _average(acc, labels))


def _each_price(lam: ArrayLike, value) -> float | np.ndarray:
    prices = np.asarray(lam, dtype=float)
    values = [value(_price(price)) for price in prices.ravel()]
    return values[0] if prices.ndim == 0 else np.reshape(values, prices.shape)


def _price(lam: float) -> float:
    if not 0 <= lam < np.inf:
        raise ValueError(f"the price is {lam}; give a finite number, 0 or more")
    return float(lam)
