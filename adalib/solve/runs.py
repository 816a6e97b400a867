"""A run: the sorted steps of some rows, and what they cost up to any price, exactly.

A machine that holds a run can answer the auctioneer's question, "what would you spend at this price?", with one
number, by looking at a few thousand steps. Only a sparse index stays in memory: every 4,096th key and the exact cost of
all steps before it. The steps themselves may lie in a file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adalib.drafts import replacing
from adalib.solve.envelope import Codes, cheapest, in_order, steps
from adalib.solve.exact import exact_sum, units

__all__ = ["Run", "make_run"]

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
