"""What is read out of a reply: its answer, its tokens, and how sure the model was of them."""

import json
import math

import pytest
from conftest import run_to_end
from hypothesis import given, settings
from hypothesis import strategies as st

from adalib.ask.reply import Streamed, events, parsed, read_reply


def completion(**fields):
    """A chat completion."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": "Answer: 7"}} | fields
    return {"choices": [choice], "usage": {"completion_tokens": 9}}


def test_a_completion_gives_text_answer_tokens_and_the_means_of_its_tokens():
    half = [{"logprob": math.log(0.5)}, {"logprob": math.log(0.5)}]
    tokens = [
        {"logprob": math.log(0.5), "top_logprobs": half},
        {"logprob": 0.0, "top_logprobs": [{"logprob": 0.0}]},
    ]
    answer = read_reply(completion(logprobs={"content": tokens}))
    assert (answer.text, answer.answer, answer.tokens) == ("Answer: 7", "7", 9)
    assert answer.logprob == pytest.approx(math.log(0.5) / 2, abs=1e-6)
    assert answer.entropy == pytest.approx(math.log(2) / 2, abs=1e-6)  # ln 2 and 0


def test_what_the_endpoint_does_not_report_is_none():
    bare = read_reply(completion(message={"content": None}))
    assert (bare.text, bare.answer, bare.logprob, bare.entropy) == ("", "", None, None)
    without_candidates = {"content": [{"logprob": -1.0, "top_logprobs": []}]}
    sure = read_reply(completion(logprobs=without_candidates))
    assert (sure.logprob, sure.entropy) == (-1.0, None)


def test_tokens_of_thoughts_count_wherever_they_are_reported():
    used = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 75}
    beside = completion() | {
        "usage": used | {"completion_tokens_details": {"reasoning_tokens": 50}}
    }
    within = completion() | {"usage": used | {"completion_tokens": 55}}
    assert read_reply(beside).tokens == read_reply(within).tokens == 55


def test_the_last_number_of_a_text_that_was_cut_is_no_answer():
    cut = completion(message={"content": "So 3 and 4"}, finish_reason="length")
    assert read_reply(cut).answer == ""
    whole = completion(message={"content": "So 3 and 4"})
    assert read_reply(whole).answer == "4"


ODD = [
    "<html>",
    None,
    [],
    {},
    {"choices": []},
    {"choices": None},
    {"choices": "no"},
    {"choices": [{"message": "no object"}]},
    completion(message={"content": ["a", "list"]}),
    completion(logprobs="none"),
    completion(logprobs={"content": [{"logprob": "low"}]}),
    {"choices": [{"message": {"content": "7"}}], "usage": [9]},
]


@pytest.mark.parametrize("reply", ODD, ids=str)
def test_a_reply_without_a_choice_is_refused(reply):
    with pytest.raises(ValueError, match="no chat completion"):
        read_reply(reply)


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a": NaN}', b"[" * 100_000, b"\xff"])
def test_what_is_no_json_is_refused(body):
    with pytest.raises(ValueError, match="no chat completion"):
        parsed(body)


PLAIN = st.text(max_size=5)
WHOLE = st.fixed_dictionaries(
    {"content": st.text(min_size=1, max_size=40)},
    optional={"reasoning_content": PLAIN, "annotations": st.lists(PLAIN, max_size=4)},
)


@settings(max_examples=30)
@given(WHOLE, st.integers(1, 6), st.booleans())
def test_a_stream_is_put_together_to_the_reply_that_it_is_of(message, pieces, reports):
    """Cut every text and list of a message into pieces, and join them again."""
    streamed = Streamed()

    def piece(value, k):
        at = [len(value) * place // pieces for place in (k, k + 1)]
        return value[at[0] : at[1]]

    head = {"id": "x", "model": "m-2026-01-01", "system_fingerprint": "fp", "created": 1}
    for k in range(pieces):
        delta = {name: piece(value, k) for name, value in message.items()} | {"role": "assistant"}
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        choice["logprobs"] = {"content": [{"logprob": -float(k)}]}
        streamed.add(json.loads(json.dumps(head | {"choices": [choice]})))
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    streamed.add(head | {"choices": [end]})
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    if reports:
        streamed.add(head | {"choices": [], "usage": usage})
    reply = streamed.reply()
    assert {name: reply[name] for name in head} == head
    assert reply["choices"][0]["message"] == {"role": "assistant", **message}
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert [one["logprob"] for one in reply["choices"][0]["logprobs"]["content"]] == [
        -float(k) for k in range(pieces)
    ]
    if reports:
        assert reply["usage"] == usage
    else:
        assert reply["usage"]["completion_tokens"] == streamed.events


@pytest.mark.parametrize("piece", [[], 7, None, {}, {"choices": [7]}, {"error": {"message": "x"}}])
def test_an_event_of_something_else_is_refused(piece):
    with pytest.raises(ValueError, match="stream"):
        Streamed().add(piece)


def test_an_event_stream_ends_when_it_says_so():
    async def lines():
        for line in (": comment", 'data: {"a": 1}', "", "data:[2]", "data: [DONE]", "data: no"):
            yield line

    async def read():
        return [event async for event in events(lines())]

    assert run_to_end(read()) == [{"a": 1}, [2]]
