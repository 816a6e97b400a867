"""One library of rules, and the envelope over it: the price picks the rule, one coin mixes two.

Every rule has an average cost and an accuracy on training questions: a point. What can be had by tossing a coin between
two rules lies on the line between their points, so the best at every budget is the upper concave envelope of all
points: chapter 3 once more, over rules in place of budgets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Mix", "corners", "mix_for"]


class Mix(NamedTuple):
    """Two members of a library and the chance of the second."""

    low: int
    high: int
    share: float


def mix_for(cost: ArrayLike, accuracy: ArrayLike, budget: float) -> Mix:
    """Find the best mix of two rules that costs ``budget`` on average.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    cost, accuracy : array_like, shape (K,)
        Of every rule, in any order.
    budget : float
        At least the cheapest rule's cost. Where nothing dearer is better, the mix costs less.

    Returns
    -------
    Mix

    Examples
    --------
    >>> mix_for([1, 2, 4], [0.5, 0.5, 0.8], budget=2)
    Mix(low=0, high=2, share=0.3333333333333333)
    """
    cost, accuracy = np.asarray(cost, dtype=float), np.asarray(accuracy, dtype=float)
    if not budget >= cost.min() * (1 - 1e-9):
        raise ValueError(f"the budget is {budget}; the cheapest rule costs {cost.min():g}, give at least that")
    best = corners(cost, accuracy)
    high = int(np.searchsorted(cost[best], budget, side="right"))
    if high in (0, len(best)):
        return Mix(best[max(high - 1, 0)], best[max(high - 1, 0)], 0.0)
    low, high = best[high - 1], best[high]
    return Mix(low, high, float((budget - cost[low]) / (cost[high] - cost[low])))


def corners(cost: ArrayLike, accuracy: ArrayLike) -> list[int]:
    """Name the rules on the envelope, cheapest first: the only ones that some price picks.

    `adalib.frontier` walks millions of questions with a few budgets each; here is one question with hundreds, so the
    points are scanned once from left to right, and whoever lies under the line between its neighbours is dropped.

    Examples
    --------
    >>> corners([4, 1, 2], [0.8, 0.5, 0.5])
    [1, 0]
    """
    x, y = np.asarray(cost, dtype=float).tolist(), np.asarray(accuracy, dtype=float).tolist()
    found: list[int] = []
    for i in sorted(range(len(x)), key=lambda i: (x[i], -y[i])):
        if found and y[i] <= y[found[-1]]:
            continue
        while len(found) > 1:
            b, a = found[-1], found[-2]
            if (y[b] - y[a]) * (x[i] - x[a]) > (y[i] - y[a]) * (x[b] - x[a]):
                break
            found.pop()
        found.append(i)
    return found
