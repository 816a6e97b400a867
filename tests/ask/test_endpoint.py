"""What is read out of a reply: its answer, its tokens, and how sure the model was of them."""

import math
from types import SimpleNamespace

import pytest
from openai.types.chat import ChatCompletion

from adalib.ask.endpoint import read_completion


def completion(**fields):
    """A chat completion as the client hands it over."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": "Answer: 7"}} | fields
    return ChatCompletion.construct(choices=[choice], usage={"completion_tokens": 9})


def test_a_completion_gives_text_answer_tokens_and_the_means_of_its_tokens():
    half = [{"logprob": math.log(0.5)}, {"logprob": math.log(0.5)}]
    tokens = [
        {"logprob": math.log(0.5), "top_logprobs": half},
        {"logprob": 0.0, "top_logprobs": [{"logprob": 0.0}]},
    ]
    answer = read_completion(completion(logprobs={"content": tokens}))
    assert (answer.text, answer.answer, answer.tokens) == ("Answer: 7", "7", 9)
    assert answer.logprob == pytest.approx(math.log(0.5) / 2, abs=1e-6)
    assert answer.entropy == pytest.approx(math.log(2) / 2, abs=1e-6)  # ln 2 and 0


def test_what_the_endpoint_does_not_report_is_none():
    bare = read_completion(completion(message={"content": None}))
    assert (bare.text, bare.answer, bare.logprob, bare.entropy) == ("", "", None, None)
    without_candidates = {"content": [{"logprob": -1.0, "top_logprobs": []}]}
    sure = read_completion(completion(logprobs=without_candidates))
    assert (sure.logprob, sure.entropy) == (-1.0, None)


def test_the_last_number_of_a_text_that_was_cut_is_no_answer():
    cut = completion(message={"content": "So 3 and 4"}, finish_reason="length")
    assert read_completion(cut).answer == ""
    whole = completion(message={"content": "So 3 and 4"})
    assert read_completion(whole).answer == "4"


@pytest.mark.parametrize(
    "reply", ["<html>", SimpleNamespace(choices=[]), SimpleNamespace(choices=None)]
)
def test_a_reply_without_a_choice_is_refused(reply):
    with pytest.raises(ValueError, match="no chat completion"):
        read_completion(reply)
