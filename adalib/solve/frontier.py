"""The exact frontier: the best accuracy for every budget at once, from one sort.

Draw a question's accuracy against its cost. Only the corners of the upper concave envelope can win
at some price, and that price is the slope from one corner to the next, the gain per unit of cost.
Sort those steps of all questions together, the steepest first. Every prefix of the sorted list is
the oracle's allocation at some price, so the running sums of cost and gain are the whole frontier.

The chapter "Budgets" writes that out in twenty-five lines, and the tests compare the two. This
module differs from those lines in three ways, all of them for speed. All questions walk along their
envelopes together (`adalib.solve.hull`). A step is one number, its slope with the columns in its
last bits, so that millions are sorted as plain numbers. And only those sums are kept: labels, and
the question to split, are worked out for a budget when somebody asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from adalib.solve.hull import HullSteps, hull_steps
from adalib.solve.oracle import average
from adalib.table import takes_table
from adalib.tolerances import TIE, meets, within


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
    _steps: HullSteps = field(repr=False)
    _path_keys: np.ndarray = field(repr=False)  # of all steps, sorted; then 0
    _path_cost: np.ndarray = field(repr=False)  # average cost before each step, and after the last
    _path_accuracy: np.ndarray = field(repr=False)

    @classmethod
    def of(cls, acc: np.ndarray, cost: np.ndarray) -> Frontier:
        """Build the frontier of a checked table."""
        steps = hull_steps(acc, cost)
        path_keys = np.zeros(steps.keys.size + 1)
        keys = path_keys[:-1]
        if cost.ndim == 1:
            keys[:] = steps.keys
            keys.sort()
            extra = (cost[steps.codes.high] - cost[steps.codes.low]).take(steps.codes.read(keys))
        else:
            order = _order(steps.keys)
            steps.keys.take(order, out=keys, mode="clip")  # the default would copy once more
            extra = _own_extras(steps, cost).take(order)
        n = len(acc)
        path_cost = _running_mean(float(cost[..., 0].mean()), extra, n)
        gain = np.multiply(np.negative(keys), extra, out=extra)  # a key is minus a slope
        path_accuracy = _running_mean(average(acc, steps.start), gain, n)
        points = _breakpoints(keys, max(TIE, steps.codes.precision))
        return cls(
            np.abs(path_keys[points]),
            path_cost[points],
            path_accuracy[points],
            steps,
            path_keys,
            path_cost,
            path_accuracy,
        )

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
        if isinstance(budget, str):
            raise ValueError(f"the budget is the text {budget!r}; give a number, without quotes")
        if not np.isfinite(budget):
            raise ValueError(f"the budget is {budget}; give a finite number")
        budget = float(budget)
        least = float(self.cost[0])
        if not meets(budget, least):
            raise ValueError(
                f"the budget is {budget!r}; the cheapest allocation costs {least!r}, "
                "give at least that"
            )
        path = self._path_cost
        # A budget that equals one of these averages up to rounding counts as that average.
        steps = max(int(path.searchsorted(within(budget), side="right")) - 1, 0)
        cost = min(float(path[steps]), budget)
        accuracy = float(self._path_accuracy[steps])
        lam = abs(float(self._path_keys[steps]))
        bound = accuracy + lam * (budget - cost)
        return Allocation(budget, lam, cost, accuracy, bound, self, steps)

    def _labels(self, count: int) -> np.ndarray:
        """Return the column of each question after the first ``count`` steps."""
        steps = self._steps
        labels = steps.start.copy()
        if count == 0:
            return labels
        last_key = self._path_keys[count - 1]
        taken = steps.keys < last_key
        # Of the steps with the last key itself, as many as fit, in the order of the rows.
        tied = np.flatnonzero(steps.keys == last_key)
        taken[tied[: count - int(self._path_keys.searchsorted(last_key))]] = True
        # A question's steps are in order, so the last one that is taken remains.
        labels[steps.rows[taken]] = steps.codes.high.take(steps.codes.read(steps.keys[taken]))
        return labels


@takes_table
def frontier(acc: np.ndarray, cost: np.ndarray, *, any_scale: bool = False) -> Frontier:
    r"""Solve the allocation problem for every budget at once, exactly.

    For every average budget B this is the relaxed problem

    .. math:: \max \frac1N \sum_i \sum_j p_{ij}\, acc_{ij}
              \quad\text{with}\quad \frac1N \sum_i \sum_j p_{ij}\, cost_{ij} \le B,

    where each row of p is a distribution over the budgets. Explained in the chapter "Budgets". More
    rows than fit into memory: ``examples/scale_dask.py`` finds the same with Dask.

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. Gains of at most 1e-12 count as none.
        A `UtilityTable` may take the place of ``acc`` and ``cost``, as in ``frontier(table)``.
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
    return Frontier.of(acc, cost)


def _running_mean(first: float, added: np.ndarray, n: int) -> np.ndarray:
    """Return the mean over n questions before the first step and after every step."""
    total = np.empty(added.size + 1)
    total[0] = first * n
    total[1:] = added
    np.cumsum(total, out=total)
    total /= n
    return total


def _own_extras(steps: HullSteps, cost: np.ndarray) -> np.ndarray:
    """Return what every step adds to the cost of its question, where each has its own costs."""
    code = steps.codes.read(steps.keys)
    row_begins = steps.rows * cost.shape[1]
    paid_before = cost.take(row_begins + steps.codes.low.take(code))
    return cost.take(row_begins + steps.codes.high.take(code)) - paid_before


def _order(keys: np.ndarray) -> np.ndarray:
    """Return the positions of the keys in increasing order, those of equal keys as they come."""
    # Sorting numbers is several times faster than sorting positions by their numbers. So write each
    # position into the last bits of its key, and sort these. Of two negative numbers the one with
    # the larger bits is the smaller, so the positions are counted down.
    mask = (1 << keys.size.bit_length()) - 1
    with_position = (keys.view(np.int64) | mask) - np.arange(keys.size)
    with_position.view(float).sort()
    order = mask - (with_position & mask)
    # Only keys that differ in those bits alone may be out of order, and a stable sort of numbers
    # that are nearly in order is quick.
    nearly_sorted = keys.take(order)
    if (nearly_sorted[1:] < nearly_sorted[:-1]).any():
        order = order.take(np.argsort(nearly_sorted, kind="stable"))
    return order


def _breakpoints(keys: np.ndarray, same: float) -> np.ndarray | slice:
    """Mark where the price changes: before the first step, between different ones, at the end.

    ``same`` is the relative difference up to which two prices are one.
    """
    changes = np.ones(keys.size + 1, dtype=bool)
    np.greater(keys[1:], keys[:-1] * (1 - same), out=changes[1 : keys.size])
    return slice(None) if changes.all() else changes
