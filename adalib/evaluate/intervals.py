"""Intervals for a mean over questions: Student's, and bounds that allow for rare losses.

`mean_interval` is the interval of every accuracy and gain in the book. It trusts the spread of
the questions at hand, so it cannot know of losses that none of them shows. `cautious_bound` can;
and `hidden_loss` says how much such losses may amount to. The verdict rests on `guarded_bound`,
which takes both precautions, one at a time. None of the four draws random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from adalib.tolerances import TIE

_CHUNK = 1 << 17  # numbers that are worked on at a time: a megabyte
_IMAGINARY = 2 / 3  # weight of the imaginary question; see the notes of `cautious_bound`


@dataclass(frozen=True)
class Interval:
    """A mean and the ends of its interval; arrays if there are several columns."""

    mean: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    r"""Return the mean of the rows with Student's t interval.

    .. math:: \bar x \pm t_{N-1} \, \frac{s}{\sqrt N}, \qquad
              s^2 = \frac{1}{N-1} \sum_i (x_i - \bar x)^2 .

    Explained in the chapter "Four kinds of question"; the appendix "Rival stopping rules,
    and how far to trust our intervals" shows where it holds and where it does not.

    Parameters
    ----------
    values : array_like, shape (N,) or (N, K)
        One number per question, family, seed or draw, at least two; or one row of K numbers, and
        then every column has its own interval.
    level : float
        Coverage, between 0 and 1.

    Returns
    -------
    Interval
        Its mirror image belongs to the negative values: ``interval(-x) = -interval(x)``.

    Examples
    --------
    >>> found = mean_interval([0.02, 0.03, 0.01, 0.02])
    >>> float(round(found.low, 4)), float(round(found.high, 4))
    (0.007, 0.033)
    """
    values = _checked(values)
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; give a coverage between 0 and 1")
    if len(values) < 2:
        raise ValueError("one row has no spread; give at least two")
    mean = values.mean(axis=0)
    error = np.sqrt(values.var(axis=0, ddof=1) / len(values))
    half = _student((1 + level) / 2, len(values)) * error
    return Interval(mean, mean - half, mean + half)


def cautious_bound(
    gains: ArrayLike, wrong: float = 0.05, most: float = 1.0, times: float = 1.0
) -> float | np.ndarray:
    r"""Return a lower bound of the mean gain that also holds if large losses are rare.

    A sample may hold none of the questions on which a policy loses a lot. So an imaginary
    question of weight :math:`w_0 = 2/3` that loses ``most`` is added, and the bound is the
    smallest mean that reweighting all questions can explain (empirical likelihood),

    .. math:: \min_{p} \Bigl\{ \sum_i w_i p_i x_i : \sum_i w_i p_i = 1,\
              \sum_i w_i \log(W p_i) \ge -\tfrac12\, t_{N-1}^2 \Bigr\} ,

    where the other weights are 1, W is the sum of all weights and t is Student's quantile for
    one-sided error ``wrong``. An upper bound is ``-cautious_bound(-gains)``. The appendix
    "Rival stopping rules, and how far to trust our intervals" compares it with
    other bounds.

    Parameters
    ----------
    gains : array_like, shape (N,) or (N, K)
        One gain per question or group; every column has its own bound.
    wrong : float
        How often the bound may lie above the true mean, between 0 and 1/2.
    most : float
        The largest possible loss: 1 for a question, and for groups of questions the size of the
        largest group divided by the average size. Larger losses among the gains count as seen,
        and with 0 only those.
    times : float
        Compute the bound as if every row had come so many times, which shows what a larger sample
        could tell.

    Returns
    -------
    float or array, shape (K,)

    Notes
    -----
    If all questions either lose everything or nothing, the exact bound (Clopper and Pearson's)
    asks that k losses or fewer have the chance ``wrong``. For small shares the number of losses
    has Poisson's law, whose exact bound is a quantile of the gamma law with shape k + 1. The
    median of that law is close to k + 2/3, so the likelihood of k + 2/3 losses gives nearly
    the exact bound: 3.03 / N at 5% without a loss, where 3.00 / N is exact.

    References
    ----------
    A. B. Owen, "Empirical likelihood ratio confidence intervals for a single functional",
    Biometrika 75 (1988).

    Examples
    --------
    A hundred questions gain two points each. Student's interval is a single point; but three
    questions in a hundred may lose everything, and the bound is below zero.

    >>> gains = [0.02] * 100
    >>> round(float(mean_interval(gains).low), 4), round(float(cautious_bound(gains)), 4)
    (0.02, -0.0107)
    >>> round(float(cautious_bound([0.02] * 300)), 4)
    0.0097
    """
    gains = _checked(gains)
    if not 0 < wrong < 0.5:
        raise ValueError(f"wrong is {wrong}; give a chance between 0 and 1/2")
    if not 0 <= most < np.inf:
        raise ValueError(f"most is {most}; give the largest possible loss, a number from 0")
    floor = np.minimum(-most, gains.min(axis=0))
    critical = _student(1 - wrong, times * len(gains)) ** 2
    return floor + _nearest(gains - floor, critical, times)


def guarded_bound(
    gains: ArrayLike, wrong: float = 0.05, most: float = 1.0, times: float = 1.0
) -> float | np.ndarray:
    r"""Return a lower bound of the mean gain that neither chance nor unseen losses explain away.

    A sample misleads in two ways: by the luck of the draw, or because questions that lose a lot are
    rare and none is in it. Both seldom happen at once. So the bound allows for each by itself, and
    where `cautious_bound` takes off something like the sum of two margins, it takes off the larger
    one,

    .. math:: \bar x - \max\bigl\{ \bar x - C_0(x),\; -\overline{x^-} - C(-x^-) \bigr\} ,
              \qquad x^- = \max(-x, 0) .

    C is the cautious bound, here of the losses alone, and :math:`C_0` the one in which no question
    loses more than the worst of the sample. The appendix "Rival stopping rules, and how far to
    trust our intervals" shows how often the bound finds a gain, and how often one that is none.

    Parameters
    ----------
    gains, wrong, most, times
        As for `cautious_bound`.

    Returns
    -------
    float or array, shape (K,)

    Examples
    --------
    Half of 300 questions gain 14 points, and the others lose 10. Chance may account for a little
    more than one of the two points, and unseen losses for about one, but hardly both at once.

    >>> gains = [0.14, -0.1] * 150
    >>> round(float(cautious_bound(gains)), 4), round(float(guarded_bound(gains)), 4)
    (0.0047, 0.0083)
    """
    gains = _checked(gains)
    losses = np.minimum(gains, 0.0)
    hidden = losses.mean(axis=0) - cautious_bound(losses, wrong, most, times)
    return np.minimum(cautious_bound(gains, wrong, 0.0, times), gains.mean(axis=0) - hidden)


def hidden_loss(n: int) -> float:
    r"""Return the largest share of questions that may lose everything without being seen.

    If a share q of all questions loses everything, a sample of n holds none of them with chance
    :math:`(1 - q)^n`. The largest share that stays unseen in 5% of samples is
    :math:`q = 1 - 0.05^{1/n}`, about 3/n, and by that much it may lower the mean. Explained in the
    appendix "Rival stopping rules, and how far to trust our intervals".

    Parameters
    ----------
    n : int
        Questions or groups that were scored, at least one.

    Examples
    --------
    >>> round(hidden_loss(300), 4)
    0.0099
    """
    if n < 1:
        raise ValueError(f"n is {n}; give at least one question")
    return 1 - 0.05 ** (1 / n)


def _checked(values: ArrayLike) -> np.ndarray:
    """Return the values as an array; raise ValueError for anything that has no mean."""
    values = np.asarray(values, dtype=float)
    if values.ndim not in (1, 2) or not values.size or not np.isfinite(values).all():
        raise ValueError(
            "values must be a non-empty vector or matrix of finite numbers, one row per question"
        )
    return values


def _student(probability: float, n: float) -> float:
    """Student's quantile for a mean of n values."""
    from scipy.special import stdtrit

    return float(stdtrit(max(n - 1, 1), probability))


def _nearest(far: np.ndarray, critical: float, times: float) -> np.ndarray:
    """Return how near to a bound the mean may come, given every question's distance from it."""
    columns = far.reshape(len(far), -1)
    step = max(_CHUNK // len(far), 1)
    parts = [
        _nearest_of(columns[:, j : j + step], critical, times)
        for j in range(0, columns.shape[1], step)
    ]
    return np.concatenate(parts).reshape(far.shape[1:])[()]


def _nearest_of(far: np.ndarray, critical: float, times: float) -> np.ndarray:
    """Do the same for a few columns at once."""
    from scipy.optimize.elementwise import find_root

    # The best weights are 1 / (d + far), normalised, so one number d > 0 runs through all means.
    weight = times * len(far) + _IMAGINARY
    scale = far.max(axis=0)

    def total(d: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return times * (1 / (d + far[:, columns])).sum(axis=0) + _IMAGINARY / d

    def excess(u: np.ndarray, column: np.ndarray) -> np.ndarray:
        columns = column.astype(int)
        d = np.exp(u) * scale[columns]
        logs = times * np.log(d + far[:, columns]).sum(axis=0) + _IMAGINARY * np.log(d)
        return 2 * (logs + weight * np.log(total(d, columns) / weight)) - critical

    mean = np.zeros(far.shape[1])
    moved = np.flatnonzero(scale > TIE)  # where all questions are at the bound, so is the mean
    if moved.size:
        # Both ends are far beyond where the root can be.
        ends = (-critical / len(far) - 20, np.log(weight) / 2 + 10)
        root = find_root(excess, ends, args=(moved,), tolerances={"xatol": 1e-9}).x
        d = np.exp(root) * scale[moved]
        mean[moved] = weight / total(d, moved) - d
    return mean


def in_points(gain: float, digits: int = 1) -> str:
    """Write a gain of accuracy as the book does, in points with a sign.

    >>> in_points(0.0361), in_points(-0.0361, 2), in_points(-0.0001)
    ('+3.6', '-3.61', '+0.0')
    """
    return f"{100 * gain:+z.{digits}f}"
