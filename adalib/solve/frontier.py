"""The exact frontier: the best accuracy for every budget at once, from one sort.

Draw a question's accuracy against its cost. Only the corners of the upper concave envelope can win
at some price, and that price is the slope from one corner to the next, the gain per unit of cost.
Sort those steps of all questions together, the steepest first. Every prefix of the sorted list is
the oracle's allocation at some price, so the running sums of cost and gain are the whole frontier.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.solve.envelope import cheapest_columns, envelope_steps, labels_after
from adalib.solve.exact import DIGITS, exact_mean, exact_sum, most_within
from adalib.solve.oracle import chosen
from adalib.solve.step_keys import StepKeys, sort_stably
from adalib.table import check_table
from adalib.threads import call_all

_SAME = 10.0**-DIGITS  # relative difference below which two prices are one breakpoint
_CHUNK = 1 << 15  # steps that are added up together, because they fit into the cache


class Split(NamedTuple):
    """The one question that a mixed allocation randomises.

    Attributes
    ----------
    row : int
        Row of the question.
    low, high : int
        The two columns that it gets.
    share : float
        Probability of column ``high``.
    """

    row: int
    low: int
    high: int
    share: float


@dataclass(frozen=True, eq=False)
class Allocation:
    """The best point of the frontier within a budget.

    The averages are those of the allocation that splits no question.

    Attributes
    ----------
    budget : float
        Average cost allowed.
    lam : float
        Price of compute at this budget, the gain per unit of cost of the next step; 0 if there is
        no next step.
    cost : float
        Average cost, never above the budget as read to twelve digits.
    accuracy : float
        Average accuracy.
    bound : float
        Smallest value of the dual function, at most ``lam * slack`` above ``accuracy``. No
        allocation within the budget, split or not, is more accurate. Once `split` spends the slack,
        this is the expected accuracy.
    slack, labels, split
        See the properties.
    """

    budget: float
    lam: float
    cost: float
    accuracy: float
    bound: float
    _frontier: Frontier = field(repr=False)
    _steps: int = field(repr=False)

    @property
    def slack(self) -> float:
        """Budget left over by the allocation that splits no question."""
        return self.budget - self.cost

    @cached_property
    def labels(self) -> np.ndarray:
        """Column of each question, shape (N,); computed on first use."""
        return self._frontier._labels(self._steps)

    @cached_property
    def split(self) -> Split | None:
        """The question to randomise so that the expected cost equals the budget.

        None if the budget is spent or nothing is left to buy.
        """
        path = self._frontier._path_cost
        if self.slack <= 0 or self._steps == path.size - 1:
            return None
        after = self._frontier._labels(self._steps + 1)
        row = int(np.flatnonzero(after != self.labels)[0])
        share = self.slack / (path[self._steps + 1] - path[self._steps])
        return Split(row, int(self.labels[row]), int(after[row]), min(float(share), 1.0))


@dataclass(frozen=True, eq=False)
class Frontier:
    """Everything that a budget can buy, from the cheapest allocation to the most accurate one.

    There is one point per breakpoint, and between the points the frontier is straight.

    Attributes
    ----------
    lam : ndarray, shape (P,)
        Falling prices. Point j is the oracle's allocation at price ``lam[j]``, ties to the cheaper
        budget; ``lam[j]`` is also the slope to point j+1. The last price is 0.
    cost, accuracy : ndarray, shape (P,)
        Averages over the questions at each point.
    """

    lam: np.ndarray
    cost: np.ndarray
    accuracy: np.ndarray
    _table: tuple[np.ndarray, np.ndarray] = field(repr=False)
    _start: np.ndarray = field(repr=False)
    _path_lam: np.ndarray = field(repr=False)  # the price of every step, then 0
    _path_cost: np.ndarray = field(repr=False)  # average cost before each step, and after the last
    _path_accuracy: np.ndarray = field(repr=False)

    def at(self, budget: float) -> Allocation:
        """Return the best allocation on the frontier that costs at most ``budget``.

        Parameters
        ----------
        budget : float
            Average cost allowed.

        Returns
        -------
        Allocation
            Its `labels` and `split` are computed on first use.

        Raises
        ------
        ValueError
            If the budget is not finite or is below the cheapest allocation.

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
            raise ValueError(
                f"the budget is {budget!r}; the cheapest allocation costs {least!r}, "
                "give at least that"
            )
        steps, cost = self._fit(budget)
        accuracy = float(self._path_accuracy[steps])
        lam = float(self._path_lam[steps])
        bound = accuracy + lam * (budget - cost)
        return Allocation(budget, lam, cost, accuracy, bound, self, steps)

    def _fit(self, budget: float) -> tuple[int, float]:
        """Return how many steps fit into the budget, and their average cost."""
        path = self._path_cost
        if self._whole:
            steps = max(int(path.searchsorted(budget * (1 + _SAME), side="right")) - 1, 0)
            return steps, min(float(path[steps]), budget)
        rounding = 2 * _SAME * budget
        steps = int(path.searchsorted(budget + rounding, side="right")) - 1
        certain = max(int(path.searchsorted(budget - rounding)) - 1, 0)
        n = self._start.size
        # Steps that end at the budget, up to rounding, count only if the exact sum is within it.
        while steps > certain:
            total = exact_sum(chosen(self._table[1], self._labels(steps)))
            if total <= most_within(budget, n):
                return steps, min(exact_mean(total, n), budget)
            steps -= 1
        return steps, min(float(path[steps]), budget)

    @cached_property
    def _whole(self) -> bool:
        """Whether all costs are whole numbers, so that float sums of them are exact."""
        cost = self._table[1]
        return bool((cost == np.floor(cost)).all())

    def _labels(self, steps: int) -> np.ndarray:
        """Labels after the first ``steps`` steps, found by walking the envelopes again."""
        if steps == 0:
            return self._start.copy()
        last_key = -float(self._path_lam[steps - 1])
        # Prices fall, so their negatives are sorted; count the steps taken at the last price.
        count = steps - bisect_left(self._path_lam, last_key, hi=steps, key=operator.neg)
        labels, _ = labels_after(*self._table, self._start, [(last_key, count)])
        return labels[0]


