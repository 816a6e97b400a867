"""Otter assignments: a student's notebook and a Gradescope autograder per chapter and homework.

The notebook is the student's edition of the chapter. Every exercise keeps its answer in a variable
of its own, because Otter looks at the variables when the whole notebook has run. A hidden test per
exercise hands that variable to `adabook.judge`, which judges it in another process. Cells that
only draw are marked for Otter to skip, so that a class is graded sooner.
"""

from __future__ import annotations

import ast
import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from adabook.exercises import checks
from adabook.homework import homework
from editions.grading import points

_CHECKS = re.compile(r'\bcheck\(\s*"(?P<name>[^"]+)",\s*(?P<answer>\w+)\s*\)')
_CHAPTER = re.compile(r'\bchecks\("(\w+)"\)')
_STUDENT = re.compile(r'^student_id = "([^"\n]*)"', re.M)
_SKIPPED = "otter_ignore"  # Otter's own tag for a cell that grading leaves out
_SECONDS = 900  # a submission that takes longer is stopped, and gets no points

_TEST = '''"""Hidden test of the exercise "{name}"."""

from importlib.util import find_spec
from runpy import run_path

from otter.test_files import test_case

OK_FORMAT = False
name = "{slug}"
points = {points}


@test_case(points={points}, hidden=True)
def test_{slug}(env):
    # A fresh copy of the judge: what the notebook did to the imported one does not matter.
    judge = run_path(find_spec("adabook.judge").origin)
    found = judge["verdict"]({asked})
    assert found.right, found.hint
'''

_INTRODUCTION = """# {title}

This assignment is graded by Otter-Grader. Write your answers into the variables whose names start
with `my_`, and hand in this file. `check` is practice: it gives hints and no marks. The marks come
from hidden tests that run your notebook from top to bottom in a fresh kernel.
"""

_HOMEWORK = """# Homework {sheet}

Write your student id into the next cell, exactly as your course lists it. The numbers of all
questions depend on it, and the hidden tests draw them again from it. Write your answers into the
variables whose names start with `my_`, and hand in this file. To practise with other numbers and
hints, use `homework(student_id).check("bill", 2.75)`.
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
        worth = points(judged[asked["name"]])
        exercise = Exercise(chapter, asked["name"], "", worth)
        exercise = exercise._replace(variable=f"my_{exercise.slug}")
        cell.source = re.sub(rf"\b{asked['answer']}\b", exercise.variable, cell.source)
        found.append(exercise)
    for cell in _only_drawing(notebook, whole):
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), _SKIPPED]
    title = f"{chapter}: exercises"
    introduction = nbformat.v4.new_markdown_cell(_INTRODUCTION.format(title=title))
    notebook.cells.insert(0, introduction)
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


def homework_notebook(sheet: str) -> tuple[NotebookNode, list[Exercise]]:
    """A sheet of homework as an assignment; the numbers come from the student's id."""
    cells = [
        nbformat.v4.new_markdown_cell(_HOMEWORK.format(sheet=sheet)),
        nbformat.v4.new_code_cell('student_id = ""  # your id, between the quotes'),
        nbformat.v4.new_code_cell(
            f'from adabook import homework\n\nsheet = homework(student_id, "{sheet}")\nprint(sheet)'
        ),
    ]
    found = []
    for name in homework("", sheet).questions:
        exercise = Exercise(sheet, name, "", 1)
        exercise = exercise._replace(variable=f"my_{exercise.slug}")
        found.append(exercise)
        cells.append(nbformat.v4.new_markdown_cell(f"**{name}**"))
        cells.append(
            nbformat.v4.new_code_cell(
                f'print(sheet.questions["{name}"])\n{exercise.variable} = None  # your answer'
            )
        )
    return nbformat.v4.new_notebook(cells=cells), found


def hidden_test(exercise: Exercise, with_student: bool = False) -> str:
    """The test file of an exercise."""
    asked = f'"{exercise.chapter}", "{exercise.name}", env.get("{exercise.variable}")'
    if with_student:
        asked += ', env.get("student_id")'
    return _TEST.format(name=exercise.name, slug=exercise.slug, points=exercise.points, asked=asked)


