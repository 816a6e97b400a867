"""Policies that learn from the features of a question: imitate the oracle's labels, or predict the curve and price it.

`LabelPolicy` is the paper's way, one classifier a budget. A label is a decision at one price; a curve is what the
decision is made from, so a `CurvePolicy` can be asked at any price, and so at any budget, without training again. Both
keep scikit-learn's contract. A saved policy is two lines of JSON, what the policy is and its trees: data, and nothing
that runs. Other models of scikit-learn are saved as pickles, which run, and so not at all.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter
from threadpoolctl import threadpool_limits

from adalib.datasets.files import cores
from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.sealed import DataError, number, numbers, read_sealed, whole, write_sealed
from adalib.learn import trees
from adalib.solve.frontier import frontier
from adalib.solve.oracle import check_price, oracle_labels
from adalib.table import check_table

__all__ = ["CurvePolicy", "LabelPolicy", "load_policy", "regret_weights", "side_by_side"]

_FORMAT = "adalib policy, version 2"
_FOLDS = 5


class _Policy(BaseEstimator):
    """What both share: features that are checked at the door, and a file."""

    model: Any
    seed: int
    model_: Any
    lam_: float | None
    n_features_in_: int
    feature_names_in_: np.ndarray  # only where the features had names

    def save(self, path: str | os.PathLike) -> None:
        """Write two lines of JSON that `load_policy` reads: what the policy is, and the trees of either default.

        Other models cannot be saved so. What is read back predicts; to train it anew, make a policy like this one.
        """
        self._check_fitted()
        grown = {} if self.model_ is None else trees.to_json(self.model_, self.n_features_in_)
        about = {"names": getattr(self, "feature_names_in_", None), "width": self.n_features_in_}
        write_sealed(path, _FORMAT, [{**about, "seed": self.seed, "lam": self.lam_, **self._about()}, grown])

    @abstractmethod
    def _about(self) -> dict[str, Any]:
        """What `save` writes beside what all policies have."""

    def _taught(self, features: ArrayLike) -> np.ndarray:
        """Remember the columns of the features to learn from, and return them as numbers."""
        names = [str(name) for name in features.columns] if isinstance(features, pd.DataFrame) else None
        if names is not None and len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"features have two columns named {twice!r}; give every column its own name")
        width = np.shape(features)[1] if np.ndim(features) == 2 else 0
        values = _matrix(features, names, width)
        self._remember(names, width)
        return values

    def _asked(self, features: ArrayLike) -> np.ndarray:
        """Return the features of questions to predict, columns in the trained order."""
        self._check_fitted()
        return _matrix(features, getattr(self, "feature_names_in_", None), self.n_features_in_)

    def _remember(self, names: Sequence[str] | None, width: int) -> None:
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "lam_", msg="the policy has not been fitted; call fit first")

    def _new_model(self, default: Any, kind: str) -> Any:
        """An unfitted copy of the model that was given, or the default."""
        if self.model is None:
            return default
        if not (hasattr(self.model, "fit") and hasattr(self.model, "predict")):
            raise ValueError(f"model is {self.model!r}; give a {kind} in the manner of scikit-learn")
        return clone(self.model)


def _matrix(features: Any, names: Sequence[str] | None, width: int) -> np.ndarray:
    """The features as float64, columns in the trained order; a fault is named by its row and column."""
    if np.ndim(features) != 2 or width == 0:
        raise ValueError(f"features have shape {np.shape(features)}; give one row per question and at least one column")
    if names is not None and isinstance(features, pd.DataFrame):
        features = features.rename(columns=str)
        lacks = [f"lack {name!r}" for name in names if name not in features.columns]
        if lacks or features.shape[1] != width:
            fault = lacks[0] if lacks else f"have {features.shape[1]} columns, not {width}"
            raise ValueError(f"features {fault}; give the columns that the policy was trained on")
        features = features[list(names)]
    try:
        values = np.asarray(features, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("features must be a table of numbers, one row per question") from None
    if values.shape[1] != width:
        raise ValueError(f"features have {values.shape[1]} columns; the policy was trained on {width}")
    bad = np.argwhere(~(np.abs(values) <= trees.LARGEST))
    if bad.size:
        row, column = bad[0].tolist()
        name = column if names is None else repr(names[column])
        raise ValueError(f"features[{row}, {name}] is {values[row, column]}; give a finite number, or drop the row")
    return values


class LabelPolicy(_Policy):
    """Imitate the oracle's labels with a classifier, for one budget at a time.

    An estimator in the manner of scikit-learn: `sklearn.base.clone` copies it, ``get_params`` and ``set_params`` reach
    its parameters and those of the model. Explained in chapter 6, "Learning"; other classifiers in chapter 8,
    "Patterns and ablations".

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
    model_, n_features_in_, feature_names_in_
        As in scikit-learn; the model is the fitted copy, None where only one column occurred.

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
            given = np.asarray(weights, dtype=float)
            if given.shape != labels.shape or not np.isfinite(given).all() or given.min() < 0:
                raise ValueError(f"weights must be {labels.size} finite numbers, 0 or more: one a question")
            # A mean of 1 leaves the trees' regularisation as it is.
            extra["sample_weight"] = given / given.mean() if given.any() else np.ones(labels.size)
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

        Explained in chapter 8, "Patterns and ablations".
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        if self.model_ is None:
            return pd.Series(0.0, index=names)
        model = trees.with_gains(self.model_, self.n_features_in_)
        if not hasattr(model, "feature_importances_"):
            raise ValueError(f"importance needs a classifier of trees, not {type(model).__name__}")
        return pd.Series(np.asarray(model.feature_importances_, dtype=float), index=names)

    def _about(self) -> dict[str, Any]:
        return {"kind": "label", "weighted": self.weighted, "classes": self.classes_}

    def _restore(self, about: dict[str, Any], grown: dict[str, Any]) -> None:
        self.weighted = bool(about["weighted"])
        self.classes_ = numbers(about["classes"], "classes", (None,), 0, 10**6).astype(int)
        if not self.classes_.size or (np.diff(self.classes_) < 1).any():
            raise ValueError("its classes are not increasing column numbers")
        self.model_ = trees.from_json(grown, self.n_features_in_) if grown else None
        if self.classes_.size != (self.model_.n_classes_ if grown else 1):
            raise ValueError("its trees and its list of classes do not fit together")


