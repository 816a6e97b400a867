r"""A certificate that a vote is the model's most frequent answer, up to an error of alpha.

A class A is compared with a rival R by the answers that come after A's first: a for A and r for R.
If A were not more frequent than R, the evidence

.. math:: E = 2^{a+r+1} \int_{1/2}^1 \theta^a (1-\theta)^r d\theta,

a mean of likelihood ratios against a fair coin, would be a supermartingale, and would ever reach
1/x with probability at most x [1]_. So the certificate holds whenever one stops. The j-th class to
appear gets a share :math:`1/(j(j+1))` of alpha, and these shares add up to 1. What is certified is
the mode of the readable answers, not the truth. Explained in the appendix
"Rivals, the certificate, and how intervals and verdicts were calibrated".

References
----------
.. [1] J. Ville, "Étude critique de la notion de collectif", 1939.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import comb

import numpy as np
from numpy.typing import ArrayLike


def log_evidence(a: ArrayLike, r: ArrayLike) -> np.ndarray:
    """Return the log evidence that a class is more frequent than its rival, after a and r votes."""
    from scipy.special import betainc, betaln  # here, because a server has no scipy

    a = np.asarray(a, dtype=float)
    r = np.asarray(r, dtype=float)
    return (a + r + 1) * np.log(2) + betaln(a + 1, r + 1) + np.log(betainc(r + 1, a + 1, 0.5))


def inverse_evidence(a: int, r: int) -> float:
    r"""One over the evidence, from whole numbers alone: ``exp(-log_evidence(a, r))`` without scipy.

    With n = a + r + 1 the integral is a tail of the binomial distribution of n fair coins, so that
    :math:`1/E = n \binom{n-1}{a} / \sum_{k > r} \binom{n}{k}`.
    """
    n = a + r + 1
    tail = 2**n - sum(comb(n, k) for k in range(r + 1))
    return n * comb(n - 1, a) / tail


class Certificate:
    """The certificate of one question while its answers arrive; the risk of an answer never rises.

    Examples
    --------
    >>> certificate = Certificate()
    >>> for answer in "777777":
    ...     certificate.add(answer)
    >>> certificate.answer, round(certificate.risk, 3)
    ('7', 0.19)
    """

    def __init__(self) -> None:
        # For every class, the votes of each class after its first.
        self._since: dict[Hashable, dict[Hashable, int]] = {}
        self._risk: dict[Hashable, float] = {}

    def add(self, answer: Hashable) -> None:
        """Count one more answer; None is one that could not be read."""
        if answer is None:
            return
        new = answer not in self._since
        for votes in self._since.values():
            votes[answer] = votes.get(answer, 0) + 1
        if new:
            self._since[answer] = {answer: 0}
            self._risk[answer] = 1.0
            return
        place = 1 + list(self._since).index(answer)
        votes = self._since[answer]
        rival = max((count for other, count in votes.items() if other != answer), default=0)
        risk = place * (place + 1) * inverse_evidence(votes[answer], rival)
        self._risk[answer] = min(self._risk[answer], risk)

    def risk_of(self, answer: Hashable) -> float:
        """Return the least alpha at which this answer has been certified; 1 if it never was."""
        return self._risk.get(answer, 1.0)

    @property
    def answer(self) -> Hashable:
        """The answer with the least risk, of several the first; None before any was read."""
        return min(self._risk, key=self._risk.__getitem__, default=None)

    @property
    def risk(self) -> float:
        """The risk of that answer: a bound on the probability that it is not the most frequent."""
        return self.risk_of(self.answer)


def certified(classes: ArrayLike, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return when the first class of each stream is certified, and which.

    Parameters
    ----------
    classes : array_like, shape (M, T)
        Classes in the order in which they came, negative where an answer was not readable.
    alpha : float
        Probability of error.

    Returns
    -------
    when : ndarray, shape (M,)
        The number of answers; T + 1 where no class is certified.
    which : ndarray, shape (M,)
        The class; -1 where none is.

    Examples
    --------
    >>> when, which = certified([[0] * 12], 0.05)
    >>> when.tolist(), which.tolist()
    ([9], [0])
    """
    classes = np.asarray(classes)
    streams, length = classes.shape
    evidence = log_evidence(*np.indices((length + 1, length + 1)))
    when = np.full(streams, length + 1)
    which = np.full(streams, -1)
    appeared = [list(dict.fromkeys(row[row >= 0].tolist())) for row in classes]
    for place in range(1, max(map(len, appeared), default=0) + 1):
        needed = np.log(place * (place + 1) / alpha)
        # With fewer votes than this even an unopposed class is not certified.
        fewest = int(np.argmax(log_evidence(np.arange(2048), 0) >= needed))
        rows = np.array(
            [
                row
                for row, names in enumerate(appeared)
                if len(names) >= place and (classes[row] == names[place - 1]).sum() > fewest
            ],
            dtype=int,
        )
        if not rows.size:
            continue
        own = np.array([appeared[row][place - 1] for row in rows])
        first = _first_certified(classes[rows], own, evidence >= needed)
        sooner = first < when[rows]
        when[rows[sooner]] = first[sooner]
        which[rows[sooner]] = own[sooner]
    return when, which


def _first_certified(classes: np.ndarray, own: np.ndarray, enough: np.ndarray) -> np.ndarray:
    """Return after how many answers class ``own[m]`` of stream m is certified; T + 1 for never.

    ``enough[a, r]`` is whether a votes for the class and r for its strongest rival suffice, both
    counted after the first vote for the class.
    """
    is_own = classes == own[:, None]
    after_first = is_own.cumsum(axis=1) - is_own > 0
    own_votes = (after_first & is_own).cumsum(axis=1)
    rival_votes = np.zeros_like(own_votes)
    for other in np.unique(classes[classes >= 0]):
        votes = (after_first & (classes == other)).cumsum(axis=1)
        is_rival = own[:, None] != other
        rival_votes = np.where(is_rival, np.maximum(rival_votes, votes), rival_votes)
    holds = enough[own_votes, rival_votes]
    return np.where(holds.any(axis=1), holds.argmax(axis=1) + 1, classes.shape[1] + 1)
