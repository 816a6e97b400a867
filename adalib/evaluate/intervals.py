"""What a mean over questions is worth: its interval.

Every figure in the book that estimates something says how far it could have come out otherwise. The interval here is
over questions: weigh them at random and see how the mean moves. Where a gain sits in a few questions, most samples hold
too few of them, some hold none, and then no reweighing of what was seen knows how large the mean may be. What helps is
that a gain has a largest and a smallest possible value: half an imaginary question stands at each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Interval", "bootstrap_mean"]

_CHUNK = 1 << 17  # weights drawn at a time: a megabyte, however many questions there are


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its interval; arrays when the means of several columns were asked for."""

    mean: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray


def bootstrap_mean(
    values: ArrayLike,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Interval:
    """Mean over questions with a Bayesian-bootstrap interval that knows how large a value can be.

    Each draw gives every question a random weight (exponential, mean 1) and each end of ``bounds`` one of half that
    size (gamma, mean 1/2), as Jeffreys' prior does for a share. The interval holds the middle ``level`` of the weighted
    means. It covers where the plain bootstrap does not, when a gain sits in one question in twenty, and for many
    questions it is the usual one: chapter 7, "Results", compares. Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    values : array_like, shape (N,) or (N, K)
        One number a question, or one row a question; columns are weighed together.
    level : float
        Coverage aimed at, in (0, 1).
    draws : int
        Random weighings.
    seed : int
    bounds : pair of float
        The smallest and the largest value that a question can have: -1 and 1 for a difference of two accuracies, 0 and
        1 for an accuracy. Values outside move them.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If there is no question, a value is not finite, or the level is not between 0 and 1.

    Examples
    --------
    >>> interval = bootstrap_mean([0.0, 1.0] * 50)
    >>> bool(interval.low < interval.mean == 0.5 < interval.high)
    True

    Forty questions without a gain do not show that there is none:

    >>> bool(bootstrap_mean([0.0] * 40).high > 0.03)
    True

    References
    ----------
    D. B. Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981).
    """
    values = np.asarray(values, dtype=float)
    if values.ndim not in (1, 2) or not len(values) or not np.isfinite(values).all():
        raise ValueError("values must be a non-empty vector or matrix of finite numbers, one row a question")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; give a coverage between 0 and 1")
    n = len(values)
    ends = np.stack([np.minimum(bounds[0], values.min(axis=0)), np.maximum(bounds[1], values.max(axis=0))])
    rng, means = np.random.default_rng(seed), []
    for size in _chunks(draws, max(1, _CHUNK // n)):
        weights, extra = rng.standard_exponential((size, n)), rng.standard_gamma(0.5, (size, 2))
        total = weights.sum(axis=1) + extra.sum(axis=1)
        means.append(((weights @ values + extra @ ends).T / total).T)
    mean = values.mean(axis=0)
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Interval(mean, np.minimum(low, mean), np.maximum(high, mean))  # the mean may be a bound itself


def _chunks(total: int, size: int) -> list[int]:
    return [size] * (total // size) + [total % size] * (total % size > 0)
