"""All policies on one file: which there are, at which targets, in which unit."""

from dataclasses import replace

import numpy as np
import pytest

from adalib.datasets.populations import beta_population
from adalib.evaluate.compare import compare, stopping_policies
from adalib.evaluate.learners import BASELINES

PLANNED = (*BASELINES, "label", "curve")


@pytest.fixture(scope="module")
def answers():
    sampled = beta_population(30, 2, 1).sample(16)
    tokens = np.random.default_rng(1).integers(20, 200, (30, 16))
    return replace(sampled, tokens=tokens, extras={"family": [f"f{i // 10}" for i in range(30)]})


def test_every_policy_has_a_row_in_average_answers(answers):
    rows = compare(answers, [2], (1, 4, 8), cost="tokens", groups="family")
    assert [row.policy for row in rows] == [*PLANNED, *stopping_policies(), "race", "noise"]
    for row in rows:
        assert row.target == pytest.approx(2)
        assert 0 <= row.low <= row.accuracy <= row.high <= 1
        assert row.gain == pytest.approx(row.accuracy - row.mix_accuracy)
        assert row.families
    by_name = {row.policy: row for row in rows}
    assert by_name["mix"].cost == pytest.approx(2, rel=0.1)
    # One by one, one waits for every answer; a race starts several.
    assert by_name["race"].waiting < by_name["priced_votes"].waiting
    kinds = dict.fromkeys((*BASELINES, "noise"), "baseline") | dict.fromkeys(PLANNED[-2:], "plans")
    assert {row.policy: row.kind for row in rows} == dict.fromkeys(by_name, "watches") | kinds


def test_budgets_that_no_half_can_hold_are_dropped(answers):
    few = answers.take(range(12))
    nine = replace(few, answers=[row[:9] for row in few.answers], tokens=None)
    with pytest.warns(UserWarning, match="9, 12, 16") as notes:
        rows = compare(nine, [6])
    assert any("target 6" in str(note.message) for note in notes)
    assert max(row.cost for row in rows) <= 4
    with pytest.raises(ValueError, match="a half of 4"):
        compare(nine, [2], (1, 8))


def test_answers_race_where_tokens_are_paid(answers, monkeypatch):
    tried = []
    monkeypatch.setattr(
        "adalib.evaluate.compare.held_out", lambda *_, learners, **__: tried.append(learners) or []
    )
    compare(answers, [2], (1, 4), cost="samples")
    compare(answers, [2], (1, 4), cost="tokens")
    by_answer, by_token = map(set, tried)
    assert by_token - by_answer == {"race"}


@pytest.mark.parametrize(
    ("budgets", "targets"), [((1, 2, 4, 8), [2, 3, 4]), ((1, 3), [2]), ((1, 2), [1.5])]
)
def test_usual_targets_lie_below_the_largest_budget(answers, monkeypatch, budgets, targets):
    asked = []
    monkeypatch.setattr(
        "adalib.evaluate.compare.held_out", lambda *given, **_: asked.append(given[1]) or []
    )
    compare(answers, budgets=budgets)
    assert asked == [targets]


def test_what_the_file_lacks_is_named(answers):
    with pytest.raises(ValueError, match="nosuch.*family"):
        compare(answers, [2], (1, 4), groups="nosuch")
    with pytest.raises(ValueError, match="tokens"):
        compare(replace(answers, tokens=None), [2], (1, 4), cost="tokens")
