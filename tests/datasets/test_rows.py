"""Answers in a table give what the same answers in JSON Lines give."""

import json

import numpy as np
import pandas as pd
import pytest

import adalib
from adalib.cli import main
from adalib.datasets.files import DataError

ROWS = [
    {"id": "007", "question": "2 + 2?\nSay it, please", "gold": "4", "level": 2,
     "answers": ["4", "", "NA"], "tokens": [3, 4.5, 5]},
    {"id": "8", "question": "7.0 + 1?", "gold": "8", "level": 3,
     "answers": ["8", "8.0", "9"], "tokens": [1, 1, 2]},
]  # fmt: skip


@pytest.fixture
def lines(tmp_path):
    """The answers in a file of lines."""
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return adalib.load(file)


def one_row_an_answer():
    """The same with a row per answer."""
    return [
        {**row, "answer": answer, "tokens": tokens, "answers": None}
        for row in ROWS
        for answer, tokens in zip(row["answers"], row["tokens"], strict=True)
    ]


def written(folder, kind):
    """The same as a table of some kind."""
    wide = pd.DataFrame(ROWS)
    long = pd.DataFrame(one_row_an_answer()).drop(columns="answers")
    file = folder / f"answers.{kind.partition(' ')[0]}"
    if kind == "list":
        return ROWS
    if kind == "list of answers":
        return one_row_an_answer()
    if kind.startswith("frame"):
        return long if "long" in kind else wide
    if kind == "parquet":
        wide.to_parquet(file)
    elif kind.startswith("csv wide"):
        for name in ("answers", "tokens"):
            wide[name] = wide[name].map(str if "printed" in kind else json.dumps)
        wide.to_csv(file, index=False)
    else:
        long.to_csv(file, index=False)
    return file


KINDS = ["list", "list of answers", "frame", "frame long", "parquet", "csv wide", "csv.gz long"]


@pytest.mark.parametrize("kind", [*KINDS, "csv long", "csv wide, printed"])
def test_every_kind_of_table_holds_the_same(lines, tmp_path, kind):
    found = adalib.load(written(tmp_path, kind))
    for name in ("ids", "questions", "golds", "answers", "levels"):
        assert getattr(found, name) == getattr(lines, name), name
    np.testing.assert_array_equal(found.tokens, lines.tokens)
    assert found.extras == lines.extras
    assert len(found) == len(lines) == 2


def test_several_models_in_a_table_are_a_menu():
    rows = [{**row, "model": model} for row in ROWS for model in ("small", "large")]
    menu = adalib.load(pd.DataFrame(rows))
    assert list(menu.models) == ["small", "large"]
    assert len(menu) == 2


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([], "the list: holds no questions"),
        ([{"id": "1"}], 'the list, row 1: has no "question"'),
        (["q1"], "the list, row 1: is a str"),
        (pd.DataFrame([ROWS[0], {**ROWS[1], "gold": None}]), "the DataFrame, row 2: has no"),
        ([{**ROWS[0], "answers": [pd.Timestamp(0)]}], "row 1.*is a Timestamp"),
    ],
)
def test_a_fault_is_named_by_its_row(rows, complaint):
    with pytest.raises(DataError, match=complaint):
        adalib.load(rows)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.csv", b"id,question,gold,answers\nq,2?,4,4 5", "row 1: its answers are '4 5'"),
        ("a.csv", b"id,question,gold,answers\nq,2?,4,[exit(3)]", "row 1: its answers are .*exit"),
        ("a.csv", b"id,question,gold,answers\nq,2?,4,%b" % (b"[" * 9999), "its answers are"),
        ("a.csv", b"", "a.csv: is no sound table"),
        ("a.csv", b"id,answer\n\xff\xfe,1", "a.csv: is no sound table"),
        ("a.parquet", b"PAR1", "a.parquet: is no sound table"),
    ],
)
def test_a_fault_of_a_file_is_one_sentence(tmp_path, name, content, complaint):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=complaint) as caught:
        adalib.load(tmp_path / name)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="cannot be read"):
        adalib.load(tmp_path / f"other-{name}")


def test_a_command_tells_answers_from_accuracies(tmp_path, capsys):
    table = tmp_path / "table.csv"
    table.write_text("id,1,2\na,0.5,1\nb,0.2,0.3\n")
    rows = [
        {"id": i, "question": f"{i}?", "gold": "4", "answer": one} for i in "ab" for one in "45"
    ]
    answers = tmp_path / "answers.csv"
    pd.DataFrame(rows).to_csv(answers, index=False)
    solved = []
    for file in (table, answers):
        assert main(["solve", str(file), "--budget", "1.5", "--json"]) == 0
        solved.append(json.loads(capsys.readouterr().out))
    assert solved[0]["accuracy"] == pytest.approx(0.6)
    assert solved[1]["labels"] == {"a": 1, "b": 1}


@pytest.mark.parametrize("function", ["frontier", "dual", "oracle_labels"])
def test_answers_stand_for_their_table(function):
    answers = adalib.load("word-fewshot")
    more = {"frontier": (), "dual": (0.02, 2), "oracle_labels": (0.02,)}[function]
    found, expected = (getattr(adalib, function)(one, *more) for one in (answers, answers.table()))
    if function == "frontier":
        found, expected = found.accuracy, expected.accuracy
    np.testing.assert_array_equal(found, expected)


def test_few_answers_stand_for_a_table_of_small_budgets():
    found = adalib.frontier(adalib.load(ROWS))  # three answers each, so budgets of one and two
    largest = adalib.load(ROWS).table([1, 2]).acc.max(axis=1).mean()
    assert found.accuracy[-1] == pytest.approx(largest)


@pytest.mark.parametrize(("package", "instead"), [("evaluate", "held_out"), ("vote", "majority")])
def test_a_package_that_is_called_says_what_to_call(package, instead):
    with pytest.raises(TypeError, match=rf"adalib\.{package} is a package.*adalib\.{instead}\("):
        getattr(adalib, package)(["7"])
