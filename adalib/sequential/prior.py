"""What training questions say about the chance that an attempt at a new question passes.

A question's chance is never seen, only its passes. Two ways lead back from these to how chances
are spread over questions: a Beta distribution with the right mean and variance, and a free form,
chances on a grid whose weights the EM algorithm finds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

_EVEN = 1e6  # a + b where passes spread no more than chance alone spreads them
_ROUNDS = 300


def beta_by_moments(passed: ArrayLike, attempts: ArrayLike) -> tuple[float, float]:
    r"""Return the Beta distribution whose chances would give passes of this mean and variance.

    With m the mean rate and v the variance of the rates, of which the draws themselves make
    :math:`m (1 - m) / R` if all chances are alike, a Beta with mean m and :math:`s = a + b` has

    .. math:: v = \frac{m (1-m)}{s + 1} \Bigl(1 + \frac sR\Bigr) .

    After k failures the chance of a pass is then :math:`a / (a + b + k)`.

    Returns
    -------
    a, b : float

    Examples
    --------
    >>> a, b = beta_by_moments([0, 10, 2, 8], 10)
    >>> round(a, 3), round(b, 3)
    (0.276, 0.276)
    """
    passed = np.asarray(passed, dtype=float)
    attempts = np.broadcast_to(np.asarray(attempts, dtype=float), passed.shape)
    rates = passed / attempts
    mean = rates.mean()
    unit = mean * (1 - mean)
    spread = rates.var()
    by_draws = unit * (1 / attempts).mean()
    if spread <= by_draws:
        return float(mean * _EVEN), float((1 - mean) * _EVEN)
    s = (unit - spread) / (spread - by_draws)
    return float(mean * s), float((1 - mean) * s)


def grid_for(attempts: ArrayLike, points: int = 100) -> np.ndarray:
    """Return chances to put weight on: 0, then ever coarser steps up to 1, and 1 itself."""
    least = 1 / (4 * float(np.max(attempts)))
    below = np.geomspace(least, 0.5, points // 2)
    return np.concatenate([[0.0], below, 1 - below[-2::-1], [1.0]])


def likelihood(p: np.ndarray, passed: ArrayLike, attempts: ArrayLike) -> np.ndarray:
    """Return how likely each question's passes are at each chance, (N, G); a row's largest is 1."""
    passed = np.asarray(passed, dtype=float)[:, None]
    failed = np.asarray(attempts, dtype=float) - passed[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = np.where(passed > 0, passed * np.log(p), 0.0)
        no = np.where(failed[:, None] > 0, failed[:, None] * np.log1p(-p), 0.0)
    logs = yes + no
    return np.exp(logs - logs.max(axis=1, keepdims=True))


def free_form(
    passed: ArrayLike, attempts: ArrayLike, p: ArrayLike | None = None, rounds: int = _ROUNDS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return the weights of a grid of chances that make the passes likeliest, by EM.

    Every round asks how likely each chance is for each question, given the weights so far, and
    takes the average over questions as the next weights:

    .. math:: w_g \leftarrow \frac1N \sum_i \frac{w_g \ell_{ig}}{\sum_h w_h \ell_{ih}} .

    Parameters
    ----------
    passed, attempts : array_like, shape (N,)
        Passes and attempts of the training questions.
    p : array_like, shape (G,), optional
        The grid. Default: 101 chances from 0 to 1, closer together near both ends.
    rounds : int
        How often.

    Returns
    -------
    p, weights : ndarray, shape (G,)
        The grid and its weights.
    own : ndarray, shape (N, G)
        How likely each chance is for each training question.

    Examples
    --------
    Half of the questions never pass, and half pass half of the time.

    >>> p, weights, own = free_form([0] * 50 + [10] * 50, 20, p=[0.0, 0.25, 0.5])
    >>> weights.round(2).tolist()
    [0.5, 0.0, 0.5]
    """
    passed = np.asarray(passed)
    attempts = np.broadcast_to(np.asarray(attempts), passed.shape)
    p = grid_for(attempts) if p is None else np.asarray(p, dtype=float)
    # Questions with the same counts are one row.
    counts, row, often = np.unique(
        np.column_stack([passed, attempts]), axis=0, return_inverse=True, return_counts=True
    )
    like = likelihood(p, counts[:, 0], counts[:, 1])
    share = often / often.sum()
    weights = np.full(p.size, 1 / p.size)
    for _ in range(rounds):
        own = like * weights
        own /= own.sum(axis=1, keepdims=True)
        weights = share @ own
    return p, weights, own[row.ravel()]
