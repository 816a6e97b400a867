"""The utility table: what each question gains and pays at each budget.

Everything in the book starts from this pair of arrays. A broken one is refused here, so that no
solver has to check again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike

#: The paper's menu: numbers of answers on offer, which its own baselines keep.
PAPER_MENU = (1, 2, 4, 8, 16)
#: What we offer to policies that plan. Three and four are in it, since most gains are read there.
NUMBERS = (1, 2, 3, 4, 5, 7, 9, 12, 16)

ARCHETYPES = ("easy", "responsive", "diminishing", "hard")

_TWO_COSTS = "a UtilityTable has its own costs; leave out cost"

_Options = ParamSpec("_Options")
_Result = TypeVar("_Result", covariant=True)


@dataclass(frozen=True, eq=False, init=False)
class UtilityTable:
    """Accuracy and cost of every question at every budget.

    Explained in the chapter "Is a gain real?".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1].
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, the same for all questions or one row per question. Costs are never
        negative and never fall along a row.
    budgets : sequence of K distinct labels, optional
        Names of the columns. Default: the costs, if they are one increasing row of whole numbers,
        else 1 to K.
    ids : sequence of N distinct names, optional
        Names of the rows. Default: "0" to "N-1".

    Attributes
    ----------
    acc : ndarray, shape (N, K)
        Accuracies, read-only float64; shares memory with the input if that was float64 already.
    cost : ndarray, shape (K,) or (N, K)
        Costs, likewise.
    budgets : tuple
        Names of the columns.
    ids : tuple of str
        Names of the rows.
    n, k : int
        Number of questions and of budgets.

    Raises
    ------
    ValueError
        If an entry is invalid; the message names its place and the mend.

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
        self,
        acc: ArrayLike,
        cost: ArrayLike,
        budgets: Sequence | None = None,
        ids: Iterable | None = None,
    ) -> None:
        acc, cost = (array.view() for array in check_table(acc, cost))
        acc.flags.writeable = cost.flags.writeable = False
        n, k = acc.shape
        if budgets is None:
            whole = cost.ndim == 1 and (cost == np.round(cost)).all()
            increasing = (np.diff(cost) > 0).all()
            budgets = cost.astype(int).tolist() if whole and increasing else range(1, k + 1)
        names = [str(name) for name in (range(n) if ids is None else ids)]
        vars(self).update(
            acc=acc,
            cost=cost,
            budgets=_checked_labels(budgets, k, "budgets", "column"),
            ids=_checked_labels(names, n, "ids", "row"),
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
        """Return the table of some questions, given by row number, in that order."""
        rows = np.asarray(rows)
        cost = self.cost if self.cost.ndim == 1 else self.cost[rows]
        return UtilityTable(self.acc[rows], cost, self.budgets, [self.ids[row] for row in rows])


def archetypes(table: UtilityTable) -> np.ndarray:
    """Name the shape of every question's curve: easy, responsive, diminishing or hard.

    An easy question has an accuracy of at least 0.75 at the first budget, a hard one is below 0.25
    at every budget. Of the others, a responsive one gains at least 0.10 beyond a budget of 4, and a
    diminishing one does not. The borders are a convention. Explained in the chapter "Four kinds of
    question".

    Parameters
    ----------
    table : UtilityTable
        Its budgets are numbers, at least one of them 4 or more.

    Returns
    -------
    ndarray of str, shape (N,)
        "easy", "responsive", "diminishing" or "hard" for each question.

    Raises
    ------
    ValueError
        If all budgets are below 4.

    Examples
    --------
    >>> acc = [[0.9, 1.0, 1.0], [0.4, 0.6, 0.9], [0.5, 0.7, 0.7], [0.1, 0.1, 0.0]]
    >>> archetypes(UtilityTable(acc, cost=[1, 4, 16])).tolist()
    ['easy', 'responsive', 'diminishing', 'hard']
    """
    from_four = [column for column, budget in enumerate(table.budgets) if budget >= 4]
    if not from_four:
        raise ValueError(
            f"the largest budget is {table.budgets[-1]}; "
            "give one of 4 or more to tell the kinds apart"
        )
    easy = table.acc[:, 0] >= 0.75
    hard = table.acc.max(axis=1) < 0.25
    responsive = table.acc[:, -1] - table.acc[:, from_four[0]] >= 0.10
    conditions = [easy, hard, responsive]
    return np.select(conditions, ["easy", "hard", "responsive"], default="diminishing")


class TableFunction(Protocol[_Options, _Result]):
    """A function of accuracies and costs, or of a `UtilityTable` in their place."""

    @overload
    def __call__(
        self, table: UtilityTable, /, *args: _Options.args, **options: _Options.kwargs
    ) -> _Result: ...

    @overload
    def __call__(
        self, acc: ArrayLike, cost: ArrayLike, /, *args: _Options.args, **options: _Options.kwargs
    ) -> _Result: ...


def takes_table(
    function: Callable[Concatenate[np.ndarray, np.ndarray, _Options], _Result],
) -> TableFunction[_Options, _Result]:
    """Let a function of checked arrays be called with any arrays, or with a `UtilityTable`.

    So ``frontier(table)`` is ``frontier(table.acc, table.cost)``. Arrays are checked here, once; a
    `UtilityTable` is checked already. Sampled answers give the table of their own method.
    """

    @wraps(function)
    def checked(acc: Any, *args: Any, **options: Any) -> Any:
        acc = _table_of(acc)
        if isinstance(acc, UtilityTable):
            if "cost" in options:
                raise ValueError(f"{_TWO_COSTS}, or name what you mean, such as budget")
            return function(acc.acc, acc.cost, *args, **options)
        if not args:
            args = (options.pop("cost", None),)
        arrays = check_table(acc, args[0], options.get("any_scale", False))
        return function(*arrays, *args[1:], **options)

    return cast("TableFunction[_Options, _Result]", checked)


def arrays_of(acc: ArrayLike | UtilityTable, cost: ArrayLike | None) -> tuple[np.ndarray, ...]:
    """Return checked accuracies and costs, of arrays or of the table in place of the first."""
    acc = _table_of(acc)
    if isinstance(acc, UtilityTable):
        if cost is not None:
            raise ValueError(_TWO_COSTS)
        return acc.acc, acc.cost
    if cost is None:
        raise ValueError("there are no costs; give a UtilityTable, or accuracies and their costs")
    return check_table(acc, cost)


def _table_of(acc: Any) -> Any:
    """Return the table that `Responses` or a `Menu` estimate; anything else as it is."""
    if not (hasattr(acc, "table") and hasattr(acc, "samples")):
        return acc
    return acc.table([budget for budget in (1, 2, 4, 8, 16) if budget <= acc.samples])


def check_table(
    acc: ArrayLike, cost: ArrayLike, any_scale: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return accuracies and costs as valid float64 arrays, copied only if necessary.

    With ``any_scale`` the values may be any finite numbers. ValueError names the faulty entry.
    """
    acc = _floats(acc, "acc")
    cost = _floats(cost, "cost")
    if acc.ndim != 2 or 0 in acc.shape:
        raise ValueError(
            f"acc has shape {acc.shape}; "
            "give one row per question and one column per budget, at least one each"
        )
    n, k = acc.shape
    if cost.shape not in ((k,), (n, k)):
        raise ValueError(
            f"cost has shape {cost.shape}; "
            f"for acc of shape {acc.shape} give shape ({k},) or ({n}, {k})"
        )
    _check_values(acc, any_scale)
    _check_costs(cost)
    return acc, cost


def _check_values(acc: np.ndarray, any_scale: bool) -> None:
    """Raise ValueError for an accuracy outside [0, 1], or, on any scale, not finite."""
    # min and max pass a NaN on, so two passes check the whole array; only a broken one is searched.
    if any_scale:
        if not np.isfinite(acc).all():
            place = _first(~np.isfinite(acc))
            raise ValueError(
                f"the value at {list(place)} is {acc[place]:g}; every value must be a finite number"
            )
    elif not (acc.min() >= 0 and acc.max() <= 1):
        place = _first(~((acc >= 0) & (acc <= 1)))
        raise ValueError(
            f"acc{list(place)} is {acc[place]:g}; give a number from 0 to 1, or drop row {place[0]}"
        )


def _check_costs(cost: np.ndarray) -> None:
    """Raise ValueError for a cost that is negative, not finite, or below the one before."""
    if not (cost.min() >= 0 and cost.max() < np.inf):
        place = _first(~((cost >= 0) & (cost < np.inf)))
        raise ValueError(
            f"cost{list(place)} is {cost[place]:g}; every cost must be a finite number, 0 or more"
        )
    falls = np.zeros(cost.shape, dtype=bool)
    # All rows as one long row, which is faster than comparing along short rows.
    np.less(cost.ravel()[1:], cost.ravel()[:-1], out=falls.ravel()[:-1])
    falls[..., -1] = False  # a row may begin below the end of the one before
    if falls.any():
        *row, j = _first(falls)
        before = (*row, j)
        after = (*row, j + 1)
        raise ValueError(
            f"cost{list(after)} is {cost[after]:g}, less than the {cost[before]:g} in column {j}; "
            "order the columns from the cheapest budget to the most expensive"
        )


def _floats(values: Any, name: str) -> np.ndarray:
    """Return numbers as float64; ValueError for texts, dates and ragged lists."""
    mend = f"{name} must be a rectangle of plain numbers"
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if "inhomogeneous" in str(error):  # numpy's word for rows of different lengths
            lengths = [len(row) if hasattr(row, "__len__") else 0 for row in values]
            odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
            mend += f"; row {odd} has length {lengths[odd]} and row 0 length {lengths[0]}"
            raise ValueError(mend) from None
        raise ValueError(f"{mend}; numpy says: {str(error).splitlines()[0]}") from None
    raise ValueError(f"{mend}, not of {array.dtype}")


def _first(bad: np.ndarray) -> tuple[int, ...]:
    """Return the place of the first True."""
    return tuple(int(i) for i in np.unravel_index(bad.argmax(), bad.shape))


def _checked_labels(labels: Sequence, size: int, name: str, axis: str) -> tuple:
    """Return labels as a tuple; they name rows or columns in every output, so none may repeat."""
    labels = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    if len(labels) != size:
        raise ValueError(f"{name} has {len(labels)} entries; give {size}, one per {axis}")
    if len(set(labels)) != size:
        repeated, _ = Counter(labels).most_common(1)[0]
        raise ValueError(f"{name} holds {repeated!r} twice; give every {axis} its own name")
    return labels
