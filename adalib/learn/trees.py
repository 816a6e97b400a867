"""All that knows XGBoost: the trees that the policies grow unless told otherwise, and trees as plain JSON.

Where XGBoost is not installed (there is none for Python in a browser), scikit-learn's histogram trees take its place,
with the same settings: they learn nearly the same, and a warning says so. A file of either library's trees is read
with XGBoost and without it: what XGBoost cannot read, or is not there to read, is a `Forest`.

XGBoost follows a child that is its own ancestor, or a place beyond the end of a list, until the process dies. The
checksum of a file finds damage, but whoever edits on purpose writes a new one: so such places are looked at first.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.extmath import softmax

try:
    import xgboost
except (ModuleNotFoundError, ValueError):  # ValueError: macOS without its libomp
    xgboost = None  # type: ignore[assignment]

from adalib.datasets.sealed import numbers, whole

__all__ = ["LARGEST", "LIBRARY", "Forest", "check", "classifier", "from_json", "regressor", "to_json", "with_gains"]

LARGEST = float(np.finfo(np.float32).max)  # XGBoost keeps features and weights in single precision

#: Whose trees these are.
LIBRARY = "XGBoost" if xgboost else "scikit-learn's HistGradientBoosting"

_INSTALL = "install it with: pip install xgboost (on macOS also: brew install libomp)"
_EACH: dict[str, Any] = {"n_estimators": 100, "n_jobs": 1, "verbosity": 0}
_MOST = 10**6  # features, outputs and trees of a file
_NOWHERE = 2**31 - 1  # the parent of the first node
_HISTOGRAM = {"left": "left", "right": "right", "feature": "feature_idx", "threshold": "num_threshold"}
_HISTOGRAM |= {"weight": "value", "gain": "gain"}  # our names and scikit-learn's
_PER_NODE = ("default_left", "loss_changes", "split_conditions", "split_type", "sum_hessian")


def classifier(classes: int, seed: int) -> Any:
    """The paper's hyper-parameters. Two classes too are multi-class, as XGBoost alone would not have it."""
    if not xgboost:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return _stand_in(HistGradientBoostingClassifier, max_depth=5, learning_rate=0.1, random_state=seed)
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


@dataclass(frozen=True)
class Forest:
    """Trees that predict without their library, all nodes in one list: left where a feature is at most the threshold.

    A leaf is its own child. Sums are made in the library's order and precision, so that no bit of them differs.
    """

    document: dict[str, Any]  # as it stands in the file
    width: int  # the number of features
    start: np.ndarray  # what is predicted before the first tree, one number per output
    roots: np.ndarray
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    weight: np.ndarray  # what a leaf adds, one row per node and one column per output
    gain: np.ndarray

    def predict(self, values: np.ndarray) -> np.ndarray:
        """The outputs for each row; for classes these are log-odds."""
        values = np.asarray(values, dtype=self.threshold.dtype)
        node, row = np.tile(self.roots, (len(values), 1)), np.arange(len(values))[:, None]
        while (self.left[node] != node).any():
            goes_left = values[row, self.feature[node]] <= self.threshold[node]
            node = np.where(goes_left, self.left[node], self.right[node])
        total = np.tile(self.start, (len(values), 1))
        for leaf in node.T:
            total += self.weight[leaf]
        return total

    def predict_proba(self, values: np.ndarray) -> np.ndarray:
        """The chance of each class; the log-odds of two classes may be one number."""
        total = self.predict(values)
        if total.shape[1] > 1:
            return softmax(total)
        from scipy.special import expit

        return np.hstack([1 - expit(total), expit(total)])

    @property
    def n_classes_(self) -> int:
        return max(self.start.size, 2)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each feature in the mean gain of its splits, as XGBoost has it."""
        split = self.left != np.arange(self.left.size)
        times = np.bincount(self.feature[split], minlength=self.width)
        gain = np.bincount(self.feature[split], self.gain[split], self.width) / np.maximum(times, 1)
        return gain / (gain.sum() or 1)


def with_gains(model: Any, width: int) -> Any:
    """A fitted model that has ``feature_importances_``: itself, or scikit-learn's histogram trees as a `Forest`."""
    return _histogram_forest(to_json(model, width), width) if hasattr(model, "_predictors") else model


def to_json(model: Any, width: int) -> dict[str, Any]:
    """The trees of a fitted model; ValueError where they are of another kind, or could not be read back."""
    if isinstance(model, Forest):
        return model.document
    if xgboost and isinstance(model, xgboost.XGBModel):
        document = json.loads(model.get_booster().save_raw("json"))
        try:
            check(document, width)
        except ValueError as error:
            told = f"such trees could not be read back ({error}); train a model with other settings"
            raise ValueError(told) from None
        return document
    from sklearn.multioutput import MultiOutputRegressor

    each = model.estimators_ if isinstance(model, MultiOutputRegressor) else [model]
    if all(hasattr(one, "_predictors") and one.loss in ("log_loss", "squared_error") for one in each):
        return _histogram_document(each)
    kinds = "only trees of XGBoost and of HistGradientBoosting can be saved"
    raise ValueError(f"{kinds}, not {type(model).__name__}: scikit-learn saves pickles")


