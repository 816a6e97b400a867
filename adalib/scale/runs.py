"""A run: the sorted steps of consecutive rows, which answers what those rows spend at a price.

Costs are added exactly, in the units of `adalib.solve.exact`. A run may stay in a file; then only a
small index of it is in memory.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from adalib.drafts import replacing
from adalib.solve.envelope import cheapest_columns, envelope_steps
from adalib.solve.exact import exact_sum, units
from adalib.solve.step_keys import StepKeys, code_mask, sort_stably

_INDEX_EVERY = 4096  # steps between two entries of a run's index


class _StoredFloats:
    """Numbers in a file, read one slice at a time, so that none stays in memory."""

    def __init__(self, path: str, offset: int, size: int) -> None:
        self.path = path
        self.offset = offset
        self.size = size

    def __getitem__(self, places: slice) -> np.ndarray:
        begin, end, _ = places.indices(self.size)
        return np.fromfile(self.path, count=end - begin, offset=self.offset + 8 * begin)


Floats = np.ndarray | _StoredFloats


class Filled(NamedTuple):
    """The tied steps that fit into what is left of a budget; costs are exact."""

    steps: int
    cost: int
    next_cost: int  # of the first step that does not fit


@dataclass(frozen=True, eq=False)
class Run:
    """Sorted steps of consecutive rows, and their exact cost up to any price.

    Attributes
    ----------
    first : int
        Number of the first row in the whole table.
    rows : int
        Number of rows.
    start : int
        Exact cost of the rows' cheapest columns.
    prefix : list of int
        Exact cost of the steps before each entry of the index, and of all steps.
    by_code : list of int
        Exact cost of a step by its code; empty where rows pay differently.
    index : ndarray
        Every 4,096th key.
    keys : ndarray or numbers in a file
        Minus the price of each step, the steepest first, with its code (`StepKeys`).
    sides : sequence of two arrays, or empty
        Cost of the row before and after each step; empty where all rows pay the same.
    """

    first: int
    rows: int
    start: int
    prefix: list[int]
    by_code: list[int]
    index: np.ndarray
    keys: Floats
    sides: Sequence[Floats]

    @property
    def total(self) -> int:
        """Exact cost of all steps."""
        return self.prefix[-1]

    @property
    def price_range(self) -> tuple[float, float] | None:
        """Highest and lowest price of a step; None if there is no step."""
        if self.keys.size == 0:
            return None
        last_key = self.keys[self.keys.size - 1 : self.keys.size][0]
        return -float(self.index[0]), -float(last_key)

    def spent(self, price: float) -> int:
        """Exact cost of the steps whose price is higher than this one."""
        return self._cost_before(self._place(price, "left"))

    def tied(self, price: float) -> tuple[int, int]:
        """Number and exact cost of the steps with exactly this price."""
        begin = self._place(price, "left")
        end = self._place(price, "right")
        return end - begin, self._cost_before(end) - self._cost_before(begin)

    def fill(self, price: float, room: int) -> Filled:
        """Take the steps with this price, in the order of rows, while they fit into ``room``."""
        begin = self._place(price, "left")
        end = self._place(price, "right")
        before = self._cost_before(begin)
        places = range(begin + 1, end)
        last = begin + bisect_right(places, before + room, key=self._cost_before)
        cost_of_last = self._cost_before(last)
        next_cost = self._cost_before(last + 1) - cost_of_last
        return Filled(last - begin, cost_of_last - before, next_cost)

    def _place(self, price: float, side: Literal["left", "right"]) -> int:
        """Find where a price belongs among the steps: in the index first, then in one block."""
        begin = max(int(self.index.searchsorted(-price, side)) - 1, 0) * _INDEX_EVERY
        return begin + int(self.keys[begin : begin + _INDEX_EVERY].searchsorted(-price, side))

    def _cost_before(self, place: int) -> int:
        """Exact cost of the steps before a place."""
        entry = place // _INDEX_EVERY
        begin = entry * _INDEX_EVERY
        rest = self._cost_between(begin, place) if place > begin else 0
        return self.prefix[entry] + rest

    def _cost_between(self, begin: int, end: int) -> int:
        """Exact cost of the steps from one place to another."""
        if self.sides:
            before, after = self.sides
            return exact_sum(after[begin:end]) - exact_sum(before[begin:end])
        codes = self.keys[begin:end].view(np.int64) & code_mask(len(self.by_code))
        counts = np.bincount(codes).tolist()
        return sum(count * self.by_code[code] for code, count in enumerate(counts) if count)

    def save(self, path: Path) -> None:
        """Write one line of JSON and then the arrays; the file appears when it is complete."""
        arrays = [self.index, self.keys[:], *(side[:] for side in self.sides)]
        numbers = [self.first, self.rows, self.start, self.prefix, self.by_code]
        with replacing(path) as draft, draft.open("wb") as file:
            header = json.dumps([numbers, [array.size for array in arrays]])
            file.write(header.encode() + b"\n")
            for array in arrays:
                array.tofile(file)

    @classmethod
    def open(cls, path: Path) -> Run:
        """Open a saved run, whose steps stay in the file; ValueError if it is not complete."""
        with path.open("rb") as file:
            header = file.readline()
        try:
            (first, rows, start, prefix, by_code), sizes = json.loads(header)
            offsets = np.cumsum([len(header), *(8 * size for size in sizes)]).tolist()
            complete = path.stat().st_size == offsets[-1]
        except ValueError:
            complete = False
        if not complete:
            raise ValueError(f"{path}: is not a complete run of steps; delete it and start again")
        index, keys, *sides = (
            _StoredFloats(str(path), offset, size)
            for offset, size in zip(offsets, sizes, strict=False)
        )
        return cls(first, rows, start, prefix, by_code, index[:], keys, sides)


def make_run(acc: np.ndarray, cost: np.ndarray, first: int) -> Run:
    """Sort the steps of some rows of a checked table, the first of which has this number."""
    step_keys = StepKeys(acc.shape[1])
    start_columns, _ = cheapest_columns(acc, cost)
    keys, before, after = envelope_steps(acc, cost, start_columns, step_keys)
    by_code: list[int] = []
    sides: list[np.ndarray] = []
    if before is None or after is None:
        keys.sort()
        exact = [units(price) for price in cost.tolist()]
        pairs = zip(step_keys.low, step_keys.high, strict=True)
        by_code = [exact[high] - exact[low] for low, high in pairs]
        start = exact[0] * len(acc)
    else:
        keys, order = sort_stably(keys)
        sides = [before.take(order), after.take(order)]
        start = exact_sum(cost[:, 0])
    run = Run(first, len(acc), start, [0], by_code, keys[::_INDEX_EVERY].copy(), keys, sides)
    for begin in range(0, keys.size, _INDEX_EVERY):
        end = min(begin + _INDEX_EVERY, keys.size)
        run.prefix.append(run.total + run._cost_between(begin, end))
    return run
