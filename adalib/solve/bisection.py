"""From a budget back to a price as in the paper: bisection, and a mixture of the two allocations around the budget.

Where questions tie, the average cost jumps over the budget; what is left over is spent by mixing. Both are here to be
studied; `adalib.frontier` is exact and faster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from adalib.solve.oracle import TIE, Random, average, check_price, labels_at
from adalib.table import check_table

__all__ = ["Bisection", "Mixture", "PricedPoint", "bisect", "mix"]


@dataclass(frozen=True, eq=False)
class PricedPoint:
    """An allocation, its averages over the questions, and the price of one unit of cost that produced it."""

    lam: float
    labels: np.ndarray  # column given to each question
    cost: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class Bisection(PricedPoint):
    """What the paper's bisection found; the inherited fields describe the end of the bracket closest to the budget."""

    budget: float
    error: float  # abs(cost - budget); the cost may lie above the budget
    feasible: PricedPoint  # the end of the last bracket within the budget
    above: PricedPoint  # the end beyond it; the same point where nothing is beyond
    path: np.ndarray  # one row per step: the bracket (lo, hi), the price tried (mid), cost_lo, cost_hi, cost_mid


@dataclass(frozen=True, eq=False)
class Mixture:
    """Two allocations, one below and one above the budget, and the chance of the dearer one."""

    cheap: PricedPoint
    dear: PricedPoint
    share: float  # probability, question by question, of the dear label
    cost: float  # expected average, exact
    accuracy: float

    def draw(self, rng: Random = None) -> np.ndarray:
        """Labels of one random mixture: each question takes its dear label with probability ``share``."""
        coin = np.random.default_rng(rng).random(self.cheap.labels.size)
        return np.where(coin < self.share, self.dear.labels, self.cheap.labels)


def bisect(
    acc: ArrayLike, cost: ArrayLike, budget: float, iterations: int = 50, bracket: tuple[float, float] = (0.0, 5.0)
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

    Examples
    --------
    >>> ends = bisect([[0.1, 0.9], [0.1, 0.9]], cost=[1, 16], budget=8.5)
    >>> ends.cost, ends.error, len(ends.path)
    (1.0, 7.5, 50)
    """
    acc, cost = check_table(acc, cost)
    lo, hi = (check_price(end) for end in bracket)

    def cost_at(price: float) -> float:
        return average(cost, labels_at(acc, cost, price, "first"))

    within = budget * (1 + TIE)  # averages are rounded
    cost_lo, cost_hi = cost_at(lo), cost_at(hi)
    if cost_hi > within:
        raise ValueError(
            f"price {hi:g} still costs {cost_hi:g} a question, more than the budget {budget:g}; "
            f"raise the bracket, or the budget to at least {cost[..., 0].mean():g}"
        )
    path = []
    for _ in range(iterations):
        mid = (lo + hi) / 2
        cost_mid = cost_at(mid)
        path.append((lo, hi, mid, cost_lo, cost_hi, cost_mid))
        if cost_mid > within:
            lo, cost_lo = mid, cost_mid
        else:
            hi, cost_hi = mid, cost_mid
    above = _point(acc, cost, lo)
    # Where even the lowest price is within the budget there is nothing to trade: that price is the answer.
    feasible = above if cost_lo <= within else _point(acc, cost, hi)
    steps = np.array(path, dtype=[(name, float) for name in ("lo", "hi", "mid", "cost_lo", "cost_hi", "cost_mid")])
    closest = min(feasible, above, key=lambda point: abs(point.cost - budget))
    return Bisection(
        **vars(closest), budget=budget, error=abs(closest.cost - budget), feasible=feasible, above=above, path=steps
    )


def mix(
    acc: ArrayLike, cost: ArrayLike, budget: float, iterations: int = 50, bracket: tuple[float, float] = (0.0, 5.0)
) -> Mixture:
    """Meet the budget in expectation by mixing the two allocations around it at random: the paper's repair.

    Every question whose two labels differ is randomised; `adalib.frontier` reaches the same expectation with one. The
    expected cost is the budget, unless even the lowest price costs less. Explained in chapter 3, "Budgets".

    Parameters
    ----------
    acc, cost, budget, iterations, bracket
        As for `bisect`.

    Examples
    --------
    >>> both = mix([[0.1, 0.9], [0.1, 0.9]], cost=[1, 16], budget=8.5)
    >>> both.share, both.cost, both.accuracy
    (0.5, 8.5, 0.5)
    """
    ends = bisect(acc, cost, budget, iterations, bracket)
    cheap, dear = ends.feasible, ends.above
    # The cheap one may cost the budget and a rounding more.
    share = 0.0 if dear is cheap else min(max((budget - cheap.cost) / (dear.cost - cheap.cost), 0.0), 1.0)
    spent = (1 - share) * cheap.cost + share * dear.cost
    return Mixture(cheap, dear, share, spent, (1 - share) * cheap.accuracy + share * dear.accuracy)


def _point(acc: np.ndarray, cost: np.ndarray, lam: float) -> PricedPoint:
    labels = labels_at(acc, cost, lam, "first")
    return PricedPoint(lam, labels, average(cost, labels), average(acc, labels))
