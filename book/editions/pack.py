"""The teacher's pack: a folder of what a term needs and students do not get, and one PDF of it.

The syllabus, which students do get, is a PDF of its own. Links lead to the book at its address,
`ADALIB_BOOK_URL`, or else to the one that is built beside the pack.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from adabook.homework import Question, drawn_questions
from adabook.tasks import PROOFS, Task
from contents import keys, pages
from editions.grading import grading_page
from editions.lab_notebooks import Book, live_text
from editions.oral import oral_question
from editions.text import read_works
from editions.writing import read_values

#: What the PDF holds, in the order of a term.
PRINTED = ("keys", "grading", "answers_to_prompts", "exam", "report")
#: What a teacher hands out.
HANDED_OUT = "syllabus"
_LINK = re.compile(r"""(?P<words>\[[^\[\]]*\])\((?P<target>[^()\s]+)\)|href="(?P<href>[^"]+)\"""")


def write_pack(
    root: Path,
    executed: Path,
    target: Path,
    secret: str,
    students: Sequence[str],
    kind: str = "homework",
) -> list[Path]:
    """Write what only a teacher gets, in the order of a term; return the files to print."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o700, parents=True)
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
    (target / "keys.md").write_text(keys_page(students, secret, kind), encoding="utf-8")
    _write_points(students, secret, target / "points.csv", kind)
    for file in target.glob("*.md"):
        file.write_text(linked(file.read_text(encoding="utf-8"), root), encoding="utf-8")
    return [target / f"{name}.md" for name in PRINTED]


def linked(text: str, root: Path, address: str | None = None) -> str:
    """Lead every link to a page to the book at an address, or to the one beside the pack.

    >>> from contents import ROOT
    >>> linked("[five roads](../notebooks/roads.ipynb)", ROOT, "https://a.example/book")
    '[five roads](https://a.example/book/notebooks/roads.html)'
    >>> linked("[LICENSE](../LICENSE), [*x*](https://b.example)", ROOT)
    'LICENSE, [*x*](https://b.example)'
    """
    book = address or os.environ.get("ADALIB_BOOK_URL", "").rstrip("/") or "../html"
    names = {page.stem: page.name for page in pages(root)}

    def led(target: str) -> str:
        """Where a target leads; nowhere, if the book has no such page."""
        path, mark, place = target.partition("#")
        stem, _, kind = path.rpartition("/")[2].rpartition(".")
        place = place.lower() if kind == "ipynb" else place  # as the page spells its headings
        return f"{book}/{names[stem]}.html{mark}{place}" if stem in names else ""

    def new(match: re.Match) -> str:
        target = match["target"] or match["href"]
        if re.match(r"https?:|mailto:", target):
            return match[0]
        found = led(target)
        if match["href"]:
            return f'href="{found}"'
        return f"{match['words']}({found})" if found else match["words"][1:-1]

    return _LINK.sub(new, text)


def keys_page(students: Sequence[str], secret: str, kind: str = "homework") -> str:
    """Every student's answers, and a question to ask each of them, with its answer."""
    parts = ["# Keys, and a question for each student"]
    for student in students:
        drawn = drawn_questions(student, secret, kind)
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
        return f"{round(float(question.answer), 5):g}"
    if question.variant in PROOFS:
        return f"*{question.variant}*: marked by a person"
    return f"*{question.variant}*, with {question.number:g}: tried by the grader"


def _write_points(students: Sequence[str], secret: str, file: Path, kind: str) -> None:
    """Write a table to fill in by hand: a row for each student, and what questions are worth."""
    drawn = drawn_questions("", secret, kind)
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
