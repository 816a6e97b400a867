r"""In how many ways does a class win a vote? Counted exactly, with generating functions.

Fix one class and let it get k votes. It wins if every other class gets fewer, or gets k too and
loses the tie. Another class of n samples can do so in as many ways as the polynomial

.. math:: \sum_{i < k} \binom{n}{i} z^i + t z^k

says, where the exponent of z counts its votes and t its ways to tie and lose. An empty answer never
votes, so each contributes 1 + z. In the product of all these polynomials, the coefficient of
:math:`z^{b-k}` is the number of ways to choose the other b - k of b samples.

The two tie rules differ only in t:

- Shared ties pay 1 / (1 + m) if m others tie, which is the integral of :math:`y^m` over [0, 1]. So
  t is :math:`y \binom{n}{k}`, and Gauss-Legendre quadrature over y is exact.
- With first-seen ties, fix the first sample of the class that is chosen. It wins the tie if all k
  votes of the other class come later, so t is :math:`\binom{n'}{k}` with n' the later samples.

For independent draws, :math:`p^i / i!` replaces :math:`\binom{n}{i}`. All terms are positive, so
nothing cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

#: ``series(x, degree)[i]`` is the weight of i votes out of a class of size x, for i up to degree.
Series = Callable[[np.ndarray, int], np.ndarray]


class Situations(NamedTuple):
    """T situations, each of one class among m others; sizes are samples, or probabilities."""

    own: np.ndarray  # size of the class, (T,); with first-seen ties, of what follows its first vote
    others: np.ndarray  # sizes of the other classes, (m, T)
    empty: np.ndarray  # size of the empty answers, (T,)
    most_votes: np.ndarray  # votes that each of the others could get, (m, T)
    #: For first-seen ties, the samples of the others that come after the first vote, (m, T).
    others_later: np.ndarray | None = None

    def take(self, places: np.ndarray) -> Situations:
        """Return some of the situations."""
        later = self.others_later
        return Situations(
            own=self.own[places],
            others=self.others[:, places],
            empty=self.empty[places],
            most_votes=self.most_votes[:, places],
            others_later=None if later is None else later[:, places],
        )


def winning_ways(series: Series, budgets: Sequence[int], situations: Situations) -> np.ndarray:
    """Add up the ways in which the class wins a vote of each budget, shape (K, T)."""
    largest = max(budgets)
    first_seen = situations.others_later is not None
    wins = np.zeros((len(budgets), len(situations.own)))
    for k in range(1, largest + 1):
        to_choose = k - 1 if first_seen else k  # the first vote is fixed where it settles ties
        own_ways = series(situations.own, to_choose)[to_choose]
        possible = np.flatnonzero(own_ways)
        if not possible.size:
            continue
        votes_left = largest - k
        y, weight = (np.ones(1), np.ones(1)) if first_seen else _tie_nodes(votes_left // k)
        others_ways = _others_ways(series, situations.take(possible), k, votes_left, y)
        for place, b in enumerate(budgets):
            if b >= k:
                wins[place, possible] += own_ways[possible] * (weight @ others_ways[b - k])
    return wins


def _others_ways(
    series: Series, situations: Situations, k: int, votes_left: int, y: np.ndarray
) -> np.ndarray:
    """Multiply the polynomials of the others, shape (votes_left + 1, nodes y, T).

    Entry d counts the ways in which they get d votes in all and none of them beats k votes.
    """
    others = situations.others
    later = situations.others_later
    # A class that cannot reach k votes is as harmless as empty answers, so one series serves all.
    threatens = (situations.most_votes >= k) & (k <= votes_left)
    size = np.where(threatens, others, 0)
    harmless = situations.empty + (others - size).sum(0)
    ways = np.repeat(series(harmless, votes_left)[:, None, :], len(y), axis=1)
    for j in np.flatnonzero(threatens.any(1)):
        fewer = series(size[j], k)
        tied = fewer[k]
        if later is not None:
            tied = series(np.where(threatens[j], later[j], 0), k)[k]
        product = ways.copy()
        for votes in range(1, k):
            product[votes:] += fewer[votes] * ways[:-votes]
        product[k:] += y[:, None] * tied * ways[:-k]
        ways = product
    return ways


@lru_cache(maxsize=256)
def _tie_nodes(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [0, 1] that integrate polynomials of this degree exactly."""
    y, weight = np.polynomial.legendre.leggauss(degree // 2 + 1)
    return (y + 1) / 2, weight / 2


def binomials(n: int, top: int) -> np.ndarray:
    """Return Pascal's triangle, ``table[i, m] = C(m, i)`` for i <= top and m <= n."""
    m = np.arange(n + 1.0)
    table = np.ones((top + 1, n + 1))
    for i in range(1, top + 1):
        table[i] = table[i - 1] * np.maximum(m - i + 1, 0) / i
    return table


def binomial_series(table: np.ndarray) -> Series:
    """Return the series of samples drawn without replacement, C(x, i), from Pascal's triangle."""

    def series(x: np.ndarray, degree: int) -> np.ndarray:
        return table[: degree + 1, x]

    return series


def exponential_series(x: np.ndarray, degree: int) -> np.ndarray:
    """Return x^i / i! for i = 0..degree along a new first axis, the series of independent draws."""
    ratios = x / np.arange(1, degree + 1).reshape(-1, *[1] * x.ndim)
    return np.concatenate([np.ones((1, *x.shape)), np.cumprod(ratios, axis=0)])
