"""A class is graded as it deserves: honest work, mistakes, cheats, broken files and copies."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
import zipfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import cloudpickle
import nbformat
import numpy as np
import pandas as pd
import pytest
import solved_tasks
from confining import find_bubblewrap
from conftest import ROOT
from nbformat.v4 import new_code_cell
from scipy.optimize import linprog

import adalib
from adabook import exact, grade, sandbox, tasks
from adabook.exercises import JUDGED, Checker
from adabook.exercises.values import Value
from adabook.grade import SHEET, _at, _written, grade_gradescope
from adabook.homework import Question, drawn_questions
from adabook.judge import judged
from adabook.plain_data import as_plain, from_plain
from editions.assignments import (
    homework_exercise,
    homework_notebook,
    homework_roster,
    sheet_of,
)

SECRET = "a teacher's word"
STUDENTS = [f"student-{number}" for number in range(1, 10)]
QUESTIONS = drawn_questions("", SECRET)
EXERCISES = [homework_exercise(*one) for one in QUESTIONS.items()]
TOTAL = sum(question.points for name, question in QUESTIONS.items() if name != "proof")


@pytest.fixture(scope="module", autouse=True)
def confined():
    """Without bubblewrap these tests fail, and say how to get it."""
    find_bubblewrap()


PATCHED = """
import subprocess, adabook.exercises, adabook.judge, adabook.grade
from types import SimpleNamespace

right = adabook.exercises.Checked("", True)
adabook.exercises.Checker.__call__ = lambda *_: right
adabook.judge.judged = adabook.grade.judged = lambda *_, **__: right
"""
PRACTICE = """
from adabook.homework import drawn_questions

for name, question in drawn_questions(student_id, "practice").items():
    globals()["my_" + name.replace(" ", "_")] = getattr(question, "answer", None)
"""
# Looks for the keys and for other submissions: by their paths, and through /proc.
SEARCH = """
import glob, json, os, stat, zipfile

places = ["{pack}", *glob.glob("{submissions}/*"), *glob.glob("/tmp/*"), *glob.glob("/dev/shm/*")]
for word in glob.glob("/proc/[0-9]*/*"):
    try:
        if word.endswith(("cmdline", "environ")):
            places += open(word, "rb").read().decode(errors="ignore").split(chr(0))
        if word.endswith("fd"):
            places += [one.path for one in os.scandir(word)]
        if word.endswith(("cwd", "root")):
            places += glob.glob(word + "/*")
    except OSError:
        pass
for place in places:
    try:
        if not stat.S_ISREG(os.stat(place).st_mode):
            continue  # to open a pipe would wait for ever
        sheet = json.loads(zipfile.ZipFile(place).read("sheet.json"))
        for name, key in sheet["roster"][student_id]["keys"].items():
            globals()["my_" + name.replace(" ", "_")] = key.get("answer")
    except Exception:
        pass
    try:
        if "my_label" in open(place).read() and "{student}" not in open(place).read():
            my_label = "another's file: " + place
    except Exception:
        pass
"""
# Rewrites the judge and the grader on disk, and leaves processes and files for the next one.
REWRITE = """
import importlib.util, os, socket, time

for module in ("adabook.judge", "adabook.grade", "numpy"):
    try:
        with open(importlib.util.find_spec(module).origin, "a") as file:
            file.write("raise SystemExit('rewritten')")
    except OSError:
        pass
for folder in ("/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~")):
    try:
        open(folder + "/left-for-the-next", "w").write("x")
    except OSError:
        pass
for _ in range(20):
    if not os.fork():
        os.setsid()
        os.execlp("sleep", "sleep", "98765")
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=2)
    my_bill = "the network is open"
except OSError:
    pass
"""
# Asks for more room and memory than there is, and spoils an answer if it gets them.
FLOOD = """
import os

for name in ("/tmp/flood", "/dev/shm/flood"):
    try:
        with open(name, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 1 << 30)
        my_bill = "there is room in " + name
    except OSError:
        os.remove(name)
try:
    more = [np.empty(1 << 30, "u1") for _ in range(64)]
    my_bill = "there is memory"
except MemoryError:
    pass
"""
LONG = "my_bill = list(range(1_000_000))"
# Imports the judge's brute force, found next to numpy or where the checkout is.
REACH = """
def my_function(acc, cost, budget):
    import os, sys, numpy

    sys.path += [os.path.dirname(os.path.dirname(os.path.realpath(numpy.__file__))), {places}]
    from adabook.tasks import judged

    return judged("{variant}", {number}).brute_force(acc, cost, budget)
