"""What both learned policies share: scikit-learn's contract, and features that are checked at the door."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import xgboost
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from adalib.datasets.sealed import DataError, numbers, read_sealed, whole, write_sealed

__all__ = ["Policy", "check_trees", "load_trees", "read", "seed_of", "side_by_side", "write"]


_FLOAT32 = float(np.finfo(np.float32).max)  # XGBoost keeps features in single precision


class Policy(BaseEstimator):
    """A policy of a question's features: parameters as given until `fit`, what was learned in names that end in ``_``.

    Attributes
    ----------
    n_features_in_ : int
        Number of features that it was trained on.
    feature_names_in_ : ndarray of str
        Their names, where they had names.
    """

    def _taught(self, features: ArrayLike) -> np.ndarray:
        """Remember the columns of the features to learn from, and return them as numbers."""
        names = [str(name) for name in features.columns] if hasattr(features, "columns") else None
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


def _matrix(features: ArrayLike, names: Sequence[str] | None, width: int) -> np.ndarray:
    """The features as float64, columns in the trained order; a fault is named by its row and column."""
    if np.ndim(features) != 2 or width == 0:
        shape = np.shape(features)
        raise ValueError(f"features have shape {shape}; give one row a question and at least one column")
    if hasattr(features, "columns") and names is not None:
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
    bad = ~(np.abs(values) <= _FLOAT32)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        name = column if names is None else repr(names[column])
        raise ValueError(f"features[{row}, {name}] is {values[row, column]}; give a finite number, or drop the row")
    return values


# Models side by side: trees grow outside Python's lock, each model on one thread, so that no digit changes.


Job = TypeVar("Job")
Found = TypeVar("Found")


def side_by_side(work: Callable[[Job], Found], jobs: Iterable[Job]) -> Iterator[Found]:
    """Do all jobs on as many threads as there are processors; results come in the order of the jobs.

    Examples
    --------
    >>> list(side_by_side(abs, [-3, 2, -1]))
    [3, 2, 1]
    """
    # Matrix products that start threads of their own would fight over the same processors.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as workers:
        yield from workers.map(work, jobs)


# Trees from a file, looked at before XGBoost sees them.
#
# XGBoost reads a model as its own work: an index beyond the end, a child that is its own ancestor, or a size that is
# not that of the list beside it ends the whole process, not in an error. So every name, size and index is checked here, and
# nothing reaches it that it would not have written itself.


_OBJECTIVES = {
    "multi:softprob": "softmax_multiclass_param",
    "binary:logistic": "reg_loss_param",
    "reg:logistic": "reg_loss_param",
    "reg:squarederror": "reg_loss_param",
}
_SINGLE = float(np.finfo(np.float32).max)
_MOST = 2**31 - 1  # XGBoost counts in 32 bits
_NODE = ("default_left", "left_children", "right_children", "parents", "split_indices", "split_type")
_REAL = ("loss_changes", "split_conditions", "sum_hessian")
_NO_CATEGORIES = ("categories", "categories_nodes", "categories_segments", "categories_sizes")


def check_trees(document: dict[str, Any], width: int) -> None:
    """Refuse what XGBoost did not write: its JSON of numeric trees, no more and no less.

    Parameters
    ----------
    document : dict
        A model in XGBoost's JSON format.
    width : int
        Features that the trees may look at.

    Raises
    ------
    ValueError
        What is wrong, in a few words.
    """
    _fields(document, "the trees", "learner", "version")
    version = numbers(document["version"], "version", (3,), 0, 1e6)
    if version[0] > int(xgboost.__version__.split(".")[0]):
        raise ValueError(f"the trees were saved by XGBoost {version[0]:g}; install that")
    learner = document["learner"]
    names = ("attributes", "feature_names", "feature_types", "gradient_booster", "learner_model_param", "objective")
    _fields(learner, "learner", *names)
    for name in names[:3]:
        _empty(learner[name], name)
    classes, targets = _check_sizes(learner["learner_model_param"], width)
    _check_objective(learner["objective"], classes)
    booster = _fields(learner["gradient_booster"], "gradient_booster", "model", "name")
    if booster["name"] != "gbtree":
        raise ValueError(f"the booster is {booster['name']!r:.40}, not plain trees")
    _check_forest(booster["model"], width, max(classes, 1), targets)


def _check_sizes(param: Any, width: int) -> tuple[int, int]:
    _fields(param, "learner_model_param", "base_score", "boost_from_average", "num_class", "num_feature", "num_target")
    features = _text_number(param["num_feature"], "num_feature")
    if features != width:
        raise ValueError(f"its trees take {features} features, not {width}")
    classes, targets = (_text_number(param[name], name) for name in ("num_class", "num_target"))
    if not targets or (classes and targets > 1):
        raise ValueError(f"num_class is {classes} and num_target {targets}")
    _text_number(param["boost_from_average"], "boost_from_average", 1)
    base = param["base_score"]
    if not isinstance(base, str) or not re.fullmatch(r"\[[-+.,eE\d]*\]", base):
        raise ValueError("base_score is no list of numbers")
    try:
        found = [float(part) for part in base[1:-1].split(",")]
    except ValueError:
        raise ValueError("base_score is no list of numbers") from None
    numbers(found, "base_score", (max(classes, targets, 1),), -_SINGLE, _SINGLE)
    return classes, targets


def _check_objective(objective: Any, classes: int) -> None:
    name = objective.get("name") if isinstance(objective, dict) else None
    inside = _OBJECTIVES.get(name) if isinstance(name, str) else None
    if inside is None:
        raise ValueError(f"the objective is not one of {', '.join(_OBJECTIVES)}")
    _fields(objective, "objective", "name", inside)
    if inside == "reg_loss_param":
        _fields(objective[inside], inside, "scale_pos_weight")
        weight = objective[inside]["scale_pos_weight"]
        if not isinstance(weight, str) or not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", weight) or classes:
            raise ValueError("the objective and the number of classes do not fit together")
    else:
        _fields(objective[inside], inside, "num_class")
        if _text_number(objective[inside]["num_class"], "num_class") != classes or not classes:
            raise ValueError("the objective and the number of classes do not fit together")


def _check_forest(model: Any, width: int, classes: int, targets: int) -> None:
    _fields(model, "model", "cats", "gbtree_model_param", "iteration_indptr", "tree_info", "trees")
    for name, values in _fields(model["cats"], "cats", "enc", "feature_segments", "sorted_idx").items():
        _empty(values, name)
    param = _fields(model["gbtree_model_param"], "gbtree_model_param", "num_parallel_tree", "num_trees")
    trees = model["trees"]
    if not isinstance(trees, list) or len(trees) != _text_number(param["num_trees"], "num_trees"):
        raise ValueError("num_trees is not the number of trees")
    parallel = _text_number(param["num_parallel_tree"], "num_parallel_tree")
    leaf = {_leaf_size(tree) for tree in trees} or {1}
    if len(leaf) > 1 or leaf not in ({1}, {targets}):
        raise ValueError("the leaves are not of one size")
    groups = 1 if leaf == {targets} and targets > 1 else max(classes, targets)
    # A round adds so many trees to every output, in order.
    group = np.tile(np.repeat(np.arange(groups), parallel), len(trees) // max(groups * parallel, 1))
    info = numbers(model["tree_info"], "tree_info", (len(trees),), 0, groups - 1)
    steps = numbers(model["iteration_indptr"], "iteration_indptr", (None,), 0, len(trees))
    each = groups * parallel
    if not each or group.size != len(trees) or not np.array_equal(info, group):
        raise ValueError("tree_info does not deal the trees to the outputs in turn")
    if not np.array_equal(steps, np.arange(0, len(trees) + 1, each)):
        raise ValueError("iteration_indptr does not count the trees of every round")
    for place, tree in enumerate(trees):
        try:
            _check_tree(tree, place, width, next(iter(leaf)))
        except ValueError as error:
            raise ValueError(f"tree {place}: {error}") from None


def _leaf_size(tree: Any) -> int:
    param = tree.get("tree_param") if isinstance(tree, dict) else None
    _fields(param, "tree_param", "num_deleted", "num_feature", "num_nodes", "size_leaf_vector")
    return _text_number(param["size_leaf_vector"], "size_leaf_vector")


def _check_tree(tree: dict[str, Any], place: int, width: int, leaf: int) -> None:
    many = ("leaf_weights",) if leaf > 1 else ()
    _fields(tree, "a tree", "base_weights", "id", "tree_param", *_NODE, *_REAL, *_NO_CATEGORIES, *many)
    param = tree["tree_param"]
    nodes = _text_number(param["num_nodes"], "num_nodes")
    if _text_number(param["num_feature"], "num_feature") != width:
        raise ValueError("it takes another number of features")
    if param["num_deleted"] != "0" or whole(tree["id"], "id", 0, _MOST) != place or not nodes:
        raise ValueError("nodes were deleted, or it is not in its place; train with tree_method='hist'")
    for name in _NO_CATEGORIES:
        _empty(tree[name], name)
    for name in _REAL:
        numbers(tree[name], name, (nodes,), -_SINGLE, _SINGLE)
    numbers(tree["base_weights"], "base_weights", (nodes * leaf,), -_SINGLE, _SINGLE)
    default_left, left, right, parents, feature, kind = (_integers(tree[name], name, nodes) for name in _NODE)
    if kind.any() or not np.isin(default_left, (0, 1)).all():
        raise ValueError("it splits by something else than numbers")
    inner = np.flatnonzero(left != -1)
    if ((feature[inner] < 0) | (feature[inner] >= width)).any():
        raise ValueError("it splits by a feature that is not there")
    # Every node but the first is the child of one that came before it: no cycle, and no node out of reach.
    children = np.concatenate([left[inner], right[inner]])
    if not np.array_equal(np.sort(children), np.arange(1, nodes)) or (children <= np.tile(inner, 2)).any():
        raise ValueError("its nodes do not form a tree")
    if (parents[children] != np.tile(inner, 2)).any() or parents[0] not in (-1, _MOST):
        raise ValueError("its nodes do not know their parents")
    leaves = right[left == -1]
    if leaf == 1 and (leaves != -1).any():
        raise ValueError("a leaf has a child")
    if leaf > 1:
        numbers(tree["leaf_weights"], "leaf_weights", (leaves.size * leaf,), -_SINGLE, _SINGLE)
        if not np.array_equal(np.sort(leaves), np.arange(leaves.size)):
            raise ValueError("its leaves are not those that have weights")


def _integers(values: Any, name: str, count: int) -> np.ndarray:
    found = numbers(values, name, (count,), -1, _MOST)
    if np.array(values).dtype.kind not in "iu":
        raise ValueError(f"{name} holds a number that is not whole")
    return found.astype(np.int64)


def _text_number(value: Any, name: str, most: int = 10**6) -> int:
    """A count, which XGBoost writes as a text."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{1,9}", value) or int(value) > most:
        raise ValueError(f"{name} is {value!r:.40}, not a count up to {most}")
    return int(value)


def _fields(value: Any, what: str, *names: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no object")
    odd = set(value) ^ set(names)
    if odd:
        first = min(odd, key=str)
        raise ValueError(f"{what}: {'missing' if first in names else 'unknown'} {first!r:.40}")
    return value


def _empty(value: Any, name: str) -> None:
    if value not in ([], {}):
        raise ValueError(f"{name} is not empty")


# A learned policy as a file: two lines of JSON, what the policy is and the trees in XGBoost's own format.
#
# Data, and nothing that runs: other models of scikit-learn are saved as pickles, which run, and so not at all. A
# checksum is looked at first, then every number, and only then does XGBoost see the trees.


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
