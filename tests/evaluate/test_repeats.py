"""Neyman's allocation against brute force, closed forms, integrals and answers held out."""

import json
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import adalib
from adalib.cli import main
from adalib.datasets.files import DataError
from adalib.evaluate.repeats import allocate_answers, answer_variances, plan_repeats


def every_plan(questions, total):
    """All ways to give each question at least one answer."""
    for cuts in combinations(range(1, total), questions - 1):
        yield np.diff([0, *cuts, total])


@given(
    st.lists(st.sampled_from([0, 0.01, 0.09, 0.16, 0.25]), min_size=2, max_size=4),
    st.integers(4, 11),
)
def test_no_plan_of_whole_numbers_is_better(variances, total):
    v = np.array(variances)
    found = allocate_answers(v, total)
    assert found.sum() == total
    assert found.min() >= 1
    best = min((v / plan).sum() for plan in every_plan(v.size, total))
    assert (v / found).sum() == pytest.approx(best, abs=1e-12)


def test_the_numbers_are_in_the_ratio_of_the_standard_deviations():
    v = np.array([0.5, 0.3, 0.1]) ** 2
    assert allocate_answers(v, 9_000).tolist() == [5_000, 3_000, 1_000]
    assert allocate_answers(np.full(4, 0.25), 1_000_000).tolist() == [250_000] * 4


@given(st.lists(st.floats(1e-9, 0.25), min_size=1, max_size=30), st.integers(0, 10**6))
def test_an_answer_moved_elsewhere_never_helps(variances, more):
    v = np.array(variances)
    n = allocate_answers(v, v.size + more)
    assert n.sum() == v.size + more
    gained = (v / (n * (n + 1))).max()
    given_up = (v[n > 1] / (n[n > 1] * (n[n > 1] - 1))).min(initial=np.inf)
    assert gained <= given_up * (1 + 1e-9)


def test_the_variances_are_the_means_of_the_posterior():
    rng = np.random.default_rng(3)
    right = (rng.random((50, 5)) < rng.beta(0.6, 0.4, size=(50, 1))).astype(float)
    found = answer_variances(right)
    within = right.var(axis=1, ddof=1).mean()
    weight = within / (right.mean(axis=1).var(ddof=1) - within / 5)
    mean = (right.sum() + 0.5) / (right.size + 1)
    for row, variance in zip(right, found, strict=True):
        posterior = beta(weight * mean + row.sum(), weight * (1 - mean) + 5 - row.sum())
        assert posterior.expect(lambda p: p * (1 - p)) == pytest.approx(variance, abs=1e-6)


def test_the_weight_of_the_prior_is_that_of_the_population():
    rng = np.random.default_rng(0)
    accuracy = rng.beta(0.9, 0.6, size=40_000)
    right = rng.random((accuracy.size, 4)) < accuracy[:, None]
    found = answer_variances(right.astype(float))
    for count in range(5):
        alike = right.sum(axis=1) == count
        true = (accuracy * (1 - accuracy))[alike].mean()
        assert found[alike][0] == pytest.approx(true, abs=0.006)


@pytest.mark.parametrize("right", [np.ones((3, 4)), np.zeros((3, 4)), np.eye(4)[:2].repeat(2, 1)])
def test_a_pilot_without_any_spread_still_gives_every_question_a_variance(right):
    assert answer_variances(right).min() > 0
    assert plan_repeats(right, 12).answers.sum() == 12


def test_the_errors_are_those_of_simulated_benchmarks():
    rng = np.random.default_rng(1)
    accuracy = rng.beta(0.5, 0.5, size=(20_000, 30))  # fresh questions each time
    pilot = rng.binomial(1, accuracy[0][:, None], size=(30, 6))
    n = plan_repeats(pilot, 240).answers
    mean = (rng.binomial(n, accuracy) / n).mean(axis=1)
    on_these = np.sqrt((accuracy * (1 - accuracy) / n).sum(axis=1).mean()) / 30
    between = accuracy.var() / 30
    assert (mean - accuracy.mean(axis=1)).std() == pytest.approx(on_these, rel=0.03)
    assert mean.std() == pytest.approx(np.hypot(on_these, np.sqrt(between)), rel=0.03)


def test_weighed_means_are_unbiased_where_pooled_answers_are_not():
    rng = np.random.default_rng(5)
    accuracy = np.repeat([0.02, 0.1, 0.3], 20)
    pooled, weighed, expected = [], [], []
    for _ in range(2_000):
        pilot = rng.binomial(1, accuracy[:, None], size=(60, 4))
        plan = plan_repeats(pilot, 600)
        new = rng.binomial(plan.answers, accuracy)
        pooled.append(((pilot.sum(axis=1) + new) / (4 + plan.answers)).mean())
        weighed.append((240 * pilot.mean() + 600 * (new / plan.answers).mean()) / 840)
        expected.append(plan.combined_error)
    noise = np.std(weighed) / np.sqrt(len(weighed))
    assert abs(np.mean(weighed) - accuracy.mean()) < 3 * noise
    assert np.mean(pooled) < accuracy.mean() - 10 * noise
    assert np.std(weighed) == pytest.approx(np.mean(expected), rel=0.1)


def test_the_question_error_is_unbiased():
    rng = np.random.default_rng(2)
    accuracy = rng.beta(2, 1, size=(400, 100))
    right = rng.random((400, 100, 5)) < accuracy[:, :, None]
    found = np.mean([plan_repeats(one, 100).question_error ** 2 for one in right])
    assert found == pytest.approx(beta(2, 1).var() / 100, rel=0.05)


def test_on_answers_held_out_the_plan_beats_equal_numbers():
    right = adalib.load("gsm8k").values
    pilot, later = right[:, :8], right[:, 8:]
    variances = later.var(axis=1, ddof=1)
    plan = plan_repeats(pilot, 3_000)
    planned = np.sqrt((variances / plan.answers).sum()) / len(variances)
    equal = np.sqrt((variances / 10).sum()) / len(variances)
    assert planned < equal
    assert planned == pytest.approx(plan.error, rel=0.1)


def test_the_command_plans_for_every_question(tmp_path, capsys, refused):
    path = tmp_path / "pilot.jsonl"
    adalib.load("word-fewshot").take(range(20)).save(path)
    assert main(["repeats", str(path), "--answers", "200", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    plan = plan_repeats(adalib.load(path).values, 200)
    assert list(found["plan"].values()) == plan.answers.tolist()
    assert found["new_error"] == pytest.approx(plan.new_error)
    assert found["error"] <= found["equal_error"]
    assert main(["repeats", str(path), "--answers", "200"]) == 0
    printed = capsys.readouterr().out
    assert f"{100 * plan.error:.2f} points" in printed
    assert sum(map(int, re.findall(r"each: (\d+) questions", printed))) == 20
    refused(["repeats", str(path), "--answers", "19"], "fewer than the 20 questions; give at least")
    refused(["repeats", "effort-aime-gpt-5.2", "--answers", "900"], "holds several models")


def test_a_pilot_of_single_answers_is_refused():
    with pytest.raises(DataError, match="a pilot needs two questions with two answers each"):
        plan_repeats([[1], [0]], 10)
    with pytest.raises(DataError, match="neither 0 nor 1"):
        plan_repeats([[1, 0.5], [0, 1]], 10)
