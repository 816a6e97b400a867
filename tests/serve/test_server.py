"""The server on loopback: real clients in front of it, a small endpoint behind it."""

import json
import logging
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import httpx
import numpy as np
import openai
import pytest
import uvicorn
from conftest import in_own_thread
from random_tables import timed_answers
from upstream import Upstream, listening

from adalib import PricedRace, PricedStopping, Router, beta_population, load
from adalib.serve import server as server_module
from adalib.serve.listening import hosts, prepared
from adalib.serve.requests import question_of
from adalib.serve.server import LOG, Server, why_passed_on

ASK = [{"role": "user", "content": "What is 3 + 4?"}]
CALL = {"model": "m", "messages": ASK, "temperature": 0.7}


@pytest.fixture(scope="module")
def stopping():
    """A policy that looks at votes, fitted once."""
    answers = load("word-fewshot").take(range(0, 372, 6))
    return Router.fit(answers, 3, PricedStopping(("votes",), repeats=2)).policy


@pytest.fixture(scope="module")
def weighted():
    """A policy that weighs votes by their log-probabilities."""
    sampled = beta_population(120, 1.5, 1.5, seed=1).sample(16)
    logprob = np.where(sampled.values > 0, -0.1, -0.5)
    policy = PricedStopping(("votes", "certainty"), repeats=2)
    router = Router.fit(replace(sampled, logprob=logprob), 3, policy)
    assert "logprob" in router.policy.reads
    return router


@pytest.fixture(scope="module")
def race():
    """A race whose first wave has several answers."""
    sampled = timed_answers()
    policy = PricedRace(("votes",), most=6, repeats=2, waiting_limit=0.0)
    return Router.fit(sampled, 3 * float(sampled.tokens.mean()), policy)


@pytest.fixture
def lines(caplog):
    """The log, a list of objects."""
    caplog.set_level(logging.INFO, LOG.name)

    def read():
        return [json.loads(record.message) for record in caplog.records if record.name == LOG.name]

    return read


@contextmanager
def served(router, upstream, **options):
    """Serve a router in front of an upstream; yields the base URL."""
    with (
        listening(upstream.app()) as url,
        listening(Server(router, url, "m", **options).app()) as base,
    ):
        yield base


def post(base, more=None, **options):
    """Return the reply to the call, with more fields or others."""
    call = {"json": CALL | (more or {}), "timeout": 20} | options
    return httpx.post(f"{base}/chat/completions", **call)


@pytest.fixture(params=["stopping", "race"])
def router(request):
    """A router of either kind."""
    fitted = request.getfixturevalue(request.param)
    return Router(fitted, None, 6) if request.param == "stopping" else fitted


@pytest.fixture
def pair(stopping):
    """An upstream, the server in front of it, and its base URL."""
    upstream = Upstream()
    router = Router(stopping, None, 6)
    with served(router, upstream, key="secret") as base:
        yield upstream, router, base


def health(base):
    """What the server says about itself."""
    return httpx.get(base.removesuffix("/v1") + "/health", timeout=20).json()


def client(base, **options):
    return openai.OpenAI(base_url=base, api_key="none", max_retries=0, **options)


