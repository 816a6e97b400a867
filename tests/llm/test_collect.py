"""The collector: resumable whatever ends it, never one answer twice, one clear line for whatever
goes wrong."""

import functools
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from conftest import run_to_end, wait_until
from fault_server import FaultServer

import adalib
from adalib.cli import main
from adalib.datasets.files import DataError
from adalib.llm.client import EndpointError
from adalib.llm.collect import collect, export
from adalib.llm.questions import load_prompt, load_questions, workload
from adalib.llm.store import Store, scan
from adalib.vote.extract import extract_answer

KEY = "sk-a-very-secret-key-0123"
QUESTIONS = [
    {"id": f"q{i}", "question": f"What is 3 + {i}? {{x}}", "gold": str(3 + i), "level": 1}
    for i in range(8)
]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        "".join(json.dumps(question) + "\n" for question in QUESTIONS), encoding="utf-8"
    )
    return path


def stored(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "answers.jsonl").read_bytes().splitlines()]


def pairs(out: Path) -> Counter:
    return Counter((record["id"], record["sample"]) for record in stored(out))


def rectangle(samples: int) -> Counter:
    return Counter((question["id"], sample) for question in QUESTIONS for sample in range(samples))


def quick(file: Path, out: Path, server: FaultServer, **options) -> Path:
    return collect(
        file,
        out,
        **({"base_url": server.url, "model": "m", "samples": 3, "progress": False} | options),
    )


def command(file: Path, out: Path, server: FaultServer, *more: str) -> list[str]:
    where = ["--base-url", server.url, "--model", "m", "--samples", "6", "--concurrency", "4"]
    return [sys.executable, "-m", "adalib", "collect", str(file), "--out", str(out), *where, *more]


# What is collected


def test_files_of_two_efforts_are_a_menu(file, tmp_path):
    exported = ""
    for effort in ("low", "high"):
        with FaultServer() as server:
            path = quick(file, tmp_path / effort, server, reasoning_effort=effort)
            assert {request["reasoning_effort"] for request in server.seen} == {effort}
        exported += path.read_text(encoding="utf-8")
    both = tmp_path / "both.jsonl"
    both.write_text(exported, encoding="utf-8")
    menu = adalib.load(both)
    assert list(menu.models) == ["m low", "m high"]
    assert menu.per_question


def test_an_effort_that_the_model_does_not_take_is_refused(file, tmp_path):
    with (
        FaultServer(refuses=("reasoning_effort",)) as server,
        pytest.raises(EndpointError, match="Unsupported parameter: 'reasoning_effort'"),
    ):
        quick(file, tmp_path / "out", server, reasoning_effort="low")
    assert not (tmp_path / "out" / "responses.jsonl").exists()


def test_every_question_gets_its_samples(file, tmp_path):
    with FaultServer() as server:
        path = quick(file, tmp_path / "out", server)
    assert pairs(tmp_path / "out") == rectangle(3)
    responses = adalib.load(path)
    assert list(responses.ids) == [question["id"] for question in QUESTIONS]
    assert responses.answers == [["7"] * 3] * 8
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[4])
    assert row == QUESTIONS[4] | {
        "answers": ["7"] * 3,
        "texts": ["Three and four are seven.\nAnswer: 7"] * 3,
        "tokens": [9] * 3,
        "finish": ["stop"] * 3,
        "model": "m",
    }
    # The exports of two models, one after the other, are a menu.
    with FaultServer() as server:
        parts = [path, quick(file, tmp_path / "large", server, model="large")]
    (tmp_path / "menu.jsonl").write_text(
        "".join(part.read_text(encoding="utf-8") for part in parts), encoding="utf-8"
    )
    menu = adalib.load(tmp_path / "menu.jsonl")
    assert list(menu.models) == ["m", "large"]
    assert menu.unit == {"m": 9, "large": 9}  # tokens, at a price of 1


