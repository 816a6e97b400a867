"""Tables of who gets the budget: by level, by difficulty, and the means of groups with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.evaluate.baselines import from_labels
from adalib.evaluate.intervals import Interval, bootstrap_mean
from adalib.table import UtilityTable

__all__ = ["by_difficulty", "by_level", "difficulty_bins", "group_means", "label_shares", "level_shares", "put"]


def group_means(values: ArrayLike, groups: ArrayLike, k: int) -> Interval:
    """Mean of each of ``k`` groups with its 95% interval over questions.

    A question may be looked at several times (once a split of its samples) and change its group in between; it is
    still one question, and is resampled as one. Explained in chapter 8, "Patterns".

    Parameters
    ----------
    values : array_like, shape (N,) or (T, N)
        One number a question, or one row a look.
    groups : array_like of int, the same shape
        Group numbers from 0 to ``k - 1``.
    k : int

    Returns
    -------
    Interval
        Arrays of ``k`` entries; NaN for a group that nobody is in.

    Examples
    --------
    >>> group_means([0.0, 0.5, 1.0], [0, 0, 2], 3).mean.tolist()
    [0.25, nan, 1.0]
    """
    values, groups = np.atleast_2d(np.asarray(values, dtype=float)), np.atleast_2d(np.asarray(groups))
    if values.shape != groups.shape or groups.dtype.kind not in "iu" or not np.isin(groups, range(k)).all():
        raise ValueError(f"groups must be numbers from 0 to {k - 1}, one for each of the {values.size} values")
    inside = groups[:, :, None] == np.arange(k)
    size = inside.sum(axis=(0, 1))
    with np.errstate(invalid="ignore"):
        mean = (values[:, :, None] * inside).sum(axis=(0, 1)) / size
    there = size > 0
    # What each question adds to its groups' means (the linearised ratio of resampled totals to resampled sizes).
    excess = ((values[:, :, None] - mean[there]) * inside[:, :, there]).sum(axis=0) * values.shape[1] / size[there]
    found = bootstrap_mean(mean[there] + excess)
    low, high = np.full(k, np.nan), np.full(k, np.nan)
    low[there], high[there] = found.low, found.high
    return Interval(mean, low, high)


def by_level(table: UtilityTable, levels: Sequence) -> pd.DataFrame:
    """Accuracy of the smallest and of the largest budget by level, and the gain from one to the other.

    Explained in chapter 8, "Patterns".

    Parameters
    ----------
    table : UtilityTable
    levels : sequence of N labels

    Returns
    -------
    DataFrame
        A row a level, in order: ``level``, ``questions``, then ``first``, ``last`` and ``gain``, each with the ends
        ``_low`` and ``_high`` of its 95% interval over questions.

    Examples
    --------
    >>> found = by_level(UtilityTable([[0.2, 0.6], [0.4, 0.4], [0.9, 1.0]], cost=[1, 2]), levels=[2, 2, 1])
    >>> found[["level", "first", "last", "gain"]].round(3).values.tolist()
    [[1.0, 0.9, 1.0, 0.1], [2.0, 0.3, 0.5, 0.2]]
    """
    codes, names = _codes(levels, table.n)
    frame = pd.DataFrame({"level": names, "questions": np.bincount(codes)})
    first, last = table.acc[:, 0], table.acc[:, -1]
    for name, values in (("first", first), ("last", last), ("gain", last - first)):
        put(frame, name, group_means(values, codes, len(names)))
    return frame


def label_shares(labels: ArrayLike, k: int) -> np.ndarray:
    """Share of the questions at each of ``k`` columns. Explained in chapter 8, "Patterns".

    Parameters
    ----------
    labels : array_like of int, shape (N,)
        Column numbers, as from `oracle_labels`.
    k : int

    Examples
    --------
    >>> label_shares([0, 0, 2, 0], k=3).tolist()
    [0.75, 0.0, 0.25]
    """
    return from_labels(labels, k).weights.mean(axis=0)


def difficulty_bins(acc1: ArrayLike, bins: int = 5) -> np.ndarray:
    """Deal the questions into equally large bins, from the lowest accuracy to the highest; equals in their order.

    Explained in chapter 8, "Patterns".

    Parameters
    ----------
    acc1 : array_like, shape (N,)
        Accuracy of one answer.
    bins : int
        At most N.

    Returns
    -------
    ndarray of int, shape (N,)
        Bin numbers from 0.

    Examples
    --------
    >>> difficulty_bins([0.9, 0.1, 0.5, 0.4], bins=2).tolist()
    [1, 0, 1, 0]
    """
    acc1 = np.asarray(acc1, dtype=float)
    if acc1.ndim != 1 or not np.isfinite(acc1).all() or not 1 <= bins <= acc1.size:
        raise ValueError(
            f"give one finite accuracy a question, and from 1 to N bins; got {bins} bins, shape {acc1.shape}"
        )
    place = np.empty(acc1.size, dtype=int)
    for number, rows in enumerate(np.array_split(np.argsort(acc1, kind="stable"), bins)):
        place[rows] = number
    return place


def by_difficulty(acc1: ArrayLike, labels: ArrayLike, budgets: Sequence[float], bins: int = 5) -> pd.DataFrame:
    """Budgets by bin of the accuracy of one answer: the numbers behind the paper's scatter and quintile figure.

    Explained in chapter 8, "Patterns".

    Parameters
    ----------
    acc1 : array_like, shape (N,)
        Accuracy of one answer, which orders the questions.
    labels : array_like of int, shape (N,)
        Column of each question.
    budgets : sequence of K numbers
        What each column stands for.
    bins : int

    Returns
    -------
    DataFrame
        A row a bin, hardest first: ``bin`` (from 1), ``questions``, ``acc1`` (its mean), ``budget`` (its mean) with
        ``budget_low`` and ``budget_high``, and a column ``b=...`` for the share of each budget.

    Examples
    --------
    >>> found = by_difficulty([0.1, 0.5, 0.6, 1.0], [0, 1, 1, 0], budgets=(1, 4), bins=2)
    >>> found[["bin", "budget", "b=4"]].values.tolist()
    [[1.0, 2.5, 0.5], [2.0, 2.5, 0.5]]
    """
    place, weights = difficulty_bins(acc1, bins), from_labels(labels, len(budgets)).weights
    if len(weights) != place.size:
        raise ValueError(f"there are {place.size} accuracies and {len(weights)} labels; give one of each a question")
    frame = pd.DataFrame({"bin": np.arange(1, bins + 1), "questions": np.bincount(place)})
    frame["acc1"] = np.bincount(place, acc1) / frame["questions"]
    put(frame, "budget", group_means(weights @ np.asarray(budgets, dtype=float), place, bins))
    for budget, column in zip(budgets, weights.T, strict=True):
        frame[f"b={budget}"] = np.bincount(place, column) / frame["questions"]
    return frame


def level_shares(labels: ArrayLike, levels: Sequence, k: int) -> pd.DataFrame:
    """Share of each level's questions at each of ``k`` columns: one of the paper's heatmaps.

    Explained in chapter 8, "Patterns".

    Parameters
    ----------
    labels : array_like of int, shape (N,)
        Column of each question.
    levels : sequence of N labels
    k : int

    Returns
    -------
    DataFrame
        A row a level, in order; columns 0 to ``k - 1``; rows sum to 1.

    Examples
    --------
    >>> level_shares([0, 1, 0], levels=[3, 3, 2], k=2).to_dict("index")
    {2: {0: 1.0, 1: 0.0}, 3: {0: 0.5, 1: 0.5}}
    """
    weights = from_labels(labels, k).weights
    codes, names = _codes(levels, len(weights))
    return pd.DataFrame(weights, columns=range(k)).groupby(names[codes]).mean()


def put(frame: pd.DataFrame, name: str, found: Interval) -> None:
    """Add a mean and the ends of its interval to a table, in place: ``name``, ``name_low``, ``name_high``."""
    frame[name], frame[f"{name}_low"], frame[f"{name}_high"] = found.mean, found.low, found.high


def _codes(levels: Sequence, n: int) -> tuple[np.ndarray, np.ndarray]:
    if levels is None or len(levels) != n or any(level is None for level in levels):
        raise ValueError(f"give one level for each of the {n} questions")
    codes, names = pd.factorize(np.array(levels), sort=True)
    return codes, names
