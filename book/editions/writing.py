"""The chapters of a build as notebooks for JupyterLab, and a folder of them to work in."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from contents import keys, pages
from editions.facts import FACTS
from editions.lab_notebooks import Book, live_notebook
from editions.student import for_students
from editions.text import read_works
from press.address import wheel_name

#: Pages and sources that answer what students are asked, or tell how to lead a class.
TEACHERS = ("book/teach", "book/topics", "notebooks/market", "notebooks/answer_key", "book/exam")
INSTALL = (
    "To run this notebook elsewhere, install the package once, from the folder that holds its "
    'file: <code>pip install "./{wheel}[notebooks]"</code>. '
    "The page offers that file beside this notebook, and a hand-out brings it."
)


def read_values(executed: Path) -> dict[str, str]:
    """Return the numbers that a build's chapters glued; ``executed`` holds its notebooks."""
    values: dict[str, str] = {}
    for path in sorted(executed.glob("*.glue.json")):
        for name, output in json.loads(path.read_text(encoding="utf-8")).items():
            if "text/plain" in output["data"]:
                values[name] = output["data"]["text/plain"].strip("'\"")
    if not values:
        raise FileNotFoundError(f"{executed} holds no numbers of a build: run `make book` first")
    return values


def live_notebooks(
    root: Path, executed: Path, students: bool = False, wheel_address: str = ""
) -> dict[str, NotebookNode]:
    """Return every chapter of a build for JupyterLab by file name; for students, unsolved.

    ``root`` holds ``notebooks/``, ``book/`` and ``pyproject.toml``; ``executed`` is as for
    `read_values`. With a ``wheel_address`` a first cell installs the package where it is missing.
    """
    book = replace(read_book(root, executed), wheel_address=wheel_address)
    live = {}
    for page in pages(root):
        if page.path.suffix == ".md" or (students and page.name in TEACHERS):
            continue
        notebook = nbformat.read(page.path, as_version=4)
        edition = for_students(notebook) if students else notebook
        live[page.path.name] = live_notebook(edition, book, book.captions[page.name])
    return live


def read_book(root: Path, executed: Path) -> Book:
    """Return what chapters need to know of each other; arguments as for `live_notebooks`."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Book(
        values=read_values(executed),
        works=read_works(root / "book" / "references.bib"),
        install=INSTALL.format(wheel=wheel_name(project["version"])),
        chapters=keys(root),
        **json.loads((executed / FACTS).read_text(encoding="utf-8")),
    )


def refresh(target: Path, notebooks: Mapping[str, NotebookNode]) -> list[str]:
    """Write notebooks into a folder where their reader works.

    Return those kept because the reader changed them.
    """
    target.mkdir(parents=True, exist_ok=True)
    memory = target / ".written.json"
    written = json.loads(memory.read_text(encoding="utf-8")) if memory.exists() else {}
    kept = []
    for name, notebook in notebooks.items():
        file = target / name
        if file.exists() and written.get(name) != _digest(file):
            kept.append(name)
            continue
        nbformat.write(notebook, file)
        written[name] = _digest(file)
    memory.write_text(json.dumps(written, indent=1), encoding="utf-8")
    return kept


def _digest(file: Path) -> str:
    """A file's SHA-256."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
