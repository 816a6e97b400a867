"""The collector: it goes on where it stopped, asks for no answer twice, and fails in one line."""

import json
import math
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import run_to_end, wait_until
from fault_server import FaultServer
from local_model import NAME, local_model

import adalib
from adalib.ask.ceiling import at_most
from adalib.ask.collect import EndpointError, collect, fill_prompt, load_prompt, load_questions
from adalib.datasets.files import DataError

KEY = "sk-a-very-secret-key-0123"
QUESTIONS = [
    {"id": f"q{i}", "question": f"What is 3 + {i}? {{x}}", "gold": str(3 + i), "level": 1}
    for i in range(5)
]


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    return path


@pytest.fixture
def impatient(monkeypatch):
    """One further request after a failure, in place of six."""
    monkeypatch.setattr("adalib.ask.collect._RETRIES", 1)


def run(file, out, server, **options):
    return collect(file, out, **({"base_url": server.url, "model": "m", "samples": 3} | options))


def pairs(out):
    """How often each sample of each question is in the folder."""
    found = Counter()
    for line in (out / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        if line.startswith("{") and line.endswith("}"):
            record = json.loads(line)
            found[record["id"], record["sample"]] += 1
    return found


def rectangle(samples):
    return Counter((question["id"], sample) for question in QUESTIONS for sample in range(samples))


def test_every_question_gets_its_samples(file, tmp_path):
    with FaultServer() as server:
        path = run(file, tmp_path / "out", server, logprobs=True)
    assert pairs(tmp_path / "out") == rectangle(3)
    responses = adalib.load(path)
    assert list(responses.ids) == [question["id"] for question in QUESTIONS]
    assert responses.answers == [["7"] * 3] * 5
    assert responses.levels == [1] * 5
    assert responses.tokens.tolist() == [[9] * 3] * 5
    assert responses.logprob[0] == pytest.approx([-1.5 * math.log(2)] * 3, abs=1e-5)
    assert responses.entropy[0] == pytest.approx([math.log(2)] * 3, abs=1e-5)
    assert {request["top_logprobs"] for request in server.seen} == {20}


def test_answers_keep_the_order_of_their_requests(file, tmp_path):
    """Short answers arrive first, so the order of arrival would sort them by length."""
    with FaultServer() as server:
        run(file, tmp_path, server)
        kept = tmp_path / "answers.jsonl"
        lines = [json.loads(line) for line in kept.read_text().splitlines()]
        for record in lines:
            record["text"] = f"Answer: {record['sample']}"
        kept.write_text("".join(json.dumps(line) + "\n" for line in reversed(lines)))
        path = run(file, tmp_path, server)
    assert adalib.load(path).answers == [["0", "1", "2"]] * 5


def test_a_second_run_asks_only_for_what_is_missing(file, tmp_path):
    async def notebook():  # it works where an event loop is already running
        return run(file, tmp_path, server, samples=2)

    with FaultServer() as server:
        assert run_to_end(notebook()).exists()
        before = (tmp_path / "answers.jsonl").read_bytes()
        path = run(file, tmp_path, server, samples=4)
        assert len(server.seen) == 5 * 4
        run(file, tmp_path, server, samples=4)
        assert len(server.seen) == 5 * 4
    assert (tmp_path / "answers.jsonl").read_bytes().startswith(before)
    assert pairs(tmp_path) == rectangle(4)
    assert adalib.load(path).samples == 4


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_was_cut_is_sampled_again(file, tmp_path, cut):
    with FaultServer() as server:
        run(file, tmp_path, server, samples=2)
        kept = tmp_path / "answers.jsonl"
        kept.write_bytes(kept.read_bytes()[:-cut])
        path = run(file, tmp_path, server, samples=3)
    assert set(pairs(tmp_path)) == set(rectangle(3))
    assert adalib.load(path).samples == 3


def test_a_program_that_is_killed_loses_only_what_was_in_flight(file, tmp_path):
    code = "import sys; from adalib.ask.collect import collect; collect(*sys.argv[1:3], "
    code += "base_url=sys.argv[3], model='m', samples=9, concurrency=4)"
    with FaultServer(latency=0.02) as server:
        command = [sys.executable, "-c", code, str(file), str(tmp_path), server.url]
        process = subprocess.Popen(command)
        wait_until(lambda: server.sent >= 10, "ten answers are sent", process)
        process.kill()
        process.wait()
        assert server.sent - sum(pairs(tmp_path).values()) <= 4
        path = run(file, tmp_path, server, samples=9)
    assert set(pairs(tmp_path)) == set(rectangle(9))
    assert adalib.load(path).samples == 9


@pytest.mark.parametrize(
    "bad",
    [
        {},
        [],
        7,
        {"id": "q0", "sample": 0},
        *({"text": 1}, {"finish": None}, {"tokens": "9"}, {"sample": "0"}, {"id": 0}),
    ],
)
def test_a_line_of_somebody_else_is_one_sentence(file, tmp_path, bad):
    with FaultServer() as server:
        run(file, tmp_path, server, samples=1)
        kept = tmp_path / "answers.jsonl"
        first, *others = kept.read_text().splitlines()
        is_change = isinstance(bad, dict) and len(bad) == 1
        others.insert(1, json.dumps(json.loads(first) | bad if is_change else bad))
        kept.write_text("\n".join([first, *others, ""]))
        with pytest.raises(DataError, match=r"answers\.jsonl, line 3: .*remove") as caught:
            run(file, tmp_path, server, samples=1)
    assert "\n" not in str(caught.value)


def test_another_kind_of_answer_is_read_without_new_requests(file, tmp_path):
    text = "I choose option B, since 3 is odd."
    with FaultServer(text=text) as server:
        first = adalib.load(run(file, tmp_path, server, samples=1))
        second = adalib.load(run(file, tmp_path, server, samples=1, kind="choice"))
    assert first.answers[0] == [adalib.extract_answer(text)]
    assert second.answers[0] == [adalib.extract_answer(text, kind="choice")] == ["B"]
    assert len(server.seen) == 5


def test_files_of_two_efforts_are_a_menu(file, tmp_path):
    exported = ""
    for effort in ("low", "high"):
        with FaultServer() as server:
            path = run(file, tmp_path / effort, server, reasoning_effort=effort, temperature=None)
            request = server.seen[0]
        assert (request["reasoning_effort"], request["max_completion_tokens"]) == (effort, 256)
        assert not {"temperature", "max_tokens"} & set(request)
        exported += path.read_text(encoding="utf-8")
    both = tmp_path / "both.jsonl"
    both.write_text(exported, encoding="utf-8")
    assert list(adalib.load(both).models) == ["m low", "m high"]


def test_files_of_two_caps_on_thoughts_are_a_menu(file, tmp_path):
    exported = ""
    for cap in ("256", "1024"):
        thinking = f"reasoning.max_tokens={cap}"
        with FaultServer() as server:
            path = run(file, tmp_path / cap, server, thinking=thinking)
            assert server.seen[0]["reasoning"] == {"max_tokens": int(cap)}
        settings = json.loads((tmp_path / cap / "run.json").read_text(encoding="utf-8"))
        assert settings["reasoning"] == {"max_tokens": int(cap)}
        exported += path.read_text(encoding="utf-8")
    both = tmp_path / "both.jsonl"
    both.write_text(exported, encoding="utf-8")
    caps = ["m reasoning.max_tokens=256", "m reasoning.max_tokens=1024"]
    assert list(adalib.load(both).models) == caps
    for bad in ("512", "=512", "a=many", "a..b=1"):
        with FaultServer() as server, pytest.raises(ValueError, match="thinking_token_budget"):
            run(file, tmp_path / "bad", server, thinking=bad)


def test_failures_that_pass_cost_nothing_but_time(file, tmp_path):
    with FaultServer(["429", "500", "cut", "503"]) as server:
        run(file, tmp_path, server, samples=2)
    assert pairs(tmp_path) == rectangle(2)


@pytest.mark.parametrize("fault", ["400", "401", "404", "429", "500", "html", "empty", "odd"])
@pytest.mark.usefixtures("impatient")
def test_an_endpoint_that_fails_for_good_is_one_line_without_the_key(file, tmp_path, fault):
    with FaultServer(lambda k: "ok" if k < 7 else fault) as server:
        with pytest.raises(EndpointError) as failure:
            run(file, tmp_path, server, concurrency=1)
        message = str(failure.value)
        assert "\n" not in message
        assert str(tmp_path) in message
        if fault.isdigit():
            assert fault in message
        if fault == "401":
            assert KEY not in message
        assert sum(pairs(tmp_path).values()) == 7
        server.fault = lambda k: "ok"
        run(file, tmp_path, server)
    assert pairs(tmp_path) == rectangle(3)


@pytest.mark.usefixtures("impatient")
def test_an_endpoint_that_hangs_or_is_not_there_is_one_line(file, tmp_path):
    with FaultServer(lambda k: "hang") as server, pytest.raises(EndpointError, match="q"):
        run(file, tmp_path, server, samples=1, timeout=0.3)
    with pytest.raises(EndpointError) as failure:  # the server has gone by now
        collect(file, tmp_path, base_url=server.url, model="m", samples=1)
    assert str(failure.value).startswith(server.url)


def test_a_folder_with_other_settings_is_refused(file, tmp_path):
    with FaultServer() as server:
        run(file, tmp_path, server)
        for changed in ({"model": "other"}, {"temperature": 0.1}, {"logprobs": True}):
            with pytest.raises(DataError, match=next(iter(changed))):
                run(file, tmp_path, server, **changed)


@pytest.mark.parametrize("changed", ["question", "gold"])
def test_a_question_that_has_changed_is_refused(file, tmp_path, changed):
    out = tmp_path / "out"
    with FaultServer() as server:
        run(file, out, server, samples=1)
        lines = [
            question | {changed: "another"} if question["id"] == "q2" else question
            for question in QUESTIONS
        ]
        lines.append({"id": "new", "question": "What is 1 + 1?", "gold": "2"})
        file.write_text("\n".join(map(json.dumps, lines)))
        with pytest.raises(
            DataError, match=r"questions\.jsonl, line 3: .*'q2'.*run\.json"
        ) as caught:
            run(file, out, server, samples=1)
        assert "\n" not in str(caught.value)
        lines[2] = QUESTIONS[2]
        file.write_text("\n".join(map(json.dumps, lines)))
        assert adalib.load(run(file, out, server, samples=1)).n == 6
        assert len(server.seen) == 6


def test_a_folder_of_an_older_version_goes_on(file, tmp_path):
    with FaultServer() as server:
        run(file, tmp_path, server, samples=1)
        settings = json.loads((tmp_path / "run.json").read_text())
        del settings["questions"]
        (tmp_path / "run.json").write_text(json.dumps(settings))
        run(file, tmp_path, server, samples=1)
        assert len(server.seen) == 5
    assert len(json.loads((tmp_path / "run.json").read_text())["questions"]) == 5


def test_a_folder_that_cannot_be_is_one_sentence(file, tmp_path):
    (tmp_path / "out").write_text("a file")
    with FaultServer() as server, pytest.raises(DataError, match="another name") as caught:
        run(file, tmp_path / "out", server)
    assert "Errno" not in str(caught.value)
    assert not server.seen


def test_a_disk_that_is_full_is_one_sentence_and_loses_nothing(file, tmp_path, monkeypatch):
    with FaultServer() as server:
        run(file, tmp_path, server, samples=1)
        with Path("/dev/full").open("wb", buffering=0) as full, monkeypatch.context() as broken:
            broken.setattr("adalib.ask.collect._appended", lambda _: full)  # has room for nothing
            message = r"answers\.jsonl: .*No space left.*again"
            with pytest.raises(DataError, match=message) as caught:
                run(file, tmp_path, server, samples=2)
        assert "Errno" not in str(caught.value)
        assert adalib.load(run(file, tmp_path, server, samples=2)).samples == 2
    assert pairs(tmp_path) == rectangle(2)


@pytest.mark.parametrize(
    "bad",
    [
        {"samples": 0},
        {"concurrency": 0},
        {"max_tokens": 0},
        {"timeout": 0},
        {"timeout": math.nan},
        {"base_url": "no address"},
        {"base_url": "ftp://x/v1"},
        {"base_url": "http://[/v1"},
    ],
)
def test_settings_that_get_no_answer_are_refused_at_once(file, tmp_path, bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        collect(file, tmp_path / "out", **{"base_url": "http://127.0.0.1:1", "model": "m"} | bad)
    assert not (tmp_path / "out").exists()


def test_a_prompt_is_filled_by_the_question_alone():
    assert fill_prompt(load_prompt(), "Why {so}?")[0]["content"].startswith("Why {so}?\n")
    filled = fill_prompt(load_prompt("word-fewshot"), "Why {question}?")
    assert sum("Why {question}?" in turn["content"] for turn in filled) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"messages": 1}',
        '{"messages": [{"role": "user", "content": ["{question}"]}]}',
        '{"messages": [{"role": "user", "content": "no gap"}]}',
    ],
)
def test_a_file_that_is_no_prompt_is_refused(tmp_path, text):
    path = tmp_path / "prompt.json"
    path.write_text(text)
    with pytest.raises(DataError, match="prompt.json"):
        load_prompt(path)


