"""Write the editions: the student's sources, and folders of notebooks for JupyterLab."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from contents import keys, pages
from editions.live import Book, live_notebook
from editions.student import for_students
from editions.text import Block, blocks, read_works

#: Sources of the instructor's folder alone.
INSTRUCTORS = ("notebooks/answer_key", "book/exam")
#: Pages that answer what students are asked, or tell how to lead a class.
TEACHERS = ("book/teach", "book/topics", "notebooks/market", *INSTRUCTORS)
INSTALL = (
    "To run this notebook elsewhere, install the package once, from the folder that holds its "
    'file: <code>pip install "./{wheel}[notebooks]"</code>. '
    "The page offers that file beside this notebook, and a hand-out brings it."
)
# Labels, in the order in which the page counts them.
_EXERCISE = re.compile(r"^:+\{exercise\}[^\n]*\n:label: (\S+)", re.M)
_STATEMENT = re.compile(r"^:+\{prf:(?!proof)\w+\}[^\n]*\n:label: (\S+)", re.M)
_EQUATION = re.compile(r"\$\$ *\(([\w-]+)\)")
_LINKED = ("adalib", "data", "pyproject.toml", "requirements.txt", "constraints.txt", "LICENSE")


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


def live_notebooks(root: Path, executed: Path, students: bool = False) -> dict[str, NotebookNode]:
    """Return every chapter of a build for JupyterLab by file name; for students, unsolved.

    ``root`` holds ``notebooks/``, ``book/`` and ``pyproject.toml``; ``executed`` is as for
    `read_values`.
    """
    chapters = {
        path: nbformat.read(path, as_version=4)
        for path in sorted((root / "notebooks").glob("*.ipynb"))
    }
    book = _book_of(root, chapters, read_values(executed))
    live = {}
    for path, notebook in chapters.items():
        is_left_out = students and f"notebooks/{path.stem}" in TEACHERS
        if is_left_out or not (executed / path.name).exists():
            continue
        live[path.name] = live_notebook(for_students(notebook) if students else notebook, book)
    return live


def _book_of(root: Path, chapters: Mapping[Path, NotebookNode], values: Mapping[str, str]) -> Book:
    """What chapters need to know of each other."""
    titles: dict[str, str] = {}
    equations: dict[str, str] = {}
    numbers: dict[str, str] = {}
    number_by_stem = {page.stem: page.number for page in pages(root)}
    for path, notebook in chapters.items():
        text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        titles |= dict(_labelled(text))
        number_of_page = number_by_stem.get(path.stem, "")
        front = f"{number_of_page}." if number_of_page else ""
        # Exercises and theorems have a count each, as on the page.
        for labels in (_EXERCISE.findall(text), _STATEMENT.findall(text)):
            numbers |= {label: f"{front}{number}" for number, label in enumerate(labels, 1)}
        for number, label in enumerate(_EQUATION.findall(text), 1):
            equations[label] = f"{front}{number}"
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    install = INSTALL.format(wheel=f"adalib-{project['version']}-py3-none-any.whl")
    works = read_works(root / "book" / "references.bib")
    return Book(values, works, titles, equations, numbers, install, keys(root))


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


def student_sources(root: Path, target: Path) -> list[str]:
    """Write the sources of the student's book: no solution, no teacher's page.

    Returns the names of its notebooks. Files that did not change are left alone, so that a second
    build is as quick as that of the book.
    """
    target.mkdir(parents=True, exist_ok=True)
    for name in _LINKED:
        if not (target / name).exists():
            (target / name).symlink_to(root / name)
    toc = (root / "_toc.yml").read_text(encoding="utf-8")
    _write(target / "_toc.yml", _shortened(toc))
    _write(target / "_config.yml", (root / "_config.yml").read_text(encoding="utf-8"))
    rest = shutil.ignore_patterns("*.md", "*.pyc", "__pycache__")
    shutil.copytree(root / "book", target / "book", dirs_exist_ok=True, ignore=rest)
    notebooks = []
    for page in pages(root):
        if page.name in TEACHERS:
            continue
        source = page.path
        if source.suffix == ".md":
            text = _unlinked(_ours(source.read_text(encoding="utf-8")))
        else:
            notebook = for_students(nbformat.read(source, as_version=4))
            for cell in notebook.cells:
                if cell.cell_type == "markdown":
                    cell.source = _unlinked(cell.source)
            text = nbformat.writes(notebook) + "\n"
            notebooks.append(page.name)
        _write(target / source.relative_to(root), text)
    return notebooks


def _shortened(toc: str) -> str:
    """The table of contents without the teachers' pages; their part holds the homework."""
    kept = [
        line
        for line in toc.split("\n")
        if not re.search(rf"file: *(?:{'|'.join(TEACHERS)})$", line)
    ]
    return "\n".join(kept).replace("caption: For teachers", "caption: Homework")


def _ours(text: str) -> str:
    """A page without its section for the teacher, and without the way into the book to teach."""
    text = re.sub(r"^- \*\*To teach\*\*.*\n(?: +.*\n)*", "", text, flags=re.M)
    return re.sub(r"^## For the teacher\n.*?(?=^## |\Z)", "", text, flags=re.M | re.S)


def _unlinked(text: str) -> str:
    """A text whose links to the teachers' pages are words."""
    names = "|".join(page.rsplit("/", 1)[-1] for page in TEACHERS)
    return re.sub(
        rf"\[([^\]]*)\]\((?:[\w./]*/)?(?:{names})\.(?:md|ipynb)(?:#[\w-]+)?\)", r"\1", text
    )


def _write(path: Path, text: str) -> None:
    """Write a file, unless it holds this text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
