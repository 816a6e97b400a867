"""The cells of chapter 10's table: bars with weighted votes, and leads at equal cost."""

from dataclasses import replace

import numpy as np
import pytest

from adalib import cross_fitted_oracle, load
from adalib.evaluate.stopping_table import LADDER, stopping_cells, weighted_bars


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
