"""The chapters of a build as notebooks for JupyterLab, and a folder of them to work in."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_subtitle
from sphinx_proof.nodes import unenumerable_node

from contents import Page, keys, pages
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
# How JupyterLab names a heading; a page has curved marks for straight ones.
_AS_TYPED = str.maketrans("‘’“” ", "''\"\"-")
# A caption that the build has numbered.
_CAPTION = re.compile(
    r'<(figcaption|caption|p)\b[^>]*><a class="adalib-number"[^>]*>(.*?)</a>(.*?)</\1>', re.S
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
        captions = _captions(read_doctree(executed, page), [cell.id for cell in notebook.cells])
        live[page.path.name] = live_notebook(edition, book, captions)
    return live


def read_doctree(executed: Path, page: Page) -> nodes.document:
    """Return what the build read of a page."""
    kept = executed.parents[1] / ".doctrees" / f"{page.name}.doctree"
    if not kept.exists():
        raise FileNotFoundError(f"{kept}: is missing: run `make book` first")
    return pickle.loads(kept.read_bytes())


def read_book(root: Path, executed: Path) -> Book:
    """Return what chapters need to know of each other; arguments as for `live_notebooks`."""
    titles: dict[str, str] = {}
    equations: dict[str, str] = {}
    numbers: dict[str, str] = {}
    places: dict[str, str] = {}
    for page in pages(root):
        file = page.path.name
        for node in read_doctree(executed, page).findall(nodes.Element):
            label = node.get("label")
            if isinstance(node, nodes.math_block) and label:
                equations[label] = str(len(equations) + 1)  # counted through the book
            elif isinstance(node, (exercise_enumerable_node, unenumerable_node)):
                titles[label] = _title(node)
                numbers[label] = node["place"]
                places[label] = file
            elif isinstance(node, nodes.section) and page.path.suffix == ".ipynb":
                places |= dict.fromkeys(node["names"], _heading_place(file, node[0]))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    install = INSTALL.format(wheel=wheel_name(project["version"]))
    works = read_works(root / "book" / "references.bib")
    values = read_values(executed)
    return Book(values, works, titles, equations, numbers, install, keys(root), places=places)


def _title(node: nodes.Element) -> str:
    """The title of an exercise or a statement, without its kind and number."""
    if isinstance(node, exercise_enumerable_node):
        return "".join(subtitle.astext() for subtitle in node.findall(exercise_subtitle))
    return node["title"].strip(" ()")


def _heading_place(file: str, title: nodes.title) -> str:
    """Where a heading stands; JupyterLab names one by its words, if they are plain.

    >>> _heading_place("a.ipynb", nodes.title("", "Sort the slopes"))
    'a.ipynb#Sort-the-slopes'
    """
    words = title.astext().translate(_AS_TYPED)
    is_plain = len(title) == 1 and isinstance(title[0], nodes.Text) and "(" not in words
    return f"{file}#{words}" if is_plain else file


def _captions(doctree: nodes.document, ids: Sequence[str]) -> dict[str, list[str]]:
    """The captions of what the cells of a page show, by the ids of all its cells.

    A cell shows the words of a table's or a drawing's caption itself.
    """
    captions: dict[str, list[str]] = {}
    for cell in doctree.findall(lambda node: is_part(node, "cell_code")):
        for markup in map(nodes.raw.astext, cell.findall(nodes.raw)):
            for kind, number, words in _CAPTION.findall(markup.replace("&#x27;", "'")):
                itself = kind == "caption" or "adalib-drawing" in markup
                caption = f"<b>{number}</b>{'' if itself else words}"
                captions.setdefault(ids[cell["cell_index"]], []).append(caption)
    return captions


def is_part(node: nodes.Node, element: str) -> bool:
    """Whether a node is such a part of a notebook."""
    return isinstance(node, nodes.container) and node.get("nb_element") == element


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