def test_a_set_of_questions_goes_by_its_name():
    assert len(load_questions("word")) == 372
    with pytest.raises(DataError, match="no-such-set"):
        load_questions("no-such-set")


@pytest.mark.whole
def test_a_real_model_is_collected_from(tmp_path):
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"id": "a", "question": "What is 2 times 3?", "gold": "6"}))
    with local_model("--parallel", "2", "--context", "256") as base_url:
        options = {"base_url": base_url, "model": NAME, "max_tokens": 8, "timeout": 600.0}
        path = collect(file, tmp_path / "out", samples=2, logprobs=True, **options)
    responses = adalib.load(path)
    assert (responses.n, responses.samples) == (1, 2)
    assert ((responses.tokens >= 1) & (responses.tokens <= 8)).all()
    assert (responses.logprob <= 0).all()
    assert (responses.entropy >= 0).all()
    assert (responses.entropy <= math.log(49_152)).all()  # the size of the vocabulary


DOLLARS = (1000.0, 2000.0)  # for a million tokens, so that few answers cost something


def billed_by(server, prices=DOLLARS):
    """What a server asks that bills every request, also those that it failed."""
    return len(server.seen) * (20 * prices[0] + 9 * prices[1]) / 1e6


def hold_ceilings(file, tmp_path, seeds):
    """Every answer is as long as it may be, and prompts are free: the bound is what is billed."""
    reached = 0
    prices = (0.0, DOLLARS[1])
    for seed in seeds:
        rng = random.Random(seed)
        faults = ["ok", "ok", "500", "429", "ok", "cut"] if rng.random() < 0.7 else ["ok"]
        options = {
            "samples": rng.randrange(1, 6),
            "max_tokens": 9,
            "concurrency": rng.choice([1, 4, 16]),
            "prices": prices,
            "most_dollars": rng.choice([0.1, 0.2, 0.3, 0.5]),
        }
        with FaultServer(lambda _, rng=rng, faults=faults: rng.choice(faults)) as server:
            for _ in range(3):  # what failed stays booked when it is called again
                try:
                    run(file, tmp_path / str(seed), server, **options)
                    break
                except EndpointError as error:
                    reached += "ceiling" in str(error)
        assert billed_by(server, prices) <= options["most_dollars"] + 1e-9
    assert reached


