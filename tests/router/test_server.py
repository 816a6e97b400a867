"""The server before a slow, failing and lying upstream, asked by the plain openai client, by hand and by a browser."""

import json
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest.mock import MagicMock

import httpx
import openai
import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from fault_server import STREAM, FaultServer
from odd_replies import ODD, STRANGE, as_replies, bomb

from adalib import Router, load
from adalib.llm import endpoint as endpoints
from adalib.llm.endpoint import Endpoint
from adalib.llm.questions import Prompt
from adalib.router import protocol
from adalib.router import server as servers
from adalib.router.ask import CAP, OTHER, Asking
from adalib.router.controller import Purse
from adalib.router.server import Service, Tenant, make_app

SECONDS, RATE = 3, 50
PATIENCE = 300_000  # milliseconds: a loaded machine is slow, not wrong
ASK = {"model": "m", "messages": [{"role": "user", "content": "What is 3 + 4?"}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("router")
    Router.fit(load("word-fewshot").take(range(0, 372, 12)), budget=3, signals=("votes",)).save(path)
    return path


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(endpoints, "FIRST_WAIT", 0.01)


class Running:
    """A server in a thread of its own, and clients for it."""

    def __init__(self, url, service, token):
        self.url, self.service = url, service
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        limits = httpx.Limits(max_connections=200)
        self.http = httpx.Client(base_url=url, headers=headers, timeout=300, trust_env=False, limits=limits)
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key=token or "none", max_retries=0, timeout=30)

    def post(self, **more):
        return self.http.post("/v1/chat/completions", json=ASK | more)


@contextmanager
def serving(folder, upstream, *, token="", limit=64, purse=None, prompt=None, tries=2, patience=5, **how):
    router = Router.load(folder)
    router.purse = purse or Purse()
    more = {name: how.pop(name) for name in ("aliases", "tenants", "shadow", "log", "own_prices") if name in how}
    endpoint = Endpoint(upstream.url, "m", tries=tries, timeout=patience)
    service = Service(router, endpoint, Asking(**how), prompt, limit, **more)
    how = uvicorn.Config(make_app(service, token), port=0, log_level="critical", timeout_keep_alive=75)
    server = uvicorn.Server(how)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
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
    deadline = time.monotonic() + 300
    while service.open and time.monotonic() < deadline:
        time.sleep(0.01)
    assert service.open == 0


@pytest.fixture(scope="module")
def standing(folder):
    """One upstream and one server for all tests that need nothing of their own."""
    with FaultServer() as upstream, serving(folder, upstream) as running:
        yield upstream, running


@pytest.fixture
def both(standing):
    """The standing ones, the upstream as good as new; what a test did to it does not outlive the test."""
    upstream, running = standing
    wait_until_closed(running.service)
    upstream.fault, upstream.replies = lambda k: "ok", {}
    upstream.seen.clear()
    return upstream, running


def test_a_plain_client_gets_the_winner_and_what_it_cost(both):
    upstream, running = both
    raw = running.client.chat.completions.with_raw_response.create(**ASK)
    reply = raw.parse()
    told = reply.model_extra["adalib"]
    samples = len(upstream.seen)
    assert reply.choices[0].message.content == upstream.text
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.completion_tokens == 9 * samples
    assert reply.usage.prompt_tokens == 20 * samples
    assert (told["answer"], told["votes"], told["samples"]) == ("7", {"7": samples}, samples)
    assert raw.headers["x-adalib-samples"] == str(samples)
    assert float(raw.headers["x-adalib-price"]) == pytest.approx(told["price"], rel=1e-4)
    assert json.loads(raw.headers["x-adalib-votes"]) == {"7": samples}
    assert upstream.seen[0]["messages"] == ASK["messages"]


def test_a_stream_brings_the_same_and_has_the_figures_in_its_headers_too(both):
    upstream, running = both
    chunks = list(running.client.chat.completions.create(**ASK, stream=True, stream_options={"include_usage": True}))
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == upstream.text
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage.completion_tokens == 9 * len(upstream.seen)
    assert chunks[-2].model_extra["adalib"]["samples"] == len(upstream.seen)
    upstream.seen.clear()
    headers, events = streamed(running)
    told = json.loads(events[-2].removeprefix("data: "))["adalib"]
    assert headers["x-adalib-samples"] == str(told["samples"]) == str(len(upstream.seen))
    assert json.loads(headers["x-adalib-votes"]) == told["votes"]
    assert events[-1] == "data: [DONE]"


def streamed(running, **more):
    """The headers of a stream, and its events as they came."""
    with running.http.stream("POST", "/v1/chat/completions", json=ASK | {"stream": True} | more) as reply:
        return reply.headers, [line for line in reply.iter_lines() if line]


def test_a_long_vote_keeps_the_line_open(folder, monkeypatch):
    monkeypatch.setattr(servers, "_QUIET", 0.1)
    with FaultServer(latency=0.4) as upstream, serving(folder, upstream) as running:
        headers, events = streamed(running, adalib={"price": 100.0})
        assert "x-adalib-samples" not in headers  # not known when it began
        assert events[0] == ": still voting"
        assert json.loads(events[-2].removeprefix("data: "))["adalib"]["samples"] == 1
    with FaultServer(lambda k: "500", latency=0.2) as upstream, serving(folder, upstream) as running:
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
    "not text alone": {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
}


@pytest.mark.parametrize("why", PASSED)
def test_what_is_not_voted_on_goes_and_comes_as_it_is(folder, why):
    """One request as it came, the reply byte for byte, booked as reported, outside the average."""
    with FaultServer() as upstream, serving(folder, upstream, price_in=1.0, price_out=10.0) as running:
        sent = ASK | PASSED[why]
        reply = running.http.post("/v1/chat/completions", json=sent, headers={"traceparent": "00-ab-cd-01"})
        assert upstream.seen == [sent]
        direct = httpx.post(f"{upstream.url}/chat/completions", json=sent, trust_env=False)
        assert reply.content == direct.content
        assert reply.headers["x-adalib-reason"] == f'"passed on: {why}"'
        assert upstream.calls[0][1]["traceparent"] == "00-ab-cd-01"
        assert float(reply.headers["x-litellm-response-cost"]) == pytest.approx(110e-6)
        assert reply.headers["x-litellm-total-tokens"] == "29"
        live = running.http.get("/live.json").json()
        assert (live["asked"], live["apart"], live["money"]) == (0, 1, pytest.approx(110e-6))
        with running.http.stream("POST", "/v1/chat/completions", json=sent | {"stream": True}) as stream:
            assert stream.read() == b"".join(STREAM[:2] + STREAM[3:])  # the usage was ours to ask
        told = {"stream": True, "stream_options": {"include_usage": True}}
        with running.http.stream("POST", "/v1/chat/completions", json=sent | told) as stream:
            assert stream.read() == b"".join(STREAM)
        wait_until_closed(running.service)
        assert running.service.router.purse.spent == pytest.approx(3 * 110e-6)


def test_other_paths_pass_and_text_of_responses_is_voted_on(folder):
    with FaultServer() as upstream, serving(folder, upstream, aliases=("smart",)) as running:
        client = running.client
        tool = client.chat.completions.create(**ASK, tools=PASSED["tools"]["tools"]).choices[0].message.tool_calls[0]
        assert json.loads(tool.function.arguments) == {"a": 3, "b": 4}
        for path in ("embeddings", "completions", "audio/speech", "models/other?limit=3"):
            method = "GET" if "models" in path else "POST"
            reply = running.http.request(method, f"/v1/{path}", json={"model": "m", "adalib": {"cap": 3}})
            assert (reply.status_code, upstream.calls[-1][0]) == (200, f"{method} /v1/{path}")
            assert upstream.seen[-1] == {"model": "m"}  # our own field is ours
        before = len(upstream.seen)
        for path in ("../health", "x/../../y", "a//b", "%2e%2e/x"):
            assert running.http.get(f"/v1/{path}").status_code in (200, 404)
        assert len(upstream.seen) == before
        told = client.responses.create(model="smart", input="What is 3 + 4?", instructions="Be brief", store=False)
        assert told.output_text == upstream.text
        assert told.usage.output_tokens == 9 * told.model_extra["adalib"]["samples"]
        assert told.model == "smart"
        assert upstream.seen[-1]["messages"][0] == {"role": "system", "content": "Be brief"}
        assert upstream.seen[-1]["model"] == "m"
        assert running.http.get("/v1/models/smart").json()["id"] == "smart"
        parts = {"role": "user", "content": [{"type": "input_text", "text": "What is 3 + 4?"}]}
        assert client.responses.create(model="m", input=[parts]).output_text == upstream.text
        for odd in (7, {"x": 1}, [7], [{"role": "user", "content": 7}], [{"role": "user", "content": [{"type": "x"}]}]):
            before = len(upstream.seen)
            assert running.http.post("/v1/responses", json={"model": "m", "input": odd}).status_code == 200
            assert (upstream.seen[-1]["input"], len(upstream.seen)) == (odd, before + 1)  # the upstream's to judge
        running.http.post("/v1/responses", json={"model": "smart", "input": "x", "previous_response_id": "r"})
        assert upstream.calls[-1][0] == "POST /v1/responses"
        assert upstream.seen[-1] == {"model": "m", "input": "x", "previous_response_id": "r"}


@pytest.mark.parametrize(("fault", "status"), [("429", 429), ("500", 500), ("401", 502), ("refuse", 502), ("cut", 502)])
def test_a_fault_of_what_is_passed_on(folder, fault, status):
    """Refused or never sent, it costs nothing; cut off, it may be on the bill. No key and no address is told."""
    rich = {"price_out": 1.0, "max_tokens": 1000}
    with FaultServer(lambda k: fault) as upstream, serving(folder, upstream, **rich) as running:
        reply = running.post(temperature=0)
        assert reply.status_code == status
        assert upstream.url not in reply.text
        assert running.service.router.purse.spent == (1e-3 if fault in ("refuse", "cut") else 0)
        upstream.fault = lambda k: "cutstream"
        spent = running.service.router.purse.spent
        _, events = streamed(running, temperature=0)
        assert "error" in events[-1]
        wait_until_closed(running.service)
        assert running.service.router.purse.spent == pytest.approx(spent + 1e-3)
        assert 'adalib_requests_total{status="502"}' in running.http.get("/metrics").text
        for _ in range(3):
            streamed(running, temperature=0)
        assert running.http.get("/ready").json()["why"] == ["the upstream fails"]


def test_a_model_s_own_names_and_a_caller_s_own_orders_are_kept(folder):
    prompt = Prompt([{"role": "user", "content": "Q: {question}"}])
    how = {"temperature": None, "prompt": prompt}
    with FaultServer(refuses=("max_tokens", "top_p")) as upstream, serving(folder, upstream, **how) as running:
        orders = [{"role": "system", "content": "Speak French"}, *ASK["messages"]]
        with warnings.catch_warnings(record=True):
            told = running.post(messages=orders, top_p=0.5).json()
        assert told["system_fingerprint"] == "fp_1"
        assert upstream.seen[-1]["max_completion_tokens"] == 256
        assert upstream.seen[-1].keys() == {"model", "messages", "max_completion_tokens"}
        assert upstream.seen[-1]["messages"][0] == orders[0]
        assert upstream.seen[-1]["messages"][1]["content"] == "Q: What is 3 + 4?"
        refused = len(upstream.seen) - told["adalib"]["samples"]
        before = len(upstream.seen)
        told = running.post(max_completion_tokens=77).json()
        assert len(upstream.seen) - before == told["adalib"]["samples"]  # what was refused is remembered
        assert refused <= 2 * 8
        assert upstream.seen[-1]["max_completion_tokens"] == 77


def test_nobody_spends_from_another_site_and_numbers_that_are_none_cost_nothing(both):
    upstream, running = both
    paid = running.service.router.purse.spent
    evil = {"Origin": "http://evil.example"}
    for headers in (evil, {"Origin": "null"}, {"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example"}):
        assert running.http.post("/v1/chat/completions", json=ASK, headers=headers).status_code == 403
        assert running.http.get("/live.json", headers=headers).status_code == 403
    plain = {"Content-Type": "text/plain"}
    assert running.http.post("/v1/chat/completions", content=json.dumps(ASK), headers=plain).status_code == 415
    for odd in ("NaN", "Infinity", "-Infinity", "1e999"):
        body = json.dumps(ASK)[:-1] + f', "logit_bias": {{"5": {odd}}}}}'
        reply = running.http.post("/v1/chat/completions", content=body)
        assert (reply.status_code, "no word for" in reply.text) == (400, True)
    assert upstream.seen == []
    assert running.service.router.purse.spent == paid
    reply = running.post(adalib={"cap": 1e-9})
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "cap_too_low")
    same = {"Origin": running.url}
    assert running.http.post("/v1/chat/completions", json=ASK, headers=same).status_code == 200


