"""The server before a slow, failing and lying upstream, asked by the plain openai client, by hand
and by a browser."""

import contextlib
import json
import math
import random
import re
import socket
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import openai
import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from conftest import wait_until
from fault_server import STREAM, USAGE, FaultServer
from odd_replies import ODD, STRANGE, as_replies, bomb, changed

from adalib import Router, load
from adalib.llm.client import Client
from adalib.llm.questions import Prompt
from adalib.router import attempt, listening, watch
from adalib.router import server as servers
from adalib.router.asking import Asking
from adalib.router.purse import Ledger, Prices, Purse
from adalib.router.routed import CAP, OTHER
from adalib.router.server import Service, make_app

SECONDS, RATE = 3, 50
PATIENCE = 300_000  # milliseconds: a loaded machine is slow, not wrong
ASK = {"model": "m", "messages": [{"role": "user", "content": "What is 3 + 4?"}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("router")
    Router.fit(load("word-fewshot").take(range(0, 372, 12)), budget=3, signals=("votes",)).save(
        path
    )
    return path


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(attempt, "FIRST_WAIT", 0.01)


class Running:
    """A server in a thread of its own, and clients for it."""

    def __init__(self, url, service, token):
        self.url, self.service = url, service
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        limits = httpx.Limits(max_connections=200)
        self.http = httpx.Client(
            base_url=url, headers=headers, timeout=300, trust_env=False, limits=limits
        )
        self.client = openai.OpenAI(
            base_url=f"{url}/v1", api_key=token or "none", max_retries=0, timeout=30
        )

    def post(self, **more):
        return self.http.post("/v1/chat/completions", json=ASK | more)


@contextmanager
def serving(
    folder,
    upstream,
    *,
    token="",
    limit=64,
    purse=None,
    prompt=None,
    tries=2,
    patience=5,
    protocol="auto",
    **options,
):
    router = Router.load(folder)
    router.purse = purse or Purse()
    more = {
        name: options.pop(name)
        for name in ("aliases", "shadow", "log", "own_prices", "keep")
        if name in options
    }
    client = Client(upstream.url, "m", timeout=patience)
    service = Service(router, client, Asking(tries=tries, **options), prompt, limit, **more)
    config = uvicorn.Config(
        make_app(service, token),
        port=0,
        http=protocol,
        log_level="critical",
        timeout_keep_alive=75,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started, "the server has started")
    port = server.servers[0].sockets[0].getsockname()[1]
    running = Running(f"http://127.0.0.1:{port}", service, token)
    try:
        yield running
    finally:
        running.http.close()
        running.client.close()
        server.should_exit = True
        thread.join()


def wait_until_closed(service):
    """A place is given back a moment after its caller has the reply."""
    wait_until(lambda: service.open == 0, "every place is given back")


@pytest.fixture(scope="module")
def standing(folder):
    """One upstream and one server for all tests that need nothing of their own."""
    with FaultServer() as upstream, serving(folder, upstream) as running:
        yield upstream, running


@pytest.fixture
def both(standing):
    """The standing ones, the upstream as good as new; what a test did to it does not outlive the
    test."""
    upstream, running = standing
    wait_until_closed(running.service)
    upstream.fault, upstream.replies = lambda k: "ok", {}
    upstream.seen.clear()
    return upstream, running


def test_a_plain_client_gets_the_winner(both):
    upstream, running = both
    raw = running.client.chat.completions.with_raw_response.create(**ASK)
    reply = raw.parse()
    report = reply.model_extra["adalib"]
    samples = len(upstream.seen)
    assert reply.choices[0].message.content == upstream.text
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.completion_tokens == 9 * samples
    assert reply.usage.prompt_tokens == 20 * samples
    assert (report["answer"], report["votes"], report["samples"]) == ("7", {"7": samples}, samples)
    assert raw.headers["x-adalib-samples"] == str(samples)
    assert float(raw.headers["x-adalib-price"]) == pytest.approx(report["price"], rel=1e-4)
    assert json.loads(raw.headers["x-adalib-votes"]) == {"7": samples}
    assert upstream.seen[0]["messages"] == ASK["messages"]


def test_a_stream_brings_the_same(both):
    upstream, running = both
    chunks = list(
        running.client.chat.completions.create(
            **ASK, stream=True, stream_options={"include_usage": True}
        )
    )
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == upstream.text
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage.completion_tokens == 9 * len(upstream.seen)
    assert chunks[-2].model_extra["adalib"]["samples"] == len(upstream.seen)
    upstream.seen.clear()
    headers, events = streamed(running)
    report = json.loads(events[-2].removeprefix("data: "))["adalib"]
    assert headers["x-adalib-samples"] == str(report["samples"]) == str(len(upstream.seen))
    assert json.loads(headers["x-adalib-votes"]) == report["votes"]
    assert events[-1] == "data: [DONE]"


def streamed(running, **more):
    """The headers of a stream, and its events as they came."""
    with running.http.stream(
        "POST", "/v1/chat/completions", json=ASK | {"stream": True} | more
    ) as reply:
        return reply.headers, [line for line in reply.iter_lines() if line]


def test_a_long_vote_keeps_the_line_open(folder, monkeypatch):
    monkeypatch.setattr(servers, "QUIET", 0.1)
    with FaultServer(latency=0.4) as upstream, serving(folder, upstream) as running:
        headers, events = streamed(running, adalib={"price": 100.0})
        assert "x-adalib-samples" not in headers  # not known when it began
        assert events[0] == ": still voting"
        assert json.loads(events[-2].removeprefix("data: "))["adalib"]["samples"] == 1
    with (
        FaultServer(lambda k: "500", latency=0.2) as upstream,
        serving(folder, upstream) as running,
    ):
        stream = running.client.chat.completions.create(**ASK, stream=True)
        with pytest.raises(openai.APIError, match="500"):
            list(stream)


PASSED = {
    "temperature 0": {"temperature": 0},
    "several choices": {"n": 3, "top_p": 0.5},
    "response_format": {"response_format": {"type": "json_object"}},
    "tools": {"tools": [{"type": "function", "function": {"name": "add", "parameters": {}}}]},
    "logprobs": {"logprobs": True},
    "another model": {"model": "other"},
    "not text alone": {
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
        ]
    },
}


def test_a_callers_own_orders_are_kept(folder):
    prompt = Prompt([{"role": "user", "content": "Q: {question}"}])
    options = {"temperature": None, "prompt": prompt}
    with (
        FaultServer(refuses=("max_tokens", "top_p")) as upstream,
        serving(folder, upstream, **options) as running,
    ):
        orders = [{"role": "system", "content": "Speak French"}, *ASK["messages"]]
        with warnings.catch_warnings(record=True):
            reply = running.post(messages=orders, top_p=0.5).json()
        assert reply["system_fingerprint"] == "fp_1"
        assert upstream.seen[-1]["max_completion_tokens"] == 256
        assert upstream.seen[-1].keys() == {"model", "messages", "max_completion_tokens"}
        assert upstream.seen[-1]["messages"][0] == orders[0]
        assert upstream.seen[-1]["messages"][1]["content"] == "Q: What is 3 + 4?"
        refused = len(upstream.seen) - reply["adalib"]["samples"]
        before = len(upstream.seen)
        reply = running.post(max_completion_tokens=77).json()
        assert (
            len(upstream.seen) - before == reply["adalib"]["samples"]
        )  # what was refused is remembered
        assert refused <= 2 * 8
        assert upstream.seen[-1]["max_completion_tokens"] == 77


def test_a_page_of_another_site_spends_nothing(both):
    upstream, running = both
    paid = running.service.router.purse.spent
    evil = {"Origin": "http://evil.example"}
    for headers in (
        evil,
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
    ):
        assert (
            running.http.post("/v1/chat/completions", json=ASK, headers=headers).status_code == 403
        )
        assert running.http.get("/live.json", headers=headers).status_code == 403
    plain = {"Content-Type": "text/plain"}
    assert (
        running.http.post(
            "/v1/chat/completions", content=json.dumps(ASK), headers=plain
        ).status_code
        == 415
    )
    assert upstream.seen == []
    assert running.service.router.purse.spent == paid
    same = {"Origin": running.url}
    assert running.http.post("/v1/chat/completions", json=ASK, headers=same).status_code == 200


def test_a_request_with_a_number_that_is_none_costs_nothing(both):
    upstream, running = both
    paid = running.service.router.purse.spent
    for odd in ("NaN", "Infinity", "-Infinity", "1e999"):
        body = json.dumps(ASK)[:-1] + f', "logit_bias": {{"5": {odd}}}}}'
        reply = running.http.post("/v1/chat/completions", content=body)
        assert (reply.status_code, "no word for" in reply.text) == (400, True)
    assert upstream.seen == []
    assert running.service.router.purse.spent == paid
    reply = running.post(adalib={"cap": 1e-9})
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "cap_too_low")


