"""One answer, from endpoints that behave and from endpoints that do not."""

import gzip
import json
import math
import random
import warnings
from datetime import UTC, datetime

import pytest
from conftest import run_to_end
from fault_server import FaultServer
from hypothesis import given
from hypothesis import strategies as st
from odd_replies import GOOD, ODD, as_replies, bomb, changed, choice

from adalib.llm.client import Answer, Client, EndpointError, retry_after
from adalib.llm.reply import ReplyError, mean_entropy, read_reply
from adalib.llm.store import Store, scan

KEY = "sk-a-very-secret-key-0123"
MESSAGES = [{"role": "user", "content": "What is 3 + 4?"}]
PASSING = ["408", "409", "429", "500", "503", "refuse", "cut"]
PASSING += ["html", "html502", "page-as-json", "bytes", "empty", "error200", "list", "odd"]
LASTING = ["400", "401", "403", "404", "422", "quota"]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def sample(server_or_url, *, timeout=20.0, retries=0, messages=MESSAGES, **fields) -> Answer:
    """One answer."""

    async def main():
        url = getattr(server_or_url, "url", server_or_url)
        async with Client(url, "m", timeout=timeout, max_retries=retries) as client:
            return await client.sample(messages, **fields)

    return run_to_end(main())


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)


def assert_no_key(error):
    """Neither an error nor what a traceback would show above it holds the key; and it is one
    line."""
    assert error.__cause__ is None
    while error is not None:
        assert KEY not in str(error)
        assert str(error).isprintable()
        error = None if error.__suppress_context__ else error.__context__


def test_a_good_answer_is_read_whole():
    with FaultServer() as server:
        answer = sample(server)
    text = "Three and four are seven.\nAnswer: 7"
    assert answer == Answer(text, "stop", tokens=9, prompt_tokens=20, fingerprint="fp_1")


def test_a_request_asks_for_what_was_given():
    with FaultServer() as server:
        sample(server, temperature=0.3, max_tokens=17, seed=5)
    assert server.keys == [KEY]
    assert server.seen[0] == {
        "messages": MESSAGES,
        "model": "m",
        "temperature": 0.3,
        "max_tokens": 17,
        "seed": 5,
    }


def test_log_probabilities_say_how_certain_an_answer_is():
    with FaultServer() as server:
        sure = sample(server, logprobs=True)
    assert server.seen[0]["top_logprobs"] == 20
    # The server's tokens have p = 1/2 and 1/4; each one's candidates are the two, so each one's
    # entropy is ln 2.
    assert sure.logprob == pytest.approx(-1.5 * math.log(2), abs=1e-6)
    assert sure.entropy == pytest.approx(math.log(2), abs=1e-6)


@pytest.mark.parametrize("fault", [*PASSING, *ODD])
def test_a_failure_that_may_pass_is_one_line(fault):
    once = r"^http://127.0.0.1:\d+/v1 failed once, the last time with: "
    with FaultServer([fault], replies=as_replies(ODD)) as server:
        with pytest.raises(EndpointError, match=once) as caught:
            sample(server)
        assert sample(server).text.endswith("Answer: 7")
    assert caught.value.passes
    assert caught.value.billed == (caught.value.status is None)  # a refusal is not on the bill
    assert_no_key(caught.value)


def test_openai_tries_again():
    with FaultServer(["429", "500", "cut", "refuse"]) as server:
        assert sample(server, retries=4).tokens == 9
        assert len(server.seen) == 5
        server.fault = lambda k: "503"
        with pytest.raises(EndpointError, match="failed 3 times in a row.*HTTP 503"):
            sample(server, retries=2)


@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_slow_replies_end_by_the_time_limit(fault):
    with (
        FaultServer([fault]) as server,
        pytest.raises(EndpointError, match="no answer within 1 s") as caught,
    ):
        sample(server, timeout=1.0)
    assert caught.value.billed


def test_what_was_never_sent_is_not_billed():
    with pytest.raises(EndpointError, match="no connection") as caught:
        sample("http://127.0.0.1:1/v1")
    assert (caught.value.billed, caught.value.passes) == (False, True)


def test_a_key_is_blotted_out_before_a_line_is_cut():
    for at in range(150, 420):
        body = json.dumps({"error": {"message": "x" * at + KEY}}).encode()
        with pytest.raises(ReplyError) as caught:
            read_reply(body)
        assert "sk-a" not in Client("http://127.0.0.1:1/v1", "m").clean(str(caught.value))
    long = choice(finish_reason="x" * 30 + KEY)
    with FaultServer(["long"], replies=as_replies({"long": long})) as server:
        assert "sk-a" not in sample(server).finish


