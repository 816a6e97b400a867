r"""A certificate beside the vote: this is the model's most frequent answer, whenever one stops, but for a chance alpha.

A class A is compared with a rival R by the answers that come after A's first: a for A and r for R. Were A not more
frequent than R, the evidence :math:`E = 2^{a+r+1} \int_{1/2}^1 \theta^a (1-\theta)^r d\theta`, a mean of likelihood
ratios against a fair coin, would rise on average at no step, hence ever reach 1/x with chance at most x (Ville 1939).
The j-th class to appear is given a share :math:`1/(j(j+1))` of alpha, and these shares add up to 1. What is certified
is the mode of the answers that were read, not the truth. Explained in chapter 9, "When to stop".
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln

__all__ = ["Certificate", "certified", "log_evidence"]


def log_evidence(a: ArrayLike, r: ArrayLike) -> np.ndarray:
    """The logarithm of the evidence that a class is more frequent than its rival, after a and r votes."""
    a, r = np.asarray(a, dtype=float), np.asarray(r, dtype=float)
    return (a + r + 1) * np.log(2) + betaln(a + 1, r + 1) + np.log(betainc(r + 1, a + 1, 0.5))


class Certificate:
    """The certificate of one question while its answers come in; ``risk_of`` an answer never rises again."""

    def __init__(self) -> None:
        self._since: dict[Hashable, dict[Hashable, int]] = {}  # of every class: the votes of each after its first
        self._risk: dict[Hashable, float] = {}

    def add(self, answer: Hashable) -> None:
        """Count one more answer; None is one that could not be read."""
        if answer is None:
            return
        new = answer not in self._since
        for votes in self._since.values():
            votes[answer] = votes.get(answer, 0) + 1
        if new:
            self._since[answer], self._risk[answer] = {answer: 0}, 1.0
            return
        place, votes = 1 + list(self._since).index(answer), self._since[answer]
        rival = max((count for other, count in votes.items() if other != answer), default=0)
        risk = place * (place + 1) * np.exp(-log_evidence(votes[answer], rival))
        self._risk[answer] = min(self._risk[answer], float(risk))

    def risk_of(self, answer: Hashable) -> float:
        """The least alpha at which this answer has been certified; 1 where it never was."""
        return self._risk.get(answer, 1.0)

    @property
    def answer(self) -> Hashable:
        """The answer with the least risk, the first to come of several; None before any was read."""
        return min(self._risk, key=self._risk.__getitem__, default=None)

    @property
    def risk(self) -> float:
        """Its risk: the chance, at most, that any answer but the most frequent ever has so little."""
        return self.risk_of(self.answer)


def certified(classes: ArrayLike, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """When the first class of each stream is certified (T + 1 where none is), and which (-1), both of shape (M,).

    ``classes`` (M, T) are in the order in which they came, negative where an answer could not be read.
    """
    classes = np.asarray(classes)
    streams, length = classes.shape
    when, which = np.full(streams, length + 1), np.full(streams, -1)
    order = [list(dict.fromkeys(row[row >= 0].tolist())) for row in classes]
    for j in range(1, max(map(len, order), default=0) + 1):
        limit = np.log(j * (j + 1) / alpha)
        least = int(np.argmax(log_evidence(np.arange(2048), 0) >= limit))  # votes without which there is nothing to see
        there = [m for m, came in enumerate(order) if len(came) >= j and (classes[m] == came[j - 1]).sum() > least]
        if not there:
            continue
        own, came = np.array([order[m][j - 1] for m in there]), classes[there]
        after = (came == own[:, None]).cumsum(axis=1) - (came == own[:, None]) > 0  # later than its first
        votes = (after & (came == own[:, None])).cumsum(axis=1)
        rival = np.zeros_like(votes)
        for other in np.unique(came[came >= 0]):
            theirs = (after & (came == other)).cumsum(axis=1)
            rival = np.where(own[:, None] == other, rival, np.maximum(rival, theirs))
        table = log_evidence(*np.indices((length + 1, length + 1))) >= limit
        holds = table[votes, rival]
        first = np.where(holds.any(axis=1), holds.argmax(axis=1) + 1, length + 1)
        sooner = np.flatnonzero(first < when[there])
        rows = np.array(there)[sooner]
        when[rows], which[rows] = first[sooner], own[sooner]
    return when, which
