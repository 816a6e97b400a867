"""Assignments: homework with everyone's own tables, and chapters that the teacher names.

Homework is drawn from a secret that the teacher keeps: every student on the roster gets a notebook
with tables of their own, and the keys are in the autograder alone. A chapter's notebook is that of
the student's edition. Its exercises are practice whose solutions the book prints, so a teacher who
names one grades work, not secrets. Each answer is kept in a variable of its own. `adabook.grade`
grades them, a whole class at once or one submission on Gradescope, with the same autograder.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from pprint import pformat
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from adabook.exercises import checks
from adabook.exercises.behaviour import Proof
from adabook.grade import SHEET, file_name
from adabook.homework import Question, drawn_questions
from adabook.run_notebook import SKIPPED_TAG
from adabook.tasks import Task

_CHECKS = re.compile(r'\bcheck\(\s*"(?P<name>[^"]+)",\s*(?P<answer>\w+)\s*\)')
_CHAPTER = re.compile(r'\bchecks\("(\w+)"\)')

# Gradescope builds a container with the first script, and runs the second in a new one for each
# submission. The Python lies where another user reaches it, and the keys where none but root does.
_SETUP = """#!/usr/bin/env bash
set -euo pipefail
export UV_PYTHON_INSTALL_DIR=/opt/python PIP_BREAK_SYSTEM_PACKAGES=1
chmod -R go= /autograder/source
python3 -m pip install --quiet {uv}
uv venv --quiet --python {python} /opt/grading
uv pip install --quiet --python /opt/grading/bin/python \\
  --constraint /autograder/source/constraints.txt \\
  "{package}[learn,math,pages] @ file:///autograder/source/{wheel}" \\
  cloudpickle ipykernel ipywidgets anywidget nbclient
"""
_RUN = """#!/usr/bin/env bash
/opt/grading/bin/python -m adabook.grade --gradescope /autograder
"""
_UV = "uv==0.9.9"

_INTRODUCTION = """# {title}

Write your answers into the variables whose names start with `my_`, and hand in this file under a
name that has your id in it, such as `{chapter}-ada.ipynb`. `check` gives hints and no marks. The
grader runs your notebook from top to bottom in a fresh kernel. A person reads the proofs: give the
reason for each step in words.
"""

_VALUE = "{0} = None  # your answer"
_STARTS = {
    "function": "def {0}(acc, cost, budget):\n    return None  # your code",
    "proof": "{0} = None  # a list of lines, such as [lambda acc, cost, lam: ..., ...]",
}

_HOMEWORK = """# {title} of {student}

These tables are yours alone; everyone has others. Write your answers into the variables whose names
start with `my_`, and hand in this file under its name; it is worth {total} points. Do not change
the next cell. To practise with other numbers and hints, use
`from adabook import homework; homework("practice").check("bill", 2.75)`.
"""


_TITLES = {
    "homework": "Homework",
    "prices": "Prices and frontier: homework",
    "kkt": "Duality and its conditions: homework",
    "limits": "Two limits: homework",
    "stopping": "Dynamic programs and stopping: homework",
    "checks": "Answers that can be checked: homework",
    "nulls": "Estimates and nulls: homework",
}


class Exercise(NamedTuple):
    """An exercise of an assignment: its place, name, variable and points, and who marks it."""

    chapter: str
    name: str
    variable: str
    points: int
    by_hand: bool = False


def _exercise(chapter: str, name: str, points: int, by_hand: bool) -> Exercise:
    """An exercise whose variable is called after it."""
    return Exercise(chapter, name, "my_" + re.sub(r"\W+", "_", name), points, by_hand)


def assignment(student: NotebookNode, whole: NotebookNode) -> tuple[NotebookNode, list[Exercise]]:
    """Turn a chapter of the student's edition into an assignment.

    ``whole`` is the chapter with its solutions, whose code says which cells an answer may need.
    """
    notebook = nbformat.from_dict(student)
    source = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    named = _CHAPTER.search(source)
    if named is None:
        return notebook, []
    chapter = named[1]
    judged = checks(chapter).exercises
    found = []
    for cell in notebook.cells:
        asked = _CHECKS.search(cell.source) if cell.cell_type == "code" else None
        if asked is None or asked["name"] not in judged:
            continue
        one = judged[asked["name"]]
        exercise = _exercise(chapter, asked["name"], one.points, isinstance(one, Proof))
        cell.source = re.sub(rf"\b{asked['answer']}\b", exercise.variable, cell.source)
        found.append(exercise)
    for cell in _only_drawing(notebook, whole):
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), SKIPPED_TAG]
    introduction = _INTRODUCTION.format(title=f"{chapter}: exercises", chapter=chapter)
    notebook.cells.insert(0, new_markdown_cell(introduction))
    return notebook, found


def _only_drawing(notebook: NotebookNode, whole: NotebookNode) -> Iterator[NotebookNode]:
    """The cells with hidden code that make no name which another cell or a solution uses."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    hidden = [cell for cell in code if "hide-input" in cell.metadata.get("tags", [])]
    ours = {cell.source for cell in code}
    solutions = [
        cell.source for cell in whole.cells if cell.cell_type == "code" and cell.source not in ours
    ]
    needed = set().union(
        *(_names(source, ast.Load) for source in solutions),
        *(_names(cell.source, ast.Load) for cell in code if cell not in hidden),
    )
    for cell in reversed(hidden):
        if _names(cell.source, ast.Store) & needed:
            needed |= _names(cell.source, ast.Load)
        else:
            yield cell


