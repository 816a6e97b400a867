"""The market on many machines: the exact allocation of a table that is cut into shards.

A price settles every question by itself, so no machine needs another one's rows. The auctioneer calls out a price,
every shard answers with one number, what it would spend, and the sum says whether the price was too low. Prices are
floats, and floats have 64 bits: a few dozen rounds of halving find the one price at which the budget is crossed, to the
last bit. At that price several questions may be tied; they are served in the order of the rows until the budget is
spent, and the first one that no longer fits is the one question that a mixed allocation splits.

Costs are added exactly (`adalib.solve.exact`), so neither the number of shards nor their order changes a digit.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.drafts import replacing
from adalib.solve.envelope import Codes, cheapest, in_order, labels_after, steps
from adalib.solve.exact import DIGITS, exact_mean, exact_sum, most_within, units
from adalib.solve.frontier import Split
from adalib.solve.oracle import chosen
from adalib.table import check_table

__all__ = ["Clearing", "Cut", "Run", "ShardedAllocation", "clear", "make_run", "settle", "solve_shards"]


# A run: the sorted steps of some rows, and what they cost up to any price, exactly.
#
# A machine that holds a run can answer the auctioneer's question, "what would you spend at this price?", with one
# number, by looking at a few thousand steps. Only a sparse index stays in memory: every 4,096th key and the exact cost
# of all steps before it. The steps themselves may lie in a file.


_EVERY = 4096  # steps between two entries of the index
_MAGIC = b"adarun1\n"
_HEAD = len(_MAGIC) + struct.calcsize("<4q")


class _Stored:
    """Numbers in a file, read a slice at a time: no memory is held, and none is mapped."""

    def __init__(self, path: str, offset: int, size: int) -> None:
        self.path, self.offset, self.size = path, offset, size

    def __getitem__(self, part: slice) -> np.ndarray:
        begin, end, _ = part.indices(self.size)
        return np.fromfile(self.path, count=end - begin, offset=self.offset + 8 * begin)


@dataclass(frozen=True, eq=False)
class Run:
    """Sorted steps of consecutive rows.

    Attributes
    ----------
    first, rows : int
        Number of the first row in the whole table, and how many there are.
    start : int
        Exact cost of the rows' cheapest columns, in units (see `adalib.solve.exact`).
    keys : array or file
        Minus the price of each step, the steepest first; the step's code is in the last bits.
    sides : pair of arrays or files, or None
        What the row costs before and after each step, in the same order; None where all rows pay alike.
    by_code : list of int, or None
        What a step costs by its code then, exactly. (The float difference of two costs would be rounded.)
    index : ndarray
        Every 4,096th key.
    prefix : list of int
        Exact cost of the steps before each of these, and of all.
    """

    first: int
    rows: int
    start: int
    keys: np.ndarray | _Stored
    sides: tuple[np.ndarray | _Stored, np.ndarray | _Stored] | None
    by_code: list[int] | None
    index: np.ndarray
    prefix: list[int]

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
        return self._cost(self._place(-price, "left"))

    def tied(self, price: float) -> tuple[int, int]:
        """How many steps are worth the price exactly, and what they cost together."""
        begin, end = (self._place(-price, side) for side in ("left", "right"))
        return end - begin, self._cost(end) - self._cost(begin)

    def fill(self, price: float, room: int) -> tuple[int, int, int]:
        """Serve the steps worth the price, in the order of the rows, while they cost at most ``room`` together.

        Returns how many are served, what they cost, and what the next one would cost.
        """
        begin, end = (self._place(-price, side) for side in ("left", "right"))
        before, fits, too_many = self._cost(begin), 0, end - begin
        while too_many - fits > 1:
            middle = (fits + too_many) // 2
            if self._cost(begin + middle) - before <= room:
                fits = middle
            else:
                too_many = middle
        served = self._cost(begin + fits)
        return fits, served - before, self._cost(begin + fits + 1) - served

    def _place(self, key: float, side: str) -> int:
        """Where a key belongs among the sorted keys: in the index first, then in one block."""
        block = max(int(self.index.searchsorted(key, side)) - 1, 0)
        begin = block * _EVERY
        return begin + int(self.keys[begin : begin + _EVERY].searchsorted(key, side))

    def _cost(self, place: int) -> int:
        """Exact cost of the steps before a place."""
        begin = place // _EVERY * _EVERY
        return self.prefix[place // _EVERY] + (self._between(begin, place) if place > begin else 0)

    def _between(self, begin: int, end: int) -> int:
        """Exact cost of the steps from one place to another."""
        if self.sides is not None:
            before, after = self.sides
            return exact_sum(after[begin:end]) - exact_sum(before[begin:end])
        mask = (1 << len(self.by_code).bit_length()) - 1
        counts = np.bincount(self.keys[begin:end].view(np.int64) & mask)
        return sum(int(count) * self.by_code[code] for code, count in enumerate(counts) if count)

    def save(self, path: Path) -> None:
        """Write the run to a file that appears under its name only when complete."""
        arrays = [self.index, self.keys, *(self.sides or ())]
        numbers = [[self.first, self.rows, self.start], self.prefix, self.by_code or []]
        text = "\n".join(" ".join(format(number, "x") for number in line) for line in numbers).encode()
        with replacing(path) as draft, draft.open("wb") as file:
            file.write(_MAGIC + struct.pack("<4q", self.index.size, self.keys.size, len(arrays), len(text)) + text)
            for array in arrays:
                array.tofile(file)

    @classmethod
    def open(cls, path: Path) -> Run:
        """Open a saved run; its steps stay in the file.

        Raises
        ------
        ValueError
            If the file is not a complete run.
        """
        with path.open("rb") as file:
            head = file.read(_HEAD)
            sizes = struct.unpack("<4q", head[len(_MAGIC) :]) if len(head) == _HEAD else (0, 0, 0, 0)
            entries, count, arrays, length = sizes
            begin = _HEAD + length
            size = begin + 8 * (entries + (arrays - 1) * count)
            if not head.startswith(_MAGIC) or path.stat().st_size != size:
                raise ValueError(f"{path}: is not a complete run of steps; delete it and start again")
            lines = file.read(length).decode().split("\n")
        numbers, prefix, by_code = ([int(word, 16) for word in line.split()] for line in lines)
        index = _Stored(str(path), begin, entries)[:]
        begin += 8 * entries
        keys, *sides = (_Stored(str(path), begin + 8 * count * i, count) for i in range(arrays - 1))
        return cls(*numbers, keys, tuple(sides) or None, by_code or None, index, prefix)


def make_run(acc: np.ndarray, cost: np.ndarray, first: int) -> Run:
    """Sort the steps of some rows of a checked table; ``first`` is the number of their first row in the whole."""
    codes = Codes(acc.shape[1])
    keys, own = steps(acc, cost, cheapest(acc, cost)[0], codes)
    if own is None:
        keys.sort()
        exact = [units(price) for price in cost.tolist()]
        by_code = [exact[high] - exact[low] for low, high in zip(codes.low, codes.high, strict=True)]
        start, sides = exact[0] * len(acc), None
    else:
        keys, order = in_order(keys)
        sides = tuple(side.take(order) for side in own)
        start, by_code = exact_sum(cost[:, 0]), None
    run = Run(first, len(acc), start, keys, sides, by_code, keys[::_EVERY].copy(), [0])
    for begin in range(0, keys.size, _EVERY):
        run.prefix.append(run.prefix[-1] + run._between(begin, min(begin + _EVERY, keys.size)))
    return run


_SAME = 10.0**-DIGITS  # a budget this close below the cheapest allocation is the cheapest allocation, rounded


class Cut(NamedTuple):
    """What a shard has to know to label its rows.

    Attributes
    ----------
    price : float
        Take every step that is worth more,
    count : int
        and this many of those that are worth exactly that, in the order of the rows.
    """

    price: float
    count: int


@dataclass(frozen=True)
class Clearing:
    """Where the market clears for one budget.

    Attributes
    ----------
    budget, price : float
        Average cost allowed, and the price at which it is crossed; 0 where everything fits.
    cuts : tuple of Cut
        One a run, in the order of the rows.
    spent : int
        Exact cost of the allocation, in units.
    split : int
        Which run holds the question to split; -1 where there is none.
    rise : int
        Exact cost of that question's step.
    rounds : int
        How often prices were called out.
    """

    budget: float
    price: float
    cuts: tuple[Cut, ...]
    spent: int
    split: int
    rise: int
    rounds: int


@dataclass(frozen=True, eq=False)
class ShardedAllocation:
    """The best point of the frontier within a budget, found over shards.

    Attributes
    ----------
    budget, lam, cost, accuracy, bound, split
        As in the allocation that ``adalib.frontier(acc, cost).at(budget)`` returns; averages are rounded once.
    labels : list of ndarray, or None
        Column of each question, an array a shard; None where they were written to files.
    rounds : int
        How often prices were called out.
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


