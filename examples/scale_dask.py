"""The best allocation of a table that does not fit into memory, with Dask.

Most tables fit: `adalib.frontier` solved ten million questions at five budgets in three to ten
seconds and 1.4 to 4 GB, the table included. This is for a table with more rows than memory, and
takes ten times as long or more.

A price settles nearly every question by itself. So we look for two prices, a dear one at which the
budget is kept and a cheap one at which it is not, that leave few questions undecided. Each step of
that search passes once over the files. `frontier` then solves the undecided questions alone, with
what the others leave of the budget. Its rule for ties is the only one, so the result is the one
that it gives for the whole table. The undecided questions must fit into memory; where accuracies
are rounded, these are at least all those that are tied at the last price.

    pip install "dask[dataframe]" pyarrow
    python examples/scale_dask.py TABLE BUDGET LABELS

TABLE is a Parquet file or a folder of them, one row per question: a column ``id``, and a column
``acc_B`` for every budget B, from the cheapest to the dearest. B is the cost, unless there is a
column ``cost_B`` for each. LABELS is a new folder, which gets the columns ``id`` and ``budget``.
With a client of `distributed`, the same lines run on several machines.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd

from adalib import frontier, oracle_labels

FEW = 500_000  # undecided questions that are solved in memory
SAME = 1e-6  # relative difference of two prices between which nearly all steps are tied
DEAREST = 1e12  # a price at which nothing is bought that costs anything
ROUNDED = 1e-12  # sums of costs are


class ScaledAllocation(NamedTuple):
    """What `adalib.frontier(acc, cost).at(budget)` returns, by id."""

    lam: float
    cost: float
    accuracy: float
    bound: float
    labels: dd.DataFrame  # columns id and budget, computed when asked for
    split: tuple[Any, Any, Any, float] | None  # id, the two budgets, share of the dearer one


class Prices(NamedTuple):
    """A price at which the budget is kept, and one at which it is not."""

    dear: float
    cheap: float


def solve(table: str | Path | dd.DataFrame, budget: float) -> ScaledAllocation:
    """Find the best allocation that costs at most ``budget`` on average."""
    frame = table if isinstance(table, dd.DataFrame) else dd.read_parquet(table)
    names = budget_names(frame)
    n = len(frame)
    if not n or not np.isfinite(budget):
        raise ValueError(f"the table has {n} questions, the budget is {budget}; give numbers")
    limit = budget * n * (1 + ROUNDED)
    prices = narrowed(frame, limit)
    decided = over_parts(frame, decided_sums, prices).sum(axis=0)
    undecided = frame.map_partitions(undecided_rows, prices, meta=frame._meta).compute()
    lam, cost, accuracy = 0.0, decided["cost"], decided["accuracy"]
    columns = np.zeros(0, dtype=int)
    split = None
    if len(undecided):
        best = frontier(*arrays(undecided)).at((limit - cost) / len(undecided))
        lam, columns = best.lam, best.labels
        cost += best.cost * len(undecided)
        accuracy += best.accuracy * len(undecided)
        if best.split is not None and cost < budget * n:
            row, low, high, share = best.split
            split = (undecided["id"].iloc[row], names[low], names[high], share)
    slack = max(budget - cost / n, 0.0)
    # A part finds the columns of its undecided questions after those of the parts before it.
    ends = over_parts(frame, count_undecided, prices)["rows"].cumsum().to_numpy()
    meta = {"id": frame.dtypes["id"], "budget": np.array(names).dtype}
    labels = frame.map_partitions(labelled, prices, names, columns, ends, meta=meta)
    bound = accuracy / n + lam * slack
    return ScaledAllocation(lam, budget - slack, accuracy / n, bound, labels, split)


def narrowed(frame: dd.DataFrame, limit: float) -> Prices:
    """Bisect to two prices that leave few questions undecided."""
    if spent_at(frame, 0.0) <= limit:
        return Prices(0.0, 0.0)  # all that gains anything is bought
    cheap, dear = 0.0, 1.0
    while spent_at(frame, dear) > limit:
        if dear > DEAREST:
            raise ValueError("the budget is below the cheapest allocation; give more")
        cheap, dear = dear, 16 * dear
    open_rows = len(frame)
    while open_rows > FEW and dear - cheap > SAME * dear:
        middle = (cheap + dear) / 2
        halves = over_parts(frame, halves_at, dear, middle, cheap).sum(axis=0)
        if halves["cost"] <= limit:
            dear, open_rows = middle, halves["below"]
        else:
            cheap, open_rows = middle, halves["above"]
    return Prices(dear, cheap)


def spent_at(frame: dd.DataFrame, price: float) -> float:
    """Return what all questions spend at a price."""
    return float(over_parts(frame, decided_sums, Prices(price, price))["cost"].sum())


def over_parts(frame: dd.DataFrame, function: Any, *arguments: Any) -> pd.DataFrame:
    """Return a function's row of numbers for every part of the table."""
    meta = function(frame._meta, *arguments)
    return frame.map_partitions(function, *arguments, meta=meta).compute()


