"""Predict the whole accuracy curve of a question, and let the price decide.

A label is a decision at one price. A curve is what the decision is made from, so one model serves
every price and therefore every budget, without training again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adalib.learn import trees
from adalib.learn.policy import LearnedPolicy
from adalib.solve.frontier import frontier
from adalib.solve.oracle import check_price, oracle_labels
from adalib.table import UtilityTable, arrays_of
from adalib.tolerances import meets


class CurvePolicy(LearnedPolicy):
    """Predict the accuracy of every budget, then let the price decide.

    At price lam a question gets the budget with the largest predicted accuracy minus lam times its
    cost, so one model serves every budget. Where costs differ by question, a new question is
    expected to pay their mean at each budget. An estimator in the manner of scikit-learn, like
    `LabelPolicy`. Explained in the chapter "The paper".

    Parameters
    ----------
    model : scikit-learn regressor, optional
        Copies of it are fitted to all budgets at once; `sklearn.multioutput.MultiOutputRegressor`
        helps one that predicts a single number. Default: XGBoost, 100 trees of depth 3 that each
        predict the whole curve, on one thread.
    seed : int
        Seed of the default model, and of the folds.

    Attributes
    ----------
    lam_ : float or None
        Price that `predict` uses; None if `fit` was given neither budget nor price.
    cost_ : ndarray, shape (K,)
        Expected cost of each budget.
    prices_ : ndarray, shape (2, P)
        Falling prices, and the average cost that each had on the training questions.
    model_ : scikit-learn regressor
        The fitted copy.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features; only if they were a DataFrame.

    See Also
    --------
    LabelPolicy : The paper's policy, one classifier per budget.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> features = [[0.0], [1.0], [2.0], [3.0]]
    >>> acc = [[0.1, 0.1], [0.2, 0.4], [0.3, 0.7], [0.4, 1.0]]
    >>> policy = CurvePolicy(LinearRegression()).fit(features, acc, cost=[1, 2], lam=0.3)
    >>> policy.predict(features).tolist()
    [0, 0, 1, 1]
    """

    def __init__(self, model: Any = None, seed: int = 0) -> None:
        self.model = model
        self.seed = seed

    def fit(
        self,
        features: ArrayLike,
        acc: ArrayLike | UtilityTable,
        cost: ArrayLike | None = None,
        *,
        budget: float | None = None,
        lam: float | None = None,
        groups: Sequence | None = None,
    ) -> CurvePolicy:
        """Learn the curves, and what every price costs.

        Trees fit their own training questions too well. So the costs are those of curves that were
        predicted for each training question by trees that saw neither it nor its group.

        Parameters
        ----------
        features : array_like or DataFrame, shape (N, F)
            Finite numbers, one row per question.
        acc : array_like, shape (N, K), or UtilityTable
            Accuracy of question i at budget j, in [0, 1], or a table with its costs.
        cost : array_like, shape (K,) or (N, K)
            Cost of budget j, non-decreasing along K.
        budget : float, optional
            Average cost that `predict` then aims at. Give this, ``lam``, or neither.
        lam : float, optional
            Price that `predict` then uses.
        groups : sequence of N labels, optional
            Families of questions; give them if the policy is to meet new families.

        Returns
        -------
        CurvePolicy
            This policy, fitted.
        """
        acc, cost = arrays_of(acc, cost)
        if budget is not None and lam is not None:
            raise ValueError("give either budget or lam, or neither")
        lam = None if lam is None else check_price(lam)
        values = self._training_values(features)
        if len(values) != len(acc):
            raise ValueError(
                f"features have {len(values)} rows and acc {len(acc)}; give one row per question"
            )
        self.cost_ = cost if cost.ndim == 1 else cost.mean(axis=0)
        self.model_ = self._train(values, acc)
        unseen = frontier(self.unseen_curves(values, acc, groups), self.cost_)
        self.prices_ = np.array([unseen.lam, unseen.cost])
        self.lam_ = lam
        if budget is not None:
            self.lam_ = self.price(budget)
        return self

    def curves(self, features: ArrayLike) -> np.ndarray:
        """Return the predicted accuracy of every budget, shape (N, K), in [0, 1]."""
        return _predict_curves(self.model_, self._values(features), len(self.cost_))

    def price(self, budget: float) -> float:
        """Return the lowest price at which the training questions cost at most ``budget``."""
        self._check_fitted()
        prices, costs = self.prices_
        if not meets(budget, costs[0]):
            raise ValueError(
                f"the budget is {budget}; the cheapest allocation costs {costs[0]:g}, "
                "give at least that"
            )
        return float(prices[max(costs.searchsorted(budget, side="right") - 1, 0)])

    def predict(self, features: ArrayLike) -> np.ndarray:
        """Return the column chosen for each question, shape (N,), at the price of `fit`."""
        self._check_fitted()
        if self.lam_ is None:
            raise ValueError(
                "the policy has no price; fit it with budget or lam, or call for_budget"
            )
        return self.at_price(features, self.lam_)

    def for_budget(self, features: ArrayLike, budget: float) -> np.ndarray:
        """Return the column chosen for each question at the price that meets ``budget``.

        The price comes from the training questions, not from the ones asked about, so that each
        could come alone; together these may cost a little more or less than the budget.
        """
        return self.at_price(features, self.price(budget))

    def at_price(self, features: ArrayLike, price: float) -> np.ndarray:
        """Return the column chosen for each question at a price, shape (N,)."""
        curves = self.curves(features)
        return oracle_labels(curves, self.cost_, price) if len(curves) else np.zeros(0, dtype=int)

    def unseen_curves(
        self, values: np.ndarray, acc: np.ndarray, groups: Sequence | None
    ) -> np.ndarray:
        """Predict each training question's curve by a model that saw nothing of its group."""
        curves = _predict_curves(self.model_, values, acc.shape[1])
        for left_out in self._left_out(groups, len(acc)):
            model = self._train(values[~left_out], acc[~left_out])
            curves[left_out] = _predict_curves(model, values[left_out], acc.shape[1])
        return curves

    def _train(self, values: np.ndarray, acc: np.ndarray) -> Any:
        return trees.unfitted(self.model, trees.regressor(self.seed)).fit(values, acc)


def _predict_curves(model: Any, values: np.ndarray, k: int) -> np.ndarray:
    """Predict curves in [0, 1]; a regressor may overshoot a little."""
    if not len(values):
        return np.zeros((0, k))
    return np.asarray(model.predict(values), dtype=float).reshape(len(values), k).clip(0, 1)
