"""fit, route and serve as a user runs them: in processes of their own, stopped, killed and gone on
with."""

import argparse
import contextlib
import functools
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from contextlib import contextmanager

import httpx
import numpy as np
import openai
import pytest
import uvicorn
from conftest import ROOT, wait_until
from fault_server import FaultServer
from odd_replies import ODD, STRANGE, as_replies, bomb
from redis_server import redis_server

from adalib import Router
from adalib.commands import serve as serving
from adalib.commands.cli import main
from adalib.datasets.files import write_lines
from adalib.datasets.folds import drawn
from adalib.datasets.loading import load
from adalib.datasets.populations import beta_population
from adalib.router import attempt, listening
from adalib.router.listening import listen

ASK = {"model": "m", "messages": [{"role": "user", "content": "What is 3 + 4?"}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A router that `fit` made from a file of one's own."""
    path = tmp_path_factory.mktemp("fit")
    load("word-fewshot").take(range(0, 372, 12)).save(path / "few.jsonl")
    assert (
        main(["fit", str(path / "few.jsonl"), "--budget", "3", "--out", str(path / "router")]) == 0
    )
    return path / "router"


@pytest.fixture
def fit(folder):
    """The words of a fit, up to the folder that it writes."""
    return ["fit", str(folder.parent / "few.jsonl"), "--budget", "3", "--out"]


def test_fit_learns_from_a_sample_where_there_are_many(folder, fit, tmp_path, capsys, refused):
    assert main([*fit, str(tmp_path / "some"), "--learn-from", "20"]) == 0
    output = capsys.readouterr()
    assert (
        "learned from 20 of 31 questions, drawn at random; --learn-from N takes more" in output.err
    )
    assert "20 questions teach little" in output.err
    assert "fitted on 20 questions: priced, budget 3 samples per question" in output.out
    some = load(folder.parent / "few.jsonl").take(drawn(range(31), 20, 0))
    assert np.array_equal(
        Router.load(tmp_path / "some").policy.costs, Router.fit(some, budget=3).policy.costs
    )
    refused([*fit, str(tmp_path / "some")], "holds a router already")


def test_fit_refuses_numbers_out_of_range(fit, tmp_path, refused):
    words = {
        "--learn-from=1": "at least 2 questions",
        "--budget=0.5": "cheapest",
        "--round=0": "give 1 or more",
    }
    for word, message in words.items():
        refused([*fit, str(tmp_path / "none"), word], message)
    assert not (tmp_path / "none").exists()


def test_fit_learns_a_race(tmp_path, capsys, refused):
    """It counts tokens, promises its waiting in answers, and is kept with its price of waiting."""
    answers = beta_population(30, 2, 1).sample(8)
    tokens = np.random.default_rng(0).geometric(0.01, (30, 8)).tolist()
    rows = zip(answers.golds, answers.answers, tokens, strict=True)
    file = tmp_path / "answers.jsonl"
    write_lines(
        file,
        (
            {"id": f"q{k}", "question": "", "gold": gold, "answers": list(row), "tokens": lengths}
            for k, (gold, row, lengths) in enumerate(rows)
        ),
    )
    fit = ["fit", str(file), "--race", "--budget", "250", "--out"]
    assert main([*fit, str(tmp_path / "race"), "--waiting-price", "0.03"]) == 0
    printed = capsys.readouterr().out
    assert "race, budget 250 tokens per question" in printed
    assert re.search(r" tokens and [\d.]+ average answers of waiting per question", printed)
    router = Router.load(tmp_path / "race")
    assert (router.name, router.unit, router.policy.waiting_price) == ("race", "tokens", 0.03)
    words = {
        "--policy=curve": "contradict",
        "--cost=samples": "--race counts tokens",
        "--round=2": "--race decides at every finish",
        "--budget=1": "cheapest rule",
        "--waiting-price=-1": "waiting_price",
    }
    for word, message in words.items():
        refused([*fit, str(tmp_path / "none"), word], message)
    plain = ["fit", str(file), "--budget", "3", "--waiting-price", "0.1", "--out"]
    refused([*plain, str(tmp_path / "none")], "--waiting-price needs --race")
    assert not (tmp_path / "none").exists()


def questions(path, n):
    write_lines(
        path,
        ({"id": f"q{k}", "question": f"What is {k} + {7 - k}?", "gold": "7"} for k in range(n)),
    )
    return str(path)


def routing(router, tmp_path, n, url, *more):
    """The words that route n questions, in order unless told otherwise."""
    where = ["--base-url", url, "--model", "m", "--out", str(tmp_path / "out")]
    return [
        "route",
        str(router),
        questions(tmp_path / "q.jsonl", n),
        *where,
        *(more or ["--concurrency", "1"]),
    ]


def rows_of(tmp_path, name="answers"):
    lines = (tmp_path / "out" / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line, parse_constant=pytest.fail) for line in lines]


def test_route_goes_on_where_it_stopped(folder, tmp_path, capsys):
    kept = tmp_path / "out" / "answers.jsonl"
    with FaultServer(lambda k: "ok" if k < 20 else "401") as upstream:
        assert main(routing(folder, tmp_path, 12, upstream.url)) == 2
    assert "run the same command again" in capsys.readouterr().err
    before = kept.read_bytes()
    assert 0 < before.count(b"\n") < 12
    with FaultServer() as upstream:
        command = routing(folder, tmp_path, 12, upstream.url, "--concurrency", "16")
        assert main(command) == 0
        assert kept.read_bytes().startswith(before)  # nothing asked twice
        rows = rows_of(tmp_path, "routed")
        assert [(row["id"], row["answer"]) for row in rows] == [(f"q{k}", "7") for k in range(12)]
        assert sum(row["samples"] for row in rows[before.count(b"\n") :]) == len(upstream.seen)
        assert "12 of 12 right" in capsys.readouterr().out
        asked = len(upstream.seen)
        assert main(command) == 0
        assert len(upstream.seen) == asked  # nothing left to do
        questions(tmp_path / "q.jsonl", 13)
        assert main(command) == 2  # answers to other questions are not mixed in
        assert "begun with questions" in capsys.readouterr().err


def test_route_survives_every_odd_reply(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(attempt, "FIRST_WAIT", 0.01)
    replies = {**as_replies(ODD | STRANGE), "bomb": bomb()}
    names = list(replies)
    # Every other request is answered oddly, until all have been.
    with FaultServer(
        lambda k: "ok" if k % 2 or k // 2 >= len(names) else names[k // 2], replies=replies
    ) as upstream:
        assert main(routing(folder, tmp_path, 30, upstream.url)) == 0
        assert len(upstream.seen) > 2 * len(names)
    assert {row["answer"] for name in ("answers", "routed") for row in rows_of(tmp_path, name)} == {
        "7"
    }


@pytest.mark.parametrize("odd", ["choices-object", "deep", "bomb", "endless", "away"])
def test_route_ends_in_one_line_where_every_reply_is_odd(
    folder, tmp_path, capsys, monkeypatch, odd
):
    monkeypatch.setattr(attempt, "FIRST_WAIT", 0.01)
    with FaultServer() as other:
        away = (308, f"Location: {other.url}/chat/completions\r\n", b"{}")
        replies = {**as_replies(ODD), "bomb": bomb(), "away": away}
        with FaultServer(lambda k: odd, replies=replies) as upstream:
            assert main(routing(folder, tmp_path, 3, upstream.url, "--tries", "2")) == 2
            last_line = capsys.readouterr().err.splitlines()[-1]
            assert upstream.url in last_line
            assert "Traceback" not in last_line
        assert other.seen == []


def test_an_interrupt_keeps_what_is_in_flight(folder, tmp_path):
    with FaultServer(latency=0.3) as upstream:
        words = routing(folder, tmp_path, 60, upstream.url, "--concurrency", "4")
        command = [sys.executable, "-m", "adalib", *words]
        heed = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heed)
        wait_until(lambda: len(upstream.seen) >= 10, "ten requests are under way", process)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert "run the same command again" in err
    kept = rows_of(tmp_path)
    assert 4 <= len(kept) < 60
    assert sum(answer["samples"] for answer in kept) == len(
        upstream.seen
    )  # nothing was asked in vain


def test_a_price_list_holds_the_bill(folder, tmp_path, capsys, refused):
    fit = ["fit", str(folder.parent / "few.jsonl"), "--out", str(tmp_path / "router")]
    assert (
        main(
            [
                *fit,
                "--budget",
                "0.0001",
                "--cost",
                "money",
                "--per-token",
                "1e-6",
                "--per-answer",
                "5e-6",
            ]
        )
        == 0
    )
    assert "0.0001 dollars per question" in capsys.readouterr().out
    assert Router.load(tmp_path / "router").cost_of(23) == pytest.approx(2.8e-5)
    with FaultServer() as upstream:
        assert main(routing(tmp_path / "router", tmp_path, 30, upstream.url)) == 0
    kept = rows_of(tmp_path)
    assert [answer["cost"] for answer in kept] == pytest.approx(
        [answer["samples"] * 1.4e-5 for answer in kept]
    )
    priced = ["--cost", "money", "--per-token", "1e-6", "--policy", "curve"]
    for more, message in (
        (priced[:2], "--per-token"),
        (priced[2:4], "--cost money"),
        (priced, "priced"),
    ):
        refused([*fit, "--budget", "3", "--out", str(tmp_path / "other"), *more], message)


def test_bad_input_is_one_line(folder, tmp_path, refused, monkeypatch):
    nobody = "http://127.0.0.1:9/v1"
    upstream = ["--upstream", nobody, "--model", "m"]
    for command, message in (
        (routing(tmp_path, tmp_path, 2, nobody), "router.json"),
        (routing(folder, tmp_path, 2, nobody, "--total", "1"), "--price-in"),
        (routing(folder, tmp_path, 2, nobody, "--total", "nan", "--price-in", "1"), "total"),
        (["serve", str(folder), "--model", "m"], "--upstream"),
        (["serve", str(folder), *upstream, "--host", "0.0.0.0"], "ADALIB_TOKEN"),
        (["serve", str(tmp_path), *upstream], "router.json"),
    ):
        refused(command, message)
    for name in ("adalib.router.server", "starlette", "starlette.applications"):
        monkeypatch.setitem(sys.modules, name, None)
    refused(["serve", str(folder), *upstream], "pip install 'adalib[serve]'")


@contextmanager
def served(folder, upstream):
    """`serve` in a process of its own, and a plain client for it."""
    command = [
        "-m",
        "adalib",
        "serve",
        str(folder),
        "--upstream",
        upstream.url,
        "--model",
        "m",
        "--port",
        "0",
    ]
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        url = next(
            word for word in process.stdout.readline().split() if word.startswith("http")
        ).rstrip(",")
        with openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=60) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate()


