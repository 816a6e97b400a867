"""What a mean over questions is worth: its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Interval", "bootstrap_mean", "in_points"]

_CHUNK = 1 << 17  # weights drawn at a time: a megabyte
_MANY = 5000  # questions from which on a random weighing is normal for all that an interval can show


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
    bounds: tuple[float | None, float | None] = (None, 1.0),
) -> Interval:
    """Mean over questions with a Bayesian-bootstrap interval whose upper end knows how large a value can be.

    Each draw gives every question a random weight (exponential, mean 1) and half an imaginary question one too (gamma,
    mean 1/2, as Jeffreys' prior has for a share). It stands at the lower bound for the lower end, at the upper bound
    for the upper end. The interval covers where the plain bootstrap does not, when a gain sits in a few questions: then
    many samples hold none, and no reweighing of what was seen knows how large the mean may be. Chapter 7, "Results",
    compares them. Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    values : array_like, shape (N,) or (N, K)
        One number a question, or one row a question; columns are weighed together.
    bounds : pair of float or None
        The smallest and the largest value that a question can have: 0 and 1 for an accuracy. None: as far from 0 as the
        farthest value seen. Values outside move them. The default suits gains: a loss that no question showed is not
        imagined, a gain is.

    Examples
    --------
    >>> interval = bootstrap_mean([0.0, 1.0] * 50)
    >>> bool(interval.low < interval.mean == 0.5 < interval.high)
    True
    >>> bool(bootstrap_mean([0.0] * 40).high > 0.03)  # forty questions without a gain do not show that there is none
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
    farthest = np.abs(values).max(axis=0)
    floor, roof = (-farthest if bounds[0] is None else bounds[0]), (farthest if bounds[1] is None else bounds[1])
    floor, roof = np.minimum(floor, values.min(axis=0)), np.maximum(roof, values.max(axis=0))
    rng = np.random.default_rng(seed)
    weighed, total = _weighings(values, draws, rng)
    half = rng.standard_gamma(0.5, draws)
    low, high = (
        np.quantile((weighed + np.multiply.outer(end, half)) / (total + half), share, axis=-1)
        for end, share in ((floor, (1 - level) / 2), (roof, (1 + level) / 2))
    )
    mean = values.mean(axis=0)
    return Interval(mean, np.minimum(low, mean), np.maximum(high, mean))  # the mean may be a bound itself


def _weighings(values: np.ndarray, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the values under random weights, (draws,) or (K, draws), and of the weights alone."""
    n = len(values)
    if n > _MANY:
        total = rng.standard_gamma(n, draws)
        noise = rng.standard_normal((*values.shape[1:], draws)) * np.sqrt(n)
        return np.multiply.outer(values.mean(axis=0), total) + (noise.T * values.std(axis=0)).T, total
    parts = []
    for start in range(0, draws, _CHUNK // n):
        weights = rng.standard_exponential((min(_CHUNK // n, draws - start), n))
        parts.append(((weights @ values).T, weights.sum(axis=1)))
    return np.concatenate([part[0] for part in parts], axis=-1), np.concatenate([part[1] for part in parts])


def in_points(gain: float, digits: int = 1) -> str:
    """A gain of accuracy as the book writes it: in points, with a sign.

    >>> in_points(0.0361), in_points(-0.0361, 2), in_points(-0.0001)
    ('+3.6', '-3.61', '+0.0')
    """
    return f"{100 * gain:+z.{digits}f}"
