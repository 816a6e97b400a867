"""The default models of the policies, boosted trees, and how they are saved.

Where XGBoost is not installed (in a browser, for example), scikit-learn's histogram trees replace
it with the same settings. They learn nearly the same, and a warning announces them. Only the trees
of XGBoost are saved, in its own JSON; the others are grown again from the data.
"""

from __future__ import annotations

import functools
import json
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

try:
    import xgboost
except (ModuleNotFoundError, ValueError):  # ValueError: macOS without its libomp
    xgboost = None  # type: ignore[assignment]

#: Name of the library that grows the trees.
LIBRARY = "XGBoost" if xgboost else "scikit-learn's HistGradientBoosting"

_warn_once = functools.cache(warnings.warn)  # a notebook would repeat it with every cell
_COMMON: dict[str, Any] = {"n_estimators": 100, "n_jobs": 1, "verbosity": 0}
# What XGBoost keeps of every node of a tree, one list each.
_NODE_LISTS = ("left_children", "right_children", "split_indices", "split_conditions")


def classifier(classes: int, seed: int) -> Any:
    """Return a classifier with the paper's hyper-parameters, multi-class even for two classes."""
    if not xgboost:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return _stand_in(
            HistGradientBoostingClassifier, max_depth=5, learning_rate=0.1, random_state=seed
        )
    return xgboost.XGBClassifier(
        max_depth=5,
        learning_rate=0.1,
        random_state=seed,
        objective="multi:softprob",
        num_class=classes,
        **_COMMON,
    )


def regressor(seed: int) -> Any:
    """Return a regressor of shallow trees that learns slowly, because curves are noisy.

    Each tree predicts all budgets together, so that the difference between two budgets, which is
    all that a price compares, does not carry the noise of two models.
    """
    if not xgboost:
        from sklearn.ensemble import HistGradientBoostingRegressor
        from sklearn.multioutput import MultiOutputRegressor

        single = _stand_in(
            HistGradientBoostingRegressor,
            max_depth=3,
            learning_rate=0.05,
            max_bins=64,
            random_state=seed,
        )
        return MultiOutputRegressor(single)  # scikit-learn's trees predict one budget each
    return xgboost.XGBRegressor(
        max_depth=3,
        learning_rate=0.05,
        random_state=seed,
        objective="reg:squarederror",
        multi_strategy="multi_output_tree",
        max_bin=64,  # the default of 256 thresholds costs time, and few questions do not fill them
        **_COMMON,
    )


def _stand_in(model: Any, **options: Any) -> Any:
    """Return scikit-learn's trees, regularised like XGBoost's, and warn that numbers differ."""
    _warn_once(
        f"XGBoost is not installed: these trees are {LIBRARY}, and numbers differ a little",
        stacklevel=4,
    )
    return model(
        max_iter=100,
        max_leaf_nodes=None,
        min_samples_leaf=1,
        l2_regularization=1.0,
        early_stopping=False,
        **options,
    )


def unfitted(model: Any, default: Any) -> Any:
    """Return a copy of the model that was given, or the default where none was."""
    if model is None:
        return default
    if not (hasattr(model, "fit") and hasattr(model, "predict")):
        raise ValueError(f"model is {model!r}; give an estimator in the manner of scikit-learn")
    return clone(model)


def gain_shares(model: Any, width: int) -> np.ndarray:
    """Return the share of each feature in the mean gain of its splits, as XGBoost defines it."""
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_, dtype=float)
    if not hasattr(model, "_predictors"):  # the histogram trees of scikit-learn
        raise ValueError(f"importance needs a classifier of trees, not {type(model).__name__}")
    nodes = np.concatenate([tree.nodes for trees in model._predictors for tree in trees])
    splits = nodes[nodes["is_leaf"] == 0]
    total_gain = np.bincount(splits["feature_idx"], splits["gain"], width)
    count = np.bincount(splits["feature_idx"], minlength=width)
    mean_gain = total_gain / np.maximum(count, 1)
    return mean_gain / (mean_gain.sum() or 1)


def to_json(model: Any, width: int) -> dict[str, Any]:
    """Return the trees as XGBoost describes them; ValueError for any other model."""
    if not xgboost or not isinstance(model, xgboost.XGBModel):
        raise ValueError(
            f"only trees of XGBoost can be saved, not {type(model).__name__}, "
            "which could only be pickled; fit the policy again from its data"
        )
    document = json.loads(model.get_booster().save_raw("json"))
    _check_trees(document, width)
    return document


def from_json(document: dict[str, Any], model: Any, width: int) -> Any:
    """Fill an unfitted model of XGBoost with saved trees; ValueError if they are damaged."""
    if not xgboost:
        raise ValueError("its trees need XGBoost, which is not installed")
    _check_trees(document, width)
    try:
        model.load_model(bytearray(json.dumps(document), "utf-8"))
    except xgboost.core.XGBoostError as error:
        raise ValueError(str(error).strip().splitlines()[-1]) from None
    return model


def _check_trees(document: dict[str, Any], width: int) -> None:
    """Raise ValueError unless every path in every tree ends in a leaf, and no list is too short.

    XGBoost's own reader does not look: a child that is its own ancestor, or a place beyond the end
    of a list, would end the process.
    """
    learner = document["learner"]
    if learner["gradient_booster"]["name"] != "gbtree":
        raise ValueError("its model is not made of trees")
    sizes = learner["learner_model_param"]
    outputs = max(int(sizes["num_class"]), int(sizes["num_target"]), 1)
    forest = learner["gradient_booster"]["model"]
    for tree, output in zip(forest["trees"], forest["tree_info"], strict=True):
        count = int(tree["tree_param"]["num_nodes"])
        left, right, feature, _ = (_integers(tree[name], count) for name in _NODE_LISTS)
        weights = len(tree.get("leaf_weights", ()))
        place = np.arange(count)
        leaf = left == -1
        # A leaf of several outputs has the place of its weights where others have a child.
        leaf_is_sound = leaf & (right < max(weights // outputs, 1))
        goes_down = (left > place) & (right > place) & (left < count) & (right < count)
        if not (leaf_is_sound | goes_down).all() or not count or not 0 <= output < outputs:
            raise ValueError("its nodes do not form trees")
        if not ((feature >= 0) & (feature < width)).all():
            raise ValueError("its trees ask for a feature that the policy does not have")


def _integers(values: Any, count: int) -> np.ndarray:
    """Return a list of so many numbers as an array of integers."""
    array = np.array(values, dtype=float)
    if array.shape != (count,):
        raise ValueError("the lists of its nodes differ in length")
    return array.astype(int)
