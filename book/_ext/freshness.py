"""Re-run the notebooks that a change in the package, the data or the pins can affect, and no others.

Jupyter Book keeps the outputs of a notebook until its own cells change. That is half of what outputs depend on: the
other half is the code that the cells call and the data that it reads. So every notebook gets a fingerprint of that
other half, found by reading (never by running) the code: the modules of ``adalib`` that its cells name, the modules
that those import, ``data/`` where any of them reads it, and the pins. When a notebook's fingerprint differs from the
one kept with its last good run, its cached outputs are dropped and Sphinx is told to read it again.

Where reading cannot tell what is used, everything counts as used: a run too many is the only cost.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from pathlib import Path

PACKAGE = "adalib"
PINS = ("requirements.txt", "constraints.txt")
STORE = ".fingerprints.json"


def fingerprint(notebook: Path, root: Path) -> str:
    """Hash everything outside a notebook's own cells that its outputs can depend on.

    Parameters
    ----------
    notebook : Path
        An .ipynb file.
    root : Path
        The folder that holds ``adalib/``, ``data/`` and the pins.
    """
    package = Package(root / PACKAGE)
    code = notebook_code(notebook)
    modules = package.closure(package.named_by_notebook(code))
    files = {file for module in modules for file in package.files(module)}
    files.update(root / name for name in PINS if (root / name).exists())
    if "datasets.loading" in modules or reads_data(code) or any(reads_data(package.source(m)) for m in modules):
        files.update(tree(root / "data"))
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    if PACKAGE in code:
        digest.update(package.init_without_map().encode())
    for file in sorted(files):
        digest.update(f"\n{file.relative_to(root).as_posix()}\n".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def notebook_code(notebook: Path) -> str:
    """The code cells of a notebook, in order."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def reads_data(code: str) -> bool:
    """Whether code names the data folder in a string."""
    return re.search(r"""["'](\.\./)?data(/|["'])""", code) is not None


def tree(folder: Path) -> list[Path]:
    """The files below a folder, without hidden and compiled ones."""
    return [
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(part.startswith((".", "__pycache__")) for part in file.relative_to(folder).parts)
    ]