def test_all_that_is_sent_counts_before_it_is_sent(folder):
    """A name of 900 kB passes no total, nor does a prediction."""
    rich = {"price_in": 10.0, "max_tokens": 10, "purse": Purse(0.5)}
    with FaultServer() as upstream, serving(folder, upstream, **rich) as running:
        long = "x" * 900_000
        for more in ({"messages": [ASK["messages"][0] | {"name": long}]}, {"prediction": {"content": long}}):
            reply = running.post(**more)
            assert (reply.status_code, reply.json()["error"]["code"]) == (429, "insufficient_quota")
            assert "retry-after" not in reply.headers  # no waiting fills it
        assert upstream.seen == []
        assert running.http.get("/ready").status_code == 200
        running.service.router.purse.spent = 0.5
        assert running.http.get("/ready").json()["why"] == ["the total in money is spent"]


def test_the_bill_the_purse_the_metrics_and_the_headers_are_one_sum(folder):
    """Votes, tools, streams, disconnects, faults and refusals: what the upstream reported is what everyone says."""
    rich = {"price_in": 1.0, "price_out": 10.0, "deadline": 5}
    faults = FaultServer(lambda k: "500" if k % 7 == 3 else "ok")
    with faults as upstream, serving(folder, upstream, **rich) as running:
        told = 0.0
        for number in range(12):
            more = [{}, {"adalib": {"price": 0, "cap": 5}}, PASSED["tools"], PASSED["temperature 0"]][number % 4]
            reply = running.post(**more)
            told += float(reply.headers.get("x-litellm-response-cost", 0.0))
        streamed(running)
        wait_until_closed(running.service)
        spent = running.service.router.purse.spent
        lines = dict(line.rsplit(" ", 1) for line in running.http.get("/metrics").text.splitlines() if line[0] != "#")
        assert spent == pytest.approx(upstream.sent * 110e-6)
        assert float(lines["adalib_dollars_total"]) == float(lines["adalib_purse_spent"]) == pytest.approx(spent)
        assert float(lines['adalib_tokens_total{kind="written"}']) == 9 * upstream.sent
        assert float(lines["adalib_samples_total"]) == upstream.sent
        assert told == pytest.approx(spent, rel=0.2)  # all but the last stream
        upstream.fault = lambda k: "hang"
        with pytest.raises(httpx.ReadTimeout):
            running.http.post("/v1/chat/completions", json=ASK, timeout=0.3)
        wait_until_closed(running.service)
        purse = running.service.router.purse
        assert purse.spent > spent
        assert running.service.router.tally.money == purse.spent
        assert purse.reserved == pytest.approx(0, abs=1e-12)


