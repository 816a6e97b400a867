"""Otter assignments: homework with everyone's own tables, and chapters that the teacher names.

Homework is drawn from a secret that the teacher keeps: every student on the roster gets a notebook
with tables of their own, and the keys are in the autograder alone. A chapter's notebook is that of
the student's edition. Its exercises are practice whose solutions the book prints, so a teacher who
names one grades work, not secrets. Each answer is kept in a variable of its own, which a hidden
test hands to `adabook.judge`. `adabook.grade` grades a class with the same autograder.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
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
from adabook.exercises.judged import Build, Construction, Proof
from adabook.grade import SHEET
from adabook.homework import Question, drawn_questions

_CHECKS = re.compile(r'\bcheck\(\s*"(?P<name>[^"]+)",\s*(?P<answer>\w+)\s*\)')
_CHAPTER = re.compile(r'\bchecks\("(\w+)"\)')
_SKIPPED = "otter_ignore"  # Otter's own tag for a cell that grading leaves out
_POINTS: dict[type, int] = {Build: 3, Construction: 2, Proof: 4}  # a value counts 1

_TEST = '''"""Hidden test of the exercise "{name}"."""

from importlib.util import find_spec
from runpy import run_path

from otter.test_files import test_case

OK_FORMAT = False
name = "{slug}"
points = {points}
KEYS = {keys}


@test_case(points={points}, hidden=True)
def test_{slug}(env):
    key = None
    if KEYS is not None:
        student = str(env.get("student_id") or "").strip()
        assert student in KEYS, f"student_id {{student!r}} is not on the roster"
        key = KEYS[student]
    # A fresh copy of the judge: what the notebook did to the imported one does not matter.
    judge = run_path(find_spec("adabook.judge").origin)
    found = judge["verdict"]("{chapter}", "{name}", env.get("{variable}"), key)
    assert found.right, found.hint
'''

_INTRODUCTION = """# {title}

Write your answers into the variables whose names start with `my_`, and hand in this file. `check`
gives hints and no marks. The marks come from tests that run your notebook from top to bottom in a
fresh kernel. Reasons in words, between the lines of a proof, are not judged and earn no points.
"""

_HOMEWORK = """# Homework of {student}

These tables are yours alone; everyone has others. Write your answers into the variables whose names
start with `my_`, and hand in this file. Do not change the next cell. To practise with other numbers
and hints, use `from adabook import homework; homework("practice").check("bill", 2.75)`.
"""


class Exercise(NamedTuple):
    """An exercise of an assignment: where it comes from, its name, its variable and its points."""

    chapter: str
    name: str
    variable: str
    points: int

    @property
    def slug(self) -> str:
        """The name as part of a Python name."""
        return re.sub(r"\W+", "_", self.name)


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
    judged = checks(chapter)[0].exercises
    found = []
    for cell in notebook.cells:
        asked = _CHECKS.search(cell.source) if cell.cell_type == "code" else None
        if asked is None or asked["name"] not in judged:
            continue
        worth = _POINTS.get(type(judged[asked["name"]]), 1)
        exercise = Exercise(chapter, asked["name"], "", worth)
        exercise = exercise._replace(variable=f"my_{exercise.slug}")
        cell.source = re.sub(rf"\b{asked['answer']}\b", exercise.variable, cell.source)
        found.append(exercise)
    for cell in _only_drawing(notebook, whole):
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), _SKIPPED]
    title = f"{chapter}: exercises"
    notebook.cells.insert(0, new_markdown_cell(_INTRODUCTION.format(title=title)))
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


def homework_notebook(student: str, questions: Mapping[str, Question]) -> NotebookNode:
    """A student's sheet of homework: the id, the tables, and a variable for every answer."""
    tables = pformat(_tables(questions), width=60, sort_dicts=False)
    own = f"student_id = {student!r}\ntables = {tables}"
    cells = [
        new_markdown_cell(_HOMEWORK.format(student=student)),
        new_code_cell(own),
        new_code_cell(
            "import numpy as np\n\nimport adalib\n\ncost = np.array([1.0, 2.0, 4.0, 8.0])"
        ),
    ]
    for name, question in questions.items():
        variable = homework_exercise(name).variable
        where = f"\n\nThe table is `np.array(tables[{name!r}])`." if question.table else ""
        cells.append(new_markdown_cell(f"**{name}**\n\n```\n{question.text}\n```{where}"))
        cells.append(new_code_cell(f"{variable} = None  # your answer"))
    return new_notebook(cells=cells)


