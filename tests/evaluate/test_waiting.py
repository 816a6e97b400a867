"""Waiting for answers that run side by side, against all subsets."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from adalib.datasets.populations import beta_population
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.waiting import expected_waiting
from adalib.sequential.policy import PricedStopping


@pytest.fixture(scope="module")
def answers():
    sampled = beta_population(30, 1, 1).sample(8)
    return replace(sampled, tokens=np.random.default_rng(0).integers(1, 90, (30, 8)).astype(float))


def test_the_longest_of_all_subsets(answers):
    found = expected_waiting(answers, (1, 2, 3, 5, 8), unit=10.0)
    for column, budget in enumerate((1, 2, 3, 5, 8)):
        for row in range(answers.n):
            longest = [max(some) for some in combinations(answers.tokens[row], budget)]
            assert found[row, column] == pytest.approx(np.mean(longest) / 10)


def test_without_tokens_all_take_the_same_time(answers):
    assert (expected_waiting(replace(answers, tokens=None), (1, 4), 1.0) == 1).all()


def test_rows_have_the_waiting_of_their_policy(answers):
    learners = {"stopping": PricedStopping(("votes",), schedule=range(1, 5), repeats=2)}
    protocol = Protocol(folds=2)
    rows = held_out(answers, [2.0], (1, 2, 4), learners=learners, noises=0, protocol=protocol)
    waiting = {row.policy: row.waiting for row in rows}
    halves = answers.split_samples(0)
    two = [expected_waiting(half, [2], float(half.tokens.mean())).mean() for half in halves]
    assert waiting["fixed"] == pytest.approx(np.mean(two))
    (stopping,) = (row for row in rows if row.policy == "stopping")
    assert stopping.waiting == pytest.approx(stopping.cost)