"""


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


GRADEBOOKS: dict[str, list[dict[str, str]]] = {}


@pytest.fixture(scope="module")
def homework(tmp_path_factory):
    """The rows of a small class, graded by an unpacked wheel, with one worker."""
    folder = tmp_path_factory.mktemp("class")
    wheel = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(next((ROOT / "dist").glob("*.whl"))) as opened:
        opened.extractall(wheel)
    before = _bytes(wheel)
    submissions = folder / "submissions"
    submissions.mkdir()
    pack = folder / "autograder.zip"
    one, two, three, four, five, six, seven, eight, nine = STUDENTS
    task = drawn_questions(eight, SECRET)["function"]
    places = ", ".join(repr(str(place)) for place in (wheel, ROOT / "book"))
    reach = REACH.format(places=places, variant=task.variant, number=task.number)
    search = SEARCH.format(pack=pack, submissions=submissions, student=seven)
    files = {
        f"{one}": handed_in(one),
        f"{two}": handed_in(two, 4, "my_label = = 1"),
        f"{three}": handed_in(three, 2, PATCHED),
        f"{four}": handed_in(four, 0, PRACTICE),
        f"{five}": handed_in(one, extra=f"student_id = {five!r}"),  # a neighbour's, the id changed
        f"homework-{two} (1)": handed_in(two, 0, f"student_id = {five!r}"),  # a stranger's
        f"homework-{three} (1)": homework_notebook(one, drawn_questions(one, SECRET)),
        f"{six}": handed_in(six, 3, "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"),
        f"{seven}": handed_in(seven, 2, REWRITE.format(port=9) + search),
        f"{eight}": handed_in(eight, 12, FLOOD + reach),
        "nobodys": handed_in(nine),
        f"{nine}-blank": homework_notebook(nine, drawn_questions(nine, SECRET)),
        f"{nine}-long": handed_in(nine, 9, LONG),
    }
    for name, notebook in files.items():
        nbformat.write(notebook, submissions / f"{name}.ipynb")
    (submissions / "broken.ipynb").write_text('{"cells": [', encoding="utf-8")
    (submissions / "list.ipynb").write_text("[]", encoding="utf-8")
    (submissions / "link.ipynb").symlink_to(pack)
    roster = homework_roster(SECRET, STUDENTS)
    with zipfile.ZipFile(pack, "w") as opened:
        opened.writestr(SHEET, json.dumps(sheet_of(EXERCISES, [*STUDENTS, "absent"], roster)))
    out = folder / "points.csv"
    command = [sys.executable, "-P", "-m", "adabook.grade", str(pack), str(submissions), str(out)]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # nothing to warn of: the notebooks were confined
    assert _bytes(wheel) == before, "a submission has changed the package"
    sleeping = subprocess.run(["ps", "axo", "args"], capture_output=True, text=True).stdout
    assert "sleep 98765" not in sleeping, "a process outlived its submission"
    for place in ("/tmp", "/dev/shm", "/var/tmp", Path.home()):
        assert not Path(place, "left-for-the-next").exists()
    with out.open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    for name in ("canvas", "moodle"):
        with out.with_name(f"points-{name}.csv").open(encoding="utf-8") as table:
            GRADEBOOKS[name] = list(csv.DictReader(table))
    slips = {file.stem: file.read_text() for file in (folder / "feedback").iterdir()}
    return {row["file"].removesuffix(".ipynb") or row["student_id"]: row for row in rows}, slips


def _bytes(place):
    """What the modules of the grader hold."""
    return [file.read_bytes() for file in sorted(place.glob("adabook/*.py"))]


def test_points_are_those_deserved(homework):
    points = {name: float(row["points"] or 0) for name, row in homework[0].items()}
    assert points.pop("student-4") <= 3  # another table may have the same answer by chance
    assert points == {
        "student-1": float(TOTAL),
        "student-2": 4,
        "student-3": 2,
        "student-5": 0,
        "student-6": 0,
        "student-7": 2,
        "student-8": 12,
        "homework-student-2 (1)": 0,
        "homework-student-3 (1)": 0,
        "nobodys": 0,
        "student-9-blank": 0,
        "student-9-long": 0,
        "broken": 0,
        "list": 0,
        "link": 0,
        "absent": 0,
    }


def test_a_proof_is_commented_on_and_left_to_a_person(homework):
    row = homework[0]["student-1"]
    assert row["proof"] == ""
    assert row["to_mark"] == "proof (4)"
    assert "every step holds" in row["hints"]
    assert "not answered" in homework[0]["student-2"]["hints"].partition("proof: ")[2]


def test_rows_stand_in_the_rosters_order_and_nobody_is_missing(homework):
    ids = [row["student_id"] for row in homework[0].values() if row["student_id"]]
    assert ids == [*STUDENTS, "absent"]  # the sixth, too, whose kernel died
    assert homework[0]["absent"]["note"] == "nothing handed in"


def test_a_file_has_one_row_and_a_student_one_that_counts(homework):
    """What a notebook says of itself counts for nothing, so it is nobody else's row or slip."""
    rows, slips = homework
    assert rows["student-2"]["student_id"] == "student-2"
    for stranger in ("homework-student-2 (1)", "homework-student-3 (1)", "nobodys"):
        assert rows[stranger]["student_id"] == ""
    assert "student-2.ipynb counts" in rows["homework-student-2 (1)"]["note"]
    assert "put one into the name" in rows["nobodys"]["note"]
    assert "those of student-9" in rows["nobodys"]["note"]
    assert set(slips) == set(STUDENTS)
    assert slips["student-2"].startswith("# student-2\n\n4 of 23 points")
    assert slips["student-3"].startswith("# student-3\n\n2 of 23 points")


