"""The utility table: what each question gains, and pays, at each budget.

Everything in the book starts from this pair of arrays; a broken one is refused here, so that no solver looks twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["ARCHETYPES", "UtilityTable", "archetypes", "check_table"]

ARCHETYPES = ("easy", "responsive", "diminishing", "hard")


@dataclass(frozen=True, eq=False, init=False)
class UtilityTable:
    """Accuracy and cost of every question at every budget.

    Explained in chapter 2, "The oracle".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1].
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, the same for all questions or one row per question: never negative, never falling in a row.
    budgets : sequence of K distinct labels, optional
        What the columns are called. Default: the costs, when they are one increasing row of whole numbers; else 1..K.
    ids : sequence of N distinct names, optional
        What the rows are called. Default: "0" to "N-1".

    Attributes
    ----------
    acc, cost : ndarray
        Read-only float64 arrays, sharing memory with the input where that was float64 already.
    budgets, ids : tuple

    Examples
    --------
    >>> table = UtilityTable([[0.5, 0.9], [0.2, 0.2]], cost=[1, 4])
    >>> table.n, table.k, table.budgets, table.ids
    (2, 2, (1, 4), ('0', '1'))
    """

    acc: np.ndarray
    cost: np.ndarray
    budgets: tuple
    ids: tuple[str, ...]

    def __init__(
        self, acc: ArrayLike, cost: ArrayLike, budgets: Sequence | None = None, ids: Iterable | None = None
    ) -> None:
        acc, cost = (array.view() for array in check_table(acc, cost))
        acc.flags.writeable = cost.flags.writeable = False
        n, k = acc.shape
        if budgets is None:
            plain = cost.ndim == 1 and (cost == np.round(cost)).all() and (np.diff(cost) > 0).all()
            budgets = cost.astype(int).tolist() if plain else range(1, k + 1)
        vars(self).update(
            acc=acc,
            cost=cost,
            budgets=_labels(budgets, k, "budgets", "column"),
            ids=_labels([str(name) for name in (range(n) if ids is None else ids)], n, "ids", "row"),
        )

    @property
    def n(self) -> int:
        """Number of questions."""
        return self.acc.shape[0]

    @property
    def k(self) -> int:
        """Number of budgets."""
        return self.acc.shape[1]

    def take(self, rows: ArrayLike) -> UtilityTable:
        """Keep some questions, by row number and in the order given."""
        rows = np.asarray(rows)
        cost = self.cost if self.cost.ndim == 1 else self.cost[rows]
        return UtilityTable(self.acc[rows], cost, self.budgets, [self.ids[row] for row in rows])


def archetypes(table: UtilityTable) -> np.ndarray:
    """Name the shape of every question's curve: easy, responsive, diminishing or hard.

    Easy: right three times in four at the first budget. Hard: never above one in four. Responsive: neither, and still
    gains at least 0.10 beyond a budget of 4. Diminishing: neither, and what it gains it has gained by then. The borders
    are a convention. Explained in chapter 1, "Four kinds of question".

    Parameters
    ----------
    table : UtilityTable
        With numbers as budgets, at least one of them 4 or more.

    Returns
    -------
    ndarray of str, shape (N,)

    Examples
    --------
    >>> acc = [[0.9, 1.0, 1.0], [0.4, 0.6, 0.9], [0.5, 0.7, 0.7], [0.1, 0.1, 0.0]]
    >>> archetypes(UtilityTable(acc, cost=[1, 4, 16])).tolist()
    ['easy', 'responsive', 'diminishing', 'hard']
    """
    from_four = [column for column, budget in enumerate(table.budgets) if budget >= 4]
    if not from_four:
        raise ValueError(f"the largest budget is {table.budgets[-1]}; give one of 4 or more to tell the kinds apart")
    first, four, last = table.acc[:, 0], table.acc[:, from_four[0]], table.acc[:, -1]
    conditions = [first >= 0.75, table.acc.max(axis=1) < 0.25, last - four >= 0.10]
    return np.select(conditions, ["easy", "hard", "responsive"], default="diminishing")


def check_table(acc: ArrayLike, cost: ArrayLike, any_scale: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Accuracy (or, on ``any_scale``, any finite values) and cost as valid float64 arrays, copied only if they must."""
    acc, cost = _floats(acc, "acc"), _floats(cost, "cost")
    if acc.ndim != 2 or 0 in acc.shape:
        mend = "give one row per question and one column a budget, at least one each"
        raise ValueError(f"acc has shape {acc.shape}; {mend}")
    n, k = acc.shape
    if cost.shape not in ((k,), (n, k)):
        raise ValueError(f"cost has shape {cost.shape}; for acc of shape {acc.shape} give shape ({k},) or ({n}, {k})")
    # min and max carry a NaN along, so two passes settle the whole array; only a broken one is searched for the place.
    if any_scale:
        if not np.isfinite(acc).all():
            place = _first(~np.isfinite(acc))
            raise ValueError(f"the value at {list(place)} is {acc[place]:g}; every value must be a finite number")
    elif not (acc.min() >= 0 and acc.max() <= 1):
        place = _first(~((acc >= 0) & (acc <= 1)))
        raise ValueError(f"acc{list(place)} is {acc[place]:g}; give a number from 0 to 1, or drop row {place[0]}")
    if not (cost.min() >= 0 and cost.max() < np.inf):
        place = _first(~((cost >= 0) & (cost < np.inf)))
        raise ValueError(f"cost{list(place)} is {cost[place]:g}; every cost must be a finite number, 0 or more")
    falls = np.zeros(cost.shape, dtype=bool)
    np.less(cost.ravel()[1:], cost.ravel()[:-1], out=falls.ravel()[:-1])  # in one go, not five numbers a row at a time
    falls[..., -1] = False  # a row may begin below the end of the one before
    if falls.any():
        *row, j = _first(falls)
        before, after = (*row, j), (*row, j + 1)
        raise ValueError(
            f"cost{list(after)} is {cost[after]:g}, less than the {cost[before]:g} in column {j}; "
            "order the columns from the cheapest budget to the dearest"
        )
    return acc, cost


def _floats(values: ArrayLike, name: str) -> np.ndarray:
    mend = f"{name} must be a rectangle of plain numbers"
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{mend}; numpy says: {str(error).splitlines()[0]}") from None
    raise ValueError(f"{mend}, not of {array.dtype}")


def _first(bad: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(bad.argmax(), bad.shape))


def _labels(labels: Sequence, size: int, name: str, axis: str) -> tuple:
    """Labels name rows and columns in every answer that is printed, so two of the same would hide one."""
    labels = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    if len(labels) != size:
        raise ValueError(f"{name} has {len(labels)} entries; give {size}, one a {axis}")
    if len(set(labels)) != size:
        twice, _ = Counter(labels).most_common(1)[0]
        raise ValueError(f"{name} holds {twice!r} twice; give every {axis} its own name")
    return labels
