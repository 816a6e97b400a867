"""The server on loopback: real clients in front of it, a small endpoint behind it."""

import asyncio
import json
import logging
import time
from dataclasses import replace

import httpx
import numpy as np
import openai
import pytest
from conftest import run_to_end
from random_tables import timed_answers
from upstream import Upstream, listening

from adalib import PricedRace, PricedStopping, Router, beta_population, load
from adalib import server as server_module
from adalib.server import LOG, Server, why_passed_on

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


def served(router, upstream, url, **options):
    """Return an application in front of an upstream."""
    return listening(Server(router, url, "m", **options).app())


@pytest.fixture
def pair(stopping):
    """An upstream, the server in front of it, and its base URL."""
    upstream = Upstream()
    router = Router(stopping, None, 6)
    with listening(upstream.app()) as url, served(router, upstream, url, key="secret") as base:
        yield upstream, router, base


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


def test_an_essay_is_not_voted_on(pair, lines):
    upstream, router, base = pair
    upstream.texts = ("In 1990 there were 3 reasons. " * 20,)
    reply = client(base).chat.completions.create(**CALL)
    assert reply.choices[0].message.content == upstream.texts[0]
    assert len(upstream.seen) == 1
    assert lines()[0]["why"] == "no short answer"
    assert router.controller.asked == 0


def test_a_seed_gives_different_answers(pair):
    upstream, _, base = pair
    client(base).chat.completions.create(**CALL, seed=5)
    seeds = [request["seed"] for request in upstream.seen]
    assert seeds == list(range(5, 5 + len(seeds)))


def test_missing_log_probabilities_leave_plain_votes(weighted):
    upstream = Upstream(("Answer: 7", "Answer: 8", "Answer: 7"), logprobs=False)
    with listening(upstream.app()) as url, served(weighted, upstream, url) as base:
        figures = client(base).chat.completions.create(**CALL).model_extra["adalib"]
    assert all(request["logprobs"] for request in upstream.seen)
    most = max(figures["votes"].values())
    assert figures["votes"][figures["answer"]] == most


def test_missing_usage_counts_the_events(race):
    upstream = Upstream(usage=False, tokens=(4,))
    with listening(upstream.app()) as url, served(race, upstream, url) as base:
        figures = client(base).chat.completions.create(**CALL).model_extra["adalib"]
    # The event that ends an answer counts too; what a cancelled one wrote last may not be read.
    most = upstream.written.total() + len(upstream.seen)
    assert 4 * figures["answers"] <= figures["tokens"] <= most


def test_a_race_cancels_its_losers_upstream(race, lines):
    """One answer in three is short, and the others are cut before their 400 tokens."""
    upstream = Upstream(tokens=(3, 400, 400), pace=0.004)
    with listening(upstream.app()) as url, served(race, upstream, url) as base:
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
            httpx.post(f"{base}/chat/completions", json=CALL | more, timeout=0.3)
    with httpx.stream("POST", f"{base}/chat/completions", json=CALL | {"stream": True}) as reply:
        next(reply.iter_bytes())
    time.sleep(0.3)
    assert upstream.cancelled == 2  # the vote's answer and the stream; one reply was never begun
    assert router.controller.asked == 0
    assert router.controller.opened == 0
    assert [line["status"] for line in lines()].count(499) >= 2


def test_a_slow_upstream_gets_a_clear_answer(stopping):
    upstream = Upstream(tokens=(1000,), pace=0.01)
    router = Router(stopping, None, 6)
    limits = {"deadline": 0.2, "timeout": 0.2}
    with listening(upstream.app()) as url, served(router, upstream, url, **limits) as base:
        reply = httpx.post(f"{base}/chat/completions", json=CALL, timeout=5)
        assert reply.status_code == 504
        assert "0.2" in reply.json()["error"]["message"]
        tools = httpx.post(f"{base}/chat/completions", json=CALL | {"tools": [{}]}, timeout=5)
        assert tools.status_code == 504
    assert router.controller.opened == 0


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_an_error_of_the_upstream_comes_back_as_it_is(pair, status):
    upstream, _, base = pair
    upstream.status = status
    reply = httpx.post(f"{base}/chat/completions", json=CALL, timeout=20)
    assert reply.status_code == status
    assert reply.json() == {"error": {"message": "broken"}}


def test_no_upstream_is_said_to_be_none(stopping):
    app = Server(Router(stopping, None, 6), "http://127.0.0.1:9/v1", "m").app()
    with listening(app) as base:
        assert httpx.post(f"{base}/chat/completions", json=CALL, timeout=20).status_code == 502
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


def test_pages_of_other_sites_and_climbing_paths_are_refused(pair):
    upstream, _, base = pair
    headers = {"Origin": "https://elsewhere.example"}
    reply = httpx.post(f"{base}/chat/completions", json=CALL, headers=headers, timeout=5)
    assert reply.status_code == 403
    assert httpx.get(f"{base}/x/%2e%2e/y", timeout=5).status_code == 404
    assert not upstream.seen


def test_health_shows_the_budget(pair):
    _, router, base = pair
    client(base).chat.completions.create(**CALL)
    health = httpx.get(base.removesuffix("/v1") + "/health", timeout=5).json()
    assert (health["status"], health["budget"], health["asked"]) == ("ok", 6, 1)
    assert health["debt"] == router.controller.debt


def test_answers_are_kept_in_our_format(stopping, tmp_path):
    upstream = Upstream(("Answer: 7", "Answer: 8", "Answer: 7"))
    kept = tmp_path / "kept.jsonl"
    router = Router(stopping, None, 6)
    with listening(upstream.app()) as url, served(router, upstream, url, keep=kept) as base:
        figures = client(base).chat.completions.create(**CALL).model_extra["adalib"]
    record = json.loads(kept.read_text())
    assert record["question"] == ASK[0]["content"]
    assert len(record["answers"]) == len(record["tokens"]) == figures["answers"]
    kept.write_text(json.dumps(record | {"gold": "7"}))
    assert load(kept).table((1,)).acc[0, 0] == record["answers"].count("7") / len(record["answers"])
