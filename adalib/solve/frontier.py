"""The exact frontier: the best accuracy for every budget at once, from one sort.

Draw a question's accuracy against its cost. Only the corners of the upper concave envelope can win at some price, the
slope from one to the next: gain per unit cost. Sort those steps, of all questions together, from the steepest down:
every prefix is the oracle's allocation at some price, so the running sums of cost and gain are the whole frontier.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.solve.envelope import Codes, at_once, cheapest, in_order, labels_after, steps
from adalib.solve.exact import DIGITS, exact_mean, exact_sum, most_within
from adalib.solve.oracle import chosen
from adalib.table import check_table

__all__ = ["Allocation", "Frontier", "Split", "frontier"]

_SAME = 10.0**-DIGITS  # prices that agree to this relative precision, or to that of their keys, are one breakpoint
_PART = 1 << 15  # steps that are added up together


class Split(NamedTuple):
    """The one question, a row, to which a mixed allocation gives column ``high`` a share of the time, else ``low``."""

    row: int
    low: int
    high: int
    share: float


@dataclass(frozen=True, eq=False)
class Allocation:
    """The best point of the frontier within a budget: averages of the allocation that splits no question."""

    budget: float  # average cost allowed
    lam: float  # price of compute here: gain per unit cost of the next step, 0 when there is none
    cost: float  # never above the budget, read to twelve digits
    accuracy: float
    #: No allocation within the budget, split or not, is more accurate: the smallest value of the dual function, at most
    #: ``lam * slack`` above ``accuracy``. It is what is expected once `split` spends the slack: no mixture does better.
    bound: float
    _frontier: Frontier = field(repr=False)
    _steps: int = field(repr=False)

    @property
    def slack(self) -> float:
        """Budget left over by the allocation that splits no question."""
        return self.budget - self.cost

    @cached_property
    def labels(self) -> np.ndarray:
        """Column of each question, shape (N,); built on first use."""
        return self._frontier._labels(self._steps)

    @cached_property
    def split(self) -> Split | None:
        """The question to randomise so that the expected cost is the budget; None where nothing is left to buy."""
        path = self._frontier._path_cost
        if self.slack <= 0 or self._steps == path.size - 1:
            return None
        after = self._frontier._labels(self._steps + 1)
        row = int(np.flatnonzero(after != self.labels)[0])
        share = self.slack / (path[self._steps + 1] - path[self._steps])
        return Split(row, int(self.labels[row]), int(after[row]), min(float(share), 1.0))


@dataclass(frozen=True, eq=False)
class Frontier:
    """Everything a budget can buy: one point per breakpoint, from the cheapest allocation to the most accurate one.

    Point j is the oracle's allocation at price ``lam[j]``, ties to the cheaper budget; ``lam[j]`` is also the slope to
    point j+1, and the last one is 0. Between the points the frontier is straight."""

    lam: np.ndarray
    cost: np.ndarray
    accuracy: np.ndarray
    _table: tuple[np.ndarray, np.ndarray] = field(repr=False)
    _start: np.ndarray = field(repr=False)
    _path_lam: np.ndarray = field(repr=False)
    _path_cost: np.ndarray = field(repr=False)
    _path_accuracy: np.ndarray = field(repr=False)

    def at(self, budget: float) -> Allocation:
        """Return the best allocation on the frontier that costs at most ``budget``, and how to spend the rest.

        Its `labels` and `split` are built on first use. ValueError if the budget is below the cheapest allocation.

        Examples
        --------
        >>> best = frontier([[0.1, 0.9], [0.2, 0.6]], cost=[1, 2]).at(1.75)
        >>> best.labels, best.cost, best.split
        (array([1, 0]), 1.5, Split(row=1, low=0, high=1, share=0.5))
        """
        if not np.isfinite(budget):
            raise ValueError(f"the budget is {budget}; give a finite number")
        budget = float(budget)
        least = float(self.cost[0])
        if budget < least * (1 - _SAME):
            raise ValueError(f"the budget is {budget!r}; the cheapest allocation costs {least!r}, give at least that")
        steps, cost = self._fit(budget)
        accuracy, lam = float(self._path_accuracy[steps]), float(self._path_lam[steps])
        return Allocation(budget, lam, cost, accuracy, accuracy + lam * (budget - cost), self, steps)

    def _fit(self, budget: float) -> tuple[int, float]:
        """How many steps fit into the budget, and the average cost they come to."""
        path, rounding, n = self._path_cost, 2 * _SAME * budget, self._start.size
        if self._whole:
            steps = max(int(path.searchsorted(budget * (1 + _SAME), side="right")) - 1, 0)
            return steps, min(float(path[steps]), budget)
        steps = int(path.searchsorted(budget + rounding, side="right")) - 1
        below = max(int(path.searchsorted(budget - rounding)) - 1, 0)
        # Steps that end at the budget, give or take rounding, count only if their labels' exact sum is within.
        while steps > below:
            total = exact_sum(chosen(self._table[1], self._labels(steps)))
            if total <= most_within(budget, n):
                return steps, min(exact_mean(total, n), budget)
            steps -= 1
        return steps, min(float(path[steps]), budget)

    @cached_property
    def _whole(self) -> bool:
        """Whether all costs are whole numbers, so that their sums are exact."""
        return bool((self._table[1] == np.floor(self._table[1])).all())

    def _labels(self, steps: int) -> np.ndarray:
        """Labels after the first ``steps`` steps, found by walking the envelopes again."""
        if steps == 0:
            return self._start.copy()
        last = -float(self._path_lam[steps - 1])
        # Prices fall, so search among their negatives; what is counted are the steps at the last price, in row order.
        count = steps - bisect_left(self._path_lam, last, hi=steps, key=operator.neg)
        return labels_after(*self._table, self._start, [(last, count)])[0][0]


def frontier(acc: ArrayLike, cost: ArrayLike, *, any_scale: bool = False) -> Frontier:
    """Solve the allocation problem for every budget at once, exactly.

    Explained in chapter 3, "Budgets".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. Gains of at most 1e-12 count as none.
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    any_scale : bool
        Whether ``acc`` holds values of any scale, such as money, and not accuracies. What is called accuracy in the
        result is then their mean. Explained in the appendix "One price, other markets".

    Returns
    -------
    Frontier
        Keeps a reference to the table: do not change it afterwards.

    Examples
    --------
    >>> whole = frontier([[0.1, 0.9], [0.2, 0.6]], cost=[1, 2])
    >>> whole.lam.round(3), whole.cost, whole.accuracy.round(3)
    (array([0.8, 0.4, 0. ]), array([1. , 1.5, 2. ]), array([0.15, 0.55, 0.75]))
    """
    acc, cost = check_table(acc, cost, any_scale)
    n, k = acc.shape
    start, accuracy = cheapest(acc, cost)
    codes = Codes(k)
    keys, own = steps(acc, cost, start, codes)
    if own is None:
        keys.sort()
        rise = (cost[codes.high] - cost[codes.low]).take(codes.of(keys))
        least = float(cost[0])
    else:
        keys, order = in_order(keys)
        rise = (own[1] - own[0])[order]
        least = exact_mean(exact_sum(cost[:, 0]), n)
        del own, order  # a large table needs the room
    lam = np.zeros(keys.size + 1)
    np.abs(keys, out=lam[:-1])
    path_cost, path_accuracy, points = at_once(
        [
            lambda: _running_mean(rise, None, least, n),
            lambda: _running_mean(rise, lam, float(accuracy.mean()), n),
            lambda: _breakpoints(keys, max(_SAME, codes.precision)),
        ],
        worth=keys.size,
    )
    corners = lam[points], path_cost[points], path_accuracy[points]
    return Frontier(*corners, (acc, cost), start, lam, path_cost, path_accuracy)


def _running_mean(rise: np.ndarray, price: np.ndarray | None, first: float, n: int) -> np.ndarray:
    """A mean over n questions after every step of ``rise * price``, or ``rise``; by parts, which stay in the cache."""
    path, total = np.empty(rise.size + 1), first * n
    path[0] = first
    for begin in range(0, rise.size, _PART):
        part = slice(begin, min(begin + _PART, rise.size))
        after = np.cumsum(rise[part] if price is None else rise[part] * price[part], out=path[1:][part])
        after += total
        total = after[-1]
        after /= n
    return path


def _breakpoints(keys: np.ndarray, same: float) -> slice | np.ndarray:
    """Where the price changes: before the first step, between two steps that differ clearly, and after the last."""
    new = np.ones(keys.size + 1, dtype=bool)
    np.greater(keys[1:], keys[:-1] * (1 - same), out=new[1 : keys.size])
    return slice(None) if new.all() else new
