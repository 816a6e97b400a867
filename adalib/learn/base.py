"""What every learned policy shares: checked features, fitted state and a saved file."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from adalib.datasets.sealed import write_sealed
from adalib.learn import trees

FORMAT = "adalib policy, version 2"  # first line of a saved policy


class LearnedPolicy(BaseEstimator):
    """Base of the policies: an estimator in the manner of scikit-learn that can be saved."""

    model: Any
    seed: int
    model_: Any
    lam_: float | None
    n_features_in_: int
    feature_names_in_: np.ndarray  # only if the features had names

    def save(self, path: str | os.PathLike) -> None:
        """Write the policy as two lines of JSON, its parameters and its trees, for `load_policy`.

        Other models than the default trees could only be pickled, which is unsafe, so saving them
        is refused. A policy that is read back predicts; to train again, make a new one.
        """
        self._check_fitted()
        forest = {} if self.model_ is None else trees.to_json(self.model_, self.n_features_in_)
        parameters = {
            "names": getattr(self, "feature_names_in_", None),
            "width": self.n_features_in_,
            "seed": self.seed,
            "lam": self.lam_,
            **self._parameters(),
        }
        write_sealed(path, FORMAT, [parameters, forest])

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """What `save` writes in addition to what all policies have."""

    @abstractmethod
    def _restore(self, parameters: dict[str, Any], forest: dict[str, Any]) -> None:
        """Set the fitted state from a saved file; ValueError if it is not sound."""

    def _training_values(self, features: ArrayLike) -> np.ndarray:
        """Remember the columns of the training features, and return their values."""
        names = None
        if isinstance(features, pd.DataFrame):
            names = [str(name) for name in features.columns]
            if len(set(names)) < len(names):
                repeated = next(name for name in names if names.count(name) > 1)
                raise ValueError(
                    f"features have two columns named {repeated!r}; give every column its own name"
                )
        width = np.shape(features)[1] if np.ndim(features) == 2 else 0
        values = _matrix(features, names, width)
        self._remember_columns(names, width)
        return values

    def _values(self, features: ArrayLike) -> np.ndarray:
        """Return the values of features to predict from, columns in the trained order."""
        self._check_fitted()
        return _matrix(features, getattr(self, "feature_names_in_", None), self.n_features_in_)

    def _remember_columns(self, names: Sequence[str] | None, width: int) -> None:
        """Set the number of features, and their names if they have any."""
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "lam_", msg="the policy has not been fitted; call fit first")

    def _new_model(self, default: Any, kind: str) -> Any:
        """Return an unfitted copy of the model that was given, or the default."""
        if self.model is None:
            return default
        if not (hasattr(self.model, "fit") and hasattr(self.model, "predict")):
            raise ValueError(
                f"model is {self.model!r}; give a {kind} in the manner of scikit-learn"
            )
        return clone(self.model)


def _matrix(features: Any, names: Sequence[str] | None, width: int) -> np.ndarray:
    """Return features as float64, columns in the trained order; ValueError names row and column."""
    if np.ndim(features) != 2 or width == 0:
        raise ValueError(
            f"features have shape {np.shape(features)}; "
            "give one row per question and at least one column"
        )
    if names is not None and isinstance(features, pd.DataFrame):
        features = _in_order(features, names, width)
    try:
        values = np.asarray(features, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("features must be a table of numbers, one row per question") from None
    if values.shape[1] != width:
        raise ValueError(
            f"features have {values.shape[1]} columns; the policy was trained on {width}"
        )
    bad = np.argwhere(~(np.abs(values) <= trees.LARGEST))
    if bad.size:
        row, column = bad[0].tolist()
        name = column if names is None else repr(names[column])
        raise ValueError(
            f"features[{row}, {name}] is {values[row, column]}; "
            "give a finite number, or drop the row"
        )
    return values


def _in_order(features: pd.DataFrame, names: Sequence[str], width: int) -> pd.DataFrame:
    """Return the columns of these names, in their order; ValueError if there are others."""
    features = features.rename(columns=str)
    missing = [name for name in names if name not in features.columns]
    if missing or features.shape[1] != width:
        fault = f"have {features.shape[1]} columns, not {width}"
        if missing:
            fault = f"lack {missing[0]!r}"
        raise ValueError(f"features {fault}; give the columns that the policy was trained on")
    return features[list(names)]