def test_canvas_and_moodle_get_the_points_of_the_roster(homework):
    """Canvas has the most that can be had in its second line, and no column that is no mark."""
    canvas, moodle = GRADEBOOKS["canvas"], GRADEBOOKS["moodle"]
    points = {row["student_id"]: float(row["points"] or 0) for row in homework[0].values()}
    points.pop("")
    most, *rows = canvas
    assert most["Student"] == "Points Possible"
    assert float(most["homework"]) == TOTAL
    assert list(most) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "homework"]
    assert {row["SIS Login ID"]: float(row["homework"]) for row in rows} == points
    assert {row["id"]: float(row["homework"]) for row in moodle} == points
    assert list(points) == [*STUDENTS, "absent"]


def test_notes_name_the_copy_and_not_the_one_who_was_copied(homework):
    rows, _ = homework
    assert rows["student-1"]["note"] == ""
    assert "SyntaxError" in rows["student-2"]["note"]
    assert "student-1" in rows["student-5"]["note"]
    assert "not graded" in rows["student-6"]["note"]
    assert "too long" in rows["student-9-long"]["note"]
    assert "not a notebook" in rows["broken"]["note"]
    assert "not a notebook" in rows["list"]["note"]
    assert "a link" in rows["link"]["note"]


def test_a_slip_has_the_points_and_the_hints_of_one_student(homework):
    wrong = next(iter(drawn_questions("student-2", SECRET)["equal cost"].wrong))
    slip = homework[1]["student-2"]
    assert slip.startswith("# student-2\n\n4 of 23 points")
    assert wrong in slip
    assert "student-1" not in slip
    assert f"equal cost: {wrong}" in homework[0]["student-2"]["hints"]


@pytest.mark.parametrize(
    ("place", "whose"),
    [
        ("homework-student-1.ipynb", ["student-1"]),
        ("homework-student-12.ipynb", ["student-12"]),
        ("Ada Lovelace_4711_assignsubmission_file_/Homework-Student-2 (3).ipynb", ["student-2"]),
        ("student-1/homework-student-2.ipynb", ["student-1"]),  # the system says who handed it in
        ("zo\u0065\u0308@school.edu.ipynb", ["zo\u00eb@school.edu"]),
        ("student-123.ipynb", []),
        ("student-1 and student-2.ipynb", []),
        ("homework.ipynb", []),
    ],
)
def test_whose_a_notebook_is_its_place_says(place, whose):
    students = ["student-1", "student-12", "student-2", "zo\u00eb@school.edu"]
    assert _at(Path(place), {"students": students}) == whose


def test_a_spreadsheet_runs_no_name_that_a_student_chose():
    row = {"file": "=1+1.ipynb", "student_id": "@me", "note": ["=2.ipynb counts"]}
    assert all(text.startswith("'") for name, text in _written(row).items() if name != "hints")


