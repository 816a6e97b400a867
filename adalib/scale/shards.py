"""The market on many machines: the exact allocation of a table that is cut into shards.

The auctioneer calls out a price, every shard answers with one number, what it would spend, and the sum says whether the
price was too low. Floats have 64 bits: a few dozen rounds of halving find the one price at which the budget is crossed,
to the last bit. Questions that are tied there are served in the order of the rows, and the first one that no longer
fits is the one that a mixed allocation splits. A shard keeps its steps sorted, in a run. Costs are added exactly
(`adalib.solve.exact`), so neither the number of shards nor their order changes a digit.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.drafts import replacing
from adalib.solve.envelope import Codes, cheapest, in_order, labels_after, steps
from adalib.solve.exact import DIGITS, exact_mean, exact_sum, most_within, units
from adalib.solve.frontier import Split
from adalib.solve.oracle import chosen
from adalib.table import check_table

__all__ = ["Clearing", "Market", "Run", "ShardedAllocation", "clear", "make_run", "settle", "solve_shards"]

_SAME = 10.0**-DIGITS  # a budget this close below the cheapest allocation is the cheapest allocation, rounded
_EVERY = 4096  # steps between two entries of a run's index


@dataclass(frozen=True, eq=False)
class ShardedAllocation:
    """The best point of the frontier within a budget: the numbers of `adalib.frontier`'s allocation, rounded once."""

    budget: float
    lam: float
    cost: float
    accuracy: float
    bound: float
    split: Split | None
    labels: list[np.ndarray] | None  # column of each question, an array per shard; None where they went to files
    rounds: int  # how often prices were called out

    @property
    def slack(self) -> float:
        """Budget left over by the allocation that splits no question."""
        return self.budget - self.cost


def solve_shards(shards: Sequence[tuple[ArrayLike, ArrayLike]], budgets: Sequence[float]) -> list[ShardedAllocation]:
    """Solve for several budgets over a table in pieces: for each, exactly what the whole table would give.

    For tables in files, more rows than memory or more machines than one, see `adalib.solve_files`. Explained in
    `adalib.scale`.

    Parameters
    ----------
    shards : sequence of (acc, cost)
        Rows of one table, in order: accuracies of shape (n, K), costs of shape (K,) or (n, K).
    budgets : sequence of float
        Average costs allowed.

    Examples
    --------
    >>> (best,) = solve_shards([([[0.1, 0.9]], [1, 2]), ([[0.2, 0.6]], [1, 2])], budgets=[1.75])
    >>> best.labels, best.cost, best.split
    ([array([1]), array([0])], 1.5, Split(row=1, low=0, high=1, share=0.5))
    """
    tables = [check_table(acc, cost) for acc, cost in shards]
    if len({(acc.shape[1], cost.ndim) for acc, cost in tables}) != 1:
        raise ValueError("the shards differ in their columns; give every shard the same budgets and the same costs")
    firsts = np.cumsum([0, *(len(acc) for acc, _ in tables)]).tolist()
    runs = [make_run(acc, cost, first) for (acc, cost), first in zip(tables, firsts, strict=False)]
    clearings = clear(Market(runs), budgets)
    labelled = [
        labels_after(acc, cost, cheapest(acc, cost)[0], [clearing.cuts[at] for clearing in clearings])
        for at, (acc, cost) in enumerate(tables)
    ]
    shape, solved = (firsts[-1], tables[0][0].shape[1]), []
    for which, clearing in enumerate(clearings):
        labels = [rows[which] for rows, _ in labelled]
        gained = sum(exact_sum(chosen(acc, own)) for (acc, _), own in zip(tables, labels, strict=True))
        split = firsts[clearing.split] + labelled[clearing.split][1][which] if clearing.split >= 0 else None
        solved.append(settle(clearing, shape, gained, split, labels))
    return solved


class _Stored:
    """Numbers in a file, read a slice at a time: no memory is held, and none is mapped."""

    def __init__(self, path: str, offset: int, size: int) -> None:
        self.path, self.offset, self.size = path, offset, size

    def __getitem__(self, part: slice) -> np.ndarray:
        begin, end, _ = part.indices(self.size)
        return np.fromfile(self.path, count=end - begin, offset=self.offset + 8 * begin)


