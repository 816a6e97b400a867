"""Families of plain races, which the recorded table of the chapter "The race" compares with."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT

from adalib.datasets.populations import beta_population
from adalib.sequential.course import Courses
from adalib.sequential.streams import make_streams

sys.path.insert(0, str(ROOT / "data"))
from record_race import FAMILIES, InRounds, TunedRaces


def test_rounds_wait_for_the_longest_of_each():
    answers = beta_population(20, 1, 1, seed=2).sample(6)
    answers = replace(
        answers, tokens=np.random.default_rng(2).integers(1, 9, (20, 6)).astype(float)
    )
    courses = Courses(make_streams(answers, 6, repeats=1, cost="tokens"))
    lengths = courses.streams.read("tokens")
    played = InRounds(2, 1.1, 3).play(courses)  # never sure enough: three rounds
    assert np.array_equal(played.clock, lengths.reshape(20, 3, 2).max(axis=2).sum(axis=1))
    assert np.array_equal(played.tokens, lengths.sum(axis=1))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_tuned_to_its_budget(name):
    answers = beta_population(60, 2, 1, seed=1).sample(16)
    tokens = np.random.default_rng(1).exponential(100, (60, 16))
    teach, score = replace(answers, tokens=tokens).split_samples(0)
    races = TunedRaces(FAMILIES[name](8), repeats=4).fit(teach)
    low, high, share = races.mix(2 * races.unit)
    cost = (1 - share) * races.costs[low] + share * races.costs[high]
    assert cost <= 2 * races.unit * (1 + 1e-9)
    played = races.replay(score, [2 * races.unit])
    assert played.cost.mean() == pytest.approx(cost, rel=0.3)
