"""The chapters of a build as notebooks for JupyterLab, and a folder of them to work in."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import nbformat
from bs4 import BeautifulSoup, Tag
from nbformat import NotebookNode

from contents import keys, pages
from editions.lab_notebooks import Book, live_notebook
from editions.student import for_students
from editions.text import Block, blocks, read_works
from press.address import wheel_name

#: Pages and sources that answer what students are asked, or tell how to lead a class.
TEACHERS = ("book/teach", "book/topics", "notebooks/market", "notebooks/answer_key", "book/exam")
INSTALL = (
    "To run this notebook elsewhere, install the package once, from the folder that holds its "
    'file: <code>pip install "./{wheel}[notebooks]"</code>. '
    "The page offers that file beside this notebook, and a hand-out brings it."
)
# Labels, in the order in which the page counts them.
_EXERCISE = re.compile(r"^:+\{exercise\}[^\n]*\n:label: (\S+)", re.M)
_STATEMENT = re.compile(r"^:+\{prf:(?!proof)\w+\}[^\n]*\n:label: (\S+)", re.M)
# A label with the heading below it, and one of an exercise or a statement.
_PLACE = re.compile(r"^\(([\w-]+)\)=\n(?=(?:\([\w-]+\)=\n)*#+ (.+)$)|^:label: (\S+)", re.M)
_EQUATION = re.compile(r"\$\$ *\(([\w-]+)\)")


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
    chapters = _read_notebooks(root)
    book = replace(read_book(root, executed), wheel_address=wheel_address)
    live = {}
    for path, notebook in chapters.items():
        is_left_out = students and f"notebooks/{path.stem}" in TEACHERS
        if is_left_out or not (executed / path.name).exists():
            continue
        page = executed.parents[1] / "html" / "notebooks" / f"{path.stem}.html"
        edition = for_students(notebook) if students else notebook
        captions = {}
        if page.exists():
            shown = _captions(page, page.stat().st_mtime)
            captions = dict(zip(_shown_cells(notebook), shown, strict=True))
        captioned = replace(book, captions=captions)
        live[path.name] = live_notebook(edition, captioned)
    return live


def _read_notebooks(root: Path) -> dict[Path, NotebookNode]:
    """The chapters as their authors wrote them."""
    return {
        path: nbformat.read(path, as_version=4)
        for path in sorted((root / "notebooks").glob("*.ipynb"))
    }


def read_book(root: Path, executed: Path) -> Book:
    """Return what chapters need to know of each other; arguments as for `live_notebooks`."""
    titles: dict[str, str] = {}
    equations: dict[str, str] = {}
    numbers: dict[str, str] = {}
    places: dict[str, str] = {}
    number_by_stem = {page.stem: page.number for page in pages(root)}
    for path, notebook in _read_notebooks(root).items():
        text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        titles |= dict(_labelled(text))
        places |= _places(path.name, text)
        number_of_page = number_by_stem.get(path.stem, "")
        front = f"{number_of_page}." if number_of_page else ""
        # Exercises and theorems have a count each, as on the page.
        for labels in (_EXERCISE.findall(text), _STATEMENT.findall(text)):
            numbers |= {label: f"{front}{number}" for number, label in enumerate(labels, 1)}
        # Sphinx counts the equations through the book.
        for label in _EQUATION.findall(text):
            equations[label] = str(len(equations) + 1)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    install = INSTALL.format(wheel=wheel_name(project["version"]))
    works = read_works(root / "book" / "references.bib")
    values = read_values(executed)
    return Book(values, works, titles, equations, numbers, install, keys(root), places=places)


def _places(name: str, text: str) -> dict[str, str]:
    """Where each label of a notebook stands; JupyterLab names a heading by its words.

    >>> _places("a.ipynb", "(x)=\\n(y)=\\n## Sort the slopes\\n\\n:label: ex-z")
    {'x': 'a.ipynb#Sort-the-slopes', 'y': 'a.ipynb#Sort-the-slopes', 'ex-z': 'a.ipynb'}
    """
    places = {}
    for match in _PLACE.finditer(text):
        label, heading, inside = match.groups()
        is_plain = heading and not re.search(r"[$*`()]", heading)
        places[label or inside] = f"{name}#{heading.replace(' ', '-')}" if is_plain else name
    return places


def _shown_cells(notebook: NotebookNode) -> list[str]:
    """The ids of the code cells that a page shows."""
    return [
        cell.id
        for cell in notebook.cells
        if cell.cell_type == "code" and "remove-cell" not in cell.metadata.get("tags", [])
    ]


@cache
def _captions(page: Path, written: float) -> list[list[str]]:
    """The captions of every cell of a page that was written then: a page takes a second to read."""
    shown = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select("div.cell")
    return [[_caption(number) for number in cell.select(".adalib-number")] for cell in shown]


def _caption(number: Tag) -> str:
    """What a caption with this number says, where the cell does not say it itself."""
    caption = number.parent
    assert caption is not None
    number.name, number.attrs = "b", {}
    # A cell shows the words of a table's or a drawing's caption itself.
    itself = caption.name == "caption" or caption.find_parent(class_="adalib-drawing")
    return str(number if itself else caption.decode_contents())


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    """The labels of a text, each with the title of its block."""
    for part in blocks(text):
        if isinstance(part, Block):
            if "label" in part.options:
                yield part.options["label"], part.argument or part.name.removeprefix("prf:")
            yield from _labelled(part.body)


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
