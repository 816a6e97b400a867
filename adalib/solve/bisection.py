"""From a budget to a price as in the paper: bisection, and a mixture of two allocations.

Where questions tie, the average cost jumps over the budget, and mixing the allocations on both
sides of the jump spends what is left over. Both methods are here to be studied; `adalib.frontier`
is exact and faster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adalib.solve.oracle import Random, average, labels_at
from adalib.table import takes_table
from adalib.tolerances import within

_BRACKET = (0.0, 5.0)  # the lowest and the highest price that the paper considers


@dataclass(frozen=True, eq=False)
class PricedPoint:
    """An allocation, and the price of one unit of cost that produced it.

    Attributes
    ----------
    lam : float
        The price.
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
    """The result of the paper's bisection.

    The inherited fields describe the end of the last bracket whose cost is closest to the budget.

    Attributes
    ----------
    budget : float
        Average cost aimed at.
    error : float
        ``abs(cost - budget)``; the cost may lie above the budget.
    feasible : PricedPoint
        The end of the last bracket that is within the budget.
    above : PricedPoint
        The other end; the same point if no price costs more than the budget.
    path : structured ndarray
        One row per step: the bracket (lo, hi), the price tried (mid), cost_lo, cost_hi, cost_mid.
    """

    budget: float
    error: float
    feasible: PricedPoint
    above: PricedPoint
    path: np.ndarray


@dataclass(frozen=True, eq=False)
class Mixture:
    """Two allocations, one below and one above the budget, mixed at random.

    Attributes
    ----------
    cheap, dear : PricedPoint
        The two allocations.
    share : float
        Probability, question by question, of the more expensive label.
    cost, accuracy : float
        Expected averages, exact.
    """

    cheap: PricedPoint
    dear: PricedPoint
    share: float
    cost: float
    accuracy: float

    def draw(self, rng: Random = None) -> np.ndarray:
        """Draw labels: each question takes its expensive label with probability ``share``."""
        coin = np.random.default_rng(rng).random(self.cheap.labels.size)
        return np.where(coin < self.share, self.dear.labels, self.cheap.labels)


@takes_table
def bisect(
    acc: np.ndarray,
    cost: np.ndarray,
    budget: float,
    iterations: int = 50,
) -> Bisection:
    """Search for the price whose average cost is the budget: the paper's method, step by step.

    Net values are compared exactly here (``ties="first"``). After fifty steps the bracket is
    narrower than the tolerance of `oracle_labels`, which would separate questions that no price can
    separate. Explained in the chapter "Budgets".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. A `UtilityTable` may take the place of
        ``acc`` and ``cost``.
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    budget : float
        Average cost to aim for.
    iterations : int
        Halvings of the bracket, which begins with the prices from 0 to 5.

    Returns
    -------
    Bisection
        The end of the last bracket whose cost is closest to the budget, the feasible end, and the
        path.

    Raises
    ------
    ValueError
        If the budget is not finite, or even the highest price costs more than it.

    See Also
    --------
    frontier : The exact solution for every budget.
    mix : Spends what bisection leaves over.

    Examples
    --------
    >>> ends = bisect([[0.1, 0.9], [0.1, 0.9]], cost=[1, 16], budget=8.5)
    >>> ends.cost, ends.error, len(ends.path)
    (1.0, 7.5, 50)
    """
    return _halve(acc, cost, budget, iterations)


@takes_table
def mix(
    acc: np.ndarray,
    cost: np.ndarray,
    budget: float,
    iterations: int = 50,
) -> Mixture:
    r"""Mix the two allocations around the budget at random, so that the expected cost meets it.

    This is the paper's repair of `bisect`. With probability

    .. math:: \theta = \frac{B - C_{cheap}}{C_{dear} - C_{cheap}}

    a question takes its label of the more expensive allocation, so every question whose two labels
    differ is randomised; `adalib.frontier` reaches the same expectation by randomising one. The
    expected cost is the budget, unless even the lowest price costs less. Explained in the chapter
    "Budgets".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. A `UtilityTable` may take the place of
        ``acc`` and ``cost``.
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    budget : float
        Average cost to aim for.
    iterations : int
        Halvings of the bracket, which begins with the prices from 0 to 5.

    Returns
    -------
    Mixture
        Both allocations, the probability of the more expensive one, and the expected averages.

    Raises
    ------
    ValueError
        If the budget is not finite, or even the highest price costs more than it.

    Examples
    --------
    >>> both = mix([[0.1, 0.9], [0.1, 0.9]], cost=[1, 16], budget=8.5)
    >>> both.share, both.cost, both.accuracy
    (0.5, 8.5, 0.5)
    """
    ends = _halve(acc, cost, budget, iterations)
    cheap = ends.feasible
    dear = ends.above
    share = 0.0
    if dear is not cheap:
        # The cheap allocation may cost slightly more than the budget, by rounding.
        share = min(max((budget - cheap.cost) / (dear.cost - cheap.cost), 0.0), 1.0)
    expected_cost = (1 - share) * cheap.cost + share * dear.cost
    expected_accuracy = (1 - share) * cheap.accuracy + share * dear.accuracy
    return Mixture(cheap, dear, share, expected_cost, expected_accuracy)


def _halve(acc: np.ndarray, cost: np.ndarray, budget: float, iterations: int) -> Bisection:
    """Halve the bracket as `bisect` promises, for a checked table."""
    if not np.isfinite(budget):
        raise ValueError(f"the budget is {budget}; give a finite number")
    lo, hi = _BRACKET

    def cost_at(price: float) -> float:
        return average(cost, labels_at(acc, cost, price, "first"))

    most = within(budget)
    cost_lo = cost_at(lo)
    cost_hi = cost_at(hi)
    if cost_hi > most:
        raise ValueError(
            f"price {hi:g} still costs {cost_hi:g} per question, more than the budget {budget:g}; "
            f"raise the budget to at least {cost[..., 0].mean():g}, or give costs in a smaller unit"
        )
    path = []
    for _ in range(iterations):
        mid = (lo + hi) / 2
        cost_mid = cost_at(mid)
        path.append((lo, hi, mid, cost_lo, cost_hi, cost_mid))
        if cost_mid > most:
            lo = mid
            cost_lo = cost_mid
        else:
            hi = mid
            cost_hi = cost_mid
    above = _point(acc, cost, lo)
    # If even the lowest price is within the budget, that price is the answer.
    feasible = above if cost_lo <= most else _point(acc, cost, hi)
    columns = ("lo", "hi", "mid", "cost_lo", "cost_hi", "cost_mid")
    closest = min(feasible, above, key=lambda point: abs(point.cost - budget))
    return Bisection(
        **vars(closest),
        budget=budget,
        error=abs(closest.cost - budget),
        feasible=feasible,
        above=above,
        path=np.array(path, dtype=[(name, float) for name in columns]),
    )


def _point(acc: np.ndarray, cost: np.ndarray, lam: float) -> PricedPoint:
    """The allocation at a price, net values compared exactly."""
    labels = labels_at(acc, cost, lam, "first")
    return PricedPoint(lam, labels, average(cost, labels), average(acc, labels))
