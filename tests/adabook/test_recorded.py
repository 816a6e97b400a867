"""Recorded tables: their cells, and a cheap part of what is recorded computed again."""

from dataclasses import replace

import numpy as np
import pytest
import recording
from record_headline import weighted_mix
from record_menus import voting_cells
from record_policies import bill, published

import adalib
from adabook import recorded as tables
from adabook.paper.settings import benchmark
from adabook.recorded import recorded_cells
from adalib.evaluate.heldout import held_out
from adalib.sequential.priced_stopping import PricedStopping


def by_name(cells):
    return {(cell["policy"], cell["target"]): cell for cell in cells}


def test_a_record_is_gone_on_with_or_begun_anew(tmp_path, monkeypatch):
    for module in (tables, recording):
        monkeypatch.setattr(module, "data_folder", lambda: tmp_path)
    (tmp_path / "recorded").mkdir()
    recording.record("squares", [("small", lambda: [{"n": 1}, {"n": 4}])])
    with pytest.raises(KeyError):
        recording.record("squares", [("large", lambda: [{"n": 81}]), ("broken", lambda: {}["no"])])
    kept = tables.recorded("squares")  # what was done before it broke
    assert {part: [row["n"] for row in rows] for part, rows in kept.items()} == {
        "small": [1, 4],
        "large": [81],
    }
    recording.record(
        "squares", [("small", lambda: pytest.fail("it is there already")), ("large", lambda: [])]
    )
    assert tables.recorded("squares") == kept
    recording.record("squares", [("small", lambda: [{"n": 9}])], anew=True)
    assert tables.recorded("squares") == {"small": [{"part": "small", "n": 9}]}


@pytest.fixture(scope="module")
def answers():
    return adalib.load("word-hot").take(range(0, 372, 15))


def test_equal_weights_leave_the_mix_as_it_was(answers):
    same = replace(answers, logprob=np.full(answers.logprob.shape, -0.5))
    for row in weighted_mix(same, [2, 4]):
        assert row.cost == pytest.approx(row.target)
        assert row.gain == pytest.approx(0, abs=0.01)


def test_equally_long_answers_cost_alike_by_token():
    answers = adalib.load("aime-gpt-oss-20b").take(range(0, 60, 3))
    alike = replace(answers, tokens=np.full(answers.tokens.shape, 7.0))
    by_answer, by_token = (
        by_name(voting_cells(alike, [2, 3], cost)) for cost in ("samples", "tokens")
    )
    shown = {"oracle", "oracle_in_sample", "mix", "votes", "votes + length"}
    assert {policy for policy, _ in by_token} == shown
    assert by_token.keys() == by_answer.keys()
    for key, cell in by_token.items():
        for figure in ("cost", "accuracy"):
            # The mix may be an allowance, whose accuracy is played back.
            near = 5e-3 if key[0] == "mix" else 2e-4
            assert cell[figure] == pytest.approx(by_answer[key][figure], abs=near)
        # Allowances are played back, and numbers counted exactly: the bar is a little noisier.
        assert cell["gain"] == pytest.approx(by_answer[key]["gain"], abs=5e-3)


AGAIN = "a record does not come out again; if that is meant, run the record_*.py that writes it"


def check_again(record, part, policy, target, now):
    """What is recorded of a policy is what is computed today, a cell or a row."""
    then = recorded_cells(record)[part][policy, target]
    now = now if isinstance(now, dict) else tables.figures(now)
    for figure in ("cost", "accuracy"):
        assert then[figure] == pytest.approx(now[figure], abs=1e-3), AGAIN


@pytest.mark.parametrize(
    ("record", "part", "policy", "target", "learner"),
    [
        ("stopping", "gsm8k-qwen15 by question", "all three", 3, PricedStopping(exact=True)),
    ],
)
def test_what_is_recorded_of_a_learner_is_what_is_computed(record, part, policy, target, learner):
    answers = adalib.load(part.replace(",", "").split()[0])
    rows = held_out(answers, [target], learners={policy: learner}, noises=0)
    check_again(record, part, policy, target, next(row for row in rows if row.policy == policy))


def test_what_is_recorded_of_the_weighted_mix_is_what_is_computed():
    answers = benchmark("gsm8k")
    menu = [stop for stop in recording.STOPS if 2 * stop <= answers.samples]
    (row,) = weighted_mix(answers, [3], menu)
    check_again("headline", "gsm8k-all", row.policy, 3, row)


def test_what_is_recorded_of_models_is_what_is_computed():
    for cell in voting_cells(adalib.load("aime-qwen3-14b"), [2]):
        check_again("menus", "aime-qwen3-14b, answers", cell["policy"], 2, cell)


def test_what_is_recorded_of_the_scoreboard_is_what_is_computed():
    part = "gsm8k-gpt4omini, answers, bill, deal 1"
    for row in bill("gsm8k-gpt4omini", 1):
        then = recorded_cells("policies")[part][row["policy"], 3]
        assert row["tokens"] == pytest.approx(then["tokens"], rel=1e-3), AGAIN
        if row["policy"] != "oracle":
            check_again("policies", part, row["policy"], 3, row)


@pytest.mark.nightly
def test_what_is_recorded_of_published_rules_is_what_is_computed():
    part = "math500-gpt-oss-20b, answers, by_votes, deal 0"
    for row in published("math500-gpt-oss-20b", 0, "samples", "by_votes"):
        check_again("policies", part, row["policy"], row["target"], row)


def test_the_efforts_of_a_menu_are_compared_on_equal_terms():
    record = recorded_cells("effort")
    # The oracle, which may buy one, two or four answers of an effort as the mix may.
    part = "effort-gpqa-gpt-5.2: low, xhigh"
    full = adalib.load("effort-gpqa-gpt-5.2")
    two = {name: full.models[f"gpt-5.2 {name}"] for name in ("low", "xhigh")}
    menu = adalib.Menu(two, per_question=True)
    target = min(target for _, target in record[part])
    again = adalib.cross_fitted_oracle(menu, [target], (1, 2, 4), splits=20)
    assert again.accuracy.mean() == pytest.approx(
        record[part]["oracle", target]["accuracy"], abs=1e-3
    )
