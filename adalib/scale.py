"""The same allocation on Dask, for more questions than one machine holds.

A price settles every question by itself, so a machine needs to see its own questions only. We
announce a price, every partition of the table reports what its questions would spend, and the sum
decides whether the next price is higher or lower: a bisection, each step of which is one
`map_partitions` and a sum.

The search ends at a price at which the budget lies between the cheapest and the most expensive of
the best allocations. Between these two, some questions are tied. They are served in the order in
which `adalib.frontier` serves them, until the next one no longer fits: the one question that a
mixed allocation splits.

Dask reads the files, moves the work to the machines and writes the labels
(``pip install 'adalib[scale]'``).
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd

from adalib.solve.oracle import TIE, chosen, tied_columns
from adalib.table import check_table

if TYPE_CHECKING:
    from distributed import Client

# What a partition reports once its tied steps are served.
_OUTCOME = {
    "cost": float,
    "accuracy": float,
    "id": object,
    "pair": float,
    "rise": float,
    "gain": float,
}


class SplitQuestion(NamedTuple):
    """The one question that a mixed allocation randomises.

    Attributes
    ----------
    id : object
        Its id.
    low, high : int or str
        The two budgets that it gets.
    share : float
        Probability of budget ``high``.
    """

    id: Any
    low: Any
    high: Any
    share: float


@dataclass(frozen=True, eq=False)
class ScaledAllocation:
    """The best allocation of a large table within a budget.

    Attributes
    ----------
    budget : float
        Average cost allowed.
    lam : float
        Price of compute at this budget; 0 if nothing is left to buy.
    cost, accuracy : float
        Averages over the questions, without splitting any.
    bound : float
        What the budget buys once `split` spends the rest of it. No allocation within the budget is
        more accurate.
    labels : dask.dataframe.DataFrame
        Columns ``id`` and ``budget``, in the partitions of the table; computed when asked for, by
        the client that solved the table.
    split : SplitQuestion or None
        The question to randomise so that the expected cost equals the budget.
    """

    budget: float
    lam: float
    cost: float
    accuracy: float
    bound: float
    labels: dd.DataFrame
    split: SplitQuestion | None


def solve(
    table: str | Path | pd.DataFrame | dd.DataFrame,
    budget: float,
    client: Client | str | None = None,
    *,
    out: str | Path | None = None,
) -> ScaledAllocation:
    """Find the best allocation of a table that Dask holds in partitions, within a budget.

    The answer is that of ``adalib.frontier(acc, cost).at(budget)``.

    Parameters
    ----------
    table : path, Dask DataFrame or pandas DataFrame
        A Parquet file or a folder of them, or a frame. One row per question, with a column ``id``
        and a column ``acc_B`` for every budget B, from the cheapest to the most expensive. B is
        the cost, unless there is also a column ``cost_B`` for every budget, for questions that
        pay differently.
    budget : float
        Average cost allowed.
    client : distributed.Client or address of a scheduler, optional
        Where to work. Default: the client that you have started, or else the threads of this
        machine. A client of your own (``distributed.Client()``) also moves partitions to the disk
        when memory runs short.
    out : path, optional
        Folder for the labels, one Parquet file per partition. It must not exist yet.

    Returns
    -------
    ScaledAllocation
        Price, averages, labels, and the question to split.

    Raises
    ------
    ValueError
        If columns are missing, an entry is not valid, or the budget is below the cheapest
        allocation.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": ["a", "b"], "acc_1": [0.1, 0.2], "acc_2": [0.9, 0.6]})
    >>> best = solve(frame, budget=1.75)
    >>> best.cost, best.split
    (1.5, SplitQuestion(id='b', low=1, high=2, share=0.5))
    >>> best.labels.compute()["budget"].tolist()
    [2, 1]
    """
    if out is not None and Path(out).exists():
        raise ValueError(f"{out} exists already; give another folder for the labels, or remove it")
    with _connected(client):
        frame = _as_dask(table)
        layout = _Layout.of(list(frame.columns))
        frame = frame.map_partitions(_checked, layout, meta=frame._meta).persist()
        questions = len(frame)
        limit = budget * questions * (1 + TIE)  # sums of costs are rounded
        least = layout.cheapest(frame)
        if least > limit:
            raise ValueError(
                f"the budget is {budget}; the cheapest allocation costs {least / questions}, "
                "give at least that"
            )
        lam, spent = _price(frame, layout, limit)
        rooms = _rooms(frame, layout, lam, limit - spent)
        outcomes = frame.map_partitions(_outcome, layout, lam, rooms, meta=_OUTCOME).compute()
        kinds = {"id": frame.dtypes["id"], "budget": layout.budgets.dtype}
        labels = frame.map_partitions(_labelled, layout, lam, rooms, meta=kinds)
        if out is not None:
            labels.to_parquet(out, write_index=False)
    cost = min(float(outcomes["cost"].sum()) / questions, float(budget))
    accuracy = float(outcomes["accuracy"].sum()) / questions
    slack = budget - cost
    split = None
    if lam > 0:
        # The first tied step that no longer fits, in the order in which they are served.
        step = outcomes.sort_values("pair", kind="stable").iloc[0]
        lam = float(step["gain"] / step["rise"])
        if slack > 0:
            low, high = layout.budgets[list(divmod(int(step["pair"]), layout.k))].tolist()
            share = min(slack * questions / float(step["rise"]), 1.0)
            split = SplitQuestion(step["id"], low, high, share)
    bound = accuracy + lam * slack
    return ScaledAllocation(budget, lam, cost, accuracy, bound, labels, split)


class _Layout(NamedTuple):
    """The columns of a table: names of the budgets, and their costs unless each row has its own."""

    names: list[str]
    cost: np.ndarray | None

    @classmethod
    def of(cls, columns: list[str]) -> _Layout:
        """Read the budgets from the names of the columns; ValueError if there are none."""
        names = [name.removeprefix("acc_") for name in columns if name.startswith("acc_")]
        if not names or "id" not in columns:
            raise ValueError(
                f"the columns are {', '.join(columns)}; "
                "give a column id, and acc_B for every budget B, such as acc_1, acc_2, acc_4"
            )
        if f"cost_{names[0]}" in columns:
            return cls(names, None)
        try:
            return cls(names, np.array(names, dtype=float))
        except ValueError:
            raise ValueError(
                f"the budgets {', '.join(names)} are not all numbers; "
                "name each column after its cost, or add cost_B for every acc_B"
            ) from None

    @property
    def k(self) -> int:
        """Number of budgets."""
        return len(self.names)

    @property
    def budgets(self) -> np.ndarray:
        """The budgets as they appear among the labels: whole numbers where all of them are."""
        return np.array([int(name) if name.isdigit() else name for name in self.names])

    def cheapest(self, frame: dd.DataFrame) -> float:
        """Return what all questions cost together at their cheapest budget."""
        if self.cost is not None:
            return self.cost[0] * len(frame)
        return frame[f"cost_{self.names[0]}"].sum().compute()

    def arrays(self, partition: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return the accuracies and the costs of one partition."""
        acc = partition[[f"acc_{name}" for name in self.names]].to_numpy(dtype=float)
        if self.cost is not None:
            return acc, self.cost
        return acc, partition[[f"cost_{name}" for name in self.names]].to_numpy(dtype=float)


