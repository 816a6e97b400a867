"""The default models of the policies, boosted trees, and trees as plain JSON.

Where XGBoost is not installed (in a browser, for example), scikit-learn's histogram trees replace
it with the same settings. They learn nearly the same, and a warning announces them.

What is saved is a `Forest`, plain lists that numpy can follow with either library or with none.
XGBoost's own reader does not check them: a damaged file with a child that is its own ancestor, or
with a place beyond the end of a list, ends the process.
"""

from __future__ import annotations

import functools
import json
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.extmath import softmax

try:
    import xgboost
except (ModuleNotFoundError, ValueError):  # ValueError: macOS without its libomp
    xgboost = None  # type: ignore[assignment]

from adalib.datasets.saved import numbers, whole

#: Largest feature; XGBoost keeps features and weights in single precision.
LARGEST = float(np.finfo(np.float32).max)
#: Name of the library that grows the trees.
LIBRARY = "XGBoost" if xgboost else "scikit-learn's HistGradientBoosting"

_warn_once = functools.cache(warnings.warn)  # a notebook would repeat it with every cell
_COMMON: dict[str, Any] = {"n_estimators": 100, "n_jobs": 1, "verbosity": 0}
_ROWS = 4096  # predicted at a time, so that the places of all rows in all trees fit into memory
# Objectives of XGBoost whose sums `Forest` can read.
_OBJECTIVES = ("binary:logistic", "multi:softprob", "reg:squarederror")


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


@dataclass(frozen=True)
class Forest:
    """Trees that predict without their library; all nodes of all trees are in one list.

    A row goes left where its feature is at most the threshold, and a leaf is its own child. Sums
    are made in the library's order and precision, so that no bit of them differs.
    """

    document: dict[str, Any]  # the lists as they are in the file
    width: int  # number of features
    start: np.ndarray  # prediction before the first tree, one number per output
    roots: np.ndarray  # node at which each tree starts
    left: np.ndarray  # child of each node
    right: np.ndarray
    feature: np.ndarray  # that a node compares
    threshold: np.ndarray
    weight: np.ndarray  # that a leaf adds, one row per node and one column per output
    gain: np.ndarray  # of the split at each node

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the outputs for each row; for a classifier these are log-odds."""
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
        """Return the probability of each class."""
        log_odds = self.predict(values)
        if log_odds.shape[1] == 1:  # two classes with one number
            log_odds = np.hstack([np.zeros_like(log_odds), log_odds])
        return softmax(log_odds)

    @property
    def n_classes_(self) -> int:
        """Number of classes, if these are the trees of a classifier."""
        return max(self.start.size, 2)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the mean gain of its splits, as XGBoost defines it."""
        splits = self.left != np.arange(self.left.size)
        count = np.bincount(self.feature[splits], minlength=self.width)
        total_gain = np.bincount(self.feature[splits], self.gain[splits], self.width)
        mean_gain = total_gain / np.maximum(count, 1)
        return mean_gain / (mean_gain.sum() or 1)


def with_gains(model: Any, width: int) -> Any:
    """Return the model with ``feature_importances_``; histogram trees become a `Forest`."""
    return from_json(to_json(model, width), width) if hasattr(model, "_predictors") else model


def to_json(model: Any, width: int) -> dict[str, Any]:
    """Return the trees of a fitted model as lists; ValueError if they cannot be read back."""
    if isinstance(model, Forest):
        return model.document
    if xgboost and isinstance(model, xgboost.XGBModel):
        return from_json(json.loads(model.get_booster().save_raw("json")), width).document
    from sklearn.multioutput import MultiOutputRegressor

    models = model.estimators_ if isinstance(model, MultiOutputRegressor) else [model]
    if all(
        hasattr(one, "_predictors") and one.loss in ("log_loss", "squared_error") for one in models
    ):
        return _from_histograms(models)
    raise ValueError(
        "only trees of XGBoost and of HistGradientBoosting can be saved, "
        f"not {type(model).__name__}: scikit-learn saves pickles"
    )


def from_json(document: dict[str, Any], width: int) -> Forest:
    """Return the trees of a file; ValueError if they lead to a missing node or feature."""
    if "learner" in document:  # the format of XGBoost, which older files have
        document = _from_xgboost(document)
    start = numbers(document["start"], "start", (None,), -LARGEST, LARGEST)
    nodes = len(document["left"])
    roots = numbers(document["roots"], "roots", (None,), 0, nodes - 1).astype(int)
    left = numbers(document["left"], "left", (nodes,), 0, nodes - 1).astype(int)
    right = numbers(document["right"], "right", (nodes,), 0, nodes - 1).astype(int)
    feature = numbers(document["feature"], "feature", (nodes,), 0, width - 1).astype(int)
    threshold = numbers(document["threshold"], "threshold", (nodes,), -LARGEST, LARGEST)
    gain = numbers(document["gain"], "gain", (nodes,), -LARGEST, LARGEST)
    weight = numbers(document["weight"], "weight", (nodes, start.size), -LARGEST, LARGEST)
    place = np.arange(nodes)
    # Children come after their parent in the list, so every path down ends.
    leaf = (left == place) & (right == place)
    goes_down = (left > place) & (right > place)
    if not start.size or not roots.size or (np.diff(roots) <= 0).any():
        raise ValueError("its nodes do not form trees")
    if not (leaf | goes_down).all():
        raise ValueError("its nodes do not form trees")
    precision = np.float32 if document["single"] else float
    return Forest(
        document=document,
        width=width,
        start=start.astype(precision),
        roots=roots,
        left=left,
        right=right,
        feature=feature,
        threshold=threshold.astype(precision),
        weight=weight.astype(precision),
        gain=gain,
    )


