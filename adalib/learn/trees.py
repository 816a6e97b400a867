"""All that knows XGBoost: the trees that the policies grow unless told otherwise, and trees as plain JSON.

Where XGBoost is not installed (there is none for Python in a browser), scikit-learn's histogram trees take its place,
with the same settings: they learn nearly the same, and a warning says so.

What is saved is a `Forest`, plain lists that numpy follows with either library or with none: XGBoost follows a child
that is its own ancestor, or a place beyond the end of a list, until the process dies.
"""

from __future__ import annotations

import functools
import json
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.extmath import softmax

try:
    import xgboost
except (ModuleNotFoundError, ValueError):  # ValueError: macOS without its libomp
    xgboost = None  # type: ignore[assignment]

from adalib.datasets.sealed import numbers, whole

__all__ = ["LARGEST", "LIBRARY", "Forest", "classifier", "from_json", "regressor", "to_json", "with_gains"]

LARGEST = float(np.finfo(np.float32).max)  # XGBoost keeps features and weights in single precision
LIBRARY = "XGBoost" if xgboost else "scikit-learn's HistGradientBoosting"  # whose trees these are
_once = functools.cache(warnings.warn)  # a notebook would show it again with every cell

_EACH: dict[str, Any] = {"n_estimators": 100, "n_jobs": 1, "verbosity": 0}
_ROWS = 4096  # predicted at a time, so that the places of all rows in all trees fit
_LEARNED = ("binary:logistic", "multi:softprob", "reg:squarederror")  # objectives whose sums `Forest` can read


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
    _once(f"XGBoost is not installed: these trees are {LIBRARY}, and numbers differ a little", stacklevel=4)
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
        total = np.tile(self.start, (len(values), 1))
        for first in range(0, len(values), _ROWS):
            rows = np.arange(first, min(first + _ROWS, len(values)))
            node = np.tile(self.roots, (rows.size, 1))
            while (self.left[node] != node).any():
                goes_left = values[rows[:, None], self.feature[node]] <= self.threshold[node]
                node = np.where(goes_left, self.left[node], self.right[node])
            for leaf in node.T:
                total[rows] += self.weight[leaf]
        return total

    def predict_proba(self, values: np.ndarray) -> np.ndarray:
        """The chance of each class; the log-odds of two classes may be one number."""
        total = self.predict(values)
        return softmax(total if total.shape[1] > 1 else np.hstack([np.zeros_like(total), total]))

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
    return from_json(to_json(model, width), width) if hasattr(model, "_predictors") else model


def to_json(model: Any, width: int) -> dict[str, Any]:
    """The trees of a fitted model; ValueError where they are of another kind, or could not be read back."""
    if isinstance(model, Forest):
        return model.document
    if xgboost and isinstance(model, xgboost.XGBModel):
        return from_json(json.loads(model.get_booster().save_raw("json")), width).document
    from sklearn.multioutput import MultiOutputRegressor

    each = model.estimators_ if isinstance(model, MultiOutputRegressor) else [model]
    if all(hasattr(one, "_predictors") and one.loss in ("log_loss", "squared_error") for one in each):
        return _of_histograms(each)
    kinds = "only trees of XGBoost and of HistGradientBoosting can be saved"
    raise ValueError(f"{kinds}, not {type(model).__name__}: scikit-learn saves pickles")


def from_json(document: dict[str, Any], width: int) -> Forest:
    """The trees of a file; ValueError where they are none, or lead to a feature or a node that is not there."""
    if "learner" in document:  # as files were before they held a forest
        document = _of_xgboost(document)
    start = numbers(document["start"], "start", (None,), -LARGEST, LARGEST)
    nodes = len(document["left"])
    roots, left, right = (
        numbers(document[name], name, shape, 0, nodes - 1).astype(int)
        for name, shape in (("roots", (None,)), ("left", (nodes,)), ("right", (nodes,)))
    )
    feature = numbers(document["feature"], "feature", (nodes,), 0, width - 1).astype(int)
    threshold, gain = (numbers(document[name], name, (nodes,), -LARGEST, LARGEST) for name in ("threshold", "gain"))
    weight = numbers(document["weight"], "weight", (nodes, start.size), -LARGEST, LARGEST)
    place = np.arange(nodes)
    # Children stand behind their parent, so every way down ends.
    ends = ((left == place) & (right == place)) | ((left > place) & (right > place))
    if not start.size or not roots.size or (np.diff(roots) <= 0).any() or not ends.all():
        raise ValueError("its nodes do not form trees")
    kind = np.float32 if document["single"] else float
    start, threshold, weight = (values.astype(kind) for values in (start, threshold, weight))
    return Forest(document, width, start, roots, left, right, feature, threshold, weight, gain)


