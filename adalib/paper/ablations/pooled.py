"""Several settings and targets under one another: the rows that a classifier is trained on.

A question stands in the pool once for every setting and target, always with the same text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.crossfit import compared
from adalib.learn.features import text_features
from adalib.paper.printed import PAPER_SETTINGS
from adalib.paper.settings import PAPER_WAY, TARGETS
from adalib.paper.stand_ins import paper_setting
from adalib.solve.bisection import bisect
from adalib.table import UtilityTable

__all__ = ["Pooled", "pool", "real_pool", "simulated_pool"]

_REAL = ("word-fewshot", "word-hot", "word-zeroshot")


@dataclass(frozen=True, eq=False)
class Pooled:
    """Rows for a classifier: every question of every setting at every target.

    Attributes
    ----------
    features : DataFrame, shape (n, d)
    question, setting, target : ndarray, shape (n,)
        Which question (a number), which setting (a name) and which average cost a row stands for.
    lam, labels : ndarray, shape (n,)
        The price that the search found for the row's setting and target, and the oracle's column at it.
    choose, acc : ndarray, shape (n, K)
        Accuracies that made the labels, and those that score a prediction.
    budgets : ndarray, shape (K,)
        What each column costs.
    """

    features: pd.DataFrame
    question: np.ndarray
    setting: np.ndarray
    target: np.ndarray
    lam: np.ndarray
    labels: np.ndarray
    choose: np.ndarray
    acc: np.ndarray
    budgets: np.ndarray

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def grouped(self, groups: Sequence) -> Pooled:
        """Return the same rows with whole groups as questions, such as families: a split then keeps a group together.

        Parameters
        ----------
        groups : sequence
            The group of each question, in the order of their numbers.
        """
        codes = pd.factorize(np.array([str(group) for group in groups], dtype=object))[0]
        if codes.size != self.question.max() + 1:
            raise ValueError(f"groups has {codes.size} entries for {self.question.max() + 1} questions; give one each")
        return replace(self, question=codes[self.question])

    def labelled_among(self, rows: ArrayLike) -> np.ndarray:
        """Return the oracle's columns of some rows at prices found on these rows alone, as if there were no others.

        Parameters
        ----------
        rows : array_like of bool, shape (n,)
            Which rows.
        """
        rows, labels = np.asarray(rows, dtype=bool), self.labels.copy()
        cell = pd.factorize(pd.MultiIndex.from_arrays([self.setting, self.target]))[0]
        for number in np.unique(cell[rows]):
            here = rows & (cell == number)
            labels[here] = bisect(self.choose[here], self.budgets, self.target[here][0]).labels
        return labels[rows]


def pool(
    tables: Mapping[str, UtilityTable],
    features: ArrayLike,
    own: Mapping[str, ArrayLike] | None = None,
    targets: Sequence[float] = TARGETS,
    score: Mapping[str, UtilityTable] | None = None,
) -> Pooled:
    """Put settings that share their questions under one another, each at every target, labelled as the paper labels.

    Explained in chapter 9, "Ablations".

    Parameters
    ----------
    tables : mapping of name to UtilityTable
        The same questions and budgets in each; bisection makes the labels from them.
    features : DataFrame or array_like, shape (N, d)
        What is known of a question in every setting. The target is added as a column.
    own : mapping of name to DataFrame or array_like, shape (N, e), optional
        What is known of a question in one setting only; default: which setting it is, as columns of 0 and 1.
    targets : sequence of float
        Average costs.
    score : mapping of name to UtilityTable, optional
        Accuracies from other samples, to score on; default: those that made the labels, as in the paper.

    Returns
    -------
    Pooled
        A row a setting, target and question, in this order.
    """
    names = list(tables)
    first = tables[names[0]]
    score = tables if score is None else score
    for name in names:
        for table in (tables[name], score[name]):
            if table.ids != first.ids or table.budgets != first.budgets or table.cost.ndim != 1:
                raise ValueError(f"{name} has other questions, budgets or costs than {names[0]}; pool what is alike")
    shared = np.asarray(features, dtype=float)
    if own is None:
        own = {name: np.tile(np.eye(len(names))[j], (first.n, 1)) for j, name in enumerate(names)}
    parts: dict[str, list] = {key: [] for key in ("x", "setting", "target", "lam", "labels", "choose", "acc")}
    for name in names:
        for target in targets:
            found = bisect(tables[name].acc, tables[name].cost, target)
            same = np.ones(first.n)
            parts["x"].append(np.column_stack([shared, np.asarray(own[name], dtype=float), target * same]))
            parts["setting"].append([name] * first.n)
            parts["target"].append(target * same)
            parts["lam"].append(found.lam * same)
            parts["labels"].append(found.labels)
            parts["choose"].append(tables[name].acc)
            parts["acc"].append(score[name].acc)
    whole = {key: np.concatenate(blocks) for key, blocks in parts.items()}
    question = np.tile(np.arange(first.n), len(names) * len(targets))
    columns = list(features.columns) if hasattr(features, "columns") else [f"x{j}" for j in range(shared.shape[1])]
    extra = whole["x"].shape[1] - len(columns) - 1
    frame = pd.DataFrame(whole.pop("x"), columns=[*columns, *(f"setting_{j}" for j in range(extra)), "target"])
    return Pooled(frame, question=question, budgets=np.asarray(first.cost, dtype=float), **whole)


def simulated_pool(seed: int = 0, targets: Sequence[float] = TARGETS) -> Pooled:
    """The paper's pool with nothing to learn: its three MATH settings, simulated, and features that are noise.

    Fourteen noise columns belong to the question and two to the question in one setting (the paper's entropy needs an
    answer of the model, and so differs by model); the target is known. Labels as in the paper: 48 answers, windows,
    first-seen ties. Explained in chapter 9, "Ablations".

    Parameters
    ----------
    seed : int
        Of the noise.
    targets : sequence of float

    Returns
    -------
    Pooled
        1800 rows at three targets.
    """
    names = PAPER_SETTINGS[:3]
    tables = {name: paper_setting(name).table(**PAPER_WAY) for name in names}
    n = tables[names[0]].n
    own = {name: noise_features(n, 2, seed=1000 * (seed + 1) + j) for j, name in enumerate(names)}
    return pool(tables, noise_features(n, 14, seed=seed), own, targets)


def real_pool(
    names: Sequence[str] = _REAL,
    features: ArrayLike | None = None,
    targets: Sequence[float] = TARGETS,
    seed: int = 0,
) -> Pooled:
    """Pool real settings that share their questions: labels from one half of the answers, scores from the other.

    Explained in chapter 9, "Ablations".

    Parameters
    ----------
    names : sequence of str
        Bundled settings, or files, with the same questions.
    features : DataFrame or array_like, shape (N, d), optional
        Default: `adalib.text_features`. The setting and the target are added.
    targets : sequence of float
    seed : int
        Deals the answers into halves.

    Returns
    -------
    Pooled
    """
    sets: dict[str, Responses] = {name: load(name) for name in names}
    if features is None:
        features = text_features(sets[names[0]].questions)
    halves = {name: [half.table() for half in compared(r).split_samples(seed)] for name, r in sets.items()}
    choose, score = ({name: pair[j] for name, pair in halves.items()} for j in range(2))
    return pool(choose, features, targets=targets, score=score)
