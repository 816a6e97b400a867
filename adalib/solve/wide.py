"""Envelopes of tables with very many columns, in one pass over them.

The walk of `adalib.solve.envelope` looks from every corner at all columns beyond: few budgets, many questions. With
thousands of columns that is a square; here each column is looked at once and is on top of its row's stack until a
better one shows that it lies under a line (Graham's scan, all rows at once).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from adalib.solve.oracle import TIE

if TYPE_CHECKING:
    from adalib.solve.envelope import Codes

__all__ = ["scan"]


def scan(
    value: np.ndarray, price: np.ndarray, start: np.ndarray, codes: Codes
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and keys of all steps, the first step of every row first.

    Parameters
    ----------
    value : ndarray, shape (K, M)
        Accuracy, column by column.
    price : ndarray, shape (K, M) or (K, 1)
        Cost, which never falls from a column to the next.
    start : ndarray of int, shape (M,)
        Where each row begins.
    codes : Codes
    """
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
        late = np.flatnonzero(key < before[rows])  # rounding: the envelope is concave, so level it
        if late.size:
            level = before[rows[late]]
            codes.put(level, codes.of(key[late]))
            key[late] = level
        before[rows] = key
        if rows.size:
            yield rows, key


def _corners(value: np.ndarray, price: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of every row's envelope, cheapest first, as a stack; and how many they are."""
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