def test_a_second_run_adds_only_the_samples_that_are_missing(file, tmp_path):
    async def notebook():  # it works where an event loop is already running
        return quick(file, tmp_path, server, samples=3)

    with FaultServer() as server:
        assert run_to_end(notebook()).exists()
        assert pairs(tmp_path) == rectangle(3)
        before = (tmp_path / "answers.jsonl").read_bytes()
        path = quick(file, tmp_path, server, samples=6)
        assert len(server.seen) == 8 * 6
        quick(
            file, tmp_path, server, samples=2
        )  # fewer than are there: nothing to do, nothing lost
        assert len(server.seen) == 8 * 6
    assert (tmp_path / "answers.jsonl").read_bytes().startswith(before)
    assert pairs(tmp_path) == rectangle(6)
    assert adalib.load(path).samples == 6


def test_seeds_differ_between_answers_but_not_between_runs(file, tmp_path):
    seeds = []
    for out in (tmp_path / "a", tmp_path / "b"):
        with FaultServer() as server:
            quick(file, out, server, seed=1)
        seeds.append({request["seed"] for request in server.seen})
    assert seeds[0] == seeds[1]
    assert len(seeds[0]) == 8 * 3


def test_log_probabilities_reach_the_export(file, tmp_path):
    with FaultServer() as server:
        path = quick(file, tmp_path, server, logprobs=True)
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert row["logprob"] == pytest.approx([-1.5 * 0.6931472] * 3, abs=1e-5)
    assert row["entropy"] == pytest.approx([0.6931472] * 3, abs=1e-5)


def test_an_unfinished_folder_is_exported_as_the_rounds_that_are_whole(file, tmp_path):
    with FaultServer(lambda k: "ok" if k < 21 else "401") as server, pytest.raises(EndpointError):
        quick(file, tmp_path, server, concurrency=1)
    assert adalib.load(export(file, tmp_path)).samples == 2
    changed = tmp_path / "changed.jsonl"
    changed.write_text(file.read_text(encoding="utf-8").replace("3 + 1", "3 + 9"), encoding="utf-8")
    with pytest.raises(DataError, match="other questions"):
        export(changed, tmp_path)


def test_an_answer_cut_at_the_limit_is_read_as_unfinished(file, tmp_path):
    with FaultServer(text="So the sum is 7") as server:
        quick(file, tmp_path, server, samples=1)
    for finish in ("stop", "length"):
        lines = [record | {"finish": finish} for record in stored(tmp_path)]
        (tmp_path / "answers.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
        )
        row = json.loads(export(file, tmp_path).read_text(encoding="utf-8").splitlines()[0])
        assert row["answers"] == [extract_answer("So the sum is 7", finished=finish == "stop")]


# What ends it


def started(line: list[str]) -> subprocess.Popen:
    """A command that heeds Ctrl-C, also where a shell runs the tests in the background and ignores
    it for all."""
    heed = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True, preexec_fn=heed)


@pytest.mark.parametrize("seed", range(5))
def test_kill_9_at_a_random_moment_loses_only_what_was_in_flight(file, tmp_path, seed):
    rng = random.Random(seed)
    with FaultServer(latency=0.02) as server:
        process = subprocess.Popen(command(file, tmp_path, server), stderr=subprocess.DEVNULL)
        enough = rng.randint(1, 40)
        wait_until(lambda: server.sent >= enough, f"{enough} answers are sent", process)
        time.sleep(rng.random() * 0.02)
        process.kill()
        process.wait()
        kept = (tmp_path / "answers.jsonl").read_bytes()
        assert server.sent - kept.count(b"\n") <= 4
        if seed % 2:  # a tear, at a random place in a line, in case the kill made none
            torn = json.dumps(answer(0)).encode()
            (tmp_path / "answers.jsonl").write_bytes(kept + torn[: rng.randint(1, len(torn))])
        assert main(command(file, tmp_path, server)[3:]) == 0
    assert (tmp_path / "answers.jsonl").read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert pairs(tmp_path) == rectangle(6)
    assert adalib.load(tmp_path / "responses.jsonl").samples == 6


