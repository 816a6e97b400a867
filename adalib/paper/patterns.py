"""Who gets the budget, by level, difficulty and kind of curve, and whether a pattern is real.

Also what the paper's printed shares imply about its numbers of questions. Explained in the
chapter "Results and ablations".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import from_labels
from adalib.evaluate.crossfit import check_halves, compared
from adalib.evaluate.intervals import Interval, mean_interval
from adalib.learn.policies import LabelPolicy
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable


def group_means(
    values: ArrayLike, groups: ArrayLike, k: int, bounds: tuple[float, float] = (-1.0, 1.0)
) -> Interval:
    """Mean of each of ``k`` groups with its 95% interval.

    Each row of ``values`` is one look at the questions; several looks at a question count as one
    question.
    """
    values = np.atleast_2d(np.asarray(values, dtype=float))
    groups = np.atleast_2d(np.asarray(groups))
    if (
        values.shape != groups.shape
        or groups.dtype.kind not in "iu"
        or not np.isin(groups, range(k)).all()
    ):
        raise ValueError(
            f"groups must be numbers from 0 to {k - 1}, one for each of the {values.size} values"
        )
    inside = groups[:, :, None] == np.arange(k)
    size = inside.sum(axis=(0, 1))
    with np.errstate(invalid="ignore"):
        mean = (values[:, :, None] * inside).sum(axis=(0, 1)) / size
    there = size > 0
    # What each question adds to its groups' means: the linearised ratio of totals to sizes.
    excess = (
        ((values[:, :, None] - mean[there]) * inside[:, :, there]).sum(axis=0)
        * values.shape[1]
        / size[there]
    )
    low = np.full(k, np.nan)
    high = np.full(k, np.nan)
    if values.shape[1] < 2:  # one question has no spread, so that its means have no interval
        return Interval(mean, low, high)
    interval = mean_interval(mean[there] + excess)
    low[there], high[there] = np.clip(interval.low, *bounds), np.clip(interval.high, *bounds)
    return Interval(mean, low, high)


def by_level(table: UtilityTable, levels: Sequence) -> pd.DataFrame:
    """Accuracy of the smallest and the largest budget by level, and the gain between the two."""
    codes, names = _codes(levels, table.n)
    frame = pd.DataFrame({"level": names, "questions": np.bincount(codes)})
    first = table.acc[:, 0]
    last = table.acc[:, -1]
    for name, values, least in (("first", first, 0), ("last", last, 0), ("gain", last - first, -1)):
        _put(frame, name, group_means(values, codes, len(names), (least, 1)))
    return frame


def label_shares(labels: ArrayLike, k: int) -> np.ndarray:
    """Share of the questions at each of ``k`` columns."""
    return from_labels(labels, k).weights.mean(axis=0)


def difficulty_bins(acc1: ArrayLike, bins: int = 5) -> np.ndarray:
    """Deal the questions into equally large bins, from the lowest accuracy to the highest.

    Questions of equal accuracy keep their order.
    """
    acc1 = np.asarray(acc1, dtype=float)
    place = np.empty(acc1.size, dtype=int)
    for number, rows in enumerate(np.array_split(np.argsort(acc1, kind="stable"), bins)):
        place[rows] = number
    return place


def by_difficulty(
    acc1: ArrayLike, labels: ArrayLike, budgets: Sequence[float], bins: int = 5
) -> pd.DataFrame:
    """Budgets by bin of the accuracy of one answer, as in the paper's figure of quintiles."""
    place = difficulty_bins(acc1, bins)
    weights = from_labels(labels, len(budgets)).weights
    frame = pd.DataFrame({"bin": np.arange(1, bins + 1), "questions": np.bincount(place)})
    frame["acc1"] = np.bincount(place, acc1) / frame["questions"]
    ends = min(budgets), max(budgets)
    _put(
        frame, "budget", group_means(weights @ np.asarray(budgets, dtype=float), place, bins, ends)
    )
    for budget, column in zip(budgets, weights.T, strict=True):
        frame[f"b={budget}"] = np.bincount(place, column) / frame["questions"]
    return frame


def level_shares(labels: ArrayLike, levels: Sequence, k: int) -> pd.DataFrame:
    """Share of each level's questions at each of ``k`` columns: one of the paper's heatmaps."""
    weights = from_labels(labels, k).weights
    codes, names = _codes(levels, len(weights))
    return pd.DataFrame(weights, columns=range(k)).groupby(names[codes]).mean()


def _put(frame: pd.DataFrame, name: str, interval: Interval) -> None:
    """Add the columns ``name``, ``name_low`` and ``name_high`` to a table, in place."""
    frame[name], frame[f"{name}_low"], frame[f"{name}_high"] = (
        interval.mean,
        interval.low,
        interval.high,
    )