@pytest.mark.parametrize(
    ("usage", "cost", "details"),
    [
        ({"cost": 0.5}, 0.5, {}),
        ({"cost": -1}, None, {}),
        ({"cost": "1"}, None, {}),
        ({"cost": True}, None, {}),
        ({"prompt_tokens_details": {"cached_tokens": 7, "x": -1}}, None, {"cached_tokens": 7}),
        ({"prompt_tokens_details": 7}, None, {}),
    ],
)
def test_what_usage_tells(usage, cost, details):
    answer = read_reply(changed(usage=usage))
    assert (answer.cost, dict(answer.details.get("prompt_tokens_details", {}))) == (cost, details)


@pytest.mark.parametrize("fault", LASTING)
def test_a_refusal_stops_at_once_in_one_line_without_the_key(fault):
    with FaultServer([fault]) as server, pytest.raises(EndpointError) as caught:
        sample(server)
    assert len(server.seen) == 1
    line = str(caught.value)
    assert server.url in line
    assert f"HTTP {429 if fault == 'quota' else fault}" in line
    assert_no_key(caught.value)


def test_what_a_model_does_not_take_is_left_out():
    async def twice(client):
        async with client:
            return [await client.sample(MESSAGES, temperature=0.3, max_tokens=17) for _ in range(2)]

    with (
        FaultServer(refuses=("max_tokens", "temperature")) as server,
        pytest.warns(UserWarning, match="does not take"),
    ):
        run_to_end(twice(Client(server.url, "m")))
    assert len(server.seen) == 4  # two refusals, two answers
    assert all(
        seen == {"model": "m", "messages": MESSAGES, "max_completion_tokens": 17}
        for seen in server.seen[2:]
    )
    with (
        FaultServer(refuses=("max_tokens", "max_completion_tokens")) as server,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        with pytest.raises(EndpointError, match="HTTP 400"):  # no answer goes without a limit
            sample(server)
    error = json.dumps(
        {"error": {"message": "temperature must be at most 2", "param": "temperature"}}
    ).encode()
    with (
        FaultServer(["high"], replies={"high": (400, "", error)}) as server,
        pytest.raises(EndpointError, match="most 2"),
    ):
        sample(server, temperature=9.0)


def test_half_masked_keys_are_blotted_out():
    client = Client("http://127.0.0.1:1/v1", "m")
    assert client.clean("Incorrect API key: sk-abcd****wxyz.") == "Incorrect API key: [key]."
    assert client.clean("a\n\tb\x1b[0m  c") == "a b [0m c"
    assert len(client.clean("x" * 10_000)) == 203


def test_which_addresses_are_this_machine():
    here = ["http://127.0.0.1:80/v1", "http://[::1]:8080/v1", "http://localhost/v1"]
    for url in [*here, "https://host.example/v1"]:
        for given_url in (url, f"{url}/"):
            client = Client(given_url, "m")
            assert (client.url, client.loopback) == (url, url in here)


NO_URL = ["127.0.0.1:8080/v1", "ftp://host/v1", "http://", "", "http://[::1/v1", "http://h:x/v1"]
TOO_MUCH = [
    "https://user:password@host.example/v1",
    "https://host.example/v1?key=abc",
    "https://host.example/v1#abc",
]
BROKEN = [
    "https://host.example\n/v1",
    "https://host.example/v1\r\nabc",
    "https://h\u00f6st.example/v1",
]


@pytest.mark.parametrize("url", NO_URL + TOO_MUCH + BROKEN)
def test_a_bad_address_is_refused_without_its_secrets(url):
    message = "must look like" if url in NO_URL else "(must hold no user|holds a space)"
    with pytest.raises(ValueError, match=f"the base URL {message}") as caught:
        Client(url, "m")
    assert not any(secret in str(caught.value) for secret in ("password@", "abc", "\n"))


def test_a_key_is_needed_elsewhere_but_not_here(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    Client("http://127.0.0.1:1/v1", "m")
    with pytest.raises(
        EndpointError, match="https://host.example/v1 needs a key.*the name given is not set"
    ):
        Client("https://host.example/v1", "m", key_env="MY_KEY")
    monkeypatch.setenv("MY_KEY", "  sk-wéird\n")
    with pytest.raises(
        EndpointError, match="the key in the environment variable MY_KEY holds a character"
    ) as caught:
        Client("https://host.example/v1", "m", key_env="MY_KEY")
    assert "rd" not in str(caught.value).replace("header", "")


def test_this_machine_is_asked_without_a_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with FaultServer() as server:
        assert sample(server).tokens == 9


def test_a_proxy_that_cannot_be_used_is_one_line(monkeypatch):
    for proxy in ("socks5://127.0.0.1:9", "socks4://127.0.0.1:9", "nonsense://x"):
        for name in ("https_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy)
        with pytest.raises(
            EndpointError, match="^the proxy that the environment names for https cannot be used"
        ):
            Client("https://host.example/v1", "m").http_client()


def test_retry_after_in_both_forms():
    now = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)
    seconds_by_hint = {
        "2.5": 2.5,
        "-4": 0,
        "0" * 9999: 0,
        "Sun, 15 Nov 2026 12:01:30 GMT": 90,
        "Sun, 15 Nov 2026 11:00:00 GMT": 0,
    }
    assert {hint: retry_after(hint, now) for hint in seconds_by_hint} == seconds_by_hint
    for nothing in (
        None,
        "",
        ",",
        "soon",
        "nan",
        "inf",
        "1e999",
        "\x00",
        "Mon, 99 Zzz 99999 99:99:99",
    ):
        assert retry_after(nothing) is None
    assert retry_after("Fri, 31 Dec 9999 23:59:59 -9959") is None  # no date overflows


@given(st.lists(st.floats(-30, 0), min_size=1, max_size=20))
def test_entropy_of_the_likeliest_is_a_lower_bound_on_the_whole(logits):
    total = math.fsum(map(math.exp, logits))
    logprobs = sorted((x - math.log(total) for x in logits), reverse=True)
    whole = -math.fsum(math.exp(x) * x for x in logprobs)
    assert mean_entropy([logprobs, logprobs]) == pytest.approx(whole, abs=2e-6)
    assert mean_entropy([logprobs[:3]]) <= whole + 2e-6


# Odd replies: whatever an endpoint sends, it ends in another try or in one line, and nothing odd is
# stored.


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_compressed_bomb_is_refused(encoding):
    with FaultServer(["bomb"], replies={"bomb": bomb(encoding)}) as server:
        with pytest.raises(EndpointError, match="failed once"):
            sample(server)
        assert sample(server).text.endswith("Answer: 7")


def test_a_compressed_reply_is_read():
    replies = {
        "small": (200, "Content-Encoding: gzip\r\n", gzip.compress(json.dumps(GOOD).encode()))
    }
    with FaultServer(["small"], replies=replies) as server:
        assert sample(server).text == "Answer: 7"


def test_half_a_character_becomes_the_replacement_mark():
    with FaultServer(["surrogate"]) as server:
        assert sample(server).text == "broken \N{REPLACEMENT CHARACTER}\nAnswer: 7"


def test_a_reply_without_an_end_is_cut_off():
    with (
        FaultServer(["endless"]) as server,
        pytest.raises(EndpointError, match="longer than 32,000,000 bytes"),
    ):
        sample(server, timeout=60.0)


@pytest.mark.parametrize(
    "values",
    [
        [0.5],
        [-1, math.inf],
        [-1, "-2"],
        [-1, None],
        [math.nan],
        [-(10**400)],
        [True],
        [10**400],
        [{}],
        [-1e300],
    ],
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
            fields = {
                name: getattr(answer, name)
                for name in ("text", "finish", "tokens", "prompt_tokens", "logprob", "entropy")
                if getattr(answer, name) is not None
            }
            store.append({"id": "a", "sample": i, **fields})
            read += 1
    assert scan(tmp_path / "out" / "answers.jsonl").count == read > 100


def test_a_redirect_is_not_followed():
    with FaultServer() as other:
        for status in (301, 302, 307, 308):
            replies = {"away": (status, f"Location: {other.url}/chat/completions\r\n", b"{}")}
            message = "another address"
            with (
                FaultServer(["away"], replies=replies) as server,
                pytest.raises(EndpointError, match=message),
            ):
                sample(server)
        assert other.seen == []


def test_blotting_out_a_key_does_not_change_data(monkeypatch):
    """A key that is a plain number is found in answers that have nothing to do with it."""
    monkeypatch.setenv("OPENAI_API_KEY", "111111")
    with FaultServer(text="111111 and sk-learning-rate\nAnswer: 111111") as server:
        assert sample(server).text == "111111 and sk-learning-rate\nAnswer: 111111"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FaultServer(text=f"{KEY} it is") as server:
        assert sample(server).text == "[key] it is"
        assert (
            sample(server, messages=[{"role": "user", "content": f"Repeat {KEY}"}]).text
            == f"{KEY} it is"
        )


def test_the_name_of_the_variable_is_repeated_only_if_it_surely_is_one():
    for secret in ("sk-proj-abc", "abc def", "", "hunter2hunter2"):
        with pytest.raises((ValueError, EndpointError)) as caught:
            Client("https://host.example/v1", "m", key_env=secret)
        assert not secret or secret not in str(caught.value)


def test_a_key_over_plain_http_is_warned_about():
    with pytest.warns(UserWarning, match="the key travels to http://host.example/v1 unencrypted"):
        Client("http://host.example/v1", "m")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Client("http://127.0.0.1:1/v1", "m")
        Client("https://host.example/v1", "m")
