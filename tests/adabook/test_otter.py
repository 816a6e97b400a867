"""Otter assignments: every exercise has a variable and a hidden test, and no answer is handed
out."""

from __future__ import annotations

import ast

import nbformat
import pytest
from conftest import ROOT

from adabook.exercises import JUDGED, recorded
from editions.otter import (
    Exercise,
    assignment,
    grade_class,
    hidden_test,
    homework_notebook,
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


def test_the_hidden_test_is_valid():
    text = hidden_test(Exercise("1", "equal cost", "my_equal_cost", 2), with_student=True)
    (test,) = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert test.name == "test_equal_cost"
    assert 'env.get("my_equal_cost"), env.get("student_id")' in text


def test_homework_holds_no_numbers():
    notebook, exercises = homework_notebook("1")
    assert len(exercises) == 7
    assert notebook.cells[1].source.startswith('student_id = ""')
    assert all(f"{one.variable} = None" in str(notebook) for one in exercises)


def test_nobody_is_graded_where_the_tests_cannot_run(tmp_path, monkeypatch):
    """Without adalib in the grader's Python every hidden test fails, and a class gets 0 points."""
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'adalib'\" >&2\nexit 1\n"
    )
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    with pytest.raises(RuntimeError, match="No module named 'adalib'.*install"):
        grade_class(tmp_path / "autograder.zip", tmp_path, tmp_path / "points.csv")
    assert not (tmp_path / "points.csv").exists()
