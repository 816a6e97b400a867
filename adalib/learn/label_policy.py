"""Imitate the oracle's labels from the features of a question, for one budget at a time: the paper's way.

Solve the allocation problem on training questions, then train a classifier to repeat the labels. As `CurvePolicy` does,
`LabelPolicy` answers ``fit(features, acc, cost, budget=...)`` (or ``lam=...``) and ``predict(features)``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import has_fit_parameter

from adalib.datasets.sealed import DataError, numbers, read_sealed
from adalib.learn import trees
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.policy import FORMAT, Policy
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import check_table

__all__ = ["LabelPolicy", "load_policy", "regret_weights"]


def regret_weights(acc: ArrayLike, cost: ArrayLike, lam: float) -> np.ndarray:
    """What the worst label would cost each question: ``M_lam(x)``, the largest net value minus the smallest.

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    acc, cost
        As for `oracle_labels`.
    lam : float
        Price of one unit of cost, at least 0.

    Examples
    --------
    >>> regret_weights([[0.5, 0.9], [0.2, 0.2]], cost=[1, 2], lam=0.25).round(2).tolist()
    [0.15, 0.25]
    """
    acc, cost = check_table(acc, cost)
    net = acc - lam * cost
    return net.max(axis=1) - net.min(axis=1)


class LabelPolicy(Policy):
    """Imitate the oracle's labels with a classifier.

    An estimator in the manner of scikit-learn: `sklearn.base.clone` copies it, ``get_params`` and ``set_params`` reach
    its parameters and those of the model. Explained in chapter 6, "Learning"; other classifiers in chapter 9,
    "Ablations".

    Parameters
    ----------
    model : scikit-learn classifier, optional
        Copies of it are fitted. Default: XGBoost at the paper's hyper-parameters (100 trees, depth 5, rate 0.1,
        multi-class log-loss), on one thread.
    weighted : bool
        Weigh every question by `regret_weights`, so that a costly mistake counts for more; the classifier's ``fit``
        must take ``sample_weight``.
    seed : int
        Of the default model; a classifier that is given has its own.

    Attributes
    ----------
    lam_ : float or None
        Price of the labels it was fitted on; None after `fit_labels`.
    classes_ : ndarray of int
        Columns that occurred among the labels.
    model_ : classifier or None
        The fitted copy; None where only one column occurred, which then is the answer.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> policy = LabelPolicy(DecisionTreeClassifier(max_depth=1)).fit_labels([[0.0], [1.0], [5.0], [6.0]], [0, 0, 3, 3])
    >>> policy.predict([[0.5], [7.0]]).tolist()
    [0, 3]
    """

    def __init__(self, model: Any = None, weighted: bool = False, seed: int = 0) -> None:
        self.model, self.weighted, self.seed = model, weighted, seed

    def fit(
        self,
        features: ArrayLike,
        acc: ArrayLike,
        cost: ArrayLike,
        *,
        budget: float | None = None,
        lam: float | None = None,
    ) -> LabelPolicy:
        """Solve the training questions for an average ``budget``, never exceeded, or at a price, and learn the labels.

        Features are finite numbers, one row per question; ``acc`` and ``cost`` are as for `oracle_labels`.
        """
        acc, cost = check_table(acc, cost)
        if budget is not None and lam is None:
            best = frontier(acc, cost).at(budget)
            lam, labels = best.lam, best.labels
        elif lam is not None and budget is None:
            labels = oracle_labels(acc, cost, lam)
        else:
            raise ValueError("give either budget or lam")
        self.fit_labels(features, labels, regret_weights(acc, cost, lam) if self.weighted else None)
        self.lam_ = float(lam)
        return self

    def fit_labels(self, features: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> LabelPolicy:
        """Learn labels, columns, that were made elsewhere: other tie rules, or several tables pooled.

        Columns that do not occur are never predicted. Of the questions' ``weights`` only the proportions matter.
        """
        values, labels = self._taught(features), np.asarray(labels)
        if labels.shape != (len(values),) or labels.size == 0 or labels.dtype.kind not in "iu" or labels.min() < 0:
            raise ValueError(f"labels must be {len(values)} column numbers, 0 or more, at least one: one a question")
        classes, codes = np.unique(labels, return_inverse=True)
        model = self._new_model(trees.classifier(classes.size, self.seed), "classifier")
        extra = {}
        if weights is not None:
            if not has_fit_parameter(model, "sample_weight"):
                raise ValueError(f"weights need a classifier whose fit takes sample_weight, not {type(model).__name__}")
            extra["sample_weight"] = _mean_one(weights, labels.size)
        self.model_ = model.fit(values, codes, **extra) if classes.size > 1 else None
        self.classes_, self.lam_ = classes.astype(int), None
        return self

    def predict(self, features: ArrayLike) -> np.ndarray:
        """Return the column chosen for each question, shape (N,): the likeliest, where the classifier has chances."""
        values = self._asked(features)
        if self.model_ is None or not len(values):
            return np.full(len(values), self.classes_[0])
        if hasattr(self.model_, "predict_proba"):
            return self.classes_[self.model_.predict_proba(values).argmax(axis=1)]
        return self.classes_[self.model_.predict(values)]

    def importance(self) -> pd.Series:
        """Share of each feature in the trees, summing to 1: for XGBoost in their gain, as in the paper's figure.

        Explained in chapter 9, "Ablations".
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        if self.model_ is None:
            return pd.Series(0.0, index=names)
        if not hasattr(self.model_, "feature_importances_"):
            raise ValueError(f"importance needs a classifier of trees, not {type(self.model_).__name__}")
        return pd.Series(np.asarray(self.model_.feature_importances_, dtype=float), index=names)

    def _about(self) -> dict[str, Any]:
        about = {"kind": "label", "seed": self.seed, "weighted": self.weighted, "lam": self.lam_}
        return {**about, "classes": self.classes_}

    def _restore(self, about: dict[str, Any], grown: dict[str, Any]) -> None:
        self.weighted = bool(about["weighted"])
        self.classes_ = numbers(about["classes"], "classes", (None,), 0, 10**6).astype(int)
        if not self.classes_.size or (np.diff(self.classes_) < 1).any():
            raise ValueError("its classes are not increasing column numbers")
        default = trees.classifier(self.classes_.size, self.seed)
        self.model_ = trees.from_json(default, grown, self.n_features_in_) if grown else None
        if self.classes_.size != (self.model_.n_classes_ if grown else 1):
            raise ValueError("its trees and its list of classes do not fit together")


def load_policy(path: str | os.PathLike) -> LabelPolicy | CurvePolicy:
    """Read a policy that was saved, here or in another process; its predictions are the same to the last bit.

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    path : path
        Two lines of JSON: data, nothing that runs.
    """
    about, grown = read_sealed(path, FORMAT, 2, "save the policy again")
    kinds: dict[str, type[LabelPolicy | CurvePolicy]] = {"label": LabelPolicy, "curve": CurvePolicy}
    try:
        return kinds[about["kind"]]._read(about, grown)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: is not a sound policy file ({error}); save the policy again") from None


def _mean_one(weights: ArrayLike, n: int) -> np.ndarray:
    """Weights scaled to a mean of 1, so that they leave the trees' regularisation as it is."""
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (n,) or not np.isfinite(weights).all() or weights.min() < 0:
        raise ValueError(f"weights must be {n} finite numbers, 0 or more: one a question")
    return weights / weights.mean() if weights.any() else np.ones(n)
