"""Chapter 6: what counts as right in its exercises."""

from __future__ import annotations

import pytest

import adalib
from adalib.teach.exercises.chapter_06 import check


def says(name, answer) -> str:
    return repr(check(name, answer))


def test_the_constant_repeats_the_oracle_as_often_as_its_label_occurs():
    table = adalib.load("word-fewshot").table()
    labels = adalib.frontier(table.acc, table.cost).at(1.5).labels
    assert "right" in says("majority", (labels == 0).mean())
    assert "Hint" in says("majority", (labels > 0).mean())


def test_noise_is_learned_by_heart():
    assert "right" in says("memory", 1.0)
    assert "Hint" in says("memory", 0.69)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (("What is 12 plus 34?", "What is 12 over 34?"), "right"),
        (("What is 12 plus 34?", "What is 12 plus 34?"), "same words"),
        (("What is 12 plus 34?", "What is 12 times 34?"), "prompt_length_chars tells"),
        (("Why?", "How?"), "four words"),
        ("one text", "pair of texts"),
        ((1, 2), "pair of texts"),
    ],
)
def test_two_questions_that_the_features_cannot_tell_apart(answer, said):
    assert said in says("blind", answer)