def from_json(make: Callable[[], Any], document: dict[str, Any], width: int) -> Any:
    """The trees of a file, in an unfitted model that is made for them or as a `Forest`; ValueError where they are none,
    or take other features."""
    if "learner" not in document:
        return _histogram_forest(document, width)
    check(document, width)
    if not xgboost:
        return _xgboost_forest(document, width)
    model = make()
    try:
        model.load_model(bytearray(json.dumps(document).encode()))
    except xgboost.core.XGBoostError as error:
        # The first line says what is wrong, behind a time and a place in the C++ source; the others are a stack.
        reason = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", str(error).strip().splitlines()[0])
        raise ValueError(f"XGBoost says: {reason[:200]}") from None
    return model


def _histogram_document(each: list[Any]) -> dict[str, Any]:
    """scikit-learn's histogram trees, of one model for all outputs or of one for each; the children of a leaf are 0."""
    trees = []
    for first, one in enumerate(each):
        for output, tree in ((first + at, tree.nodes) for row in one._predictors for at, tree in enumerate(row)):
            if tree["is_categorical"].any():
                raise ValueError("trees that split by category cannot be saved; train a model without categories")
            trees.append({"output": output} | {name: tree[field] for name, field in _HISTOGRAM.items()})
    return {"start": np.concatenate([one._baseline_prediction.ravel() for one in each]), "trees": trees}


def _histogram_forest(document: dict[str, Any], width: int) -> Forest:
    """What `_histogram_document` wrote, checked."""
    start, grown = numbers(document["start"], "start", (None,), -LARGEST, LARGEST), []
    for at, tree in enumerate(document["trees"]):
        nodes = len(tree["left"])
        left, right, feature = (
            numbers(tree[name], f"tree {at}: {name}", (nodes,), 0, most).astype(int)
            for name, most in (("left", nodes - 1), ("right", nodes - 1), ("feature", width - 1))
        )
        threshold, value, gain = (
            numbers(tree[name], f"tree {at}: {name}", (nodes,), -LARGEST, LARGEST)
            for name in ("threshold", "weight", "gain")
        )
        place = np.arange(nodes)  # children stand behind their parent, so every way down ends
        if not nodes or not (((left == 0) & (right == 0)) | ((left > place) & (right > place))).all():
            raise ValueError(f"tree {at}: its nodes do not form a tree")
        weight = np.zeros((nodes, start.size))
        weight[:, whole(tree["output"], f"tree {at}: output", 0, start.size - 1)] = value
        grown.append((left, right, feature, threshold, weight, gain))
    return _joined(document, width, start, grown)


def _xgboost_forest(document: dict[str, Any], width: int) -> Forest:
    """XGBoost's trees, checked before, for a system that has no XGBoost: it adds in single precision."""
    learner = document["learner"]
    if learner["objective"]["name"] not in ("multi:softprob", "reg:squarederror"):
        raise RuntimeError(f"the trees of the file need XGBoost, which is not installed; {_INSTALL}")
    sizes, model = learner["learner_model_param"], learner["gradient_booster"]["model"]
    outputs, grown = max(int(sizes["num_class"]), int(sizes["num_target"])), []
    start = numbers(np.atleast_1d(json.loads(sizes["base_score"])).tolist(), "base_score", (None,), -LARGEST, LARGEST)
    for tree, output in zip(model["trees"], model["tree_info"], strict=True):
        left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
        value, leaf = np.array(tree["split_conditions"], dtype=np.float32), left == -1
        weight = np.zeros((left.size, outputs), dtype=np.float32)
        if "leaf_weights" in tree:
            weight[leaf] = np.array(tree["leaf_weights"], dtype=np.float32).reshape(-1, outputs)[right[leaf]]
        else:
            weight[leaf, output] = value[leaf]
        left[leaf] = right[leaf] = 0
        below = np.nextafter(value, np.float32(-np.inf))  # XGBoost goes left where a feature is less
        grown.append((left, right, np.array(tree["split_indices"]), below, weight, np.array(tree["loss_changes"])))
    return _joined(document, width, np.resize(start, outputs).astype(np.float32), grown)


def _joined(document: dict[str, Any], width: int, start: np.ndarray, grown: Sequence[tuple[np.ndarray, ...]]) -> Forest:
    """A forest of trees whose leaves have the children 0."""
    sizes = [len(tree[0]) for tree in grown]
    roots = np.cumsum([0, *sizes[:-1]])
    left, right, *others = (np.concatenate(column) for column in zip(*grown, strict=True))
    place, first = np.arange(left.size), np.repeat(roots, sizes)
    left, right = (np.where(left == 0, place, first + way) for way in (left, right))
    return Forest(document, width, start, roots, left, right, *others)


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
