"""Take the outputs of the book's own runs over into the student's book, so that nothing runs twice.

The student's notebooks are the book's without the cells of the solutions, and no other cell uses a
name that a solution made (``tests/adabook/test_editions.py``). So the outputs of the cells that are
left are those of the book. They go into the cache from which Jupyter Book takes outputs, and the
fingerprints that vouch for them go next to it (``book/_ext/freshness.py``).
"""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from nbformat import NotebookNode

from _ext.freshness import STORE, Package, fingerprint
from editions.student import without_solutions

_CACHE = Path("_build", ".jupyter_cache")


def take_runs(root: Path, target: Path, names: list[str]) -> list[str]:
    """Give the notebooks ``names`` of the student's sources in ``target`` the outputs of the book.

    A name is a page's, such as "notebooks/02_oracle". Returns the names of those that have outputs
    now; the others run when the student's book is built.
    """
    ours = get_cache(root / _CACHE)
    theirs = get_cache(target / _CACHE)
    store = target / "_build" / STORE
    store.parent.mkdir(parents=True, exist_ok=True)
    fingerprints = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    ran = fingerprints.setdefault("ran", {})
    package = Package(target)
    taken = []
    for name in names:
        path = target / f"{name}.ipynb"
        executed = _executed(root / f"{name}.ipynb", ours)
        if executed is None:
            continue
        notebook = _with_outputs(nbformat.read(path, as_version=4), executed)
        bundle = CacheBundleIn(notebook, str(path))
        theirs.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        ran[name] = fingerprint(path, target, package)
        taken.append(name)
    store.write_text(json.dumps(fingerprints, indent=1, sort_keys=True), encoding="utf-8")
    return taken


def _executed(path: Path, cache: JupyterCacheAbstract) -> NotebookNode | None:
    """A notebook of the book with its outputs, or None if the book has not run it."""
    try:
        return cache.merge_match_into_notebook(nbformat.read(path, as_version=4))[1]
    except KeyError:
        return None


def _with_outputs(student: NotebookNode, executed: NotebookNode) -> NotebookNode:
    """The student's notebook with the outputs of the same cells of the book's."""
    ours = [cell for cell in without_solutions(executed.cells) if cell.cell_type == "code"]
    theirs = [cell for cell in student.cells if cell.cell_type == "code"]
    for cell, source in zip(theirs, ours, strict=True):
        if cell.source.strip() != source.source.strip():
            raise ValueError(f"the cell that begins {cell.source[:40]!r} is not in the book")
        cell.outputs = source.outputs
        cell.execution_count = source.execution_count
    if "widgets" in executed.metadata:
        student.metadata["widgets"] = executed.metadata["widgets"]
    return student