@contextmanager
def in_flight(client, upstream):
    """A request that the upstream has seen and not yet answered; yields where its outcome will
    be."""
    outcome = []

    def ask():
        try:
            outcome.append(
                client.chat.completions.create(**ASK, extra_body={"adalib": {"price": 100.0}})
            )
        except openai.OpenAIError as error:
            outcome.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    wait_until(lambda: upstream.seen or not thread.is_alive(), "the upstream is asked")
    assert upstream.seen
    yield outcome
    thread.join()


def test_a_graceful_stop_finishes_what_is_in_flight(folder):
    with FaultServer(latency=2.0) as upstream, served(folder, upstream) as (process, client):
        with in_flight(client, upstream) as outcome:
            process.send_signal(signal.SIGTERM)
        assert outcome[0].choices[0].message.content == upstream.text
        process.wait(60)
        with pytest.raises(openai.APIConnectionError):
            client.models.list()


def test_a_kill_is_a_lost_connection_for_the_caller(folder):
    with FaultServer(latency=30.0) as upstream, served(folder, upstream) as (process, client):
        with in_flight(client, upstream) as outcome:
            process.kill()
        assert isinstance(outcome[0], openai.APIConnectionError)


def test_a_reply_does_not_wait_for_the_one_before_it():
    """Without it the second part of every reply comes 40 ms late, on Linux."""
    with listen("127.0.0.1", 0) as opened, socket.create_connection(opened.getsockname()):
        called, _ = opened.accept()
        with called:
            assert called.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def half_open(port, count):
    """Callers who begin a request and never end its head."""
    lines = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    for line in lines:
        line.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    return lines


