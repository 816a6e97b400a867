"""The upper concave hull of accuracy against cost, for one curve or for a whole table at once.

Only the corners of the hull are bought at some price, and the slope from one corner to the next is
the price at which a question moves on. One curve is scanned in plain Python, which is fast for a
few hundred points. The questions of a table walk together: they start at their cheapest column and
go, each time, along the steepest line to a more expensive one. For one question the walk is ::

    while column < K - 1:
        extra = cost[column + 1 :] - cost[column]
        slopes = (acc[column + 1 :] - acc[column]) / extra
        if slopes.max() <= 0:
            break
        column += 1 + int(slopes.argmax())

`adalib.frontier` sorts millions of such steps. Sorting plain numbers is several times faster than
sorting records, so each step is stored as one float64, its *key*::

    sign, exponent, leading fraction bits | last bits
    minus the slope                       | code of the pair (low, high) of columns

Minus the slope, so that the steepest step has the smallest key. The code takes as many bits as the
number of pairs has, and costs the slope a relative precision of 4e-15 for five columns. Codes fall
from the pair (0, 1) to the last pair, so among equal slopes steps from cheaper columns come first.

References
----------
R. L. Graham, "An efficient algorithm for determining the convex hull of a finite planar set",
Information Processing Letters 1 (1972).

R. A. Jarvis, "On the identification of the convex hull of a finite set of points in the plane",
Information Processing Letters 2 (1973).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from adalib.tolerances import TIE

_BLOCK = 150_000  # numbers that stay in the processor's cache while their questions walk

# The key of the flattest step that counts. A slope of 0 with a code in its last bits is a tiny
# number that could have either sign.
_FLATTEST_KEY = -1e-300


def concave_hull(cost: ArrayLike, accuracy: ArrayLike) -> list[int]:
    """Return the points at the corners of the upper concave hull, cheapest first.

    The points may come in any order; one on the line between two corners is left out. This is
    Graham's scan: take the points from the cheapest to the most expensive, and remove the last
    corner for as long as it lies under the line from the corner before it to the new point.

    Examples
    --------
    >>> concave_hull([1, 2, 3, 4], [0.1, 0.5, 0.6, 0.6])
    [0, 1, 2]
    """
    x = np.asarray(cost, dtype=float).tolist()
    y = np.asarray(accuracy, dtype=float).tolist()
    corners: list[int] = []
    for point in sorted(range(len(x)), key=lambda i: (x[i], -y[i])):
        if corners and y[point] <= y[corners[-1]]:
            continue  # it costs more and gains nothing
        while len(corners) > 1:
            before, last = corners[-2:]
            gain_last = (y[last] - y[before]) * (x[point] - x[before])
            gain_point = (y[point] - y[before]) * (x[last] - x[before])
            if gain_last > gain_point:
                break  # the last corner lies above the line to the new point
            corners.pop()
        corners.append(point)
    return corners


def mix_cost(cost: ArrayLike, accuracy: ArrayLike, target: float) -> float:
    """Return the least average cost at which a random mix of these points reaches an accuracy.

    Infinite if no mix reaches it.

    Examples
    --------
    >>> mix_cost([1, 2, 4], [0.4, 0.4, 0.6], target=0.5)
    2.5
    """
    cost = np.asarray(cost, dtype=float)
    accuracy = np.asarray(accuracy, dtype=float)
    corners = concave_hull(cost, accuracy)
    if target > accuracy[corners[-1]]:
        return float("inf")
    return float(np.interp(target, accuracy[corners], cost[corners]))


class StepCodes:
    """Numbers for the pairs of ``k`` columns, written into the last bits of a slope.

    Attributes
    ----------
    low, high : ndarray of int, shape (K(K-1)/2,)
        The two columns of every code.
    code : ndarray of int, shape (K, K)
        The code of every pair; only entries with ``low < high`` are meant.
    precision : float
        Relative precision of a key: two steps of equal slope may differ by this much.
    """

    def __init__(self, k: int) -> None:
        pairs = np.triu_indices(k, 1)
        self.low, self.high = (columns[::-1].copy() for columns in pairs)
        self.code = np.zeros((k, k), dtype=np.int64)
        self.code[self.low, self.high] = np.arange(self.low.size)
        self._mask = (1 << self.low.size.bit_length()) - 1
        self.precision = (self._mask + 1) * np.finfo(float).eps

    def write(self, slopes: np.ndarray, codes: np.ndarray) -> None:
        """Turn minus-slopes into keys, in place, by overwriting their last bits with the codes."""
        bits = slopes.view(np.int64)
        bits &= ~self._mask
        bits |= codes

    def read(self, keys: np.ndarray) -> np.ndarray:
        """Return the codes in the last bits of some keys."""
        return keys.view(np.int64) & self._mask


@dataclass(frozen=True, eq=False)
class HullSteps:
    """The steps of all questions, each question's own from the cheapest on; not sorted otherwise.

    Attributes
    ----------
    start : ndarray of int, shape (N,)
        The column at which each question starts: the most accurate of its cheapest ones.
    rows, keys : ndarray, shape (S,)
        Question and key of every step. Steps with equal keys are in the order of the rows.
    codes : StepCodes
        Reads the columns of a step out of its key.
    """

    start: np.ndarray
    rows: np.ndarray
    keys: np.ndarray
    codes: StepCodes


def hull_steps(acc: np.ndarray, cost: np.ndarray) -> HullSteps:
    """Return all steps along the hulls of a checked table, block of rows after block of rows."""
    n, k = acc.shape
    start = _cheapest_columns(acc, cost)
    codes = StepCodes(k)
    rows: list[np.ndarray] = [np.empty(0, dtype=np.int64)]
    keys: list[np.ndarray] = [np.empty(0)]
    block_rows = max(_BLOCK // k, 1)
    for first in range(0, n, block_rows):
        block = slice(first, first + block_rows)
        value = np.ascontiguousarray(acc[block].T)
        price = cost[:, None] if cost.ndim == 1 else np.ascontiguousarray(cost[block].T)
        for moving, step_keys in _walk(value, price, start[block], codes):
            rows.append(first + moving)
            keys.append(step_keys)
    return HullSteps(start, np.concatenate(rows), np.concatenate(keys), codes)


def _cheapest_columns(acc: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Return the most accurate of each row's cheapest columns."""
    columns = np.zeros(len(acc), dtype=np.int64)
    accuracy = acc[:, 0]
    for column in range(1, acc.shape[1]):
        costs_the_same = cost[..., column] == cost[..., 0]
        if not np.any(costs_the_same):
            break  # costs never fall along a row
        better = costs_the_same & (acc[:, column] > accuracy)
        columns[better] = column
        accuracy = np.where(better, acc[:, column], accuracy)
    return columns