def test_a_vote_comes_back_to_an_unchanged_client(pair, lines):
    upstream, router, base = pair
    upstream.texts = ("So it is 8. Answer: 8", "Answer: 7", "Answer: 7.0")
    reply = client(base).chat.completions.create(**CALL, seed=5)
    figures = reply.model_extra["adalib"]
    count = len(upstream.seen)
    assert [request["seed"] for request in upstream.seen] == list(range(5, 5 + count))
    assert count >= 2
    assert reply.choices[0].message.content in upstream.texts
    assert figures["answers"] == count == sum(figures["votes"].values())
    assert reply.usage.completion_tokens == 5 * count == figures["tokens"]
    assert reply.usage.prompt_tokens == 20 * count
    assert router.controller.asked == 1
    assert router.controller.spent == count
    (line,) = lines()
    assert (line["status"], line["answers"], line["tokens"]) == (200, count, 5 * count)
    assert line["why"] == figures["why"]
    assert {headers["authorization"] for headers in upstream.headers} == {"Bearer secret"}
    assert "secret" not in json.dumps(lines())
    shown = health(base)
    assert (shown["status"], shown["budget"], shown["asked"], shown["fault"]) == ("ok", 6, 1, "")
    assert router.controller.debt == shown["debt"] <= shown["bound"] == router.bound(64)
    assert (shown["spent"], shown["cuts"], shown["voted"], shown["failed"]) == (count, 0, 1, {})


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"model": "other"}, "model"),
        ({"n": 2}, "has n"),
        ({"stream": True}, "stream"),
        ({"temperature": 0}, "temperature"),
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "text"),
        ({"messages": "hello"}, "text"),
        ({"store": True}, "store"),
        ({"logprobs": True}, "logprobs"),
        ({"functions": [{}]}, "functions"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"web_search_options": {}}, "web_search"),
        ({"top_k": 1}, "top_k"),
        ({"something_new": 0}, "something_new"),
        ({"messages": [*ASK, {"role": "tool", "content": "7"}]}, "tools"),
        ({"messages": [{"role": "assistant", "content": "x", "tool_calls": [{}]}]}, "tools"),
        ({"messages": [{"role": "user", "content": []}]}, "text"),
    ],
)
def test_what_is_passed_on(more, reason):
    assert reason in why_passed_on(CALL | more, "m")


def test_the_policy_reads_a_question_that_comes_in_parts():
    parts = [{"type": "text", "text": "What is"}, {"type": "text", "text": "3 + 4?"}]
    assert question_of({"messages": [*ASK, {"role": "user", "content": parts}]}) == (
        "What is\n3 + 4?"
    )


# The Responses interface


def test_a_response_is_voted_on_and_comes_back_whole(router):
    upstream = Upstream(("So it is 8. Answer: 8", "Answer: 7", "Answer: 7.0"))
    with served(router, upstream) as base:
        reply = client(base).responses.create(model="m", input="What is 3 + 4?")
    figures = reply.model_extra["adalib"]
    count = len(upstream.seen)
    assert figures["answers"] + figures["cancelled"] == count >= 2
    assert reply.output_text in upstream.texts
    assert reply.output[0].type == "reasoning"
    assert reply.usage.output_tokens == figures["tokens"]
    assert reply.usage.total_tokens == 20 * count + figures["tokens"]
    assert reply.usage.output_tokens_details.reasoning_tokens == figures["answers"]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"stream": True}, "stream"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"text": {"format": {"type": "json_schema"}}}, "format"),
        ({"previous_response_id": "r"}, "previous_response_id"),
        ({"background": True}, "background"),
        ({"store": True}, "store"),
        ({"model": "other"}, "another model"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "text"),
        ({"input": [{"type": "function_call_output", "output": "7"}]}, "tools"),
    ],
)
def test_a_response_that_is_no_plain_text_gets_a_named_400(pair, more, named):
    upstream, _, base = pair
    reply = httpx.post(f"{base}/responses", json={"model": "m", "input": "x"} | more, timeout=20)
    assert reply.status_code == 400
    assert named in reply.json()["error"]["message"]
    assert not upstream.seen


@pytest.mark.parametrize("odd", [{"refusal": "No."}, {"finish": "length"}])
def test_a_response_without_a_short_answer_is_asked_for_once(pair, odd):
    upstream, router, base = pair
    vars(upstream).update(odd)
    reply = client(base).responses.create(model="m", input="What is 3 + 4?")
    assert reply.status == ("incomplete" if "finish" in odd else "completed")
    assert len(upstream.seen) == router.controller.spent == 1


def test_log_probabilities_of_a_response_are_asked_for_its_own_way(weighted):
    upstream = Upstream()
    with served(weighted, upstream) as base:
        kept = ["reasoning.encrypted_content"]
        client(base).responses.create(model="m", input="What is 3 + 4?", include=kept)
    assert upstream.seen[0]["include"] == [*kept, "message.output_text.logprobs"]


# Replies that are too long


@pytest.mark.parametrize("first", [True, False])
def test_a_reply_without_end_is_cut_and_asked_for_once(pair, first, monkeypatch):
    monkeypatch.setattr("adalib.ask.endpoint.LARGEST_REPLY", 50_000)
    upstream, router, base = pair
    upstream.texts = ("x" * 100_000,) if first else ("Answer: 7", "x" * 100_000)
    reply = post(base)
    assert len(upstream.seen) == router.controller.spent == (1 if first else 2)
    assert reply.status_code == (502 if first else 200)
    assert first or reply.json()["adalib"]["votes"] == {"7": 1}