def _connected(client: Client | str | None) -> AbstractContextManager:
    """Make a client, or one for an address, the one that Dask works with."""
    if client is None:
        return nullcontext()
    if isinstance(client, str):
        from distributed import Client

        return Client(client)
    return client.as_current()


def _as_dask(table: str | Path | pd.DataFrame | dd.DataFrame) -> dd.DataFrame:
    """Open Parquet files, take a pandas frame as one partition, and pass a Dask frame on."""
    if isinstance(table, str | Path):
        return dd.read_parquet(table)
    return table if isinstance(table, dd.DataFrame) else dd.from_pandas(table, npartitions=1)


def _checked(partition: pd.DataFrame, layout: _Layout) -> pd.DataFrame:
    """Return a partition whose entries are valid; ValueError names the first that is not."""
    if len(partition):
        try:
            check_table(*layout.arrays(partition))
        except ValueError as error:
            raise ValueError(
                f"from the row with id {partition['id'].iloc[0]} on: {error}"
            ) from None
    return partition


def _price(frame: dd.DataFrame, layout: _Layout, limit: float) -> tuple[float, float]:
    """Bisect to a price at which the limit lies between the cheapest and the dearest best choices.

    Returns the price, and what the cheapest best choices cost together. The price is 0 if they cost
    at most the limit even then.
    """

    def spending(lam: float) -> np.ndarray:
        meta = {"cheapest": float, "dearest": float}
        return frame.map_partitions(_spending, layout, lam, meta=meta).sum().compute().to_numpy()

    cheapest, _ = spending(0.0)
    if cheapest <= limit:
        return 0.0, cheapest
    low = 0.0
    high = 1.0
    while spending(high)[0] > limit:
        low = high
        high *= 2
    while True:
        lam = (low + high) / 2
        cheapest, dearest = spending(lam)
        if cheapest > limit:
            low = lam
        elif dearest <= limit:
            high = lam
        else:
            return lam, cheapest


