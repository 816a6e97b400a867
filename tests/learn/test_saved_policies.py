"""Saved policies: the same decisions, and one sentence for a damaged file."""

import json
import random

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from xgboost import XGBClassifier, XGBRegressor

from adalib.datasets.files import DataError
from adalib.learn import trees
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy

RNG = np.random.default_rng(0)
COST = [1, 2, 4, 8]
FEATURES = pd.DataFrame(RNG.normal(size=(80, 3)), columns=["a", "b", "c"])
ACC = np.sort(RNG.random((80, 4)), axis=1)
LABELS = RNG.integers(0, 3, 80)


def small_policies():
    """One of everything that can be saved, with few trees."""
    classifier = XGBClassifier(n_estimators=3, max_depth=3, objective="multi:softprob", num_class=3)
    regressor = XGBRegressor(n_estimators=3, max_depth=3, multi_strategy="multi_output_tree")
    return {
        "label": LabelPolicy(classifier).fit_labels(FEATURES, LABELS),
        "two": LabelPolicy(XGBClassifier(n_estimators=2)).fit_labels(FEATURES, 1 * (LABELS > 0)),
        "one": LabelPolicy().fit_labels(FEATURES, np.full(80, 2)),
        "budget": LabelPolicy(spend="budget").fit(FEATURES[:30], ACC[:30], COST, budget=3),
        "curve": CurvePolicy(regressor, seed=4).fit(FEATURES, ACC, COST, budget=3),
        "default": CurvePolicy().fit(FEATURES.to_numpy(), ACC, COST, lam=0.02),
    }


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    policies = small_policies()
    for name, policy in policies.items():
        policy.save(folder / f"{name}.json")
    return folder, policies


def test_a_saved_policy_decides_as_before(saved):
    folder, policies = saved
    asked = FEATURES.to_numpy()
    for name, policy in policies.items():
        loaded = type(policy).load(folder / f"{name}.json")
        assert (loaded.lam_, loaded.seed) == (policy.lam_, policy.seed)
        np.testing.assert_array_equal(loaded.predict(asked), policy.predict(asked))
        if isinstance(policy, CurvePolicy):
            np.testing.assert_array_equal(loaded.curves(asked), policy.curves(asked))
            np.testing.assert_array_equal(
                loaded.for_budget(asked, 2.2), policy.for_budget(asked, 2.2)
            )
        else:
            np.testing.assert_array_equal(loaded.importance(), policy.importance())


ODD = (-1, 0, 1, 7, 2**31, 2**63, -1.5, 1e300, True, None, "", "1", "999999", "x", [], {}, [[]])


def damage(inside, rng):
    """Replace or remove one value somewhere inside."""
    while True:
        key = rng.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
        child = inside[key]
        if not (isinstance(child, dict | list) and child and rng.random() < 0.9):
            break
        inside = child
    if rng.random() < 1 / 3:
        del inside[key]
    else:
        inside[key] = rng.choice(ODD)


def test_damaged_files_never_crash(saved, tmp_path):
    """XGBoost's own reader would end this process."""
    folder, policies = saved
    path = tmp_path / "damaged.json"
    rng = random.Random(13)
    said = []
    for _ in range(150):
        name = rng.choice(list(policies))
        values = json.loads((folder / f"{name}.json").read_text())
        damage(values, rng)
        path.write_text(json.dumps(values))
        try:
            policy = type(policies[name]).load(path)
            policy.predict(np.random.default_rng(0).normal(0, 3, (8, policy.n_features_in_)))
        except ValueError as error:
            said.append(str(error))
    assert all(text.startswith(str(path)) or "has no price" in text for text in said)
    assert not any("\n" in text for text in said)
    assert 45 < len(said) < 140  # the damage is real, and some of it is only another number


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("left_children", 0),
        ("left_children", 10**6),
        ("right_children", 0),
        ("right_children", 10**6),
        ("split_indices", 3),
        ("split_conditions", "x"),
    ],
)
def test_no_tree_leads_out_of_its_lists(saved, name, wrong):
    data = json.loads((saved[0] / "curve.json").read_text())
    tree = data["trees"]["learner"]["gradient_booster"]["model"]["trees"][0]
    for values in ([wrong, *tree[name][1:]], []):
        tree[name] = values
        with pytest.raises(DataError):
            CurvePolicy.from_dict(data)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": "label"}, "curve"),
        ({"version": 99}, "99"),
        ({"width": 4}, "4 features"),
        ({"names": ["a"]}, "3 features"),
        ({"cost": [1, 2]}, "damaged"),
        ({"trees": {}}, "learner"),
        ({"lam": -1}, "lam"),
    ],
)
def test_a_damaged_or_foreign_file_gets_one_sentence(saved, tmp_path, change, named):
    folder, _ = saved
    data = json.loads((folder / "curve.json").read_text())
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(data | change))
    with pytest.raises(DataError, match=named) as caught:
        CurvePolicy.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_of_other_kinds_are_refused(tmp_path):
    path = tmp_path / "policy.json"
    for content in ("", "{}", "[1]", "not JSON", '{"kind": ["label"]}', "{}\n{}"):
        path.write_text(content)
        with pytest.raises(DataError, match="policy.json"):
            CurvePolicy.load(path)


@pytest.mark.parametrize(
    "policy",
    [
        LabelPolicy(HistGradientBoostingClassifier(max_iter=2)).fit_labels(FEATURES, LABELS),
        LabelPolicy(XGBClassifier(booster="gblinear")).fit_labels(FEATURES, LABELS),
        CurvePolicy(LinearRegression()).fit(FEATURES, ACC, COST),
    ],
)
def test_other_models_are_not_saved(policy, tmp_path):
    with pytest.raises(ValueError, match="trees"):
        policy.save(tmp_path / "policy.json")
    assert not list(tmp_path.iterdir())


def test_without_xgboost_saved_trees_are_refused(saved, monkeypatch):
    folder, _ = saved
    monkeypatch.setattr(trees, "xgboost", None)
    monkeypatch.setattr(trees, "_warn_once", lambda *arguments, **options: None)
    with pytest.raises(DataError, match="XGBoost"):
        CurvePolicy.load(folder / "curve.json")
