"""The integer optimum: the best allocation of all that splits no question.

The frontier gives an allocation within the budget and an upper bound; between them lies a gap, at
most price times slack. Whatever net value a choice gives up, it gives up against the bound, so a
choice that gives up more than the gap is part of no optimum. A dynamic programme therefore opens
the questions in the order of what their second-best choice gives up, least first. It keeps the
pairs of (cost, loss) that no other pair beats on both, and stops once the gap is closed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adalib.solve.frontier import Allocation, Frontier
from adalib.solve.oracle import average
from adalib.table import takes_table
from adalib.tolerances import TIE


class IntegerOptimum(NamedTuple):
    """The best allocation that splits no question.

    Attributes
    ----------
    labels : ndarray of int, shape (N,)
        Column given to each question.
    cost, accuracy : float
        Averages over the questions.
    bound : float
        What the relaxed problem attains; ``bound - accuracy`` is the duality gap.
    open_rows : int
        Questions that the dynamic programme had to open before the gap was closed.
    """

    labels: np.ndarray
    cost: float
    accuracy: float
    bound: float
    open_rows: int


@takes_table
def integer_optimum(acc: np.ndarray, cost: np.ndarray, budget: float) -> IntegerOptimum:
    r"""Find the most accurate allocation within the budget, one budget per question, exactly.

    .. math:: \max_j \frac1N \sum_i acc_{i j_i}
              \quad\text{with}\quad \frac1N \sum_i cost_{i j_i} \le B

    With whole costs the work is bounded by (open questions) x (distinct sums of cost). With other
    costs the result is exact too, up to the rounding of sums, but only the pruning keeps the work
    small: this multiple-choice knapsack problem [1]_ is NP-hard once the number of budgets, or one
    cost list per question, is part of the input. Explained in the chapter "Duality".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1]. A `UtilityTable` may take the place of
        ``acc`` and ``cost``.
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    budget : float
        Average cost allowed, B.

    Returns
    -------
    IntegerOptimum
        Labels, averages, and the bound of the relaxed problem.

    Raises
    ------
    ValueError
        If the budget is below the cheapest allocation.

    See Also
    --------
    frontier : The relaxed problem, for every budget.

    References
    ----------
    .. [1] P. Sinha and A. A. Zoltners, "The multiple-choice knapsack problem", Operations
       Research 27 (1979).

    Examples
    --------
    >>> best = integer_optimum([[0.0, 0.9, 1.0], [0.0, 0.0, 0.8]], cost=[0, 3, 4], budget=2)
    >>> best.labels, best.cost, best.accuracy, round(best.bound, 3)
    (array([2, 0]), 2.0, 0.5, 0.55)
    """
    start = Frontier.of(acc, cost).at(budget)
    changes = _improve(acc, np.broadcast_to(cost, acc.shape), start)
    labels = start.labels.copy()
    for row, column in changes:
        labels[row] = column
    return IntegerOptimum(
        labels, average(cost, labels), average(acc, labels), start.bound, len(changes)
    )


def _improve(acc: np.ndarray, cost: np.ndarray, start: Allocation) -> list[tuple[int, int]]:
    """Return the opened rows, each with its best column, that lead from ``start`` to the optimum.

    Sums are counted from the starting allocation: it spends nothing, loses nothing, and may still
    spend ``room``. An allocation that spends s more and loses l gains ``lam * s - l`` in accuracy,
    and none gains more than ``lam * room``.
    """
    lam = start.lam
    room = len(acc) * (start.slack + TIE * start.budget)
    largest_gap = lam * room
    loss, extra = _against(acc, cost, start)
    second = _second_best(loss, start.labels)
    rows = np.argsort(second, kind="stable")
    rows = rows[second[rows] <= largest_gap + TIE]
    # The most that the rows not opened yet could still save (a negative extra cost).
    saving = np.where(loss[rows] <= largest_gap + TIE, extra[rows], 0.0).min(axis=1)
    still_saved = np.append(np.cumsum(saving[::-1])[::-1], 0.0)[1:]
    spent = np.zeros(1)  # one entry per undominated state
    lost = np.zeros(1)
    history = []  # per opened row: the state that each state came from, and the column it chose
    for row, saved_later in zip(rows, still_saved, strict=True):
        gap = largest_gap - np.max((lam * spent - lost)[spent <= room])
        if gap <= TIE or second[row] > gap + TIE:
            break  # no choice of this row, or of any later one, can be part of a better allocation
        options = np.flatnonzero(loss[row] <= gap + TIE)
        # Every state with every option: new state s comes from state s // options.size.
        new_spent = np.add.outer(spent, extra[row, options]).ravel()
        new_lost = np.add.outer(lost, loss[row, options]).ravel()
        possible = (new_lost <= gap + TIE) & (new_spent + saved_later <= room)
        kept = _undominated(new_spent, lam * new_spent - new_lost, np.flatnonzero(possible))
        spent = new_spent[kept]
        lost = new_lost[kept]
        history.append((row, kept // options.size, options[kept % options.size]))
    state = int(np.argmax(np.where(spent <= room, lam * spent - lost, -np.inf)))
    changes = []
    for row, parents, columns in reversed(history):
        changes.append((row, columns[state]))
        state = parents[state]
    return changes


def _against(acc: np.ndarray, cost: np.ndarray, start: Allocation) -> tuple[np.ndarray, np.ndarray]:
    """Return the net value lost and cost added by every column, compared with the labels."""
    base = start.labels[:, None]
    net = acc - start.lam * cost
    loss = np.maximum(np.take_along_axis(net, base, axis=1) - net, 0.0)
    extra = cost - np.take_along_axis(cost, base, axis=1)
    return loss, extra


def _second_best(loss: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the smallest loss of every row among the columns that it does not have."""
    others = loss.copy()
    np.put_along_axis(others, labels[:, None], np.inf, axis=1)
    return others.min(axis=1)


def _undominated(spent: np.ndarray, gain: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Keep the states that gain more than every cheaper one, ordered by what they spend."""
    states = states[np.lexsort((-gain[states], spent[states]))]
    best_before = np.maximum.accumulate(gain[states])[:-1]
    return states[np.append(True, gain[states[1:]] > best_before)]
