"""Families of plain races, which the recorded table of the chapter "The race" compares with."""

from dataclasses import replace

import numpy as np
import pytest
from record_race import FAMILIES, TunedRaces

from adalib.datasets.populations import beta_population


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
