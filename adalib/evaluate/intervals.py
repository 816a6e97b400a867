"""What a mean is worth: its interval, by one rule for questions and by another for means of them.

Both rules mirror, ``interval(-x) = -interval(x)``, and neither draws random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Interval", "in_points", "mean_interval", "question_interval"]

_CHUNK = 1 << 17  # numbers that are worked on at a time: a megabyte
_HALF = 0.5  # of an imaginary question, at the bound towards which an end is sought


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its interval; arrays when the means of several columns were asked for."""

    mean: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray


def question_interval(
    values: ArrayLike, level: float = 0.95, bounds: tuple[ArrayLike, ArrayLike] = (-1.0, 1.0), times: float = 1.0
) -> Interval:
    r"""Mean over questions with an interval that knows how large a value can be, also where it is rare.

    Half an imaginary question is added at the upper bound to find the upper end, and at the lower bound to find the
    lower end. The upper end is the largest mean :math:`\mu` that reweighing the questions can explain,

    .. math:: \max_{p} \Bigl\{ \sum_i w_i \log(W p_i) : \sum_i w_i p_i = 1,\ \sum_i w_i p_i x_i = \mu \Bigr\}
              \ge -\tfrac12\, t_{N-1}^2 ,

    with weights 1 and 1/2 and their sum W: empirical likelihood. Chapter 7, "Results", compares it with others.
    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    values : array_like, shape (N,) or (N, K)
        One number per question, or one row per question; every column gets its own interval.
    bounds : pair of float, or of arrays of shape (K,)
        The smallest and the largest value that a question can have: 0 and 1 for an accuracy, -1 and 1 for a gain.
    times : float
        As if every question had come so many times: how wide the interval of a larger sample would be.

    Examples
    --------
    >>> gain = question_interval([0.0] * 38 + [0.5, 1.0])
    >>> loss = question_interval([0.0] * 38 + [-0.5, -1.0])
    >>> gain.low == -loss.high, gain.high == -loss.low
    (np.True_, np.True_)
    >>> bool(question_interval([0.0] * 40).high > 0.03)  # forty questions without a gain do not show that there is none
    True

    References
    ----------
    A. B. Owen, "Empirical likelihood ratio confidence intervals for a single functional", Biometrika 75 (1988).
    """
    values, critical = _checked(values, level, times)
    floor, roof = (np.asarray(bound, dtype=float) for bound in bounds)
    above, below = values - floor, roof - values
    if min(above.min(), below.min()) < -1e-9:
        raise ValueError(f"values from {values.min():g} to {values.max():g} are outside the bounds {floor} and {roof}")
    low, high = (_nearest(far.clip(0), critical, times) for far in (above, below))
    return Interval(values.mean(axis=0), floor + low, roof - high)


def mean_interval(values: ArrayLike, level: float = 0.95, times: float = 1.0) -> Interval:
    """Mean over draws, seeds or families with Student's interval: for few rows, each a mean of many questions.

    ``values`` and ``times`` are those of `question_interval`; at least two rows. Explained in chapter 7, "Results".

    Examples
    --------
    >>> found = mean_interval([0.02, 0.03, 0.01, 0.02])
    >>> float(round(found.low, 4)), float(round(found.high, 4))
    (0.007, 0.033)
    """
    values, critical = _checked(values, level, times)
    if len(values) < 2:
        raise ValueError("one row has no spread; give at least two")
    mean, half = values.mean(axis=0), np.sqrt(critical * values.var(axis=0, ddof=1) / (times * len(values)))
    return Interval(mean, mean - half, mean + half)


def _checked(values: ArrayLike, level: float, times: float) -> tuple[np.ndarray, float]:
    """The values as an array, and the square of Student's quantile."""
    from scipy.stats import t as student

    values = np.asarray(values, dtype=float)
    if values.ndim not in (1, 2) or not values.size or not np.isfinite(values).all():
        raise ValueError("values must be a non-empty vector or matrix of finite numbers, one row per question")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; give a coverage between 0 and 1")
    return values, float(student.ppf((1 + level) / 2, max(times * len(values) - 1, 1)) ** 2)


def _nearest(far: np.ndarray, critical: float, times: float) -> np.ndarray:
    """How near to a bound the mean may come, where ``far`` is how far from it every question is."""
    columns = far.reshape(len(far), -1)
    step = max(_CHUNK // len(far), 1)
    parts = [_nearest_of(columns[:, j : j + step], critical, times) for j in range(0, columns.shape[1], step)]
    return np.concatenate(parts).reshape(far.shape[1:])[()]


def _nearest_of(far: np.ndarray, critical: float, times: float) -> np.ndarray:
    from scipy.optimize.elementwise import find_root

    # The weights that explain a mean best are 1 / (d + far), normalised, so one number d > 0 runs through all means.
    weight, scale = times * len(far) + _HALF, far.max(axis=0)

    def total(d: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return times * (1 / (d + far[:, columns])).sum(axis=0) + _HALF / d

    def excess(u: np.ndarray, column: np.ndarray) -> np.ndarray:
        columns = column.astype(int)
        d = np.exp(u) * scale[columns]
        logs = times * np.log(d + far[:, columns]).sum(axis=0) + _HALF * np.log(d)
        return 2 * (logs + weight * np.log(total(d, columns) / weight)) - critical

    mean = np.zeros(far.shape[1])
    moved = np.flatnonzero(scale > 1e-12)  # where all stand at the bound, so does the mean
    if moved.size:
        ends = -critical / len(far) - 20, np.log(weight) / 2 + 10  # far beyond where the root can be
        d = np.exp(find_root(excess, ends, args=(moved,), tolerances={"xatol": 1e-9}).x) * scale[moved]
        mean[moved] = weight / total(d, moved) - d
    return mean


def in_points(gain: float, digits: int = 1) -> str:
    """A gain of accuracy as the book writes it: in points, with a sign.

    >>> in_points(0.0361), in_points(-0.0361, 2), in_points(-0.0001)
    ('+3.6', '-3.61', '+0.0')
    """
    return f"{100 * gain:+z.{digits}f}"