def frontier(acc: ArrayLike, cost: ArrayLike, *, any_scale: bool = False) -> Frontier:
    r"""Solve the allocation problem for every budget at once, exactly.

    For every average budget B this is the relaxed problem

    .. math:: \max \frac1N \sum_i \sum_j p_{ij}\, acc_{ij}
              \quad\text{with}\quad \frac1N \sum_i \sum_j p_{ij}\, cost_{ij} \le B,

    where each row of p is a distribution over the budgets. Explained in the chapter "Budgets".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. Gains of at most 1e-12 count as none.
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    any_scale : bool
        Whether ``acc`` holds values of any scale, such as money, and not accuracies. What is called
        accuracy in the result is then their mean. Explained in the appendix "One price, other
        markets".

    Returns
    -------
    Frontier
        Keeps a reference to the table, so do not change the table afterwards.

    Raises
    ------
    ValueError
        If the table is not valid; the message names the entry.

    See Also
    --------
    bisect : The paper's way to one budget.
    integer_optimum : The best allocation of all that splits no question.

    References
    ----------
    .. [1] H. Everett, "Generalized Lagrange multiplier method for solving problems of optimum
       allocation of resources", Operations Research 11 (1963).
    .. [2] P. Sinha and A. A. Zoltners, "The multiple-choice knapsack problem", Operations
       Research 27 (1979).

    Examples
    --------
    >>> whole = frontier([[0.1, 0.9], [0.2, 0.6]], cost=[1, 2])
    >>> whole.lam.round(3), whole.cost, whole.accuracy.round(3)
    (array([0.8, 0.4, 0. ]), array([1. , 1.5, 2. ]), array([0.15, 0.55, 0.75]))
    """
    acc, cost = check_table(acc, cost, any_scale)
    n, k = acc.shape
    start, accuracy = cheapest_columns(acc, cost)
    step_keys = StepKeys(k)
    keys, before, after = envelope_steps(acc, cost, start, step_keys)
    if before is None or after is None:
        keys.sort()
        rise_by_code = cost[step_keys.high] - cost[step_keys.low]
        rise = rise_by_code.take(step_keys.codes(keys))
        least = float(cost[0])
    else:
        keys, order = sort_stably(keys)
        rise = (after - before)[order]
        least = exact_mean(exact_sum(cost[:, 0]), n)
        del before, after, order  # a large table needs the memory
    lam = np.zeros(keys.size + 1)
    np.abs(keys, out=lam[:-1])
    same = max(_SAME, step_keys.precision)
    path_cost, path_accuracy, points = call_all(
        [
            lambda: _running_mean(rise, None, least, n),
            lambda: _running_mean(rise, lam, float(accuracy.mean()), n),
            lambda: _breakpoints(keys, same),
        ],
        size=keys.size,
    )
    return Frontier(
        lam[points],
        path_cost[points],
        path_accuracy[points],
        (acc, cost),
        start,
        lam,
        path_cost,
        path_accuracy,
    )


def _running_mean(rise: np.ndarray, price: np.ndarray | None, first: float, n: int) -> np.ndarray:
    """Mean over n questions after every step of ``rise`` or ``rise * price``, from ``first``."""
    path = np.empty(rise.size + 1)
    path[0] = first
    total = first * n
    for begin in range(0, rise.size, _CHUNK):
        chunk = slice(begin, min(begin + _CHUNK, rise.size))
        added = rise[chunk] if price is None else rise[chunk] * price[chunk]
        means = np.cumsum(added, out=path[1:][chunk])
        means += total
        total = means[-1]
        means /= n
    return path


def _breakpoints(keys: np.ndarray, same: float) -> slice | np.ndarray:
    """Where the price changes: before the first step, between clearly different ones, at the end.

    ``same`` is the relative difference that is not clear.
    """
    changes = np.ones(keys.size + 1, dtype=bool)
    np.greater(keys[1:], keys[:-1] * (1 - same), out=changes[1 : keys.size])
    return slice(None) if changes.all() else changes
