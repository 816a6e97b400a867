"""What a mean over questions is worth: its interval.

Every figure in the book that estimates something says how far it could have come out otherwise. The interval here is
over questions: resample them with replacement and see how the mean moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Interval", "bootstrap_mean"]


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its interval; arrays when the means of several columns were asked for."""

    mean: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray


def bootstrap_mean(values: ArrayLike, level: float = 0.95, draws: int = 2000, seed: int = 0) -> Interval:
    """Mean over questions with a bootstrap percentile interval.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    values : array_like, shape (N,) or (N, K)
        One number a question, or one row a question; columns are resampled together.
    level : float
        Coverage aimed at, in (0, 1).
    draws : int
        Bootstrap resamples.
    seed : int

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
    """
    values = np.asarray(values, dtype=float)
    if values.ndim not in (1, 2) or not len(values) or not np.isfinite(values).all():
        raise ValueError("values must be a non-empty vector or matrix of finite numbers, one row a question")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; give a coverage between 0 and 1")
    n = len(values)
    # How often each question is drawn in each resample: one product then gives all the resampled means.
    times_drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)
    low, high = np.quantile(times_drawn @ values / n, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Interval(values.mean(axis=0), low, high)
