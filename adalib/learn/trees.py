"""The default models of the policies: boosted trees.

Where XGBoost is not installed (in a browser, for example), scikit-learn's histogram trees replace
it with the same settings. They learn nearly the same, and a warning announces them.
"""

from __future__ import annotations

import functools
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
