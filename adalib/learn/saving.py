"""A learned policy as a file: two lines of JSON, what the policy is and the trees in XGBoost's own format.

Data, and nothing that runs: other models of scikit-learn are saved as pickles, which run, and so not at all. A checksum
is looked at first, then every number, and only then does XGBoost see the trees.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

import xgboost

from adalib.datasets.sealed import DataError, read_sealed, whole, write_sealed
from adalib.learn.policy import Policy
from adalib.learn.trees import check_trees

__all__ = ["load_trees", "read", "seed_of", "write"]

_FORMAT = "adalib policy, version 2"
_MEND = "save the policy again"


def write(path: str | os.PathLike, policy: Policy, about: dict[str, Any]) -> None:
    """Write a fitted policy: what it is, and its trees (an empty object where it needed none)."""
    policy._check_fitted()
    model = policy.model_
    if model is not None and not isinstance(model, xgboost.XGBModel):
        raise ValueError(f"only XGBoost's trees can be saved, not {type(model).__name__}: scikit-learn saves pickles")
    names = getattr(policy, "feature_names_in_", None)
    trees = {} if model is None else json.loads(model.get_booster().save_raw("json"))
    if trees:
        try:
            check_trees(trees, policy.n_features_in_)
        except ValueError as error:
            raise ValueError(
                f"such trees could not be read back ({error}); train a model with other settings"
            ) from None
    write_sealed(path, _FORMAT, [{"names": names, "width": policy.n_features_in_, **about}, trees])


def read(path: str | os.PathLike) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the two lines that `write` wrote: about the policy, and its trees.

    Raises
    ------
    DataError
        One sentence that names the file, what is wrong and the mend.
    """
    about, trees = read_sealed(path, _FORMAT, 2, _MEND)
    try:
        names, width = about["names"], whole(about["width"], "width", 1, 10**6)
        if names is not None:
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise ValueError("its features' names are no list of texts")
            if len(set(names)) != width:
                raise ValueError(f"it names {len(names)} features, its width is {width}")
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: is not a sound policy file ({error}); {_MEND}") from None
    return about, trees


def seed_of(about: dict[str, Any]) -> int:
    """The seed that a file names, one that XGBoost takes."""
    return whole(about["seed"], "seed", 0, 2**31 - 1)


def load_trees(model: xgboost.XGBModel, trees: dict[str, Any], width: int) -> xgboost.XGBModel:
    """Give an unfitted model the trees of a file.

    Raises
    ------
    ValueError
        If they are not trees, or trees of another number of features.
    """
    check_trees(trees, width)
    try:
        model.load_model(bytearray(json.dumps(trees).encode()))
    except xgboost.core.XGBoostError as error:
        # The first line says what is wrong, behind a time and a place in the C++ source; the others are a stack.
        reason = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", str(error).strip().splitlines()[0])
        raise ValueError(f"XGBoost says: {reason[:200]}") from None
    return model