@pytest.fixture
def _soon(monkeypatch, impatient):
    """No wait before a failed request is sent again."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.001)


@pytest.mark.usefixtures("_soon")
def test_a_ceiling_holds_in_random_jobs(file, tmp_path):
    hold_ceilings(file, tmp_path, range(12))


@pytest.mark.nightly
@pytest.mark.usefixtures("_soon")
def test_a_ceiling_holds_in_a_thousand_random_jobs(file, tmp_path):
    hold_ceilings(file, tmp_path, range(12, 1012))


def test_a_ceiling_that_is_raised_lets_a_run_go_on(file, tmp_path):
    filled = fill_prompt(load_prompt(), QUESTIONS[0]["question"])
    one = at_most(filled, 9).dollars(adalib.Prices(*DOLLARS))
    for_six = 7 * one + 5.5 * (20 * DOLLARS[0] + 9 * DOLLARS[1]) / 1e6
    with FaultServer() as server:
        with pytest.raises(EndpointError, match="--most-dollars"):
            run(file, tmp_path, server, prices=DOLLARS, most_dollars=for_six, max_tokens=9)
        assert len(server.seen) == 6
        path = run(file, tmp_path, server, prices=DOLLARS, most_dollars=25.0, max_tokens=9)
        assert len(server.seen) == 15
    assert adalib.load(path).samples == 3


def test_a_killed_program_keeps_what_it_booked(file, tmp_path):
    """Nobody knows whether the requests in flight were billed; they stay booked whole."""
    with FaultServer() as server:
        run(file, tmp_path, server, prices=DOLLARS, most_dollars=1000.0, max_tokens=9)
        sent = tmp_path / "sent.jsonl"
        lines = sent.read_text().splitlines()
        assert len(lines) == 15
        lost = json.loads(lines[0]) | {"sample": 7}
        sent.write_text("\n".join([*lines, json.dumps(lost), '{"id": "q1", "sam']))
        more = 3 * (20 * DOLLARS[0] + 9 * DOLLARS[1]) / 1e6  # what three more answers cost
        spent = billed_by(server) + (lost["read"] * DOLLARS[0] + lost["written"] * DOLLARS[1]) / 1e6
        with pytest.raises(EndpointError, match="--most-dollars"):
            run(
                file,
                tmp_path,
                server,
                samples=4,
                prices=DOLLARS,
                most_dollars=spent + more,
                max_tokens=9,
            )
        assert len(server.seen) < 20


def test_a_dry_run_asks_nothing_and_says_what_is_expected(file, tmp_path, capsys):
    with FaultServer() as server:
        assert run(file, tmp_path / "out", server, dry_run=True, prices=DOLLARS) is None
        assert not server.seen
        assert not (tmp_path / "out").exists()
        assert "expected" not in capsys.readouterr().out.splitlines()[1]
        run(file, tmp_path / "out", server, samples=2)
        run(file, tmp_path / "out", server, samples=6, dry_run=True, prices=DOLLARS)
        assert len(server.seen) == 10
    rows = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    assert rows["expected"][1:4:2] == ["20", "180"]  # nine tokens each, as before
    assert rows["from"][3] == rows["to"][3] == "180"  # all of the same length
