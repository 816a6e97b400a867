"""``python -m adalib evaluate``: the JSON on anyone's file, one clear line for bad input."""

import argparse
import json
import re
import shlex
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from adalib.commands.cli import main
from adalib.commands.collect import arguments as collect_arguments
from adalib.commands.fit import arguments
from adalib.commands.next_steps import fit_options
from adalib.datasets.populations import beta_population
from adalib.evaluate.trials import BASELINES, STOPPING

KEYS = ["policy", "target", "cost", "accuracy", "low", "high", "mix_accuracy", "gain", "waiting"]
POLICIES = (*BASELINES, "label", "curve", *STOPPING, "noise")
QUICK = ["--budgets", "1,4,8", "--folds", "2", "--targets", "2"]


def write(path, chances, samples=16, text="Question {i}, of the {word} sort.", **fields):
    """A file of two-answer questions; the word says which chance a question has."""
    rng = np.random.default_rng(3)
    words = ["calm", "wild", "dull"]
    with path.open("w", encoding="utf-8") as file:
        for i, kind in enumerate(chances):
            answers = np.where(rng.random(samples) < (0.97, 0.66, 0.03)[kind], "7", "8").tolist()
            line = {
                "id": f"q{i}",
                "question": text.format(i=i, word=words[kind]),
                "gold": "7",
                "answers": answers,
            }
            line |= {name: value(kind, answers) for name, value in fields.items()}
            file.write(json.dumps(line) + "\n")
    return str(path)


def evaluate(capsys, *words):
    code = main(["evaluate", *words, "--json"])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert shown.out.count("\n") == 1
    return json.loads(shown.out), shown.err


def test_json_has_the_promised_rows(tmp_path, capsys):
    file = write(tmp_path / "told.jsonl", np.arange(300) % 3, samples=32)
    found, said = evaluate(
        capsys, file, "--targets", "1.5,3", "--budgets", "1,4,16", "--folds", "3"
    )
    assert said == ""
    assert list(found) == ["rows", "verdict"]
    assert all(list(row) == KEYS for row in found["rows"])
    assert [(r["policy"], r["target"]) for r in found["rows"]] == [
        (p, t) for t in (1.5, 3) for p in POLICIES
    ]
    rows = {(r["policy"], r["target"]): r for r in found["rows"]}
    assert rows["curve", 3]["gain"] > 0.01
    assert rows["noise", 3]["gain"] < 0.005
    assert found["verdict"].startswith("Adaptive allocation pays here")
    assert found["verdict"].count("\n") == 0


def test_the_seed_decides_what_is_printed(tmp_path, capsys):
    file = write(tmp_path / "few.jsonl", np.arange(12) % 3)
    first, second, other = (evaluate(capsys, file, *QUICK, "--seed", seed)[0] for seed in "001")
    assert first == second != other
    assert main(["evaluate", file, *QUICK, "--all"]) == 0
    verdict, _, table = capsys.readouterr().out.partition("\n\n")
    assert " ".join(verdict.split()) == first["verdict"]
    heading, names, *rows = table.splitlines()
    assert heading == "Held out, 12 questions with 16 samples:"
    assert names.split() == [
        *KEYS[:-1],
        "gain_low",
        "gain_high",
        "share",
        "imitation",
        "majority",
        "mix_cost",
        "waiting",
    ]
    assert [row.split()[0] for row in rows[: len(POLICIES)]] == list(POLICIES)


