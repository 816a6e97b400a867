"""The upper concave envelope of every question's accuracy curve, as steps from corner to corner.

A question starts at its cheapest column and moves, each time, along the steepest line to a dearer one: the corners it
visits are the only columns that win at some price, and the slope of the line is that price. Many questions walk at
once, column by column; the steps are for `adalib.frontier` to sort. The walk looks from every corner at all columns
beyond, quick for few budgets; with very many, Graham's scan looks at each once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from adalib.datasets.files import cores
from adalib.solve.oracle import TIE

__all__ = ["Codes", "at_once", "cheapest", "in_order", "labels_after", "steps"]

_MOST = 8  # threads
_MANY = 100_000  # rows that are worth a second thread
_WIDE = 64  # columns from which on one pass over them is quicker than looking at each from each
_BLOCK = 30_000  # rows that walk together: few enough for their columns to stay in the processor's cache


class Codes:
    """Numbers for the steps from a column to a dearer one, kept in the last bits of the step's slope.

    So a step is sorted as one float64, several times faster than by `numpy.argsort`; a slope loses a relative 4e-15 for
    K = 5, 5e-13 for K = 50, 2e-9 for K = 3,000. The cheaper the low column, then the nearer the high one, the larger
    the code and the earlier the step among equal slopes: the steps of a question stay in order."""

    def __init__(self, k: int) -> None:
        self.low, self.high = (side[::-1].astype(np.int16) for side in np.triu_indices(k, 1))
        self.mask = (1 << self.low.size.bit_length()) - 1
        self.precision = (self.mask + 1) * np.finfo(float).eps  # within it, equal slopes may differ by their codes
        self._k = k

    def number(self, low: int | np.ndarray, high: int | np.ndarray) -> int | np.ndarray:
        """The code of a step."""
        return self.low.size - 1 - (low * self._k - low * (low + 1) // 2 + high - low - 1)

    def of(self, keys: np.ndarray) -> np.ndarray:
        """Read the codes."""
        return keys.view(np.int64) & self.mask

    def put(self, slopes: np.ndarray, code: int | np.ndarray) -> None:
        """Write codes, in place."""
        bits = slopes.view(np.int64)
        bits &= ~self.mask
        bits |= code

    def level(self, keys: np.ndarray, before: np.ndarray) -> None:
        """Make no step steeper than its row's last one, in place: it was rounding, for the envelope is concave."""
        late = np.flatnonzero(keys < before)
        if late.size:
            level = before[late]
            self.put(level, self.of(keys[late]))
            keys[late] = level


