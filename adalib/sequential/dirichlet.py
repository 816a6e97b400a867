"""Adaptive-Consistency's Dirichlet rule: is the leader the most frequent of the five leading answers?

The Beta rule compares the leader with the runner-up alone. This one lets all five have their say, at the price of an
integral a state; states repeat, so that each is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaln

from adalib.sequential.rules import NEVER
from adalib.sequential.streams import Streams

__all__ = ["Dirichlet", "dirichlet_holds"]

_TOP = 5


@dataclass(frozen=True)
class Dirichlet:
    """Stop when the leader is the most frequent answer with this probability (`dirichlet_holds`), or at the cap."""

    threshold: float
    cap: int = NEVER

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        """The answer after which each stream stops, counted from 0, and what its vote is worth there."""
        stops = _chances(streams) >= self.threshold
        stops[:, min(self.cap, stops.shape[1]) - 1 :] = True
        first = stops.argmax(axis=1)
        return first, streams.votes().value[np.arange(len(first)), first]


def dirichlet_holds(counts: ArrayLike, top: int = _TOP) -> float:
    r"""Probability that the leading answer is the most frequent one, from a flat Dirichlet prior over the ``top``.

    With :math:`c_1 \ge c_2 \ge \dots` votes, independent gamma variables give the Dirichlet, and one integral is left:
    :math:`\int g_{c_1 + 1}(x) \prod_{i > 1} G_{c_i + 1}(x)\, dx`. Two answers alone are the Beta rule.

    Explained in chapter 10, "When to stop".

    Examples
    --------
    >>> round(dirichlet_holds([3, 0]), 4), round(dirichlet_holds([2, 2, 2]), 4)
    (0.9375, 0.3333)
    """
    counts = np.sort(np.asarray(counts, dtype=int))[::-1][:top]
    return float(_holds(counts[None])[0])


def _holds(states: np.ndarray) -> np.ndarray:
    """The probability in every state, a row of counts that falls; beyond the second, 0 is nobody."""
    x, density, below = _tables(int(states.max(initial=0)))
    inside = density[states[:, 0]]
    for place in range(1, states.shape[1]):
        rival = states[:, place]
        inside *= below[rival] if place == 1 else np.where(rival[:, None] > 0, below[rival], 1.0)
    return np.trapezoid(inside, x, axis=1)


@lru_cache(maxsize=4)
def _tables(most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places, and the gamma density and distribution at each, a row for every count."""
    x = np.linspace(0, most + 13 + 12 * np.sqrt(most + 1), 1601)
    count = np.arange(most + 1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.exp(np.where(count > 0, count * np.log(x), 0.0) - x - gammaln(count + 1))
    return x, density, gammainc(count + 1, x)


@lru_cache(maxsize=8)
def _chances(streams: Streams) -> np.ndarray:
    """The probability after every answer of every stream, shape (M, T)."""
    m, t = streams.classes.shape
    held = np.zeros((m, max(int(streams.classes.max(initial=0)) + 1, _TOP)), dtype=np.int64)
    codes = np.empty((m, t), dtype=np.int64)
    rows, digits = np.arange(m), (t + 1) ** np.arange(_TOP)
    for step in range(t):
        own = streams.classes[:, step]
        held[rows, np.maximum(own, 0)] += own >= 0
        codes[:, step] = np.sort(np.partition(held, -_TOP, axis=1)[:, -_TOP:], axis=1) @ digits
    unique, where = np.unique(codes, return_inverse=True)
    states = (unique[:, None] // digits[::-1]) % (t + 1)
    return _holds(states)[where.reshape(m, t)]
