"""The exact allocation of a table that is cut into shards, as an auction over them solves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from adalib.scale.auction import Clearing, Market, clear
from adalib.scale.runs import make_run
from adalib.solve.envelope import cheapest_columns, labels_after
from adalib.solve.exact import exact_mean, exact_sum, units
from adalib.solve.frontier import Split
from adalib.solve.oracle import chosen
from adalib.solve.step_keys import StepKeys
from adalib.table import check_table


@dataclass(frozen=True, eq=False)
class ShardedAllocation:
    """The best point of the frontier within a budget, for a table in shards.

    The numbers are those of `adalib.solve.frontier.Allocation`, each rounded only once.

    Attributes
    ----------
    budget, lam, cost, accuracy, bound : float
        As in `adalib.solve.frontier.Allocation`.
    split : Split or None
        The question to randomise; its row counts over all shards.
    labels : list of ndarray, or None
        Column of each question, one array per shard; None if they were written to files.
    rounds : int
        How often prices were announced.
    """

    budget: float
    lam: float
    cost: float
    accuracy: float
    bound: float
    split: Split | None
    labels: list[np.ndarray] | None
    rounds: int

    @property
    def slack(self) -> float:
        """Budget left over by the allocation that splits no question."""
        return self.budget - self.cost


def solve_shards(
    shards: Sequence[tuple[ArrayLike, ArrayLike]], budgets: Sequence[float]
) -> list[ShardedAllocation]:
    """Solve for several budgets over a table in pieces, exactly as for the whole table.

    For tables in files, with more rows than memory or on several machines, see
    `adalib.solve_files`. Explained in `adalib.scale`.

    Parameters
    ----------
    shards : sequence of (acc, cost)
        Rows of one table, in order: accuracies of shape (n, K), costs of shape (K,) or (n, K).
    budgets : sequence of float
        Average costs allowed.

    Returns
    -------
    list of ShardedAllocation
        One per budget, in the order given.

    Raises
    ------
    ValueError
        If the shards differ in their columns or a budget is below the cheapest allocation.

    See Also
    --------
    frontier : The whole table at once, and every budget.

    Examples
    --------
    >>> (best,) = solve_shards([([[0.1, 0.9]], [1, 2]), ([[0.2, 0.6]], [1, 2])], budgets=[1.75])
    >>> best.labels, best.cost, best.split
    ([array([1]), array([0])], 1.5, Split(row=1, low=0, high=1, share=0.5))
    """
    tables = [check_table(acc, cost) for acc, cost in shards]
    if len({(acc.shape[1], cost.ndim) for acc, cost in tables}) != 1:
        raise ValueError(
            "the shards differ in their columns; "
            "give every shard the same budgets and the same form of costs"
        )
    first_rows = np.cumsum([0, *(len(acc) for acc, _ in tables)]).tolist()
    runs = [
        make_run(acc, cost, first) for (acc, cost), first in zip(tables, first_rows, strict=False)
    ]
    clearings = clear(Market(runs), budgets)
    labelled = []
    for place, (acc, cost) in enumerate(tables):
        start, _ = cheapest_columns(acc, cost)
        cuts = [clearing.cuts[place] for clearing in clearings]
        labelled.append(labels_after(acc, cost, start, cuts))
    shape = (first_rows[-1], tables[0][0].shape[1])
    solved = []
    for number, clearing in enumerate(clearings):
        labels = [labels_by_budget[number] for labels_by_budget, _ in labelled]
        gained = sum(
            exact_sum(chosen(acc, own)) for (acc, _), own in zip(tables, labels, strict=True)
        )
        split_row = None
        if clearing.split_run >= 0:
            _, next_rows = labelled[clearing.split_run]
            split_row = first_rows[clearing.split_run] + next_rows[number]
        solved.append(settle(clearing, shape, gained, split_row, labels))
    return solved


def settle(
    clearing: Clearing,
    shape: tuple[int, int],
    gained: int,
    split_row: int | None,
    labels: list[np.ndarray] | None = None,
) -> ShardedAllocation:
    """Round the exact sums once each; ``gained`` is the sum of the accuracies of all questions.

    ``shape`` is that of the whole table, ``split_row`` the question to split.
    """
    rows, columns = shape
    budget = clearing.budget
    cost = min(exact_mean(clearing.spent, rows), budget)
    accuracy = exact_mean(gained, rows)
    split = None
    if split_row is not None and cost < budget:
        low, high = StepKeys(columns).columns_at(clearing.price)
        share = Fraction(units(budget) * rows - clearing.spent, clearing.split_cost)
        split = Split(split_row, low, high, min(float(share), 1.0))
    return ShardedAllocation(
        budget=budget,
        lam=clearing.price,
        cost=cost,
        accuracy=accuracy,
        bound=accuracy + clearing.price * (budget - cost),
        split=split,
        labels=labels,
        rounds=clearing.rounds,
    )