@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_answers_in_flight(file, tmp_path, stop_signal):
    with FaultServer(latency=0.3) as server:
        process = started(command(file, tmp_path, server))
        wait_until(lambda: server.sent >= 5, "five answers are sent", process)
        process.send_signal(stop_signal)
        _, errors = process.communicate()
        assert process.returncode == 130
        assert len(stored(tmp_path)) == server.sent < 48
        last = errors.splitlines()[-1]
        assert last == (
            f"adalib collect: stopped; {server.sent} of 48 answers are kept in {tmp_path}, "
            "run the same command again to go on"
        )
        assert "Traceback" not in errors
        assert main(command(file, tmp_path, server)[3:]) == 0
    assert pairs(tmp_path) == rectangle(6)


def test_a_hanging_try_ends_at_the_second_interrupt(file, tmp_path):
    """One that waits before the next try ends at the first."""
    with FaultServer(lambda k: "hang" if k % 2 else "429", retry_after="3600") as server:
        process = started(command(file, tmp_path, server))
        wait_until(lambda: len(server.seen) >= 4, "four requests are under way", process)
        process.send_signal(signal.SIGINT)
        while "interrupt again to drop them" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert f"stopped; 0 of 48 answers are kept in {tmp_path}" in errors.splitlines()[-1]
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        *(
            (status, f"HTTP {status}") for status in ("400", "401", "429", "500")
        ),  # all others: test_endpoint.py
        ("hang", "no answer within 2 s"),
        ("cut", "the connection was cut"),
        ("html", "the reply is a page"),
        ("empty", "the reply holds no choices"),
    ],
)
def test_an_endpoint_that_fails_for_good_ends_in_one_clear_line(
    file, tmp_path, capsys, fault, message
):
    with FaultServer(lambda k: "ok" if k < 10 else fault) as server:
        argv = command(
            file, tmp_path, server, "--tries", "2", "--timeout", "2", "--concurrency", "2"
        )[3:]
        assert main(argv) == 2
        last = capsys.readouterr().err.splitlines()[-1]
        assert last.startswith("adalib collect: question ")
        assert message in last
        assert f"of 48 answers are kept in {tmp_path}, run the same command again to go on" in last
        server.fault = lambda k: "ok"
        assert main(argv) == 0
    assert pairs(tmp_path) == rectangle(6)


def test_a_passing_storm_costs_nothing_but_time(file, tmp_path):
    storm = ["429", "500", "cut", "html", "bytes", "empty", "refuse", "503"]
    with FaultServer(storm) as server:
        quick(file, tmp_path / "storm", server, samples=2)
    assert pairs(tmp_path / "storm") == rectangle(2)
    assert server.sent == 16


def test_giving_up_keeps_the_answers_that_are_paid_for(file, tmp_path):
    # One request is refused at once while the others are on their way.
    with FaultServer(["400"], latency=0.3) as server:
        with pytest.raises(EndpointError, match="7 of 8 answers are kept"):
            quick(file, tmp_path, server, samples=1, concurrency=8)
        assert server.sent == 7
        assert adalib.load(quick(file, tmp_path, server, samples=1)).n == 8
    assert server.sent == 8


def test_a_second_collector_is_refused_until_the_first_is_gone(file, tmp_path):
    with FaultServer(lambda k: "ok" if k < 3 else "hang") as server:
        first = subprocess.Popen(command(file, tmp_path, server), stderr=subprocess.DEVNULL)
        # Three are answered, and four hang.
        wait_until(lambda: len(server.seen) >= 7, "seven requests are under way", first)
        with pytest.raises(DataError, match="another collector is writing here"):
            quick(file, tmp_path, server, samples=6)
        assert len(server.seen) == 7
        first.kill()
        first.wait()
        server.fault = lambda k: "ok"
        quick(file, tmp_path, server, samples=6)
    assert pairs(tmp_path) == rectangle(6)
    assert server.sent == 48


