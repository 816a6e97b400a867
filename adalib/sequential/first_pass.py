r"""When an answer can be checked: stop at the first pass, and give up at the price.

An attempt at a question passes with chance p. If p is known, every attempt is worth p, whatever
came before: go on while :math:`p > \lambda`, and a question that is solved has cost 1/p attempts on
average. If p is not known, every failure lowers the chance that the next attempt passes. It is the
posterior mean, and with attempts that are alike and independent given p it only falls:

.. math:: \hat p_k = \frac{E[p (1-p)^k]}{E[(1-p)^k]} .

So one goes on exactly while :math:`\hat p_k > \lambda c`, if no attempt is cheaper than the one
before it. Where costs fall, an attempt may be worth its price only together with later ones, and
one goes on while the best cap is further on (`best_cap`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def planned(p: ArrayLike, lam: float) -> np.ndarray:
    r"""Return how many attempts to plan at once at a price, if their chance of a pass is known.

    The b-th of several attempts helps only if all before it fail, so it is worth
    :math:`p (1-p)^{b-1}`, and

    .. math:: b = \lceil \ln(\lambda / p) / \ln(1 - p) \rceil, \qquad 0 \text{ if } p \le \lambda .

    Parameters
    ----------
    p : array_like
        Chance that one attempt passes.
    lam : float
        The price of an attempt, above 0.

    Returns
    -------
    ndarray of int, in the shape of ``p``

    Examples
    --------
    >>> planned([0.05, 0.3, 0.9, 1.0], lam=0.1).tolist()
    [0, 4, 1, 1]
    """
    p = np.asarray(p, dtype=float)
    if not 0 < lam < np.inf:
        raise ValueError(f"the price is {lam}; give a number above 0")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p holds a number that is no chance; give numbers from 0 to 1")
    sure = p == 1
    worth = (p > lam) & ~sure
    inner = np.where(worth, p, 0.5)
    steps = np.ceil(np.log(lam / inner) / np.log1p(-inner))
    return np.where(worth, steps, np.where(sure & (lam < 1), 1, 0)).astype(int)


def first_pass(p: ArrayLike, cap: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the chance of a pass in up to ``cap`` attempts, and how many are made on average.

    .. math:: 1 - (1-p)^b, \qquad \sum_{k<b} (1-p)^k .

    Examples
    --------
    >>> solved, attempts = first_pass([0.0, 0.5], 3)
    >>> solved.tolist(), attempts.tolist()
    ([0.0, 0.875], [3.0, 1.75])
    """
    p = np.asarray(p, dtype=float)
    failing = (1 - p[..., None]) ** np.arange(cap + 1)
    return 1 - failing[..., -1], failing[..., :-1].sum(axis=-1)


def after_failures(p: ArrayLike, weights: ArrayLike, most: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the chance of a pass after k failures, and the chance of these, for k < ``most``.

    Parameters
    ----------
    p : array_like, shape (G,)
        Chances that a question may have.
    weights : array_like, shape (G,) or (N, G)
        How likely each is, before the first attempt.
    most : int
        The largest number of attempts.

    Returns
    -------
    chance, reached : ndarray, shape (most,) or (N, most)
        :math:`\hat p_k` and :math:`E[(1-p)^k]`. A question that always passes never fails; its
        chance after a failure is given as 0.

    Examples
    --------
    >>> chance, reached = after_failures([0.2, 0.6], [0.5, 0.5], most=2)
    >>> chance.round(3).tolist(), reached.round(3).tolist()
    ([0.4, 0.333], [1.0, 0.6])
    """
    p = np.asarray(p, dtype=float)
    weights = np.asarray(weights, dtype=float)
    failing = (1 - p)[:, None] ** np.arange(most)
    reached = weights @ failing
    passing = (weights * p) @ failing
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = np.where(reached > 0, passing / reached, 0.0)
    return chance, reached


def best_cap(
    chance: ArrayLike, reached: ArrayLike, lam: float, cost: ArrayLike = 1.0
) -> np.ndarray:
    r"""Return after how many failures to give up at a price.

    The next m attempts are worth their price if the passes that they bring exceed :math:`\lambda`
    times what they cost. The best cap is where no further m is:

    .. math:: \operatorname*{argmax}_b \sum_{k<b} r_k (\hat p_k - \lambda c_k),

    with :math:`r_k` the chance that attempt k + 1 is made. If :math:`c_k` never falls, that is the
    first k at which :math:`\hat p_k \le \lambda c_k`.

    Parameters
    ----------
    chance, reached : array_like, shape (..., K)
        As `after_failures` returns them.
    lam : float
        The price.
    cost : array_like, shape (K,) or (..., K)
        What each further attempt costs.

    Returns
    -------
    ndarray of int
        The smallest best cap, from 0 to K.

    Examples
    --------
    Four attempts at a chance of 0.2, of which the first costs a prompt as well.

    >>> best_cap([0.2] * 4, 0.8 ** np.arange(4), lam=0.15, cost=[1.5, 1, 1, 1]).item()
    4
    >>> best_cap([0.2] * 4, 0.8 ** np.arange(4), lam=0.19, cost=[1.5, 1, 1, 1]).item()
    0
    """
    chance = np.asarray(chance, dtype=float)
    if np.ndim(cost) == 0:  # equal costs, so that the first attempt below the price is the end
        return (chance > lam * float(cost)).cumprod(axis=-1).sum(axis=-1)  # type: ignore[arg-type]
    net = np.asarray(reached) * (chance - lam * np.asarray(cost, dtype=float))
    total = np.concatenate([np.zeros((*net.shape[:-1], 1)), np.cumsum(net, axis=-1)], axis=-1)
    return total.argmax(axis=-1)
