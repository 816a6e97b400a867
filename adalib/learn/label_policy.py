"""The paper's policy: imitate the oracle's labels with a classifier, for one budget at a time.

The most probable label of a question is often the commonest one, which is cheap, so the policy may
spend far less than it was asked to. With ``spend="budget"`` the same probabilities rank the
questions instead, and the budget is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import has_fit_parameter

from adalib.learn import trees
from adalib.learn.policy import LearnedPolicy
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import UtilityTable, arrays_of, check_table
from adalib.tolerances import within

#: Folds that set the threshold of ``spend="budget"``. Models of fewer questions are less sure, so
#: with few folds their threshold is too low for the model of all, and the policy overspends.
_LEFT_OUT = 10


class Upgrade(NamedTuple):
    """Two columns, and the probability above which a question gets the more expensive one."""

    low: int
    high: int
    threshold: float


class LabelPolicy(LearnedPolicy):
    """Imitate the oracle's labels with a classifier, for one budget at a time.

    An estimator in the manner of scikit-learn: `sklearn.base.clone` copies it, and ``get_params``
    and ``set_params`` reach its parameters and those of the model. Explained in the chapter
    "The paper"; other classifiers in the chapter "The test".

    Parameters
    ----------
    model : scikit-learn classifier, optional
        Copies of it are fitted. Default: XGBoost [1]_ at the paper's hyper-parameters (100 trees,
        depth 5, rate 0.1, multi-class log-loss), on one thread.
    weighted : bool
        Weight every question by `regret_weights`, so that a costly mistake counts for more. The
        classifier's ``fit`` must take ``sample_weight``.
    seed : int
        Seed of the default model and of the folds; a classifier that is given has its own.
    spend : {"argmax", "budget"}
        With "argmax", the paper's way, a question gets its most probable label, and the policy may
        spend much less than the budget. With "budget" it gets one of the two columns that the best
        random mix of the training questions consists of. The mix draws at random who gets the
        larger column; the policy gives it to the questions for which the classifier finds it most
        probable that the oracle would buy more than the smaller one.

    Attributes
    ----------
    lam_ : float or None
        Price of the labels that it was fitted on; None after `fit_labels`.
    upgrade_ : tuple or None
        Both columns and the probability above which the second is chosen; None with "argmax".
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

    upgrade_: Upgrade | None

    def __init__(
        self,
        model: Any = None,
        weighted: bool = False,
        seed: int = 0,
        spend: Literal["argmax", "budget"] = "argmax",
    ) -> None:
        self.model = model
        self.weighted = weighted
        self.seed = seed
        self.spend = spend

    def fit(
        self,
        features: ArrayLike,
        acc: ArrayLike | UtilityTable,
        cost: ArrayLike | None = None,
        *,
        budget: float | None = None,
        lam: float | None = None,
        groups: Sequence | None = None,
    ) -> LabelPolicy:
        """Solve the training questions for a budget or at a price, and learn their labels.

        Trees are too sure of their own training questions. So with ``spend="budget"`` the
        threshold is set on probabilities from trees that saw neither a question nor its group.

        Parameters
        ----------
        features : array_like or DataFrame, shape (N, F)
            Finite numbers, one row per question.
        acc : array_like, shape (N, K), or UtilityTable
            Accuracy of question i at budget j, in [0, 1], or a table with its costs.
        cost : array_like, shape (K,) or (N, K)
            Cost of budget j, non-decreasing along K.
        budget : float, optional
            Average cost of the labels, never exceeded. Give this or ``lam``.
        lam : float, optional
            Price of one unit of cost.
        groups : sequence of N labels, optional
            Families of questions; give them if the policy is to meet new families.

        Returns
        -------
        LabelPolicy
            This policy, fitted.
        """
        if self.spend not in ("argmax", "budget") or (self.spend == "budget" and budget is None):
            raise ValueError(
                f"spend is {self.spend!r} and budget {budget}; "
                'spend is "argmax", or "budget" together with a budget'
            )
        acc, cost = arrays_of(acc, cost)
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
        if self.spend == "budget" and budget is not None:
            low, high = _mixed_columns(acc, cost, budget)
            more = self._unseen_probabilities(features, labels, weights, low, groups)
            costs = np.broadcast_to(cost, acc.shape)
            threshold = _threshold(more, costs[:, low], costs[:, high], budget)
            self.upgrade_ = Upgrade(low, high, threshold)
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
        self.classes_, self.model_ = self._train(values, labels, weights)
        self.lam_ = None
        self.upgrade_ = None
        return self

    def predict(self, features: ArrayLike) -> np.ndarray:
        """Return the column chosen for each question, shape (N,)."""
        values = self._values(features)
        if self.upgrade_ is not None:
            low, high, threshold = self.upgrade_
            more = _probability_above(self.classes_, self.model_, values, low)
            return np.where(more > threshold, high, low)
        if self.model_ is None or not len(values):
            return np.full(len(values), self.classes_[0])
        if hasattr(self.model_, "predict_proba"):
            return self.classes_[self.model_.predict_proba(values).argmax(axis=1)]
        return self.classes_[self.model_.predict(values)]

    def _train(
        self, values: np.ndarray, labels: np.ndarray, weights: ArrayLike | None
    ) -> tuple[np.ndarray, Any]:
        """Return the columns that occur, and a classifier of them; None if only one occurs."""
        classes, codes = np.unique(labels, return_inverse=True)
        model = trees.unfitted(self.model, trees.classifier(classes.size, self.seed))
        options = {}
        if weights is not None:
            if not has_fit_parameter(model, "sample_weight"):
                raise ValueError(
                    "weights need a classifier whose fit takes sample_weight, "
                    f"not {type(model).__name__}"
                )
            options["sample_weight"] = _scaled(weights, labels.size)
        if classes.size > 1:
            return classes.astype(int), model.fit(values, codes, **options)
        return classes.astype(int), None

    def _unseen_probabilities(
        self,
        features: ArrayLike,
        labels: np.ndarray,
        weights: np.ndarray | None,
        low: int,
        groups: Sequence | None,
    ) -> np.ndarray:
        """Predict how probable a label above ``low`` is, from models that left out the group."""
        values = self._values(features)
        more = _probability_above(self.classes_, self.model_, values, low)
        for left_out in self._left_out(groups, len(values), _LEFT_OUT):
            kept = ~left_out
            kept_weights = None if weights is None else weights[kept]
            classes, model = self._train(values[kept], labels[kept], kept_weights)
            more[left_out] = _probability_above(classes, model, values[left_out], low)
        return more

    def importance(self) -> pd.Series:
        """Return the share of each feature in the trees, summing to 1.

        For XGBoost it is the share in their gain, as in the paper's figure. Explained in the
        appendix "The replication table".
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        if self.model_ is None:
            return pd.Series(0.0, index=names)
        return pd.Series(trees.gain_shares(self.model_, self.n_features_in_), index=names)


def regret_weights(acc: ArrayLike, cost: ArrayLike, lam: float) -> np.ndarray:
    r"""Return what the worst label would cost each question in net value.

    .. math:: M_\lambda(x_i) = \max_j (acc_{ij} - \lambda\, cost_{ij})
              - \min_j (acc_{ij} - \lambda\, cost_{ij})

    Explained in the chapter "The paper".

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