def test_callers_who_never_ask_are_cut_off(monkeypatch):
    async def app(scope, receive, send):
        assert scope["type"] == "http"
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    monkeypatch.setattr(listening, "HEAD", 1.0)
    monkeypatch.setattr(listening, "CALLERS", 100)
    config = uvicorn.Config(
        app, http=listening.patient_protocol(), port=0, log_level="critical", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started, "the server has started")
    port = server.servers[0].sockets[0].getsockname()[1]
    lines = half_open(port, 80)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        assert client.get("/").status_code == 204
        time.sleep(1.5)
        assert client.get("/").status_code == 204  # an idle line that has asked stays
        for line in lines:
            line.settimeout(60)
            with contextlib.suppress(ConnectionError):
                assert line.recv(1) == b""
            line.close()
        more = half_open(port, 150)  # more than there may be
        assert sum(_is_cut(line) for line in more) >= 50
        for line in more:
            line.close()
    server.should_exit = True
    thread.join()


def _is_cut(line):
    line.settimeout(0.2)
    try:
        return line.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_two_servers_survive_a_restart_of_everything(folder, tmp_path):
    """The upstream's bill for votes and both purses are one sum, and the total is never passed."""
    with redis_server() as redis, FaultServer() as upstream:
        words = ["--upstream", upstream.url, "--model", "m", "--port", "0", "--redis", redis.url]
        words += ["--price-in", "100", "--price-out", "1000", "--max-tokens", "10"]
        command = [sys.executable, "-m", "adalib", "serve", str(folder), *words, "--total", "1.5"]
        spent = 0.0
        refused = 0
        for _ in range(2):
            running = [
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)
            ]
            try:
                lines = [one.stdout.readline() for one in running]
                urls = [line.split(" listens at ")[1].split(",")[0] for line in lines]
                for number in range(60):
                    reply = httpx.post(
                        f"{urls[number % 2]}/chat/completions",
                        json=ASK,
                        trust_env=False,
                        timeout=60,
                    )
                    refused += reply.status_code == 402
                    assert reply.status_code in (200, 402)
                    spent += float(reply.headers.get("x-litellm-response-cost", 0.0))
                bill = upstream.sent * 0.011  # 20 tokens read, 9 written
                assert spent == pytest.approx(bill)
                assert bill <= 1.5
                for url in urls:
                    assert _purse(url, bill) == pytest.approx(bill)
            finally:
                for one in running:
                    one.send_signal(signal.SIGTERM)
                for one in running:
                    one.communicate(timeout=60)
        assert refused > 0
        assert bill > 1.2