def budget_names(part: pd.DataFrame | dd.DataFrame) -> list:
    """Return the budgets that the columns are named after."""
    names = [name.removeprefix("acc_") for name in part.columns if name.startswith("acc_")]
    if not names or "id" not in part.columns:
        raise ValueError(
            f"the columns are {', '.join(map(str, part.columns))}; give a column id, and acc_B "
            "for every budget B, such as acc_1, acc_2, acc_4"
        )
    return [int(name) if name.isdigit() else name for name in names]


def arrays(part: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the accuracies and the costs of some rows."""
    names = budget_names(part)
    acc = part[[f"acc_{name}" for name in names]].to_numpy(dtype=float)
    if f"cost_{names[0]}" in part.columns:
        return acc, part[[f"cost_{name}" for name in names]].to_numpy(dtype=float)
    return acc, np.array(names, dtype=float)


def labels_at(part: pd.DataFrame, price: float) -> np.ndarray:
    """Return the best column of every row at a price; ties to the cheaper one."""
    if not len(part):
        return np.zeros(0, dtype=int)
    acc, cost = arrays(part)
    try:
        return oracle_labels(acc, cost, price)
    except ValueError as error:
        raise ValueError(f"in the rows from id {part['id'].iloc[0]} on: {error}") from None


def is_undecided(part: pd.DataFrame, prices: Prices) -> np.ndarray:
    """Mark the rows that buy differently at the two prices."""
    if prices.dear == prices.cheap:
        return np.zeros(len(part), dtype=bool)
    return labels_at(part, prices.dear) != labels_at(part, prices.cheap)


def halves_at(part: pd.DataFrame, dear: float, middle: float, cheap: float) -> pd.DataFrame:
    """Return what a middle price spends, and how many rows are undecided on either side of it."""
    return pd.DataFrame(
        {
            "cost": decided_sums(part, Prices(middle, middle))["cost"],
            "above": [is_undecided(part, Prices(dear, middle)).sum()],
            "below": [is_undecided(part, Prices(middle, cheap)).sum()],
        }
    )


def undecided_rows(part: pd.DataFrame, prices: Prices) -> pd.DataFrame:
    """Return the rows that buy differently at the two prices."""
    return part[is_undecided(part, prices)]


def count_undecided(part: pd.DataFrame, prices: Prices) -> pd.DataFrame:
    """Return how many rows buy differently at the two prices."""
    return pd.DataFrame({"rows": [int(is_undecided(part, prices).sum())]})


def decided_sums(part: pd.DataFrame, prices: Prices) -> pd.DataFrame:
    """Return what the other rows cost and how right they are, in sum."""
    rows = np.flatnonzero(~is_undecided(part, prices))
    columns = labels_at(part, prices.dear)[rows]
    acc, cost = arrays(part)
    paid = np.broadcast_to(cost, acc.shape)[rows, columns]
    return pd.DataFrame({"cost": [paid.sum()], "accuracy": [acc[rows, columns].sum()]})


def labelled(
    part: pd.DataFrame,
    prices: Prices,
    names: list,
    columns: np.ndarray,
    ends: np.ndarray,
    partition_info: Any = None,
) -> pd.DataFrame:
    """Return the ids of a part with their budgets."""
    labels = labels_at(part, prices.dear)
    undecided = is_undecided(part, prices)
    end = ends[partition_info["number"]]
    labels[undecided] = columns[end - undecided.sum() : end]
    return part[["id"]].assign(budget=np.array(names)[labels])


if __name__ == "__main__":
    source, amount, folder = sys.argv[1:]
    if Path(folder).exists():
        sys.exit(f"{folder} exists already; give another folder for the labels, or remove it")
    found = solve(source, float(amount))
    found.labels.to_parquet(folder, write_index=False)
    print(f"lam {found.lam:.6g}, cost {found.cost:.6g}, accuracy {found.accuracy:.6g}")
