"""The table of findings: its record, the README that prints it, and the words that round it."""

from __future__ import annotations

import pytest
from record_findings import votes

from adabook.findings import BUDGET, gains
from adabook.paper import models
from adabook.recorded import recorded
from adabook.scoreboard import SET, figures


@pytest.fixture(scope="module")
def found():
    return gains().set_index(["set", "end", "policy"])


@pytest.mark.parametrize("name", ["gsm8k-1.5b", "gsm8k-gpt4omini"])
def test_what_votes_gain_comes_out_again(name):
    (recorded_row,) = recorded("findings")[f"{name}, votes"]
    assert {"part": f"{name}, votes"} | votes(name)[0] == recorded_row


def test_every_set_has_votes_an_oracle_and_no_gain_from_noise(found):
    for name, end in {(name, end) for name, end, _ in found.index}:
        assert found.low[name, end, "votes"] > 0
        assert found.low[name, end, "oracle"] > 0
        if (name, end, "noise") in found.index:
            assert found.low[name, end, "noise"] <= 0
            assert found.low[name, end, "curve, noise"] <= 0


def test_the_words_about_the_findings_follow_the_record(found):
    """The recipe gains nothing that can be told from zero; curves gain with GPT-4o-mini and on
    MATH; watching gains several times as much, and with GPT-4o-mini as much as the oracle."""
    text = ["label", "ranked", "curve", "words"]
    for name in ("gsm8k-1.5b", "math-1.5b", "gsm8k-gpt4omini"):
        assert found.low[name, "", "label"] < 0 < found.high[name, "", "label"]
        watching = found.gain[name, "", "watching votes"]
        assert watching > 3 * max(found.gain[name, "", policy] for policy in text)
    for name in ("math-1.5b", "gsm8k-gpt4omini"):
        assert found.low[name, "", "curve"] > 0
    strong = found.gain["gsm8k-gpt4omini", ""]
    assert strong["watching votes"] == pytest.approx(strong["oracle"], abs=0.005)


def test_the_scoreboard_has_what_the_record_of_models_has():
    same = {"three": "three", "oracle": "oracle", "recipe": "label", "noise": "noise"}
    same |= {"curves": "curve", "watching": "votes"}
    kept = models.frame().query("paid == 'answers' and taught == 1000")
    kept = kept[(kept.set == SET) & (kept.target == BUDGET)]
    columns = ["cost", "accuracy", "gain", "low", "high"]
    there = kept.set_index("policy").loc[list(same.values()), columns].to_numpy()
    assert figures().loc[list(same), columns].to_numpy() == pytest.approx(there, abs=1e-9)
