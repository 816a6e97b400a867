"""Logs in the shapes that gateways document: each gives the questions and answers that went in."""

import json

import numpy as np
import pytest

from adalib.cli import main
from adalib.datasets.files import write_lines
from adalib.datasets.loading import load
from adalib.datasets.logs import read_log

WORDS = [f"What is {k} + 1?" for k in range(12)]


def completion(text):
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


def turns(question):
    return [{"role": "system", "content": "Add."}, {"role": "user", "content": question}]


def opened(question, text):
    return {"model": "m", "messages": turns(question), "response": completion(text)}


SHAPES = {
    "LiteLLM": opened,
    "LiteLLM's spend": lambda q, a: {
        "messages": "{}",
        "proxy_server_request": json.dumps({"messages": turns(q)}),
        "response": json.dumps(completion(a)),
    },
    "Helicone": lambda q, a: {
        "request_body": {"model": "m", "messages": turns(q)},
        "response_body": completion(a),
    },
    "OpenRouter": lambda q, a: {
        "data": {"input": {"messages": turns(q)}, "output": {"completion": a}}
    },
}


def write(path, shape=opened, samples=16, more=()):
    """Twelve questions, of which one has an answer more and every other is right two times in
    three."""
    lines = [(k, k + 1 + (k % 2 and j % 3 == 2)) for j in range(samples) for k in range(12)]
    columns = (
        shape(WORDS[k], f"Answer: {a}") | {"metadata": json.dumps({"gold": k + 1})}
        for k, a in [*lines, (0, 1)]
    )
    write_lines(path, [*columns, *more])
    return str(path)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_what_went_in(tmp_path, shape):
    more = [
        opened(WORDS[0], None),
        opened(WORDS[0], "Answer: 99") | {"cache_hit": True},
    ]  # failed, and a copy
    found, columns = read_log(
        write(tmp_path / "log.jsonl", SHAPES[shape], more=more), "metadata.gold"
    )
    assert columns == "195 lines hold 12 prompts; kept are 12 with 16 answers each"
    assert (found.questions, found.golds) == (WORDS, [str(k + 1) for k in range(12)])
    assert found.values.mean(1) == pytest.approx([11 / 16 if k % 2 else 1 for k in range(12)])


def test_a_log_is_evaluated(tmp_path, capsys, refused):
    log, golds, kept = (
        write(tmp_path / "log.jsonl"),
        tmp_path / "golds.jsonl",
        tmp_path / "kept.jsonl",
    )
    write_lines(golds, ({"question": q, "gold": k + 1} for k, q in enumerate(WORDS)))
    words = ["evaluate", log, "--budgets", "1,4,8", "--folds", "2", "--targets", "2"]
    assert main([*words, "--gold", str(golds), "--keep", str(kept)]) == 0
    assert f" {kept} " in capsys.readouterr().out.splitlines()[-1]
    assert np.array_equal(load(kept).values, read_log(log, "metadata.gold")[0].values)
    other = write(tmp_path / "two.jsonl", more=[opened("q", "Answer: 1") | {"model": "other"}])
    gold = ["--gold", "metadata.gold"]
    for command, message in (
        ([*words, "--gold", str(golds), "--keep", str(kept)], "exists already"),
        ([*words, "--gold", "metadata.nosuch"], "name another field, or a file"),
        (["evaluate", str(kept), "--gold", str(golds)], "leave out --gold"),
        (words, "give the correct answers with --gold FILE"),
        (["evaluate", other, *gold], "m, other; give the lines of one model"),
        (
            ["evaluate", write(tmp_path / "once.jsonl", samples=1), "--gold", "metadata.gold"],
            "hardly a question was answered twice",
        ),
    ):
        refused(command, message)
