"""Policies that learn from the features of a question, and the files that they are saved in.

`LabelPolicy` imitates the oracle's labels, the paper's way; `CurvePolicy` predicts the curve and
prices it. A saved policy is two lines of JSON, its parameters and its trees: data, and nothing that
runs.
"""

from __future__ import annotations

import os
from typing import Any

from adalib.datasets.saved import number, whole
from adalib.datasets.sealed import DataError, read_sealed
from adalib.learn.base import FORMAT
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy

_KINDS: dict[str, type[LabelPolicy | CurvePolicy]] = {"label": LabelPolicy, "curve": CurvePolicy}


def load_policy(path: str | os.PathLike) -> LabelPolicy | CurvePolicy:
    """Read a saved policy, whose predictions are the same to the last bit.

    Explained in the chapter "Learning".

    Parameters
    ----------
    path : path
        A file that ``save`` of a policy wrote: two lines of JSON, nothing that runs.

    Returns
    -------
    LabelPolicy or CurvePolicy
        The fitted policy.

    Raises
    ------
    DataError
        If the file is not a sound policy; the message names the file and the fault.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "policy.jsonl")
    >>> LabelPolicy().fit_labels([[0.0], [1.0]], [2, 2]).save(path)
    >>> load_policy(path).predict([[0.5]]).tolist()
    [2]
    """
    parameters, forest = read_sealed(path, FORMAT, 2, "save the policy again")
    try:
        return _restored(parameters, forest)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{path}: is not a sound policy file ({error}); save the policy again"
        ) from None


def _restored(parameters: dict[str, Any], forest: dict[str, Any]) -> LabelPolicy | CurvePolicy:
    """Make the policy that a file describes; ValueError (or what reading raises) if unsound."""
    policy = _KINDS[parameters["kind"]](seed=whole(parameters["seed"], "seed", 0, 2**31 - 1))
    names = parameters["names"]
    width = whole(parameters["width"], "width", 1, 10**6)
    if names is not None:
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise ValueError("its features' names are no list of texts")
        if len(set(names)) != width:
            raise ValueError(f"it names {len(names)} features, its width is {width}")
    policy._remember_columns(names, width)
    policy.lam_ = None if parameters["lam"] is None else number(parameters["lam"], "lam", 0)
    policy._restore(parameters, forest)
    return policy
