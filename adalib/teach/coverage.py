"""How often does an interval hold the truth? A small simulation of gains that are rare, absent, or everyday."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.stats import norm

__all__ = ["POPULATIONS", "coverage"]

#: Gains of questions: how to draw them, and their true mean.
POPULATIONS: dict[str, tuple[Callable[[np.random.Generator, tuple], np.ndarray], float]] = {
    "rare: one question in 20 gains": (
        lambda rng, shape: np.where(rng.random(shape) < 0.05, rng.uniform(0.2, 1.0, shape), 0.0),
        0.03,
    ),
    "none: one in 10 moves, up or down": (
        lambda rng, shape: np.where(rng.random(shape) < 0.1, rng.uniform(-0.8, 0.8, shape), 0.0),
        0.0,
    ),
    "everyday: everyone moves a little": (lambda rng, shape: rng.normal(0.03, 0.15, shape).clip(-1, 1), 0.03),
}

_TAILS = (0.025, 0.975)


def coverage(sizes: tuple[int, ...] = (40, 120, 372), samples: int = 1000, draws: int = 400) -> pd.DataFrame:
    """Share of samples whose 95% interval holds the true mean, for five kinds of interval.

    A row for every population and every number of questions in a sample; a column a method, and ``width``, how much
    wider the last one is than the first. Explained in chapter 7, "Results".
    """
    rows = []
    for name, (draw, truth) in POPULATIONS.items():
        for n in sizes:
            rng = np.random.default_rng([n, len(name)])
            ends = _intervals(draw(rng, (samples, n)), rng, draws)
            held = {method: float(np.mean((low <= truth) & (truth <= high))) for method, (low, high) in ends.items()}
            first, last = (float(np.mean(high - low)) for low, high in (ends["percentile"], ends["ours"]))
            rows.append({"gains": name, "questions": n, **held, "width": last / first})
    return pd.DataFrame(rows)


def _intervals(values: np.ndarray, rng: np.random.Generator, draws: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The ends of every kind of interval, for a sample a row; all samples are resampled by the same weights."""
    n = values.shape[1]
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(n)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=draws).T / n
    means = values @ counts
    spread = np.sqrt(np.maximum(values**2 @ counts - means**2, 1e-12) / (n - 1))
    high_t, low_t = np.quantile((means - mean[:, None]) / spread, _TAILS, axis=1)
    # Flipping signs about a centre: it is refused where few half-samples lie beyond.
    kept = rng.random((n, draws)) < 0.5
    weights, half = rng.standard_exponential((n, draws)), rng.standard_gamma(0.5, draws)
    weighed, total = values @ weights, weights.sum(axis=0) + half
    farthest = np.abs(values).max(axis=1, keepdims=True)
    return {
        "percentile": tuple(np.quantile(means, _TAILS, axis=1)),
        "studentised": (mean - low_t * error, mean - high_t * error),
        "BCa": _corrected(values, means, mean),
        "sign flips": tuple(np.quantile(values @ kept / np.maximum(kept.sum(axis=0), 1), _TAILS, axis=1)),
        "ours": (
            np.minimum(mean, np.quantile((weighed - farthest * half) / total, _TAILS[0], axis=1)),
            np.quantile((weighed + half) / total, _TAILS[1], axis=1),
        ),
    }


def _corrected(values: np.ndarray, means: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Percentiles of the resampled means, moved for bias and for skewness (bias-corrected and accelerated)."""
    below = (means < mean[:, None]).mean(axis=1) + 0.5 * (means == mean[:, None]).mean(axis=1)
    bias = norm.ppf(below.clip(0.001, 0.999))
    excess = values - mean[:, None]
    skew = (excess**3).sum(axis=1) / (6 * np.maximum((excess**2).sum(axis=1), 1e-12) ** 1.5)
    ordered = np.sort(means, axis=1)
    ends = []
    for tail in norm.ppf(_TAILS):
        share = norm.cdf(bias + (bias + tail) / (1 - skew * (bias + tail)))
        place = np.round(share * (means.shape[1] - 1)).astype(int)
        ends.append(ordered[np.arange(len(means)), place])
    return ends[0], ends[1]
