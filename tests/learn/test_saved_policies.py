"""Saved policies: the same predictions in another process, and one sentence for a damaged file."""

import json
import subprocess
import sys
from pathlib import Path

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


PROGRAM = """
import sys, numpy as np
import adalib
features = np.load("features.npy")
for word in sys.argv[1:]:
    kind, name = word.split(":")
    np.save(name + ".npy", getattr(adalib, kind).load(name + ".json").predict(features))
"""


def test_the_same_predictions_in_another_process(saved):
    folder, policies = saved
    np.save(folder / "features.npy", FEATURES.to_numpy())
    words = [f"{type(policy).__name__}:{name}" for name, policy in policies.items()]
    subprocess.run([sys.executable, "-c", PROGRAM, *words], check=True, cwd=folder)
    for name, policy in policies.items():
        labels = policy.predict(FEATURES.to_numpy())
        np.testing.assert_array_equal(np.load(folder / f"{name}.npy"), labels)
        loaded = type(policy).load(folder / f"{name}.json")
        assert (type(loaded), loaded.lam_, loaded.seed) == (type(policy), policy.lam_, policy.seed)
        np.testing.assert_array_equal(loaded.predict(FEATURES.to_numpy()), labels)
        if isinstance(policy, CurvePolicy):
            asked = FEATURES.to_numpy()
            np.testing.assert_array_equal(loaded.curves(asked), policy.curves(asked))
            np.testing.assert_array_equal(
                loaded.for_budget(asked, 2.2), policy.for_budget(asked, 2.2)
            )
        else:
            np.testing.assert_array_equal(loaded.importance(), policy.importance())


def test_a_saved_policy_is_plain_json_with_xgboosts_own_trees(saved):
    folder, policies = saved
    data = json.loads((folder / "curve.json").read_text())
    assert data["kind"] == "curve"
    assert isinstance(data["version"], int)
    assert data["names"] == ["a", "b", "c"]
    assert data["trees"] == json.loads(policies["curve"].model_.get_booster().save_raw("json"))
    assert CurvePolicy.from_dict(data).to_dict()["prices"] == data["prices"]


def test_damaged_files_never_crash(saved):
    folder, _ = saved
    program = Path(__file__).with_name("mutate_saved.py")
    run = subprocess.run(
        [sys.executable, program, folder, "13", "100"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout)
    assert found["done"] == 100
    assert found["refused"] > 30  # the damage is real
    assert found["loaded"] > 5  # and some of it is only another number


@pytest.mark.parametrize(
    ("name", "at", "wrong"),
    [
        ("left_children", 0, 0),
        ("left_children", 0, 10**6),
        ("right_children", 0, 0),
        ("split_indices", 0, 3),
        ("split_conditions", 0, "x"),
    ],
)
def test_no_tree_leads_out_of_its_lists(saved, tmp_path, name, at, wrong):
    folder, _ = saved
    for kind, policy in (("label", LabelPolicy), ("curve", CurvePolicy)):
        data = json.loads((folder / f"{kind}.json").read_text())
        tree = data["trees"]["learner"]["gradient_booster"]["model"]["trees"][0]
        for values in ([*tree[name][:at], wrong, *tree[name][at + 1 :]], []):
            tree[name] = values
            (tmp_path / "policy.json").write_text(json.dumps(data))
            with pytest.raises(DataError) as caught:
                policy.load(tmp_path / "policy.json")
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": "label"}, "curve"),
        ({"version": 99}, "99"),
        ({"width": 4}, "4 features"),
        ({"names": ["a"]}, "3 features"),
        ({"cost": [1, 2]}, "damaged"),
        ({"prices": None}, "prices"),
        ({"trees": {}}, "learner"),
        ({"trees": None}, "damaged"),
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