def test_a_file_alone_is_enough(tmp_path, capsys):
    more = {
        "family": lambda kind, answers: f"{kind} {answers[0]}",
        "logprob": lambda kind, answers: [-0.1] * 32,
    }
    file = write(tmp_path / "told.jsonl", np.arange(240) % 3, samples=32, **more)
    page = tmp_path / "page.html"
    assert main(["evaluate", file, "--budgets", "1,4,16", "--out", str(page)]) == 0
    shown = capsys.readouterr()
    verdict, _, table = shown.out.partition("\n\n")
    assert verdict.startswith("Adaptive allocation pays here: use ")
    assert max(map(len, shown.out.replace(file, "FILE").splitlines())) <= 100
    _, names, *lines = table.splitlines()
    assert " ".join(names.split()) == "budget best mix before asking best policy waiting mix needs"
    assert [line.split()[0] for line in lines[:3]] == ["2", "3", "4"]
    told = re.findall(r"(\w+) at target (\d) \((\S+) points (\[.*?\])", " ".join(verdict.split()))
    assert len(told) >= 3
    for policy, target, gain, ends in told:
        assert f"{policy} {gain} {ends}" in lines[int(target) - 2]  # one number for one thing
    asked, groups = lines[-2:]
    best = re.search(r"use (\w+) at", verdict)[1]
    assert f"evaluate {file} --groups family" in groups
    assert asked.startswith(f"Next: python -m adalib fit {file} --budget ")
    words = shlex.split(asked.removeprefix("Next: python -m adalib "))
    parser = argparse.ArgumentParser()
    arguments(parser)
    assert parser.parse_args(words[1:]).certainty == (best == "priced")
    html = page.read_text(encoding="utf-8")
    assert "told.jsonl" in html
    assert " ".join(verdict.split()) in html
    assert not re.search(r"<(?:script|link|img)[^>]*(?:src|href)=.(?!data:)", html)


def test_without_plotly_the_verdict_comes_all_the_same(tmp_path, capsys, monkeypatch):
    file, page = write(tmp_path / "few.jsonl", np.arange(12) % 3), tmp_path / "page.html"
    monkeypatch.setattr("adalib.commands.evaluate.find_spec", lambda name: None)
    assert main(["evaluate", file, *QUICK, "--out", str(page)]) == 0
    printed = capsys.readouterr()
    assert "run pip install 'adalib[pages]'" in printed.err.splitlines()[0]
    assert printed.out.startswith("Cannot tell with these 12 questions")
    assert not page.exists()