@dataclass(frozen=True, eq=False)
class Run:
    """Sorted steps of consecutive rows, and what they cost up to any price, in exact units (`adalib.solve.exact`).

    Only every 4,096th key and the cost of all steps before it stay in memory; the steps themselves may lie in a file.
    """

    first: int  # number of the first row in the whole table
    rows: int
    start: int  # exact cost of the rows' cheapest columns
    prefix: list[int]  # exact cost of the steps before each entry of the index, and of all
    by_code: list[int]  # what a step costs by its code, exactly, where all rows pay alike
    index: np.ndarray
    keys: np.ndarray | _Stored  # minus the price of each step, the steepest first; the code is in the last bits
    sides: Sequence[np.ndarray | _Stored]  # what the row costs before and after each step, where rows pay differently

    @property
    def total(self) -> int:
        """Exact cost of all steps."""
        return self.prefix[-1]

    @property
    def ends(self) -> tuple[float, float] | None:
        """Highest and lowest price of a step; None where there is no step."""
        if self.keys.size == 0:
            return None
        return -float(self.index[0]), -float(self.keys[self.keys.size - 1 : self.keys.size][0])

    def spent(self, price: float) -> int:
        """Exact cost of the steps that are worth more than the price."""
        return self._cost(self._place(price, "left"))

    def tied(self, price: float) -> tuple[int, int]:
        """How many steps are worth the price exactly, and what they cost together."""
        begin, end = self._place(price, "left"), self._place(price, "right")
        return end - begin, self._cost(end) - self._cost(begin)

    def fill(self, price: float, room: int) -> tuple[int, int, int]:
        """How many steps worth the price, in the order of the rows, cost at most ``room`` together; what these cost,
        and what the next one would."""
        begin, end = self._place(price, "left"), self._place(price, "right")
        before = self._cost(begin)
        last = begin + bisect_right(range(begin + 1, end), before + room, key=self._cost)
        return last - begin, self._cost(last) - before, self._cost(last + 1) - self._cost(last)

    def _place(self, price: float, side: Literal["left", "right"]) -> int:
        """Where a price belongs among the steps: in the index first, then in one block."""
        begin = max(int(self.index.searchsorted(-price, side)) - 1, 0) * _EVERY
        return begin + int(self.keys[begin : begin + _EVERY].searchsorted(-price, side))

    def _cost(self, place: int) -> int:
        """Exact cost of the steps before a place."""
        begin = place // _EVERY * _EVERY
        return self.prefix[place // _EVERY] + (self._between(begin, place) if place > begin else 0)

    def _between(self, begin: int, end: int) -> int:
        """Exact cost of the steps from one place to another."""
        if self.sides:
            before, after = self.sides
            return exact_sum(after[begin:end]) - exact_sum(before[begin:end])
        mask = (1 << len(self.by_code).bit_length()) - 1
        counts = np.bincount(self.keys[begin:end].view(np.int64) & mask).tolist()
        return sum(count * self.by_code[code] for code, count in enumerate(counts) if count)

    def save(self, path: Path) -> None:
        """Write the run to a file that appears under its name only when complete: a line of JSON, then the arrays."""
        arrays = [self.index, self.keys[:], *(side[:] for side in self.sides)]
        numbers = [self.first, self.rows, self.start, self.prefix, self.by_code]
        with replacing(path) as draft, draft.open("wb") as file:
            file.write(json.dumps([numbers, [array.size for array in arrays]]).encode() + b"\n")
            for array in arrays:
                array.tofile(file)

    @classmethod
    def open(cls, path: Path) -> Run:
        """Open a saved run; its steps stay in the file. ValueError if that is not complete."""
        with path.open("rb") as file:
            head = file.readline()
        try:
            (first, rows, start, prefix, by_code), sizes = json.loads(head)
            places = np.cumsum([len(head), *(8 * size for size in sizes)]).tolist()
            complete = path.stat().st_size == places[-1]
        except ValueError:
            complete = False
        if not complete:
            raise ValueError(f"{path}: is not a complete run of steps; delete it and start again")
        index, keys, *sides = (_Stored(str(path), place, size) for place, size in zip(places, sizes, strict=False))
        return cls(first, rows, start, prefix, by_code, index[:], keys, sides)


def make_run(acc: np.ndarray, cost: np.ndarray, first: int) -> Run:
    """Sort the steps of some rows of a checked table; ``first`` is the number of their first row in the whole."""
    codes = Codes(acc.shape[1])
    keys, own = steps(acc, cost, cheapest(acc, cost)[0], codes)
    by_code: list[int] = []
    sides: list[np.ndarray] = []
    if own is None:
        keys.sort()
        exact = [units(price) for price in cost.tolist()]
        by_code = [exact[high] - exact[low] for low, high in zip(codes.low, codes.high, strict=True)]
        start = exact[0] * len(acc)
    else:
        keys, order = in_order(keys)
        sides = [side.take(order) for side in own]
        start = exact_sum(cost[:, 0])
    run = Run(first, len(acc), start, [0], by_code, keys[::_EVERY].copy(), keys, sides)
    for begin in range(0, keys.size, _EVERY):
        run.prefix.append(run.prefix[-1] + run._between(begin, min(begin + _EVERY, keys.size)))
    return run


class Market:
    """All runs of a table, in the order of the rows, and what they answer the auctioneer."""

    calls = 1  # prices called out in a round, for each budget: more save rounds where an answer travels far

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = sorted(runs, key=lambda run: run.first)

    def ask(self, what: Literal["spent", "tied"], prices: list[float]) -> list[list[Any]]:
        """For each price, what `Run.spent` or `Run.tied` says of every run."""
        return [[getattr(run, what)(price) for run in self.runs] for price in prices]


class Clearing(NamedTuple):
    """Where the market clears for one budget."""

    budget: float
    price: float  # at which the budget is crossed; 0 where everything fits
    cuts: tuple[tuple[float, int], ...]  # for `labels_after`, one per run in the order of the rows
    spent: int  # exact cost of the allocation, in units
    split: int  # which run holds the question to split; -1 where there is none
    rise: int  # exact cost of that question's step
    rounds: int  # how often prices were called out


def clear(market: Market, budgets: Sequence[float]) -> list[Clearing]:
    """Find the price at which each budget is crossed, and who is served at that price."""
    rows, start = sum(run.rows for run in market.runs), sum(run.start for run in market.runs)
    least, limits = exact_mean(start, rows), []
    for budget in budgets:
        if not np.isfinite(budget):
            raise ValueError(f"the budget is {budget}; give a finite number")
        if budget < least * (1 - _SAME):
            raise ValueError(f"the budget is {budget!r}; the cheapest allocation costs {least!r}, give at least that")
        limits.append(max(most_within(float(budget), rows) - start, 0))
    prices, rounds = _prices(market, limits)
    answers = market.ask("spent", prices), market.ask("tied", prices)
    clearings = []
    for budget, limit, price, paid, tied in zip(budgets, limits, prices, *answers, strict=True):
        spent, counts, split, rise = sum(paid), [], -1, 0
        # The tied steps get what is left, run by run; the first step that does not fit is the one to split.
        for at, (run, (count, cost)) in enumerate(zip(market.runs, tied, strict=True)):
            if split >= 0:
                count = cost = 0
            elif cost > limit - spent:
                split = at
                count, cost, rise = run.fill(price, limit - spent)
            spent += cost
            counts.append(count)
        cuts = tuple((-price, count) for count in counts)
        clearings.append(Clearing(float(budget), price, cuts, start + spent, split, rise, rounds))
    return clearings


def _prices(market: Market, limits: list[int]) -> tuple[list[float], int]:
    """For each limit the lowest price whose spending is within it, by cutting the range of a float's bits."""
    ends = [run.ends for run in market.runs if run.ends]
    total = sum(run.total for run in market.runs)
    high = [_bits(max(top for top, _ in ends)) if total > limit else 0 for limit in limits]  # within the limit
    low = [_bits(min(end for _, end in ends)) - 1 if total > limit else -1 for limit in limits]  # beyond it
    rounds, parts = 0, market.calls + 1
    while any(top - bottom > 1 for top, bottom in zip(high, low, strict=True)):
        rounds += 1
        called = [
            (i, bits)
            for i, (top, bottom) in enumerate(zip(high, low, strict=True))
            for bits in sorted({bottom + (top - bottom) * part // parts for part in range(1, parts)})
            if bottom < bits < top
        ]
        for (i, bits), paid in zip(called, market.ask("spent", [_price(bits) for _, bits in called]), strict=True):
            if sum(paid) <= limits[i]:
                high[i] = min(high[i], bits)
            else:
                low[i] = max(low[i], bits)
    return [_price(bits) for bits in high], rounds


def settle(
    clearing: Clearing,
    shape: tuple[int, int],
    gained: int,
    split_row: int | None,
    labels: list[np.ndarray] | None = None,
) -> ShardedAllocation:
    """The numbers to read, each rounded once, from the exact sum of accuracies and the shape of the whole table."""
    budget, (rows, columns) = clearing.budget, shape
    cost, accuracy = min(exact_mean(clearing.spent, rows), budget), exact_mean(gained, rows)
    split = None
    if split_row is not None and cost < budget:
        codes = Codes(columns)
        code = _bits(clearing.price) & codes.mask  # the price of a step says between which columns it is
        share = Fraction(units(budget) * rows - clearing.spent, clearing.rise)
        split = Split(split_row, int(codes.low[code]), int(codes.high[code]), min(float(share), 1.0))
    bound = accuracy + clearing.price * (budget - cost)
    return ShardedAllocation(budget, clearing.price, cost, accuracy, bound, split, labels, clearing.rounds)


def _bits(price: float) -> int:
    return int(np.float64(price).view(np.int64))


def _price(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))