@pytest.mark.parametrize("case", ["right", "sid", "another", "id", "blank", "nothing"])
def test_gradescope_shows_what_arrived_and_keeps_the_marks(case, tmp_path, monkeypatch):
    # In Gradescope's container there is no bubblewrap, and root keeps the keys.
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: "")
    monkeypatch.setattr(grade.os, "geteuid", lambda: 1)  # another user would need our folders open
    notebook = handed_in("student-1", 5)
    if case == "blank":
        notebook = homework_notebook("student-1", drawn_questions("student-1", SECRET))
    if case == "id":
        notebook.cells.append(new_code_cell("student_id = 'nobody'"))
    for folder in ("source", "submission"):
        (tmp_path / folder).mkdir()
    if case != "nothing":
        nbformat.write(notebook, tmp_path / "submission" / "homework.ipynb")
    sender = {"id": 7, "email": f"Student-{2 if case == 'another' else 1}@school.edu", "sid": None}
    if case == "sid":
        sender |= {"email": "ada@school.edu", "sid": "student-1"}
    (tmp_path / "submission_metadata.json").write_text(json.dumps({"users": [sender]}))
    sheet = sheet_of(EXERCISES, STUDENTS, homework_roster(SECRET, STUDENTS))
    (tmp_path / "source" / SHEET).write_text(json.dumps(sheet))
    grade_gradescope(tmp_path)
    results = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    tests = results["tests"]
    (shown,) = [test for test in tests if test["visibility"] == "visible"]
    well = ("right", "sid", "id")
    assert shown["status"] == ("passed" if case in well else "failed")
    assert "score" not in shown
    later = {test["name"]: test for test in tests if test["visibility"] == "after_published"}
    assert list(later) == [name for name in QUESTIONS if name != "proof"]
    assert sum(test["max_score"] for test in later.values()) == TOTAL
    assert sum(test["score"] for test in later.values()) == (5 if case in well else 0)
    assert not any(hint in shown["output"] for hint in QUESTIONS["bill"].wrong)
    expected = {
        "right": f"{len(QUESTIONS) - 2} of {len(QUESTIONS)} answers were received",
        "sid": f"{len(QUESTIONS) - 2} of {len(QUESTIONS)} answers were received",
        "another": "not those of student-2",
        "id": f"{len(QUESTIONS) - 2} of {len(QUESTIONS)} answers were received",
        "blank": f"0 of {len(QUESTIONS)} answers were received",
        "nothing": "0 were found",
    }
    assert expected[case] in shown["output"]
    assert "proof, 4 points" in tests[-1]["output"]


def test_gradescope_says_at_the_first_upload_that_the_roster_has_other_ids(tmp_path):
    for folder in ("source", "submission"):
        (tmp_path / folder).mkdir()
    users = [{"id": 7, "email": "ada@school.edu", "sid": "4711"}]
    (tmp_path / "submission_metadata.json").write_text(json.dumps({"users": users}))
    sheet = sheet_of(EXERCISES, STUDENTS, homework_roster(SECRET, STUDENTS))
    (tmp_path / "source" / SHEET).write_text(json.dumps(sheet))
    grade_gradescope(tmp_path)
    results = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    (test,) = results["tests"]
    assert (test["status"], test["visibility"]) == ("failed", "visible")
    for word in ("ada@school.edu", "4711", "student-1", "roster"):
        assert word in test["output"]


def test_without_bubblewrap_the_grader_says_whom_it_trusts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: "")
    with zipfile.ZipFile(tmp_path / "keys.zip", "w") as pack:
        pack.writestr(SHEET, json.dumps(sheet_of(EXERCISES, STUDENTS)))
    (tmp_path / "none").mkdir()
    words = [tmp_path / "keys.zip", tmp_path / "none", tmp_path / "points.csv"]
    assert grade.main([str(word) for word in words]) == 0
    said = capsys.readouterr().err
    assert "apt install bubblewrap" in said
    assert "trusts your class" in said


def judge(chapter, name, answer, key=None):
    """The verdict on one answer, as a notebook hands it over."""
    return judged({"chapter": chapter, "name": name}, key, as_plain(answer))


