"""Damaged policies, stopping rules and routers: one clear error each, and the process lives."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from xgboost import XGBClassifier, XGBRegressor

from adalib.datasets.files import DataError
from adalib.datasets.responses import Responses
from adalib.datasets.sealed import digest, number, numbers, read_sealed, seal, whole, write_sealed
from adalib.learn.policies import CurvePolicy, LabelPolicy, load_policy
from adalib.learn.trees import check, from_json
from adalib.router.router import Router
from adalib.sequential.priced import PricedStopping, save_stopping

RNG = np.random.default_rng(0)
KNOWN, LABELS, ACC = RNG.normal(size=(60, 3)), RNG.integers(0, 3, 60), np.sort(RNG.random((60, 4)), axis=1)


def answered():
    """A few questions, four answers each, sure of themselves or not."""
    rows = RNG.choice(["1", "2", "3"], size=(12, 4), p=[0.6, 0.3, 0.1])
    sure = -RNG.random((12, 4))
    names = [str(i) for i in range(12)]
    return Responses(names, [f"hen {i}" for i in range(12)], ["1"] * 12, rows.tolist(), logprob=sure)


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
    (folder / "stopping").mkdir()
    policy = PricedStopping(schedule=[1, 2, 4], repeats=2).fit(answered(), KNOWN[:12])
    save_stopping(policy, folder / "stopping" / "stopping.json")
    for policy in ("priced", "curve"):
        Router.fit(answered(), budget=2, policy=policy).save(folder / policy)
    return folder


def test_a_thousand_damaged_files_and_not_one_crash(saved):
    program = Path(__file__).with_name("mutate_saved.py")
    run = subprocess.run([sys.executable, program, saved, "13", "1000"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout)
    assert found["done"] == 1000
    assert found["refused"] > 500  # the damage is real
    assert found["loaded"] > 20  # and some of it is only another number


def trees_of(saved, name):
    return json.loads((saved / name).read_text().splitlines()[1])


def first_tree(document):
    return document["learner"]["gradient_booster"]["model"]["trees"][0]


def test_what_xgboost_wrote_is_sound(saved):
    for name in ("label.json", "curve.json"):
        check(trees_of(saved, name), 3)
    for model in (
        XGBClassifier(n_estimators=2, max_depth=2),
        XGBClassifier(n_estimators=2, num_parallel_tree=3),
        XGBRegressor(n_estimators=2, max_depth=1),
        XGBRegressor(n_estimators=2, max_depth=1, objective="reg:logistic"),
    ):
        model.fit(KNOWN, (LABELS > 0) if isinstance(model, XGBClassifier) else ACC)
        check(json.loads(model.get_booster().save_raw("json")), 3)


def change(**lists):
    """Write values into lists of a tree: place by place."""

    def spoil(tree):
        for name, values in lists.items():
            for place, value in values.items():
                tree[name][place] = value

    return spoil


def orphan_ring(tree):
    # Two nodes that are each other's child and are reached from nowhere.
    tree["left_children"][-2:] = [len(tree["left_children"]) - 1, len(tree["left_children"]) - 2]


SPOILED = {
    "cycle": change(left_children={1: 0}),
    "self child": change(left_children={0: 0}),
    "orphan ring": orphan_ring,
    "far child": change(right_children={0: 10**6}),
    "half a leaf": change(right_children={0: -1}),
    "own parent": change(parents={1: 1}),
    "no parent": change(parents={1: 2**31 - 1}),
    "far feature": change(split_indices={0: 3}),
    "no feature": change(split_indices={0: -1}),
    "category": change(split_type={0: 1}),
    "short list": lambda tree: tree["split_conditions"].pop(),
    "huge size": change(tree_param={"num_nodes": "999999999"}),
    "wide leaf": change(tree_param={"size_leaf_vector": "1000"}),
    "leaf far away": change(right_children={-1: 10**6}),
    "infinite": change(base_weights={0: 1e300}),
}


@pytest.mark.parametrize("name", ["label.json", "curve.json"])
@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_no_tree_that_leads_out_of_its_lists_reaches_xgboost(saved, name, spoil):
    document = trees_of(saved, name)
    spoil(first_tree(document))
    with pytest.raises(ValueError, match="tree|leaves") as caught:
        check(document, 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", [{"left": 10**6}, {"left": 0}, {"right": 1}, {"feature": 3}, {"weight": None}])
def test_no_histogram_tree_leads_out_of_its_lists(saved, wrong):
    document = trees_of(saved, "histogram.json")
    ((name, value),) = wrong.items()
    document["trees"][0][name][1] = value
    with pytest.raises(ValueError, match="tree 0") as caught:
        from_json(None, document, 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["iteration_indptr", "tree_info"])
@pytest.mark.parametrize("values", [[], [0, 10**6], [3, 2, 1, 0], "x", None])
def test_no_round_that_is_not_there_reaches_xgboost(saved, name, values):
    document = trees_of(saved, "label.json")
    document["learner"]["gradient_booster"]["model"][name] = values
    with pytest.raises(ValueError, match="tree|rounds|indptr"):
        check(document, 3)


def test_a_changed_file_is_refused_by_its_checksum_and_a_resealed_one_by_its_trees(saved, tmp_path):
    about, trees = (json.loads(line) for line in (saved / "label.json").read_text().splitlines())
    first_tree(trees)["left_children"][0] = 10**6
    for lines, told in (([about, trees], "checksum differs"), (seal([about, trees]), "do not form a tree")):
        (tmp_path / "label.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
        with pytest.raises(DataError, match=told):
            load_policy(tmp_path / "label.json")


def test_parts_of_two_routers_are_no_router(saved, tmp_path):
    for name in ("policy.json", "reader.json"):
        (tmp_path / name).write_bytes((saved / ("curve" if name == "policy.json" else "priced") / name).read_bytes())
    about = json.loads((saved / "priced" / "router.json").read_text())
    for change, told in (
        ({"policy": "curve"}, "budgets and a policy of"),
        ({"policy": "priced"}, "not what adalib saves"),
        ({"policy": "curve", "budgets": [1, 2, 4], "budget": 0.5}, "the cheapest allocation costs 1"),
        ({"policy": "curve", "budgets": [1, 2, 4], "cost": "hours"}, "neither samples nor tokens"),
    ):
        changed = about | change | {"files": {name: digest(tmp_path / name) for name in about["files"]}}
        (tmp_path / "router.json").write_text(json.dumps(seal([changed])[0]) + "\n")
        with pytest.raises(DataError, match=told):
            Router.load(tmp_path)
    (tmp_path / "router.json").write_text(json.dumps(seal([about | {"files": {"../../etc/passwd": "0"}}])[0]) + "\n")
    with pytest.raises(DataError, match="parts are not named"):
        Router.load(tmp_path)


def test_a_sealed_file_survives_other_line_ends_and_nothing_else(tmp_path):
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
