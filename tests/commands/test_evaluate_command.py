"""``python -m adalib evaluate``: the promised JSON on anyone's file, and one clear line for bad input."""

import json

import numpy as np
import pytest

from adalib.commands.cli import main
from adalib.evaluate.trials import BASELINES, STOPPING

KEYS = ["policy", "target", "cost", "accuracy", "low", "high", "mix_accuracy", "gain"]
POLICIES = (*BASELINES, "label", "curve", *STOPPING, "noise")
QUICK = ["--budgets", "1,4,8", "--folds", "2", "--targets", "2"]


def write(path, chances, samples=16, text="Question {i}, of the {word} sort.", **fields):
    """A file of two-answer questions; the word says which chance a question has."""
    rng = np.random.default_rng(3)
    words = ["calm", "wild", "dull"]
    with path.open("w", encoding="utf-8") as file:
        for i, kind in enumerate(chances):
            answers = np.where(rng.random(samples) < (0.97, 0.66, 0.03)[kind], "7", "8").tolist()
            line = {"id": f"q{i}", "question": text.format(i=i, word=words[kind]), "gold": "7", "answers": answers}
            line |= {name: value(kind, answers) for name, value in fields.items()}
            file.write(json.dumps(line) + "\n")
    return str(path)


def evaluate(capsys, *words):
    code = main(["evaluate", *words, "--json"])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert shown.out.count("\n") == 1
    return json.loads(shown.out), shown.err


def test_json_has_the_promised_keys_and_the_right_sign(tmp_path, capsys):
    file = write(tmp_path / "told.jsonl", np.arange(300) % 3, samples=32)
    found, said = evaluate(capsys, file, "--targets", "1.5,3", "--budgets", "1,4,16", "--folds", "3")
    assert said == ""
    assert list(found) == ["rows", "verdict"]
    assert all(list(row) == KEYS for row in found["rows"])
    assert [(r["policy"], r["target"]) for r in found["rows"]] == [(p, t) for t in (1.5, 3) for p in POLICIES]
    rows = {(r["policy"], r["target"]): r for r in found["rows"]}
    assert rows["curve", 3]["gain"] > 0.01
    assert rows["noise", 3]["gain"] < 0.005
    assert found["verdict"].startswith("Adaptive allocation pays here")
    assert found["verdict"].count("\n") == 0


def test_the_seed_decides_everything_and_plain_words_say_it_too(tmp_path, capsys):
    file = write(tmp_path / "few.jsonl", np.arange(12) % 3)
    first, second, other = (evaluate(capsys, file, *QUICK, "--seed", seed)[0] for seed in "001")
    assert first == second != other
    assert main(["evaluate", file, *QUICK]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "Protocol: held out, 12 questions with 16 samples"
    assert out[1].split() == [*KEYS, "gain_low", "gain_high", "share", "imitation", "majority", "mix_cost"]
    assert out[-1].startswith("Adaptive allocation ")


@pytest.mark.parametrize(
    ("samples", "more"),
    [
        (17, {}),
        (16, {"correct": lambda kind, answers: [int(a == "7") for a in answers]}),
        (16, {"level": lambda kind, answers: 1, "tokens": lambda kind, answers: [30] * len(answers)}),
        (16, {"gold": lambda kind, answers: "9"}),
        *((16, {"text": text}) for text in ("", "the same for all", "多少？{i}")),
    ],
    ids=["odd samples", "correct flags", "level and tokens", "never right", "no text", "one text", "numbered texts"],
)
def test_files_of_every_kind(tmp_path, capsys, samples, more):
    file = write(tmp_path / "kind.jsonl", np.arange(12) % 3, samples, **more)
    found, _ = evaluate(capsys, file, *QUICK)
    for row in found["rows"]:
        assert 0 <= row["low"] <= row["accuracy"] <= row["high"] <= 1
        assert row["gain"] == pytest.approx(row["accuracy"] - row["mix_accuracy"])
    if "text" in more:  # texts that tell nothing
        assert found["verdict"].startswith("Cannot tell with these 12 questions")


def test_budgets_that_no_half_can_hold_are_dropped_aloud(tmp_path, capsys):
    file = write(tmp_path / "short.jsonl", np.arange(12) % 3, samples=9)
    found, said = evaluate(capsys, file, "--folds", "2", "--targets", "2,6")
    assert said.splitlines() == [
        "adalib evaluate: 9 answers leave halves of 4, so budgets 8, 16 are not on offer",
        "adalib evaluate: target 6 is more than the largest budget, 4, can spend: see the cost column",
    ]
    assert max(row["cost"] for row in found["rows"]) <= 4


def test_folds_by_a_field(tmp_path, capsys):
    file = write(tmp_path / "by.jsonl", np.arange(12) % 3, family=lambda kind, answers: f"family {kind}")
    plain, _ = evaluate(capsys, file, *QUICK)
    grouped, _ = evaluate(capsys, file, *QUICK, "--groups", "family")
    one, other = plain["rows"][0], grouped["rows"][0]
    assert one["accuracy"] == other["accuracy"]  # the oracle has no folds
    assert other["high"] - other["low"] > one["high"] - one["low"]  # but three families say less than twelve questions


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("evaluate nosuch.jsonl --targets 2", "nosuch.jsonl"),
        ("evaluate FILE --targets 0.5", "target 0.5 cannot be met"),
        ("evaluate FILE --targets nan", "finite"),
        ("evaluate FILE --targets a", "such as 1.5,2,3"),
        ("evaluate FILE --targets 2 --budgets 2,1", "increasing"),
        ("evaluate FILE --targets 2 --budgets 1,16", "sample more answers"),
        ("evaluate FILE --targets 2 --folds 1", "folds is 1"),
        ("evaluate FILE --targets 2 --seed -1", "--seed is -1"),
        ("evaluate FILE --targets 2 --groups nosuch", "no field 'nosuch'"),
        ("evaluate SMALL --targets 2", "has 9 questions; give at least 10"),
        ("solve nosuch.jsonl --budget 2", "nosuch.jsonl"),
        ("solve drill-fewshot --budget 0.5", "cheapest allocation costs 1"),
        ("solve drill-fewshot --budget nan", "finite"),
        ("solve drill-fewshot --budget 2 --budgets 1,200", "200"),
        ("solve drill-fewshot --budget 2 --budgets 4,2", "increasing"),
        ("solve drill-fewshot --budget 2 --budgets a", "whole numbers"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, said, tmp_path, refused):
    files = {"FILE": write(tmp_path / "file.jsonl", [0] * 12), "SMALL": write(tmp_path / "small.jsonl", [0] * 9)}
    refused([files.get(word, word) for word in words.split()], said)