class CurvePolicy(_Policy):
    """Predict the accuracy of every budget, then let the price decide: one model for every budget.

    Where costs differ by question, their mean at each budget is what a new question is expected to pay. An estimator in
    the manner of scikit-learn, as `LabelPolicy` is. Explained in chapter 6, "Learning".

    Parameters
    ----------
    model : scikit-learn regressor, optional
        Copies of it are fitted, to all budgets at once (`sklearn.multioutput.MultiOutputRegressor` helps one that can
        only do one). Default: XGBoost, 100 trees of depth 3 that each predict the whole curve, on one thread.
    seed : int
        Of the default model, and of the folds.

    Attributes
    ----------
    lam_ : float or None
        Price that `predict` uses; None when `fit` was given neither budget nor price.
    cost_ : ndarray, shape (K,)
        What each budget is expected to cost.
    prices_ : ndarray, shape (2, P)
        Prices, falling, and the average cost that each had on the training questions.
    model_, n_features_in_, feature_names_in_
        As in scikit-learn; the model is the fitted copy.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> known, acc = [[0.0], [1.0], [2.0], [3.0]], [[0.1, 0.1], [0.2, 0.4], [0.3, 0.7], [0.4, 1.0]]
    >>> CurvePolicy(LinearRegression()).fit(known, acc, cost=[1, 2], lam=0.3).predict(known).tolist()
    [0, 0, 1, 1]
    """

    def __init__(self, model: Any = None, seed: int = 0) -> None:
        self.model, self.seed = model, seed

    def fit(
        self,
        features: ArrayLike,
        acc: ArrayLike,
        cost: ArrayLike,
        *,
        budget: float | None = None,
        lam: float | None = None,
        groups: Sequence | None = None,
    ) -> CurvePolicy:
        """Learn the curves, and what every price would cost; ``budget`` or ``lam`` is what `predict` then aims at.

        Trees know their training questions too well, so the costs are those of curves predicted for each training
        question by trees that did not see it, nor any of its group: give families as ``groups`` where the policy is to
        meet new families. Features are finite numbers, one row per question.
        """
        acc, cost = check_table(acc, cost)
        if budget is not None and lam is not None:
            raise ValueError("give either budget or lam, or neither")
        lam = None if lam is None else check_price(lam)
        values = self._taught(features)
        if len(values) != len(acc):
            raise ValueError(f"features have {len(values)} rows and acc {len(acc)}; give one row per question")
        self.cost_ = cost if cost.ndim == 1 else cost.mean(axis=0)
        self.model_ = self._train(values, acc)
        unseen = frontier(self._unseen_curves(values, acc, groups), self.cost_)
        self.prices_ = np.array([unseen.lam, unseen.cost])
        self.lam_ = lam
        if budget is not None:
            self.lam_ = self.price(budget)
        return self

    def curves(self, features: ArrayLike) -> np.ndarray:
        """Return the predicted accuracy of every budget, shape (N, K), in [0, 1]."""
        return _curves(self.model_, self._asked(features), len(self.cost_))

    def price(self, budget: float) -> float:
        """Return the lowest price at which the training questions' predicted curves cost at most ``budget``."""
        self._check_fitted()
        prices, costs = self.prices_
        if not budget >= costs[0] * (1 - 1e-12):
            raise ValueError(f"the budget is {budget}; the cheapest allocation costs {costs[0]:g}, give at least that")
        return float(prices[max(costs.searchsorted(budget, side="right") - 1, 0)])

    def predict(self, features: ArrayLike) -> np.ndarray:
        """Return the column chosen for each question, shape (N,), at the price that `fit` was given or found."""
        self._check_fitted()
        if self.lam_ is None:
            raise ValueError("the policy has no price; fit it with budget or lam, or call for_budget")
        return self.at_price(features, self.lam_)

    def for_budget(self, features: ArrayLike, budget: float) -> np.ndarray:
        """Return the column chosen for each question at the price that meets ``budget`` on the training questions.

        The questions asked about have no say in the price, so that each could come alone; together they may come to a
        little more or less than the budget.
        """
        return self.at_price(features, self.price(budget))

    def at_price(self, features: ArrayLike, price: float) -> np.ndarray:
        """Return the column chosen for each question at a price, shape (N,)."""
        curves = self.curves(features)
        return oracle_labels(curves, self.cost_, price) if len(curves) else np.zeros(0, dtype=int)

    def _about(self) -> dict[str, Any]:
        return {"kind": "curve", "cost": self.cost_, "prices": self.prices_[0], "costs": self.prices_[1]}

    def _restore(self, about: dict[str, Any], grown: dict[str, Any]) -> None:
        if not grown:
            raise ValueError("it has no trees")
        self.model_ = trees.from_json(grown, self.n_features_in_)
        prices = numbers(about["prices"], "prices", (None,), 0)
        self.prices_ = np.array([prices, numbers(about["costs"], "costs", prices.shape, 0)])
        if not prices.size or (np.diff(self.prices_[1]) < 0).any():
            raise ValueError("its costs are not those of ever lower prices")
        outputs = self.model_.predict(np.zeros((1, self.n_features_in_))).reshape(1, -1)
        _, self.cost_ = check_table(outputs.clip(0, 1), numbers(about["cost"], "cost", (None,)))

    def _train(self, values: np.ndarray, acc: np.ndarray) -> Any:
        return self._new_model(trees.regressor(self.seed), "regressor").fit(values, acc)

    def _unseen_curves(self, values: np.ndarray, acc: np.ndarray, groups: Sequence | None) -> np.ndarray:
        n, k = acc.shape
        member = group_numbers(range(n) if groups is None else groups, n)
        count = member.max() + 1
        if count == 1:  # nobody else to learn from
            return _curves(self.model_, values, k)
        fold = deal(member, _FOLDS, order=np.random.default_rng(self.seed).permutation(count).argsort())
        curves = np.empty_like(acc)
        for out in np.unique(fold):
            held = fold == out
            curves[held] = _curves(self._train(values[~held], acc[~held]), values[held], k)
        return curves


