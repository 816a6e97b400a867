"""Logs in the shapes that gateways document: each gives the questions and answers that went in."""

import json

import numpy as np
import pytest

from adalib.commands.cli import main
from adalib.datasets.files import DataError, write_lines
from adalib.datasets.loading import load
from adalib.datasets.logs import agreement, read_log

WORDS = [f"What is {k} + 1?" for k in range(12)]


def said(text, n=1):
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}] * n}


def turns(question):
    return [{"role": "system", "content": "Add."}, {"role": "user", "content": question}]


SHAPES = {
    "LiteLLM": lambda q, a, g: {"model": "m", "messages": turns(q), "response": said(a), "metadata": {"gold": g}},
    "LiteLLM's spend": lambda q, a, g: {
        "messages": "{}", "proxy_server_request": json.dumps({"messages": turns(q)}), "response": json.dumps(said(a)),
        "metadata": json.dumps({"gold": g}), "cache_hit": "False"},
    "Helicone": lambda q, a, g: {
        "request_body": {"model": "m", "messages": turns(q)}, "response_body": said(a), "metadata": {"gold": g}},
    "OpenRouter": lambda q, a, g: {
        "data": {"input": {"messages": turns(q)}, "output": {"completion": a, "reasoning": None}},
        "metadata": {"gold": g}},
}  # fmt: skip


def write(path, shape=SHAPES["LiteLLM"], samples=16, more=()):
    """Twelve questions, of which one has an answer more and every other is right two times in three."""
    lines = [(q, k + (k % 2 and j % 3 == 2), k) for j in range(samples) for k, q in enumerate(WORDS)]
    write_lines(path, [*(shape(q, f"Answer: {a + 1}", str(g + 1)) for q, a, g in [*lines, lines[0]]), *more])
    return str(path)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_what_went_in(tmp_path, shape):
    failed = {"messages": turns(WORDS[0]), "response": None, "status": "failure"}
    again = SHAPES["LiteLLM"](WORDS[0], "Answer: 99", "1") | {"cache_hit": True}
    found, told = read_log(write(tmp_path / "log.jsonl", SHAPES[shape], more=[failed, again]), "metadata.gold")
    assert told == "195 lines hold 12 prompts; kept are 12 with 16 answers each"
    assert (found.questions, found.samples) == (WORDS, 16)
    assert found.golds == [str(k + 1) for k in range(12)]
    assert found.values.mean(1) == pytest.approx([11 / 16 if k % 2 else 1 for k in range(12)])


def test_a_log_is_evaluated_and_kept_as_a_file_that_loads(tmp_path, capsys, refused):
    log, golds, kept = write(tmp_path / "log.jsonl"), tmp_path / "golds.jsonl", tmp_path / "kept.jsonl"
    write_lines(golds, ({"question": q, "gold": k + 1} for k, q in enumerate(WORDS)))
    words = ["evaluate", log, "--budgets", "1,4,8", "--folds", "2", "--targets", "2"]
    assert main([*words, "--gold", str(golds), "--keep", str(kept)]) == 0
    assert f" {kept} " in capsys.readouterr().out.splitlines()[-1]
    assert np.array_equal(load(kept).values, read_log(log, "metadata.gold")[0].values)
    refused([*words, "--gold", str(golds), "--keep", str(kept)], "not there yet")
    refused([*words, "--gold", "metadata.nosuch"], "name another field, or a file")
    refused(["evaluate", str(kept), "--gold", str(golds)], "is no log")
    assert main([*words, "--json"]) == 0  # without right answers: six alike always agree, two of three mostly
    settled = json.loads(capsys.readouterr().out)["agreement"]
    assert settled["1"] == pytest.approx(agreement(read_log(log)[0], [1], 0)[1])
    assert 0.5 + 0.5 * 0.5 < settled["1"] < settled["8"] <= 1


@pytest.mark.parametrize(
    ("more", "told"),
    [([SHAPES["LiteLLM"]("q", "Answer: 1", "1") | {"model": "other"}], "one model"), ([], "hardly a prompt")],
)
def test_what_is_no_sample_is_said(tmp_path, more, told):
    with pytest.raises(DataError, match=told):
        read_log(write(tmp_path / "log.jsonl", samples=1 if not more else 2, more=more), "metadata.gold")