def cheapest(acc: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best of each row's cheapest columns, and its accuracy."""
    start, value = np.zeros(len(acc), dtype=int), acc[:, 0]
    for column in range(1, acc.shape[1]):
        same = cost[..., column] == cost[..., 0]
        if not np.any(same):
            break  # costs never fall along a row
        better = same & (acc[:, column] > value)
        start[better], value = column, np.where(better, acc[:, column], value)
    return start, value


def steps(
    acc: np.ndarray, cost: np.ndarray, start: np.ndarray, codes: Codes
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray] | None]:
    """All envelope steps in the order of the walk: their keys and, where every row has costs of its own, what the row
    pays before and after each step."""
    (n, k), own, flat = acc.shape, cost.ndim == 2, cost.ravel()

    def walked(first: int, last: int) -> list[tuple[np.ndarray, ...]]:
        some: list[tuple[np.ndarray, ...]] = [(np.empty(0),) * (3 if own else 1)]
        paid = cost[first:last] if own else cost
        for begin, rows, keys in _walk(acc[first:last], paid, start[first:last], codes):
            if own:
                row, code = (first + begin + rows) * k, codes.of(keys)
                some.append((keys, *(flat.take(row + side.take(code)) for side in (codes.low, codes.high))))
            else:
                some.append((keys,))
        return some

    threads = min(cores(), _MOST) if n >= _MANY else 1
    cuts = [n * part // threads for part in range(threads + 1)]
    parts = at_once([partial(walked, *part) for part in pairwise(cuts)], worth=n)
    keys, *sides = (np.concatenate(side) for side in zip(*chain(*parts), strict=True))
    return keys, (sides[0], sides[1]) if own else None


def labels_after(
    acc: np.ndarray, cost: np.ndarray, start: np.ndarray, cuts: Sequence[tuple[float, int]]
) -> tuple[np.ndarray, list[int]]:
    """Labels, shape (cuts, N), once the steps before each cut are taken, found by walking the envelopes again.

    A cut (key, count) takes every step that sorts before the key and, of those with it, the first ``count`` in the
    order of the rows. Also, for each cut, the row whose step with that key would come next; -1 where none would."""
    labels = np.tile(start, (len(cuts), 1))
    spare, next_rows = [count for _, count in cuts], [-1] * len(cuts)
    codes = Codes(acc.shape[1])
    for begin, rows, keys in _walk(acc, cost, start, codes):
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


def in_order(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort keys, equal ones in the order in which they stand; return them and the places they come from."""
    # Two quick sorts that forget the order of equals, the second one over places, beat one that remembers it.
    order = keys.argsort()
    keys = keys.take(order)
    new = keys[1:] != keys[:-1]
    if not new.all():
        bits = keys.size.bit_length()  # a place takes so many; the group of equals goes above them
        group = np.zeros(keys.size, dtype=np.int64)
        np.cumsum(new, out=group[1:])
        group <<= bits
        group |= order
        group.sort()
        group &= (1 << bits) - 1
        order = group
    return keys, order


def at_once(calls: Sequence[Callable[[], Any]], *, worth: int) -> list:
    """Results of several calls; on threads where they go through many numbers: numpy computes outside Python's lock."""
    if worth < _MANY or cores() == 1:
        return [call() for call in calls]
    with ThreadPoolExecutor(min(cores(), _MOST)) as pool:
        return list(pool.map(lambda call: call(), calls))


def _walk(
    acc: np.ndarray, cost: np.ndarray, start: np.ndarray, codes: Codes
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield all steps, a block of rows and a low column at a time: first row of the block, rows in it, and keys: minus
    the slope, so that the steepest sorts first, with the step's code in its last bits."""
    n, k = acc.shape
    strict = cost.ndim == 1 and k > 1 and (np.diff(cost) > 0).all()
    in_block = _scan_block if k > _WIDE else _walk_block
    for begin in range(0, n, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        value = np.ascontiguousarray(acc[block].T)
        if straight := _straight(value, cost, codes) if strict else None:
            yield from ((begin, np.arange(value.shape[1]), keys) for keys in straight)
        else:
            price = cost[:, None] if cost.ndim == 1 else np.ascontiguousarray(cost[block].T)
            yield from ((begin, rows, keys) for rows, keys in in_block(value, price, start[block], codes))


def _straight(value: np.ndarray, cost: np.ndarray, codes: Codes) -> list[np.ndarray] | None:
    """Keys of the steps from each column to the next, the short way where every budget gains clearly less than the one
    before; None where some row goes another way."""
    inverse, least = 1 / np.diff(cost), np.minimum(-TIE * (1 / (cost[-1] - cost[:-1])), -1e-300)
    # So clearly that no rounding could let the walk prefer a longer line: it must find the very same steps.
    margin = 8 * codes.precision / ((cost[2:] - cost[1:-1]) / (cost[2:] - cost[:-2]))
    steps: list[np.ndarray] = []
    for low in range(cost.size - 1):
        key = value[low] - value[low + 1]
        key *= inverse[low]
        codes.put(key, codes.number(low, low + 1))
        if not key.max() < least[low] or (steps and not (key > steps[-1] * (1 - margin[low - 1])).all()):
            return None
        steps.append(key)
    return steps


def _walk_block(
    value: np.ndarray, price: np.ndarray, start: np.ndarray, codes: Codes
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and keys of the steps from each low column, in a block of accuracies of shape (K, M); prices have it too, or
    (K, 1) where all rows pay alike."""
    k, at = len(value), start.astype(np.int16)
    before = None
    for low in range(k - 1):
        here = at == low
        rows = np.flatnonzero(here)
        most = 2 * rows.size > at.size  # then it is quicker to reckon for all and drop some than to pick these
        v = value[low:] if most else value[low:].take(rows, axis=1)
        paid = price[low:] if most or price.shape[1] == 1 else price[low:].take(rows, axis=1)
        rise = paid[1:] - paid[0]
        np.copyto(rise, np.inf, where=rise <= 0)  # among equal costs the better column has been taken already
        inverse = 1 / rise
        # A gain within the tolerance is rounding. The second bound keeps out a slope of 0, made tiny by its code.
        least = np.minimum(-TIE * inverse[-1], -1e-300)
        key, slope = np.full(v.shape[1], least), np.empty(v.shape[1])
        for j in range(1, k - low):
            np.subtract(v[0], v[j], out=slope)
            slope *= inverse[j - 1]
            codes.put(slope, codes.number(low, low + j))
            np.minimum(key, slope, out=key)
        steep = np.flatnonzero((key < least) & here if most else key < least)
        if steep.size == 0:
            continue
        if steep.size < key.size:
            key = key.take(steep)
        rows = steep if most else rows.take(steep)
        stepping = slice(None) if rows.size == at.size else rows
        if before is None:
            before = np.full(at.size, -np.inf)
        else:
            codes.level(key, before[stepping])
        before[stepping] = key
        at[stepping] = codes.high.take(codes.of(key))
        yield rows, key


def _scan_block(
    value: np.ndarray, price: np.ndarray, start: np.ndarray, codes: Codes
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """What `_walk_block` yields, the first step of every row first: each column is looked at once."""
    price = np.broadcast_to(price, value.shape)
    stack, depth = _corners(value, price, start)
    before = np.full(start.size, -np.inf)
    last = price[-1]
    for step in range(int(depth.max()) - 1):
        rows = np.flatnonzero(depth > step + 1)
        low, high = stack[step, rows], stack[step + 1, rows]
        key = (value[low, rows] - value[high, rows]) / (price[high, rows] - price[low, rows])
        codes.put(key, codes.number(low, high))
        # A gain within the tolerance is rounding, as in the walk; what follows on that row is flatter still.
        least = np.minimum(-TIE / (last[rows] - price[low, rows]), -1e-300)
        flat = key >= least
        depth[rows[flat]] = 0
        rows, key = rows[~flat], key[~flat]
        codes.level(key, before[rows])
        before[rows] = key
        if rows.size:
            yield rows, key


def _corners(value: np.ndarray, price: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of every row's envelope, cheapest first, and how many they are: a stack, on top of which a column
    stays until a better one shows that it lies under a line."""
    k, m = value.shape
    stack, depth = np.empty((k, m), dtype=np.int64), np.ones(m, dtype=np.int64)
    stack[0] = start

    def slope(low: np.ndarray, high: np.ndarray | int, rows: np.ndarray) -> np.ndarray:
        rise = price[high, rows] - price[low, rows]
        gain = value[high, rows] - value[low, rows]
        return np.where(rise > 0, gain / np.where(rise > 0, rise, 1), np.inf)

    for column in range(1, k):
        top = stack[depth - 1, np.arange(m)]
        # Dearer than the cheapest and better than the best so far, or no price picks it.
        better = (value[column] > value[top, np.arange(m)]) & (price[column] > price[0]) & (column > start)
        rows = np.flatnonzero(better)
        left = rows
        while left.size:
            left = left[depth[left] > 1]
            tip, under = stack[depth[left] - 1, left], stack[depth[left] - 2, left]
            left = left[slope(under, tip, left) < slope(tip, column, left)]
            depth[left] -= 1
        stack[depth[rows], rows] = column
        depth[rows] += 1
    return stack, depth
