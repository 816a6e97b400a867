"""The package where a system has less: no XGBoost, no locks, no limits, no threads, no
processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import whole_package

from adalib.learn.trees import xgboost  # None on a Mac without its libomp

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parent.parent.parent


def bare(folder):
    """What tests/helpers/whole_package.py prints where a system has less, and its notes."""
    command = [sys.executable, whole_package.__file__, str(folder), "bare"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "book")])},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The numbers of this system, those of a bare one, and what that one noted."""
    whole = whole_package.core(tmp_path_factory.mktemp("all"))
    return whole, *bare(tmp_path_factory.mktemp("bare"))


def test_numbers_that_nobody_learns_are_the_same_on_a_bare_system(found):
    whole, bare, _ = found
    assert bare["cores"] == 1
    for name in ("lam", "accuracy", "solved", "explored", "same", "checked"):
        assert bare[name] == whole[name], name
    assert (bare["same"], bare["checked"]) == ([True, False], 'Exercise "oracle": right.')
    for policy in ("oracle", "oracle_in_sample", "mix", "fixed", "length", "margin", "esc"):
        assert bare["rows"][policy] == pytest.approx(whole["rows"][policy], abs=1e-12), policy


def test_other_trees_learn_the_same(found):
    whole, bare, notes = found
    other = "scikit-learn's HistGradientBoosting"
    assert (whole["trees"], bare["trees"]) == ("XGBoost" if xgboost else other, other)
    assert notes.count("note: XGBoost is not installed") == 1
    for numbers in (whole, bare):  # the curves follow the first feature alone
        assert numbers["curve error"] < 0.03
        assert numbers["first feature"] > 0.9
