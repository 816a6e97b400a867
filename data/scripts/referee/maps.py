"""Clusters of curves, maps of budgets by level, and labels of questions out of their fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, group_numbers
from adalib.evaluate.baselines import from_labels
from adalib.learn.label_policy import LabelPolicy
from adalib.table import UtilityTable


def level_shares(labels: ArrayLike, levels: Sequence, k: int) -> pd.DataFrame:
    """Share of each level's questions at each of ``k`` columns: one of the paper's heatmaps."""
    weights = from_labels(labels, k).weights
    return pd.DataFrame(weights, columns=range(k)).groupby(np.array(levels)).mean()


def out_of_fold(
    features: ArrayLike,
    table: UtilityTable,
    budget: float,
    groups: Sequence | None = None,
    folds: int = 5,
    seed: int = 0,
) -> np.ndarray:
    """Columns that the label policy gives to questions it did not learn from."""
    inputs = pd.DataFrame(features)
    columns = np.empty(table.n, dtype=int)
    member = np.arange(table.n) if groups is None else group_numbers(groups, table.n, sort=True)
    fold = deal(member, folds, order=_dealing_order(member.max() + 1, folds, seed))
    for out in np.unique(fold):
        train = np.flatnonzero(fold != out)
        test = np.flatnonzero(fold == out)
        policy = LabelPolicy(seed=seed).fit(
            inputs.iloc[train], table.acc[train], table.cost, budget=budget
        )
        columns[test] = policy.predict(inputs.iloc[test])
    return columns


def _dealing_order(n_groups: int, folds: int, seed: int) -> list[int]:
    """The order in which groups are dealt to the folds so that each fold is one run of a shuffle.

    These are the folds of scikit-learn's GroupKFold, which the recorded heatmaps were made with.
    """
    runs = np.array_split(np.random.RandomState(seed).permutation(n_groups), folds)
    return [run[place] for place in range(len(runs[0])) for run in runs if place < len(run)]


#: Names of four clusters of curves, in the order that `curve_clusters` numbers them.
SHAPES = ("easy", "responsive", "diminishing", "hard")


class Clusters(NamedTuple):
    """The cluster of every curve, the mean curve of each cluster, and the clusters' names.

    Four clusters are named by `SHAPES`, any other number of them "1", "2" and so on.
    """

    labels: np.ndarray
    centres: np.ndarray
    names: tuple[str, ...]


def curve_clusters(acc: ArrayLike, clusters: int = 4) -> Clusters:
    """Group accuracy curves with K-means, as in the paper's archetype figure.

    The clusters come from the highest mean to the lowest. Of four clusters, the two in the middle
    are ordered by their gain, and the one that gains more is called responsive: a convention of
    ours.
    """
    from sklearn.cluster import KMeans

    model = KMeans(clusters, n_init=10, random_state=0).fit(np.asarray(acc, dtype=float))
    centres = model.cluster_centers_
    order = np.argsort(-centres.mean(axis=1), kind="stable")
    rise = centres[:, -1] - centres[:, 0]
    if clusters == len(SHAPES) and rise[order[1]] < rise[order[2]]:
        order[[1, 2]] = order[[2, 1]]
    names: tuple[str, ...] = SHAPES
    if clusters != len(SHAPES):
        names = tuple(str(number) for number in range(1, clusters + 1))
    return Clusters(np.argsort(order)[model.labels_], centres[order], names)
