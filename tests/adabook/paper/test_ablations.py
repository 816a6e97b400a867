"""Ablations: the pool that we reconstruct, five classifiers on it, and importances."""

import runpy

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

import adalib
from adabook.paper import ablations
from adabook.paper.settings import PAPER_ABLATIONS

RECORD = runpy.run_path(
    str(ROOT / "data" / "scripts" / "record_paper.py")
)  # what trained the record


@pytest.fixture(scope="module")
def pooled():
    return ablations.simulated_pool()


def test_the_pool_has_the_papers_size_and_shows_a_question_nine_times(pooled):
    assert len(pooled.labels) == len(pooled.features) == PAPER_ABLATIONS["instances"]
    shared = pooled.features.filter(like="noise")
    assert set(shared.groupby(list(shared.columns)).size()) == {9}
    one = pooled.features[pooled.features["target"] == 3.0].groupby(list(shared.columns))
    assert (one["setting_0"].nunique() == 3).mean() > 0.9  # short decimals are sometimes equal


@pytest.mark.parametrize("name", ["logistic", "gbm"])
def test_recorded_classifiers_predict_as_those_trained_today(pooled, name):
    then = ablations.recorded_predictions()[name, 0]
    assert ablations.predictions(pooled, name, 0).tolist() == then.tolist()


def test_a_summary_by_hand():
    """Five rows, of which a split holds out one."""
    acc = np.array([[0.1, 0.6, 0.7]] * 5)
    pool = ablations.Pooled(pd.DataFrame(acc), np.full(5, 2), acc, np.array([1.0, 2.0, 4.0]))
    predicted = {("gbm", 0): np.array([1]), ("gbm", 1): np.array([2])}
    row = ablations.summary(pool, predicted).loc["gbm"]
    assert row.accuracy == pytest.approx(0.65)
    assert row.gap == pytest.approx(0.05)
    assert (row.imitation, row.cost) == (0.5, 3.0)
    assert (row.cost_std, row.imitation_std) == (1.0, 0.5)


def test_a_feature_that_is_the_label_stands_clear_of_shuffled_labels():
    labels = np.random.default_rng(0).integers(0, 2, size=200)
    features = adalib.noise_features(200, 5).assign(key=labels)
    found = RECORD["importances"](features, labels, draws=5).set_index("feature")
    assert found.importance.sum() == pytest.approx(1)
    assert found.index[0] == "key"
    assert found.importance["key"] > found.shuffled_high["key"]
    assert found.noise_low.iloc[0] < 1 / 6 < found.noise_high.iloc[0]
