"""The server on loopback: real clients in front of it, a small endpoint behind it."""

import asyncio
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise

import httpx
import numpy as np
import openai
import psutil
import pytest
import uvicorn
from conftest import in_own_thread, run_to_end, wait_until
from random_tables import timed_answers
from upstream import Upstream, listening

from adalib import PricedRace, PricedStopping, Router, beta_population, load
from adalib.serve import listening as listening_module
from adalib.serve import server as server_module
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
    reply = client(base).chat.completions.create(**CALL)
    figures = reply.model_extra["adalib"]
    count = len(upstream.seen)
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


def test_an_async_client_with_many_questions_at_once(pair):
    upstream, router, base = pair

    async def ask_all():
        async with openai.AsyncOpenAI(base_url=base, api_key="none") as asking:
            calls = [asking.chat.completions.create(**CALL) for _ in range(20)]
            return await asyncio.gather(*calls)

    replies = run_to_end(ask_all())
    assert {reply.choices[0].message.content for reply in replies} == {"Answer: 7"}
    assert router.controller.asked == 20
    assert router.controller.spent == len(upstream.seen)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"model": "other"}, "model"),
        ({"n": 2}, "choices"),
        ({"stream": True}, "stream"),
        ({"temperature": 0}, "temperature"),
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "text"),
        ({"messages": "hello"}, "text"),
    ],
)
def test_what_is_passed_on(more, reason):
    assert reason in why_passed_on(CALL | more, "m")


def test_what_is_voted_on():
    usual = {"max_tokens": 99, "top_p": 0.9, "seed": 1, "n": 1, "stream": False, "tools": None}
    assert why_passed_on(CALL | usual, "m") == ""


