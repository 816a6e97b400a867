"""Which features matter for which budget: panel (b) of the paper's figure of importances.

It shows the mean of every feature among the questions of each budget. That needs a reference: the
same numbers after the labels were shuffled.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


def class_means(features: pd.DataFrame, labels: ArrayLike) -> pd.DataFrame:
    """Return the mean of each feature among the questions of each label, in standard deviations.

    One row per feature and one column per label that occurs. A feature that never varies has 0.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    means = _means(_standardised(features), codes)
    return pd.DataFrame(means, features.columns, classes)


def _standardised(features: pd.DataFrame) -> np.ndarray:
    """The features in standard deviations from their means."""
    values = features.to_numpy(dtype=float)
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _means(z: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Mean of each column of z (rows) among the rows with each code (columns)."""
    member = codes[:, None] == np.arange(codes.max() + 1)
    return z.T @ (member / member.sum(axis=0))


def beyond_chance(
    features: pd.DataFrame, labels: ArrayLike, draws: int = 500, seed: int = 0
) -> pd.DataFrame:
    """Mark the class means that shuffled labels exceed in less than 5% of the draws.

    The limit of a label is that of its largest mean over all features, so that by chance one label
    in twenty has a mark at all.
    """
    z = _standardised(features)
    codes = np.unique(labels, return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    largest = [np.abs(_means(z, rng.permutation(codes))).max(axis=0) for _ in range(draws)]
    return class_means(features, labels).abs() > np.quantile(largest, 0.95, axis=0)
