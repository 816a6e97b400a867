"""Run only those notebooks again that a change in package, data or pins can affect.

Jupyter Book keeps the outputs of a notebook until its own cells change. That is half of what
outputs depend on: the other half is the code that the cells call and the data that it reads. So
every notebook gets a fingerprint of that other half: the modules of our packages that its cells
name, all that these import (`grimp` reads the imports), the files next to them, ``data/``, and the
pins. Comments do not count. When the fingerprint differs from the one kept with the last good run,
the cached outputs are dropped and Sphinx is told to read the notebook again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import grimp

#: Our packages, each with the folder that it lies in.
PACKAGES = {"adalib": "", "adabook": "book"}
PINS = ("requirements.txt", "constraints.txt")
# By the build itself, out of the notebooks (`recorded`); no output depends on it
MADE = "recorded.json"
STORE = ".fingerprints.json"
# Code that starts programs or imports by a computed name may reach any module: a run too many is
# the only cost.
_ANYTHING = re.compile(
    r"subprocess|import_module|__import__|get_ipython|\bexec\(|\beval\(|^\s*[!%]", re.MULTILINE
)


class Package:
    """The modules of our packages below ``root``: their imports, and where public names live."""

    def __init__(self, root: Path):
        self.root = root
        self._content: dict[Path, bytes] = {}

    @cached_property
    def graph(self) -> grimp.ImportGraph:
        """Who imports whom, found by reading. The package that is read is the one in ``root``."""
        before = sys.path[:]
        sys.path[:0] = [str(self.root / folder) for folder in PACKAGES.values()]
        try:
            present = [name for name in PACKAGES if self.folder_of(name).is_dir()]
            return grimp.build_graph(*present, cache_dir=None)
        finally:
            sys.path[:] = before

    @cached_property
    def public(self) -> dict[str, set[str]]:
        """Every public name with the modules that an ``__init__`` loads it from on first use."""
        names: dict[str, set[str]] = {}
        inits = (
            (file, folder)
            for name, folder in PACKAGES.items()
            for file in self.folder_of(name).rglob("__init__.py")
        )
        for file, folder in inits:
            base = ".".join(file.parent.relative_to(self.root / folder).parts)
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.keyword) and node.arg == "submod_attrs":
                    for below, listed in ast.literal_eval(node.value).items():
                        for name in listed:
                            names.setdefault(name, set()).add(f"{base}.{below}")
        return names

    def reached_by(self, code: str) -> set[str]:
        """The modules that the cells of a notebook can reach."""
        if not any(name in code for name in PACKAGES):
            return set()
        if _ANYTHING.search(code):
            return set(self.graph.modules)
        words = set(re.findall(r"\w+", code))
        named = {
            module for name, modules in self.public.items() if name in words for module in modules
        }
        # A module may be named from any package above it: "from adabook.figures import
        # answers".
        named |= {module for module in self.graph.modules if set(module.split(".")) <= words}
        return named | {
            above for module in named for above in self.graph.find_upstream_modules(module)
        }

    def files_of(self, modules: set[str]) -> Iterator[Path]:
        """The source of the modules, and whatever else lies in their folders."""
        folders = set()
        for module in modules:
            path = self.folder_of(module)
            yield path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            folders.add(path if path.is_dir() else path.parent)
        for folder in folders - {self.folder_of(name) for name in PACKAGES}:
            yield from (file for file in tree(folder) if file.suffix != ".py")

    def folder_of(self, module: str) -> Path:
        """The path of a module, without a suffix, or of a package's folder."""
        names = module.split(".")
        return self.root.joinpath(PACKAGES[names[0]], *names)

    def content(self, file: Path) -> bytes:
        """A hash of a file as it counts: of Python what it says, without comments and layout."""
        if file not in self._content:
            raw = file.read_bytes()
            if file.suffix == ".py":
                raw = ast.dump(ast.parse(raw)).encode()
            self._content[file] = hashlib.sha256(raw).digest()
        return self._content[file]


def fingerprint(notebook: Path, root: Path, package: Package | None = None) -> str:
    """Hash everything outside a notebook's own cells that its outputs can depend on."""
    package = package or Package(root)
    reached = package.reached_by(notebook_code(notebook))
    files = {root / name for name in PINS if (root / name).exists()} | set(
        package.files_of(reached)
    )
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for file in sorted(files | (tree(root / "data") if reached else set())):
        digest.update(f"\n{file.relative_to(root).as_posix()}\n".encode())
        digest.update(package.content(file))
    return digest.hexdigest()


def notebook_code(notebook: Path) -> str:
    """The code cells of a notebook, in order."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def tree(folder: Path) -> set[Path]:
    """Return the files below a folder without hidden, compiled or built ones."""
    return {
        file
        for file in folder.rglob("*")
        if file.is_file()
        and file.name != MADE
        and not any(
            part.startswith((".", "__pycache__")) for part in file.relative_to(folder).parts
        )
    }


# Sphinx


def outdated(app, env, added, changed, removed) -> list[str]:
    """Before reading, drop the outputs of notebooks whose fingerprint changed.

    Sphinx then reads them again.
    """
    path = Path(app.outdir).parent / STORE
    app.fingerprints = json.loads(path.read_text()) if path.exists() else {}
    notebooks = {
        doc: Path(env.doc2path(doc))
        for doc in env.found_docs
        if env.doc2path(doc).endswith(".ipynb")
    }
    root = Path(app.srcdir)
    package = Package(root)
    app.fingerprints_now = {
        doc: fingerprint(path, root, package) for doc, path in notebooks.items()
    }
    # What is fresh stays known; a stale one is known again only once it has run, and once it has
    # been read.
    stale = {}
    for step in ("ran", "read"):
        kept = app.fingerprints.get(step, {})
        stale[step] = {doc for doc, now in app.fingerprints_now.items() if kept.get(doc) != now}
        app.fingerprints[step] = {
            doc: now for doc, now in app.fingerprints_now.items() if doc not in stale[step]
        }
    drop_cached(
        {notebooks[doc].name for doc in stale["ran"]}, env.mystnb_config.execution_cache_path
    )
    return sorted((stale["ran"] | stale["read"]) - added)


def drop_cached(names: set[str], cache_path: str) -> None:
    """Drop all cached outputs of these notebooks, those of older cells included."""
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
    """Note that a step of this notebook is done at its present fingerprint."""
    if docname in app.fingerprints_now:
        app.fingerprints[step][docname] = app.fingerprints_now[docname]


def store(app, exception=None) -> None:
    """Record which runs are good; what was read counts once its pages have been written."""
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
