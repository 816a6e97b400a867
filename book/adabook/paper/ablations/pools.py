"""A pool of rows for a classifier: every question of every setting at every target.

The paper trains its classifiers on such a pool. A question is in it several times, so a split by
rows puts copies of a question into training and into the test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adabook.paper.settings import (
    PAPER_SETTINGS,
    PAPER_WAY,
    REAL,
    TARGETS,
    answers,
    paper_setting,
)
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.crossfit import with_class_numbers
from adalib.learn.features import text_features
from adalib.solve.bisection import bisect
from adalib.table import UtilityTable


@dataclass(frozen=True, eq=False)
class Pooled:
    """Rows for a classifier: every question of every setting at every target.

    All arrays but the last have one entry per row.
    """

    features: pd.DataFrame
    question: np.ndarray  #: number of the question
    setting: np.ndarray  #: name of the setting
    target: np.ndarray  #: average cost that was aimed for
    lam: np.ndarray  #: price that bisection found for that target
    labels: np.ndarray  #: the oracle's column
    choose: np.ndarray  #: accuracies that made the labels
    acc: np.ndarray  #: accuracies that score
    budgets: np.ndarray  #: cost of each column

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def grouped(self, groups: Sequence) -> Pooled:
        """Return the same rows with groups as questions, so that a split keeps a group together."""
        codes = pd.factorize(np.array([str(group) for group in groups], dtype=object))[0]
        return replace(self, question=codes[self.question])

    def labelled_among(self, rows: ArrayLike) -> np.ndarray:
        """Return the oracle's columns of some rows (a mask) at prices found on these rows alone."""
        rows = np.asarray(rows, dtype=bool)
        labels = self.labels.copy()
        cell = cells(self.setting, self.target)
        for number in np.unique(cell[rows]):
            here = rows & (cell == number)
            labels[here] = bisect(self.choose[here], self.budgets, self.target[here][0]).labels
        return labels[rows]


def cells(setting: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Number the pairs of a setting and a target, and return the number of each row's pair."""
    return pd.factorize(pd.MultiIndex.from_arrays([setting, target]))[0]


def pool(
    tables: Mapping[str, UtilityTable],
    features: ArrayLike,
    own: Mapping[str, ArrayLike] | None = None,
    targets: Sequence[float] = TARGETS,
    score: Mapping[str, UtilityTable] | None = None,
) -> Pooled:
    """Stack settings that share their questions, each at every target, labelled by bisection.

    ``features`` are those of the questions. ``own`` are further ones by setting, by default which
    setting it is; the target is the last feature. ``score`` are the tables that score, by default
    those that make the labels.
    """
    names = list(tables)
    n = tables[names[0]].n
    score = tables if score is None else score
    if own is None:
        one_hot = np.eye(len(names))
        own = {name: np.tile(one_hot[number], (n, 1)) for number, name in enumerate(names)}
    shared = np.asarray(features, dtype=float)
    blocks = []
    for name, target in product(names, targets):
        table = tables[name]
        search = bisect(table.acc, table.cost, target)
        aims = np.full(n, float(target))
        block = {
            "features": np.column_stack([shared, np.asarray(own[name], dtype=float), aims]),
            "question": np.arange(n),
            "setting": [name] * n,
            "target": aims,
            "lam": np.full(n, search.lam),
            "labels": search.labels,
            "choose": table.acc,
            "acc": score[name].acc,
        }
        blocks.append(block)
    stacked = {key: np.concatenate([block[key] for block in blocks]) for key in blocks[0]}
    inputs = stacked.pop("features")
    return Pooled(
        features=pd.DataFrame(inputs, columns=_feature_names(features, inputs.shape[1])),
        budgets=np.asarray(tables[names[0]].cost, dtype=float),
        **stacked,
    )


def _feature_names(features: ArrayLike, count: int) -> list[str]:
    """Name the columns of a pool: the questions' features, the setting's own, and the target."""
    if isinstance(features, pd.DataFrame):
        shared = list(features.columns)
    else:
        shared = [f"x{column}" for column in range(np.shape(features)[1])]
    own = [f"setting_{column}" for column in range(count - len(shared) - 1)]
    return [*shared, *own, "target"]


def simulated_pool(seed: int = 0, targets: Sequence[float] = TARGETS) -> Pooled:
    """Return the paper's pool as we reconstruct it: simulated MATH settings with noise features."""
    names = PAPER_SETTINGS[:3]
    tables = {name: paper_setting(name).table(**PAPER_WAY) for name in names}
    n = tables[names[0]].n
    # The paper's entropy needs an answer of the model: two columns of the sixteen differ by
    # setting.
    own = {
        name: noise_features(n, 2, seed=1000 * (seed + 1) + number)
        for number, name in enumerate(names)
    }
    return pool(tables, noise_features(n, 14, seed=seed), own, targets)


def real_pool(
    names: Sequence[str] = REAL[:3],
    features: ArrayLike | None = None,
    targets: Sequence[float] = TARGETS,
) -> Pooled:
    """Pool real settings that share their questions; one half of the answers labels, one scores."""
    if features is None:
        features = text_features(answers(names[0]).questions)
    choose = {}
    score = {}
    for name in names:
        first, second = with_class_numbers(answers(name)).split_samples(0)
        choose[name] = first.table()
        score[name] = second.table()
    return pool(choose, features, targets=targets, score=score)