def test_streams_and_tools_pass_unchanged_and_are_counted_by_reason(pair, lines):
    upstream, router, base = pair
    upstream.texts = ("Once upon a time",)
    stream = client(base).chat.completions.create(**CALL, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == upstream.texts[0]
    function = {"type": "function", "function": {"name": "add", "parameters": {}}}
    reply = client(base).chat.completions.create(**CALL, tools=[function])
    assert reply.choices[0].message.tool_calls[0].function.name == "add"
    assert upstream.seen == [CALL | {"stream": True}, CALL | {"tools": [function]}]
    assert httpx.get(f"{base}/models", timeout=5).json()["path"] == "/v1/models"
    httpx.post(f"{base}/chat/completions?api-version=1", json=CALL, timeout=5)
    assert router.controller.asked == 0
    reasons = {"it has tools": 1, "the list of models": 1, "a query in its address": 1}
    assert health(base)["reasons"] == {"it has stream": 1, **reasons}
    post(base, {"tools": [{}]})
    assert health(base)["passed_on"] == 5
    said = [line["not_voted_on"] for line in lines() if "not_voted_on" in line]
    assert sorted(said) == sorted(health(base)["reasons"])  # each once


def test_reasons_that_callers_invent_take_no_room(pair, monkeypatch):
    _, _, base = pair
    monkeypatch.setattr(server_module, "REASONS", 3)
    for number in range(6):
        post(base, {f"field{number}": 1})
    assert health(base)["reasons"]["other reasons"] == 3
    assert len(health(base)["reasons"]) == 4


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "files/x"),
        ("POST", "embeddings"),
        ("GET", "models/../files"),
        ("GET", "responses"),
    ],
)
def test_any_other_path_is_refused_with_those_that_are_served(pair, method, path):
    upstream, _, base = pair
    reply = httpx.request(method, f"{base}/{path}", timeout=20)
    assert reply.status_code in (404, 405)
    if reply.status_code == 404:
        for served_path in ("/v1/chat/completions", "/v1/responses", "/v1/models", "/health"):
            assert served_path in reply.json()["error"]["message"]
    assert not upstream.seen


def test_other_hosts_are_refused_unless_they_are_allowed(stopping):
    upstream = Upstream()
    with served(Router(stopping, None, 6), upstream, key="secret") as base:
        for path in ("chat/completions", "models"):
            reply = httpx.post(f"{base}/{path}", json=CALL, headers={"Host": "evil.example"})
            assert reply.status_code == 400
            assert "--allow-host" in reply.json()["error"]["message"]
        assert not upstream.seen
        for host in ("localhost:1", "127.0.0.1"):
            assert post(base, headers={"Host": host}).status_code == 200
    known = hosts("0.0.0.0", ["*.example"])
    with served(Router(stopping, None, 6), upstream, hosts=known) as base:
        assert post(base, headers={"Host": "good.example"}).status_code == 200
        assert post(base, headers={"Host": "example.evil"}).status_code == 400


def test_a_stream_arrives_while_it_is_written(pair):
    upstream, _, base = pair
    upstream.tokens = (5,)
    upstream.pace = 0.05
    stream = client(base).chat.completions.create(**CALL, stream=True)
    next(iter(stream))
    assert upstream.finished == 0
    assert len(list(stream)) > 2


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_an_essay_or_a_text_that_is_cut_is_asked_for_once(pair, lines, finish):
    upstream, router, base = pair
    upstream.texts = ("In 1990 there were 3 reasons. " * 20,)
    upstream.finish = finish
    reply = client(base).chat.completions.create(**CALL)
    assert reply.choices[0].message.content == upstream.texts[0]
    assert reply.choices[0].finish_reason == finish
    assert len(upstream.seen) == 1
    assert lines()[-1]["why"] == "no short answer"
    assert health(base)["voted"] == 0
    assert health(base)["reasons"] == {"no short answer": 1}
    # What it cost is booked, and what it left of its budget makes no other question dearer.
    assert (router.controller.asked, router.controller.spent, router.controller.debt) == (1, 1, 0)


