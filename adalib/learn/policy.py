"""What both learned policies share: checked features, and folds of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from adalib.datasets.folds import deal, group_numbers

_FOLDS = 5


class LearnedPolicy(BaseEstimator, ABC):
    """Base of the policies: an estimator in the manner of scikit-learn."""

    model: Any
    seed: int
    model_: Any
    lam_: float | None
    n_features_in_: int
    feature_names_in_: np.ndarray  # only if the features had names

    @abstractmethod
    def predict(self, features: ArrayLike) -> np.ndarray:
        """Return the column for each question."""

    def _training_values(self, features: ArrayLike) -> np.ndarray:
        """Remember the columns of the training features, and return their values."""
        return validate_data(self, features, dtype=float)

    def _values(self, features: ArrayLike) -> np.ndarray:
        """Return the values of features to predict from; ValueError if the columns differ."""
        self._check_fitted()
        if isinstance(features, pd.DataFrame):
            return validate_data(self, features, dtype=float, reset=False, ensure_min_samples=0)
        values = check_array(features, dtype=float, ensure_min_samples=0)
        if values.shape[1] != self.n_features_in_:
            raise ValueError(
                f"features have {values.shape[1]} columns; "
                f"the policy was trained on {self.n_features_in_}"
            )
        return values

    def _check_fitted(self) -> None:
        check_is_fitted(self, "lam_", msg="the policy has not been fitted; call fit first")

    def _left_out(
        self, groups: Sequence | None, n: int, folds: int = _FOLDS
    ) -> Iterator[np.ndarray]:
        """Yield, fold by fold, which of the training questions are left out; no group is parted.

        One group alone cannot be left out, and then there is no fold.
        """
        member = group_numbers(range(n) if groups is None else groups, n)
        count = int(member.max()) + 1
        if count == 1:
            return
        order = np.random.default_rng(self.seed).permutation(count).argsort()
        fold_of = deal(member, folds, order=order)
        for fold in np.unique(fold_of):
            yield fold_of == fold
