"""The paper's policy: imitate the oracle's labels with a classifier, for one budget at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import has_fit_parameter

from adalib.datasets.saved import numbers
from adalib.learn import trees
from adalib.learn.base import LearnedPolicy
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import check_table


class LabelPolicy(LearnedPolicy):
    """Imitate the oracle's labels with a classifier, for one budget at a time.

    An estimator in the manner of scikit-learn: `sklearn.base.clone` copies it, and ``get_params``
    and ``set_params`` reach its parameters and those of the model. Explained in the chapter
    "Learning"; other classifiers in the chapter "Results and ablations".

    Parameters
    ----------
    model : scikit-learn classifier, optional
        Copies of it are fitted. Default: XGBoost [1]_ at the paper's hyper-parameters (100 trees,
        depth 5, rate 0.1, multi-class log-loss), on one thread.
    weighted : bool
        Weight every question by `regret_weights`, so that a costly mistake counts for more. The
        classifier's ``fit`` must take ``sample_weight``.
    seed : int
        Seed of the default model; a classifier that is given has its own.

    Attributes
    ----------
    lam_ : float or None
        Price of the labels that it was fitted on; None after `fit_labels`.
    classes_ : ndarray of int
        Columns that occurred among the labels.
    model_ : scikit-learn classifier or None
        The fitted copy; None if only one column occurred.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features; only if they were a DataFrame.

    See Also
    --------
    CurvePolicy : One model for every budget.
    load_policy : Reads a saved policy.

    References
    ----------
    .. [1] T. Chen and C. Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> policy = LabelPolicy(DecisionTreeClassifier(max_depth=1))
    >>> policy = policy.fit_labels([[0.0], [1.0], [5.0], [6.0]], [0, 0, 3, 3])
    >>> policy.predict([[0.5], [7.0]]).tolist()
    [0, 3]
    """

    def __init__(self, model: Any = None, weighted: bool = False, seed: int = 0) -> None:
        self.model = model
        self.weighted = weighted
        self.seed = seed

    def fit(
        self,
        features: ArrayLike,
        acc: ArrayLike,
        cost: ArrayLike,
        *,
        budget: float | None = None,
        lam: float | None = None,
    ) -> LabelPolicy:
        """Solve the training questions for a budget or at a price, and learn their labels.

        Parameters
        ----------
        features : array_like or DataFrame, shape (N, F)
            Finite numbers, one row per question.
        acc : array_like, shape (N, K)
            Accuracy of question i at budget j, in [0, 1].
        cost : array_like, shape (K,) or (N, K)
            Cost of budget j, non-decreasing along K.
        budget : float, optional
            Average cost of the labels, never exceeded. Give this or ``lam``.
        lam : float, optional
            Price of one unit of cost.

        Returns
        -------
        LabelPolicy
            This policy, fitted.
        """
        acc, cost = check_table(acc, cost)
        if budget is not None and lam is None:
            best = frontier(acc, cost).at(budget)
            lam = best.lam
            labels = best.labels
        elif lam is not None and budget is None:
            labels = oracle_labels(acc, cost, lam)
        else:
            raise ValueError("give either budget or lam")
        weights = regret_weights(acc, cost, lam) if self.weighted else None
        self.fit_labels(features, labels, weights)
        self.lam_ = float(lam)
        return self

    def fit_labels(
        self, features: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None
    ) -> LabelPolicy:
        """Learn labels that were made elsewhere: by other tie rules, or from several tables.

        Parameters
        ----------
        features : array_like or DataFrame, shape (N, F)
            Finite numbers, one row per question.
        labels : array_like of int, shape (N,)
            Column of each question. Columns that do not occur are never predicted.
        weights : array_like, shape (N,), optional
            Weight of each question; only the proportions matter.

        Returns
        -------
        LabelPolicy
            This policy, fitted.
        """
        values = self._training_values(features)
        labels = _checked_labels(labels, len(values))
        classes, codes = np.unique(labels, return_inverse=True)
        model = self._new_model(trees.classifier(classes.size, self.seed), "classifier")
        options = {}
        if weights is not None:
            if not has_fit_parameter(model, "sample_weight"):
                raise ValueError(
                    "weights need a classifier whose fit takes sample_weight, "
                    f"not {type(model).__name__}"
                )
            options["sample_weight"] = _scaled(weights, labels.size)
        self.model_ = model.fit(values, codes, **options) if classes.size > 1 else None
        self.classes_ = classes.astype(int)
        self.lam_ = None
        return self

    def predict(self, features: ArrayLike) -> np.ndarray:
        """Return the column chosen for each question, shape (N,).

        It is the most probable one if the classifier predicts probabilities.
        """
        values = self._values(features)
        if self.model_ is None or not len(values):
            return np.full(len(values), self.classes_[0])
        if hasattr(self.model_, "predict_proba"):
            return self.classes_[self.model_.predict_proba(values).argmax(axis=1)]
        return self.classes_[self.model_.predict(values)]

    def importance(self) -> pd.Series:
        """Return the share of each feature in the trees, summing to 1.

        For XGBoost it is the share in their gain, as in the paper's figure. Explained in the
        chapter "Results and ablations".
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        if self.model_ is None:
            return pd.Series(0.0, index=names)
        model = trees.with_gains(self.model_, self.n_features_in_)
        if not hasattr(model, "feature_importances_"):
            raise ValueError(f"importance needs a classifier of trees, not {type(model).__name__}")
        return pd.Series(np.asarray(model.feature_importances_, dtype=float), index=names)

    def _parameters(self) -> dict[str, Any]:
        return {"kind": "label", "weighted": self.weighted, "classes": self.classes_}

    def _restore(self, parameters: dict[str, Any], forest: dict[str, Any]) -> None:
        self.weighted = bool(parameters["weighted"])
        self.classes_ = numbers(parameters["classes"], "classes", (None,), 0, 10**6).astype(int)
        if not self.classes_.size or (np.diff(self.classes_) < 1).any():
            raise ValueError("its classes are not increasing column numbers")
        self.model_ = trees.from_json(forest, self.n_features_in_) if forest else None
        expected = self.model_.n_classes_ if forest else 1
        if self.classes_.size != expected:
            raise ValueError("its trees and its list of classes do not fit together")


