"""The recipes that turn other tools' logs into files of answers, on logs that the tools wrote."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from adalib import load

HERE = Path(__file__).parent
QUESTIONS = HERE / "questions.jsonl"
ANSWERS = {"7": ["7", "7", "7"], "80": ["80", "80", "180"], "5": ["4", "5", "4"]}  # by gold


def converted(folder: Path, recipe: str, log: str, *arguments: str):
    """Return the answers that a recipe writes, run as its docstring says."""
    path = HERE / log
    if path.suffix == ".gz":
        path = folder / path.stem
        path.write_bytes(gzip.decompress((HERE / log).read_bytes()))
    command = [sys.executable, str(ROOT / "examples" / recipe), str(path), *arguments]
    lines = subprocess.run(command, check=True, capture_output=True).stdout
    out = folder / "answers.jsonl"
    out.write_bytes(lines)
    return load(out)


@pytest.mark.parametrize(
    ("recipe", "log", "arguments", "tokens"),
    [
        ("from_inspect.py", "inspect.json.gz", [], {8, 9, 10}),
        ("from_lm_eval.py", "lm_eval.jsonl", [], None),
        ("from_litellm.py", "litellm.jsonl.gz", [str(QUESTIONS), "3"], {20}),
    ],
)
def test_a_recipe_reads_the_log_of_its_tool(tmp_path, recipe, log, arguments, tokens):
    responses = converted(tmp_path, recipe, log, *arguments)
    assert dict(zip(responses.golds, responses.answers, strict=True)) == ANSWERS
    right = {
        gold: row.tolist() for gold, row in zip(responses.golds, responses.values, strict=True)
    }
    assert right == {"7": [1, 1, 1], "80": [1, 1, 0], "5": [0, 1, 0]}
    assert sorted(responses.questions) == sorted(load_questions())
    assert (responses.tokens is None) if tokens is None else set(responses.tokens.flat) == tokens


def load_questions() -> list[str]:
    """Return the texts of the questions that the logs hold."""
    return [json.loads(line)["question"] for line in QUESTIONS.read_text().splitlines()]


def test_questions_asked_too_rarely_are_left_out(tmp_path):
    with pytest.raises(ValueError, match="no questions"):
        converted(tmp_path, "from_litellm.py", "litellm.jsonl.gz", str(QUESTIONS), "4")


def test_samples_of_several_runs_are_joined(tmp_path):
    twice = converted(tmp_path, "from_lm_eval.py", "lm_eval.jsonl", str(HERE / "lm_eval.jsonl"))
    assert twice.samples == 6