@pytest.mark.parametrize(
    "value", [3, 0.5, "7/8", None, True, [1, [2.5, "x"]], np.array([[1.0, 2.0], [3.0, 4.0]])]
)
def test_plain_data_comes_back_as_it_was(value):
    np.testing.assert_equal(from_plain(as_plain(value)), value)


def test_tables_and_populations_come_back():
    table = adalib.UtilityTable([[0.1, 0.5]], [1, 2])
    np.testing.assert_array_equal(from_plain(as_plain(table)).acc, table.acc)
    people = adalib.flat_null(5)
    np.testing.assert_array_equal(from_plain(as_plain(people)).probs, people.probs)
    assert from_plain(as_plain((np.float64(0.25), Fraction(1, 4)))) == [0.25, 0.25]


@pytest.mark.parametrize(
    "answer",
    [
        Decimal("0.5"),
        np.array(0.5),
        np.float32(0.5),
        pd.Series([0.5]),
        pd.DataFrame([[0.5]]),
        {0.5},
        iter([0.5]),
        "1/2",
    ],
)
def test_whatever_holds_the_number_is_judged_by_the_key(answer):
    key = {"answer": 0.5, "hint": "think of a coin", "tolerance": 1e-3}
    plain = as_plain(answer)
    assert Checker({"half": Value("half", **key)})("half", from_plain(plain)).right


def test_homework_is_judged_by_its_key():
    key = {"answer": 0.5, "hint": "think of a coin", "wrong": {"that is all": 1.0}}
    assert judge("homework", "half", 0.5, key).right
    assert judge("homework", "half", 1, key).hint == "that is all"


class TestFunctions:
    """Functions are sent to the process that runs them with cloudpickle."""

    def test_a_function_may_use_packages_and_global_names_and_print(self):
        def solved(capacity, fuel, demand):
            print("still looking")
            bounds = [(0, most) for most in capacity]
            return linprog(fuel, A_eq=[0 * fuel + 1], b_eq=[demand], bounds=bounds).x.round(9)

        assert judge("markets", "dispatch", solved).right

    @pytest.mark.parametrize(
        ("chapter", "name", "function", "hint"),
        [
            ("oracle", "oracle", lambda acc, cost, lam: acc.argmax(axis=1), "forgets the price"),
            ("oracle", "oracle", lambda acc, cost, lam: int(input()), "EOFError"),
            ("oracle", "oracle", lambda acc, cost, lam: [0] * 10**6, "too long"),
            ("budgets", "frontier", JUDGED["budgets", "frontier"].brute_force, "named 'adabook'"),
        ],
        ids=["wrong", "asks for input", "floods", "is the judge's own"],
    )
    def test_what_is_not_right_gets_its_hint(self, chapter, name, function, hint):
        assert hint in judge(chapter, name, function).hint

    @pytest.mark.parametrize("variant", ["seats", "charge", "weights"])
    def test_the_reference_is_refused_under_any_name(self, variant):
        """cloudpickle can be told to send a module's functions along; no module is needed then."""
        reference = tasks.judged(variant, 2.0).brute_force

        def mine(acc, cost, budget):
            return reference(acc, cost, budget)

        for module in (tasks, exact):
            cloudpickle.register_pickle_by_value(module)
        try:
            sent = {"renamed": as_plain(mine), "itself": as_plain(reference)}
        finally:
            for module in (tasks, exact):
                cloudpickle.unregister_pickle_by_value(module)
        key = {"variant": variant, "number": 2.0}
        exercise = {"chapter": "homework", "name": "function"}
        for name, answer in sent.items():
            checked = judged(exercise, key, answer)
            assert (checked.right, "reference" in checked.hint) == (False, True), name

    @pytest.mark.parametrize("variant", ["seats", "charge", "weights"])
    def test_a_solution_of_ones_own_is_not_taken_for_the_reference(self, variant):
        space: dict = {}
        exec(solved_tasks.FUNCTIONS[variant].format(number=2.0), space)
        key = {"variant": variant, "number": 2.0}
        assert judge("homework", "function", space["my_function"], key).right

    def test_an_endless_function_ends_in_the_seconds_that_its_hint_names(self, monkeypatch):
        def endless(acc, cost, lam):
            while True:
                lam += 1

        monkeypatch.setattr("adabook.judge._FUNCTION_SECONDS", 3)  # not the usual minute
        began = time.monotonic()
        assert "3 seconds" in judge("oracle", "oracle", endless).hint
        assert time.monotonic() - began < 30