def test_tenants_have_their_own_budgets_caps_and_totals(folder):
    def tenant(name, budget, **how):
        router = Router.load(folder).at_budget(budget)
        router.purse = Purse(0.001)
        return Tenant(name, router, Asking(price_out=10.0, max_tokens=10, **how), token=f"token-of-{name}-0123")

    two = tenant("rich", 5.0), tenant("poor", 1.5, cap=2)
    with FaultServer() as upstream, serving(folder, upstream, token="main-token-0123", tenants=two) as running:
        for one in two:
            key = {"Authorization": f"Bearer {one.token}"}
            told = running.http.post("/v1/chat/completions", json=ASK, headers=key).json()["adalib"]
            live = running.http.get("/live.json", headers=key).json()
            assert (live["budget"], live["asked"]) == (one.router.controller.budget, 1)
            assert live["money"] == pytest.approx(told["money"]) == pytest.approx(9e-5 * told["samples"])
            assert told["samples"] <= one.how.cap
            while (reply := running.http.post("/v1/chat/completions", json=ASK, headers=key)).status_code == 200:
                assert one.router.purse.spent <= 0.001
            assert reply.json()["error"]["code"] == "insufficient_quota"
        assert running.post().status_code == 200  # the others have theirs
        assert 'adalib_tenant_purse_total{tenant="poor"} 0.001' in running.http.get("/metrics").text
        assert httpx.get(f"{running.url}/live.json", trust_env=False).status_code == 401


