"""What both learned policies share: scikit-learn's contract, features that are checked at the door, and their file.

A saved policy is two lines of JSON, what the policy is and its trees: data, and nothing that runs. Other models of
scikit-learn are saved as pickles, which run, and so not at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from adalib.datasets.sealed import number, whole, write_sealed
from adalib.learn import trees

__all__ = ["FORMAT", "Policy", "side_by_side"]

FORMAT = "adalib policy, version 2"


class Policy(BaseEstimator):
    """A policy of a question's features: parameters as given until `fit`, what it learned in names ending in ``_``."""

    model: Any
    seed: int
    model_: Any
    lam_: float | None
    n_features_in_: int
    feature_names_in_: np.ndarray  # only where the features had names

    def save(self, path: str | os.PathLike) -> None:
        """Write two lines of JSON that `load_policy` reads: what the policy is, and XGBoost's trees.

        Other models cannot be saved so. What is read back predicts; to train it anew, make a policy like this one.
        """
        self._check_fitted()
        grown = {} if self.model_ is None else trees.to_json(self.model_, self.n_features_in_)
        about = {"names": getattr(self, "feature_names_in_", None), "width": self.n_features_in_}
        write_sealed(path, FORMAT, [{**about, **self._about()}, grown])

    def _about(self) -> dict[str, Any]:
        """What `save` writes of a policy beside its trees and features."""
        raise NotImplementedError

    def _restore(self, about: dict[str, Any], grown: dict[str, Any]) -> None:
        """Take what `_about` told, and the trees; errors as in `_read`."""
        raise NotImplementedError

    @classmethod
    def _read(cls, about: dict[str, Any], grown: dict[str, Any]) -> Self:
        """Make a policy of the two lines of its file; ValueError, KeyError or TypeError where they do not fit."""
        policy = cls()
        policy.seed = whole(about["seed"], "seed", 0, 2**31 - 1)
        names, width = about["names"], whole(about["width"], "width", 1, 10**6)
        if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise ValueError("its features' names are no list of texts")
        if names is not None and len(set(names)) != width:
            raise ValueError(f"it names {len(names)} features, its width is {width}")
        policy._remember(names, width)
        policy.lam_ = None if about["lam"] is None else number(about["lam"], "lam", 0)
        policy._restore(about, grown)
        return policy

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


def _matrix(features: Any, names: Sequence[str] | None, width: int) -> np.ndarray:
    """The features as float64, columns in the trained order; a fault is named by its row and column."""
    if np.ndim(features) != 2 or width == 0:
        shape = np.shape(features)
        raise ValueError(f"features have shape {shape}; give one row a question and at least one column")
    if names is not None and isinstance(features, pd.DataFrame):
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
    bad = np.argwhere(~(np.abs(values) <= trees.LARGEST))
    if bad.size:
        row, column = bad[0].tolist()
        name = column if names is None else repr(names[column])
        raise ValueError(f"features[{row}, {name}] is {values[row, column]}; give a finite number, or drop the row")
    return values


Job = TypeVar("Job")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
    """Do all jobs on as many threads as there are processors; results come in the order of the jobs.

    Trees grow outside Python's lock, each model on one thread, so that no digit changes.
    """
    # Matrix products that start threads of their own would fight over the same processors.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as workers:
        yield from workers.map(work, jobs)
