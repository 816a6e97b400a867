"""What code can reach in a package, found by reading it and never by running it.

A statement that only gives something a name (a function, a class, a constant, an import) is reached when somebody
reached uses that name; any other runs when its module is imported, and so is reached with it. Names are followed
through imports, through re-exports and through the maps of names that are loaded on first use (``_PUBLIC``), down to
the statement that defines them.

Where reading cannot tell what is used (``getattr`` on a module, a module imported by a computed name, a command line),
everything counts as used: a run too many is the only cost.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from statements import PACKAGE, Module, chain

# A node is a module with the place of a statement in it, or with one of these instead of a place:
WHOLE = -1  # all that is in the module and below it
IMPORTED = -2  # what happens when it is imported
FILES = -3  # the files in its folder, and below, that are not Python
Node = tuple[str, int]
EVERYTHING: Node = ("", WHOLE)
DATA: Node = ("data/", FILES)

_STARTS_PROGRAMS = re.compile(
    r"subprocess|\w*popen|system|spawn\w*|\w*exec\w*|eval|get_ipython|run(?:_\w+|py)?|importlib|import_module|__import__|which",
    re.IGNORECASE,
)
_IMPORTS_BY_NAME = ("import_module", "__import__", "exec", "eval", "run_module", "run_path")
_COMMAND = re.compile(r"\s*[%!]|\s*\??[\w.]+\?{1,2}\s*$")  # a line that IPython reads, not Python
_DATA = re.compile(r"(\.\./)?data(/.*)?")


class Package:
    """The modules of a package and what their statements use of one another."""

    def __init__(self, folder: Path):
        self.modules: dict[str, Module] = {}
        for file in sorted(folder.rglob("*.py")):
            parts = file.relative_to(folder).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            self.modules[name] = Module(name, file.read_text(encoding="utf-8"), is_package)
        self._uses: dict[Node, set[Node]] = {}
        self._names: dict[Node, set[Node]] = {}
        self._acting: dict[Node, bool] = {}

    def reached_by(self, code: str) -> set[Node]:
        """Everything that the cells of a notebook can reach."""
        lines = code.split("\n")
        commands = [line for line in lines if _COMMAND.match(line)]
        cells = Module("(cells)", "\n".join("pass" if line in commands else line for line in lines), is_notebook=True)
        nodes = list(ast.walk(cells.parsed))
        # A command line or a string may run the package where no import shows it.
        hidden = _starts_programs(nodes) and any(PACKAGE in text for text in _strings(nodes))
        if (not cells.sound and PACKAGE in code) or hidden or any(PACKAGE in line for line in commands):
            return {EVERYTHING}
        return self.closure({node for statement in cells.statements for node in self._used_in(cells, statement)})

    def closure(self, nodes: set[Node]) -> set[Node]:
        """The nodes, and all that they use, directly or not; only `EVERYTHING`, where it is among them."""
        seen, todo = set(), set(nodes)
        while todo and EVERYTHING not in todo:
            node = todo.pop()
            seen.add(node)
            todo |= self._used_by(node) - seen
        return {EVERYTHING} if todo else seen

    def _used_by(self, node: Node) -> set[Node]:
        if node not in self._uses:
            self._uses[node] = set(self._follow(*node))
        return self._uses[node]

    def _follow(self, name: str, at: int) -> Iterator[Node]:
        if at == FILES:
            return
        if at == WHOLE:
            if self.modules[name].is_package:
                yield (name, FILES)
            for other, module in self.modules.items():
                if f"{other}.".startswith(f"{name}."):
                    yield from ((other, i) for i in [IMPORTED, *range(len(module.statements))])
            return
        module = self.modules[name]
        if at >= 0:
            yield (name, IMPORTED)
            yield from self._names_in((name, at))
            return
        if not module.sound:
            yield EVERYTHING
        if name:
            yield (name.rpartition(".")[0], IMPORTED)
        for i, statement in enumerate(module.statements):
            if self._acts(name, i):
                yield (name, i)
            if isinstance(statement, ast.Import | ast.ImportFrom):
                yield from self._imported(module, statement)

    def _acts(self, name: str, at: int) -> bool:
        """Whether importing a statement may do more than give something a name."""
        module = self.modules[name]
        if module.only_names(at):
            return False
        if module.acts(at):
            return True
        if (name, at) not in self._acting:
            runs = {node for called in module.called_at_import(at) for node in self._behind(module, called, ["()"])}
            self._acting[name, at] = any(self._is_object(*node) for node in runs) or any(
                place == WHOLE or (place >= 0 and self.modules[where].touches_state(place))
                for where, place in self._by_name(runs)
            )
        return self._acting[name, at]

    def _by_name(self, nodes: set[Node]) -> set[Node]:
        """The nodes, and the statements that they use by name; not what importing their modules does."""
        seen, todo = set(), set(nodes)
        while todo:
            node = todo.pop()
            seen.add(node)
            if node[1] >= 0:
                todo |= self._names_in(node) - seen
        return seen

    def _names_in(self, node: Node) -> set[Node]:
        if node not in self._names:
            module = self.modules[node[0]]
            self._names[node] = set(self._used_in(module, module.statements[node[1]]))
        return self._names[node]

    def _is_object(self, name: str, at: int) -> bool:
        """Whether a statement makes an object, on which a call may leave a trace."""
        return at >= 0 and isinstance(self.modules[name].statements[at], ast.Assign | ast.AnnAssign)

    def _imported(self, module: Module, node: ast.AST) -> Iterator[Node]:
        """The modules that an import loads."""
        for base, name in module.imported(node):
            if base not in self.modules or name == "*":
                yield (base, WHOLE) if base in self.modules else EVERYTHING
                continue
            yield (base, IMPORTED)
            below = f"{base}.{name}".strip(".")
            if name and below in self.modules:
                yield (below, IMPORTED)

    def _used_in(self, module: Module, statement: ast.stmt) -> Iterator[Node]:
        """What one statement uses, wherever in it."""
        nodes = list(module.walk(statement))
        inner, paths = {}, {}
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._imported(module, node)
                if node is not statement:
                    inner.update(module.bound_by(node, -1))
            elif isinstance(node, ast.Attribute):
                root, path = chain(node)
                if root is not None and len(path) > len(paths.get(id(root), [])):
                    paths[id(root)] = path
        runs = _starts_programs(nodes)
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                yield from self._behind(module, node.id, paths.get(id(node), []), inner)
                if node.id == "globals" or (node.id == "__file__" and runs):
                    yield (module.name, WHOLE)
                if node.id == "__file__":
                    yield from self._beside(module, statement)
            elif isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                by_name = called in _IMPORTS_BY_NAME and not (node.args and isinstance(node.args[0], ast.Constant))
                # What `_names.lazy` imports is read off its maps, and `machines.need` imports other people's packages.
                if by_name and module.name not in ("_names", "machines"):
                    yield EVERYTHING
        for text in _strings(nodes):
            inside = text.removeprefix(f"{PACKAGE}.")
            if inside != text and inside in self.modules:
                yield (inside, WHOLE)
            elif text == PACKAGE and runs:
                yield EVERYTHING
            elif _DATA.fullmatch(text):
                yield DATA

    def _beside(self, module: Module, statement: ast.stmt) -> Iterator[Node]:
        """The files that a statement may read that knows where its own file lies: beside it, or as far as it climbs."""
        if any(_DATA.fullmatch(text) for text in _strings(ast.walk(statement))):
            return
        code = ast.unparse(statement)
        folders = module.name.split(".")[: None if module.is_package else -1]
        climbed = [m.group().count(".parent") - 1 for m in re.finditer(r"(\.parent\b)+", code)]
        climbed += [int(m[1]) for m in re.finditer(r"\.parents\[(\d+)\]", code)]
        keep = len(folders) - max(climbed, default=0)
        if keep >= 0:
            yield (".".join(folders[:keep]), FILES)

    def _behind(self, module: Module, name: str, path: list[str], inner: dict | None = None) -> set[Node]:
        """The statements behind a name as a module sees it, and behind attributes of it where it is a module."""
        bound = [inner[name]] if inner and name in inner else module.bindings.get(name, [])
        found = set()
        for kind, base, what in bound:
            if kind == "module":
                found |= self._attribute(base, path)
            elif kind == "member" and (base, what) != (module.name, name):
                found |= self._member(base, what, path)
            elif kind == "statement" and what >= 0:
                found.add((base, what))
        return found

    def _attribute(self, module: str, path: list[str]) -> set[Node]:
        # A module by itself, without an attribute (getattr, help, ...): there is no telling what is used of it.
        return self._member(module, path[0], path[1:]) if path else {(module, WHOLE)}

    def _member(self, base: str, name: str, path: list[str]) -> set[Node]:
        """What ``base.name`` is, followed to where it is defined."""
        if base not in self.modules:
            return {EVERYTHING}
        module, below = self.modules[base], f"{base}.{name}".strip(".")
        if set(module.bindings.get(name, [])) - {("member", base, name)}:  # not only ``from . import name``
            return {(base, IMPORTED)} | self._behind(module, name, path)
        if below in self.modules:
            return {(below, IMPORTED)} | self._attribute(below, path)
        if name in module.public:
            where = f"{base}.{module.public[name]}".strip(".")
            return {(base, IMPORTED)} | self._member(where, name, path)
        return {(base, IMPORTED)} if name.startswith("__") else {EVERYTHING}


def _strings(nodes: Iterable[ast.AST]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _starts_programs(nodes: Iterable[ast.AST]) -> bool:
    """Whether code names something that can start a program or import a module by its name."""
    names = (getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "name", None) for node in nodes)
    return any(isinstance(name, str) and _STARTS_PROGRAMS.fullmatch(name.split(".")[0]) for name in names)