def test_costs_that_drift_are_noted(folder):
    with FaultServer() as upstream, serving(folder, upstream) as running:
        running.post()
        service, controller = running.service, running.service.router.controller
        before = controller.asked, controller.spent, controller.price
        service.reload(Router.load(folder))
        assert (controller.asked, controller.spent, controller.price) == before
        other = Router.load(folder)
        other.cost = "tokens"
        with pytest.raises(ValueError, match="counts tokens, the old one samples"):
            service.reload(other)
        assert not service.watch.notes
        service.watch.costs.extend([(9.0, 3.0)] * watch.SHOWN)
        for _ in range(2):
            running.post()
        assert "training" in service.watch.notes["drift"]
        assert "adalib_drift 2.9" in running.http.get("/metrics").text


def test_a_vote_that_is_only_watched_changes_nothing(folder, caplog):
    caplog.set_level("INFO", "adalib.requests")
    with (
        FaultServer() as upstream,
        serving(folder, upstream, shadow=True, log=True, own_prices=False) as running,
    ):
        reply = running.http.post("/v1/chat/completions", json=ASK, headers={"x-request-id": "r-1"})
        assert reply.json()["choices"][0]["message"]["content"] == upstream.text
        assert (reply.json()["adalib"]["samples"], reply.json()["adalib"]["counted"]) == (1, False)
        wait_until_closed(running.service)
        lines = [json.loads(line) for line in caplog.messages]
        assert {line["id"] for line in lines} == {"r-1"}
        closed = next(line for line in lines if "changed" in line)
        assert (closed["changed"], closed["samples"]) == (False, len(upstream.seen))
        assert "3 + 4" not in caplog.text  # no word of what was asked
        assert running.post(adalib={"price": 0}).status_code == 400
        asked = {"question": "What is 3 + 4?", "budget": 3}
        plan, before = running.http.post("/simulate", json=asked).json(), len(upstream.seen)
        dear = running.http.post("/simulate", json=asked | {"budget": None, "price": 100.0}).json()
        assert dear["expected_cost"] <= plan["expected_cost"] <= plan["answers_at_most"]
        assert (dear["price"], len(upstream.seen)) == (100.0, before)
        assert running.http.post("/simulate", json={"question": 3}).status_code == 400