def test_missing_log_probabilities_leave_plain_votes(weighted):
    upstream = Upstream(("Answer: 7", "Answer: 8", "Answer: 7"), logprobs=False)
    with served(weighted, upstream) as base:
        figures = client(base).chat.completions.create(**CALL).model_extra["adalib"]
    assert all(request["logprobs"] for request in upstream.seen)
    most = max(figures["votes"].values())
    assert figures["votes"][figures["answer"]] == most


def test_missing_usage_counts_the_events(race):
    upstream = Upstream(usage=False, tokens=(4,))
    with served(race, upstream) as base:
        figures = client(base).chat.completions.create(**CALL).model_extra["adalib"]
    # The event that ends an answer counts too; what a cancelled one wrote last may not be read.
    most = upstream.written.total() + len(upstream.seen)
    assert 4 * figures["answers"] <= figures["tokens"] <= most


def test_a_race_cancels_its_losers_upstream(race):
    """One answer in three is short, and the others are cut before their 400 tokens."""
    upstream = Upstream(tokens=(3, 400, 400), pace=0.004)
    with served(race, upstream) as base:
        race.controller.closed = 20 * race.controller.budget  # a high price closes early
        reply = client(base).chat.completions.create(**CALL)
        figures = reply.model_extra["adalib"]
        time.sleep(0.1)
        race.controller.closed = 0.0
    assert upstream.finished + upstream.cancelled == len(upstream.seen)
    assert figures["cancelled"] == upstream.cancelled
    assert figures["answers"] == upstream.finished
    assert abs(figures["tokens"] - upstream.written.total()) <= 3 * len(upstream.seen)


def test_a_caller_who_hangs_up_stops_the_upstream(pair, lines):
    upstream, router, base = pair
    upstream.tokens = (1000,)
    upstream.pace = 0.01
    for more in ({}, {"tools": [{}]}):
        with pytest.raises(httpx.TimeoutException):
            post(base, more, timeout=0.3)
    with httpx.stream("POST", f"{base}/chat/completions", json=CALL | {"stream": True}) as reply:
        next(reply.iter_bytes())
    time.sleep(0.3)
    assert upstream.cancelled == 1  # the stream; the other replies were never begun
    assert upstream.finished == 0
    assert (router.controller.asked, router.controller.opened) == (0, 0)
    assert router.controller.spent == 1  # the vote that was cut short, of three requests
    assert [line.get("status") for line in lines()].count(499) >= 2


def test_a_slow_upstream_gets_a_clear_answer(stopping):
    upstream = Upstream(tokens=(1000,), pace=0.01)
    router = Router(stopping, None, 6)
    limits = {"deadline": 0.2, "timeout": 0.2}
    with served(router, upstream, **limits) as base:
        reply = post(base)
        assert reply.status_code == 504
        assert "in time" in reply.json()["error"]["message"]
        tools = post(base, {"tools": [{}]})
        assert tools.status_code == 504
    assert len(upstream.seen) == 2  # each was sent once
    assert router.controller.opened == 0


@pytest.mark.parametrize("status", [302, 400, 401, 404, 422, 429, 500, 503])
def test_an_error_of_the_upstream_is_asked_for_once_and_comes_back_as_it_is(pair, status):
    upstream, router, base = pair
    upstream.status = status
    upstream.replied = {"Retry-After": "7", "X-Request-Id": "r1"}
    reply = post(base)
    assert reply.status_code == status
    assert reply.json() == {"error": {"message": "broken"}}
    assert (reply.headers["retry-after"], reply.headers["x-request-id"]) == ("7", "r1")
    assert len(upstream.seen) == 1
    assert health(base)["failed"] == {f"HTTP {status}": 1}
    assert (router.controller.asked, router.controller.opened) == (0, 0)


def test_no_upstream_is_said_to_be_none(stopping):
    app = Server(Router(stopping, None, 6), "http://127.0.0.1:9/v1", "m").app()
    with listening(app) as base:
        assert post(base).status_code == 502
        assert health(base)["failed"] == {"ConnectError": 1}
        assert httpx.get(f"{base}/models", timeout=5).status_code == 502


def test_a_body_over_the_limit_is_refused(pair, monkeypatch):
    _, _, base = pair
    monkeypatch.setattr(server_module, "LARGEST_BODY", 1000)
    reply = httpx.post(f"{base}/chat/completions", content=b"x" * 2000, timeout=5)
    assert reply.status_code == 413
    assert "1,000" in reply.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'{"model": "m"}', b"\xff", b"[" * 100_000])
