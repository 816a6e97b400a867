"""The paper's table of five classifiers: one pool of rows, split by row.

Every question is in the pool once per model and budget, so a split by rows puts copies of it into
training and into the test. The features are random numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from adabook.paper.results import recorded_part
from adabook.paper.settings import PAPER_SETTINGS, PAPER_WAY, TARGETS, paper_setting
from adalib.evaluate.baselines import noise_features
from adalib.learn.label_policy import LabelPolicy
from adalib.solve.bisection import bisect
from adalib.solve.oracle import chosen

#: On how many splits each classifier is tried: ten as in the paper; the network, which takes four
#: times as long as a forest, on two.
TRIES = {"logistic": 10, "svm": 10, "forest": 10, "mlp": 2, "gbm": 10}

_TEST = 0.2  # share of the rows that a split holds out


class Pooled(NamedTuple):
    """Rows for a classifier: their features, the oracle's columns, the accuracies, the costs."""

    features: pd.DataFrame
    labels: np.ndarray
    acc: np.ndarray
    budgets: np.ndarray


def simulated_pool() -> Pooled:
    """Return the paper's pool as we reconstruct it: simulated MATH settings with noise features."""
    tables = [paper_setting(name).table(**PAPER_WAY) for name in PAPER_SETTINGS[:3]]
    n = tables[0].n
    shared = noise_features(n, 14)
    # The paper's entropy needs an answer of the model: two columns of the sixteen differ by
    # setting.
    own = [noise_features(n, 2, seed=1000 + number) for number in range(len(tables))]
    pairs = list(product(zip(tables, own, strict=True), TARGETS))
    features = [np.column_stack([shared, mine, np.full(n, B)]) for (_, mine), B in pairs]
    names = [*shared.columns, "setting_0", "setting_1", "target"]
    return Pooled(
        pd.DataFrame(np.concatenate(features), columns=names),
        np.concatenate([bisect(table.acc, table.cost, B).labels for (table, _), B in pairs]),
        np.concatenate([table.acc for (table, _), _ in pairs]),
        np.asarray(tables[0].cost, dtype=float),
    )


def zoo(seed: int = 0) -> dict[str, LabelPolicy]:
    """Return the five classifiers of the paper's ablation as unfitted policies, by name."""
    # Not at the top: every chapter would wait for them.
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    models = (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, random_state=seed)),
        make_pipeline(StandardScaler(), SVC(kernel="rbf", random_state=seed)),
        RandomForestClassifier(n_estimators=100, random_state=seed, n_jobs=1),
        make_pipeline(StandardScaler(), MLPClassifier(hidden_layer_sizes=(64,), random_state=seed)),
        None,  # the default, XGBoost at the paper's hyper-parameters
    )
    return {name: LabelPolicy(model, seed=seed) for name, model in zip(TRIES, models, strict=True)}


def held_out_rows(pooled: Pooled, number: int) -> np.ndarray:
    """The rows that a split holds out."""
    n = len(pooled.labels)
    return np.sort(np.random.default_rng(number).permutation(n)[: round(_TEST * n)])


def predictions(pooled: Pooled, name: str, number: int) -> np.ndarray:
    """The columns that a classifier predicts for the rows that a split holds out."""
    out = held_out_rows(pooled, number)
    rest = np.delete(np.arange(len(pooled.labels)), out)
    policy = zoo(number)[name].fit_labels(pooled.features.iloc[rest], pooled.labels[rest])
    return policy.predict(pooled.features.iloc[out])


def recorded_predictions() -> dict[tuple[str, int], np.ndarray]:
    """Return `predictions` of every classifier and split, which ``record_paper.py`` trained."""
    return {
        (line["classifier"], line["number"]): np.array(list(line["predicted"]), dtype=int)
        for line in recorded_part("simulated pool by row")
    }


def summary(pooled: Pooled, predicted: Mapping[tuple[str, int], np.ndarray]) -> pd.DataFrame:
    """Return means and deviations over the splits, one row per classifier."""
    rows = []
    for (name, number), columns in predicted.items():
        out = held_out_rows(pooled, number)
        accuracy = chosen(pooled.acc[out], columns).mean()
        oracle = chosen(pooled.acc[out], pooled.labels[out]).mean()
        rows.append(
            {
                "classifier": name,
                "accuracy": accuracy,
                "gap": oracle - accuracy,
                "imitation": (columns == pooled.labels[out]).mean(),
                "cost": pooled.budgets[columns].mean(),
            }
        )
    grouped = pd.DataFrame(rows).groupby("classifier", sort=False)
    return grouped.mean().join(grouped.std(ddof=0).add_suffix("_std"))
