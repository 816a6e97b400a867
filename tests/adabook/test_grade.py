"""A class is graded as it deserves: honest work, mistakes, cheats, broken files and copies."""

from __future__ import annotations

import ast
import csv
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat
import pytest
import solved_tasks
from conftest import ROOT
from nbformat.v4 import new_code_cell, new_notebook

import adabook
from adabook import grade
from adabook.confined import confined, reachable, student_environment
from adabook.grade import SHEET, GradingError, _suspicions, _written, grade_gradescope
from adabook.homework import Question, drawn_questions
from editions.assignments import (
    Exercise,
    _names,
    assignment,
    homework_exercise,
    homework_notebook,
    homework_roster,
    sheet_of,
)
from editions.student import solution_cells, without_solutions

SECRET = "a teacher's word"
STUDENTS = [f"student-{number}" for number in range(1, 10)]
QUESTIONS = drawn_questions("", SECRET)
TOTAL = sum(question.points for question in QUESTIONS.values())

PATCHED = """
import subprocess
import adabook.submissions
from types import SimpleNamespace

adabook.submissions.verdict = lambda *asked: adabook.submissions.Verdict(True, "")
subprocess.run = lambda *_, **__: SimpleNamespace(returncode=0, stdout='[[true, ""]]', stderr="")
"""
PRACTICE = """
from adabook.homework import drawn_questions

for name, question in drawn_questions(student_id, "practice").items():
    globals()["my_" + name.replace(" ", "_")] = question.answer
"""
# Looks for the keys in the autograder and in the memory and files of other processes.
SEARCH = """
import glob, json, os, zipfile

places = ["{pack}"]
for word in glob.glob("/proc/[0-9]*/*"):
    try:
        if word.endswith(("cmdline", "environ")):
            places += open(word, "rb").read().decode(errors="ignore").split(chr(0))
        if word.endswith("fd"):
            places += [os.path.realpath(one.path) for one in os.scandir(word)]
        if word.endswith("cwd"):
            places += glob.glob(word + "/*.zip")
    except OSError:
        pass
for place in places:
    try:
        sheet = json.loads(zipfile.ZipFile(place).read("sheet.json"))
    except Exception:
        continue
    for name, key in sheet["roster"][student_id]["keys"].items():
        globals()["my_" + name.replace(" ", "_")] = key.get("answer")
"""
# Rewrites the judge and the grader on disk.
REWRITE = """
import importlib.util

for module in ("adabook.submissions", "adabook.grade", "numpy"):
    try:
        with open(importlib.util.find_spec(module).origin, "a") as file:
            file.write("raise SystemExit('rewritten')")
    except OSError:
        pass
"""
# Imports the judge's brute force, found next to numpy or where the checkout is.
REACH = """
def my_function(acc, cost, budget):
    import os, sys, numpy

    sys.path += [os.path.dirname(os.path.dirname(os.path.realpath(numpy.__file__))), {places}]
    from adabook.tasks import judged

    return judged("{variant}", {number}).brute_force(acc, cost, budget)
"""


def autograder(folder, exercises, students, roster=None):
    """An autograder with nothing but its sheet, which is all that grading a class reads."""
    with zipfile.ZipFile(folder / "autograder.zip", "w") as pack:
        pack.writestr(SHEET, json.dumps(sheet_of(exercises, students, roster)))
    return folder / "autograder.zip"


def handed_in(student, right=99, extra=""):
    """The homework of a student who has the first answers right, and the others wrong."""
    questions = drawn_questions(student, SECRET)
    notebook = homework_notebook(student, questions)
    lines = []
    for place, (name, question) in enumerate(questions.items()):
        if isinstance(question, Question):
            wrong = next(iter(question.wrong.values()))
            answer = float(question.answer if place < right else wrong)
            lines.append(f"{homework_exercise(name, question).variable} = {answer!r}")
        elif place < right:
            solved = solved_tasks.function if name == "function" else solved_tasks.proof
            lines.append(solved(question))
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
        rows = list(csv.DictReader(table))
    return {row["file"].removesuffix(".ipynb") or row["student_id"]: row for row in rows}


@pytest.fixture(scope="module")
def installs(tmp_path_factory):
    """The places that adalib and adabook are imported from: the checkout, and an unpacked wheel."""
    wheel = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(next((ROOT / "dist").glob("*.whl"))) as pack:
        pack.extractall(wheel)
    return {"editable": [ROOT, ROOT / "book"], "wheel": [wheel]}


