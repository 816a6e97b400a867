"""All that knows XGBoost: the trees that the policies grow unless told otherwise, and trees as plain JSON.

Where XGBoost is not installed (there is none for Python in a browser), scikit-learn's histogram trees take its place,
with the same settings: they learn nearly the same, a warning says so, and they cannot be saved.

XGBoost follows a child that is its own ancestor, or a place beyond the end of a list, until the process dies. The
checksum of a file finds damage, but whoever edits on purpose writes a new one: so such places are looked at first.
"""

from __future__ import annotations

import json
import re
import warnings
from functools import cache
from typing import Any

import numpy as np

try:
    import xgboost
except (ModuleNotFoundError, ValueError):  # ValueError: macOS without its libomp
    xgboost = None  # type: ignore[assignment]

from adalib.datasets.sealed import numbers, whole

__all__ = ["LARGEST", "LIBRARY", "check", "classifier", "from_json", "regressor", "to_json"]

LARGEST = float(np.finfo(np.float32).max)  # XGBoost keeps features and weights in single precision

#: Whose trees these are.
LIBRARY = "XGBoost" if xgboost else "scikit-learn's HistGradientBoosting"

_INSTALL = "install it with: pip install xgboost (on macOS also: brew install libomp)"
_EACH: dict[str, Any] = {"n_estimators": 100, "n_jobs": 1, "verbosity": 0}
_MOST = 10**6  # features, outputs and trees of a file
_NOWHERE = 2**31 - 1  # the parent of the first node
_PER_NODE = ("default_left", "loss_changes", "split_conditions", "split_type", "sum_hessian")


def classifier(classes: int, seed: int) -> Any:
    """The paper's hyper-parameters. Two classes too are multi-class, as XGBoost alone would not have it."""
    if not xgboost:
        return _stand_in(_classifier_with_gains(), max_depth=5, learning_rate=0.1, random_state=seed)
    how: dict[str, Any] = {"objective": "multi:softprob", "num_class": classes}
    return xgboost.XGBClassifier(max_depth=5, learning_rate=0.1, random_state=seed, **how, **_EACH)


def regressor(seed: int) -> Any:
    """Shallow and slow, because the curves of a few hundred questions are noisy; a tree predicts all budgets together,
    so that the difference between two of them, all that the price looks at, is not the noise of two models."""
    if not xgboost:
        from sklearn.ensemble import HistGradientBoostingRegressor
        from sklearn.multioutput import MultiOutputRegressor

        one = _stand_in(HistGradientBoostingRegressor, max_depth=3, learning_rate=0.05, max_bins=64, random_state=seed)
        return MultiOutputRegressor(one)  # scikit-learn's trees predict one budget each
    how: dict[str, Any] = {"objective": "reg:squarederror", "multi_strategy": "multi_output_tree"}
    how["max_bin"] = 64  # thresholds tried per feature: XGBoost's 256 cost time, and so few questions do not fill them
    return xgboost.XGBRegressor(max_depth=3, learning_rate=0.05, random_state=seed, **how, **_EACH)


def _stand_in(model: Any, **how: Any) -> Any:
    """scikit-learn's trees, regularised as XGBoost's are, and a warning that the numbers are theirs."""
    warnings.warn(f"XGBoost is not installed: these trees are {LIBRARY}, and numbers differ a little", stacklevel=4)
    how |= {"max_iter": 100, "max_leaf_nodes": None, "min_samples_leaf": 1, "l2_regularization": 1.0}
    return model(early_stopping=False, **how)


@cache
def _classifier_with_gains() -> Any:
    """scikit-learn's classifier, with the share of each feature in the mean gain of its splits, as XGBoost has it."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    class Classifier(HistGradientBoostingClassifier):
        @property
        def feature_importances_(self) -> np.ndarray:
            split = np.concatenate([tree.nodes[tree.nodes["is_leaf"] == 0] for row in self._predictors for tree in row])
            times = np.bincount(split["feature_idx"], minlength=self.n_features_in_)
            gain = np.bincount(split["feature_idx"], split["gain"], self.n_features_in_) / np.maximum(times, 1)
            return gain / (gain.sum() or 1)

    return Classifier


def to_json(model: Any, width: int) -> dict[str, Any]:
    """The trees of a fitted model; ValueError where they are not XGBoost's, or could not be read back."""
    if not xgboost:
        raise RuntimeError(f"only XGBoost's trees can be saved, and XGBoost is not installed; {_INSTALL}")
    if not isinstance(model, xgboost.XGBModel):
        raise ValueError(f"only XGBoost's trees can be saved, not {type(model).__name__}: scikit-learn saves pickles")
    document = json.loads(model.get_booster().save_raw("json"))
    try:
        check(document, width)
    except ValueError as error:
        raise ValueError(f"such trees could not be read back ({error}); train a model with other settings") from None
    return document