def test_a_request_sets_its_own_price(folder):
    with FaultServer(lambda k: "ok") as upstream, serving(folder, upstream, cap=30) as running:
        dear = running.client.chat.completions.create(
            **ASK, extra_body={"adalib": {"price": 100.0}}
        )
        assert dear.model_extra["adalib"]["samples"] == 1
        capped = running.post(adalib={"price": 0, "cap": 2}, seed=7).json()["adalib"]
        assert (capped["samples"], capped["reason"]) == (2, CAP)
        assert [seen["seed"] for seen in upstream.seen[-2:]] == [
            7,
            8,
        ]  # or every answer would be the same
        assert running.post(adalib={"price": 0, "cap": 1e9}).json()["adalib"]["samples"] <= 30


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        *((fault, 502, "upstream_error") for fault in ("500", "cut", "html", "404")),
        ("401", 502, "upstream_error"),  # our key there, not the caller's key here
        ("400", 400, "invalid_request_error"),
        ("422", 422, "invalid_request_error"),
        ("429", 429, "rate_limit_error"),
        ("quota", 402, "insufficient_quota"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_fault_that_stays_is_a_proper_error(both, fault, status, kind, stream):
    upstream, running = both
    if fault in ("429", "cut", "html"):  # once, it is not noticed
        upstream.fault = lambda k: "ok" if k else fault
        assert (
            running.client.chat.completions.create(**ASK).choices[0].message.content
            == upstream.text
        )
    upstream.fault = lambda k: fault
    with pytest.raises(openai.APIStatusError) as error:
        running.client.chat.completions.create(**ASK, stream=stream)
    assert error.value.status_code == status
    assert error.value.body["type"] == kind
    assert "\n" not in error.value.body["message"]
    assert ("retry-after" in error.value.response.headers) == (
        fault == "429"
    )  # no waiting fills an account
    assert running.service.open == 0


def test_no_odd_reply_gets_through(both):
    """Every odd reply once, then for good: the next try answers, or a proper error does, in one
    line."""
    turns = []
    upstream, running = both
    upstream.fault = lambda k: turns.pop() if turns else "ok"
    upstream.replies = {**as_replies(ODD), "bomb": bomb()}
    for odd in [*ODD, "bomb", "endless"]:
        turns[:] = [odd]
        assert running.post().json()["choices"][0]["message"]["content"] == upstream.text, odd
        turns[:] = [odd, odd]
        reply = running.post()
        assert (reply.status_code, reply.json()["error"]["type"]) == (502, "upstream_error"), odd
        assert "\n" not in reply.json()["error"]["message"]
    assert running.service.open == 0


def test_numbers_that_nobody_can_use_are_left_out(both):
    upstream, running = both
    upstream.replies = as_replies(STRANGE)
    for strange in STRANGE:
        upstream.fault = lambda k, strange=strange: strange
        whole_reply = json.loads(running.post().text, parse_constant=pytest.fail)
        assert (
            whole_reply["choices"][0]["message"]["content"],
            whole_reply["adalib"]["answer"],
        ) == (
            "Answer: 7",
            "7",
        ), strange
        assert (
            0 < whole_reply["usage"]["completion_tokens"] < 10_000
        )  # what was said, or the most that it can have been
    assert running.service.open == 0


def test_a_fault_in_the_middle_gives_the_best_vote_so_far(folder):
    with (
        FaultServer(lambda k: "ok" if k < 2 else "500") as upstream,
        serving(folder, upstream) as running,
    ):
        report = running.post(adalib={"price": 0}).json()["adalib"]
        assert (report["answer"], report["samples"]) == ("7", 2)
        assert report["reason"].startswith("the endpoint failed")


def test_a_hang_ends_at_the_deadline(folder):
    with (
        FaultServer() as upstream,
        serving(folder, upstream, deadline=2) as running,
    ):
        running.post()  # what a server does once is not part of the two seconds
        before = len(upstream.seen)
        upstream.fault = lambda k: "ok" if k == before else "hang"
        assert running.post(adalib={"price": 0}).json()["adalib"]["samples"] == 1
        reply = running.post()
        assert (reply.status_code, reply.json()["error"]["code"]) == (504, "timeout")


def test_too_many_at_once_are_told_to_come_back(folder):
    with FaultServer(latency=0.5) as upstream, serving(folder, upstream, limit=2) as running:
        with ThreadPoolExecutor(8) as threads:
            replies = list(threads.map(lambda _: running.post(), range(8)))
        refused = [reply for reply in replies if reply.status_code == 429]
        assert sorted({reply.status_code for reply in replies}) == [200, 429]
        assert all(reply.headers["retry-after"] == "1" for reply in refused)
        assert refused[0].json()["error"]["code"] == "server_busy"
        assert running.post().status_code == 200  # and then there is room again


def test_a_token_opens_the_page(folder, browser):
    with FaultServer() as upstream, serving(folder, upstream, token="s3cret-t0ken") as running:
        assert running.post().status_code == 200
        stranger = httpx.Client(base_url=running.url, trust_env=False)
        for path in ("/v1/models", "/metrics", "/live.json"):
            reply = stranger.get(path)
            assert (reply.status_code, reply.json()["error"]["code"]) == (401, "invalid_api_key")
        assert stranger.get("/health").json() == {"status": "ok"}
        assert "s3cret" not in running.http.get("/metrics").text + running.http.get("/").text
        assert "s3cret-t0ken" not in upstream.keys
        page = browser.new_page()
        page.goto(running.url)
        page.locator("#token").fill("s3cret-t0ken")
        page.get_by_role("button", name="show").click()
        page.wait_for_function(DRAWN, timeout=PATIENCE)
        assert page.locator("#ask").is_hidden()
        page.close()


def test_what_is_watched(folder):
    with (
        FaultServer() as upstream,
        serving(folder, upstream, prices=Prices(written=1.0)) as running,
    ):
        for _ in range(3):
            assert running.post().status_code == 200
        upstream.replies["list"] = (200, "", b'{"object": "list", "data": [{"id": "large"}]}')
        upstream.fault = lambda k: "list"
        assert [model.id for model in running.client.models.list()] == ["m", "large"]
        upstream.fault = lambda k: "ok"
        votes = len(upstream.seen) - 1
        lines = running.http.get("/metrics").text.splitlines()
        assert "adalib_questions_total 3.0" in lines
        assert f"adalib_samples_total {votes:.1f}" in lines
        assert 'adalib_requests_total{status="200"} 4.0' in lines
        live = running.http.get("/live.json").json()
        assert (live["asked"], live["budget"], len(live["recent"])) == (3, 3.0, 3)
        assert live["average"] == votes / 3
        running.post(temperature=0)
        dear = running.post(adalib={"price": 0}).json()["adalib"]
        assert not dear["counted"]
        after = running.http.get("/live.json").json()
        assert [after[name] for name in ("asked", "average", "price")] == [
            live[n] for n in ("asked", "average", "price")
        ]
        assert (after["apart"], after["apart_spent"]) == (1, dear["cost"])
        assert after["bound"] == running.service.router.controller.bound(running.service.limit)
        assert f"adalib_bound {after['bound']}" in running.http.get("/metrics").text.splitlines()
        page = running.http.get("/").text
        assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in page


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "not JSON"),
        (b"[]", 400, "object"),
        ({"messages": []}, 400, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, 400, "user"),
        ({"temperature": -1}, 400, "temperature"),
        ({"adalib": {"prize": 1}}, 400, "prize"),
        ({"adalib": {"price": -1}}, 400, "price"),
        ({"temperature": float("nan")}, 400, "no word for"),
        ({"max_tokens": "1000000"}, 400, "max_tokens"),
        ({"max_tokens": True}, 400, "max_tokens"),
        ({"max_tokens": 1.5}, 400, "max_tokens"),
        ({"Max_Tokens": 1000000}, 400, "small letters"),
        ({"max_tokens": 5, "max_completion_tokens": 6}, 400, "differ"),
        ({"seed": "7"}, 400, "seed"),
        ({"stream": "yes"}, 400, "stream"),
        ({"stop": [1]}, 400, "stop"),
        ({"temperature": "1"}, 400, "temperature"),
        ({"adalib": {"cap": True}}, 400, "cap"),
        ({"max_tokens": 10**400}, 400, "max_tokens"),
        ({"max_tokens": 0}, 400, "max_tokens"),
        ({"messages": [{"role": "user", "content": "half \ud83d of it"}]}, 400, "half a character"),
        (b"[" * 100_000, 400, "too deep"),
        (b'{"a":' * 100_000, 400, "too deep"),
    ],
)
def test_what_cannot_be_answered(both, body, status, message):
    upstream, running = both
    content = body if isinstance(body, bytes) else json.dumps(ASK | body)
    reply = running.http.post("/v1/chat/completions", content=content)
    assert reply.status_code == status
    assert message in reply.json()["error"]["message"]
    assert upstream.seen == []