def test_streams_tools_and_other_paths_pass_unchanged(pair, lines):
    upstream, router, base = pair
    upstream.texts = ("Once upon a time",)
    stream = client(base).chat.completions.create(**CALL, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == upstream.texts[0]
    function = {"type": "function", "function": {"name": "add", "parameters": {}}}
    reply = client(base).chat.completions.create(**CALL, tools=[function])
    assert reply.choices[0].message.tool_calls[0].function.name == "add"
    assert upstream.seen == [CALL | {"stream": True}, CALL | {"tools": [function]}]
    other = httpx.post(f"{base}/embeddings?x=1", content=b"\x00anything", timeout=5).json()
    assert other == {"path": "/v1/embeddings", "query": "x=1", "body": "\x00anything"}
    assert httpx.get(f"{base}/models", timeout=5).json()["path"] == "/v1/models"
    httpx.post(f"{base}/chat/completions?api-version=1", json=CALL, timeout=5)
    assert router.controller.asked == 0
    assert all("passed on" in line["why"] for line in lines())


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
    assert lines()[0]["why"] == "no short answer"
    assert (health(base)["voted"], health(base)["passed_on"]) == (0, 1)
    assert router.controller.asked == 0


def test_a_seed_gives_different_answers(pair):
    upstream, _, base = pair
    client(base).chat.completions.create(**CALL, seed=5)
    seeds = [request["seed"] for request in upstream.seen]
    assert seeds == list(range(5, 5 + len(seeds)))


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
    assert router.controller.asked == 0
    assert router.controller.opened == 0
    assert [line["status"] for line in lines()].count(499) >= 2


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


def test_an_error_after_an_answer_leaves_that_answer(pair, lines):
    upstream, _, base = pair
    upstream.texts = ("Answer: 7", "Answer: 8")
    upstream.statuses = [200, 429]
    reply = client(base).chat.completions.create(**CALL)
    assert reply.model_extra["adalib"]["votes"] == {"7": 1}
    assert lines()[0]["why"] == "HTTP 429"
    assert len(upstream.seen) == 2
    assert (health(base)["voted"], health(base)["failed"]) == (1, {"HTTP 429": 1})


def test_a_busy_upstream_of_a_race_gets_no_more_than_the_race(race):
    upstream = Upstream()
    upstream.status = 429
    with served(race, upstream) as base:
        reply = post(base)
    assert reply.status_code == 429
    assert len(upstream.seen) <= race.policy.most_answers


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


def test_health_shows_the_budget(pair):
    _, router, base = pair
    client(base).chat.completions.create(**CALL)
    client(base).models.with_raw_response.list()
    shown = health(base)
    assert (shown["status"], shown["budget"], shown["asked"]) == ("ok", 6, 1)
    assert shown["debt"] == router.controller.debt
    assert (shown["voted"], shown["passed_on"], shown["failed"]) == (1, 1, {})
    assert shown["fault"] == ""
    assert shown["debt"] <= shown["bound"] == router.bound(server_module.AT_ONCE)


def test_an_upstream_that_does_not_stream_is_voted_on(pair):
    upstream, router, base = pair
    upstream.streams = False
    upstream.texts = ("Answer: 8", "Answer: 7", "Answer: 7.0")
    reply = client(base).chat.completions.create(**CALL)
    figures = reply.model_extra["adalib"]
    assert figures["answers"] == len(upstream.seen) == sum(figures["votes"].values()) >= 2
    assert (reply.choices[0].finish_reason, figures["tokens"]) == ("stop", 5 * len(upstream.seen))


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


def test_a_cut_winner_says_that_it_was_cut(pair):
    upstream, _, base = pair
    upstream.finish = "length"
    upstream.texts = ("Let me think step by",)
    reply = client(base).chat.completions.create(**CALL)
    assert reply.choices[0].finish_reason == "length"
    assert reply.model_extra["adalib"]["votes"] == {}


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
    given = []

    async def never(self, question, ask, *, seconds):
        given.append(seconds)
        await asyncio.sleep(seconds)
        raise TimeoutError

    monkeypatch.setattr(Router, "answer", never)

    async def two():
        async with httpx.AsyncClient(timeout=20) as asking:
            calls = [asking.post(f"{base}/chat/completions", json=CALL) for _ in range(2)]
            return await asyncio.gather(*calls)

    url = "http://127.0.0.1:9/v1"
    with listening(Server(Router(stopping, None, 6), url, "m", deadline=1.0).app()) as base:
        assert [reply.status_code for reply in run_to_end(two())] == [504, 504]
    # The other one waited for its turn, and had what was left, if anything.
    assert all(second < first for first, second in pairwise(given))


def test_a_long_conversation_is_passed_on(pair, lines):
    upstream, _, base = pair
    turns = [{"role": "user", "content": "And what is 3 + 4?"}] * 30_000
    post(base, {"messages": turns}, timeout=60)
    assert [len(request["messages"]) for request in upstream.seen] == [30_000]
    assert "long" in lines()[0]["why"]


def test_a_defect_is_a_reply_and_a_line(pair, lines, monkeypatch):
    _, _, base = pair
    monkeypatch.setattr(Server, "forward", lambda *_: 1 / 0)
    reply = httpx.get(f"{base}/models", timeout=5)
    assert reply.status_code == 500
    assert "failed" in reply.json()["error"]["message"]
    assert "ZeroDivisionError" in lines()[0]["why"]


def test_a_defect_of_a_vote_leaves_the_upstreams_reply(pair, lines, monkeypatch):
    _, router, base = pair
    monkeypatch.setattr(router, "plan", lambda *_: 1 / 0)
    reply = client(base).chat.completions.create(**CALL)
    assert reply.choices[0].message.content == "Answer: 7"
    assert "ZeroDivisionError" in lines()[0]["why"]


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


def test_bytes_come_and_go_as_they_are(stopping, tmp_path):
    headers = [
        b"X-Twice: one",
        b"x-twice: two",
        b"X-Name: J\xfcrgen",
        b"Authorization: Bearer mine",
        b"Cookie: a=1; b=2",
        b"Content-Length: 6",
    ]
    back = [
        b"Location: http://elsewhere.example/x",
        b"Set-Cookie: a=1",
        b"Set-Cookie: b=2",
        b"X-Name: J\xfcrgen",
        b"Date: Thu, 01 Jan 1970 00:00:00 GMT",
        b"Server: theirs",
        b"Content-Encoding: gzip",
        b"Content-Length: 5",
    ]
    status = b"HTTP/1.1 302 Found\r\n"
    plain = Plain(status + b"\r\n".join([*back, b"Connection: close", b"", b"\x1f\x8bxyz"]))
    targets = [b"files/a%2Fb?x=1&x=%20&y", b"models/%C3%A4%25", b"/double", b"dot/./here", b"x?"]
    with commanded(stopping, tmp_path, f"http://127.0.0.1:{plain.port}/api/v1") as (_, base):
        port = httpx.URL(base).port
        for target in targets:
            plain.came = b""
            head = [b"POST /v1/" + target + b" HTTP/1.1", b"Host: here", *headers]
            reply = exchanged(
                port, b"\r\n".join([*head, b"Connection: close", b"", b"\x00\xffaEND"])
            )
            first, came, body = apart(plain.came)
            assert first == b"POST /api/v1/" + target.removesuffix(b"?") + b" HTTP/1.1"
            assert without_connection(came) == without_connection(headers)
            assert body == b"\x00\xffaEND"
            first, came, body = apart(reply)
            assert first.startswith(b"HTTP/1.1 302")
            assert without_connection(came) == without_connection(back)
            assert body == b"\x1f\x8bxyz"


def test_a_length_that_contradicts_the_chunks_is_left_out(pair):
    """As RFC 9112 (section 6.3) asks of whoever passes a message on."""
    _, _, base = pair
    port = httpx.URL(base).port
    head = b"POST /v1/files HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"
    body = b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
    first, _, came = apart(exchanged(port, head + body))
    assert first.startswith(b"HTTP/1.1 200")
    assert json.loads(came)["body"] == "ab"


@pytest.mark.parametrize(
    "climb", ["%2e%2e", "%252e%252e", "%25252e.", "..%2Fy", "..%5Cy", "..%3Bx", "%" + "25" * 999]
)
def test_no_path_climbs_however_it_is_written(pair, climb):
    upstream, _, base = pair
    port = httpx.URL(base).port
    request = f"GET /v1/x/{climb}/y HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
    assert b" 404 " in exchanged(port, request.encode()).split(b"\r\n")[0]


# The command


def test_small_replies_are_sent_at_once(stopping, tmp_path, monkeypatch):
    """Without TCP_NODELAY each waits 40 ms for the client's delayed acknowledgement."""
    Router(stopping, None, 6).save(tmp_path)
    listened = []
    monkeypatch.setattr(
        uvicorn.Server,
        "run",
        lambda self, sockets: listened.extend(
            one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in sockets
        ),
    )
    server_module.serve(tmp_path, "http://127.0.0.1:9/v1", "m", port=0)
    assert all(listened)
    assert listened


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
    with pytest.warns(UserWarning, match="OPENAI_API_KEY") as caught:
        server_module.serve(tmp_path, "http://127.0.0.1:9/v1", "m", host="0.0.0.0", port=0)
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
                assert asking.get(f"{base}/{'x' * 8000}").status_code == 200
        process.terminate()
        assert process.wait(timeout=60) in (0, -15)
        assert process.stderr.read() == ""
        if not closed:
            assert json.loads(process.stdout.readline())["status"] == 200


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
    assert used["prompt_tokens"] == 20 * ours["answers"]
    assert used["total_tokens"] == used["prompt_tokens"] + used["completion_tokens"]


def test_log_probabilities_that_only_the_vote_wanted_do_not_come_back(weighted):
    upstream = Upstream()
    with served(weighted, upstream) as base:
        reply = client(base).chat.completions.create(**CALL)
    assert upstream.seen[0]["logprobs"]
    assert reply.choices[0].logprobs is None


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
        client(base).chat.completions.create(**CALL)
    assert "logprobs" in upstream.seen[-1]


def test_what_one_caller_can_hold_open_is_bounded(stopping, monkeypatch):
    monkeypatch.setattr(server_module, "MOST_OF_ONE", 2)
    upstream = Upstream(tokens=(1000,), pace=0.01)
    call = {"json": CALL | {"stream": True}, "timeout": 2.0}
    with (
        served(Router(stopping, None, 6), upstream) as base,
        httpx.Client(**{"timeout": 20}) as asking,
    ):
        address = f"{base}/chat/completions"
        with asking.stream("POST", address, **call), asking.stream("POST", address, **call):
            third = asking.get(f"{base}/models")
            assert (third.status_code, third.headers["retry-after"]) == (503, "1")
            assert health(base)["status"] == "ok"
        wait_until(lambda: asking.get(f"{base}/models").is_success, "there is a place again")


def sockets() -> int:
    """How many this process has open, which here is caller, server and upstream."""
    return len(psutil.Process().net_connections("tcp"))


GONE = {"tokens": (50,), "pace": 0.01}  # with a caller who waits for a twentieth of a second
RAW = {"X-Stainless-Raw-Response": "true"}
KINDS = [
    ({}, {}, {}),
    ({}, {}, RAW),
    ({}, {"tools": [{}]}, {}),
    ({}, {"stream": True}, {}),
    ({}, {}, {"Origin": "http://elsewhere.example"}),
    ({"status": 500}, {}, {}),
    ({"status": 400}, {}, {}),  # of which a race asks again without its wishes
    ({"statuses": [200, 429] * 20}, {}, {}),
    ({"page": ("text/html", b"<html>")}, {}, {}),
    ({"page": ("application/json", b'{"choices": [')}, {}, {}),
    ({"finish": "length"}, {"max_tokens": 2}, {}),
    (GONE, {}, {}),
    (GONE, {"stream": True}, {}),
    (GONE, {"tools": [{}]}, {}),
]


def test_no_connection_stays_open(router):
    """Twenty requests, one after the other, need a few connections; a lost one would stay."""
    upstream = Upstream()
    few = 2 * router.most_answers + 6  # both ends of what is kept open for the next vote
    with served(router, upstream) as base, httpx.Client(verify=False, timeout=20) as asking:
        before = sockets()
        for upstreams, more, headers in KINDS:
            vars(upstream).update(vars(Upstream()) | upstreams)
            call = {"json": CALL | more, "headers": headers}
            call |= {"timeout": 0.05} if upstreams is GONE else {}
            for _ in range(20):
                with (
                    suppress(httpx.TimeoutException),
                    asking.stream("POST", f"{base}/chat/completions", **call) as reply,
                ):
                    next(reply.iter_bytes())
            wait_until(lambda: sockets() - before <= few, "connections are closed", seconds=20)


# What ends, ends


@contextmanager
def with_an_open_vote(policy, folder):
    """Run `adalib serve` until it has asked for a vote that takes an hour; yields the process."""
    upstream = Upstream(tokens=(36_000,), pace=0.1)
    with (
        listening(upstream.app()) as url,
        commanded(policy, folder, url) as (process, base),
        ThreadPoolExecutor(1) as one,
    ):
        asking = one.submit(post, base, timeout=60)
        wait_until(lambda: upstream.seen, "the vote is asked for")
        yield process
        asking.exception()


def test_a_second_signal_ends_the_server_at_once(stopping, tmp_path):
    with with_an_open_vote(stopping, tmp_path) as process:
        process.terminate()
        time.sleep(0.5)
        assert process.poll() is None  # the open vote still has some seconds
        process.terminate()
        began = time.monotonic()
        process.wait(timeout=60)
        assert time.monotonic() - began < listening_module.GRACE


def test_a_stuck_upstream_holds_the_end_up_for_seconds_only(stopping, tmp_path):
    with with_an_open_vote(stopping, tmp_path) as process:
        process.terminate()
        process.wait(timeout=60)


def test_two_servers_on_one_debt_are_refused(stopping, tmp_path):
    upstream = Upstream()
    with (
        listening(upstream.app()) as url,
        commanded(stopping, tmp_path, url),
        pytest.raises(ValueError, match=r"another server .*--debt"),
    ):
        server_module.serve(tmp_path, url, "m", port=0)


def test_a_port_that_is_taken_gets_one_sentence(stopping, tmp_path):
    Router(stopping, None, 6).save(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for _ in range(2):  # the debt's file is free again
            with pytest.raises(ValueError, match=f"{port} .*--port"):
                server_module.serve(tmp_path, "http://127.0.0.1:9/v1", "m", port=port)


def test_a_connection_that_asks_nothing_is_closed(stopping, monkeypatch):
    monkeypatch.setattr(listening_module, "HEAD_SECONDS", 0.5)
    app = Server(Router(stopping, None, 6), "http://127.0.0.1:9/v1", "m").app()
    with listening(app, http=listening_module.Connection) as base:
        port = httpx.URL(base).port
        for started in (b"", b"GET /health HTTP/1.1\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                connection.sendall(started)
                assert connection.recv(100) == b""