def test_a_full_disk_keeps_what_was_collected(file, tmp_path):
    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2500, 2500))

    streams = {
        "env": os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        "capture_output": True,
        "text": True,
    }
    with FaultServer() as server:
        full = subprocess.run(command(file, tmp_path, server), preexec_fn=small_disk, **streams)
        assert full.returncode == 2
        last = full.stderr.splitlines()[-1]
        assert last.startswith(f"adalib collect: {tmp_path}/answers.jsonl: ")
        assert "answers so far are safe, make room and run the same command again" in last
        assert "Traceback" not in full.stderr
        kept = (tmp_path / "answers.jsonl").read_bytes()
        assert kept.endswith(b"\n")
        assert 2000 < len(kept) <= 2500
        assert main(command(file, tmp_path, server)[3:]) == 0
    assert (tmp_path / "answers.jsonl").read_bytes().startswith(kept)
    assert pairs(tmp_path) == rectangle(6)


# The store


def answer(sample: int) -> dict:
    return {
        "id": "a",
        "sample": sample,
        "text": "lóng enough to be torn",
        "finish": "stop",
        "tokens": 3,
    }


def test_a_line_torn_at_any_byte_is_cut_off(tmp_path):
    with Store(tmp_path, {"model": "m"}) as store:
        for sample in range(3):
            store.append(answer(sample))
    whole = store.answers.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for length in range(last, len(whole)):
        store.answers.write_bytes(whole[:length])
        with Store(tmp_path, {"model": "m"}) as again:
            assert again.held.bits == {"a": 0b11}
            assert again.held.tokens == 6
        assert store.answers.read_bytes() == whole[:last]


BAD_LINES = [
    b"not json",
    b'{"id": "a"}',
    b"\xff\xfe",
    b"[]",
    b"",
    b'{"id": "a", "sample": "0"}',
    b"[1]",
    b"{}",
]
BAD_FIELDS = [
    {"sample": True},
    {"sample": -1},
    {"sample": 10**100},
    {"sample": 1.0},
    {"tokens": "3"},
    {"tokens": 1.5},
]
BAD_FIELDS += [
    {"tokens": 10**200},
    {"prompt_tokens": [1]},
    {"logprob": "x"},
    {"text": None},
    {"id": 3},
]


@pytest.mark.parametrize(
    "bad", BAD_LINES + [json.dumps(answer(2) | fields).encode() for fields in BAD_FIELDS]
)
def test_a_damaged_line_in_the_middle_is_named(tmp_path, bad):
    with Store(tmp_path, {"model": "m"}) as store:
        store.append(answer(0))
        store.append(answer(1))
    first, second = store.answers.read_bytes().splitlines(keepends=True)
    damaged = first + bad + b"\n" + second + b'{"torn'
    store.answers.write_bytes(damaged)
    with (
        pytest.raises(DataError, match=r"\A[^\n]+answers.jsonl, line 2: [^\n]+\Z"),
        Store(tmp_path, {"model": "m"}),
    ):
        pass
    assert store.answers.read_bytes() == damaged


def test_the_same_sample_twice_is_refused(tmp_path):
    with Store(tmp_path, {"model": "m"}) as store:
        store.append(answer(0))
        with pytest.raises(ValueError, match="sample 0 of 'a' is already"):
            store.append(answer(0))
    store.answers.write_bytes(store.answers.read_bytes() * 2)
    with pytest.raises(DataError, match=r"line 2: sample 0 of 'a' is there a second time"):
        scan(store.answers)