@pytest.mark.parametrize("stream", [False, True])
def test_a_fault_of_ours_is_a_proper_error(both, monkeypatch, caplog, stream):
    def fails(*_):
        raise ZeroDivisionError("key sk-a-very-secret-key-0123")

    _, running = both
    monkeypatch.setattr(running.service.router, "plan", fails)
    reply = running.post(stream=stream)
    assert (reply.status_code, reply.json()["error"]["type"]) == (500, "server_error")
    assert "secret" not in reply.text + caplog.text
    assert running.service.open == 0
    monkeypatch.undo()
    assert running.post().status_code == 200  # on the same line


def test_a_story_is_passed_on_or_refused(folder):
    with FaultServer(text="Once upon a time. " * 20) as upstream:
        with serving(folder, upstream) as running:
            reply = running.post(adalib={"price": 0}).json()
            assert reply["choices"][0]["message"]["content"] == upstream.text
            assert (reply["adalib"]["samples"], reply["adalib"]["reason"]) == (1, OTHER)
        with serving(folder, upstream, other="refuse") as running:
            assert running.post(adalib={"price": 0}).json()["error"]["code"] == "no_short_answer"


PASSED |= {
    "service_tier": {"service_tier": "priority"},
    "longer than 1 MB": {"messages": [{"role": "user", "content": "x" * 2_000_000}]},
}


