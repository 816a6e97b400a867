"""Policies that know only the features of a question: imitate the oracle's labels, or predict the curve and price it.

The paper's way is imitation: solve the allocation problem on training questions, then train a classifier to repeat the
labels. `LabelPolicy` does that, for one budget at a time. `CurvePolicy` predicts the accuracy of every budget and lets
the price decide, as the oracle does with the true curves: one model then serves every budget. Both answer
``fit(features, acc, cost, budget=...)`` (or ``lam=...``) and ``predict(features)``, which returns column numbers.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.jsonl import DataError
from adalib.learn import boosting
from adalib.learn.boosting import Columns, trained
from adalib.learn.curve_policy import CurvePolicy
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import check_table

__all__ = ["ZOO", "CurvePolicy", "LabelPolicy", "load_policy", "regret_weights", "zoo"]

#: The classifiers of the paper's ablation.
ZOO = ("logistic", "svm", "forest", "mlp", "gbm")

_PAPER = {"objective": "multi:softprob", "max_depth": 5, "eta": 0.1}  # the paper's hyper-parameters


def regret_weights(acc: ArrayLike, cost: ArrayLike, lam: float) -> np.ndarray:
    """What the worst label would cost each question: ``M_lam(x)``, the largest net value minus the smallest.

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    acc, cost
        As for `oracle_labels`.
    lam : float
        Price of one unit of cost, at least 0.

    Returns
    -------
    ndarray, shape (N,)

    Examples
    --------
    >>> regret_weights([[0.5, 0.9], [0.2, 0.2]], cost=[1, 2], lam=0.25).round(2).tolist()
    [0.15, 0.25]
    """
    acc, cost = check_table(acc, cost)
    net = acc - lam * cost
    return net.max(axis=1) - net.min(axis=1)


class LabelPolicy:
    """Imitate the oracle's labels with a classifier.

    Explained in chapter 6, "Learning"; the other classifiers in chapter 9, "Ablations".

    Parameters
    ----------
    model : {"gbm", "logistic", "svm", "forest", "mlp"}
        "gbm" is XGBoost at the paper's hyper-parameters: 100 trees, depth 5, rate 0.1, multi-class log-loss.
    weighted : bool
        Weigh every question by `regret_weights`, so that a costly mistake counts for more ("gbm" only).
    seed : int

    Attributes
    ----------
    lam : float or None
        Price of the labels it was fitted on; None after `fit_labels`.
    """

    def __init__(self, model: str = "gbm", weighted: bool = False, seed: int = 0) -> None:
        if model not in ZOO:
            raise ValueError(f"model is {model!r}; choose one of {', '.join(ZOO)}")
        if weighted and model != "gbm":
            raise ValueError(f'weighted=True needs model "gbm", got {model!r}')
        self.model, self.weighted, self.seed = model, weighted, seed
        self.lam: float | None = None
        self._columns: Columns | None = None
        self._classes: np.ndarray | None = None
        self._fitted: Any = None  # None while only one label has been seen: then it is the answer

    def fit(
        self,
        features: ArrayLike,
        acc: ArrayLike,
        cost: ArrayLike,
        *,
        budget: float | None = None,
        lam: float | None = None,
    ) -> LabelPolicy:
        """Solve the training questions for a budget, or at a price, and learn the labels.

        Parameters
        ----------
        features : DataFrame or array_like, shape (N, d)
            Finite numbers.
        acc, cost
            As for `oracle_labels`.
        budget, lam : float
            One of them: the average cost allowed (the exact frontier's labels, never above it), or the price.

        Returns
        -------
        LabelPolicy
            Itself.
        """
        acc, cost = check_table(acc, cost)
        if (budget is None) == (lam is None):
            raise ValueError("give either budget or lam")
        if lam is None:
            best = frontier(acc, cost).at(budget)
            lam, labels = best.lam, best.labels
        else:
            labels = oracle_labels(acc, cost, lam)
        self.fit_labels(features, labels, regret_weights(acc, cost, lam) if self.weighted else None)
        self.lam = float(lam)
        return self

    def fit_labels(self, features: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> LabelPolicy:
        """Learn labels that were made elsewhere: other tie rules, or several tables pooled.

        Parameters
        ----------
        features : DataFrame or array_like, shape (N, d)
        labels : array_like of int, shape (N,)
            Column of each question. Columns that do not occur are never predicted.
        weights : array_like, shape (N,), optional
            Importance of each question, at least 0 ("gbm" only); only their proportions matter.

        Returns
        -------
        LabelPolicy
            Itself.
        """
        columns = Columns.of(features)
        values, labels = columns.matrix(features), np.asarray(labels)
        if labels.shape != (len(values),) or labels.size == 0 or labels.dtype.kind not in "iu" or labels.min() < 0:
            raise ValueError(f"labels must be {len(values)} column numbers, 0 or more, at least one: one a question")
        classes, codes = np.unique(labels, return_inverse=True)
        fitted = None
        if self.model == "gbm":
            scale = _mean_one(weights, labels.size)
            if classes.size > 1:
                params = {**_PAPER, "num_class": int(classes.size), "seed": self.seed}
                fitted = boosting.train(values, codes, params, scale)
        elif weights is not None:
            raise ValueError(f'weights need model "gbm", not {self.model!r}')
        elif classes.size > 1:
            with warnings.catch_warnings():  # a network that has not converged is still the ablation's network
                warnings.simplefilter("ignore")
                fitted = _classifier(self.model, self.seed).fit(values, codes)
        self._columns, self._classes, self._fitted, self.lam = columns, classes.astype(int), fitted, None
        return self

    def predict(self, features: ArrayLike) -> np.ndarray:
        """Return the column chosen for each question, shape (N,)."""
        values = trained(self._columns).matrix(features)
        if self._fitted is None or not len(values):
            return np.full(len(values), self._classes[0])
        if self.model == "gbm":
            return self._classes[boosting.predict(self._fitted, values).argmax(axis=1)]
        return self._classes[self._fitted.predict(values)]

    def importance(self) -> pd.Series:
        """Share of each feature in the trees' gain, as in the paper's importance figure ("gbm" only).

        Explained in chapter 9, "Ablations".
        """
        if self.model != "gbm":
            raise ValueError(f'importance needs model "gbm", not {self.model!r}')
        columns = trained(self._columns)
        gain = {} if self._fitted is None else self._fitted.get_score(importance_type="gain")
        values = np.array([gain.get(f"f{j}", 0.0) for j in range(columns.width)])
        return pd.Series(values / (values.sum() or 1.0), index=columns.names or range(columns.width))

    def save(self, path: str | os.PathLike) -> None:
        """Write two lines of JSON that `load_policy` reads: what the policy is, and XGBoost's trees ("gbm" only)."""
        if self.model != "gbm":
            raise ValueError(f'only model "gbm" can be saved, not {self.model!r}: scikit-learn saves pickles')
        about = {"kind": "label", "seed": self.seed, "weighted": self.weighted, "lam": self.lam}
        boosting.write(path, {**about, "classes": self._classes}, trained(self._columns), self._fitted)

    @classmethod
    def _read(cls, about: dict[str, Any], columns: Columns, booster: Any) -> LabelPolicy:
        policy = cls(weighted=bool(about["weighted"]), seed=int(about["seed"]))
        policy._columns, policy._fitted = columns, booster
        policy.lam = None if about["lam"] is None else float(about["lam"])
        policy._classes = np.array(about["classes"], dtype=int).reshape(-1)
        if policy._classes.size != (1 if booster is None else boosting.predict(booster, columns.zeros()).size):
            raise ValueError("its trees and its list of classes do not fit together")
        return policy


def zoo(seed: int = 0) -> dict[str, LabelPolicy]:
    """Return the five classifiers of the paper's ablation, unfitted, by name.

    Logistic regression, an SVM with a Gaussian kernel, a random forest of 100 trees, a network with 64 hidden units,
    and XGBoost; the first, second and fourth see standardised features. Explained in chapter 9, "Ablations".
    """
    return {name: LabelPolicy(name, seed=seed) for name in ZOO}


def load_policy(path: str | os.PathLike) -> LabelPolicy | CurvePolicy:
    """Read a policy that was saved, here or in another process; its predictions are the same to the last bit.

    Explained in chapter 6, "Learning".

    Parameters
    ----------
    path : path
        Two lines of JSON: data, nothing that runs.

    Returns
    -------
    LabelPolicy or CurvePolicy

    Raises
    ------
    DataError
        If the file cannot be read, or is not a saved policy.
    """
    about, columns, booster = boosting.read(path)
    kinds = {"label": LabelPolicy, "curve": CurvePolicy}
    try:
        return kinds[about["kind"]]._read(about, columns, booster)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: is not a sound policy file ({error}); save the policy again") from None


def _classifier(model: str, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    if model == "forest":
        return RandomForestClassifier(n_estimators=100, random_state=seed, n_jobs=1)
    scaled = {
        "logistic": LogisticRegression(max_iter=1000, random_state=seed),
        "svm": SVC(kernel="rbf", random_state=seed),
        "mlp": MLPClassifier(hidden_layer_sizes=(64,), random_state=seed),
    }
    return make_pipeline(StandardScaler(), scaled[model])


def _mean_one(weights: ArrayLike | None, n: int) -> np.ndarray | None:
    """Weights scaled to a mean of 1, so that they leave the trees' regularisation as it is."""
    if weights is None:
        return None
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (n,) or not np.isfinite(weights).all() or weights.min() < 0:
        raise ValueError(f"weights must be {n} finite numbers, 0 or more: one a question")
    return weights / weights.mean() if weights.any() else np.ones(n)