def test_another_router_is_taken_over_and_costs_that_drift_are_told(folder):
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
        assert not service.drifts
        service.spread.extend([(9.0, 3.0)] * servers._SHOWN)
        for _ in range(2):
            running.post()
        assert service.drifts
        assert "adalib_drift 2.9" in running.http.get("/metrics").text


def test_a_vote_that_is_only_watched_changes_nothing(folder, caplog):
    caplog.set_level("INFO", "adalib.requests")
    with FaultServer() as upstream, serving(folder, upstream, shadow=True, log="json", own_prices=False) as running:
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


def test_with_telemetry_a_request_is_one_span_of_what_is_logged(folder, monkeypatch):
    spans = MagicMock()
    for name in ("trace", "propagate"):
        monkeypatch.setattr(protocol, name, spans, raising=False)
    with FaultServer() as upstream, serving(folder, upstream) as running:
        running.http.post("/v1/chat/completions", json=ASK, headers={"traceparent": "00-1-2-01"})
        wait_until_closed(running.service)
    (path, _, _, figures, *_), _ = spans.get_tracer().start_span.call_args
    assert (path, figures["adalib.status"], figures["adalib.samples"]) == (
        "/v1/chat/completions",
        200,
        len(upstream.seen),
    )
    assert spans.extract.call_args.args[0] == {"traceparent": "00-1-2-01"}
    assert [call[0] for call in spans.get_tracer().start_span().method_calls] == ["end"]