def _walk(
    value: np.ndarray, price: np.ndarray, start: np.ndarray, codes: StepCodes
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows and keys of the steps that leave each column, the cheapest column first.

    ``value`` has shape (K, M), one column per question; ``price`` has it too, or shape (K, 1).
    """
    k, m = value.shape
    current = start.copy()  # the column that each question has reached
    previous = np.full(m, -np.inf)  # the key of each question's last step
    found = []
    for low in range(k - 1):
        rows = np.flatnonzero(current == low)
        ahead = _of_rows(value[low:], rows)
        paid = price[low:] if price.shape[1] == 1 else _of_rows(price[low:], rows)
        keys, flattest = _steepest(ahead, paid, codes, low)
        rising = keys < flattest
        if not rising.all():
            rows = rows[rising]
            keys = keys[rising]
        # The hull is concave, so only rounding makes a step steeper than the one before it.
        code = codes.read(keys)
        np.maximum(keys, previous.take(rows), out=keys)
        codes.write(keys, code)
        previous[rows] = keys
        current[rows] = codes.high.take(code)
        found.append((rows, keys))
    return found


def _of_rows(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the columns of a (K, M) table that belong to these rows; no copy if all of them do."""
    return table if rows.size == table.shape[1] else table.take(rows, axis=1)


def _steepest(
    value: np.ndarray, price: np.ndarray, codes: StepCodes, low: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the key of the steepest step from column ``low``, and the key it must lie below.

    ``value`` and ``price`` begin at that column. A step counts if it would gain more than `TIE`
    when it kept its slope up to the last column.
    """
    extra = price[1:] - price[0]
    # Of columns that cost the same the best was taken already, so the others gain nothing.
    np.copyto(extra, np.inf, where=extra <= 0)
    keys = value[0] - value[1:]
    keys *= 1 / extra
    codes.write(keys, codes.code[low, low + 1 :, None])
    return keys.min(axis=0), np.minimum(-TIE / extra[-1], _FLATTEST_KEY)
