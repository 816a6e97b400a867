"""The upper concave envelope of every question's accuracy curve, as steps from corner to corner.

A question starts at its cheapest column and moves, each time, along the steepest line to a dearer one: the corners
it visits are the only columns that win at some price, and the slope of the line is that price. Many questions walk at
once, column by column, with numpy; what comes out is a stream of steps that `adalib.frontier` sorts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adalib.solve.oracle import TIE

__all__ = ["Codes", "cheapest", "labels_after", "steps", "walk"]

_BLOCK = 30_000  # rows that walk together: few enough for their columns to stay in the processor's cache


class Codes:
    """Numbers for the steps from a column to a dearer one, kept in the last bits of the step's slope.

    So a step goes through the sort as one float64, and `numpy.sort` moves values several times faster than
    `numpy.argsort` moves indices. A slope loses its last bits: a relative 4e-15 for K = 5, 5e-13 for K = 50. The
    cheaper the low column, then the nearer the high one, the larger the code and the earlier the step among equal
    slopes: the steps of a question stay in order.
    """

    def __init__(self, k: int) -> None:
        self.low, self.high = (side[::-1].astype(np.int16) for side in np.triu_indices(k, 1))
        self.mask = (1 << self.low.size.bit_length()) - 1
        self.number = np.zeros((k, k), dtype=np.int64)
        self.number[self.low, self.high] = np.arange(self.low.size)

    def of(self, keys: np.ndarray) -> np.ndarray:
        """Read the codes."""
        return keys.view(np.int64) & self.mask

    def put(self, slopes: np.ndarray, code: int | np.ndarray) -> None:
        """Write codes, in place."""
        bits = slopes.view(np.int64)
        bits &= ~self.mask
        bits |= code


def walk(
    acc: np.ndarray, cost: np.ndarray, start: np.ndarray, codes: Codes
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield all envelope steps, a block of rows and a low column at a time: first row of the block, rows in it, keys.

    A key is minus the slope of the step, so that the steepest sorts first, with the step's code in its last bits.
    """
    n, k = acc.shape
    shared = _inverse(cost - cost[:, None]) if cost.ndim == 1 else None
    for begin in range(0, n, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        value = np.ascontiguousarray(acc[block].T)
        price = None if shared is not None else np.ascontiguousarray(cost[block].T)
        at = start[block].astype(np.int16)
        before = np.full(at.size, -np.inf)
        for low in range(k - 1):
            rows = np.flatnonzero(at == low)
            v = value[low:] if rows.size == at.size else value[low:].take(rows, axis=1)
            if shared is not None:
                inverse = shared[low, low:]
            else:
                here = price[low:].take(rows, axis=1)
                inverse = _inverse(here - here[0])
            # A gain within the tolerance is rounding. The second bound keeps out a slope of 0, made tiny by its code.
            least = np.minimum(-TIE * inverse[-1], -1e-300)
            key, slope = np.empty((2, rows.size))
            key[:] = least
            for j in range(1, k - low):
                np.subtract(v[0], v[j], out=slope)
                slope *= inverse[j]
                codes.put(slope, codes.number[low, low + j])
                np.minimum(key, slope, out=key)
            steep = np.flatnonzero(key < least)
            if steep.size == 0:
                continue
            rows, key = rows.take(steep), key.take(steep)
            # Rounding may turn a later step of a row steeper than the one before; the envelope is concave: level it.
            late = np.flatnonzero(key < before.take(rows))
            if late.size:
                level = before[rows[late]]
                codes.put(level, codes.of(key[late]))
                key[late] = level
            before[rows] = key
            at[rows] = codes.high.take(codes.of(key))
            yield begin, rows, key


def steps(
    acc: np.ndarray, cost: np.ndarray, start: np.ndarray, codes: Codes
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray] | None]:
    """All envelope steps in the order of the walk: their keys and, where every row has costs of its own, more.

    What is more: the cost before each step, the cost after it, and its gain.
    """
    n, k = acc.shape
    keys, size = np.empty(n * (k - 1)), 0
    own: list[tuple[np.ndarray, ...]] = [(np.empty(0),) * 3]
    for begin, rows, found in walk(acc, cost, start, codes):
        keys[size : size + found.size] = found
        size += found.size
        if cost.ndim == 2:
            low, high = ((begin + rows, side[codes.of(found)]) for side in (codes.low, codes.high))
            own.append((cost[low], cost[high], acc[high] - acc[low]))
    if cost.ndim == 1:
        return keys[:size], None
    before, after, gain = (np.concatenate(parts) for parts in zip(*own, strict=True))
    return keys[:size], (before, after, gain)


def labels_after(
    acc: np.ndarray, cost: np.ndarray, start: np.ndarray, cuts: Sequence[tuple[float, int]]
) -> tuple[np.ndarray, list[int]]:
    """Labels once the steps before each cut are taken, found by walking the envelopes again.

    Parameters
    ----------
    cuts : sequence of (key, count)
        Take every step that sorts before the key and, of the steps with that very key, the first ``count`` in the
        order of the rows.

    Returns
    -------
    labels : ndarray of int, shape (cuts, N)
    next_rows : list of int
        For each cut the row whose step with that key would come next; -1 where there is none.
    """
    labels = np.tile(start, (len(cuts), 1))
    spare, next_rows = [count for _, count in cuts], [-1] * len(cuts)
    codes = Codes(acc.shape[1])
    for begin, rows, keys in walk(acc, cost, start, codes):
        high = codes.high.take(codes.of(keys))
        for which, (key, _) in enumerate(cuts):
            taken = keys < key
            tied = np.flatnonzero(keys == key)
            taken[tied[: spare[which]]] = True
            if tied.size > spare[which] and next_rows[which] < 0:
                next_rows[which] = begin + int(rows[tied[spare[which]]])
            spare[which] = max(spare[which] - tied.size, 0)
            labels[which, begin + rows[taken]] = high[taken]
    return labels, next_rows


def _inverse(rise: np.ndarray) -> np.ndarray:
    """1 / rise where the cost rises, else 0: among equal costs the better column has been taken already."""
    return 1 / np.where(rise > 0, rise, np.inf)


def cheapest(acc: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best of each row's cheapest columns, and its accuracy."""
    if acc.shape[1] == 1 or (cost[..., 1] > cost[..., 0]).all():
        return np.zeros(len(acc), dtype=int), acc[:, 0]
    value = np.where(cost == cost[..., :1], acc, -1.0)
    return value.argmax(axis=1), value.max(axis=1)