class _Tree(NamedTuple):
    """One tree, each array by node; children are numbered within the tree."""

    leaf: np.ndarray
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    weight: np.ndarray  # one column per output
    gain: np.ndarray


def _document(single: bool, start: np.ndarray, trees: list[_Tree]) -> dict[str, Any]:
    """Return trees as lists over all their nodes; ``single`` is whether they add in float32."""
    sizes = [tree.leaf.size for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    nodes = _Tree(*(np.concatenate(arrays) for arrays in zip(*trees, strict=True)))
    leaf = nodes.leaf
    place = np.arange(leaf.size)
    first = np.repeat(roots, sizes)
    return {
        "single": single,
        "start": start,
        "roots": roots,
        "left": np.where(leaf, place, first + nodes.left),
        "right": np.where(leaf, place, first + nodes.right),
        "feature": np.where(leaf, 0, nodes.feature),
        "threshold": np.where(leaf, 0, nodes.threshold),
        "weight": np.where(leaf[:, None], nodes.weight, 0),
        "gain": np.where(leaf, 0, nodes.gain),
    }


def _from_histograms(models: list[Any]) -> dict[str, Any]:
    """Return scikit-learn's histogram trees, of one model for all outputs or of one for each."""
    start = np.concatenate([model._baseline_prediction.ravel() for model in models])
    trees = []
    for number, model in enumerate(models):
        for trees_by_output in model._predictors:
            for output, tree in enumerate(trees_by_output):
                nodes = tree.nodes
                if nodes["is_categorical"].any():
                    raise ValueError(
                        "trees that split by category cannot be saved; train without such features"
                    )
                trees.append(
                    _Tree(
                        leaf=nodes["is_leaf"] == 1,
                        left=nodes["left"],
                        right=nodes["right"],
                        feature=nodes["feature_idx"],
                        threshold=nodes["num_threshold"],
                        weight=np.outer(nodes["value"], np.arange(start.size) == number + output),
                        gain=nodes["gain"],
                    )
                )
    return _document(False, start, trees)


def _from_xgboost(saved: dict[str, Any]) -> dict[str, Any]:
    """Return XGBoost's trees, which it follows and adds up in single precision."""
    try:
        learner = saved["learner"]
        model = learner["gradient_booster"]["model"]
        objective = learner["objective"]["name"]
        categories = any(any(tree["split_type"]) for tree in model["trees"])
        booster = learner["gradient_booster"]["name"]
        if objective not in _OBJECTIVES or booster != "gbtree" or categories:
            raise ValueError(
                f"trees of {objective} cannot be saved; train for one of {', '.join(_OBJECTIVES)}"
            )
        sizes = learner["learner_model_param"]
        outputs = whole(max(int(sizes["num_class"]), int(sizes["num_target"])), "outputs", 1, 1000)
        start = np.resize(np.array(json.loads(sizes["base_score"]), dtype=np.float32), outputs)
        if objective == "binary:logistic":
            start = -np.log(1 / start - 1)
        pairs = zip(model["trees"], model["tree_info"], strict=True)
        trees = [_xgboost_tree(tree, output, outputs) for tree, output in pairs]
        return _document(True, start, trees)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"its trees are not as XGBoost writes them ({error!r:.80})") from None


def _xgboost_tree(tree: dict[str, Any], output: int, outputs: int) -> _Tree:
    """Read one tree of XGBoost's own JSON."""
    left = np.array(tree["left_children"])
    right = np.array(tree["right_children"])
    value = np.array(tree["split_conditions"], dtype=np.float32)
    leaf = left == -1
    if "leaf_weights" in tree:  # a leaf of several outputs says where its weights are
        weights = np.array(tree["leaf_weights"], dtype=np.float32)
        weight = np.zeros((leaf.size, outputs), dtype=np.float32)
        weight[leaf] = np.reshape(weights, (-1, outputs))[right[leaf]]
    else:  # a leaf of one output has its weight in place of a threshold
        weight = np.outer(value, np.arange(outputs) == output)
    return _Tree(
        leaf=leaf,
        left=left,
        right=right,
        feature=np.array(tree["split_indices"]),
        # XGBoost goes left where a feature is less than the threshold, `Forest` where at most.
        threshold=np.nextafter(value, np.float32(-np.inf)),
        weight=weight,
        gain=np.array(tree["loss_changes"]),
    )