@pytest.mark.parametrize("why", PASSED)
def test_what_is_not_voted_on_passes_unchanged(folder, why):
    """One request as it came, the reply byte for byte, and nothing booked."""
    with FaultServer() as upstream, serving(folder, upstream, prices=Prices(1, 10)) as running:
        sent = ASK | PASSED[why]
        reply = running.http.post("/v1/chat/completions", json=sent, headers={"x-own": "7"})
        assert upstream.seen == [sent]
        assert upstream.calls[0][1]["x-own"] == "7"
        direct = httpx.post(f"{upstream.url}/chat/completions", json=sent, trust_env=False)
        assert reply.content == direct.content
        assert reply.headers["x-adalib-reason"] == f'"passed on: {why}"'
        _, events = streamed(running, **PASSED[why])
        assert "\n\n".join([*events, ""]).encode() == b"".join(STREAM[:2] + STREAM[3:])
        assert running.service.router.purse.spent == 0


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_other_requests_pass_whole(folder, method):
    replies = {"own": (207, "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Far: \xe9\r\n", b"{}")}
    with FaultServer(lambda k: "own", replies=replies) as upstream:
        with serving(folder, upstream, token="s3cret-t0ken") as running:
            path = "/v1/files/f1/content?after=x%20y"
            reply = running.http.request(method, path, headers={"Accept": "x/y", "Cookie": "c=3"})
        line, headers = upstream.calls[0]
    assert (line, headers["accept"], headers["cookie"]) == (f"{method} {path}", "x/y", "c=3")
    assert "s3cret-t0ken" not in str(upstream.calls)
    assert reply.status_code == 207
    assert reply.headers.get_list("set-cookie") == ["a=1", "b=2"]


def test_a_large_body_is_passed_in_pieces(folder):
    with FaultServer() as upstream, serving(folder, upstream) as running:
        reply = running.http.post("/v1/files", content=b"x" * (20 << 20))
        assert reply.status_code == 200
        assert upstream.calls[0][1]["content-length"] == str(20 << 20)


