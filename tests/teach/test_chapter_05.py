"""The exercises of chapter 5: what counts as right, against values found another way."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

import adalib
import adalib.paper
from adalib.teach.exercises.chapter_05 import check


def says(name, answer) -> str:
    return repr(check(name, answer))


def test_the_gain_of_a_second_answer_is_what_the_votes_give():
    acc = adalib.load("word-hot").table(budgets=(1, 2)).acc.mean(axis=0)
    assert "right" in says("second", acc[1] - acc[0])


def test_the_best_of_three_single_trials_by_enumeration():
    assert "right" in says("single", np.mean([max(f"{k:03b}") == "1" for k in range(8)]))


def test_the_number_of_trials_is_near_its_approximation():
    near = 1 / (4 * pi * 0.01**2)
    found = [n for n in range(int(near) - 3, int(near) + 4) if "right" in says("trials", n)]
    assert len(found) == 1
    assert 1 / (2 * sqrt(pi * found[0])) == pytest.approx(0.01, rel=1e-3)


def test_the_optimism_of_sixteen_samples_by_a_plain_loop():
    population = adalib.paper.paper_population("deepseek-v3-math")
    truth, gaps = population.acc(), []
    for seed in range(20):
        table = population.sample(16, seed).table()
        labels = adalib.frontier(table.acc, table.cost).at(3).labels
        gaps.append((table.acc - truth)[np.arange(table.n), labels].mean())
    assert "right" in says("sixteen", np.mean(gaps))


def test_three_equally_likely_answers_are_a_null():
    thirds = adalib.Population(np.full((60, 3), 1 / 3), np.zeros(60, dtype=int))
    assert thirds.acc() == pytest.approx(1 / 3)
    assert "right" in says("null", thirds)


@pytest.mark.parametrize(
    ("population", "hint"),
    [
        (0.5, "at least 50 questions"),
        (adalib.flat_null(10), "at least 50 questions"),
        (adalib.beta_population(60, 0.5, 0.5), "gains or loses"),
        (adalib.flat_null(60), "fair coin"),
        (adalib.two_answer(np.arange(60) % 2), "no answer is uncertain"),
    ],
)
def test_what_is_no_null_of_one_s_own(population, hint):
    assert hint in says("null", population)


def test_an_unanswered_exercise_says_so():
    for name in ("second", "single", "trials", "sixteen", "null"):
        assert "not answered yet" in says(name, None)
