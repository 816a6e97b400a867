"""The upper concave hull of accuracy against cost, for one curve or for many at once.

Both functions are Graham's scan: take the points from the cheapest to the most expensive, and
remove the last corner for as long as it lies under the line from the corner before it to the new
point. One curve is scanned in plain Python, which is fast for a few hundred points. Many curves of
equal length are scanned together in numpy, one column at a time.

References
----------
R. L. Graham, "An efficient algorithm for determining the convex hull of a finite planar set",
Information Processing Letters 1 (1972).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def concave_hull(cost: ArrayLike, accuracy: ArrayLike) -> list[int]:
    """Return the points at the corners of the upper concave hull, cheapest first.

    Only these points are bought at some price. The points may come in any order; one on the line
    between two corners is left out.

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


def concave_hulls(
    value: np.ndarray, price: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Scan M curves of K points each at once; ``value`` and ``price`` have shape (K, M).

    Costs never fall along a curve, and curve m starts at its column ``start[m]``, the best of its
    cheapest. Returns the corners, shape (K, M), of which the first ``count[m]`` of column m are
    meant, and ``count``. A point on the line between two corners is kept as a corner.
    """
    k, m = value.shape
    curves = np.arange(m)
    corners = np.empty((k, m), dtype=np.int64)
    corners[0] = start
    count = np.ones(m, dtype=np.int64)

    def slope(low: np.ndarray, high: np.ndarray | int, rows: np.ndarray) -> np.ndarray:
        rise = price[high, rows] - price[low, rows]
        gain = value[high, rows] - value[low, rows]
        return np.where(rise > 0, gain / np.where(rise > 0, rise, 1), np.inf)

    for column in range(1, k):
        last = corners[count - 1, curves]
        # No price buys a column unless it costs more than the cheapest and gains on the last.
        gains = value[column] > value[last, curves]
        bought = gains & (price[column] > price[0]) & (column > start)
        rows = np.flatnonzero(bought)
        shrinking = rows
        while shrinking.size:
            shrinking = shrinking[count[shrinking] > 1]
            tip = corners[count[shrinking] - 1, shrinking]
            before = corners[count[shrinking] - 2, shrinking]
            under_line = slope(before, tip, shrinking) < slope(tip, column, shrinking)
            shrinking = shrinking[under_line]
            count[shrinking] -= 1
        corners[count[rows], rows] = column
        count[rows] += 1
    return corners, count


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