def test_an_idle_connection_that_was_closed_is_tried_once_more(folder):
    with FaultServer() as upstream, serving(folder, upstream) as running:
        assert running.http.get("/v1/x").status_code == 200
        upstream.fault = lambda k: "refuse" if k == 1 else "ok"
        assert running.http.get("/v1/x").status_code == 200
        assert len(upstream.seen) == 3
        upstream.fault = lambda k: "refuse"
        reply = running.http.get("/v1/x")
        assert (reply.status_code, upstream.url in reply.text) == (502, False)


def test_aliases_are_renamed(folder):
    with FaultServer() as upstream, serving(folder, upstream, aliases=("smart",)) as running:
        sent = {"model": "smart", "input": "What is 3 + 4?"}
        assert running.http.post("/v1/responses", json=sent).status_code == 200
        assert upstream.seen == [sent | {"model": "m"}]
        assert running.http.get("/v1/models/smart").json()["id"] == "smart"
        assert running.post(model="smart").json()["model"] == "smart"
        for path in ("x/../../y", "a//b"):
            assert running.http.get(f"/v1/{path}").status_code in (200, 404)


def test_no_key_is_repeated_to_callers(folder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-very-secret-key-0123")
    with FaultServer(lambda k: "403") as upstream, serving(folder, upstream) as running:
        reply = running.http.get("/v1/files")
        assert (reply.status_code, "sk-a" in reply.text) == (403, False)
        assert running.http.get("/ready").status_code == 200


def test_integers_are_read_as_integers(both):
    upstream, running = both
    body = json.dumps(ASK)[:-1] + ', "max_tokens": 5e1, "max_completion_tokens": 50}'
    assert running.http.post("/v1/chat/completions", content=body).status_code == 200
    sent = {name: value for name, value in upstream.seen[0].items() if name.startswith("max")}
    assert sent == {"max_completion_tokens": 50}
    assert json.dumps(sent) == '{"max_completion_tokens": 50}'


def test_details_of_usage_are_summed(folder):
    usage = USAGE | {
        "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": None},
        "completion_tokens_details": {"reasoning_tokens": 3},
        "cost": 0.25,
    }
    replies = as_replies({"rich": changed(usage=usage)})
    with (
        FaultServer(lambda k: "rich", replies=replies) as upstream,
        serving(folder, upstream, prices=Prices(1, 1)) as running,
    ):
        reply = running.post().json()
    samples = reply["adalib"]["samples"]
    assert reply["usage"]["prompt_tokens_details"] == {"cached_tokens": 4 * samples}
    assert reply["usage"]["completion_tokens_details"] == {"reasoning_tokens": 3 * samples}
    assert reply["adalib"]["money"] == pytest.approx(0.25 * samples)


def test_the_total_is_never_passed(folder):
    prices = {"prices": Prices(written=1e3), "max_tokens": 10}
    with (
        FaultServer() as upstream,
        serving(folder, upstream, purse=Purse(0.05), **prices) as running,
    ):
        replies = [running.post() for _ in range(8)]
        assert replies[0].status_code == 200
        assert replies[-1].status_code == 402
        assert "total in money is spent" in replies[-1].json()["error"]["message"]
        assert "retry-after" not in replies[-1].headers
        assert 0.03 < running.service.router.purse.spent <= 0.05
        assert running.post(max_tokens=10**6).status_code == 402
        with pytest.raises(openai.APIStatusError):  # which the client does not try again
            running.client.with_options(max_retries=5).chat.completions.create(**ASK)
        before = len(upstream.seen)
        assert running.post(temperature=0).status_code == 200  # what is passed on is not booked
        assert len(upstream.seen) == before + 1


def test_ledger_log_and_bill_agree(folder, tmp_path, caplog):
    """Votes, streams, passed requests, refusals, faults and disconnects: one sum, to the cent."""
    caplog.set_level("INFO", "adalib.requests")
    rng = random.Random(7)
    faults = FaultServer(lambda k: rng.choice(["ok"] * 17 + ["500", "429", "503"]), latency=0.002)
    ledger = Ledger(tmp_path / "ledger.json")
    purse = Purse(100.0, ledger)
    prices = {"prices": Prices(100.0, 1000.0), "max_tokens": 10, "purse": purse, "log": True}
    votes = []
    with faults as upstream, serving(folder, upstream, tries=3, **prices) as running:
        billed = upstream.reply

        def counting(fault, request, key):
            reply = billed(fault, request, key)
            if reply[0] == 200 and "own" not in str(request.get("user")):
                votes.append(1)
            return reply

        upstream.reply = counting

        def one(number):
            with contextlib.suppress(httpx.HTTPError):
                if number % 5 == 0:
                    running.post(temperature=0, user="own")
                elif number % 5 == 1:
                    timeout = 0.002 * (number % 7 + 1)
                    running.http.post("/v1/chat/completions", json=ASK, timeout=timeout)
                elif number % 5 == 2:
                    streamed(running)
                else:
                    running.post()

        with ThreadPoolExecutor(16) as threads:
            list(threads.map(one, range(200)))
        wait_until_closed(running.service)
        lines = [json.loads(line) for line in caplog.messages]
    bill = len(votes) * (20 * 100.0 + 9 * 1000.0) / 1e6
    assert purse.spent == pytest.approx(bill, abs=1e-9)
    assert math.fsum(line.get("money", 0.0) for line in lines) == pytest.approx(bill, abs=1e-9)
    assert json.loads((tmp_path / "ledger.json").read_text())["spent"] == purse.spent
    assert purse.reserved == pytest.approx(0, abs=1e-9)
    assert 499 in {line["status"] for line in lines}
    assert len({line["id"] for line in lines}) == len(lines)