def test_whatever_comes_is_the_upstreams_to_judge(pair, body):
    upstream, _, base = pair
    reply = httpx.post(f"{base}/chat/completions", content=body, timeout=5)
    assert reply.status_code in (200, 500)
    assert upstream.finished == 0


def test_pages_of_other_sites_are_refused(pair):
    upstream, _, base = pair
    headers = {"Origin": "https://elsewhere.example"}
    reply = post(base, headers=headers)
    assert reply.status_code == 403
    assert not upstream.seen


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    "odd",
    [
        {"page": ("text/html", b"<html>Bad gateway</html>")},
        {"page": ("application/json", b'{"choices": []}')},
        {"page": ("application/json", b"[]")},
        {"page": ("application/json", b'{"choices": [{"mess')},
        {"page": ("text/event-stream", b"data: [DONE]\n\n")},
        {"page": ("text/event-stream", b'data: {"choices": [{"delta": {"content": "4"}}]}\n\n')},
        {"texts": ("",)},
        {"texts": ("",), "finish": "content_filter"},
        {"finish": "content_filter"},
        {"finish": "tool_calls"},
        {"texts": ("",), "refusal": "I cannot help with that."},
    ],
)
def test_a_first_reply_without_a_text_is_the_upstreams_own(pair, odd, streams):
    upstream, router, base = pair
    upstream.streams = streams
    for name, value in odd.items():
        setattr(upstream, name, value)
    reply = post(base)
    assert len(upstream.seen) == 1
    with listening(upstream.app()) as url:
        direct = post(url)
    assert (reply.status_code, reply.content) == (direct.status_code, direct.content)
    assert reply.headers["content-type"] == direct.headers["content-type"]
    assert (router.controller.asked, router.controller.opened) == (0, 0)


@pytest.mark.parametrize(
    ("kind", "field"), [("weighted", "logprobs"), ("race", "stream_options"), ("race", "stream")]
)
def test_an_upstream_that_refuses_a_wish_is_asked_without(request, kind, field):
    router = request.getfixturevalue(kind)
    upstream = Upstream()
    upstream.refuses = {field}
    with served(router, upstream) as base:
        for _ in range(2):
            reply = client(base).chat.completions.create(**CALL)
            assert reply.model_extra["adalib"]["answer"] == "7"
    wished = [bool(upstream.refuses & set(request)) for request in upstream.seen]
    first_wave = router.policy.most_answers if kind == "race" else 1  # begins side by side
    assert 1 <= wished.count(True) <= first_wave
    assert not any(wished[2 * first_wave :])


def test_votes_carry_what_the_caller_sends(stopping, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "of the server")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "of the server")
    upstream = Upstream()
    with served(Router(stopping, None, 6), upstream) as base:
        asking = openai.OpenAI(base_url=base, api_key="mine", organization="ours", max_retries=0)
        asking.chat.completions.create(**CALL)
        post(base)
        repeated = [("X-Org-Token", "one"), ("Idempotency-Key", "1")]
        repeated += [("X-Stainless-Raw-Response", "true"), ("Accept-Encoding", "br")]
        post(base, headers=repeated)
    with_key = [headers for headers in upstream.headers if "authorization" in headers]
    assert 0 < len(with_key) < len(upstream.headers)  # the other callers sent none
    assert upstream.headers[-1]["x-org-token"] == "one"
    assert "idempotency-key" not in upstream.headers[-1]  # one answer's key, not a vote's
    assert "x-stainless-raw-response" not in upstream.headers[-1]
    assert upstream.headers[-1]["accept-encoding"] == "gzip, deflate"  # what we can read
    assert "of the server" not in upstream.headers[-1].values()
    for headers in with_key:
        assert headers["authorization"] == "Bearer mine"
        assert headers["openai-organization"] == "ours"


def test_a_cookie_goes_to_no_other_caller(pair):
    upstream, _, base = pair
    upstream.replied = {"Set-Cookie": "session=mine; Path=/"}
    for more in ({"stream": True}, {}, {}):
        post(base, more)
    assert len(upstream.headers) > 2
    assert not any("cookie" in headers for headers in upstream.headers)


