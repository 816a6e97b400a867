"""The table of findings: its record, the README that prints it, and the words that round it."""

from __future__ import annotations

import pytest
from record_findings import votes

import adalib
from adabook.findings import BUDGET, gains
from adabook.paper import models
from adabook.paper.settings import benchmark
from adabook.recorded import recorded
from adabook.scoreboard import SET, figures


@pytest.fixture(scope="module")
def found():
    return gains().set_index(["set", "end", "policy"])


@pytest.mark.parametrize("name", ["gsm8k-1.5b", "gsm8k-gpt4omini"])
def test_what_votes_gain_comes_out_again(name):
    (recorded_row,) = recorded("findings")[f"{name}, votes"]
    assert {"part": f"{name}, votes"} | votes(name)[0] == recorded_row


@pytest.mark.parametrize(
    ("name", "points"), [("gsm8k-1.5b", 0), ("math-1.5b", 0), ("gsm8k-gpt4omini", 0.35)]
)
def test_what_a_mix_gains_by_any_number_of_answers(name, points):
    """The README says so, since a rule that watches may stop anywhere."""
    answers = adalib.load(name) if points else benchmark(name.partition("-")[0])
    five, any_number = (
        adalib.best_mix(table.acc, table.cost, BUDGET).expected(table.acc).mean()
        for table in (answers.table(), answers.table(range(1, 21)))
    )
    assert 100 * (any_number - five) == pytest.approx(points, abs=0.01)


def test_every_set_has_votes_an_oracle_and_no_gain_from_noise(found):
    for name, end in {(name, end) for name, end, _ in found.index}:
        assert found.low[name, end, "votes"] > 0
        assert found.low[name, end, "oracle"] > 0
        if (name, end, "noise") in found.index:
            assert found.low[name, end, "noise"] <= 0
            assert found.low[name, end, "curve, noise"] <= 0


def test_the_words_about_the_findings_follow_the_record(found):
    """The text is worth an eighth of the oracle's gain at most for the small model, for GPT-4o-mini
    a fifth (labels) to a third (curves); watching is worth more, and there passes the oracle."""
    gain = found.gain
    text = ["label", "ranked", "curve", "words"]
    strong = ("gsm8k-gpt4omini", "")
    assert 0.17 < gain[(*strong, "ranked")] / gain[(*strong, "oracle")] < 0.25
    assert 0.25 < gain[(*strong, "curve")] / gain[(*strong, "oracle")] < 0.33
    for name in ("gsm8k-1.5b", "math-1.5b"):
        assert found.low[name, "", "label"] < 0
        assert gain[name, "", "ranked"] < gain[name, "", "oracle"] / 10
        assert max(gain[name, "", policy] for policy in text) < gain[name, "", "oracle"] / 8
    for name in ("gsm8k-1.5b", "math-1.5b", "gsm8k-gpt4omini"):
        assert gain[name, "", "watching votes"] > max(gain[name, "", policy] for policy in text)
    assert gain[(*strong, "watching all signals")] > gain[(*strong, "oracle")]


def test_the_scoreboard_has_what_the_record_of_models_has():
    same = {"mix": "mix", "oracle": "oracle", "recipe": "label", "noise": "noise"}
    same |= {"curves": "curve", "watching": "votes"}
    kept = models.frame().query("paid == 'answers' and taught == 1000")
    kept = kept[(kept.set == SET) & (kept.target == BUDGET)]
    columns = ["cost", "accuracy", "gain", "low", "high"]
    there = kept.set_index("policy").loc[list(same.values()), columns].to_numpy()
    assert figures().loc[list(same), columns].to_numpy() == pytest.approx(there, abs=1e-9)
