"""What a class is handed: the student's book with its notebooks, and the teacher's own folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from contents import keys
from editions.grading import grading_page
from editions.live import Book, live_text
from editions.text import read_works
from editions.writing import live_notebooks, read_values

_START = """# Start here

**To read**, open `html/index.html` in a browser. Sliders, quizzes and exercises with a short
answer work there; nothing is installed and nothing is sent.

**To run the notebooks** you need Python 3.11 or newer and the file `{wheel}`, which your teacher
hands out next to this folder. Put it into this folder, and there run

    python3 -m venv venv
    venv/bin/pip install "./{wheel}[notebooks]"
    venv/bin/python check_environment.py
    venv/bin/jupyter lab notebooks

On Windows write `py` for `python3` and `venv\\Scripts\\` for `venv/bin/`. The third line says
whether all is well. Exercises are numbered alike in book and notebooks.

**On a Chromebook or a tablet**, where nothing can be installed, read the book at your teacher's
address instead of from this folder; the cells of its chapters then run in the page.

The text is under CC BY 4.0 and the code under the MIT licence; `LICENSE` has both.
"""
_CHECK = """import sys

if sys.version_info < (3, 11):
    sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0])
try:
    import jupyterlab, plotly

    import adalib
except ImportError as error:
    sys.exit(f"{error.name} is missing: install the package as START-HERE.md says")
table = adalib.load("word-fewshot").table()
assert round(adalib.frontier(table.acc, table.cost).at(2).cost, 6) <= 2
print("All is well: open the notebooks.")
"""


def hand_out(root: Path, built: Path, target: Path) -> None:
    """Zip the student's book, which is built in ``built``, with its notebooks.

    The package lies next to the zip: it is large, and a class installs it once.
    """
    wheel = next((root / "dist").glob("*.whl"))
    for old in target.glob("*.whl"):
        old.unlink()
    shutil.copy(wheel, target)
    folder = target / "student"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built / "html", folder / "html", ignore=shutil.ignore_patterns("*.whl"))
    (folder / "notebooks").mkdir()
    executed = built / "jupyter_execute" / "notebooks"
    for file, notebook in live_notebooks(root, executed, students=True).items():
        nbformat.write(notebook, folder / "notebooks" / file)
    shutil.copy(root / "LICENSE", folder)
    (folder / "START-HERE.md").write_text(_START.format(wheel=wheel.name), encoding="utf-8")
    (folder / "check_environment.py").write_text(_CHECK, encoding="utf-8")
    zipped = Path(shutil.make_archive(str(folder), "zip", target, "student"))
    size = zipped.stat().st_size / 1e6
    print(f"To hand out:  {zipped} ({size:.0f} MB) and, to run notebooks, {target / wheel.name}")


def write_instructor(root: Path, executed: Path, target: Path) -> None:
    """Write what only a teacher gets: the exam, answers to prompts, and notes on grading."""
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
    NotebookClient(
        key, timeout=600, resources={"metadata": {"path": str(root / "notebooks")}}
    ).execute()
    glued = {**book.values, **_glued(key)}
    text = "\n\n".join(cell.source for cell in key.cells if cell.cell_type == "markdown")
    answers = live_text(text, Book(glued, book.works, chapters=by_key))
    (target / "answers_to_prompts.md").write_text(answers, encoding="utf-8")
    shutil.copy(root / "book" / "report.md", target)


def _glued(notebook: NotebookNode) -> dict[str, str]:
    """The numbers that an executed notebook glued, as text."""
    values = {}
    for output in (one for cell in notebook.cells for one in cell.get("outputs", [])):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
        if name:
            shown = output["data"]["application/papermill.record/text/plain"]
            values[name] = shown.strip("'\"")
    return values
