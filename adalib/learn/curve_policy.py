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

from adalib.datasets.folds import deal, group_numbers
from adalib.learn import boosting
from adalib.learn.boosting import Columns, trained
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import check_table

__all__ = ["CurvePolicy"]

# Shallow and slow, because the curves of a few hundred questions are noisy. A tree predicts all budgets together, so
# that the difference between two budgets, all that the price looks at, is not the noise of two separate models.
_PARAMS = {"objective": "reg:squarederror", "max_depth": 3, "eta": 0.05, "multi_strategy": "multi_output_tree"}
_PARAMS["max_bin"] = 64  # thresholds tried a feature: XGBoost's 256 cost time, and so few questions do not fill them
_FOLDS = 5


class CurvePolicy:
    """Predict the accuracy of every budget, then let the price decide: one model for every budget.

    Where costs differ by question, their mean at each budget is what a new question is expected to pay. Explained in
    chapter 6, "Learning".

    Parameters
    ----------
    seed : int

    Attributes
    ----------
    lam : float or None
        Price that `predict` uses; None when `fit` was given neither budget nor price.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.lam: float | None = None
        self._columns: Columns | None = None
        self._booster: Any = None
        self._cost: np.ndarray | None = None
        self._prices: np.ndarray | None = None  # rows: price, and average cost on the training questions

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
        columns = Columns.of(features)
        values = columns.matrix(features)
        if len(values) != len(acc):
            raise ValueError(f"features have {len(values)} rows and acc {len(acc)}; give one row a question")
        self.lam = None
        self._columns, self._cost = columns, cost if cost.ndim == 1 else cost.mean(axis=0)
        self._booster = self._train(values, acc)
        unseen = frontier(self._unseen_curves(values, acc, groups), self._cost)
        self._prices = np.array([unseen.lam, unseen.cost])
        self.lam = lam if budget is None else self.price(budget)
        return self

    def curves(self, features: ArrayLike) -> np.ndarray:
        """Return the predicted accuracy of every budget, shape (N, K), in [0, 1]."""
        values = trained(self._columns).matrix(features)
        return _curves(self._booster, values, self._cost.size)

    def price(self, budget: float) -> float:
        """Return the lowest price at which the training questions' predicted curves cost at most ``budget``."""
        trained(self._columns)
        prices, costs = self._prices
        if not budget >= costs[0] * (1 - 1e-12):
            raise ValueError(f"the budget is {budget}; the cheapest allocation costs {costs[0]:g}, give at least that")
        return float(prices[max(costs.searchsorted(budget, side="right") - 1, 0)])

    def predict(self, features: ArrayLike) -> np.ndarray:
        """Return the column chosen for each question, shape (N,), at the price that `fit` was given or found."""
        trained(self._columns)
        if self.lam is None:
            raise ValueError("the policy has no price; fit it with budget or lam, or call for_budget")
        return self._at(features, self.lam)

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
        return self._at(features, self.price(budget))

    def save(self, path: str | os.PathLike) -> None:
        """Write two lines of JSON that `load_policy` reads: what the policy is, and XGBoost's trees."""
        columns, (prices, costs) = trained(self._columns), self._prices
        about = {"kind": "curve", "seed": self.seed, "lam": self.lam, "cost": self._cost}
        boosting.write(path, {**about, "prices": prices, "costs": costs}, columns, self._booster)

    @classmethod
    def _read(cls, about: dict[str, Any], columns: Columns, booster: Any) -> CurvePolicy:
        if booster is None:
            raise ValueError("it has no trees")
        policy = cls(seed=int(about["seed"]))
        policy._columns, policy._booster = columns, booster
        policy.lam = None if about["lam"] is None else float(about["lam"])
        policy._prices = np.array([about["prices"], about["costs"]], dtype=float)
        outputs = boosting.predict(booster, columns.zeros()).reshape(1, -1)
        _, policy._cost = check_table(outputs.clip(0, 1), about["cost"])
        return policy

    def _at(self, features: ArrayLike, lam: float) -> np.ndarray:
        curves = self.curves(features)
        return oracle_labels(curves, self._cost, lam) if len(curves) else np.zeros(0, dtype=int)

    def _train(self, values: np.ndarray, acc: np.ndarray) -> Any:
        return boosting.train(values, acc, {**_PARAMS, "seed": self.seed})

    def _unseen_curves(self, values: np.ndarray, acc: np.ndarray, groups: Sequence | None) -> np.ndarray:
        n, k = acc.shape
        member = group_numbers(range(n) if groups is None else groups, n)
        count = member.max() + 1
        if count == 1:  # nobody else to learn from
            return _curves(self._booster, values, k)
        fold = deal(member, _FOLDS, order=np.random.default_rng(self.seed).permutation(count).argsort())
        found = np.empty_like(acc)
        for out in np.unique(fold):
            held = fold == out
            found[held] = _curves(self._train(values[~held], acc[~held]), values[held], k)
        return found


def _curves(booster: Any, values: np.ndarray, k: int) -> np.ndarray:
    """Predicted curves; boosting may overshoot 0 and 1 a little, an accuracy may not."""
    if not len(values):
        return np.zeros((0, k))
    return boosting.predict(booster, values).reshape(len(values), k).astype(float).clip(0, 1)