def test_the_deadline_covers_the_queue(stopping, monkeypatch):
    monkeypatch.setattr(server_module, "AT_ONCE", 1)
    upstream = Upstream(tokens=(1000,), pace=0.1)
    with (
        served(Router(stopping, None, 6), upstream, deadline=1.0) as base,
        ThreadPoolExecutor(2) as two,
    ):
        replies = list(two.map(post, [base, base]))
    assert [reply.status_code for reply in replies] == [504, 504]
    assert len(upstream.seen) <= 2  # the other one had what was left of its time, if anything


def test_a_long_conversation_is_passed_on(pair, lines):
    upstream, _, base = pair
    turns = [{"role": "user", "content": "And what is 3 + 4?"}] * 30_000
    post(base, {"messages": turns}, timeout=60)
    assert [len(request["messages"]) for request in upstream.seen] == [30_000]
    assert "long" in lines()[-1]["why"]


def test_a_defect_is_a_reply_and_a_line(pair, lines, monkeypatch):
    _, _, base = pair
    monkeypatch.setattr(Server, "forward", lambda *_: 1 / 0)
    reply = httpx.get(f"{base}/models", timeout=5)
    assert reply.status_code == 500
    assert "failed" in reply.json()["error"]["message"]
    assert "ZeroDivisionError" in lines()[-1]["why"]


def test_a_defect_of_a_vote_leaves_the_upstreams_reply(pair, lines, monkeypatch):
    _, router, base = pair
    monkeypatch.setattr(router, "plan", lambda *_: 1 / 0)
    reply = client(base).chat.completions.create(**CALL)
    assert reply.choices[0].message.content == "Answer: 7"
    assert "ZeroDivisionError" in lines()[-1]["why"]


# Byte by byte, on plain sockets


class Plain:
    """An endpoint that notes the bytes of a request and replies with the bytes it was given."""

    def __init__(self, reply: bytes) -> None:
        self.reply = reply
        self.came = b""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            with self._socket.accept()[0] as connection:
                while not self.came.endswith(b"END"):
                    self.came += connection.recv(65536)
                connection.sendall(self.reply)


