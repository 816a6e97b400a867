"""Assignments: every exercise has a variable, every id a file of its own, and no key goes out."""

from __future__ import annotations

import ast
import json
import subprocess
import zipfile

import nbformat
import pytest
from conftest import ROOT

from adabook.exercises import JUDGED, value_exercises
from adabook.grade import SHEET
from adabook.homework import Question, drawn_questions
from adabook.run_notebook import SKIPPED_TAG
from editions.__main__ import EditionError, read_roster
from editions.assignments import (
    assignment,
    homework_notebook,
    homework_roster,
    write_homework,
)
from editions.student import without_solutions

CHAPTERS = sorted(
    path.stem
    for path in (ROOT / "notebooks").glob("*.ipynb")
    if "checks(" in path.read_text(encoding="utf-8")
)


def chapter(name):
    """The assignment of a chapter, its exercises, and the whole chapter."""
    whole = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    student = nbformat.from_dict({**whole, "cells": without_solutions(whole.cells)})
    return *assignment(student, whole), whole


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_exercise_has_its_own_variable(name):
    notebook, exercises, _ = chapter(name)
    place = exercises[0].chapter
    judged = [exercise for where, exercise in JUDGED if where == place]
    assert sorted(one.name for one in exercises) == sorted(
        [*judged, *value_exercises().get(place, {})]
    )
    assert len({one.variable for one in exercises}) == len(exercises)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert all(one.variable in code for one in exercises)
    assert "solution(" not in code


@pytest.mark.parametrize("name", CHAPTERS)
def test_what_grading_skips_makes_no_name_that_a_later_cell_needs(name):
    notebook, _, whole = chapter(name)
    skipped = {
        cell.source for cell in notebook.cells if SKIPPED_TAG in cell.metadata.get("tags", [])
    }
    needed = set()
    for cell in reversed([cell for cell in whole.cells if cell.cell_type == "code"]):
        tree = ast.parse(cell.source)
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        if cell.source in skipped:
            assert not {node.id for node in names if isinstance(node.ctx, ast.Store)} & needed
        else:
            needed |= {node.id for node in names if isinstance(node.ctx, ast.Load)}


def test_an_autograder_has_a_key_for_everyone_and_is_its_owners_alone(tmp_path):
    wheel = tmp_path / "dist" / "book-1-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    (tmp_path / "constraints.txt").touch()
    write_homework("secret", ["ada", "ben"], wheel, tmp_path / "homework")
    pack = tmp_path / "homework" / "autograder.zip"
    assert pack.stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(pack) as opened:
        assert {"setup.sh", "run_autograder", SHEET, wheel.name} <= set(opened.namelist())
        sheet = json.loads(opened.read(SHEET))
        scripts = [opened.read(name).decode() for name in ("setup.sh", "run_autograder")]
    assert all(
        subprocess.run(["bash", "-n"], input=one, text=True).returncode == 0 for one in scripts
    )
    assert sheet["students"] == list(sheet["roster"]) == ["ada", "ben"]
    for student, known in sheet["roster"].items():
        drawn = drawn_questions(student, "secret")
        assert known["keys"] == {name: question.key() for name, question in drawn.items()}
    assert sorted(path.name for path in (tmp_path / "homework" / "notebooks").iterdir()) == [
        "homework-ada.ipynb",
        "homework-ben.ipynb",
    ]


@pytest.mark.parametrize(
    ("text", "line", "mend"),
    [
        ("a/b\na_b\n", 2, "line 1"),
        ("ada\n\nada\n", 3, "line 1"),
        ("Ada\nada\n", 2, "line 1"),
        ("id\nada\n", 1, "remove the line"),
        ("ada,Ada Lovelace\n", 1, "column of ids"),
    ],
)
def test_a_roster_that_mixes_students_up_is_refused(text, line, mend, tmp_path):
    file = tmp_path / "ids.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(EditionError, match=f"line {line}: .*{mend}"):
        read_roster(str(file))


def test_a_roster_keeps_its_order(tmp_path):
    file = tmp_path / "ids.txt"
    file.write_text("\ufeffzoe\r\n ada \n\n", encoding="utf-8")
    assert read_roster(str(file)) == ["zoe", "ada"]
    assert len(set(read_roster(""))) == 40


def test_a_students_notebook_holds_tables_and_no_key():
    questions = drawn_questions("ada", "secret")
    notebook = homework_notebook("ada", questions)
    names = {}
    exec(notebook.cells[1].source, names)
    assert names["student_id"] == "ada"
    assert repr(names["tables"]) == homework_roster("secret", ["ada"])["ada"]["tables"]
    text = json.dumps(notebook)
    assert "secret" not in text
    values = [question for question in questions.values() if isinstance(question, Question)]
    assert not any(question.more in text for question in values)