def test_other_settings_or_questions_or_a_bad_run_file_are_refused_by_name(file, tmp_path):
    other, out = tmp_path / "prompt.json", tmp_path / "out"
    other.write_text('{"messages": [{"role": "user", "content": "{question}!"}]}', encoding="utf-8")
    changes = {
        "model 'm', now it is 'other'": {"model": "other"},
        "temperature 0.7, now it is 1.0": {"temperature": 1.0},
        "max_tokens 256, now it is 64": {"max_tokens": 64},
        "seed None, now it is 3": {"seed": 3},
        "logprobs False, now it is True": {"logprobs": True},
        "was begun with prompt": {"prompt": other},
    }
    with FaultServer() as server:
        quick(file, out, server, samples=1)
        for message, change in changes.items():
            with pytest.raises(DataError, match=message):
                quick(file, out, server, **change)
        settings = json.loads((out / "run.json").read_text(encoding="utf-8"))["settings"]
        assert settings["endpoint"] == "this machine"  # another port tomorrow is the same endpoint
        file.write_text(
            file.read_text(encoding="utf-8").replace("3 + 1", "3 + 9"), encoding="utf-8"
        )
        with pytest.raises(DataError, match="was begun with questions"):
            quick(file, out, server)
        for text in (
            b"{",
            b"",
            b"[]",
            b"{}",
            b'{"settings": 3}',
            b'{"settings": [[1, 2]]}',
            b"[" * 99_999,
            b"\xff",
        ):
            (out / "run.json").write_bytes(text)
            with pytest.raises(DataError, match=r"run.json is damaged"):
                quick(file, out, server)
        (out / "run.json").unlink()
        with pytest.raises(DataError, match=r"run.json is missing"):
            quick(file, out, server)
        assert len(server.seen) == 8


def test_the_key_is_written_nowhere(file, tmp_path):
    with FaultServer(lambda k: "echo" if k < 20 else "401") as server:
        done = subprocess.run(
            command(file, tmp_path / "out", server), capture_output=True, text=True
        )
    assert done.returncode == 2
    assert "[key]" in done.stderr
    assert set(server.keys) == {KEY}  # it was sent, and only sent
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert b"[key]" in written
    assert KEY not in done.stdout + done.stderr
    assert KEY.encode() not in written


# What goes in


def test_a_dry_run_asks_nothing(file, tmp_path, capsys):
    assert workload(200, 48, settings=4).calls == 38_400  # the paper's
    priced = workload(200, 48, prompt_tokens=150, max_tokens=512, price_in=0.15, price_out=0.6)
    assert (priced.tokens_in, priced.tokens_out) == (1_440_000, 4_915_200)
    assert priced.cost == pytest.approx(1.44 * 0.15 + 4.9152 * 0.6)
    with pytest.raises(ValueError, match="0 or more"):
        workload(-1, 48)
    argv = ["collect", str(file), "--out", str(tmp_path / "out"), "--dry-run", "--price-out", "2.5"]
    assert main(argv) == 0
    assert not (tmp_path / "out").exists()
    printed = capsys.readouterr().out
    assert "calls:  384 (8 questions x 48 samples), 0 done, 384 to make" in printed
    assert f"at most {384 * 256:,} out" in printed
    assert f"at most about ${384 * 256 * 2.5 / 1e6:.2f}" in printed
    with FaultServer() as server:
        assert (
            main(
                command(
                    file, tmp_path / "out", server, "--price-in", "1000", "--price-out", "2000"
                )[3:]
            )
            == 0
        )
        last = capsys.readouterr().err.splitlines()[
            -1
        ]  # one line and no bar, for this is no terminal
        assert "48/48" in last
        assert (
            "432 tokens, $1.82" in last
        )  # 48 answers of 9 tokens, prompts of 20: (960 * 1000 + 432 * 2000) / 1e6
        main(argv)
        assert len(server.seen) == 48
    assert "48 done, 336 to make" in capsys.readouterr().out


def test_only_the_gap_in_a_prompt_is_filled(tmp_path):
    path = tmp_path / "p.json"
    turns = [
        {"role": "system", "content": "Use {braces} freely."},
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "content": "Answer: 4"},
        {"role": "user", "content": "{question} ({question})"},
    ]
    path.write_text(json.dumps({"messages": turns}), encoding="utf-8")
    filled = load_prompt(path).fill("a {b} %s {question}")
    assert filled[:3] == turns[:3]
    assert filled[3]["content"] == "a {b} %s {question} (a {b} %s {question})"
    assert load_prompt().fill("Q")[0]["content"].startswith("Q\n")
    assert load_prompt().fill("Q")[0]["content"].endswith("Answer: ...")
    for name in ("word-fewshot", "word-zeroshot", "drill-fewshot"):  # bundled ones go by name
        questions = load_questions(name.split("-")[0])
        assert len(questions) >= 150
        last = load_prompt(name).fill(questions[0]["question"])[-1]
        assert last["role"] == "user"
        assert questions[0]["question"] in last["content"]