def _codes(levels: Sequence, n: int) -> tuple[np.ndarray, np.ndarray]:
    if levels is None or len(levels) != n or any(level is None for level in levels):
        raise ValueError(f"give one level for each of the {n} questions")
    codes, names = pd.factorize(np.array(levels), sort=True)
    return codes, names


def gain_by(
    responses: Responses,
    target: float,
    group_of: Callable[[UtilityTable], ArrayLike],
    k: int,
    *,
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    splits: int = 4,
    seed: int = 0,
    **table,
) -> pd.DataFrame:
    """What the oracle spends on each group of questions, its claimed gain and its real gain.

    One half of the samples makes the groups and the labels, the other half scores the labels, and
    the other way round.
    """
    check_halves(responses, budgets, splits)
    votes = compared(responses)
    looks = []
    for number in range(splits):
        halves = [part.table(budgets, **table) for part in votes.split_samples(seed + number)]
        plans = [
            from_labels(frontier(half.acc, half.cost).at(target).labels, half.k) for half in halves
        ]
        for one, other in ((0, 1), (1, 0)):
            gains = (
                plans[one].expected(halves[half].acc) - halves[half].acc[:, 0]
                for half in (one, other)
            )
            spent = (plans[half].expected(halves[half].cost) for half in (one, other))
            looks.append((np.asarray(group_of(halves[one])), *spent, *gains))
    groups, *columns = (np.array(part) for part in zip(*looks, strict=True))
    # What was spent is between the cheapest and the dearest; the half that chose never claims a
    # loss.
    ends = [(part.min(), part.max()) for part in columns[:2]] + [(0.0, 1.0), (-1.0, 1.0)]
    means = [
        group_means(values, groups, k, bounds) for values, bounds in zip(columns, ends, strict=True)
    ]
    frame = pd.DataFrame(
        {"group": range(k), "share": np.bincount(groups.ravel(), minlength=k) / groups.size}
    )
    for name, mean in zip(("budget", "budget_apart", "claimed", "gain"), means, strict=True):
        _put(frame, name, mean)
    return frame


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
    # Folds are the runs of a shuffled list, as scikit-learn's GroupKFold has them; the book's
    # heatmaps stand on these.
    runs = np.array_split(np.random.RandomState(seed).permutation(member.max() + 1), folds)
    order = [run[place] for place in range(len(runs[0])) for run in runs if place < len(run)]
    fold = deal(member, folds, order=order)
    for out in np.unique(fold):
        train = np.flatnonzero(fold != out)
        test = np.flatnonzero(fold == out)
        policy = LabelPolicy(seed=seed).fit(
            inputs.iloc[train], table.acc[train], table.cost, budget=budget
        )
        columns[test] = policy.predict(inputs.iloc[test])
    return columns


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

    The clusters come from the highest mean to the lowest. Of four, the one of the two in the middle
    that gains more comes first, as responsive: a convention of ours.
    """
    from sklearn.cluster import KMeans

    model = KMeans(clusters, n_init=10, random_state=0).fit(np.asarray(acc, dtype=float))
    centres = model.cluster_centers_
    order = np.argsort(-centres.mean(axis=1), kind="stable")
    rise = centres[:, -1] - centres[:, 0]
    if clusters == len(SHAPES) and rise[order[1]] < rise[order[2]]:
        order[[1, 2]] = order[[2, 1]]
    names = (
        SHAPES if clusters == len(SHAPES) else tuple(str(number + 1) for number in range(clusters))
    )
    return Clusters(np.argsort(order)[model.labels_], centres[order], names)


def nearest_mix(
    by_level: ArrayLike, overall: ArrayLike, n: int = 200
) -> tuple[tuple[int, ...], float]:
    """Whole numbers of questions per level that come nearest to printed overall accuracies."""
    by_level = np.asarray(by_level, dtype=float)
    overall = np.asarray(overall, dtype=float)
    mixes = np.array([(i, j, n - i - j) for i in range(n, -1, -1) for j in range(n - i, -1, -1)])
    error = np.abs(mixes @ by_level.T / n - overall).max(axis=1)
    return tuple(int(count) for count in mixes[error.argmin()]), float(error.min())


def whole_counts(
    shares: Sequence[float],
    cost: float,
    budgets: Sequence[int],
    n: int = 200,
    half_digit: float = 0.005,
) -> list[tuple[int, ...]]:
    """All whole numbers of questions per budget that print as these shares at this mean cost."""
    near = [
        [c for c in range(n + 1) if abs(c / n - share) <= half_digit + 1e-9] for share in shares
    ]
    spent = round(cost * n)
    return [c for c in product(*near) if sum(c) == n and np.dot(c, budgets) == spent]
