"""The rows that watch the answers come in, and what the verdict says of them."""

import numpy as np
import pytest

from adalib.datasets.populations import beta_population, flat_null
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.trials import STOPPING, planning_policies, stopping_policies
from adalib.evaluate.verdict import verdict


@pytest.fixture(scope="module")
def rows():
    answers = beta_population(90, 1.5, 1.0).sample(48)
    return held_out(
        answers,
        [2, 4],
        (1, 4, 16),
        learners=planning_policies() | stopping_policies(),
        noises=0,
        protocol=Protocol(folds=3),
    )


def test_a_row_a_policy_and_target(rows):
    found = {(row.policy, row.target): row for row in rows}
    for name in STOPPING:
        for target in (2, 4):
            assert found[name, target].cost == pytest.approx(target, rel=0.06)
            assert 0 < found[name, target].accuracy < 1
    # Votes say much about questions of which the text says nothing.
    assert found["priced_votes", 4].gain > found["curve", 4].gain + 0.01


def test_the_cost_that_a_mix_would_need(rows):
    for row in rows:
        if row.policy == "mix" and row.mix_cost is not None:
            assert row.mix_cost == pytest.approx(row.cost, abs=0.2)
        if row.policy in STOPPING and row.gain > 0.01 and row.mix_cost is not None:
            assert row.mix_cost > row.cost


def test_the_verdict_names_what_to_use_and_what_can_be_decided_before(rows):
    said = verdict(rows)
    assert said.startswith("Adaptive allocation pays here")
    assert " Use at target 2 " in said
    assert "Decided before asking, no gain is clear of chance" in said
    planned = verdict([row for row in rows if row.policy not in STOPPING])
    assert "Decided before asking" not in planned
    stopped = verdict([row for row in rows if row.policy not in ("label", "curve")])
    assert "Decided before asking" not in stopped


def test_where_votes_say_nothing_nothing_pays():
    answers = flat_null(60).sample(32)
    found = held_out(answers, [3], (1, 4, 16), learners=stopping_policies(), noises=0, protocol=Protocol(folds=3))
    assert "allocation pays" not in verdict(found)
    assert np.abs([row.gain for row in found if row.policy in STOPPING]).max() < 0.03
