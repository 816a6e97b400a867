"""Counting the ways in which an answer wins a vote.

A class c wins with k votes when every other class has fewer, or has k and loses the tie. In generating functions:
class j contributes sum_{i<k} C(n_j, i) z^i + t_j z^k, an empty answer contributes 1 + z, and the coefficient of
z^(b-k) counts the ways to choose the rest. Shared ties pay 1 / (1 + number of tied others), which is the integral over
y in [0, 1] of y^(number of tied others): put t_j = y C(n_j, k) and let Gauss-Legendre do the integral exactly. With
first-seen ties, fix the first chosen sample of c: the tie is won where all k votes of j come later. For independent
draws, C(n, i) becomes p^i / i!. All terms are positive, so nothing cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

__all__ = ["binomials", "exponentials", "winning_ways"]


def winning_ways(
    series: Callable[[np.ndarray, int], np.ndarray],
    budgets: Sequence[int],
    own: np.ndarray,
    others: np.ndarray,
    spare: np.ndarray,
    *,
    most: np.ndarray,
    late: np.ndarray | None = None,
) -> np.ndarray:
    """Weigh the ways in which a class wins a vote, for T situations at once.

    Explained in chapter 5, "Estimation".

    Parameters
    ----------
    series : callable
        ``series(x, d)[i]`` for i = 0..d is the weight of i votes out of a class of size x: C(x, i) for subsets,
        x^i / i! for independent draws. Classes of sizes x and y together must weigh like one of size x + y.
    budgets : sequence of K int
        Numbers of samples in the vote.
    own : ndarray, shape (T,)
        Size of the class.
    others : ndarray, shape (m, T)
        Sizes of the other classes.
    spare : ndarray, shape (T,)
        Size of the empty answers, which never vote.
    most : ndarray, shape (m, T)
        The most votes that each of the others could get.
    late : ndarray, shape (m, T), optional
        For first-seen ties: the part of each other class that comes after the class's first vote; that vote is then
        fixed, and ``own`` counts what comes after it too. Without it, ties are shared.

    Returns
    -------
    ndarray, shape (K, T)
    """
    wins = np.zeros((len(budgets), len(own)))
    for k in range(1, max(budgets) + 1):
        mine = series(own, k)[k] if late is None else series(own, k - 1)[k - 1]
        live = np.flatnonzero(mine)
        if not live.size:
            continue
        degree = max(budgets) - k  # votes left for all the others
        y, weight = _tie_nodes(degree // k) if late is None else (np.ones(1), np.ones(1))
        # A class that cannot reach k is as harmless as empty answers, and their series multiply into one.
        threat = (most[:, live] >= k) & (k <= degree)
        size = np.where(threat, others[:, live], 0)
        harmless = spare[live] + (others[:, live] - size).sum(0)
        poly = np.repeat(series(harmless, degree)[:, None, :], len(y), axis=1)
        for j in np.flatnonzero(threat.any(1)):
            fewer = series(size[j], k)
            tied = fewer[k] if late is None else series(np.where(threat[j], late[j, live], 0), k)[k]
            product = poly.copy()
            for i in range(1, k):
                product[i:] += fewer[i] * poly[:-i]
            product[k:] += y[:, None] * tied * poly[:-k]
            poly = product
        for at, b in enumerate(budgets):
            if b >= k:
                wins[at, live] += mine[live] * (weight @ poly[b - k])
    return wins


@lru_cache(maxsize=256)
def _tie_nodes(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [0, 1] that integrate polynomials of this degree exactly."""
    y, weight = np.polynomial.legendre.leggauss(degree // 2 + 1)
    return (y + 1) / 2, weight / 2


def exponentials(x: np.ndarray, degree: int) -> np.ndarray:
    """Return x^i / i! for i = 0..degree, along a new first axis: the series of independent draws."""
    steps = np.arange(1, degree + 1)
    ratios = x[None] / steps.reshape(-1, *[1] * x.ndim)
    return np.concatenate([np.ones((1, *x.shape)), np.cumprod(ratios, axis=0)])


def binomials(n: int, top: int) -> np.ndarray:
    """Return Pascal's triangle, ``table[i, m] = C(m, i)`` for i <= top and m <= n: the series of subsets."""
    m = np.arange(n + 1.0)
    table = np.ones((top + 1, n + 1))
    for i in range(1, top + 1):
        table[i] = table[i - 1] * np.maximum(m - i + 1, 0) / i
    return table
