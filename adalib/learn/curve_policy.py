"""Predict the whole accuracy curve, then price it.

A label is a decision at one price; a curve is what the decision is made from. A model of Acc(x, .) can be asked at any
price, and so at any budget, without training again. This is the learned counterpart of the oracle, which does the same
with the true curves.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from xgboost import XGBRegressor

from adalib.datasets.folds import deal, group_numbers
from adalib.datasets.sealed import number, numbers
from adalib.learn import policy as saving
from adalib.learn.policy import Policy
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
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
        """Learn the curves, and what every price would cost.

        Trees know their training questions too well, so the costs are those of curves predicted for each training
        question by trees that did not see it.

        Parameters
        ----------
        features : DataFrame or array_like, shape (N, d)
            Finite numbers.
        acc, cost
            As for `oracle_labels`.
        budget, lam : float, optional
            What `predict` is to aim at: an average cost, or a price. `for_budget` takes any other budget later.
        groups : sequence of N values, optional
            The costs of a question are then those of trees that saw none of its group. Give families where the policy
            is to meet new families.

        Returns
        -------
        CurvePolicy
            Itself.
        """
        acc, cost = check_table(acc, cost)
        if budget is not None and lam is not None:
            raise ValueError("give either budget or lam, or neither")
        if lam is not None and not 0 <= lam < np.inf:
            raise ValueError(f"the price is {lam}; give a finite number, 0 or more")
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

        The questions asked about have no say in the price, so that each could come alone.

        Parameters
        ----------
        features : DataFrame or array_like, shape (N, d)
        budget : float
            Average cost to aim for; other questions than the training ones may come to a little more or less.

        Returns
        -------
        ndarray of int, shape (N,)
        """
        return self.at_price(features, self.price(budget))

    def at_price(self, features: ArrayLike, price: float) -> np.ndarray:
        """Return the column chosen for each question at a price, shape (N,)."""
        curves = self.curves(features)
        return oracle_labels(curves, self.cost_, price) if len(curves) else np.zeros(0, dtype=int)

    def save(self, path: str | os.PathLike) -> None:
        """Write two lines of JSON that `load_policy` reads: what the policy is, and XGBoost's trees.

        Other regressors cannot be saved so. What is read back predicts; to train it anew, make a policy like this one.
        """
        self._check_fitted()
        prices, costs = self.prices_
        about = {"kind": "curve", "seed": self.seed, "lam": self.lam_, "cost": self.cost_}
        saving.write(path, self, {**about, "prices": prices, "costs": costs})

    @classmethod
    def _read(cls, about: dict[str, Any], trees: dict[str, Any]) -> CurvePolicy:
        if not trees:
            raise ValueError("it has no trees")
        policy = cls(seed=saving.seed_of(about))
        policy._remember(about["names"], about["width"])
        policy.model_ = saving.load_trees(_shallow_trees(policy.seed), trees, policy.n_features_in_)
        policy.lam_ = None if about["lam"] is None else number(about["lam"], "lam", 0)
        prices = numbers(about["prices"], "prices", (None,), 0)
        policy.prices_ = np.array([prices, numbers(about["costs"], "costs", prices.shape, 0)])
        if not prices.size or (np.diff(policy.prices_[1]) < 0).any():
            raise ValueError("its costs are not those of ever lower prices")
        outputs = policy.model_.predict(np.zeros((1, policy.n_features_in_))).reshape(1, -1)
        _, policy.cost_ = check_table(outputs.clip(0, 1), numbers(about["cost"], "cost", (None,)))
        return policy

    def _train(self, values: np.ndarray, acc: np.ndarray) -> Any:
        return self._new_model(_shallow_trees(self.seed), "regressor").fit(values, acc)

    def _unseen_curves(self, values: np.ndarray, acc: np.ndarray, groups: Sequence | None) -> np.ndarray:
        n, k = acc.shape
        member = group_numbers(range(n) if groups is None else groups, n)
        count = member.max() + 1
        if count == 1:  # nobody else to learn from
            return _curves(self.model_, values, k)
        fold = deal(member, _FOLDS, order=np.random.default_rng(self.seed).permutation(count).argsort())
        found = np.empty_like(acc)
        for out in np.unique(fold):
            held = fold == out
            found[held] = _curves(self._train(values[~held], acc[~held]), values[held], k)
        return found


def _shallow_trees(seed: int) -> XGBRegressor:
    """Shallow and slow, because the curves of a few hundred questions are noisy.

    A tree predicts all budgets together, so that the difference between two budgets, all that the price looks at, is
    not the noise of two separate models.
    """
    return XGBRegressor(
        n_estimators=100,
        max_depth=3,
        learning_rate=0.05,
        objective="reg:squarederror",
        multi_strategy="multi_output_tree",
        max_bin=64,  # thresholds tried a feature: XGBoost's 256 cost time, and so few questions do not fill them
        n_jobs=1,
        random_state=seed,
        verbosity=0,
    )


def _curves(model: Any, values: np.ndarray, k: int) -> np.ndarray:
    """Predicted curves; a regressor may overshoot 0 and 1 a little, an accuracy may not."""
    if not len(values):
        return np.zeros((0, k))
    return np.asarray(model.predict(values), dtype=float).reshape(len(values), k).clip(0, 1)