def solve_shards(shards: Sequence[tuple[ArrayLike, ArrayLike]], budgets: Sequence[float]) -> list[ShardedAllocation]:
    """Solve for several budgets over a table in pieces: exactly what the whole table would give.

    For tables in files, more rows than memory or more machines than one, see `adalib.solve_files`. Explained in
    chapter 3, "The market on many machines".

    Parameters
    ----------
    shards : sequence of (acc, cost)
        Rows of one table, in order: accuracies of shape (n, K), costs of shape (K,) or (n, K).
    budgets : sequence of float
        Average costs allowed.

    Returns
    -------
    list of ShardedAllocation
        One a budget.

    Raises
    ------
    ValueError
        If a shard is broken, or a budget is below the cheapest allocation.

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
    found = clear(runs, budgets)
    labelled = []
    for at, (acc, cost) in enumerate(tables):
        start = cheapest(acc, cost)[0]
        labelled.append(labels_after(acc, cost, start, [(-c.cuts[at].price, c.cuts[at].count) for c in found]))
    solved = []
    for which, clearing in enumerate(found):
        labels = [rows[which] for rows, _ in labelled]
        gained = sum(exact_sum(chosen(acc, own)) for (acc, _), own in zip(tables, labels, strict=True))
        split = None
        if clearing.split >= 0:
            split = firsts[clearing.split] + labelled[clearing.split][1][which]
        solved.append(settle(clearing, tables[0][0].shape[1], firsts[-1], gained, split, labels))
    return solved


def clear(
    runs: Sequence[Run],
    budgets: Sequence[float],
    ask: Callable[[list[float]], list[int]] | None = None,
    ties: Callable[[list[float]], list[list[tuple[int, int]]]] | None = None,
    at_once: int = 1,
) -> list[Clearing]:
    """Find the price at which each budget is crossed, and who is served at that price.

    Parameters
    ----------
    runs : sequence of Run
        In any order.
    budgets : sequence of float
        Average costs allowed.
    ask : callable, optional
        Prices -> what all runs together would spend at each; for runs that live elsewhere.
    ties : callable, optional
        Prices -> for each, what `Run.tied` says of every run, in the order of the rows.
    at_once : int
        Prices called out in a round, for each budget: more of them save rounds where an answer travels far.
    """
    runs = sorted(runs, key=lambda run: run.first)
    ask = ask or (lambda prices: [sum(run.spent(price) for run in runs) for price in prices])
    ties = ties or (lambda prices: [[run.tied(price) for run in runs] for price in prices])
    rows, start = sum(run.rows for run in runs), sum(run.start for run in runs)
    limits = [_limit(budget, rows, start) - start for budget in budgets]
    prices, rounds = _prices(runs, limits, ask, at_once)
    under = ask(prices)
    return [
        _serve(runs, budget, limit, price, start, spent, tied, rounds)
        for budget, limit, price, spent, tied in zip(budgets, limits, prices, under, ties(prices), strict=True)
    ]


def _limit(budget: float, rows: int, start: int) -> int:
    """The largest exact cost within a budget, in units."""
    if not np.isfinite(budget):
        raise ValueError(f"the budget is {budget}; give a finite number")
    least = exact_mean(start, rows)
    if budget < least * (1 - _SAME):
        raise ValueError(f"the budget is {budget!r}; the cheapest allocation costs {least!r}, give at least that")
    return max(most_within(float(budget), rows), start)


def _prices(runs: Sequence[Run], limits: list[int], ask: Callable, at_once: int) -> tuple[list[float], int]:
    """For each limit the lowest price whose spending is within it, by cutting the range of a float's bits."""
    ends = [run.ends for run in runs if run.ends]
    total = sum(run.total for run in runs)
    high = [_bits(max(top for top, _ in ends)) if total > limit else 0 for limit in limits]  # within the limit
    low = [_bits(min(end for _, end in ends)) - 1 if total > limit else -1 for limit in limits]  # beyond it
    rounds = 0
    while any(top - bottom > 1 for top, bottom in zip(high, low, strict=True)):
        rounds += 1
        called = [
            (i, bits)
            for i, (top, bottom) in enumerate(zip(high, low, strict=True))
            for bits in sorted({bottom + (top - bottom) * part // (at_once + 1) for part in range(1, at_once + 1)})
            if bottom < bits < top
        ]
        for (i, bits), spent in zip(called, ask([_price(bits) for _, bits in called]), strict=True):
            if spent <= limits[i]:
                high[i] = min(high[i], bits)
            else:
                low[i] = max(low[i], bits)
    return [_price(bits) for bits in high], rounds


def _serve(
    runs: Sequence[Run],
    budget: float,
    limit: int,
    price: float,
    start: int,
    spent: int,
    tied: list[tuple[int, int]],
    rounds: int,
) -> Clearing:
    """Give the tied steps what is left, run by run; the first step that does not fit is the one to split."""
    counts, split, rise = [], -1, 0
    for at, (run, (count, cost)) in enumerate(zip(runs, tied, strict=True)):
        if split >= 0:
            count = 0
        elif cost > limit - spent:
            split = at
            count, cost, rise = run.fill(price, limit - spent)
            spent += cost
        else:
            spent += cost
        counts.append(count)
    cuts = tuple(Cut(price, count) for count in counts)
    return Clearing(float(budget), price, cuts, start + spent, split, rise, rounds)


def settle(
    clearing: Clearing,
    columns: int,
    rows: int,
    gained: int,
    split_row: int | None,
    labels: list[np.ndarray] | None = None,
) -> ShardedAllocation:
    """Turn exact sums into the numbers to read: each is rounded once.

    Parameters
    ----------
    columns, rows : int
        Shape of the whole table.
    gained : int
        Exact sum of the accuracies of the allocation, in units.
    split_row : int or None
        The question to split.
    """
    budget = clearing.budget
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