def _curves(model: Any, values: np.ndarray, k: int) -> np.ndarray:
    """Predicted curves; a regressor may overshoot 0 and 1 a little, an accuracy may not."""
    if not len(values):
        return np.zeros((0, k))
    return np.asarray(model.predict(values), dtype=float).reshape(len(values), k).clip(0, 1)


def load_policy(path: str | os.PathLike) -> LabelPolicy | CurvePolicy:
    """Read a policy that was saved, here or in another process; its predictions are the same to the last bit.

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    path : path
        Two lines of JSON: data, nothing that runs.
    """
    about, grown = read_sealed(path, _FORMAT, 2, "save the policy again")
    kinds: dict[str, type[LabelPolicy | CurvePolicy]] = {"label": LabelPolicy, "curve": CurvePolicy}
    try:
        policy = kinds[about["kind"]](seed=whole(about["seed"], "seed", 0, 2**31 - 1))
        names, width = about["names"], whole(about["width"], "width", 1, 10**6)
        if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise ValueError("its features' names are no list of texts")
        if names is not None and len(set(names)) != width:
            raise ValueError(f"it names {len(names)} features, its width is {width}")
        policy._remember(names, width)
        policy.lam_ = None if about["lam"] is None else number(about["lam"], "lam", 0)
        policy._restore(about, grown)
        return policy
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: is not a sound policy file ({error}); save the policy again") from None


def regret_weights(acc: ArrayLike, cost: ArrayLike, lam: float) -> np.ndarray:
    """What the worst label would cost each question: ``M_lam(x)``, the largest net value minus the smallest.

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    acc, cost, lam
        As for `oracle_labels`.

    Examples
    --------
    >>> regret_weights([[0.5, 0.9], [0.2, 0.2]], cost=[1, 2], lam=0.25).round(2).tolist()
    [0.15, 0.25]
    """
    acc, cost = check_table(acc, cost)
    net = acc - lam * cost
    return net.max(axis=1) - net.min(axis=1)


def side_by_side(work: Callable, jobs: Iterable) -> Iterator:
    """Do all jobs on as many threads as there are processors; results come in the order of the jobs.

    Trees grow outside Python's lock, each model on one thread, so that no digit changes.
    """
    if cores() == 1:
        yield from map(work, jobs)
        return
    # Matrix products that start threads of their own would fight over the same processors.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cores()) as workers:
        yield from workers.map(work, jobs)
