"""Write the editions: the student's sources, and folders of notebooks that read well in JupyterLab."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from adalib.teach.editions.blocks import Block, blocks
from adalib.teach.editions.cited import Citations
from adalib.teach.editions.glued import glued
from adalib.teach.editions.live import Book, live_notebook
from adalib.teach.editions.student import for_students, locked_quizzes

__all__ = ["book_of", "live_notebooks", "notebooks_in", "read_values", "refresh", "student_sources"]

#: Pages that answer what students are asked.
TEACHERS = ("book/teach", "notebooks/answer_key")
INSTALL = (
    "To run this notebook elsewhere, install the package with what notebooks need: <code>pip install "
    "'adalib[notebooks] @ file:///PATH/TO/{wheel}'</code>. <code>make wheel</code> builds that file."
)
_LINKED = ("adalib", "data", "pyproject.toml", "requirements.txt", "constraints.txt", "LICENSE")


def notebooks_in(root: Path) -> list[Path]:
    """The chapters of a tree, in order."""
    return sorted((root / "notebooks").glob("*.ipynb"))


def read_values(executed: Path) -> dict[str, str]:
    """The numbers that the chapters of a build glued; ``executed`` is its ``jupyter_execute/notebooks``."""
    values: dict[str, str] = {}
    for path in sorted(executed.glob("*.glue.json")):
        values |= glued(json.loads(path.read_text(encoding="utf-8")))
    if not values:
        raise FileNotFoundError(f"{executed} holds no numbers of a build: run `make book` first")
    return values


def book_of(root: Path, executed: Path) -> Book:
    """What chapters need to know of each other, from the sources below ``root`` and a build.

    Parameters
    ----------
    root : Path
        The folder with ``notebooks/``, ``book/`` and ``pyproject.toml``.
    executed : Path
        Where a build keeps what its notebooks glued, ``_build/jupyter_execute/notebooks``.
    """
    values = read_values(executed)
    titles, equations = {}, {}
    for path in notebooks_in(root):
        chapter = re.match(r"\d+", path.stem)
        front = f"{int(chapter[0])}." if chapter else ""
        text = "\n\n".join(c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown")
        titles |= dict(_labelled(text))
        for number, label in enumerate(re.findall(r"\$\$ *\(([\w-]+)\)", text), 1):
            equations[label] = f"{front}{number}"
    wheel = f"adalib-{_version(root)}-py3-none-any.whl"
    return Book(
        values, Citations.read(root / "book" / "references.bib"), titles, equations, INSTALL.format(wheel=wheel)
    )


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    for part in blocks(text):
        if isinstance(part, Block):
            if "label" in part.options:
                yield part.options["label"], part.argument or part.name.removeprefix("prf:")
            yield from _labelled(part.body)


def _version(root: Path) -> str:
    return re.search(r'^version = "([^"]+)"', (root / "pyproject.toml").read_text(encoding="utf-8"), re.M)[1]


def live_notebooks(root: Path, executed: Path, students: bool = False) -> dict[str, NotebookNode]:
    """Every chapter of a build for JupyterLab, by the name of its file.

    Parameters
    ----------
    root, executed
        As for `book_of`.
    students : bool
        Without solutions.
    """
    book = book_of(root, executed)
    built = [path for path in notebooks_in(root) if (executed / path.name).exists()]
    paths = [path for path in built if not (students and f"notebooks/{path.stem}" in TEACHERS)]
    read = {path.name: nbformat.read(path, as_version=4) for path in paths}
    return {name: live_notebook(for_students(nb, book.values) if students else nb, book) for name, nb in read.items()}


def refresh(target: Path, notebooks: Mapping[str, NotebookNode]) -> list[str]:
    """Write notebooks into a folder where their reader works: one that the reader has changed is kept.

    Returns
    -------
    list of str
        The names of those that were kept.
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
    return hashlib.sha256(file.read_bytes()).hexdigest()


def student_sources(root: Path, target: Path, values: Mapping[str, str]) -> None:
    """Write the sources of the student's book: no solution, no marked option, no teacher's page.

    Files that did not change are left alone, so that a second build is as quick as that of the book.

    Parameters
    ----------
    root : Path
        The folder of the book.
    target : Path
        Where the sources go.
    values : mapping of str to str
        The numbers that the explanations of a quiz quote, which are locked as text.
    """
    target.mkdir(parents=True, exist_ok=True)
    for name in _LINKED:
        if not (target / name).exists():
            (target / name).symlink_to(root / name)
    toc = (root / "_toc.yml").read_text(encoding="utf-8")
    named = re.findall(r"(?:root|file): *(\S+)", toc)
    left_out = {page for page in named if page in TEACHERS}
    _write(target / "_toc.yml", _shortened(toc, left_out))
    _write(target / "_config.yml", (root / "_config.yml").read_text(encoding="utf-8"))
    shutil.copytree(root / "book", target / "book", dirs_exist_ok=True, ignore=lambda _, names: _prose(names))
    for page in set(named) - left_out:
        source = next(root / f"{page}{suffix}" for suffix in (".md", ".ipynb") if (root / f"{page}{suffix}").exists())
        if source.suffix == ".md":
            text = locked_quizzes(source.read_text(encoding="utf-8"), values)
        else:
            notebook = for_students(nbformat.read(source, as_version=4), values)
            for cell in notebook.cells:
                if cell.cell_type == "markdown":
                    cell.source = _unlinked(cell.source, left_out)
            text = nbformat.writes(notebook) + "\n"
        _write(target / source.relative_to(root), _unlinked(text, left_out) if source.suffix == ".md" else text)


def _prose(names: list[str]) -> set[str]:
    return {name for name in names if name.endswith((".md", ".pyc")) or name == "__pycache__"}


def _shortened(toc: str, left_out: set[str]) -> str:
    """The table of contents without some pages, and without the parts that are then empty."""
    kept = [line for line in toc.split("\n") if not any(re.search(rf"file: *{page}$", line) for page in left_out)]
    text = "\n".join(kept)
    return re.sub(r"  - caption: [^\n]*\n    chapters:\n(?=  - caption|\Z)", "", text)


def _unlinked(text: str, left_out: set[str]) -> str:
    """A text whose links to pages that are not there are words."""
    for page in left_out:
        name = re.escape(page.rsplit("/", 1)[1])
        text = re.sub(rf"\[([^\]]*)\]\((?:[\w./]*/)?{name}\.(?:md|ipynb)(?:#[\w-]+)?\)", r"\1", text)
    return text


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
