"""A module as a list of statements: what each one binds, imports, runs and says.

`dependencies` joins these lists into what code can reach. Nothing is run.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from functools import cached_property

PACKAGE = "adalib"
_MUTATES = ("append", "add", "update", "extend", "insert", "setdefault", "pop", "remove", "clear", "register")
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_IMPORTS = ast.Import | ast.ImportFrom

# What a name stands for: ("statement", module, its place), ("module", its name, "") or ("member", module, name).
Binding = tuple[str, str, int | str]


class Module:
    """The statements of one file (or of a notebook's cells), by their place in it.

    Parameters
    ----------
    name : str
        Its dotted name inside the package, "" for the package itself.
    text : str
        Its source.
    is_package : bool
        Whether the file is an ``__init__.py``.
    is_notebook : bool
        Whether the text is the cells of a notebook, which all run.
    """

    def __init__(self, name: str, text: str, is_package: bool = False, is_notebook: bool = False):
        self.name, self.text, self.is_package, self.is_notebook = name, text, is_package, is_notebook
        try:
            self.parsed, self.sound = ast.parse(text), True
        except SyntaxError:
            self.parsed, self.sound = ast.parse(""), False
        self.statements = self.parsed.body
        self._touches: dict[int, bool] = {}
        self.lazy_annotations = any(
            isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in self.statements
        )

    @cached_property
    def public(self) -> dict[str, str]:
        """Names that are loaded on first use -> the module below this one that defines them."""
        for node in self.statements:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_PUBLIC":
                return ast.literal_eval(node.value)
        return {}

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """What each name at the top of the module stands for; several things, where it is bound several times."""
        bound: dict[str, list[Binding]] = {}
        for at, statement in enumerate(self.statements):
            for node in _at_the_top(statement):
                for name, binding in self.bound_by(node, at).items():
                    if not self.is_notebook or binding[0] != "statement":
                        bound.setdefault(name, []).append(binding)
        return bound

    def bound_by(self, node: ast.AST, at: int) -> dict[str, Binding]:
        """The names that one node binds."""
        here = ("statement", self.name, at)
        if isinstance(node, ast.Import):
            inside = {a.asname or a.name.split(".")[0]: a for a in node.names}
            return {name: self._module(a, here) for name, a in inside.items()}
        if isinstance(node, ast.ImportFrom):
            base = self.base(node)
            return {a.asname or a.name: here if base is None else ("member", base, a.name) for a in node.names}
        if isinstance(node, _FUNCTIONS | ast.ClassDef):
            return {node.name: here}
        return {node.id: here} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else {}

    def _module(self, alias: ast.alias, here: Binding) -> Binding:
        if alias.name.split(".")[0] != PACKAGE:
            return here
        return ("module", alias.name[len(PACKAGE) + 1 :] if alias.asname else "", "")

    def imported(self, node: ast.AST) -> list[tuple[str, str]]:
        """What an import names of the package: a module, and a name in it ("" for the module itself)."""
        if isinstance(node, ast.Import):
            return [(a.name[len(PACKAGE) + 1 :], "") for a in node.names if a.name.split(".")[0] == PACKAGE]
        base = self.base(node) if isinstance(node, ast.ImportFrom) else None
        return [] if base is None else [(base, a.name) for a in node.names]

    def base(self, node: ast.ImportFrom) -> str | None:
        """What a ``from ... import`` imports from, as a name inside the package; None if it is another package."""
        if node.level == 0:
            first, _, rest = node.module.partition(".")
            return rest if first == PACKAGE else None
        parts = self.name.split(".") if self.name else []
        up = node.level - (1 if self.is_package else 0)
        return ".".join(parts[: len(parts) - up] + (node.module.split(".") if node.module else []))

    def only_names(self, at: int) -> bool:
        """Whether a statement is for the reader, or a table of names that is followed instead."""
        statement = self.statements[at]
        if isinstance(statement, ast.If):
            test = ast.unparse(statement.test)
            return test.endswith("TYPE_CHECKING") or test.startswith("__name__ ==")
        if isinstance(statement, ast.Assign):
            named = {node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
            return bool(named) and named <= {"_PUBLIC", "_MOVED", "__all__"}
        return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)

    def acts(self, at: int) -> bool:
        """Whether a statement is of a kind that does more than give something a name."""
        statement = self.statements[at]
        if isinstance(statement, ast.Assign):
            gives_a_name = all(isinstance(target, ast.Name | ast.Tuple) for target in statement.targets)
            return not gives_a_name or "__getattr__" in ast.unparse(statement.targets[0])
        return not isinstance(statement, _FUNCTIONS | _IMPORTS | ast.ClassDef | ast.AnnAssign | ast.Pass)

    def called_at_import(self, at: int) -> set[str]:
        """The names whose code runs when this statement is imported: decorators, bases, and whatever is called."""
        return set(_called(self.statements[at]))

    def touches_state(self, at: int) -> bool:
        """Whether the code of a statement may change an object that was made at the top of a module."""
        if at not in self._touches:
            self._touches[at] = self._looked_through(at)
        return self._touches[at]

    def _looked_through(self, at: int) -> bool:
        inside = list(ast.walk(self.statements[at]))
        local = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        local |= {n.arg for n in inside if isinstance(n, ast.arg)}

        def shared(node: ast.AST) -> bool:
            root, path = chain(node)
            found = self.bindings.get(root.id, []) if root is not None and root.id not in local else []
            return bool(path or isinstance(node, ast.Subscript)) and any(self._is_object(binding) for binding in found)

        for node in inside:
            if isinstance(node, ast.Global):
                return True
            if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load) and shared(node):
                return True
            call = node.value if isinstance(node, ast.Expr) else node  # with its result dropped, it is there to act
            method = call.func if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
            if method is not None and (call is not node or method.attr in _MUTATES) and shared(method):
                return True
        return False

    def _is_object(self, binding: Binding) -> bool:
        kind, module, at = binding
        if kind == "statement" and module == self.name:
            return isinstance(self.statements[at], ast.Assign | ast.AnnAssign)
        return kind == "member"  # of another module: it may be

    def walk(self, statement: ast.AST) -> Iterator[ast.AST]:
        """All nodes of a statement, without annotations where they are never evaluated."""
        todo = [statement]
        while todo:
            node = todo.pop()
            yield node
            for field, value in ast.iter_fields(node):
                if self.lazy_annotations and field in ("annotation", "returns"):
                    continue
                todo.extend(n for n in (value if isinstance(value, list) else [value]) if isinstance(n, ast.AST))

    def source(self, at: int) -> str:
        """A statement as it is written."""
        node = self.statements[at]
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        return "\n".join(self.text.split("\n")[first - 1 : node.end_lineno])

    def code(self, at: int) -> str:
        """What a statement does: without comments, docstrings and layout."""
        node = copy.deepcopy(self.statements[at])
        for inner in ast.walk(node):
            if isinstance(inner, _FUNCTIONS | ast.ClassDef) and ast.get_docstring(inner) is not None:
                inner.body = inner.body[1:] or [ast.Pass()]
        return ast.dump(node)


def chain(node: ast.AST) -> tuple[ast.Name | None, list[str]]:
    """The name at the root of ``a.b.c`` (or of ``a.b[i]``), and the attributes that follow it."""
    path: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        path = [node.attr, *path] if isinstance(node, ast.Attribute) else []
        node = node.value
    return (node, path) if isinstance(node, ast.Name) else (None, path)


def _at_the_top(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that bind names at the top of the module: not those inside functions and classes."""
    yield statement
    if not isinstance(statement, _FUNCTIONS | ast.ClassDef | ast.Lambda):
        for node in ast.iter_child_nodes(statement):
            yield from _at_the_top(node)


def _called(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Lambda):
        return
    inner = list(ast.iter_child_nodes(node))
    runs: list[ast.AST] = []
    if isinstance(node, _FUNCTIONS):
        inner = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        runs = node.decorator_list
    elif isinstance(node, ast.ClassDef):
        runs = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
    elif isinstance(node, ast.Call):
        runs = [node.func]
    for one in runs:
        root, _ = chain(one.func if isinstance(one, ast.Call) else one)
        if root is not None:
            yield root.id
    for child in inner:
        yield from _called(child)
