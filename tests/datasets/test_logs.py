"""`adalib convert` on logs that the tools wrote (logs/README.md), and on logs changed by hand."""

import gzip
import json
from pathlib import Path

import pytest

from adalib import load
from adalib.cli import main
from adalib.datasets.files import DataError
from adalib.datasets.logs import TOOLS, Options, convert

LOGS = Path(__file__).parent / "logs"
QUESTIONS = str(LOGS / "questions.jsonl")
ANSWERS = {"7": ["7", "7", "7"], "80": ["80", "80", "180"], "5": ["4", "5", "4"]}  # by gold
SUMS, AGAIN, CHOOSE = (str(next(LOGS.glob(f"samples_{t}_*"))) for t in ("sums", "again", "choose"))


@pytest.fixture
def converted(tmp_path):
    """Return a function that converts logs (paths, or the records of one) to what `load` reads."""

    def run(tool, *logs, **options):
        out = tmp_path / f"answers-{len(list(tmp_path.iterdir()))}.jsonl"
        paths = [
            log if isinstance(log, str) else written(tmp_path / f"log-{number}.jsonl", log)
            for number, log in enumerate(logs)
        ]
        convert(tool, paths, str(out), Options(**options))
        return load(out)

    return run


def written(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def read(name):
    """Return the records of a log of ours."""
    opened = gzip.open if name.endswith(".gz") else open
    with opened(LOGS / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def inspect_log(name):
    with gzip.open(LOGS / name, "rt", encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize(
    ("tool", "log", "options", "tokens"),
    [
        ("inspect", "inspect.json.gz", {}, {8, 9, 10}),
        ("inspect", "inspect_listed.json.gz", {"score": "match"}, None),  # and without usage
        ("lm-eval", Path(SUMS).name, {}, None),
        ("litellm", "litellm.jsonl.gz", {"questions": QUESTIONS}, {20}),
    ],
)
def test_the_log_of_a_tool_becomes_answers(converted, tool, log, options, tokens):
    responses = converted(tool, str(LOGS / log), **options)
    assert dict(zip(responses.golds, responses.answers, strict=True)) == ANSWERS
    right = dict(zip(responses.golds, responses.values.tolist(), strict=True))
    assert right == {"7": [1, 1, 1], "80": [1, 1, 0], "5": [0, 1, 0]}
    asked = {record["question"] for record in read("questions.jsonl")}
    assert set(responses.questions) == asked
    assert (responses.tokens is None) if tokens is None else set(responses.tokens.flat) == tokens


def test_tasks_with_the_same_numbers_stay_apart(converted):
    """Both tasks count from 0, and the second names other filters than the first."""
    with pytest.warns(UserWarning, match="left out: first"):
        both = converted("lm-eval", SUMS, AGAIN)
    assert both.n == 6
    for question, gold, answers in zip(both.questions, both.golds, both.answers, strict=True):
        assert answers == ANSWERS[gold], question
    again = [question.startswith("Again") for question in both.questions]
    assert again == [name.startswith("again-") for name in both.ids]


def test_runs_of_a_task_are_joined_by_the_text_of_a_question(converted, tmp_path):
    """In the second run the questions come in another order."""
    records = [json.loads(line) for line in Path(SUMS).read_text().splitlines()]
    first = written(tmp_path / "samples_sums_2026-01-01T00-00-00.jsonl", records)
    turned = [{**record, "doc_id": 2 - record["doc_id"]} for record in records]
    second = written(tmp_path / "samples_sums_2026-01-02T00-00-00.jsonl", turned)
    joined = converted("lm-eval", first, second)
    assert dict(zip(joined.golds, joined.answers, strict=True)) == {
        gold: answers * 2 for gold, answers in ANSWERS.items()
    }


def test_models_stay_apart(converted, tmp_path):
    """lm-eval names the folder after the model."""
    paths = []
    for model in ("one", "two"):
        (tmp_path / model).mkdir()
        paths.append(str(tmp_path / model / Path(SUMS).name))
        Path(paths[-1]).write_bytes(Path(SUMS).read_bytes())
    assert list(converted("lm-eval", *paths).models) == ["one", "two"]


def test_a_filter_is_chosen_by_its_name(converted):
    with pytest.warns(UserWarning, match="left out: number"):
        chosen = converted("lm-eval", AGAIN, score="first")  # it has kept one of three
    assert dict(zip(chosen.golds, chosen.answers, strict=True)) == ANSWERS


def test_what_has_changed_between_two_logs_is_refused(converted):
    log = inspect_log("inspect.json.gz")
    for field, value in (("input", "Another question?"), ("target", "8")):
        other = {**log, "samples": [{**sample, field: value} for sample in log["samples"]]}
        with pytest.raises(DataError, match="has another (question|gold) than .* apart"):
            converted("inspect", [log], [other])


def test_a_question_with_too_few_answers_is_left_out(converted):
    log = inspect_log("inspect.json.gz")
    log["samples"][0]["scores"] = None
    with pytest.warns(UserWarning, match="left out 1 of 3 questions"):
        assert converted("inspect", [log]).n == 2
    assert converted("inspect", [log], samples=2).n == 3
    with pytest.raises(DataError, match="lower --samples"):
        converted("inspect", [log], samples=4)


def test_a_task_that_is_left_out_is_named_with_what_keeps_it(converted):
    log = inspect_log("inspect.json.gz")
    repeats = max(sample["epoch"] for sample in log["samples"])
    short = {**log, "eval": {**log["eval"], "task": "short"}}
    short["samples"] = [sample for sample in log["samples"] if sample["epoch"] < repeats]
    whole = len({sample["id"] for sample in log["samples"]})
    with pytest.warns(UserWarning, match=f"all of the task 'short'; --samples {repeats - 1} keeps"):
        assert converted("inspect", [log], [short]).n == whole
    assert converted("inspect", [log], [short], samples=repeats - 1).n == 2 * whole


def test_rows_of_spend_logs(converted):
    """The table keeps the messages in the request, and all of it as texts."""
    rows = [
        {
            "request_id": call["id"],
            "status": "success",
            "model": call["model"],
            "cache_hit": "False",
            "completion_tokens": call["completion_tokens"],
            "messages": "{}",
            "response": json.dumps(call["response"]),
            "proxy_server_request": json.dumps({"messages": call["messages"]}),
        }
        for call in read("litellm.jsonl.gz")
    ]
    copies = [{**row, "request_id": f"copy of {row['request_id']}"} for row in rows]
    cached = [{**row, "cache_hit": "True"} for row in copies]
    failed = [{**row, "status": "failure"} for row in copies]
    embedded = [{**row, "response": {"data": []}} for row in copies]
    responses = converted("litellm", rows + cached + failed + embedded, rows, questions=QUESTIONS)
    assert dict(zip(responses.golds, responses.answers, strict=True)) == ANSWERS
    nothing_kept = [{**row, "proxy_server_request": "{}"} for row in rows]
    with pytest.raises(DataError, match="line 1: holds no messages; set store_prompts"):
        converted("litellm", nothing_kept, questions=QUESTIONS)


def test_a_call_of_several_choices_and_parts(converted):
    call = read("litellm.jsonl.gz")[0]
    asked = call["messages"][-1]["content"]
    call["messages"] = [{"role": "user", "content": [{"type": "text", "text": asked}]}]
    refused = {"message": {"content": None}, "finish_reason": "stop"}
    call["response"]["choices"] = [*call["response"]["choices"], refused]
    one = converted("litellm", [call], questions=QUESTIONS)
    assert (one.answers, one.tokens.tolist()) == ([["7", ""]], [[10, 10]])


def test_calls_about_other_questions_are_counted(converted):
    calls = read("litellm.jsonl.gz")
    calls[0]["messages"] = [{"role": "user", "content": "Hello?"}]
    with pytest.warns(UserWarning, match="1 calls that ask none .* 'Hello"):
        converted("litellm", calls, questions=QUESTIONS, samples=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lm-eval", CHOOSE], "line 1: is scored by log-likelihoods"),
        (["litellm", SUMS], "give --questions"),
        (["inspect", "run.eval"], "run inspect log dump run.eval"),
        (["inspect", SUMS], "is not JSON"),
        (["lm-eval", QUESTIONS], "is not what lm-eval writes"),
        (["lm-eval"], "name the logs"),
        (["eleuther", SUMS], "choose one of " + ", ".join(TOOLS)),
        (["lm-eval", "nowhere.jsonl"], "cannot be read"),
    ],
)
def test_what_cannot_be_converted_is_said_in_one_sentence(tmp_path, capsys, words, message):
    assert main(["convert", *words, "--out", str(tmp_path / "out.jsonl")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out.jsonl").exists()


def test_a_file_is_not_overwritten(tmp_path, capsys):
    out = tmp_path / "answers.jsonl"
    assert main(["convert", "lm-eval", SUMS, "--out", str(out)]) == 0
    before = out.read_bytes()
    assert main(["convert", "lm-eval", SUMS, "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert out.read_bytes() == before
