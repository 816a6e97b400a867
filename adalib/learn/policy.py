"""What both learned policies share: scikit-learn's contract, and features that are checked at the door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

__all__ = ["Policy"]

_FLOAT32 = float(np.finfo(np.float32).max)  # XGBoost keeps features in single precision


class Policy(BaseEstimator):
    """A policy of a question's features: parameters as given until `fit`, what was learned in names that end in ``_``.

    Attributes
    ----------
    n_features_in_ : int
        Number of features that it was trained on.
    feature_names_in_ : ndarray of str
        Their names, where they had names.
    """

    def _taught(self, features: ArrayLike) -> np.ndarray:
        """Remember the columns of the features to learn from, and return them as numbers."""
        names = [str(name) for name in features.columns] if hasattr(features, "columns") else None
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
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_fitted(self) -> None:
        check_is_fitted(self, "lam_", msg="the policy has not been fitted; call fit first")

    def _new_model(self, default: Any, kind: str) -> Any:
        """An unfitted copy of the model that was given, or the default."""
        if self.model is None:
            return default
        if not (hasattr(self.model, "fit") and hasattr(self.model, "predict")):
            raise ValueError(f"model is {self.model!r}; give a {kind} in the manner of scikit-learn")
        return clone(self.model)


def _matrix(features: ArrayLike, names: Sequence[str] | None, width: int) -> np.ndarray:
    """The features as float64, columns in the trained order; a fault is named by its row and column."""
    if np.ndim(features) != 2 or width == 0:
        shape = np.shape(features)
        raise ValueError(f"features have shape {shape}; give one row a question and at least one column")
    if hasattr(features, "columns") and names is not None:
        features = features.rename(columns=str)
        missing = [name for name in names if name not in features.columns]
        if missing or features.shape[1] != width:
            fault = f"lack {missing[0]!r}" if missing else f"have {features.shape[1]} columns, not {width}"
            raise ValueError(f"features {fault}; give the columns that the policy was trained on")
        features = features[list(names)]
    try:
        values = np.asarray(features, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("features must be a table of numbers, one row a question") from None
    if values.shape[1] != width:
        raise ValueError(f"features have {values.shape[1]} columns; the policy was trained on {width}")
    bad = ~(np.abs(values) <= _FLOAT32)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        name = column if names is None else repr(names[column])
        raise ValueError(f"features[{row}, {name}] is {values[row, column]}; give a finite number, or drop the row")
    return values
