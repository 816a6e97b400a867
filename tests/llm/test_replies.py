"""Odd replies: whatever an endpoint sends, it ends in another try or in one line, and nothing odd is stored."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import random
import warnings

import httpx2 as httpx
import pytest
from conftest import run_to_end
from fault_server import FaultServer
from odd_replies import GOOD, ODD, as_replies, bomb, changed, choice

from adalib.datasets.loading import load
from adalib.llm import EndpointError, collect, endpoint
from adalib.llm import endpoint as reply
from adalib.llm.endpoint import Answer, Endpoint, ReplyError, backoff, read_reply, retry_after
from adalib.llm.store import Store, scan

KEY = "sk-a-very-secret-key-0123"
MESSAGES = [{"role": "user", "content": "What is 3 + 4?"}]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask(server, tries=2, messages=MESSAGES, timeout=20.0, **how):
    async def no_pause(seconds, why):
        pass

    async def main():
        async with Endpoint(server.url, "m", tries=tries, timeout=timeout) as one:
            return await one.sample(messages, pause=no_pause, **how)

    return run_to_end(main())


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_reply_is_tried_again_and_then_told_in_one_line(odd):
    with FaultServer([odd], replies=as_replies(ODD)) as server:
        assert ask(server).text.endswith("Answer: 7")
    once = r"^http://127.0.0.1:\d+/v1 failed once, the last time with: "
    with (
        FaultServer([odd], replies=as_replies(ODD)) as server,
        pytest.raises(EndpointError, match=once) as told,
    ):
        ask(server, tries=1)
    assert "\n" not in str(told.value)
    assert told.value.__cause__ is None
    assert told.value.__suppress_context__ or told.value.__context__ is None


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_compressed_bomb_is_refused(encoding):
    replies = {"bomb": bomb(encoding)}
    with FaultServer(["bomb"], replies=replies) as server:
        assert ask(server).text.endswith("Answer: 7")
    with FaultServer(["bomb"], replies=replies) as server, pytest.raises(EndpointError, match="the reply is "):
        ask(server, tries=1)


def test_a_compressed_reply_is_read():
    replies = {"small": (200, "Content-Encoding: gzip\r\n", gzip.compress(json.dumps(GOOD).encode()))}
    with FaultServer(["small"], replies=replies) as server:
        assert ask(server).text == "Answer: 7"


def test_a_reply_without_an_end_is_cut_off():
    with FaultServer(["endless"]) as server, pytest.raises(EndpointError, match="longer than 32 MB"):
        ask(server, tries=1, timeout=60.0)


@pytest.mark.parametrize("count", [10**400, -1, 1.5, True, "9", None, 10**16, [9]])
def test_a_count_that_is_none_is_not_kept(count):
    assert read_reply(changed(usage={"completion_tokens": count, "prompt_tokens": 3})) == Answer(
        "Answer: 7", "stop", None, 3
    )


@pytest.mark.parametrize(
    "values",
    [[0.5], [-1, math.inf], [-1, "-2"], [-1, None], [math.nan], [-(10**400)], [True], [10**400], [{}], [-1e300]],
)
def test_log_probabilities_that_are_none_are_not_kept(values):
    content = [{"logprob": v, "top_logprobs": [{"logprob": v}]} for v in values]
    answer = read_reply(choice(logprobs={"content": content}))
    assert (answer.logprob, answer.entropy) == (None, None)


def test_any_damage_to_a_reply_is_an_answer_that_can_be_stored_or_a_fault(tmp_path):
    """Seeded mutations: bytes changed, cut, doubled, and values swapped for odd ones."""
    rng = random.Random(13)
    odd = [None, True, -1, 10**400, 1e308, "x", "\ud83d", [], {}, [[]], {"content": 3}, "\x00"]
    body = choice(logprobs={"content": [{"logprob": -0.5, "top_logprobs": [{"logprob": -0.5}]}]})

    def swapped(value):
        if rng.random() < 0.15:
            return rng.choice(odd)
        if isinstance(value, dict):
            return {k: swapped(v) for k, v in value.items()}
        return [swapped(v) for v in value] if isinstance(value, list) else value

    read = 0
    with Store(tmp_path / "out", {"questions": "x"}) as store:
        for i in range(2000):
            if i % 2:
                text = bytearray(body)
                for _ in range(rng.randint(1, 4)):
                    text[rng.randrange(len(text))] = rng.randrange(256)
                text = bytes(text[: rng.randrange(len(text))] if rng.random() < 0.3 else text)
            else:
                text = json.dumps(swapped(json.loads(body))).encode()
            try:
                answer = read_reply(text)
            except ReplyError:
                continue
            told = {name: getattr(answer, name) for name in Answer.__slots__ if getattr(answer, name) is not None}
            store.append({"id": "a", "sample": i, **told})
            read += 1
    assert scan(tmp_path / "out" / "answers.jsonl").count == read > 100


def test_a_redirect_is_not_followed():
    with FaultServer() as other:
        for status in (301, 302, 307, 308):
            replies = {"away": (status, f"Location: {other.url}/chat/completions\r\n", b"{}")}
            with (
                FaultServer(["away"], replies=replies) as server,
                pytest.raises(EndpointError, match="another address"),
            ):
                ask(server)
        assert other.seen == []


@pytest.mark.parametrize("hint", [0.0, -5.0, 0.001])
def test_a_hint_of_nothing_never_shortens_the_wait(hint):
    for attempt in range(1, 9):
        assert backoff(attempt, hint, 0.5) == backoff(attempt, None, 0.5)


@pytest.mark.parametrize(
    "value",
    ["Fri, 31 Dec 9999 23:59:59 -9959", "Mon, 99 Zzz 99999 99:99:99", "1e999", "nan", "", ",", "\x00", "0" * 9999],
)
def test_no_date_overflows(value):
    assert retry_after(value) is None or 0 <= retry_after(value) < math.inf


def test_an_error_that_repeats_the_key_never_shows_it():
    error = json.dumps({"error": {"message": f"bad key {KEY}"}}).encode()
    replies = {"busy": (503, "Retry-After: Fri, 31 Dec 9999 23:59:59 -9959\r\n", error)}
    with FaultServer(["busy"], replies=replies) as server, pytest.raises(EndpointError) as told:
        ask(server, tries=1)
    seen = told.value
    while seen is not None:
        assert KEY not in str(seen)
        seen = None if seen.__suppress_context__ else seen.__context__


def test_blotting_out_a_key_does_not_change_data(monkeypatch):
    """A key that is a plain number is found in answers that have nothing to do with it."""
    monkeypatch.setenv("OPENAI_API_KEY", "111111")
    with FaultServer(text="111111 and sk-learning-rate\nAnswer: 111111") as server:
        assert ask(server).text == "111111 and sk-learning-rate\nAnswer: 111111"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FaultServer(text=f"{KEY} it is") as server:
        assert ask(server).text == "[key] it is"
        assert ask(server, messages=[{"role": "user", "content": f"Repeat {KEY}"}]).text == f"{KEY} it is"


def test_the_name_of_the_variable_is_repeated_only_if_it_surely_is_one():
    for secret in ("sk-proj-abc", "abc def", "", "hunter2hunter2"):
        with pytest.raises((ValueError, EndpointError)) as told:
            Endpoint("https://host.example/v1", "m", key_env=secret)
        assert not secret or secret not in str(told.value)


def test_a_key_over_plain_http_is_warned_about():
    with pytest.warns(UserWarning, match="the key travels to http://host.example/v1 unencrypted"):
        Endpoint("http://host.example/v1", "m")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Endpoint("http://127.0.0.1:1/v1", "m")
        Endpoint("https://host.example/v1", "m")


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "socks4://127.0.0.1:9", "nonsense://x"])
def test_a_proxy_that_cannot_be_used_is_told_in_one_line(monkeypatch, proxy):
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, proxy)
    with pytest.raises(EndpointError, match="^the proxy that the environment names for https cannot be used"):
        Endpoint("https://host.example/v1", "m")


def test_a_give_up_keeps_the_answers_that_are_paid_for(tmp_path, monkeypatch):
    """One request is refused at once while the others are on their way."""
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.01)
    file = tmp_path / "q.jsonl"
    file.write_text("".join(json.dumps({"id": str(i), "question": "q", "gold": "7"}) + "\n" for i in range(6)))
    refused = {"no": (400, "", b"{}")}
    with FaultServer(["no"], latency=0.3, replies=refused) as server:
        with pytest.raises(EndpointError, match="5 of 6 answers are kept"):
            collect(file, tmp_path / "out", base_url=server.url, model="m", samples=1, concurrency=6, progress=False)
        assert server.sent == 5
        path = collect(file, tmp_path / "out", base_url=server.url, model="m", samples=1, concurrency=6, progress=False)
    assert load(path).n == 6
    assert server.sent == 6


class Line(httpx.AsyncBaseTransport):
    """A line that knows how many talk on it, and whether it was put down for good."""

    made: list[Line]

    def __init__(self):
        self.talking, self.closed = 0, False
        self.made.append(self)

    async def handle_async_request(self, request):
        assert not self.talking
        assert not self.closed
        self.talking += 1
        await asyncio.sleep(0)
        self.talking -= 1
        if request.url.path == "/cut":
            raise httpx.ReadError("cut")
        return httpx.Response(200, content=b"{}")

    async def aclose(self):
        self.closed = True


@pytest.fixture
def lines(monkeypatch):
    """A transport, and the lines it made."""
    monkeypatch.setattr(Line, "made", [], raising=False)
    return reply.BoundedTransport(Line), Line.made


def call(transport, path="/"):
    return transport.handle_async_request(httpx.Request("GET", f"http://127.0.0.1{path}"))


def test_a_line_is_used_again_and_never_by_two(lines):
    transport, made = lines

    async def run():
        for _ in range(5):
            await call(transport)
        assert len(made) == 1
        await asyncio.gather(*(call(transport) for _ in range(8)))
        assert len(made) == 8
        with pytest.raises(httpx.ReadError):
            await call(transport, "/cut")
        await asyncio.gather(*(call(transport) for _ in range(8)))
        assert len(made) == 8  # a fault gives its line back, too
        await transport.aclose()
        assert all(line.closed for line in made)

    run_to_end(run())


def test_lines_that_nobody_uses_are_closed(lines, monkeypatch):
    transport, made = lines

    async def run():
        await asyncio.gather(*(call(transport) for _ in range(4)))
        monkeypatch.setattr(reply, "IDLE", -1.0)
        await call(transport)
        assert [line.closed for line in made] == [True] * 4 + [False]

    run_to_end(run())


def test_there_are_no_more_lines_than_files_that_may_be_open(lines, monkeypatch):
    _, made = lines
    monkeypatch.setattr(reply, "MAX_LINES", 3)
    transport = reply.BoundedTransport(Line)

    async def run():
        await asyncio.gather(*(call(transport) for _ in range(20)))

    run_to_end(run())
    assert len(made) == 3