def write_assignments(
    whole: dict[str, NotebookNode],
    students: dict[str, NotebookNode],
    wheel: Path,
    target: Path,
    sheet: str = "1",
) -> list[str]:
    """Write a folder per chapter, and one for homework: the notebook and ``autograder.zip``.

    Returns the names of the folders. ``wheel`` is this package, which goes into every autograder.
    """
    shutil.rmtree(target, ignore_errors=True)
    parts = {
        Path(file).stem: assignment(student, whole[file]) for file, student in students.items()
    }
    parts["homework"] = homework_notebook(sheet)
    written = []
    for name, (notebook, exercises) in parts.items():
        if not exercises:
            continue
        folder = target / name
        tests = folder / "tests"
        tests.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")
        for exercise in exercises:
            text = hidden_test(exercise, with_student=name == "homework")
            (tests / f"{exercise.slug}.py").write_text(text, encoding="utf-8")
        _zip(folder, wheel)
        shutil.rmtree(tests)  # the answers go to the autograder alone
        written.append(name)
    return written


def _zip(folder: Path, wheel: Path) -> None:
    """Write ``autograder.zip`` in Gradescope's format, with the package inside."""
    shutil.copy(wheel, folder)
    package = f"adalib[learn,math,pages] @ file:///autograder/source/files/{wheel.name}"
    (folder / "requirements.txt").write_text(
        f"{package}\nipywidgets\nanywidget\n", encoding="utf-8"
    )
    options = ["--tests-dir", "tests", "--requirements", "requirements.txt", "--output-path"]
    subprocess.run(
        [sys.executable, "-m", "otter", "generate", *options, "autograder.zip", wheel.name],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (folder / "requirements.txt").unlink()
    (folder / wheel.name).unlink()


def grade_class(autograder: Path, submissions: Path, out: Path, seconds: int = _SECONDS) -> int:
    """Grade every notebook of a folder with Otter, and write one CSV with names and points.

    The name is the file's. A submission that does not end, or that breaks the grader, has no points
    and a reason. Returns the number of submissions.
    """
    _check_environment()
    rows = []
    files = sorted(submissions.glob("*.ipynb"))
    for file in files:
        about = {"name": file.stem, "student_id": _student_id(file)}
        blank = {"points": 0.0, "of": "", "note": ""}
        rows.append(about | blank | _graded(autograder, file, seconds))
    ids = [row["student_id"] for row in rows if row["student_id"]]
    for row in rows:
        if ids.count(row["student_id"]) > 1:
            row["note"] = f"{row['note']} the same student_id as another submission".strip()
    with out.open("w", newline="", encoding="utf-8") as table:
        columns = list(dict.fromkeys(name for row in rows for name in row))
        writer = csv.DictWriter(table, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return len(files)


def _check_environment() -> None:
    """Refuse to grade where the hidden tests cannot run: everyone would get 0 points."""
    # From another folder, as Otter runs, where the sources of the project are not in sight.
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(
            [sys.executable, "-c", "import otter.api, adabook.judge"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
    if tried.returncode:
        reason = tried.stderr.strip().splitlines()[-1]
        raise RuntimeError(
            f"{sys.executable} cannot run the hidden tests ({reason}): install "
            "requirements-otter.txt and the wheel of adalib into it, then grade again"
        )


def _student_id(file: Path) -> str:
    """The id that a student wrote into the homework, "" if there is none."""
    cells = nbformat.read(file, as_version=4).cells
    found = _STUDENT.search("\n".join(cell.source for cell in cells))
    return found[1].strip() if found else ""


_RUN = """
import json, sys
from otter.api import grade_submission

results = grade_submission(sys.argv[1], sys.argv[2], quiet=True)
tests = {name: test.score for name, test in results.results.items()}
print(json.dumps({"points": results.total, "of": results.possible, **tests}))
"""


def _graded(autograder: Path, file: Path, seconds: int) -> dict:
    """The points of one submission; Otter runs in its own process, which can be stopped."""
    command = [sys.executable, "-c", _RUN, str(file.resolve()), str(autograder.resolve())]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"note": f"did not end within {seconds} seconds"}
    except (IndexError, ValueError):
        return {"note": f"could not be graded: {done.stderr.strip().splitlines()[-1:]}"}
