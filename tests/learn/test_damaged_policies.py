"""Damaged policies, stopping rules and routers: one clear error each, and the process lives."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from xgboost import DMatrix, XGBClassifier, XGBRegressor

from adalib.datasets.files import DataError
from adalib.datasets.responses import Responses
from adalib.datasets.saved import number, numbers, whole
from adalib.datasets.sealed import digest, read_sealed, seal, write_sealed
from adalib.learn.policies import CurvePolicy, LabelPolicy, load_policy
from adalib.learn.trees import from_json, to_json
from adalib.router.router import Router

RNG = np.random.default_rng(0)
KNOWN, LABELS, ACC = (
    RNG.normal(size=(60, 3)),
    RNG.integers(0, 3, 60),
    np.sort(RNG.random((60, 4)), axis=1),
)

GROWN = ("label.json", "curve.json", "histogram.json")


def answered():
    """A few questions, four answers each, sure of themselves or not."""
    rows = RNG.choice(["1", "2", "3"], size=(12, 4), p=[0.6, 0.3, 0.1])
    sure = -RNG.random((12, 4))
    names = [str(i) for i in range(12)]
    return Responses(
        names, [f"hen {i}" for i in range(12)], ["1"] * 12, rows.tolist(), logprob=sure
    )


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """One of everything that can be saved."""
    folder = tmp_path_factory.mktemp("saved")
    classifier = XGBClassifier(n_estimators=3, max_depth=3, objective="multi:softprob", num_class=3)
    LabelPolicy(classifier).fit_labels(KNOWN, LABELS).save(folder / "label.json")
    regressor = XGBRegressor(n_estimators=3, max_depth=3, multi_strategy="multi_output_tree")
    CurvePolicy(regressor).fit(KNOWN, ACC, [1, 2, 4, 8], budget=3).save(folder / "curve.json")
    rule = HistGradientBoostingClassifier(max_iter=3, max_depth=3, min_samples_leaf=1)
    LabelPolicy(rule).fit_labels(KNOWN, LABELS).save(folder / "histogram.json")
    for policy in ("priced", "curve"):
        Router.fit(answered(), budget=2, policy=policy).save(folder / policy)
    return folder


def test_damaged_files_never_crash(saved):
    program = Path(__file__).with_name("mutate_saved.py")
    run = subprocess.run(
        [sys.executable, program, saved, "13", "1000"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout)
    assert found["done"] == 1000
    assert found["refused"] > 500  # the damage is real
    assert found["loaded"] > 20  # and some of it is only another number


@pytest.mark.parametrize("file", GROWN)
@pytest.mark.parametrize(
    ("name", "at", "wrong"),
    [
        *[
            ("left", 0, 0),
            ("left", 0, 10**6),
            ("right", 1, 0),
            ("right", 0, -1),
            ("roots", 1, 0),
            ("roots", 1, 10**6),
        ],
        *[("feature", 0, 3), ("threshold", 0, 1e300), ("weight", 0, "x"), ("start", 0, None)],
    ],
)
def test_no_tree_leads_out_of_its_lists(saved, tmp_path, file, name, at, wrong):
    about, document = (json.loads(line) for line in (saved / file).read_text().splitlines())
    for values in ([*document[name][:at], wrong, *document[name][at + 1 :]], [], {}):
        lines = seal([about, document | {name: values}])
        (tmp_path / "policy.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
        with pytest.raises(DataError, match="is not a sound policy file") as caught:
            load_policy(tmp_path / "policy.json")
        assert "\n" not in str(caught.value)


def test_forest_equals_xgboost_to_the_last_bit():
    """Also those of other settings, and of files that held XGBoost's own lists."""
    asked = RNG.normal(size=(5000, 3))
    for model in (
        XGBClassifier(n_estimators=2, max_depth=2),
        XGBClassifier(n_estimators=2, num_parallel_tree=3),
        XGBRegressor(n_estimators=2, max_depth=1),
        XGBRegressor(n_estimators=20, multi_strategy="multi_output_tree"),
        XGBClassifier(n_estimators=20, objective="multi:softprob", num_class=3),
    ):
        several = model.get_params().get("num_class")
        model.fit(
            KNOWN, ACC if isinstance(model, XGBRegressor) else LABELS if several else LABELS > 0
        )
        theirs = (
            model.get_booster().predict(DMatrix(asked), output_margin=True).reshape(len(asked), -1)
        )
        for document in (to_json(model, 3), json.loads(model.get_booster().save_raw("json"))):
            np.testing.assert_array_equal(from_json(document, 3).predict(asked), theirs)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            XGBRegressor(n_estimators=2, objective="reg:logistic"),
            "trees of reg:logistic cannot be saved",
        ),
        (XGBRegressor(n_estimators=2, booster="gblinear"), "not as XGBoost writes them"),
        (XGBRegressor(n_estimators=2, booster="dart"), "not as XGBoost writes them"),
    ],
)
def test_trees_of_another_kind_are_not_saved(model, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        CurvePolicy(model).fit(KNOWN, ACC, [1, 2, 4, 8], budget=3).save(tmp_path / "policy.json")


def test_a_changed_file_is_refused(saved, tmp_path):
    about, trees = (json.loads(line) for line in (saved / "label.json").read_text().splitlines())
    trees["left"][0] = 0
    for lines, message in (
        ([about, trees], "checksum differs"),
        (seal([about, trees]), "do not form trees"),
    ):
        (tmp_path / "label.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
        with pytest.raises(DataError, match=message):
            load_policy(tmp_path / "label.json")


def test_parts_of_two_routers_are_no_router(saved, tmp_path):
    for name in ("policy.json", "reader.json"):
        (tmp_path / name).write_bytes(
            (saved / ("curve" if name == "policy.json" else "priced") / name).read_bytes()
        )
    about = json.loads((saved / "priced" / "router.json").read_text())
    for change, message in (
        ({"policy": "curve"}, "budgets and a policy of"),
        ({"policy": "priced"}, "is not a sound router"),
        (
            {"policy": "curve", "budgets": [1, 2, 4], "budget": 0.5},
            "the cheapest allocation costs 1",
        ),
        ({"policy": "curve", "budgets": [1, 2, 4], "cost": "hours"}, "neither samples nor tokens"),
    ):
        changed = (
            about | change | {"files": {name: digest(tmp_path / name) for name in about["files"]}}
        )
        (tmp_path / "router.json").write_text(json.dumps(seal([changed])[0]) + "\n")
        with pytest.raises(DataError, match=message):
            Router.load(tmp_path)
    (tmp_path / "router.json").write_text(
        json.dumps(seal([about | {"files": {"../../etc/passwd": "0"}}])[0]) + "\n"
    )
    with pytest.raises(DataError, match="parts are not named"):
        Router.load(tmp_path)


def test_a_sealed_file_survives_other_line_ends(tmp_path):
    path = tmp_path / "a.json"
    write_sealed(path, "a test", [{"values": np.array([1.5, -0.0])}, {"b": "é"}])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_sealed(path, "a test", 2, "mend")[0]["values"] == [1.5, -0.0]
    path.write_bytes(path.read_bytes().replace(b"1.5", b"1.6"))
    with pytest.raises(DataError, match="checksum"):
        read_sealed(path, "a test", 2, "mend")


@pytest.mark.parametrize("value", ["1", None, True, [1], float("nan"), 2.0])
def test_what_is_no_number_of_a_file(value):
    with pytest.raises(ValueError, match="a number from 0 to 1"):
        number(value, "share", 0, 1)
    with pytest.raises(ValueError, match="not a whole number"):
        whole(value, "count", 0, 1)
    with pytest.raises(ValueError, match="table of numbers|not finite|has shape"):
        numbers([[value]] if value != [1] else [[[1]]], "table", (1, 1), 0, 1)
