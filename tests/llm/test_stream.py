"""Replies that come as streams: put together, counted, and refused where they are none."""

import json

import pytest
from conftest import run_to_end
from fault_server import FaultServer
from hypothesis import given
from hypothesis import strategies as st

from adalib.llm.client import Client, EndpointError
from adalib.llm.reply import MAX_TEXT, ReplyError, read_fields
from adalib.llm.stream import ReplyStream

MESSAGES = [{"role": "user", "content": "What is 3 + 4?"}]


def event(**fields):
    return f"data: {json.dumps(fields)}"


def piece(text=None, finish=None, **more):
    return event(choices=[{"delta": {"content": text}, "finish_reason": finish, **more}])


def streamed(lines):
    """The answer of a stream, and the counts that were reported on the way."""
    counts = []
    stream = ReplyStream(counts.append)
    for line in lines:
        stream.add(line)
    return read_fields(stream.reply()), counts


@given(st.lists(st.text(min_size=1), min_size=1), st.lists(st.sampled_from(["", ": ping"])))
def test_the_text_is_that_of_its_pieces(pieces, between):
    lines = [line for text in pieces for line in (piece(text), *between)]
    answer, counts = streamed([*lines, piece(finish="stop"), "data: [DONE]"])
    whole = {"choices": [{"message": {"content": "".join(pieces)}, "finish_reason": "stop"}]}
    assert answer.text == read_fields(whole).text
    assert counts == list(range(1, len(pieces) + 1))
    assert answer.tokens == len(pieces)


def test_usage_comes_before_what_was_counted():
    """At the end, or along the way."""
    usage = {"prompt_tokens": 20, "completion_tokens": 12}
    answer, counts = streamed([piece("a"), piece("b", "stop"), event(choices=[], usage=usage)])
    assert (answer.tokens, answer.prompt_tokens, counts) == (12, 20, [1, 2, 12])
    choices = [{"delta": {"content": "a"}}]
    along = event(choices=choices, usage={"completion_tokens": 5})
    _, counts = streamed([along, piece("b", "stop")])
    assert counts == [5, 6]


def test_hidden_tokens_and_log_probabilities_are_counted():
    thinks = event(choices=[{"delta": {"reasoning_content": "hm"}}])
    two = [{"logprob": -0.5, "top_logprobs": [{"logprob": -0.5}]}] * 2
    answer, counts = streamed([thinks, piece("ab", "stop", logprobs={"content": two})])
    assert (answer.text, answer.logprob, counts) == ("ab", -0.5, [1, 3])


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [piece("a")],
        ["data: {", piece("a", "stop")],
        ["data: [1]", piece("a", "stop")],
        [event(choices=[{"delta": {"content": 7}}])],
        [event(choices=[[]], more=1), "data: [DONE]"],
        [event(error={"message": "overloaded"})],
        ["data: " + "[" * 100_000],
        [piece("a" * (MAX_TEXT // 2 + 1))] * 2 + ["data: [DONE]"],
    ],
)
def test_what_is_no_answer_is_refused(lines):
    with pytest.raises(ReplyError):
        streamed(lines)


def ask(server, **settings):
    async def asked():
        async with Client(server.url, "m", timeout=60) as client:
            return await client.sample(MESSAGES, arriving=counts.append, **settings)

    counts = []
    return run_to_end(asked()), counts


def test_a_stream_over_http():
    with FaultServer() as server:
        answer, counts = ask(server)
        assert (answer.text, answer.finish) == ("Three and four", "stop")
        assert (answer.tokens, answer.prompt_tokens, counts) == (9, 20, [1, 2, 9])
        assert server.seen[0]["stream_options"] == {"include_usage": True}


def test_an_endpoint_that_refuses_stream_options_or_streams():
    whole = json.dumps({"choices": [{"message": {"content": "7"}}]}).encode()
    with FaultServer(refuses=("stream_options",)) as server:
        with pytest.warns(UserWarning, match="stream_options"):
            answer, _ = ask(server)
        assert answer.tokens == 2
    with FaultServer(["whole"], replies={"whole": (200, "", whole)}) as server:
        answer, counts = ask(server)
        assert (answer.text, counts) == ("7", [])


@pytest.mark.parametrize("fault", ["cutstream", "cut", "html", "500", "401"])
def test_a_stream_that_fails_is_one_error(fault):
    """One that was cut may be on the bill, one that was refused is not."""
    with FaultServer([fault]) as server:
        with pytest.raises(EndpointError) as caught:
            ask(server)
        assert caught.value.billed == (fault not in ("500", "401"))


def test_a_large_event_is_read():
    text = "x" * (MAX_TEXT - 10)
    body = f"{piece(text, 'stop')}\n\ndata: [DONE]\n\n".encode()
    with FaultServer(["large"], replies={"large": (200, "", body)}) as server:
        answer, counts = ask(server)
        assert (answer.text, counts) == (text, [1])