BAD_TURNS = [
    "[]",
    '"x"',
    '"text"',
    '{"role": "user"}',
    "[1]",
    '[["role", "content"]]',
    "[" * 50_000 + "]" * 50_000,
]
BAD_TURNS += [
    '[{"role": "user", "content": "no gap"}]',
    '[{"role": "king", "content": "{question}"}]',
]
BAD_TURNS += [
    '[{"role": "assistant", "content": "{question}"}]',
    '[{"role": "user", "content": 3}]',
]
BAD_TURNS += [
    '[{"role": "user", "content": ["{question}"]}]',
    '[{"role": "user", "content": {"{question}": 1}}]',
]
BAD_TURNS += [
    '[{"role": ["user"], "content": "{question}"}]',
    '[{"role": "user", "content": "{question}"}, null]',
]
BAD_TURNS += [
    '[{"role": "user", "content": NaN}]',
    f'[{{"role": "user", "content": {"9" * 5000}}}]',
]
BAD_PROMPTS = [b"", b"{", b"[]", b"{}", b"null", b"\xff\xfe", b"[" * 100_000, b" " * 2_000_000]
BAD_PROMPTS += [f'{{"messages": {turns}}}'.encode() for turns in BAD_TURNS]


@pytest.mark.parametrize("text", BAD_PROMPTS, ids=range(len(BAD_PROMPTS)))
def test_a_bad_prompt_is_refused_in_one_line(file, tmp_path, refused, text):
    path = tmp_path / "p.json"
    path.write_bytes(text)
    words = [
        "collect",
        str(file),
        "--out",
        str(tmp_path / "out"),
        "--dry-run",
        "--prompt",
        str(path),
    ]
    assert len(refused(words, f"adalib collect: {path}: a prompt is ")) < 600


# What else can be wrong with a file of questions: tests/test_question_cases.py.
SOUND = '{"id": "a", "question": "q", "gold": "7", "level": 1}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ""),
        (SOUND.replace("gold", "silver"), 'line 1.*"gold"'),
        (
            SOUND.replace("1", '{"hard": 1}'),
            '"level" is an object',
        ),  # what load would not read back
    ],
)
def test_bad_questions_are_refused_in_one_line(tmp_path, refused, text, message):
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=f"bad.jsonl.*{message}"):
        load_questions(path)
    for where in (["--base-url", "http://[::1]/v1", "--model", "m"], ["--dry-run"]):
        refused(["collect", str(path), "--out", str(tmp_path / "out"), *where], "bad.jsonl")
    assert not (tmp_path / "out").exists()


HERE = ["--base-url", "http://127.0.0.1:1/v1", "--model", "m"]
FROM_TO = "need samples from 1 to 1,000,000, concurrency from 1 to 1,000"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "name the endpoint and the model"),
        (["--base-url", "nowhere", "--model", "m"], "the base URL must look like"),
        *(
            ([*HERE, word], FROM_TO)
            for word in ("--samples=0", "--samples=1e9", "--concurrency=100000")
        ),
        ([*HERE, "--temperature", "nan"], "temperature=nan"),
        ([*HERE, "--prompt", "no-such"], "neither a file nor one of the bundled prompts"),
        (["--export"], "nothing was collected here"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(file, tmp_path, refused, more, message):
    refused(["collect", str(file), "--out", str(tmp_path / "out"), *more], message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "argv", [[], ["nonsense"], ["collect"], ["collect", "q", "--out", "o", "--samples", "many"]]
)
def test_a_mistyped_command_is_told_in_one_line(capsys, argv):
    with pytest.raises(SystemExit, match="2"):
        main(argv)
    assert capsys.readouterr().err.count("\n") == 1