def test_too_few_questions_end_with_the_command_that_collects_more(tmp_path, capsys):
    file = write(tmp_path / "few.jsonl", np.arange(12) % 3)
    assert main(["evaluate", file, *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("Next: "))
    needed = int(re.search(r"about ([\d,]+) would do", " ".join(lines))[1].replace(",", ""))
    assert f"about {needed - 12:,} more questions" in lines[at]
    words = shlex.split(lines[at + 1].strip().removeprefix("python -m adalib collect "))
    parser = argparse.ArgumentParser()
    collect_arguments(parser)
    assert parser.parse_args(words).samples == 16
    assert lines[at + 2].startswith(f"  cat {file} more/responses.jsonl > all.jsonl && ")


def test_the_oracle_is_explained_where_a_policy_may_pass_it(tmp_path, capsys):
    file = write(tmp_path / "few.jsonl", np.arange(12) % 3)
    assert main(["evaluate", file, *QUICK, "--all"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "which reads the answer key but decides before asking" in printed
    assert "so its gain may exceed the oracle's" in printed


def test_targets_by_default_lie_within_what_the_file_allows(tmp_path, capsys):
    file = write(tmp_path / "short.jsonl", np.arange(12) % 3, samples=6)
    for budgets, targets in (("1,3", {2}), ("1,2", {1.5}), ("2,3", {2.5})):
        found, _ = evaluate(capsys, file, "--folds", "2", "--budgets", budgets)
        assert {row["target"] for row in found["rows"]} == targets


@pytest.mark.parametrize(
    ("samples", "more"),
    [
        (17, {}),
        (16, {"correct": lambda kind, answers: [int(a == "7") for a in answers]}),
        (
            16,
            {"level": lambda kind, answers: 1, "tokens": lambda kind, answers: [30] * len(answers)},
        ),
        (16, {"gold": lambda kind, answers: "9"}),
        *((16, {"text": text}) for text in ("", "the same for all", "多少？{i}")),
    ],
    ids=[
        "odd samples",
        "correct flags",
        "level and tokens",
        "never right",
        "no text",
        "one text",
        "numbered texts",
    ],
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
        "adalib evaluate: target 6 is more than the largest budget, 4, can spend: "
        "see the cost column",
    ]
    assert max(row["cost"] for row in found["rows"]) <= 4


def test_folds_by_a_field(tmp_path, capsys):
    file = write(
        tmp_path / "by.jsonl", np.arange(12) % 3, family=lambda kind, answers: f"family {kind}"
    )
    plain, _ = evaluate(capsys, file, *QUICK)
    grouped, _ = evaluate(capsys, file, *QUICK, "--groups", "family")
    one, other = plain["rows"][0], grouped["rows"][0]
    assert one["accuracy"] == other["accuracy"]  # the oracle has no folds
    assert (
        other["high"] - other["low"] > one["high"] - one["low"]
    )  # but three families say less than twelve questions


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("evaluate nosuch.jsonl --targets 2", "nosuch.jsonl"),
        ("evaluate FILE --targets 0.5", "target 0.5 cannot be met"),
        ("evaluate RAW", "its answers are whole texts"),
        ("fit RAW --budget 2 --out router", "its answers are whole texts"),
        ("evaluate FILE --out FILE", "--out is the file itself"),
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
def test_bad_input_is_refused(words, said, tmp_path, refused):
    files = {
        "FILE": write(tmp_path / "file.jsonl", [0] * 12),
        "SMALL": write(tmp_path / "small.jsonl", [0] * 9),
    }
    files["RAW"] = write(
        tmp_path / "raw.jsonl", [0] * 12, answers=lambda kind, answers: ["So it is 7. " * 30] * 16
    )
    refused([files.get(word, word) for word in words.split()], said)


def test_tokens_add_a_row_for_the_race(tmp_path, capsys):
    rng = np.random.default_rng(5)

    def tokens(kind, answers):
        return rng.integers(50, 150 * (1 + kind), len(answers)).tolist()

    file = write(tmp_path / "told.jsonl", np.arange(90) % 3, tokens=tokens)
    for cost in ("samples", "tokens"):
        found, _ = evaluate(capsys, file, "--cost", cost, *QUICK)
        rows = {row["policy"]: row for row in found["rows"]}
        assert list(rows) == [*BASELINES, "label", "curve", *STOPPING, "race", "noise"]
        assert rows["mix"]["cost"] == pytest.approx(2, rel=0.05)
        assert rows["race"]["cost"] == pytest.approx(2, rel=0.15)
        # One by one, one waits for every answer; side by side, for the longest; a race is quicker.
        assert rows["priced_votes"]["waiting"] == pytest.approx(
            rows["priced_votes"]["cost"], rel=0.05
        )
        assert 1 < rows["mix"]["waiting"] < 2
        assert rows["race"]["waiting"] < rows["mix"]["waiting"]


@pytest.mark.parametrize("policy", ["race", "priced", "curve", "margin"])
@pytest.mark.parametrize("cost", ["samples", "tokens"])
def test_the_next_command_fits_the_best_policy_at_its_target(policy, cost):
    """Where tokens are counted, two average answers are twice the mean number of tokens."""
    answers = beta_population(20, 2, 1).sample(8)
    tokens = np.random.default_rng(0).geometric(0.01, (20, 8))
    answers = replace(answers, tokens=tokens, logprob=np.full((20, 8), -0.1))
    best = SimpleNamespace(policy=policy, target=2.0)
    parser = argparse.ArgumentParser()
    arguments(parser)
    words = shlex.split(fit_options(best, answers, cost, "number"))
    asked = parser.parse_args(["answers.jsonl", *words, "--out", "router"])
    in_tokens = cost == "tokens" or policy == "race"
    assert asked.budget == (round(2 * tokens.mean()) if in_tokens else 2)
    assert asked.race == (policy == "race")
    assert asked.cost == ("tokens" if cost == "tokens" and policy != "race" else None)
    assert asked.certainty == (policy in ("priced", "race"))
    assert asked.kind == "number"


def test_costs_in_tokens_need_tokens(tmp_path, refused):
    file = write(tmp_path / "told.jsonl", np.arange(30) % 3)
    refused(["evaluate", file, "--cost", "tokens"], "has no tokens")
