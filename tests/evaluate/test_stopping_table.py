"""The cells of chapter 10's table: bars with weighted votes, and leads at equal cost."""

from dataclasses import replace

import numpy as np
import pytest

from adalib import cross_fitted_oracle, load
from adalib.datasets.populations import beta_population
from adalib.evaluate.heldout import held_out
from adalib.evaluate.recorded import (
    AS_PUBLISHED,
    LADDER,
    control_cells,
    entropy_cells,
    recorded_cells,
    stopping_cells,
    weighted_bars,
)
from adalib.sequential.peers import PEERS, PUBLISHED, Published, TunedRules
from adalib.sequential.priced import PricedStopping


@pytest.fixture(scope="module")
def answers():
    return load("word-hot").take(range(0, 372, 10))


def test_weights_that_say_nothing_leave_the_oracle_as_it_was(answers):
    same = replace(answers, logprob=np.full(answers.logprob.shape, -0.5))
    found = {(row.policy, row.target): row for row in weighted_bars(same, [2, 4])}
    plain = cross_fitted_oracle(answers, [2, 4], splits=1)
    for j, target in enumerate((2, 4)):
        assert found["oracle_weighted", target].accuracy == pytest.approx(plain.accuracy[:, j].mean(), abs=0.02)
        assert found["oracle_weighted", target].cost <= target + 1e-9
        assert found["mix_weighted", target].accuracy <= found["oracle_weighted", target].accuracy


def test_certainty_lifts_both_bars(answers):
    found = {row.policy: row for row in weighted_bars(answers, [4])}
    assert found["mix_weighted"].gain > 0.02
    assert found["oracle_weighted"].accuracy > found["mix_weighted"].accuracy


def test_a_cell_a_policy_and_target_with_its_leads(answers):
    cells = {(cell["policy"], cell["target"]): cell for cell in stopping_cells(answers, [2], peers=False)}
    assert {*LADDER, "curve", "oracle", "oracle_weighted", "mix"} <= {policy for policy, _ in cells}
    best = cells["all three", 2]
    for other, (mean, low, high) in best["over"].items():
        assert mean == pytest.approx(best["gain"] - cells[other, 2]["gain"], abs=1e-4)
        assert low <= mean <= high
    assert not cells["mix", 2]["over"]


def test_without_log_probabilities_votes_and_text_remain(answers):
    cells = stopping_cells(replace(answers, logprob=None), [2], peers=False)
    assert {"votes", "votes + text"} <= {cell["policy"] for cell in cells}
    assert not {"all three", "oracle_weighted"} & {cell["policy"] for cell in cells}


def test_a_peer_as_published_spends_what_it_spends():
    simulated = beta_population(24, 1.5, 1.5).sample(32)
    cells = {(cell["policy"], cell["target"]): cell for cell in stopping_cells(simulated, [2])}
    for name, rule in PUBLISHED.items():
        cost = Published(rule).replay(simulated)[0].mean()
        peer = f"{name} {AS_PUBLISHED}"
        (own,) = [target for policy, target in cells if policy == peer]
        assert own == pytest.approx(cost, abs=0.01)
        assert cells[peer, own]["cost"] <= 16  # the other half has no more
        assert cells["votes", own]["over"][peer][0] == pytest.approx(
            cells["votes", own]["gain"] - cells[peer, own]["gain"], abs=1e-4
        )
        assert (name, 2) in cells


def test_controls_are_scored_over_votes_alone(answers):
    cells = control_cells(answers.take(range(20)), [3])
    assert {cell["policy"] for cell in cells} == {"votes + noise", "votes + shuffled certainty"}
    for cell in cells:
        mean, low, high = cell["over"]["votes"]
        assert low <= mean <= high
        assert low < 0.02


def test_entropy_is_scored_over_what_it_joins(answers):
    over = {cell["policy"]: cell["over"] for cell in entropy_cells(answers.take(range(16)), [3])}
    recorded = recorded_cells()["word-hot, entropy"]
    for name, bars in over.items():
        assert set(bars) == set(recorded[name, 3]["over"])
        assert all(low <= mean <= high for mean, low, high in bars.values())
    assert set(over) == {policy for policy, _ in recorded}


def test_what_is_recorded_is_what_is_computed():
    """Every part and policy is there, and a cheap part of it comes out again."""
    recorded = recorded_cells()
    word = load("word-fewshot")
    for name in ("word-fewshot", "word-hot", "word-zeroshot", "drill-fewshot"):
        policies = {policy for policy, _ in recorded[f"{name} by question"]}
        assert {*LADDER, *PEERS, "curve", "mix", "oracle", "oracle_weighted"} <= policies
        assert {target for _, target in recorded[f"{name} by question"]} >= {1.5, 2, 3, 4, 6, 8}
    for row in weighted_bars(word, [1.5, 4]):
        kept = recorded["word-fewshot by question"][row.policy, row.target]
        assert kept["accuracy"] == pytest.approx(row.accuracy, abs=1e-4)
        assert kept["gain_low"] == pytest.approx(row.gain_low, abs=1e-4)
    learners = {"votes": PricedStopping(("votes",)), "margin": TunedRules(PEERS["margin"])}
    for row in held_out(word, [3], learners=learners, features=np.zeros((word.n, 1)), noises=0):
        if row.policy in learners:
            kept = recorded["word-fewshot by question"][row.policy, 3]
            assert [kept["cost"], kept["accuracy"]] == pytest.approx([row.cost, row.accuracy], abs=1e-3)