@pytest.fixture(scope="module", params=["editable", "wheel"])
def homework(request, installs, tmp_path_factory):
    """The rows of a small class, graded with the checkout and with an unpacked wheel."""
    folder = tmp_path_factory.mktemp("class")
    places = installs[request.param]
    before = _bytes(places)
    submissions = folder / "submissions"
    submissions.mkdir()
    pack = folder / "autograder.zip"
    one, two, three, four, five, six, seven, eight, _ = STUDENTS
    task = drawn_questions(eight, SECRET)["function"]
    listed = ", ".join(repr(str(place)) for place in places)
    reach = REACH.format(places=listed, variant=task.variant, number=task.number)
    files = {
        f"{one}": handed_in(one),
        f"{two}": handed_in(two, 4, "my_label = = 1"),
        f"{three}": handed_in(three, 2, PATCHED),
        f"{four}": handed_in(four, 0, PRACTICE),
        f"{five}": handed_in(one, extra=f"student_id = {five!r}"),  # a neighbour's, the id changed
        f"{six}": handed_in(six, 3, "import os; os._exit(1)"),
        f"{seven}": handed_in(seven, 1, REWRITE + SEARCH.format(pack=pack)),
        f"{eight}": handed_in(eight, 12, reach),
        "blank": homework_notebook("student-9", drawn_questions("student-9", SECRET)),
    }
    for name, notebook in files.items():
        nbformat.write(notebook, submissions / f"{name}.ipynb")
    (submissions / "broken.ipynb").write_text('{"cells": [', encoding="utf-8")
    (submissions / "list.ipynb").write_text("[]", encoding="utf-8")
    (submissions / "link.ipynb").symlink_to(pack)
    exercises = [homework_exercise(*one) for one in QUESTIONS.items()]
    roster = homework_roster(SECRET, STUDENTS)
    autograder(folder, exercises, [*STUDENTS, "absent"], roster)
    rows = graded(pack, submissions, folder / "points.csv", places)
    assert _bytes(places) == before, "a submission has changed the package"
    return rows


def _bytes(places):
    """What the modules of the grader hold."""
    files = [file for place in places for file in sorted(place.glob("adabook/*.py"))]
    return [file.read_bytes() for file in files]


def test_points_are_those_deserved(homework):
    points = {name: float(row["points"] or 0) for name, row in homework.items()}
    assert points.pop("student-4") <= 3  # another table may have the same answer by chance
    assert points == {
        "student-1": float(TOTAL),
        "student-2": 4,
        "student-3": 2,
        "student-5": 0,
        "student-6": 0,
        "student-7": 1,
        "student-8": 12,
        "blank": 0,
        "broken": 0,
        "list": 0,
        "link": 0,
        "absent": 0,
    }


def test_rows_stand_in_the_rosters_order_and_nobody_is_missing(homework):
    ids = [row["student_id"] for row in homework.values() if row["student_id"]]
    named = [*STUDENTS[:5], *STUDENTS[6:], "absent"]  # the sixth ended before its id was known
    assert [one for one in ids if one in named] == named
    assert homework["absent"]["note"] == "nothing handed in"


def test_notes_name_the_copy_and_not_the_one_who_was_copied(homework):
    assert homework["student-1"]["note"] == ""
    assert "SyntaxError" in homework["student-2"]["note"]
    assert "student-1" in homework["student-5"]["note"]
    assert "not graded" in homework["student-6"]["note"]
    assert "not a notebook" in homework["broken"]["note"]
    assert "not a notebook" in homework["list"]["note"]
    assert "a link" in homework["link"]["note"]


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
    students = ["student-1", "student-12", "student-2"]
    sheet = {"students": students, "roster": dict.fromkeys(students)}
    notes = " ".join(_suspicions(student, owner, Path(f"{file}.ipynb"), sheet))
    assert bool(notes) == bool(named)
    assert all(name in notes for name in named)


def test_a_spreadsheet_runs_no_name_that_a_student_chose():
    row = {"file": "=1+1.ipynb", "student_id": "@me", "note": ["=2.ipynb has the same student_id"]}
    assert all(text.startswith("'") for name, text in _written(row).items() if name != "hints")


def test_hints_are_in_the_table(homework):
    wrong = drawn_questions("student-2", SECRET)["equal cost"]
    assert f"equal cost: {next(iter(wrong.wrong))}" in homework["student-2"]["hints"]


def test_an_endless_cell_costs_its_limit_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(grade, "_CELL_SECONDS", 2)
    folder = tmp_path / "run"
    folder.mkdir()
    nbformat.write(handed_in("student-1", extra="while True: pass"), folder / "handed_in.ipynb")
    (folder / "task.json").write_text(json.dumps({"names": ["my_bill"], "has_checks": False}))
    grade._run(folder)
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert answers["my_bill"] == drawn_questions("student-1", SECRET)["bill"].answer


