"""Grade a made-up class with ``make otter``'s homework; compare points with what is deserved.

Run ``PYTHONPATH=book python benchmarks/trial_otter.py FOLDER 40`` after installing
requirements-otter.txt and building the wheel (``make wheel``). Besides honest students the class
has one who changes the judge inside the notebook, one whose loop never ends, one who hands in a
neighbour's notebook, and one whose cell does not parse.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import nbformat

from adabook.homework import drawn_questions
from editions.otter import grade_class, homework_notebook, write_assignments

SHEET = "1"
SECONDS = 240  # for a submission; the endless one takes all of them
PATCH = """
import adabook.judge
from adabook.judge import Verdict

adabook.judge.verdict = lambda *asked: Verdict(True, "")
"""


def submission(student: str, right: int, extra: str = "") -> nbformat.NotebookNode:
    """The notebook of a student who has the first ``right`` answers right and the others wrong."""
    notebook, exercises = homework_notebook(SHEET)
    questions = drawn_questions(student, SHEET)
    notebook.cells[1].source = f'student_id = "{student}"'
    for place, exercise in enumerate(exercises):
        question = questions[exercise.name]
        answer = question.answer if place < right else next(iter(question.wrong.values()))
        cell = notebook.cells[4 + 2 * place]
        cell.source = cell.source.replace("None", repr(float(answer)))
    if extra:
        notebook.cells.append(nbformat.v4.new_code_cell(extra))
    return notebook


def make_class(size: int, folder: Path) -> dict[str, float]:
    """Write the notebooks of a class, and return the points that each student deserves."""
    folder.mkdir(parents=True)
    deserved = {}
    special = {
        1: ("patch", 2, PATCH),
        2: ("endless", 7, "while True:\n    pass"),
        3: ("unparsed", 3, "my_label = = 1"),
    }
    for number in range(size):
        kind, right, extra = special.get(number, ("honest", 7 - number % 8, ""))
        name = f"student-{number:02d}-{kind}"
        nbformat.write(submission(name, max(right, 0), extra), folder / f"{name}.ipynb")
        deserved[name] = 0.0 if kind == "endless" else float(max(right, 0))
    copied = "student-04-honest"
    name = f"student-{size:02d}-copy"
    text = (folder / f"{copied}.ipynb").read_text(encoding="utf-8")
    (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    deserved[name] = deserved[copied]
    return deserved


def main(folder: Path, size: int) -> int:
    """Grade the class and say where the points differ from what is deserved."""
    wheel = next(Path("dist").glob("*.whl"))
    write_assignments({}, {}, wheel, folder / "assignment", SHEET)
    deserved = make_class(size - 1, folder / "submissions")
    begun = time.perf_counter()
    out = folder / "points.csv"
    autograder = folder / "assignment" / "homework" / "autograder.zip"
    count = grade_class(autograder, folder / "submissions", out, SECONDS)
    with out.open(encoding="utf-8") as table:
        rows = {row["name"]: row for row in csv.DictReader(table)}
    wrong = [name for name, points in deserved.items() if float(rows[name]["points"]) != points]
    notes = {name: row["note"] for name, row in rows.items() if row["note"]}
    print(f"{count} submissions in {time.perf_counter() - begun:.0f} s; notes: {notes}")
    print(f"points differ from what is deserved: {wrong or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
