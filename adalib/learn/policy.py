"""What both learned policies share: checked features, folds of their own, and a saved file."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from adalib.datasets.files import DataError, number, read_json, read_whole, whole, write_lines
from adalib.datasets.folds import deal, group_numbers

#: Version of the files that `save` writes.
VERSION = 3

_FOLDS = 5


class LearnedPolicy(BaseEstimator):
    """Base of the policies: an estimator in the manner of scikit-learn that can be saved."""

    model: Any
    seed: int
    model_: Any
    lam_: float | None
    n_features_in_: int
    feature_names_in_: np.ndarray  # only if the features had names

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the fitted policy as plain values, with the trees as XGBoost describes them."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make the policy that `to_dict` described; DataError if it is damaged or another thing."""

    def save(self, path: str | os.PathLike) -> None:
        """Write the policy as one line of JSON, which `load` reads.

        Only trees of XGBoost can be saved, because other models could only be pickled. A policy
        that is read back predicts; to train again, make a new one.
        """
        write_lines(path, [self.to_dict()])

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read a policy that `save` wrote, whose predictions are the same to the last bit.

        The file is data, and nothing in it is run. DataError names the file and the fault.
        """
        data = read_json(read_whole(path), str(path))
        try:
            return cls.from_dict(data)
        except DataError as error:
            raise DataError(f"{path}: {error}") from None

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

    def _shared_values(self, kind: str) -> dict[str, Any]:
        """Return what `to_dict` keeps of every policy."""
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        return {
            "kind": kind,
            "version": VERSION,
            "names": None if names is None else names.tolist(),
            "width": self.n_features_in_,
            "seed": self.seed,
            "lam": self.lam_,
        }

    def _take_shared_values(self, data: dict[str, Any]) -> None:
        """Set what `_shared_values` returned; ValueError if it is not sound."""
        self.seed = whole(data["seed"], "seed", 0, 2**31 - 1)
        self.lam_ = None if data["lam"] is None else number(data["lam"], "lam", 0)
        self.n_features_in_ = whole(data["width"], "width", 1, 10**6)
        names = data["names"]
        if names is None:
            return
        if not all(isinstance(name, str) for name in names) or len(names) != self.n_features_in_:
            raise ValueError(f"it has {self.n_features_in_} features and other names")
        self.feature_names_in_ = np.array(names, dtype=object)
