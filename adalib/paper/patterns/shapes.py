"""Curves in groups: K-means, as in the paper's archetype figure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["SHAPES", "Clusters", "curve_clusters"]

#: Names of four clusters of curves, in the order that `curve_clusters` numbers them.
SHAPES = ("easy", "responsive", "diminishing", "hard")


@dataclass(frozen=True, eq=False)
class Clusters:
    """Curves in groups, as `curve_clusters` found them.

    Attributes
    ----------
    labels : ndarray of int, shape (N,)
        Cluster of every curve, from 0.
    centres : ndarray, shape (clusters, K)
        Mean curve of each cluster.
    names : tuple of str
        Of four clusters `SHAPES`; of any other number "1", "2" and so on.
    """

    labels: np.ndarray
    centres: np.ndarray
    names: tuple[str, ...]


def curve_clusters(acc: ArrayLike, clusters: int = 4, seed: int = 0) -> Clusters:
    """Group accuracy curves with K-means, as in the paper's archetype figure.

    The clusters are numbered from the highest mean accuracy to the lowest. Of four, the first is called easy, the last
    hard, and of the two between the one that gains more from the first budget to the last is responsive and comes
    first, the other diminishing: a convention, since K-means names nothing. Explained in chapter 8, "Patterns".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        With at least as many different rows as clusters.
    clusters : int
    seed : int
        Of the starting points; the best of ten starts is kept.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> curve_clusters([[0.9, 1.0], [0.3, 0.9], [0.4, 0.5], [0.0, 0.0], [1.0, 1.0]]).labels.tolist()
    [0, 1, 2, 3, 0]
    """
    from sklearn.cluster import KMeans

    acc = np.asarray(acc, dtype=float)
    different = len(np.unique(acc, axis=0)) if acc.ndim == 2 else 0
    if not 1 <= clusters <= different:
        raise ValueError(f"{clusters} clusters cannot be made of {different} different curves; give a table of more")
    found = KMeans(clusters, n_init=10, random_state=seed).fit(acc)
    order = np.argsort(-found.cluster_centers_.mean(axis=1), kind="stable")
    rise = found.cluster_centers_[:, -1] - found.cluster_centers_[:, 0]
    if clusters == len(SHAPES) and rise[order[1]] < rise[order[2]]:
        order[[1, 2]] = order[[2, 1]]
    names = SHAPES if clusters == len(SHAPES) else tuple(str(number + 1) for number in range(clusters))
    return Clusters(np.argsort(order)[found.labels_], found.cluster_centers_[order], names)