class Package:
    """The modules of a package and what they import of one another, read from their source.

    A module is called by its dotted name inside the package: "oracle", "explorer", "explorer.page".
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.init = folder / "__init__.py"
        self.modules = {}
        for file in tree(folder):
            if file.suffix == ".py" and file != self.init:
                parts = file.relative_to(folder).with_suffix("").parts
                self.modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
        self.public = self._public_map()

    def source(self, module: str) -> str:
        return self.modules[module].read_text(encoding="utf-8")

    def files(self, module: str) -> list[Path]:
        """A module's file; for a package's own module, also the files in it that are not Python."""
        file = self.modules[module]
        if file.name != "__init__.py":
            return [file]
        return [file, *(f for f in tree(file.parent) if f.suffix != ".py")]

    def closure(self, modules: set[str]) -> set[str]:
        """The modules, and all that they import of the package, directly or not."""
        seen, todo = set(), set(modules)
        while todo:
            module = todo.pop()
            seen.add(module)
            todo |= self.named_by_module(module) - seen
        return seen

    def named_by_notebook(self, code: str) -> set[str]:
        """The modules that a notebook's code names; all of them where that cannot be told."""
        lines = code.split("\n")
        commands = [line for line in lines if re.match(r"\s*[%!]", line)]
        plain = "\n".join("pass" if line in commands else line for line in lines)
        try:
            parsed = ast.parse(plain)
        except SyntaxError:
            return set(self.modules) if PACKAGE in code else set()
        # A command line or a string may run the package where no import shows it.
        strings = [n.value for n in ast.walk(parsed) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        hidden = re.compile(rf"^{PACKAGE}$|{PACKAGE}\.\w|-m {PACKAGE}")
        if any(PACKAGE in line for line in commands) or any(hidden.search(s) for s in strings):
            return set(self.modules)
        return self._named(parsed, within="")

    def named_by_module(self, module: str) -> set[str]:
        """The modules that a module of the package imports."""
        is_package = self.modules[module].name == "__init__.py"
        return self._named(ast.parse(self.source(module)), within=module if is_package else module.rpartition(".")[0])

    def init_without_map(self) -> str:
        """``__init__.py`` without its map of public names: the modules that a name leads to are counted instead."""
        lines = self.init.read_text(encoding="utf-8").split("\n")
        node = self._map_node()
        return "\n".join(lines if node is None else lines[: node.lineno - 1] + lines[node.end_lineno :])

    def _map_node(self) -> ast.Assign | None:
        for node in ast.parse(self.init.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_PUBLIC":
                return node
        return None

    def _public_map(self) -> dict[str, str]:
        node = self._map_node()
        return {} if node is None else ast.literal_eval(node.value)

    def _named(self, parsed: ast.Module, within: str) -> set[str]:
        """Modules named by imports, and by attributes of the package under whatever name it was imported."""
        everything = set(self.modules)
        found, aliases, attributes = set(), set(), {}
        for node in ast.walk(parsed):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                attributes[id(node.value)] = node.attr
            elif isinstance(node, ast.Import):
                for name in node.names:
                    if name.name == PACKAGE:
                        aliases.add(name.asname or PACKAGE)
                    elif name.name.startswith(f"{PACKAGE}."):
                        found |= self._at(name.name.removeprefix(f"{PACKAGE}."))
                        aliases |= set() if name.asname else {PACKAGE}
            elif isinstance(node, ast.ImportFrom):
                base = self._base(node, within)
                if base is not None:
                    found |= set().union(*(self._from(base, name.name) for name in node.names))
            elif isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if called in ("import_module", "__import__"):
                    return everything
        for node in ast.walk(parsed):
            if isinstance(node, ast.Name) and node.id in aliases:
                # Without an attribute (getattr, help, ...) there is no telling what is used.
                found |= self._from("", attributes[id(node)]) if id(node) in attributes else everything
        return found

    def _base(self, node: ast.ImportFrom, within: str) -> str | None:
        """What a ``from ... import`` imports from, as a name inside the package; None if it is another package."""
        if node.level == 0:
            if node.module == PACKAGE:
                return ""
            return node.module.removeprefix(f"{PACKAGE}.") if node.module.startswith(f"{PACKAGE}.") else None
        parts = within.split(".") if within else []
        parts = parts[: len(parts) - (node.level - 1)]
        return ".".join(parts + (node.module.split(".") if node.module else []))

    def _from(self, base: str, name: str) -> set[str]:
        """The modules behind ``from base import name``."""
        dotted = f"{base}.{name}" if base else name
        if dotted in self.modules:
            return self._at(dotted)
        if base:
            return self._at(base)
        if name in self.public:
            return self._at(self.public[name])
        return set() if name.startswith("__") else set(self.modules)

    def _at(self, module: str) -> set[str]:
        """A module and the packages that hold it; everything if there is no such module."""
        parts = module.split(".")
        chain = {".".join(parts[: i + 1]) for i in range(len(parts))}
        return chain if chain <= set(self.modules) else set(self.modules)


# --- Sphinx ---------------------------------------------------------------------------------------------------------


def outdated(app, env, added, changed, removed) -> list[str]:
    """Before reading: find the notebooks whose fingerprint changed, drop their outputs, have Sphinx read them again."""
    store = Path(app.outdir).parent / STORE
    kept = json.loads(store.read_text()) if store.exists() else {}
    notebooks = {doc: Path(env.doc2path(doc)) for doc in env.found_docs if env.doc2path(doc).endswith(".ipynb")}
    app.fingerprints_now = {doc: fingerprint(path, Path(app.srcdir)) for doc, path in notebooks.items()}
    stale = {doc for doc, now in app.fingerprints_now.items() if kept.get(doc) != now}
    # What is fresh stays known; a stale one is known again only once it has run.
    app.fingerprints_kept = {doc: now for doc, now in app.fingerprints_now.items() if doc not in stale}
    drop_cached({notebooks[doc].name for doc in stale}, env.mystnb_config.execution_cache_path)
    return sorted(stale - added)


def drop_cached(names: set[str], cache_path: str) -> None:
    """Drop all cached outputs of the notebooks with these file names, older versions of their cells included."""
    from jupyter_cache import get_cache

    if names and Path(cache_path).exists():
        cache = get_cache(cache_path)
        for record in cache.list_cache_records():
            if Path(record.uri).name in names:
                cache.remove_cache(record.pk)


def remember(app, doctree) -> None:
    """A notebook that has been read has run without error: its fingerprint is good."""
    if app.env.docname in app.fingerprints_now:
        app.fingerprints_kept[app.env.docname] = app.fingerprints_now[app.env.docname]


def store(app, exception) -> None:
    """Keep the good fingerprints, also when a later page failed: what ran need not run again."""
    if hasattr(app, "fingerprints_kept"):
        text = json.dumps(app.fingerprints_kept, indent=1, sort_keys=True)
        (Path(app.outdir).parent / STORE).write_text(text)


def setup(app) -> dict:
    app.connect("env-get-outdated", outdated)
    app.connect("doctree-read", remember)
    app.connect("build-finished", store)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