@pytest.fixture(params=["right", "id", "blank", "nothing"])
def on_gradescope(request, tmp_path):
    """What Gradescope reads after grading a submission, and which one it was."""
    notebook = handed_in("student-1", 5)
    if request.param == "blank":
        notebook = homework_notebook("student-1", drawn_questions("student-1", SECRET))
    if request.param == "id":
        notebook.cells.append(new_code_cell("student_id = 'nobody'"))
    for folder in ("source", "submission"):
        (tmp_path / folder).mkdir()
    if request.param != "nothing":
        nbformat.write(notebook, tmp_path / "submission" / "homework.ipynb")
    exercises = [homework_exercise(*one) for one in QUESTIONS.items()]
    sheet = sheet_of(exercises, STUDENTS, homework_roster(SECRET, STUDENTS))
    (tmp_path / "source" / SHEET).write_text(json.dumps(sheet))
    grade_gradescope(tmp_path)
    results = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    return request.param, results["tests"]


def test_gradescope_shows_what_arrived_and_keeps_the_marks(on_gradescope):
    case, tests = on_gradescope
    (shown,) = [test for test in tests if test["visibility"] == "visible"]
    assert shown["status"] == ("passed" if case == "right" else "failed")
    assert "score" not in shown
    later = {test["name"]: test for test in tests if test["visibility"] == "after_published"}
    assert list(later) == list(QUESTIONS)
    assert sum(test["max_score"] for test in later.values()) == TOTAL
    assert sum(test["score"] for test in later.values()) == (5 if case == "right" else 0)
    assert not any(hint in shown["output"] for hint in QUESTIONS["bill"].wrong)
    expected = {
        "right": "12 of 14 answers were received",
        "id": "'nobody'",
        "blank": "0 of 14 answers were received",
        "nothing": "0 were found",
    }
    assert expected[case] in shown["output"]


def test_without_protection_nothing_is_graded(monkeypatch, tmp_path):
    monkeypatch.setattr(grade, "can_confine", lambda: False)
    with pytest.raises(GradingError, match="--trust"):
        grade.grade_class(tmp_path / "a.zip", tmp_path, tmp_path / "points.csv")


def test_a_file_that_every_user_can_read_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("adabook.confined._landlock_version", lambda: 0)
    monkeypatch.setattr("adabook.confined._others_read", lambda path: path.name == "open.zip")
    assert reachable([tmp_path / "kept.zip", tmp_path / "open.zip"]) == tmp_path / "open.zip"


# Where Linux checks every change, it runs always.
@pytest.mark.skipif(
    not grade.can_confine() and (sys.platform != "linux" or "CI" not in os.environ),
    reason="this system cannot confine a process",
)
def test_a_confined_process_reaches_its_folder_alone(tmp_path):
    # Graded in a folder of its own: another user cannot even enter pytest's.
    with tempfile.TemporaryDirectory() as folder:
        confines(tmp_path / "kept.txt", Path(folder))


def confines(kept, folder):
    kept.write_text("a key")
    probe = f"""
import os, pathlib, signal, numpy
def fails(attempt):
    try:
        attempt()
    except OSError:
        return True
if left := os.fork():
    pathlib.Path("mine.txt").write_text(str(left))
else:
    os.setsid()
    signal.pause()  # a process that would stay, with its output open
assert fails(lambda: open({str(kept)!r}).read())
assert fails(lambda: open({str(Path(adabook.__file__))!r}).read())
assert fails(lambda: open(numpy.__file__, "a"))
assert fails(lambda: open(f"/proc/{{os.getppid()}}/environ").read())
assert fails(lambda: open({str(kept)!r}, "w"))
"""
    hidden = [Path(adabook.__file__).parent]
    command = confined([sys.executable, "-c", probe], folder, hidden)
    kept.chmod(0o600)
    done = subprocess.run(command, env=student_environment(folder), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    left = Path("/proc") / (folder / "mine.txt").read_text()
    assert not left.exists(), "a process outlived the command"
    assert kept.read_text() == "a key"


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


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("install", "name"), [("editable", "04_duality"), ("wheel", "03_budgets")])
def test_the_books_own_solutions_get_full_marks(install, name, installs, tmp_path):
    notebook, exercises = solved(name)
    submissions = tmp_path / name
    submissions.mkdir()
    nbformat.write(notebook, submissions / "book.ipynb")
    pack = autograder(tmp_path, exercises, ["book"])
    row = graded(pack, submissions, tmp_path / "points.csv", installs[install])["book"]
    assert row["hints"] == ""
    assert float(row["points"]) == float(row["of"]) == sum(one.points for one in exercises)
