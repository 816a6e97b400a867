"""Otter assignments: every exercise has a variable and a hidden test, and no key is handed out."""

from __future__ import annotations

import ast
import json

import nbformat
import pytest
from conftest import ROOT

from adabook.exercises import JUDGED, recorded
from adabook.homework import drawn_questions
from editions.otter import Exercise, assignment, hidden_test, homework_notebook, homework_roster
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
    assert sorted(one.name for one in exercises) == sorted([*judged, *recorded().get(place, {})])
    assert len({one.variable for one in exercises}) == len(exercises)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert all(one.variable in code for one in exercises)
    assert "solution(" not in code


@pytest.mark.parametrize("name", CHAPTERS)
def test_what_grading_skips_makes_no_name_that_a_later_cell_needs(name):
    notebook, _, whole = chapter(name)
    skipped = {
        cell.source for cell in notebook.cells if "otter_ignore" in cell.metadata.get("tags", [])
    }
    needed = set()
    for cell in reversed([cell for cell in whole.cells if cell.cell_type == "code"]):
        tree = ast.parse(cell.source)
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        if cell.source in skipped:
            assert not {node.id for node in names if isinstance(node.ctx, ast.Store)} & needed
        else:
            needed |= {node.id for node in names if isinstance(node.ctx, ast.Load)}


def test_a_hidden_test_has_a_key_for_everyone_on_the_roster():
    exercise = Exercise("homework", "equal cost", "my_equal_cost", 1)
    text = hidden_test(exercise, homework_roster("secret", ["ada", "ben"]))
    tree = ast.parse(text)
    (keys,) = [
        one for one in tree.body if isinstance(one, ast.Assign) and one.targets[0].id == "KEYS"
    ]
    answers = {student: key["answer"] for student, key in ast.literal_eval(keys.value).items()}
    for student, answer in answers.items():
        assert answer == drawn_questions(student, "secret")["equal cost"].answer
    assert len({*answers.values()}) == 2


def test_a_students_notebook_holds_tables_and_no_key():
    questions = drawn_questions("ada", "secret")
    notebook = homework_notebook("ada", questions)
    names = {}
    exec(notebook.cells[1].source, names)
    assert names["student_id"] == "ada"
    assert repr(names["tables"]) == homework_roster("secret", ["ada"])["ada"]["tables"]
    text = json.dumps(notebook)
    assert "secret" not in text
    assert not any(question.more in text for question in questions.values())