def _tables(questions: Mapping[str, Question]) -> dict[str, list[list[float]]]:
    """The tables of a student's questions, by name."""
    return {name: question.table for name, question in questions.items() if question.table}


def homework_exercise(name: str) -> Exercise:
    """A question of homework as an exercise of one point."""
    exercise = Exercise("homework", name, "", 1)
    return exercise._replace(variable=f"my_{exercise.slug}")


def homework_roster(secret: str, students: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What the autograder knows of every student: the keys, and the tables in Python's spelling."""
    roster = {}
    for student in students:
        questions = drawn_questions(student, secret)
        keys = {name: one.exercise(name)._asdict() for name, one in questions.items()}
        for key in keys.values():
            del key["name"]
        roster[student] = {"keys": keys, "tables": repr(_tables(questions))}
    return roster


def hidden_test(exercise: Exercise, roster: Mapping[str, Any] | None = None) -> str:
    """The test file of an exercise; for homework with the key of every student on the roster."""
    keys = roster and {student: one["keys"][exercise.name] for student, one in roster.items()}
    return _TEST.format(slug=exercise.slug, keys=keys, **exercise._asdict())


def write_homework(secret: str, students: Sequence[str], wheel: Path, target: Path) -> None:
    """Write a notebook for every student, and the autograder of them all."""
    shutil.rmtree(target, ignore_errors=True)
    (target / "notebooks").mkdir(parents=True)
    for student in students:
        questions = drawn_questions(student, secret)
        file = re.sub(r"[^\w.@-]", "_", student)
        notebook = homework_notebook(student, questions)
        nbformat.write(notebook, target / "notebooks" / f"homework-{file}.ipynb")
    exercises = [homework_exercise(name) for name in questions]
    _write_autograder(exercises, homework_roster(secret, students), wheel, target)


def write_chapter(student: NotebookNode, whole: NotebookNode, wheel: Path, target: Path) -> None:
    """Write the assignment of a chapter: a notebook and its autograder."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    notebook, exercises = assignment(student, whole)
    nbformat.write(notebook, target / f"{target.name}.ipynb")
    _write_autograder(exercises, None, wheel, target)


def _write_autograder(
    exercises: Sequence[Exercise], roster: Mapping[str, Any] | None, wheel: Path, folder: Path
) -> None:
    """Write ``autograder.zip`` in Gradescope's format, with the package and the sheet inside."""
    tests = folder / "tests"
    tests.mkdir()
    for exercise in exercises:
        file = tests / f"{exercise.slug}.py"
        file.write_text(hidden_test(exercise, roster), encoding="utf-8")
    shutil.copy(wheel, folder)
    package = f"adalib[learn,math,pages] @ file:///autograder/source/files/{wheel.name}"
    requirements = f"{package}\ncloudpickle\nipykernel\nipywidgets\nanywidget\n"
    (folder / "requirements.txt").write_text(requirements, encoding="utf-8")
    options = ["--tests-dir", "tests", "--requirements", "requirements.txt", "--output-path"]
    subprocess.run(
        [sys.executable, "-m", "otter", "generate", *options, "autograder.zip", wheel.name],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    sheet = {"exercises": [exercise._asdict() for exercise in exercises], "roster": roster}
    with zipfile.ZipFile(folder / "autograder.zip", "a", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr(SHEET, json.dumps(sheet, ensure_ascii=False))
    shutil.rmtree(tests)  # the keys go to the autograder alone
    (folder / "requirements.txt").unlink()
    (folder / wheel.name).unlink()
