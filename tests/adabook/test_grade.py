"""A class is graded as it deserves: honest work, mistakes, cheats, broken files and copies."""

from __future__ import annotations

import ast
import csv
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from nbformat.v4 import new_code_cell, new_notebook

from adabook.grade import SHEET, _suspicions
from adabook.homework import drawn_questions
from editions.otter import (
    Exercise,
    _names,
    assignment,
    homework_exercise,
    homework_notebook,
    homework_roster,
)
from editions.student import solution_cells, without_solutions

SECRET = "a teacher's word"
STUDENTS = [f"student-{number}" for number in range(1, 7)]
QUESTIONS = list(drawn_questions("", SECRET))

PATCHED = """
import subprocess
import adabook.judge
from types import SimpleNamespace

adabook.judge.verdict = lambda *asked: adabook.judge.Verdict(True, "")
subprocess.run = lambda *_, **__: SimpleNamespace(returncode=0, stdout='[[true, ""]]', stderr="")
"""
PRACTICE = """
from adabook.homework import drawn_questions

for name, question in drawn_questions(student_id, "practice").items():
    globals()["my_" + name.replace(" ", "_")] = question.answer
"""


def autograder(folder, exercises, roster=None):
    """An autograder with nothing but its sheet, which is all that grading a class reads."""
    sheet = {"exercises": [exercise._asdict() for exercise in exercises], "roster": roster}
    with zipfile.ZipFile(folder / "autograder.zip", "w") as pack:
        pack.writestr(SHEET, json.dumps(sheet))
    return folder / "autograder.zip"


def handed_in(student, right=99, extra=""):
    """The homework of a student who has the first answers right, and the others wrong."""
    questions = drawn_questions(student, SECRET)
    notebook = homework_notebook(student, questions)
    answers = {}
    for place, (name, question) in enumerate(questions.items()):
        answer = question.answer if place < right else next(iter(question.wrong.values()))
        answers[homework_exercise(name).variable] = float(answer)
    lines = [f"{variable} = {answer!r}" for variable, answer in answers.items()]
    notebook.cells.append(new_code_cell("\n".join(lines)))
    if extra:
        notebook.cells.append(new_code_cell(extra))
    return notebook


def graded(pack, submissions, out, places):
    """The rows by file name, graded in a process that imports the packages from some places."""
    paths = os.pathsep.join(map(str, places))
    command = [sys.executable, "-P", "-m", "adabook.grade", str(pack), str(submissions), str(out)]
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=out.parent)
    assert done.returncode == 0, done.stderr
    with out.open(encoding="utf-8") as table:
        return {row["file"].removesuffix(".ipynb"): row for row in csv.DictReader(table)}


@pytest.fixture(scope="module")
def homework(tmp_path_factory):
    """The rows of a small class."""
    folder = tmp_path_factory.mktemp("class")
    submissions = folder / "submissions"
    submissions.mkdir()
    one, two, three, four, five, six = STUDENTS
    files = {
        f"{one}": handed_in(one),
        f"{two}": handed_in(two, 4, "my_label = = 1"),
        f"{three}": handed_in(three, 2, PATCHED),
        f"{four}": handed_in(four, 0, PRACTICE),
        f"{five}": handed_in(one, extra=f"student_id = {five!r}"),  # a neighbour's, the id changed
        f"{six}": handed_in(six, 3, "import os; os._exit(1)"),
    }
    for name, notebook in files.items():
        nbformat.write(notebook, submissions / f"{name}.ipynb")
    (submissions / "broken.ipynb").write_text('{"cells": [', encoding="utf-8")
    (submissions / "list.ipynb").write_text("[]", encoding="utf-8")
    exercises = [homework_exercise(name) for name in QUESTIONS]
    pack = autograder(folder, exercises, homework_roster(SECRET, STUDENTS))
    return graded(pack, submissions, folder / "points.csv", [ROOT, ROOT / "book"])


def test_points_are_those_deserved(homework):
    points = {name: float(row["points"]) for name, row in homework.items()}
    everything = float(len(QUESTIONS))
    assert points.pop("student-4") <= 3  # another table may have the same answer by chance
    assert points == {
        "student-1": everything,
        "student-2": 4,
        "student-3": 2,
        "student-5": 0,
        "student-6": 0,
        "broken": 0,
        "list": 0,
    }


