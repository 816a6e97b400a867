"""XGBoost behind one small door: check the features, train, predict, write and read.

Both learned policies stand on this. One thread and a fixed seed, so the same rows give the same trees. A saved policy
is two lines of JSON, what the policy is and the trees in XGBoost's own format: data, and nothing that runs.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

import numpy as np
import xgboost
from numpy.typing import ArrayLike

from adalib.datasets.jsonl import DataError, read_lines, write_lines

__all__ = ["Columns", "predict", "read", "train", "trained", "write"]

_TREES = 100
_FORMAT = "adalib policy, version 1"
_FLOAT32 = float(np.finfo(np.float32).max)  # XGBoost keeps features in single precision


class Columns:
    """The features a policy was trained on: how many, and their names where they had names.

    Parameters
    ----------
    names : sequence of str, or None for a plain matrix
    width : int
        Number of features.
    """

    def __init__(self, names: list[str] | None, width: int) -> None:
        self.names, self.width = names, width

    @classmethod
    def of(cls, features: ArrayLike) -> Columns:
        """Describe a DataFrame, or any matrix."""
        names = [str(name) for name in features.columns] if hasattr(features, "columns") else None
        if names is not None and len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"features have two columns named {twice!r}; give every column its own name")
        return cls(names, np.shape(features)[1] if np.ndim(features) == 2 else 0)

    def matrix(self, features: ArrayLike) -> np.ndarray:
        """Return the features as float64, columns in the trained order.

        Raises
        ------
        ValueError
            One sentence that names the row and column, or the column that is missing.
        """
        if np.ndim(features) != 2 or self.width == 0:
            shape = np.shape(features)
            raise ValueError(f"features have shape {shape}; give one row a question and at least one column")
        if hasattr(features, "columns") and self.names is not None:
            features = features.rename(columns=str)
            missing = [name for name in self.names if name not in features.columns]
            if missing or features.shape[1] != self.width:
                fault = f"lack {missing[0]!r}" if missing else f"have {features.shape[1]} columns, not {self.width}"
                raise ValueError(f"features {fault}; give the columns that the policy was trained on")
            features = features[self.names]
        try:
            values = np.asarray(features, dtype=float)
        except (TypeError, ValueError):
            raise ValueError("features must be a table of numbers, one row a question") from None
        if values.shape[1] != self.width:
            raise ValueError(f"features have {values.shape[1]} columns; the policy was trained on {self.width}")
        bad = ~(np.abs(values) <= _FLOAT32)
        if bad.any():
            row, column = (int(i) for i in np.argwhere(bad)[0])
            name = column if self.names is None else repr(self.names[column])
            raise ValueError(f"features[{row}, {name}] is {values[row, column]}; give a finite number, or drop the row")
        return values

    def zeros(self) -> np.ndarray:
        """Return one row of features, all 0: enough to see how many outputs the trees have."""
        return np.zeros((1, self.width))


def trained(columns: Columns | None) -> Columns:
    """Return the columns of a policy that has been fitted, or say that it has not."""
    if columns is None:
        raise ValueError("the policy has not been fitted; call fit first")
    return columns


def train(
    values: np.ndarray, target: np.ndarray, params: dict[str, Any], weights: np.ndarray | None = None
) -> xgboost.Booster:
    """Grow 100 rounds of trees, on one thread."""
    data = xgboost.DMatrix(values, target, weight=weights, nthread=1)
    return xgboost.train({"nthread": 1, "verbosity": 0, **params}, data, _TREES)


def predict(booster: xgboost.Booster, values: np.ndarray) -> np.ndarray:
    """Return the outputs of the trees, one row a question."""
    return booster.predict(xgboost.DMatrix(values, nthread=1))


def write(path: str | os.PathLike, about: dict[str, Any], columns: Columns, booster: xgboost.Booster | None) -> None:
    """Write a policy: what it is, and its trees (an empty object for a policy without)."""
    trees = {} if booster is None else json.loads(booster.save_raw("json"))
    write_lines(path, [{"format": _FORMAT, "names": columns.names, "width": columns.width, **about}, trees])


def read(path: str | os.PathLike) -> tuple[dict[str, Any], Columns, xgboost.Booster | None]:
    """Read what `write` wrote.

    Raises
    ------
    DataError
        One sentence that names the file, what is wrong and the mend.
    """
    lines = [record for _, record in read_lines(path)]
    if len(lines) != 2 or lines[0].get("format") != _FORMAT:
        raise DataError(
            f'{path}: is not a saved policy (two lines, the first with "format": "{_FORMAT}"); save it again'
        )
    about, trees = lines
    try:
        names, width = about["names"], int(about["width"])
        if width < 1 or (names is not None and len({str(name) for name in names}) != width):
            raise ValueError(f"it names {len(names)} features, its width is {width}" if names else f"width is {width}")
        columns = Columns(names, width)
        return about, columns, _booster(trees, width) if trees else None
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: is not a sound policy file ({error}); save the policy again") from None


def _booster(trees: dict[str, Any], width: int) -> xgboost.Booster:
    booster = xgboost.Booster({"nthread": 1, "verbosity": 0})
    try:
        booster.load_model(bytearray(json.dumps(trees).encode()))
    except xgboost.core.XGBoostError as error:
        # The first line says what is wrong, behind a time and a place in the C++ source; the others are a stack.
        reason = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", str(error).strip().splitlines()[0])
        raise ValueError(f"XGBoost says: {reason}") from None
    if booster.num_features() != width:
        raise ValueError(f"its trees take {booster.num_features()} features, not {width}")
    return booster