def test_who_hangs_up_is_asked_for_no_further(folder):
    """The answer under way comes in and is booked as reported; the place is free again."""
    with (
        FaultServer(latency=0.5) as upstream,
        serving(folder, upstream, prices=Prices(1, 10), patience=60) as running,
    ):
        with pytest.raises(httpx.ReadTimeout):
            running.http.post(
                "/v1/chat/completions", json=ASK | {"adalib": {"price": 0}}, timeout=0.2
            )
        wait_until_closed(running.service)
        assert len(upstream.seen) == 1
        assert running.service.router.purse.spent == pytest.approx(110e-6)


def test_a_long_question_does_not_delay_health(folder):
    with FaultServer() as upstream, serving(folder, upstream) as running:
        long = {"messages": [{"role": "user", "content": "word 17 " * 120_000}]}
        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(running.post, **long) for _ in range(4)]
            wait_until(
                lambda: (
                    running.http.get("/health", timeout=5).status_code == 200
                    and all(one.done() for one in asked)
                ),
                "healthy, and all four questions answered",
                seconds=300,
            )
        assert {one.result().status_code for one in asked} == {200}


@pytest.mark.parametrize("value", ["漢字".encode(), b"\xff", b"a" * 5000, b"a b", b"r\xc3\xa9"])
def test_odd_headers_leave_no_place_taken(both, value):
    """The reply is a valid one, under an identifier of our own."""
    upstream, running = both
    for more in ({}, {"stream": True}, {"temperature": 0}):
        reply = running.http.post(
            "/v1/chat/completions", json=ASK | more, headers={"x-request-id": value}
        )
        assert reply.status_code == 200
        assert re.fullmatch("[0-9a-f]{32}", reply.headers["x-request-id"])
        if more.get("stream"):
            assert reply.text.endswith("data: [DONE]\n\n")
        else:
            assert reply.json()["choices"][0]["message"]["content"] == upstream.text
    wait_until_closed(running.service)


def test_callers_who_never_read_are_cut_off(folder, monkeypatch):
    """An unread stream holds no place of a vote, and the line of a long one is closed."""
    monkeypatch.setattr(listening, "UNREAD", 0.2)
    event = b"data: " + b"x" * (16 << 20) + b"\n\n"  # more than the buffers of two sockets hold
    protocol = listening.patient_protocol()
    with (
        FaultServer(replies={"event": (200, "", event)}) as upstream,
        serving(folder, upstream, limit=4, patience=60, protocol=protocol) as running,
    ):
        voted = [unread_stream(running) for _ in range(4)]
        wait_until(
            lambda: "adalib_questions_total 4.0" in running.http.get("/metrics").text,
            "four questions are answered",
        )
        wait_until_closed(running.service)
        assert running.post().status_code == 200
        upstream.fault = lambda k: "event"
        passed = unread_stream(running, temperature=0)
        passed.settimeout(300)
        assert passed.recv(1) == b"H"  # the reply has begun
        time.sleep(2.0)  # unread for longer than is allowed
        assert bytes_until_closed(passed) < len(event)
        for line in voted:
            line.close()


def unread_stream(running, **more):
    """A caller with a small buffer who asks for a stream and does not read it."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    address = urlsplit(running.url)
    line.connect((address.hostname, address.port))
    body = json.dumps(ASK | {"stream": True} | more).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    line.sendall(head.encode() + body)
    return line


def bytes_until_closed(line):
    """Read what is still there until the server's end of the line is closed."""
    read = 0
    with line, contextlib.suppress(ConnectionError):
        while piece := line.recv(1 << 16):
            read += len(piece)
    return read


def test_a_large_event_passes_quickly(folder):
    event = b"data: " + b"x" * (8 << 20) + b"\n\n"
    with (
        FaultServer(lambda k: "large", replies={"large": (200, "", event)}) as upstream,
        serving(folder, upstream, patience=60) as running,
    ):
        assert running.post(temperature=0, stream=True).content == event


