"""A learned policy as a file: two lines of JSON, what the policy is and the trees in XGBoost's own format.

Data, and nothing that runs: other models of scikit-learn are saved as pickles, which run, and so not at all.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

import xgboost

from adalib.datasets.jsonl import DataError, read_lines, write_lines
from adalib.learn.policy import Policy

__all__ = ["load_trees", "read", "write"]

_FORMAT = "adalib policy, version 1"


def write(path: str | os.PathLike, policy: Policy, about: dict[str, Any]) -> None:
    """Write a fitted policy: what it is, and its trees (an empty object where it needed none)."""
    policy._check_fitted()
    model = policy.model_
    if model is not None and not isinstance(model, xgboost.XGBModel):
        raise ValueError(f"only XGBoost's trees can be saved, not {type(model).__name__}: scikit-learn saves pickles")
    names = getattr(policy, "feature_names_in_", None)
    head = {"format": _FORMAT, "names": names, "width": policy.n_features_in_, **about}
    write_lines(path, [head, {} if model is None else json.loads(model.get_booster().save_raw("json"))])


def read(path: str | os.PathLike) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the two lines that `write` wrote: about the policy, and its trees.

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
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: is not a sound policy file ({error}); save the policy again") from None
    return about, trees


def load_trees(model: xgboost.XGBModel, trees: dict[str, Any], width: int) -> xgboost.XGBModel:
    """Give an unfitted model the trees of a file.

    Raises
    ------
    ValueError
        If they are not trees, or trees of another number of features.
    """
    try:
        model.load_model(bytearray(json.dumps(trees).encode()))
    except xgboost.core.XGBoostError as error:
        # The first line says what is wrong, behind a time and a place in the C++ source; the others are a stack.
        reason = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", str(error).strip().splitlines()[0])
        raise ValueError(f"XGBoost says: {reason}") from None
    if model.get_booster().num_features() != width:
        raise ValueError(f"its trees take {model.get_booster().num_features()} features, not {width}")
    return model