def _document(single: bool, start: np.ndarray, trees: list[tuple[np.ndarray, ...]]) -> dict[str, Any]:
    """Trees, each as (leaf, left, right, feature, threshold, weight, gain) by node, as lists over all their nodes."""
    sizes = [len(tree[0]) for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    leaf, left, right, feature, threshold, weight, gain = (np.concatenate(part) for part in zip(*trees, strict=True))
    place, first = np.arange(leaf.size), np.repeat(roots, sizes)
    return {
        "single": single,
        "start": start,
        "roots": roots,
        "left": np.where(leaf, place, first + left),
        "right": np.where(leaf, place, first + right),
        "feature": np.where(leaf, 0, feature),
        "threshold": np.where(leaf, 0, threshold),
        "weight": np.where(leaf[:, None], weight, 0),
        "gain": np.where(leaf, 0, gain),
    }


def _of_histograms(each: list[Any]) -> dict[str, Any]:
    """scikit-learn's histogram trees, of one model for all outputs or of one for each."""
    start = np.concatenate([one._baseline_prediction.ravel() for one in each])
    trees: list[tuple[np.ndarray, ...]] = []
    for at, one in enumerate(each):
        for row in one._predictors:
            for output, tree in enumerate(row):
                nodes = tree.nodes
                if nodes["is_categorical"].any():
                    raise ValueError("trees that split by category cannot be saved; train without such features")
                weight = np.outer(nodes["value"], np.arange(start.size) == at + output)
                ways = (nodes[name] for name in ("left", "right", "feature_idx", "num_threshold"))
                trees.append((nodes["is_leaf"] == 1, *ways, weight, nodes["gain"]))
    return _document(False, start, trees)


def _of_xgboost(saved: dict[str, Any]) -> dict[str, Any]:
    """XGBoost's trees, which it follows and adds up in single precision."""
    try:
        learner, model = saved["learner"], saved["learner"]["gradient_booster"]["model"]
        objective, sizes = learner["objective"]["name"], learner["learner_model_param"]
        categories = any(any(tree["split_type"]) for tree in model["trees"])
        if objective not in _LEARNED or learner["gradient_booster"]["name"] != "gbtree" or categories:
            raise ValueError(f"trees of {objective} cannot be saved; train for one of {', '.join(_LEARNED)}")
        outputs = whole(max(int(sizes["num_class"]), int(sizes["num_target"])), "outputs", 1, 1000)
        start = np.resize(np.array(json.loads(sizes["base_score"]), dtype=np.float32), outputs)
        if objective == "binary:logistic":
            start = -np.log(1 / start - 1)
        trees: list[tuple[np.ndarray, ...]] = []
        for tree, output in zip(model["trees"], model["tree_info"], strict=True):
            left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
            value, leaf = np.array(tree["split_conditions"], dtype=np.float32), left == -1
            if "leaf_weights" in tree:  # a leaf of several outputs says where its weights stand
                weight = np.zeros((leaf.size, outputs), dtype=np.float32)
                weight[leaf] = np.reshape(np.array(tree["leaf_weights"], dtype=np.float32), (-1, outputs))[right[leaf]]
            else:  # a leaf of one has it in place of a threshold
                weight = np.outer(value, np.arange(outputs) == output)
            below = np.nextafter(value, np.float32(-np.inf))  # XGBoost goes left where a feature is less
            feature, gain = np.array(tree["split_indices"]), np.array(tree["loss_changes"])
            trees.append((leaf, left, right, feature, below, weight, gain))
        return _document(True, start, trees)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"its trees are not as XGBoost writes them ({error!r:.80})") from None