def test_the_upstreams_wish_to_wait_reaches_the_client(folder):
    with (
        FaultServer(lambda k: "429", retry_after="17") as upstream,
        serving(folder, upstream, tries=1) as running,
    ):
        assert running.post().headers["retry-after"] == "17"
        assert running.post(temperature=0).headers["retry-after"] == "17"


def test_unreadable_answers_are_compared_with_training(folder):
    with FaultServer(text="I cannot say.") as upstream, serving(folder, upstream) as running:
        running.service.asking = Asking(kind="number", tries=1)
        running.service.router.unread_share = 0.002
        for _ in range(watch.ENOUGH):
            running.post(adalib={"price": 0})
            notes = running.http.get("/live.json").json()["notes"]
            if any("cannot be read" in note for note in notes):
                break
        (note,) = notes
        assert "100.0% of the answers cannot be read, 0.2% in training" in note
        assert "--kind" in note


@pytest.fixture(scope="module")
def certain(tmp_path_factory):
    """A router that weighs answers by their log-probabilities."""
    path = tmp_path_factory.mktemp("certain")
    few = load("word-fewshot").take(range(0, 372, 12))
    Router.fit(few, budget=3, signals=("votes", "certainty")).save(path)
    return path


def test_missing_log_probabilities_are_found_at_the_start(certain, caplog):
    """One token is asked for and booked; from then on votes alone, none of which asks for them."""
    silent = {"ok": (200, "", changed(usage=USAGE))}
    with FaultServer(replies=silent) as upstream:
        with serving(certain, upstream, prices=Prices(1, 10), log=True) as running:
            (probe,) = upstream.seen
            assert (probe["max_tokens"], probe["logprobs"]) == (1, True)
            assert running.service.router.votes_alone
            assert running.service.router.purse.spent == pytest.approx(110e-6)
            for _ in range(3):
                assert running.post().status_code == 200
        assert not any("logprobs" in request for request in upstream.seen[1:])
    assert len([line for line in caplog.messages if "votes alone from now on" in line]) <= 1


def test_refused_log_probabilities_are_left_out(certain):
    with (
        FaultServer(refuses=("logprobs", "top_logprobs")) as upstream,
        warnings.catch_warnings(record=True),
        serving(certain, upstream) as running,
    ):
        assert running.service.router.votes_alone
        vote = running.post().json()["adalib"]
        assert vote["answer"] == "7"
        assert not any("logprobs" in request for request in upstream.seen[-vote["samples"] :])


def test_an_upstream_that_is_down_at_the_start(certain):
    """The server starts, and the first answer shows what the upstream reports."""
    with FaultServer(["500"]) as upstream, serving(certain, upstream) as running:
        assert not running.service.router.votes_alone
        assert running.post().status_code == 200


def test_no_token_is_asked_for_where_votes_are_enough(folder):
    with FaultServer() as upstream, serving(folder, upstream):
        assert upstream.seen == []


# The live page in a real browser.

DRAWN = "document.querySelectorAll('#charts svg').length === 4"
COUNTED = "+document.querySelector('#tiles b').textContent"


def storm(running, statuses):
    """Fifty requests a second, each begun on time whatever became of the others."""
    with ThreadPoolExecutor(SECONDS * RATE) as threads:
        for _ in range(SECONDS * RATE):
            threads.submit(lambda: statuses.append(running.post().status_code))
            time.sleep(1 / RATE)


def test_it_follows_fifty_requests_a_second(folder, browser):
    with (
        FaultServer(latency=0.02) as upstream,
        serving(folder, upstream, limit=500, patience=300) as running,
    ):
        outside, errors, pages = [], [], []
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 390, "height": 900}, color_scheme=scheme)
            page.on(
                "request",
                lambda request: request.url.startswith(running.url) or outside.append(request.url),
            )
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(running.url)
            pages.append(page)
        statuses: list = []
        thread = threading.Thread(target=storm, args=(running, statuses))
        thread.start()
        for page in pages:
            page.wait_for_function(DRAWN, timeout=PATIENCE)
        first = page.evaluate(COUNTED)
        page.wait_for_function(f"{COUNTED} > {first}", timeout=PATIENCE)
        thread.join()
        assert statuses == [200] * (SECONDS * RATE)
        for page in pages:
            page.wait_for_function(f"{COUNTED} === {SECONDS * RATE}", timeout=PATIENCE)
            assert (
                page.locator("#charts svg")
                .first.get_attribute("aria-label")
                .startswith("Running average")
            )
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert Axe().run(page).response["violations"] == []
            page.close()
        assert (outside, errors) == ([], [])