def test_a_request_sets_its_own_price_and_cap(folder):
    with FaultServer(lambda k: "ok") as upstream, serving(folder, upstream, cap=30) as running:
        dear = running.client.chat.completions.create(**ASK, extra_body={"adalib": {"price": 100.0}})
        assert dear.model_extra["adalib"]["samples"] == 1
        capped = running.post(adalib={"price": 0, "cap": 2}, seed=7).json()["adalib"]
        assert (capped["samples"], capped["reason"]) == (2, CAP)
        assert [seen["seed"] for seen in upstream.seen[-2:]] == [7, 8]  # or every answer would be the same
        assert running.post(adalib={"price": 0, "cap": 1e9}).json()["adalib"]["samples"] <= 30


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        *((fault, 502, "upstream_error") for fault in ("500", "cut", "html", "404")),
        ("401", 502, "upstream_error"),  # our key there, not the caller's key here
        ("400", 400, "invalid_request_error"),
        ("422", 422, "invalid_request_error"),
        ("429", 429, "rate_limit_error"),
        ("quota", 429, "insufficient_quota"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_fault_that_stays_is_a_proper_error(both, fault, status, kind, stream):
    upstream, running = both
    if fault in ("429", "cut", "html"):  # once, it is not noticed
        upstream.fault = lambda k: "ok" if k else fault
        assert running.client.chat.completions.create(**ASK).choices[0].message.content == upstream.text
    upstream.fault = lambda k: fault
    with pytest.raises(openai.APIStatusError) as error:
        running.client.chat.completions.create(**ASK, stream=stream)
    assert error.value.status_code == status
    assert error.value.body["type"] == kind
    assert "\n" not in error.value.body["message"]
    assert ("retry-after" in error.value.response.headers) == (fault == "429")  # no waiting fills an account
    assert running.service.open == 0


def test_no_odd_reply_gets_through_and_numbers_that_nobody_can_use_are_left_out(both):
    """Every odd reply once, then for good: the next try answers, or a proper error does, in one line."""
    turns = []
    upstream, running = both
    upstream.fault = lambda k: turns.pop() if turns else "ok"
    upstream.replies = {**as_replies(ODD | STRANGE), "bomb": bomb()}
    for odd in [*ODD, "bomb", "endless"]:
        turns[:] = [odd]
        assert running.post().json()["choices"][0]["message"]["content"] == upstream.text, odd
        turns[:] = [odd, odd]
        reply = running.post()
        assert (reply.status_code, reply.json()["error"]["type"]) == (502, "upstream_error"), odd
        assert "\n" not in reply.json()["error"]["message"]
    for strange in STRANGE:
        upstream.fault = lambda k, strange=strange: strange
        told = json.loads(running.post().text, parse_constant=pytest.fail)
        assert (told["choices"][0]["message"]["content"], told["adalib"]["answer"]) == ("Answer: 7", "7"), strange
        assert 0 < told["usage"]["completion_tokens"] < 10_000  # what was said, or the most that it can have been
    assert running.service.open == 0


def test_a_fault_in_the_middle_gives_the_best_vote_so_far_and_a_hang_ends_at_the_deadline(folder):
    with FaultServer(lambda k: "ok" if k < 2 else "500") as upstream, serving(folder, upstream, deadline=2) as running:
        told = running.post(adalib={"price": 0}).json()["adalib"]
        assert (told["answer"], told["samples"]) == ("7", 2)
        assert told["reason"].startswith("the endpoint failed")
        upstream.fault, before = lambda k: "ok" if k == before else "hang", len(upstream.seen)
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


def test_who_hangs_up_is_answered_no_further(folder):
    with FaultServer(lambda k: "hang") as upstream, serving(folder, upstream, deadline=60) as running:
        with pytest.raises(httpx.ReadTimeout):
            running.http.post("/v1/chat/completions", json=ASK, timeout=0.5)
        wait_until_closed(running.service)


def test_a_token_opens_the_door_and_the_page(folder, browser):
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
    with FaultServer() as upstream, serving(folder, upstream, price_out=1.0) as running:
        for _ in range(3):
            assert running.post().status_code == 200
        assert [model.id for model in running.client.models.list()] == ["m"]
        lines = running.http.get("/metrics").text.splitlines()
        assert "adalib_questions_total 3.0" in lines
        assert f"adalib_samples_total {len(upstream.seen):.1f}" in lines
        assert 'adalib_requests_total{status="200"} 3.0' in lines
        live = running.http.get("/live.json").json()
        assert (live["asked"], live["budget"], len(live["recent"])) == (3, 3.0, 3)
        assert live["average"] == len(upstream.seen) / 3
        running.post(temperature=0)
        dear = running.post(adalib={"price": 0}).json()["adalib"]
        assert not dear["counted"]
        after = running.http.get("/live.json").json()
        assert [after[name] for name in ("asked", "average", "price")] == [
            live[n] for n in ("asked", "average", "price")
        ]
        assert (after["apart"], after["apart_spent"]) == (2, 1 + dear["cost"])
        assert after["bound"] == running.service.router.controller.bound(running.service.limit)
        assert f"adalib_bound {after['bound']}" in running.http.get("/metrics").text.splitlines()
        page = running.http.get("/").text
        assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in page


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"{", 400, "not JSON"),
        (b"[]", 400, "object"),
        ({"messages": []}, 400, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, 400, "user"),
        ({"temperature": -1}, 400, "temperature"),
        ({"adalib": {"prize": 1}}, 400, "prize"),
        ({"adalib": {"price": -1}}, 400, "price"),
        ({"temperature": float("nan")}, 400, "no word for"),
        ({"max_tokens": 10**400}, 400, "max_tokens"),
        ({"max_tokens": 0}, 400, "max_tokens"),
        ({"messages": [{"role": "user", "content": "half \ud83d of it"}]}, 400, "half a character"),
        (b"[" * 100_000, 400, "too deep"),
        (b'{"a":' * 100_000, 400, "too deep"),
        (b" " * (17 << 20), 413, "larger"),
    ],
)
def test_what_cannot_be_answered(both, body, status, told):
    upstream, running = both
    content = body if isinstance(body, bytes) else json.dumps(ASK | body)
    reply = running.http.post("/v1/chat/completions", content=content)
    assert reply.status_code == status
    assert told in reply.json()["error"]["message"]
    assert upstream.seen == []


