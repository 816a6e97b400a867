"""From the bundled answers to a real model behind the server, asked by a plain client; and the run
that ships."""

import json
import sys

import pytest
from conftest import ROOT

import adalib
from adalib.datasets.loading import data_folder
from adalib.vote.extract import extract_answer

sys.path.insert(0, str(ROOT / "data"))
import ask_live

LIVE = data_folder() / "live" / "word-live.jsonl"
COUNT, BUDGET = 40, 3.0


def is_sound(line):
    """What any line of such a run must be, whatever the model said."""
    routed = line["routed"]
    votes = routed["votes"]
    assert routed["cost"] == routed["samples"] >= 1
    assert sum(votes.values()) <= routed["samples"]
    assert 1 <= routed["rounds"] <= routed["samples"]
    assert 0 < routed["price"] < 1
    if votes:
        assert votes[routed["answer"]] == max(votes.values())
        assert routed["agreement"] == pytest.approx(max(votes.values()) / routed["samples"])
        assert adalib.same_answer(extract_answer(routed["text"]), routed["answer"])
    assert len(line["answers"]) == len(line["tokens"])


def test_a_real_model_behind_the_server_answers_fresh_questions():
    asked = ask_live.fresh_questions(2)
    lines = list(ask_live.live(asked, 2.0, fixed=1))
    assert [line["id"] for line in lines] == [question["id"] for question in asked]
    for line in lines:
        is_sound(line)
        assert len(line["answers"]) == 1
    assert any(line["routed"]["votes"] for line in lines)  # SmolLM2 does write "Answer: "


def test_the_run_that_ships_is_one_of_these_with_fresh_questions():
    lines = [json.loads(line) for line in LIVE.read_text(encoding="utf-8").splitlines()]
    asked = ask_live.fresh_questions(COUNT)
    bundled = set(adalib.load("word-fewshot").questions)
    assert len({question["question"] for question in asked} - bundled) == COUNT
    assert len({question["family"] for question in asked}) >= 25
    assert [{name: line[name] for name in asked[0]} for line in lines] == asked
    for line in lines:
        is_sound(line)
    # The law of the controller: off by as much as the price moved, and forty questions move it by
    # some factor.
    average = sum(line["routed"]["cost"] for line in lines) / COUNT
    assert average == pytest.approx(BUDGET, rel=0.25)
    fixed = adalib.load(LIVE)
    assert fixed.table((1, 2, 4)).acc.shape == (COUNT, 3)
