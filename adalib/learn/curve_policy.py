"""Predict the whole accuracy curve, then price it.

A label is a decision at one price; a curve is what the decision is made from. A model of Acc(x, .) can be asked at any
price, and so at any budget, without training again. This is the learned counterpart of the oracle, which does the same
with the true curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.sealed import numbers
from adalib.learn import trees
from adalib.learn.policy import Policy
from adalib.solve.frontier import frontier
from adalib.solve.oracle import check_price, oracle_labels
from adalib.table import check_table

__all__ = ["CurvePolicy"]

_FOLDS = 5


class CurvePolicy(Policy):
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
    model_ : regressor
        The fitted copy.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
            raise ValueError(f"features have {len(values)} rows and acc {len(acc)}; give one row a question")
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
        values = self._asked(features)
        return _curves(self.model_, values, self.cost_.size)

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
        about = {"kind": "curve", "seed": self.seed, "lam": self.lam_, "cost": self.cost_}
        return {**about, "prices": self.prices_[0], "costs": self.prices_[1]}

    def _restore(self, about: dict[str, Any], grown: dict[str, Any]) -> None:
        if not grown:
            raise ValueError("it has no trees")
        self.model_ = trees.from_json(trees.regressor(self.seed), grown, self.n_features_in_)
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