def _names(source: str, context: type[ast.expr_context]) -> set[str]:
    """The names that a cell reads, or those that it makes."""
    plain = "\n".join("" if line.startswith(("%", "!")) else line for line in source.split("\n"))
    tree = list(ast.walk(ast.parse(plain)))
    names = {n.id for n in tree if isinstance(n, ast.Name) and isinstance(n.ctx, context)}
    if context is ast.Store:
        names |= {n.name for n in tree if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        for node in tree:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names


def homework_notebook(
    student: str, questions: Mapping[str, Question | Task], kind: str = "homework"
) -> NotebookNode:
    """A student's sheet of homework: the id, the tables, and a variable for every answer."""
    tables = pformat(_tables(questions), width=60, sort_dicts=False)
    own = f"student_id = {student!r}\ntables = {tables}"
    total = sum(question.points for question in questions.values())
    cells = [
        new_markdown_cell(_HOMEWORK.format(title=_TITLES[kind], student=student, total=total)),
        new_code_cell(own),
        new_code_cell(
            "import numpy as np\n\nimport adalib\n\ncost = np.array([1.0, 2.0, 4.0, 8.0])"
        ),
    ]
    for name, question in questions.items():
        variable = homework_exercise(name, question).variable
        points = f"{question.points} point{'s' if question.points > 1 else ''}"
        if isinstance(question, Question):
            text = f"```\n{question.text}\n```"
            if question.table:
                text += f"\n\nThe table is `np.array(tables[{name!r}])`."
        else:
            text = question.text
        cells.append(new_markdown_cell(f"**{name}** ({points})\n\n{text}"))
        cells.append(new_code_cell(_STARTS.get(name, _VALUE).format(variable)))
    return new_notebook(cells=cells)


def _tables(questions: Mapping[str, Question | Task]) -> dict[str, list[list[float]]]:
    """The tables of a student's questions, by name."""
    return {
        name: question.table
        for name, question in questions.items()
        if isinstance(question, Question) and question.table
    }


def homework_exercise(name: str, question: Question | Task) -> Exercise:
    """A question of homework as an exercise."""
    return _exercise("homework", name, question.points, name == "proof")


def homework_roster(
    secret: str, students: Sequence[str], kind: str = "homework"
) -> dict[str, dict[str, Any]]:
    """What the autograder knows of every student: the keys, and the tables in Python's spelling."""
    roster = {}
    for student in students:
        questions = drawn_questions(student, secret, kind)
        keys = {name: question.key() for name, question in questions.items()}
        roster[student] = {"keys": keys, "tables": repr(_tables(questions))}
    return roster


def write_homework(
    secret: str, students: Sequence[str], wheel: Path, target: Path, kind: str = "homework"
) -> None:
    """Write a notebook of a kind of sheet for every student, and the autograder of them all."""
    shutil.rmtree(target, ignore_errors=True)
    (target / "notebooks").mkdir(parents=True)
    for student in students:
        questions = drawn_questions(student, secret, kind)
        notebook = homework_notebook(student, questions, kind)
        file = target / "notebooks" / f"{kind}-{file_name(student)}.ipynb"
        nbformat.write(notebook, file)
    exercises = [homework_exercise(*one) for one in questions.items()]
    roster = homework_roster(secret, students, kind)
    _write_autograder(sheet_of(exercises, students, roster, kind), wheel, target)


def write_chapter(
    student: NotebookNode, whole: NotebookNode, students: Sequence[str], wheel: Path, target: Path
) -> None:
    """Write the assignment of a chapter: a notebook and its autograder."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    notebook, exercises = assignment(student, whole)
    nbformat.write(notebook, target / f"{target.name}.ipynb")
    _write_autograder(sheet_of(exercises, students, name=target.name), wheel, target)


def sheet_of(
    exercises: Sequence[Exercise],
    students: Sequence[str],
    roster: Mapping[str, Any] | None = None,
    name: str = "homework",
) -> dict[str, Any]:
    """What `adabook.grade` reads: exercises, students and, for homework, keys and tables."""
    return {
        "name": name,
        "exercises": [exercise._asdict() for exercise in exercises],
        "students": list(students),
        "roster": roster,
    }


def _write_autograder(sheet: Mapping[str, Any], wheel: Path, folder: Path) -> None:
    """Write ``autograder.zip`` in Gradescope's format, which none but its owner can read."""
    target = folder / "autograder.zip"
    target.touch(mode=0o600)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    package = wheel.name.partition("-")[0]
    setup = _SETUP.format(uv=_UV, python=python, package=package, wheel=wheel.name)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("setup.sh", setup)
        pack.writestr("run_autograder", _RUN)
        pack.writestr(SHEET, json.dumps(sheet, ensure_ascii=False))
        pack.write(wheel.parents[1] / "constraints.txt", "constraints.txt")
        pack.write(wheel, wheel.name)
