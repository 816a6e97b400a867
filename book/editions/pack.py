"""The teacher's pack: a folder of what a term needs and students do not get, and one PDF of it."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
import numpy as np
from nbclient import NotebookClient
from nbformat import NotebookNode

from adabook.homework import COST, Question, drawn_questions
from adabook.tasks import PROOFS, Task
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from contents import keys
from editions.grading import grading_page
from editions.lab_notebooks import Book, live_text
from editions.text import read_works
from editions.writing import read_values

#: What the PDF holds, in the order of a term.
PRINTED = ("syllabus", "keys", "grading", "answers_to_prompts", "exam", "report")


def write_pack(
    root: Path, executed: Path, target: Path, secret: str, students: Sequence[str]
) -> list[Path]:
    """Write what only a teacher gets, in the order of a term; return the files to print."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    by_key = keys(root)
    exam = (root / "book" / "exam.md").read_text(encoding="utf-8")
    book = Book(
        read_values(executed), read_works(root / "book" / "references.bib"), chapters=by_key
    )
    (target / "exam.md").write_text(live_text(exam, book), encoding="utf-8")
    (target / "grading.md").write_text(grading_page(root), encoding="utf-8")
    key = nbformat.read(root / "notebooks" / "answer_key.ipynb", as_version=4)
    place = {"metadata": {"path": str(root / "notebooks")}}
    quiet = ["--IPKernelApp.log_level=ERROR"]  # the kernel would remark on its own transport
    NotebookClient(key, timeout=600, resources=place, extra_arguments=quiet).execute()
    glued = {**book.values, **_glued(key)}
    text = "\n\n".join(cell.source for cell in key.cells if cell.cell_type == "markdown")
    answers = live_text(text, Book(glued, book.works, chapters=by_key))
    (target / "answers_to_prompts.md").write_text(answers, encoding="utf-8")
    syllabus = (root / "book" / "syllabus.md").read_text(encoding="utf-8")
    (target / "syllabus.md").write_text(live_text(syllabus, book), encoding="utf-8")
    shutil.copy(root / "book" / "report.md", target)
    (target / "keys.md").write_text(keys_page(students, secret), encoding="utf-8")
    _write_points(students, secret, target / "points.csv")
    return [target / f"{name}.md" for name in PRINTED]


def keys_page(students: Sequence[str], secret: str) -> str:
    """Every student's answers, and a question to ask each of them, with its answer."""
    parts = ["# Keys, and a question for each student"]
    for student in students:
        drawn = drawn_questions(student, secret)
        rows = [
            f"| {name} | {_key(question)} | {question.points} |" for name, question in drawn.items()
        ]
        asked, answer = oral_question(drawn)
        table = "\n".join(["| question | answer | points |", "|---|---|---|", *rows])
        parts.append(f"## {student}\n\n{table}\n\n**Ask:** {asked}\n\n**Answer:** {answer}")
    return "\n\n".join(parts) + "\n"


def _key(question: Question | Task) -> str:
    """The answer to a question in a few words."""
    if isinstance(question, Question):
        return f"{round(question.answer, 5):g}"
    if question.variant in PROOFS:
        return f"*{question.variant}*: marked by a person"
    return f"*{question.variant}*, with {question.number:g}: tried by the grader"


def oral_question(drawn: Mapping[str, Question | Task]) -> tuple[str, str]:
    """A question about a student's own sheet that the sheet does not ask, and its answer."""
    question = drawn["bill"]
    assert isinstance(question, Question)
    acc = np.array(question.table)
    price = float(re.search(r"price ([\d.]+\d)", question.text)[1])  # type: ignore[index]
    higher = min((lam for lam in frontier(acc, COST).lam if lam > price), default=None)
    asked = f"In your question *bill* the price is {price:.5f}."
    if higher is None:
        reason = "at this price all have the cheapest already, and a higher price buys no more"
        return f"{asked} Which question changes its budget as the price rises, and why?", reason
    before = oracle_labels(acc, COST, price)
    after = oracle_labels(acc, COST, higher + 1e-9)
    row = int(np.flatnonzero(before != after)[0])
    low, high = int(after[row]), int(before[row])
    return (
        f"{asked} Which question is the first to change its budget as it rises, and where?",
        f"{'ABCD'[row]}, from {COST[high]:g} to {COST[low]:g}, at {higher:.4f}: the step brings "
        f"{acc[row, high] - acc[row, low]:.2f} and costs {COST[high] - COST[low]:g}.",
    )


def _write_points(students: Sequence[str], secret: str, file: Path) -> None:
    """Write a table to fill in by hand: a row for each student, and what questions are worth."""
    drawn = drawn_questions("", secret)
    with file.open("w", newline="", encoding="utf-8") as table:
        writer = csv.writer(table)
        writer.writerow(["student_id", *drawn, "points", "note"])
        of = [question.points for question in drawn.values()]
        writer.writerow(["(worth)", *of, sum(of), ""])
        writer.writerows([student, *[""] * (len(of) + 2)] for student in students)


def _glued(notebook: NotebookNode) -> dict[str, str]:
    """The numbers that an executed notebook glued, as text."""
    values = {}
    for output in (one for cell in notebook.cells for one in cell.get("outputs", [])):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
        if name:
            shown = output["data"]["application/papermill.record/text/plain"]
            values[name] = shown.strip("'\"")
    return values