def test_notes_name_the_copy_and_not_the_one_who_was_copied(homework):
    assert homework["student-1"]["note"] == ""
    assert "SyntaxError" in homework["student-2"]["note"]
    assert "student-1" in homework["student-5"]["note"]
    assert "not graded" in homework["student-6"]["note"]
    assert "not a notebook" in homework["broken"]["note"]
    assert "not a notebook" in homework["list"]["note"]


@pytest.mark.parametrize(
    ("student", "owner", "file", "named"),
    [
        ("student-1", "student-1", "student-1", []),
        ("student-1", "student-1", "student-12", ["student-12"]),  # a neighbour's file
        ("", "student-1", "student-1", ["''", "student-1"]),  # a forgotten id
        ("student-2", "student-1", "student-2", ["student-1"]),  # a changed one
        ("student-2", None, "student-2", ["changed"]),
    ],
)
def test_what_does_not_fit_together_is_noted(student, owner, file, named):
    roster = dict.fromkeys(["student-1", "student-12", "student-2"])
    notes = " ".join(_suspicions(student, owner, Path(f"{file}.ipynb"), roster))
    assert bool(notes) == bool(named)
    assert all(name in notes for name in named)


def test_hints_are_in_the_table(homework):
    wrong = drawn_questions("student-2", SECRET)[QUESTIONS[-1]]
    assert f"{QUESTIONS[-1]}: {next(iter(wrong.wrong))}" in homework["student-2"]["hints"]


def test_an_endless_cell_costs_its_limit_once(tmp_path, monkeypatch):
    from adabook import grade

    monkeypatch.setattr(grade, "_CELL_SECONDS", 2)
    folder = tmp_path / "run"
    folder.mkdir()
    nbformat.write(handed_in("student-1", extra="while True: pass"), tmp_path / "endless.ipynb")
    task = {"file": str(tmp_path / "endless.ipynb"), "names": ["my_bill"], "has_checks": False}
    (folder / "task.json").write_text(json.dumps(task))
    grade._run(folder)
    answers = json.loads((folder / "answers.json").read_text())
    assert answers["my_bill"] == drawn_questions("student-1", SECRET)["bill"].answer


def solved(name):
    """A chapter handed in with the book's own solutions, and its exercises."""
    whole = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    student = nbformat.from_dict({**whole, "cells": without_solutions(whole.cells)})
    notebook, exercises = assignment(student, whole)
    answers = [_kept(source, exercises) for _, source in solution_cells(whole.cells)[1]]
    needed = set().union(*(_names(answer, ast.Load) for answer in answers))
    kept = []
    for cell in reversed([cell for cell in notebook.cells if cell.cell_type == "code"]):
        # The chapter's long computations are left out if no solution uses them.
        if _names(cell.source, ast.Store) & needed:
            needed |= _names(cell.source, ast.Load)
            kept.insert(0, cell)
    return new_notebook(cells=[*kept, *map(new_code_cell, answers)]), exercises


def _kept(source: str, exercises: list[Exercise]) -> str:
    """A solution's cell whose answers go into the variables that are graded."""
    variables = {exercise.name: exercise.variable for exercise in exercises}
    lines = [source]
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        called = getattr(call.func, "id", "")
        if called in ("check", "solution") and getattr(call.args[0], "value", "") in variables:
            answer = ast.unparse(call.args[1])
            lines.append(f"{variables[call.args[0].value]} = {answer}")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def installs(tmp_path_factory):
    """The places that adalib and adabook are imported from: the checkout, and an unpacked wheel."""
    wheel = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(next((ROOT / "dist").glob("*.whl"))) as pack:
        pack.extractall(wheel)
    return {"editable": [ROOT, ROOT / "book"], "wheel": [wheel]}


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("install", "name"), [("editable", "04_duality"), ("wheel", "03_budgets")])
def test_the_books_own_solutions_get_full_marks(install, name, installs, tmp_path):
    notebook, exercises = solved(name)
    submissions = tmp_path / name
    submissions.mkdir()
    nbformat.write(notebook, submissions / "book.ipynb")
    pack = autograder(tmp_path, exercises)
    row = graded(pack, submissions, tmp_path / "points.csv", installs[install])["book"]
    assert row["hints"] == ""
    assert float(row["points"]) == float(row["of"]) == sum(one.points for one in exercises)