@pytest.mark.parametrize("stream", [False, True])
def test_a_fault_of_ours_is_a_proper_error_and_one_line(both, monkeypatch, caplog, stream):
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
            told = running.post(adalib={"price": 0}).json()
            assert told["choices"][0]["message"]["content"] == upstream.text
            assert (told["adalib"]["samples"], told["adalib"]["reason"]) == (1, OTHER)
        with serving(folder, upstream, other="refuse") as running:
            assert running.post(adalib={"price": 0}).json()["error"]["code"] == "no_short_answer"


def test_the_total_is_shared_and_never_passed(folder):
    rich = {"price_out": 1e3, "max_tokens": 10}
    with FaultServer() as upstream, serving(folder, upstream, purse=Purse(0.05), **rich) as running:
        replies = [running.post() for _ in range(8)]
        assert replies[0].status_code == 200
        assert replies[-1].status_code == 429
        assert replies[-1].json()["error"]["code"] == "insufficient_quota"
        assert 0.03 < running.service.router.purse.spent <= 0.05


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
    with FaultServer(latency=0.02) as upstream, serving(folder, upstream, limit=500, patience=300) as running:
        outside, errors, pages = [], [], []
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 390, "height": 900}, color_scheme=scheme)
            page.on("request", lambda request: request.url.startswith(running.url) or outside.append(request.url))
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
            assert page.locator("#charts svg").first.get_attribute("aria-label").startswith("Running average")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert Axe().run(page).response["violations"] == []
            page.close()
        assert (outside, errors) == ([], [])
