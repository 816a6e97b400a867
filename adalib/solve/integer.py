"""The integer optimum: the best allocation of all that splits no question.

The frontier gives an allocation within the budget and a bound that nothing beats; between them lies a gap, at most
price times slack. What a choice gives up in net value it gives up against the bound, so a choice that gives up more
than the gap is in no optimum. A dynamic programme therefore takes the questions by what their second best choice gives
up, least first, keeps the sums of cost and loss that no other pair beats on both, and stops once the gap is closed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.solve.frontier import Allocation, frontier
from adalib.solve.oracle import average
from adalib.table import check_table

__all__ = ["IntegerOptimum", "integer_optimum"]

_ROOM = 1e-12  # losses and, relative to the budget, costs that differ by less are equal


class IntegerOptimum(NamedTuple):
    """The best allocation that splits no question, and its averages over the questions."""

    labels: np.ndarray  # column given to each question
    cost: float
    accuracy: float
    bound: float  # what the relaxed problem attains; bound - accuracy is the duality gap
    open_rows: int  # questions the dynamic programme had to open before the gap was closed


def integer_optimum(acc: ArrayLike, cost: ArrayLike, budget: float) -> IntegerOptimum:
    """Find the most accurate allocation within the budget, one budget per question, exactly.

    With whole costs the work is bounded by (open questions) x (distinct sums of cost); with other costs it is exact
    too, up to the rounding of sums, but only the pruning keeps it small: the problem is NP-hard once the number
    of budgets, or one cost list per question, is part of the input. Explained in chapter 3, "Budgets".

    Parameters
    ----------
    acc, cost
        As for `oracle_labels`.
    budget : float
        Average cost allowed.

    Examples
    --------
    >>> best = integer_optimum([[0.0, 0.9, 1.0], [0.0, 0.0, 0.8]], cost=[0, 3, 4], budget=2)
    >>> best.labels, best.cost, best.accuracy, round(best.bound, 3)
    (array([2, 0]), 2.0, 0.5, 0.55)
    """
    acc, cost = check_table(acc, cost)
    start = frontier(acc, cost).at(budget)
    changes = _improve(acc, np.broadcast_to(cost, acc.shape), start)
    labels = start.labels.copy()
    for row, column in changes:
        labels[row] = column
    return IntegerOptimum(labels, average(cost, labels), average(acc, labels), start.bound, len(changes))


def _improve(acc: np.ndarray, cost: np.ndarray, start: Allocation) -> list[tuple[int, int]]:
    """The labels of the rows that had to be opened to get from the frontier's allocation to the optimum.

    Sums are counted from that allocation: it spends nothing, loses nothing, and may still spend ``room``. An allocation
    that spends s and loses l is worth ``lam * s - l`` more accuracy; none is worth more than ``lam * room``."""
    n, lam, base = len(acc), start.lam, start.labels[:, None]
    room = n * (start.slack + _ROOM * start.budget)
    net = acc - lam * cost
    loss = np.maximum(np.take_along_axis(net, base, axis=1) - net, 0.0)
    extra = cost - np.take_along_axis(cost, base, axis=1)
    others = loss.copy()
    np.put_along_axis(others, base, np.inf, axis=1)
    second = others.min(axis=1)
    rows = np.argsort(second, kind="stable")
    rows = rows[second[rows] <= lam * room + _ROOM]
    # The most that the rows not opened yet could still save.
    saving = np.where(loss[rows] <= lam * room + _ROOM, extra[rows], 0.0).min(axis=1)
    still = np.append(np.cumsum(saving[::-1])[::-1], 0.0)[1:]
    spent, lost, history = np.zeros(1), np.zeros(1), []
    for row, later in zip(rows, still, strict=True):
        gap = lam * room - np.max((lam * spent - lost)[spent <= room])
        if gap <= _ROOM or second[row] > gap + _ROOM:
            break
        options = np.flatnonzero(loss[row] <= gap + _ROOM)
        more_spent = np.add.outer(spent, extra[row, options]).ravel()
        more_lost = np.add.outer(lost, loss[row, options]).ravel()
        worth = lam * more_spent - more_lost
        kept = np.flatnonzero((more_lost <= gap + _ROOM) & (more_spent + later <= room))
        kept = kept[np.lexsort((-worth[kept], more_spent[kept]))]
        kept = kept[np.append(True, worth[kept[1:]] > np.maximum.accumulate(worth[kept])[:-1])]
        spent, lost = more_spent[kept], more_lost[kept]
        history.append((row, kept // options.size, options[kept % options.size]))
    state = int(np.argmax(np.where(spent <= room, lam * spent - lost, -np.inf)))
    changes = []
    for row, parents, columns in reversed(history):
        changes.append((row, columns[state]))
        state = parents[state]
    return changes