def regret_weights(acc: ArrayLike, cost: ArrayLike, lam: float) -> np.ndarray:
    r"""Return what the worst label would cost each question in net value.

    .. math:: M_\lambda(x_i) = \max_j (acc_{ij} - \lambda\, cost_{ij})
              - \min_j (acc_{ij} - \lambda\, cost_{ij})

    Explained in the chapter "Learning".

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of question i at budget j, in [0, 1].
    cost : array_like, shape (K,) or (N, K)
        Cost of budget j, non-decreasing along K.
    lam : float
        Price of one unit of cost.

    Returns
    -------
    ndarray, shape (N,)
        Largest minus smallest net value of each question.

    Examples
    --------
    >>> regret_weights([[0.5, 0.9], [0.2, 0.2]], cost=[1, 2], lam=0.25).round(2).tolist()
    [0.15, 0.25]
    """
    acc, cost = check_table(acc, cost)
    net = acc - lam * cost
    return net.max(axis=1) - net.min(axis=1)


def _checked_labels(labels: ArrayLike, n: int) -> np.ndarray:
    """Return labels as an array; ValueError unless they are n column numbers."""
    labels = np.asarray(labels)
    integers = labels.shape == (n,) and labels.dtype.kind in "iu"
    if not integers or labels.size == 0 or labels.min() < 0:
        raise ValueError(f"labels must be {n} non-negative integers, one per question")
    return labels


def _scaled(weights: ArrayLike, n: int) -> np.ndarray:
    """Return weights with a mean of 1, which leaves the trees' regularisation as it is."""
    given = np.asarray(weights, dtype=float)
    if given.shape != (n,) or not np.isfinite(given).all() or given.min() < 0:
        raise ValueError(f"weights must be {n} finite numbers, 0 or more, one per question")
    return given / given.mean() if given.any() else np.ones(n)
