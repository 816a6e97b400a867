r"""A certificate that a vote is the model's most frequent answer, up to an error of alpha.

A class A is compared with a rival R by the answers that come after A's first: a for A and r for R.
If A were not more frequent than R, the evidence

.. math:: E = 2^{a+r+1} \int_{1/2}^1 \theta^a (1-\theta)^r d\theta,

a mean of likelihood ratios against a fair coin, would be a supermartingale, and would ever reach
1/x with probability at most x [1]_. So the certificate holds whenever one stops. The j-th class to
appear gets a share :math:`1/(j(j+1))` of alpha, and these shares add up to 1. What is certified is
the mode of the readable answers, not the truth. Explained in the appendix
"Rival stopping rules, and how far to trust our intervals".

References
----------
.. [1] J. Ville, "Étude critique de la notion de collectif", 1939.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln


def log_evidence(a: ArrayLike, r: ArrayLike) -> np.ndarray:
    """Return the log evidence that a class is more frequent than its rival, after a and r votes."""
    a = np.asarray(a, dtype=float)
    r = np.asarray(r, dtype=float)
    return (a + r + 1) * np.log(2) + betaln(a + 1, r + 1) + np.log(betainc(r + 1, a + 1, 0.5))


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