def _mixed_columns(acc: np.ndarray, cost: np.ndarray, budget: float) -> tuple[int, int]:
    """Return the two columns of the best random mix at a budget; twice the same if it has one."""
    average_cost = cost if cost.ndim == 1 else cost.mean(axis=0)
    best = frontier(acc.mean(axis=0, keepdims=True), average_cost).at(budget)
    if best.split is None:
        return int(best.labels[0]), int(best.labels[0])
    return best.split.low, best.split.high


def _threshold(more: np.ndarray, low: np.ndarray, high: np.ndarray, budget: float) -> float:
    """Return the lowest probability beyond which buying the larger column keeps to the budget.

    The questions buy in the order of their probabilities, until the next one would be too much.
    """
    in_order = np.argsort(-more, kind="stable")
    average = low.mean() + (high - low)[in_order].cumsum() / len(more)
    upgraded = int(average.searchsorted(within(budget), side="right"))
    return float(more[in_order[upgraded]]) if upgraded < len(more) else -1.0


def _probability_above(classes: np.ndarray, model: Any, values: np.ndarray, low: int) -> np.ndarray:
    """Return how probable it is that a question's label lies above the column ``low``."""
    if model is None or not len(values):
        return np.full(len(values), float(classes[0] > low))
    return np.asarray(model.predict_proba(values), dtype=float)[:, classes > low].sum(axis=1)
