"""Re-run the notebooks that a change in the package, the data or the pins can affect, and no others.

Jupyter Book keeps the outputs of a notebook until its own cells change. That is half of what outputs depend on: the
other half is the code that the cells call and the data that it reads. So every notebook gets a fingerprint of that
other half, found by reading (never by running) the code: the statements of ``adalib`` that its cells can reach (see
`dependencies`), ``data/`` where any of them reads it, and the pins. Comments do not count, docstrings only where
something reads them. When a notebook's fingerprint differs from the one kept with its last good run, its cached
outputs are dropped and Sphinx is told to read it again.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from dependencies import DATA, EVERYTHING, FILES, PACKAGE, Node, Package

PINS = ("requirements.txt", "constraints.txt")
MADE = "recorded.json"  # by the build itself, out of the notebooks (`recorded`); no output depends on it
STORE = ".fingerprints.json"
_READS_DOCUMENTATION = re.compile(r"__doc__|\bhelp\(|\binspect\b|\bgetsource\b|\bgetdoc\b")


def fingerprint(notebook: Path, root: Path, package: Package | None = None) -> str:
    """Hash everything outside a notebook's own cells that its outputs can depend on.

    Parameters
    ----------
    notebook : Path
        An .ipynb file.
    root : Path
        The folder that holds ``adalib/``, ``data/`` and the pins.
    package : Package, optional
        ``adalib/`` as read before, to spare reading it for every notebook.
    """
    package = package or Package(root / PACKAGE)
    code = notebook_code(notebook)
    reached = package.reached_by(code)
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for text in reached_code(package, reached, code):
        digest.update(text.encode())
    for file in sorted(reached_files(root, reached)):
        digest.update(f"\n{file.relative_to(root).as_posix()}\n".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def reached_code(package: Package, reached: set[Node], code: str) -> list[str]:
    """The statements that a notebook can reach, each with the name of its module, in a fixed order."""
    nodes = sorted((name, at) for name, at in reached if at >= 0 and not package.modules[name].only_names(at))
    seen = [package.modules[name].code(at) for name, at in nodes]
    if any(map(_READS_DOCUMENTATION.search, [code, *seen])):
        seen = [package.modules[name].source(at) for name, at in nodes]
    return [f"\n{name}\n{text}" for (name, _), text in zip(nodes, seen, strict=True)]


def reached_files(root: Path, reached: Iterable[Node]) -> set[Path]:
    """The files that count as they are: the pins, and whatever is read that is not Python."""
    files = {root / name for name in PINS if (root / name).exists()}
    if EVERYTHING in reached:
        return files | tree(root / PACKAGE) | tree(root / "data")
    for node in reached:
        if node == DATA:
            files |= tree(root / "data")
        elif node[1] == FILES:
            files |= {file for file in tree(root / PACKAGE / node[0].replace(".", "/")) if file.suffix != ".py"}
    return files


def notebook_code(notebook: Path) -> str:
    """The code cells of a notebook, in order."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def tree(folder: Path) -> set[Path]:
    """The files below a folder, without hidden and compiled ones, and without what the build makes."""
    return {
        file
        for file in folder.rglob("*")
        if file.is_file()
        and file.name != MADE
        and not any(part.startswith((".", "__pycache__")) for part in file.relative_to(folder).parts)
    }


# --- Sphinx ---------------------------------------------------------------------------------------------------------


def outdated(app, env, added, changed, removed) -> list[str]:
    """Before reading: find the notebooks whose fingerprint changed, drop their outputs, have Sphinx read them again."""
    path = Path(app.outdir).parent / STORE
    app.fingerprints = json.loads(path.read_text()) if path.exists() else {}
    notebooks = {doc: Path(env.doc2path(doc)) for doc in env.found_docs if env.doc2path(doc).endswith(".ipynb")}
    root = Path(app.srcdir)
    package = Package(root / PACKAGE)
    app.fingerprints_now = {doc: fingerprint(path, root, package) for doc, path in notebooks.items()}
    # What is fresh stays known; a stale one is known again only once it has run, and once it has been read.
    stale = {}
    for step in ("ran", "read"):
        kept = app.fingerprints.get(step, {})
        stale[step] = {doc for doc, now in app.fingerprints_now.items() if kept.get(doc) != now}
        app.fingerprints[step] = {doc: now for doc, now in app.fingerprints_now.items() if doc not in stale[step]}
    drop_cached({notebooks[doc].name for doc in stale["ran"]}, env.mystnb_config.execution_cache_path)
    return sorted((stale["ran"] | stale["read"]) - added)


def drop_cached(names: set[str], cache_path: str) -> None:
    """Drop all cached outputs of the notebooks with these file names, older versions of their cells included."""
    from jupyter_cache import get_cache

    if names and Path(cache_path).exists():
        cache = get_cache(cache_path)
        for record in cache.list_cache_records():
            if Path(record.uri).name in names:
                cache.remove_cache(record.pk)


def ran(app, docname: str) -> None:
    """A notebook has run without error: it need not run again, whatever becomes of this build."""
    _keep(app, "ran", docname)
    store(app)


def read(app, doctree) -> None:
    """A notebook has been read, and has run before."""
    _keep(app, "ran", app.env.docname)
    _keep(app, "read", app.env.docname)


def _keep(app, step: str, docname: str) -> None:
    if docname in app.fingerprints_now:
        app.fingerprints[step][docname] = app.fingerprints_now[docname]


def store(app, exception=None) -> None:
    """Write down what is good. What was read counts from the build's end on, when its pages have been written."""
    if hasattr(app, "fingerprints"):
        path = Path(app.outdir).parent / STORE
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(app.fingerprints, indent=1, sort_keys=True))
        draft.replace(path)


def setup(app) -> dict:
    app.connect("env-get-outdated", outdated)
    app.connect("doctree-read", read)
    app.connect("build-finished", store)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
