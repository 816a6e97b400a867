"""Who gets the budget, by level, difficulty and kind of curve, and whether a pattern is real.

Also what the paper's printed shares imply about its numbers of questions. Explained in the
chapter "The test".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.evaluate.baselines import from_labels
from adalib.evaluate.intervals import Interval, mean_interval
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
    is_numbered = groups.dtype.kind in "iu" and np.isin(groups, range(k)).all()
    if values.shape != groups.shape or not is_numbered:
        raise ValueError(
            f"groups must be numbers from 0 to {k - 1}, one for each of the {values.size} values"
        )
    n = values.shape[1]
    inside = groups[:, :, None] == np.arange(k)  # (looks, questions, groups)
    size = inside.sum(axis=(0, 1))
    with np.errstate(invalid="ignore"):  # the mean of an empty group is not a number
        mean = (values[:, :, None] * inside).sum(axis=(0, 1)) / size
    low = np.full(k, np.nan)
    high = np.full(k, np.nan)
    if n < 2:  # one question has no spread, so that its means have no interval
        return Interval(mean, low, high)
    filled = size > 0
    # What each question adds to its groups' means: the linearised ratio of totals to sizes.
    excess = ((values[:, :, None] - mean[filled]) * inside[:, :, filled]).sum(axis=0)
    interval = mean_interval(mean[filled] + excess * n / size[filled])
    low[filled] = np.clip(interval.low, *bounds)
    high[filled] = np.clip(interval.high, *bounds)
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
    spent = weights @ np.asarray(budgets, dtype=float)
    _put(frame, "budget", group_means(spent, place, bins, (min(budgets), max(budgets))))
    for budget, column in zip(budgets, weights.T, strict=True):
        frame[f"b={budget}"] = np.bincount(place, column) / frame["questions"]
    return frame


def _put(frame: pd.DataFrame, name: str, interval: Interval) -> None:
    """Add the columns ``name``, ``name_low`` and ``name_high`` to a table, in place."""
    frame[name] = interval.mean
    frame[f"{name}_low"] = interval.low
    frame[f"{name}_high"] = interval.high


def _codes(levels: Sequence, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The levels as numbers, one per question, and their names in order."""
    if levels is None or len(levels) != n or any(level is None for level in levels):
        raise ValueError(f"give one level for each of the {n} questions")
    codes, names = pd.factorize(np.array(levels), sort=True)
    return codes, names


def nearest_mix(
    by_level: ArrayLike, overall: ArrayLike, n: int = 200
) -> tuple[tuple[int, ...], float]:
    """Whole numbers of questions per level that come nearest to printed overall accuracies."""
    by_level = np.asarray(by_level, dtype=float)
    overall = np.asarray(overall, dtype=float)
    # All ways to take n questions from three levels.
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
    counts_by_budget = [
        [count for count in range(n + 1) if abs(count / n - share) <= half_digit + 1e-9]
        for share in shares
    ]
    spent = round(cost * n)
    return [
        counts
        for counts in product(*counts_by_budget)
        if sum(counts) == n and np.dot(counts, budgets) == spent
    ]
