"""Is a pattern real? Groups and labels from one half of the samples, gains from the other; labels out of fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import from_labels
from adalib.evaluate.crossfit import check_halves, compared
from adalib.learn.label_policy import LabelPolicy
from adalib.paper.patterns.tables import group_means, put
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable

__all__ = ["gain_by", "out_of_fold"]


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
    """What the oracle spends on each group of questions, what it says this gains, and what it does gain.

    Every split deals the samples into halves. One half makes the groups and the labels; the other half scores the
    labels; then the other way round. Explained in chapter 8, "Patterns".

    Parameters
    ----------
    responses : Responses
        With at least twice as many samples a question as the largest budget.
    target : float
        Average cost allowed.
    group_of : function of a UtilityTable
        Returns a group number from 0 to ``k - 1`` for every row. It sees only the half that chooses.
    k : int
        Number of groups.
    budgets, splits, seed, **table
        As for `cross_fitted_oracle`.

    Returns
    -------
    DataFrame
        A row a group: ``group``, ``share`` of the questions; ``budget``, the mean, and ``budget_apart``, the mean
        when the labels come from the half that did not make the groups; ``claimed`` and ``gain``, the accuracy over
        that of the smallest budget, on the half that chose and on the other. The last four come with the ends
        ``_low`` and ``_high`` of their 95% intervals over questions.
    """
    check_halves(responses, budgets, splits)
    votes = compared(responses)
    looks = []
    for number in range(splits):
        halves = [part.table(budgets, **table) for part in votes.split_samples(seed + number)]
        plans = [from_labels(frontier(half.acc, half.cost).at(target).labels, half.k) for half in halves]
        for one, other in ((0, 1), (1, 0)):
            gains = (plans[one].expected(halves[half].acc) - halves[half].acc[:, 0] for half in (one, other))
            spent = (plans[half].expected(halves[half].cost) for half in (one, other))
            looks.append((np.asarray(group_of(halves[one])), *spent, *gains))
    groups, *columns = (np.array(part) for part in zip(*looks, strict=True))
    found = [group_means(values, groups, k) for values in columns]
    frame = pd.DataFrame({"group": range(k), "share": np.bincount(groups.ravel(), minlength=k) / groups.size})
    for name, means in zip(("budget", "budget_apart", "claimed", "gain"), found, strict=True):
        put(frame, name, means)
    return frame


def out_of_fold(
    features: ArrayLike,
    table: UtilityTable,
    budget: float,
    groups: Sequence | None = None,
    folds: int = 5,
    seed: int = 0,
) -> np.ndarray:
    """Labels that the label policy gives to questions it did not learn from.

    Explained in chapter 8, "Patterns".

    Parameters
    ----------
    features : DataFrame or array_like, shape (N, d)
    table : UtilityTable
        Each fold's model learns the oracle's labels of the other folds' questions.
    budget : float
        Average cost allowed.
    groups : sequence of N values, optional
        Questions of one group stay in one fold. Default: every question is its own group.
    folds : int
    seed : int
        Deals the groups into folds.

    Returns
    -------
    ndarray of int, shape (N,)
        Columns.
    """
    inputs, found = pd.DataFrame(features), np.empty(table.n, dtype=int)
    member = np.arange(table.n) if groups is None else group_numbers(groups, table.n, sort=True)
    # Folds are the runs of a shuffled list, as scikit-learn's GroupKFold has them; the book's heatmaps stand on these.
    runs = np.array_split(np.random.RandomState(seed).permutation(member.max() + 1), folds)
    order = [run[place] for place in range(len(runs[0])) for run in runs if place < len(run)]
    fold = deal(member, folds, order=order)
    for out in np.unique(fold):
        train, test = np.flatnonzero(fold != out), np.flatnonzero(fold == out)
        policy = LabelPolicy(seed=seed).fit(inputs.iloc[train], table.acc[train], table.cost, budget=budget)
        found[test] = policy.predict(inputs.iloc[test])
    return found