def exchanged(port: int, request: bytes) -> bytes:
    """Send bytes and return all that comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def apart(message: bytes) -> tuple[bytes, list[bytes], bytes]:
    """Return the first line, the headers and the body of a message."""
    head, _, body = message.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    return first, headers, body


def without_connection(headers: list[bytes]) -> list[bytes]:
    """Return headers with their names in small letters, less those of one connection."""
    named = [line.split(b":", 1) for line in headers]
    apart = [(name.lower(), value) for name, value in named]
    return [b":".join(pair) for pair in apart if pair[0] not in (b"host", b"connection")]


@contextmanager
def commanded(policy, folder, upstream):
    """Run `adalib serve`; yields the process and its base URL."""
    Router(policy, None, 6).save(folder)
    words = ["serve", str(folder), "--upstream", upstream, "--model", "m", "--port", "0"]
    command = [sys.executable, "-m", "adalib", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        try:
            yield process, process.stderr.readline().split(" at ")[1].split(",")[0]
        finally:
            process.terminate()


def test_bytes_come_and_go_as_they_are(pair, stopping):
    headers = [
        *(b"X-Twice: one", b"x-twice: two", b"X-Name: J\xfcrgen", b"Authorization: Bearer mine"),
        *(b"Cookie: a=1; b=2", b"Content-Length: 6"),
    ]
    back = [
        *(b"Location: http://elsewhere.example/x", b"Set-Cookie: a=1", b"Set-Cookie: b=2"),
        *(b"X-Name: J\xfcrgen", b"Content-Encoding: gzip", b"Content-Length: 5"),
    ]
    status = b"HTTP/1.1 302 Found\r\n"
    plain = Plain(status + b"\r\n".join([*back, b"Connection: close", b"", b"\x1f\x8bxyz"]))
    app = Server(Router(stopping, None, 6), f"http://127.0.0.1:{plain.port}/api/v1", "m").app()
    with listening(app, date_header=False, server_header=False) as base:
        head = [b"POST /v1/chat/completions?x=1&x=%20&y HTTP/1.1", b"Host: localhost", *headers]
        whole = b"\r\n".join([*head, b"Connection: close", b"", b"\x00\xffaEND"])
        reply = exchanged(httpx.URL(base).port, whole)
    first, came, body = apart(plain.came)
    assert first == b"POST /api/v1/chat/completions?x=1&x=%20&y HTTP/1.1"
    assert without_connection(came) == without_connection(headers)
    assert body == b"\x00\xffaEND"
    first, came, body = apart(reply)
    assert first.startswith(b"HTTP/1.1 302")
    assert without_connection(came) == without_connection(back)
    assert body == b"\x1f\x8bxyz"


@pytest.mark.parametrize("path", [b"chat/completions", b"embeddings"])
def test_a_request_with_two_lengths_is_refused(pair, path):
    """As RFC 9112 (section 6.1) allows, because two programs may read it as two requests."""
    upstream, _, base = pair
    head = b"POST /v1/%b HTTP/1.1\r\nHost: localhost\r\n" % path
    body = b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
    first, headers, _ = apart(exchanged(httpx.URL(base).port, head + body))
    assert first.startswith(b"HTTP/1.1 400")
    assert b"connection: close" in headers
    assert not upstream.seen


# The command


def test_small_replies_are_sent_at_once():
    """Without TCP_NODELAY each waits 40 ms for the client's delayed acknowledgement."""
    with socket.create_server(("127.0.0.1", 0)) as listens:
        prepared(lambda *_: None, listens)
        assert listens.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"upstream": "127.0.0.1:8080/v1"}, "upstream"),
        ({"upstream": "ftp://x/v1"}, "upstream"),
        ({"upstream": "http://"}, "upstream"),
        ({"upstream": "http://x:99999/v1"}, "upstream"),
        ({"upstream": "http://x/v1?version=1"}, "upstream"),
        ({"port": 99_999}, "99999"),
        ({"port": -1}, "-1"),
        ({"host": "0.0.0.0"}, "--allow-host"),
        ({"allow_host": ["here:80"]}, "--allow-host"),
        ({"timeout": 0.0}, "timeout"),
        ({"deadline": float("nan")}, "deadline"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(stopping, tmp_path, options, fault):
    Router(stopping, None, 6).save(tmp_path)
    with pytest.raises(ValueError, match=fault) as caught:
        server_module.serve(
            **{"folder": tmp_path, "upstream": "http://x/v1", "model": "m"} | options
        )
    assert "\n" not in str(caught.value)


def test_a_key_that_others_can_spend_is_warned_about(stopping, tmp_path, monkeypatch):
    Router(stopping, None, 6).save(tmp_path)
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    where = {"host": "0.0.0.0", "allow_host": ["here.example"], "port": 0}
    with pytest.warns(UserWarning, match="OPENAI_API_KEY") as caught:
        server_module.serve(tmp_path, "http://127.0.0.1:9/v1", "m", **where)
    assert "sk-secret" not in str(caught[0].message)


@pytest.mark.parametrize("key", ["sk-\xfc", "sk-1\nHost: elsewhere"])
def test_a_key_that_no_header_can_hold_is_refused(stopping, tmp_path, monkeypatch, key):
    Router(stopping, None, 6).save(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ValueError, match="OPENAI_API_KEY") as caught:
        server_module.serve(tmp_path, "http://127.0.0.1:9/v1", "m", port=0)
    assert key not in str(caught.value)


@pytest.mark.parametrize("able", [True, False])
def test_a_check_says_what_the_upstream_can_do(stopping, tmp_path, capsys, able):
    Router(stopping, None, 6).save(tmp_path)
    upstream = Upstream(tokens=(12,), logprobs=able, pace=0.05 if able else 0.0)
    upstream.streams = able
    with listening(upstream.app()) as url:
        assert in_own_thread(server_module.serve, tmp_path, url, "m", port=0, check=True) is None
    lines = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert list(lines) == ["streams", "log-probabilities", "can be cancelled"]
    assert {said.split(",")[0] for said in lines.values()} == {"yes" if able else "no"}
    assert len(upstream.seen) == 2
    assert upstream.cancelled == able
    upstream.status = 401
    with listening(upstream.app()) as url, pytest.raises(ValueError, match="HTTP 401"):
        in_own_thread(server_module.serve, tmp_path, url, "m", port=0, check=True)


@pytest.mark.parametrize("closed", [False, True])
def test_a_log_that_nobody_reads_stops_nothing(stopping, tmp_path, closed):
    """A pipe holds 64 KB; three times that is written."""
    upstream = Upstream()
    with listening(upstream.app()) as url, commanded(stopping, tmp_path, url) as (process, base):
        if closed:
            process.stdout.close()
        with httpx.Client(timeout=60) as asking:
            for _ in range(25):
                assert asking.get(f"{base}/{'x' * 8000}").status_code == 404
        process.terminate()
        assert process.wait(timeout=60) in (0, -15)
        assert process.stderr.read() == ""
        if not closed:
            assert json.loads(process.stdout.readline())["status"] == 404


# What is lost on the way: nothing


def test_a_vote_is_the_winners_own_reply_and_a_field_of_ours(router):
    upstream = Upstream(("So it is 8. Answer: 8", "Answer: 7", "Answer: 7.0"))
    upstream.more = {"reasoning_content": "I add.", "annotations": [{"type": "url"}]}
    upstream.replied = {"X-Request-Id": "r1", "X-RateLimit-Remaining-Requests": "9"}
    with listening(upstream.app()) as url:
        direct = post(url)
    upstream.seen.clear()
    with served(router, upstream) as base:
        reply = post(base)
    ours = reply.json().pop("adalib")
    assert ours["answers"] + ours["cancelled"] == len(upstream.seen) > 1
    for name in direct.headers:
        assert name in reply.headers, f"the header {name} of the upstream is lost"
    for name, value in direct.json().items():
        if name not in ("choices", "usage"):
            assert reply.json()[name] == value
    message = reply.json()["choices"][0]["message"]
    assert set(direct.json()["choices"][0]["message"]) - set(message) <= {"refusal"}
    assert (message["reasoning_content"], message["annotations"]) == ("I add.", [{"type": "url"}])
    used = reply.json()["usage"]
    assert used["completion_tokens_details"] == {"reasoning_tokens": ours["answers"]}
    assert used["prompt_tokens"] == 20 * len(upstream.seen)
    assert used["total_tokens"] == used["prompt_tokens"] + used["completion_tokens"]


def test_a_text_that_utf_8_cannot_hold_comes_back(pair):
    """Half of an emoji, as a model that is cut within one may send it."""
    upstream, _, base = pair
    upstream.page = (
        "application/json",
        b'{"choices": [{"message": {"content": "\\ud83d Answer: 7"}, "finish_reason": "stop"}]}',
    )
    reply = post(base)
    assert reply.status_code == 200
    assert reply.json()["adalib"]["answer"] == "7"


def test_a_refused_wish_is_tried_again_after_a_while(weighted, monkeypatch, caplog):
    upstream = Upstream()
    upstream.refuses = {"logprobs"}
    with served(weighted, upstream) as base:
        client(base).chat.completions.create(**CALL)
        assert "logprobs" in caplog.text
        upstream.refuses = set()
        client(base).chat.completions.create(**CALL)
        assert "logprobs" not in upstream.seen[-1]
        monkeypatch.setattr("adalib.ask.endpoint._WITHOUT", 0.0)
        upstream.refuses = {"logprobs"}
        monkeypatch.setattr("adalib.ask.endpoint.now", lambda: time.monotonic() + 3600)
        client(base).chat.completions.create(**CALL)
        assert any("logprobs" in request for request in upstream.seen[2:])


def test_a_bad_request_turns_no_wish_off(weighted):
    upstream = Upstream()
    upstream.status = 400
    with served(weighted, upstream) as base:
        assert post(base).status_code == 400
        assert len(upstream.seen) == 2  # with the wish, and as the caller would ask
        upstream.status = 200
        reply = client(base).chat.completions.create(**CALL)
    assert "logprobs" in upstream.seen[-1]
    assert reply.choices[0].logprobs is None  # the vote wanted them, the caller did not


# What ends, ends


def test_a_port_that_is_taken_gets_one_sentence(stopping, tmp_path):
    Router(stopping, None, 6).save(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for _ in range(2):  # the debt's file is free again
            with pytest.raises(ValueError, match=f"{port} .*--port"):
                server_module.serve(tmp_path, "http://127.0.0.1:9/v1", "m", port=port)