def test_what_was_spent_is_in_the_ledger(folder, tmp_path):
    """Started twice with a total for three answers; the log's money is the ledger's."""
    ledger = tmp_path / "ledger.json"
    with FaultServer() as upstream:
        words = ["--upstream", upstream.url, "--model", "m", "--port", "0"]
        words += ["--log", str(tmp_path / "log.jsonl")]
        words += ["--price-out", "1000", "--max-tokens", "9", "--total", "0.03"]
        command = [sys.executable, "-m", "adalib", "serve", str(folder), *words]
        for _ in range(2):
            process = subprocess.Popen(
                [*command, "--ledger", str(ledger)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            url = process.stdout.readline().split(" listens at ")[1].split(",")[0]
            for _ in range(3):
                httpx.post(f"{url}/chat/completions", json=ASK, trust_env=False, timeout=60)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        lines = (tmp_path / "log.jsonl").read_text().splitlines()
        money = sum(json.loads(line)["money"] for line in lines)
    kept = json.loads(ledger.read_text())
    assert kept["spent"] == pytest.approx(money) == pytest.approx(upstream.sent * 0.009)
    assert upstream.sent == 3
    assert kept["asked"] >= 1


def _purse(url, expected):
    """What a server says is spent, as soon as it has heard of it: it looks once a second."""
    for _ in range(600):
        metrics = httpx.get(f"{url.removesuffix('/v1')}/metrics", trust_env=False).text
        spent = float(
            next(
                line for line in metrics.splitlines() if line.startswith("adalib_purse_spent ")
            ).split()[1]
        )
        if abs(spent - expected) < 1e-9:
            break
        time.sleep(0.1)
    return spent


def test_the_image_starts_what_there_is():
    """The words of the Dockerfile, without docker: a command that parses, an extra that exists."""
    text = (ROOT / "Dockerfile").read_text()
    words = json.loads(text.split("ENTRYPOINT ")[1].split("\n")[0])
    parser = argparse.ArgumentParser()
    serving.arguments(parser)
    assert words[:2] == ["adalib", "serve"]
    assert parser.parse_args(words[2:]).host == "0.0.0.0"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert "[serve]" in text
    assert "uvicorn" in extras["serve"]


def test_the_server_needs_nothing_that_only_the_book_needs():
    blocked = [
        "plotly",
        "ipywidgets",
        "anywidget",
        "IPython",
        "jedi",
        "jupyterlab",
        "dask",
        "matplotlib",
    ]
    code = f"import sys; sys.modules.update(dict.fromkeys({blocked}))\n"
    code += "import adalib.router.server, adalib.commands.serve"
    subprocess.run([sys.executable, "-c", code], check=True)