def from_json(model: Any, document: dict[str, Any], width: int) -> Any:
    """Give an unfitted model the trees of a file; ValueError where they are none, or take other features."""
    if not xgboost:
        raise RuntimeError(f"the trees of the file are XGBoost's, which is not installed; {_INSTALL}")
    check(document, width)
    try:
        model.load_model(bytearray(json.dumps(document).encode()))
    except xgboost.core.XGBoostError as error:
        # The first line says what is wrong, behind a time and a place in the C++ source; the others are a stack.
        reason = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", str(error).strip().splitlines()[0])
        raise ValueError(f"XGBoost says: {reason[:200]}") from None
    return model


def check(document: dict[str, Any], width: int) -> None:
    """Refuse trees of other than ``width`` features, or with a node, leaf or round that is not there."""
    try:
        sizes, booster = (document["learner"][name] for name in ("learner_model_param", "gradient_booster"))
        features, classes, targets = (
            whole(int(sizes[name]), name, 0, _MOST) for name in ("num_feature", "num_class", "num_target")
        )
        if features != width:
            raise ValueError(f"its trees take {features} features, not {width}")
        grown = booster["model"]["trees"]
        leaf = int(grown[0]["tree_param"]["size_leaf_vector"])
        rounds = numbers(booster["model"]["iteration_indptr"], "iteration_indptr", (None,), 0, _MOST)
        if leaf not in (1, targets) or rounds[0] != 0 or rounds[-1] != len(grown) or (np.diff(rounds) <= 0).any():
            raise ValueError("its rounds of trees, or their leaves, are not of one size")
        groups = 1 if leaf > 1 else max(classes, targets)
        numbers(booster["model"]["tree_info"], "tree_info", (len(grown),), 0, groups - 1)
        for place, tree in enumerate(grown):
            _check_tree(tree, f"tree {place}", width, leaf)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"its trees are not as XGBoost writes them: {error!r:.80}") from None


def _check_tree(tree: dict[str, Any], name: str, width: int, leaf: int) -> None:
    nodes = len(tree["left_children"])
    left, right, feature, parents = (
        numbers(tree[one], f"{name}: {one}", (nodes,), -1, _NOWHERE).astype(int)
        for one in ("left_children", "right_children", "split_indices", "parents")
    )
    inner, leaves = np.flatnonzero(left != -1), right[left == -1]
    # Every node but the first is the child of one that came before it: no cycle, and no node out of reach.
    children = np.concatenate([left[inner], right[inner]])
    if not nodes or not np.array_equal(np.sort(children), np.arange(1, nodes)) or (children <= np.tile(inner, 2)).any():
        raise ValueError(f"{name}: its nodes do not form a tree")
    if (parents[children] != np.tile(inner, 2)).any() or parents[0] not in (-1, _NOWHERE):  # XGBoost would crash
        raise ValueError(f"{name}: its nodes do not know their parents")
    if ((feature < 0) | (feature >= width)).any() or any(tree["split_type"]):
        raise ValueError(f"{name}: it splits by something that is no feature")
    # A leaf of several outputs says where its weights stand; a leaf of one has them in place of a threshold.
    if not np.array_equal(np.sort(leaves), np.arange(leaves.size) if leaf > 1 else np.full(leaves.size, -1)):
        raise ValueError(f"{name}: its leaves are not those that have weights")
    lengths = dict.fromkeys(_PER_NODE, nodes) | {"base_weights": nodes * leaf}
    if leaf > 1:
        lengths["leaf_weights"] = leaves.size * leaf
    for one, length in lengths.items():
        numbers(tree[one], f"{name}: {one}", (length,), -LARGEST, LARGEST)
    if [tree["tree_param"][one] for one in ("num_nodes", "size_leaf_vector")] != [str(nodes), str(leaf)]:
        raise ValueError(f"{name}: its size is not that of its lists")