def _spending(partition: pd.DataFrame, layout: _Layout, lam: float) -> pd.DataFrame:
    """Sum the costs of the cheapest and of the dearest best choices of a partition."""
    acc, cost = layout.arrays(partition)
    tied = tied_columns(acc, cost, lam)
    cheapest = chosen(cost, tied.argmax(axis=1)).sum()
    dearest = chosen(cost, layout.k - 1 - tied[:, ::-1].argmax(axis=1)).sum()
    return pd.DataFrame({"cheapest": [cheapest], "dearest": [dearest]})


class _TiedSteps(NamedTuple):
    """Steps between the tied columns of a partition, row after row, and a row's own in order."""

    row: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rise: np.ndarray  # in cost
    pair: np.ndarray  # low * k + high: pairs of columns are served in this order


def _tied_steps(acc: np.ndarray, cost: np.ndarray, lam: float) -> tuple[np.ndarray, _TiedSteps]:
    """Return the cheapest best choice of each row, and the steps from there to the dearest."""
    tied = tied_columns(acc, cost, lam)
    row, column = np.nonzero(tied)
    paid = np.broadcast_to(cost, acc.shape)[row, column]
    # Of tied columns that cost the same, only the first is ever chosen.
    is_choice = np.append([True], (row[1:] != row[:-1]) | (paid[1:] > paid[:-1]))[: row.size]
    row = row[is_choice]
    column = column[is_choice]
    paid = paid[is_choice]
    goes_on = np.flatnonzero(row[1:] == row[:-1])
    low = column[goes_on]
    high = column[goes_on + 1]
    rise = paid[goes_on + 1] - paid[goes_on]
    steps = _TiedSteps(row[goes_on], low, high, rise, low * acc.shape[1] + high)
    return tied.argmax(axis=1), steps


def _rooms(frame: dd.DataFrame, layout: _Layout, lam: float, room: float) -> np.ndarray:
    """Return what the tied steps of each partition may cost, for every pair of columns.

    The pairs are served one after the other, and the partitions of a pair in their order. Each
    finds what those before it leave over.
    """
    pairs = layout.k**2
    if lam == 0:
        return np.zeros((frame.npartitions, pairs))  # all that gains anything is bought already
    meta = dict.fromkeys(range(pairs), float)
    wanted = frame.map_partitions(_wanted, layout, lam, meta=meta).compute().to_numpy().T
    before = wanted.cumsum().reshape(wanted.shape) - wanted
    return (room - before).T


def _wanted(partition: pd.DataFrame, layout: _Layout, lam: float) -> pd.DataFrame:
    """Return one row: the cost of all tied steps of a partition, for every pair of columns."""
    _, steps = _tied_steps(*layout.arrays(partition), lam)
    return pd.DataFrame(np.bincount(steps.pair, steps.rise, minlength=layout.k**2)[None])


def _serve(
    acc: np.ndarray, cost: np.ndarray, lam: float, rooms: np.ndarray
) -> tuple[np.ndarray, _TiedSteps]:
    """Take the tied steps that fit into the rooms of one partition.

    Returns the labels, and the steps that are left over.
    """
    labels, steps = _tied_steps(acc, cost, lam)
    taken = np.zeros(steps.row.size, dtype=bool)
    for pair in np.unique(steps.pair):
        of_pair = np.flatnonzero(steps.pair == pair)
        taken[of_pair] = steps.rise[of_pair].cumsum() <= rooms[pair]
    labels[steps.row[taken]] = steps.high[taken]  # of a row's several steps the last remains
    return labels, _TiedSteps(*(values[~taken] for values in steps))


def _outcome(
    partition: pd.DataFrame,
    layout: _Layout,
    lam: float,
    rooms: np.ndarray,
    partition_info: Any = None,
) -> pd.DataFrame:
    """Return one row: the sums over a partition, and the first step that does not fit any more."""
    acc, cost = layout.arrays(partition)
    labels, left = _serve(acc, cost, lam, rooms[partition_info["number"]])
    row = {"cost": chosen(cost, labels).sum(), "accuracy": chosen(acc, labels).sum()}
    if left.pair.size:
        first = left.pair.argmin()
        question = left.row[first]
        row["id"] = partition["id"].iloc[question]
        row["pair"] = left.pair[first]
        row["rise"] = left.rise[first]
        row["gain"] = acc[question, left.high[first]] - acc[question, left.low[first]]
    return pd.DataFrame([row], columns=list(_OUTCOME))


def _labelled(
    partition: pd.DataFrame,
    layout: _Layout,
    lam: float,
    rooms: np.ndarray,
    partition_info: Any = None,
) -> pd.DataFrame:
    """Return the ids of a partition with their budgets."""
    labels, _ = _serve(*layout.arrays(partition), lam, rooms[partition_info["number"]])
    return partition[["id"]].assign(budget=layout.budgets[labels])
