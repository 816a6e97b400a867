"""What does the model look at? Importances and class profiles, beside what they look like when there is nothing to see.

Both always come out as something: importances sum to 1 whatever the features, and the means of five classes always
differ. So each is computed again where the answer is known to be nothing: on noise columns, and on shuffled labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.evaluate.baselines import noise_features
from adalib.learn.label_policy import LabelPolicy
from adalib.learn.threads import side_by_side

__all__ = ["importances", "signatures"]


def importances(
    features: pd.DataFrame,
    labels: ArrayLike,
    draws: int = 20,
    seed: int = 0,
    groups: Sequence | None = None,
) -> pd.DataFrame:
    """Share of each feature in the gain of the paper's trees, beside two references that hold no signal.

    Explained in chapter 9, "Ablations".

    Parameters
    ----------
    features : DataFrame, shape (N, d)
    labels : array_like of int, shape (N,)
        The oracle's columns.
    draws : int
        How often each reference is drawn.
    seed : int
    groups : sequence of N values, optional
        Shuffle the labels by whole groups, all of one size: questions of a family keep each other's company.

    Returns
    -------
    DataFrame
        A row a feature, most important first: ``feature``, ``importance``; ``shuffled_low`` and ``shuffled_high``, the
        95% range of its importance when the labels are shuffled; ``noise_low`` and ``noise_high``, the lowest and the
        highest importance in the mean noise fit (as many noise columns, true labels): the same in every row.
    """
    labels = np.asarray(labels)
    rng = np.random.default_rng(seed)
    mixed = [_shuffle(labels, groups, rng) for _ in range(draws)]
    blind = [noise_features(len(labels), features.shape[1], seed=seed + draw) for draw in range(draws)]
    jobs = [(features, labels), *((features, other) for other in mixed), *((noise, labels) for noise in blind)]
    found = list(side_by_side(lambda job: LabelPolicy(seed=seed).fit_labels(*job).importance().to_numpy(), jobs))
    shuffled, noise = np.array(found[1 : 1 + draws]), np.array(found[1 + draws :])
    low, high = np.quantile(shuffled, [0.025, 0.975], axis=0)
    table = pd.DataFrame(
        {
            "feature": list(features.columns),
            "importance": found[0],
            "shuffled_low": low,
            "shuffled_high": high,
            "noise_low": noise.min(axis=1).mean(),
            "noise_high": noise.max(axis=1).mean(),
        }
    )
    return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)


def signatures(
    features: pd.DataFrame,
    labels: ArrayLike,
    draws: int = 500,
    seed: int = 0,
    groups: Sequence | None = None,
) -> pd.DataFrame:
    """Mean of each feature in each class of the oracle's labels, drawn as in the paper and in standard deviations.

    Explained in chapter 9, "Ablations".

    Parameters
    ----------
    features : DataFrame, shape (N, d)
    labels : array_like of int, shape (N,)
    draws : int
        Shuffles of the labels.
    seed : int
    groups : sequence of N values, optional
        As for `importances`.

    Returns
    -------
    DataFrame
        A row a feature and class: ``feature``, ``label``, ``questions`` (in the class); ``drawn``, the class mean
        standardised over the classes of its row, as in the paper's figure; ``effect``, the class mean minus the mean of
        all, in standard deviations of the feature; ``low`` and ``high``, the 95% range of the effect when the labels
        are shuffled; ``outside``, whether the effect lies outside. A constant feature has 0 everywhere.
    """
    labels = np.asarray(labels)
    values = features.to_numpy(dtype=float)
    spread = values.std(axis=0)
    scaled = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    classes, codes = np.unique(labels, return_inverse=True)
    member = np.eye(classes.size)[codes]
    sizes = member.sum(axis=0)

    def effects(of: np.ndarray) -> np.ndarray:
        return of.T @ scaled / sizes[:, None]

    effect = effects(member)
    rng = np.random.default_rng(seed)
    order = np.arange(labels.size)
    shuffled = np.array([effects(member[_shuffle(order, groups, rng)]) for _ in range(draws)])
    low, high = np.quantile(shuffled, [0.025, 0.975], axis=0)
    row_spread = effect.std(axis=0)
    drawn = (effect - effect.mean(axis=0)) / np.where(row_spread > 0, row_spread, 1.0)
    cells = [(f, c) for f in range(values.shape[1]) for c in range(classes.size)]
    return pd.DataFrame(
        [
            (
                str(features.columns[f]),
                int(classes[c]),
                int(sizes[c]),
                *(float(part[c, f]) for part in (drawn, effect, low, high)),
                bool(effect[c, f] < low[c, f] or effect[c, f] > high[c, f]),
            )
            for f, c in cells
        ],
        columns=["feature", "label", "questions", "drawn", "effect", "low", "high", "outside"],
    )


def _shuffle(labels: np.ndarray, groups: Sequence | None, rng: np.random.Generator) -> np.ndarray:
    """The labels in another order; with groups, each group gets the labels of another one."""
    if groups is None:
        return rng.permutation(labels)
    codes, names = pd.factorize(np.array([str(group) for group in groups], dtype=object))
    sizes = np.bincount(codes, minlength=len(names))
    if codes.size != labels.size or (sizes != sizes[0]).any():
        raise ValueError("groups must name one group a question, all of one size; leave them out to shuffle freely")
    blocks = np.argsort(codes, kind="stable").reshape(len(names), -1)
    shuffled = np.empty_like(labels)
    shuffled[blocks] = labels[blocks[rng.permutation(len(names))]]
    return shuffled
