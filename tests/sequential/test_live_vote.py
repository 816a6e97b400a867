"""Which replies of a model are answers to vote with."""

import pytest

from adalib import extract_answer
from adalib.ask.reply import Answer
from adalib.sequential.live_vote import short_answer


@pytest.mark.parametrize(
    ("text", "found", "ballot"),
    [
        ("Answer: 7", "7", "7"),
        ("It is 7.", "7", "7"),
        ("Paris", "", "Paris"),
        ("word " * 100 + "Answer: 7", "7", "7"),
        ("In 1990 there were 3 reasons. " * 20, "3", ""),
        ("I would rather tell you a story about it, if you like.", "", ""),
    ],
)
def test_which_replies_are_short_answers(text, found, ballot):
    assert short_answer(Answer(text, found, "stop")) == ballot
    assert short_answer(Answer(text, found, "length")) == ""  # a text that was cut


@pytest.mark.parametrize("text", ["Answer:", "The answer is", "####", r"\boxed{}", "**Answer:** "])
def test_a_mark_with_nothing_after_it_is_no_answer(text):
    assert short_answer(Answer(text, extract_answer(text), "stop")) == ""
