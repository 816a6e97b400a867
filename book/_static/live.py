"""Python's side of the cells that run in a page: dependencies, outputs, packages on demand.

``live-worker.js`` loads this file into Pyodide and hands it two functions: ``say(kind, text)``
takes what the cell that runs has to show, and ``bring(module)`` unpacks the files of a module.
Nothing here needs more than Python itself, so that the tests import it as it is.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.abc
import importlib.machinery
import io
import linecache
import sys
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

IN_JUPYTER = ("ipywidgets", "anywidget")


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell makes, and those that it takes from elsewhere.

    >>> names("y = x + 1\\ndef f(a):\\n    return a + y + z")[1] == {"x", "z"}
    True
    """
    made: set[str] = set()
    taken: set[str] = set()
    for statement in ast.parse(source).body:
        scope = _Scope()
        scope.visit(statement)
        read = set(scope.read)
        if hasattr(
            statement, "body"
        ):  # a loop or a definition makes its own names before it uses them
            read -= scope.made
        nodes = list(ast.walk(statement))
        grown = Counter(
            n.target.id
            for n in nodes
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
        )
        stored = Counter(
            n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
        read |= {
            name for name, times in grown.items() if stored[name] == times
        } & scope.made  # never made anew
        taken |= read - made
        made |= scope.made
    return made, taken - set(dir(builtins))


class _Scope:
    """The names that a statement makes and reads; those inside its functions stay inside.

    Python's own `symtable` tells something else of a comprehension from version 3.12 on, and the
    browser has a newer version than most laptops.
    """

    def __init__(self):
        self.made: set[str] = set()
        self.read: set[str] = set()

    def visit(self, node: ast.AST) -> None:
        """Note the names of a node and of all within it."""
        match node:
            case ast.Name(ctx=ast.Load()):
                self.read.add(node.id)
            case ast.Name():
                self.made.add(node.id)
            case ast.Import() | ast.ImportFrom():
                self.made |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.made.add(node.name)
                self._visit_all([*node.decorator_list, node.args, node.returns])
                self._visit_inner(node.body, node.args)
            case ast.Lambda():
                self.visit(node.args)
                self._visit_inner([node.body], node.args)
            case ast.ClassDef():
                self.made.add(node.name)
                self._visit_all([*node.decorator_list, *node.bases, *node.keywords])
                self._visit_inner(node.body)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                # The first of its sources is read outside, where its own names are not yet made.
                self.visit(node.generators[0].iter)
                self._visit_inner(ast.iter_child_nodes(node))
            case _:
                if isinstance(node, ast.ExceptHandler) and node.name:
                    self.made.add(node.name)
                self._visit_all(ast.iter_child_nodes(node))

    def _visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _visit_inner(self, nodes: Iterable[ast.AST], arguments: ast.arguments | None = None):
        """Visit what has its own names, and keep only what it reads from outside."""
        inner = _Scope()
        inner._visit_all(nodes)
        if arguments is not None:
            inner.made |= {node.arg for node in ast.walk(arguments) if isinstance(node, ast.arg)}
        self.read |= inner.read - inner.made


def changed(statement: ast.stmt) -> set[str]:
    """The names whose values a statement changes in place.

    >>> sorted(changed(ast.parse("for i in many:\\n    rows.append(i)\\n    total[i] = 1").body[0]))
    ['rows', 'total']
    """
    places: list[ast.expr] = []
    for node in ast.walk(statement):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            places.append(node.value)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            places += [called.value] if isinstance(called, ast.Attribute) else []  # x.append
    found = set()
    for place in places:
        while isinstance(place, (ast.Subscript, ast.Attribute)):
            place = place.value
        if isinstance(place, ast.Name):
            found.add(place.id)
    return found


class Part(NamedTuple):
    """A cell, or one statement of a folded cell: the names that it makes, takes and changes."""

    cell: int
    at: int | None
    made: set[str]
    taken: set[str]
    changed: set[str]

    def __hash__(self):
        return hash((self.cell, self.at))

    def comes_before(self, other: Part) -> bool:
        """Whether it stands above another part on the page."""
        if self.cell == other.cell:
            return None not in (self.at, other.at) and self.at < other.at
        return self.cell < other.cell

    def changes(self, name: str, maker: Part) -> bool:
        """Whether it changes a name after the statement of the same cell that made it."""
        return self.cell == maker.cell and maker.comes_before(self) and name in self.changed


class Page:
    """The cells of a page and the names that they share.

    A cell is its source, whether it belongs to a solution, whose names no other cell may use, and
    whether the page folds it. Of a folded cell that others need, only the statements run that make
    or change the names they need, so that a few lines of numpy do not wait for what draws figures.
    """

    def __init__(self, say):
        self.say = say
        self.cells = []
        self.ran = set()  # cells, and of folded cells (cell, statement)
        self.needed = {}  # the statements that run of a folded cell, by cell
        self.space = {"__name__": "__main__", "display": self.display}
        shown = types.ModuleType("IPython.display")
        shown.HTML, shown.display = Markup, self.display
        whole = types.ModuleType("IPython")
        whole.display, whole.get_ipython = shown, lambda: None
        sys.modules |= {"IPython": whole, "IPython.display": shown}

    def update(self, cells):
        """Take the cells as they stand on the page."""
        self.cells = [(source, solved, folded) for source, solved, folded in cells]

    def needs(self, at: int) -> list[int]:
        """Return the cells above that must run first, in order: they make this cell's names."""
        parts = [
            part for cell in range(at) if self._visible(cell, at) for part in self._parts(cell)
        ]
        found: set[Part] = set()
        waiting = [Part(at, None, *self._names(at), set())]
        while waiting:
            reader = waiting.pop()
            above = [part for part in parts if part.comes_before(reader)]
            for name in reader.taken:
                maker = next((part for part in reversed(above) if name in part.made), None)
                changes = [part for part in above if maker and part.changes(name, maker)]
                for part in [maker, *changes] if maker else []:
                    if part not in found and not {part.cell, (part.cell, part.at)} & self.ran:
                        found.add(part)
                        waiting.append(part)
        self.needed = {part.cell: [] for part in found}
        for part in sorted(found, key=lambda part: (part.cell, part.at or 0)):
            self.needed[part.cell].append(part.at)
        return sorted(self.needed)

    def above(self, at: int) -> list[int]:
        """All cells above that are no solutions."""
        return [i for i in range(at) if not self.cells[i][1]]

    def _visible(self, cell: int, reader: int) -> bool:
        return not self.cells[cell][1] or self.cells[reader][1]

    def _parts(self, cell: int) -> list[Part]:
        """The statements of a folded cell, one by one; any other cell is one part."""
        source, _, folded = self.cells[cell]
        if not folded:
            return [Part(cell, None, *self._names(cell), set())]
        try:
            body = ast.parse(source).body
        except SyntaxError:
            return []
        return [
            Part(cell, at, *names(ast.unparse(statement)), changed(statement))
            for at, statement in enumerate(body)
        ]

    def _names(self, cell: int) -> tuple[set[str], set[str]]:
        try:
            return names(self.cells[cell][0])
        except SyntaxError:  # it is reported when the cell runs
            return set(), set()

    def run_needed(self, at: int) -> bool:
        """Run what `needs` found in a cell; whether it ended well."""
        return self.run(at, self.needed[at])

    def run(self, at: int, parts: Sequence[int | None] = (None,)) -> bool:
        """Run one cell, or some of its statements, and show the output; whether it ended well."""
        source = self.cells[at][0]
        file = f"cell {at + 1}"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        before = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = Stream(self.say)
        try:
            tree = ast.parse(source, file)
            if None not in parts:
                tree.body = [tree.body[part] for part in parts]
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, file, "exec"), self.space)
            if last is not None:
                self.display(eval(compile(ast.Expression(last.value), file, "eval"), self.space))
            self.ran |= {at} if None in parts else {(at, part) for part in parts}
            return True
        except BaseException as error:
            trace = traceback.TracebackException.from_exception(error)
            while (
                trace.stack and trace.stack[0].filename != file
            ):  # what ran the cell is nobody's concern
                trace.stack.pop(0)
            *rest, final = list(trace.format())
            if "inhomogeneous" in final:  # numpy's word
                final = "ValueError: the rows of a table must be equally long"
            self.say("error", final.strip())
            self.say("trace", "".join(rest))
            return False
        finally:
            sys.stdout, sys.stderr = before

    def display(self, *values):
        """Show values where the cell shows what it shows."""
        for value in values:
            if value is not None:
                self.say(*shown(value))


class Markup:
    """Stands in for IPython's HTML."""

    def __init__(self, data: str):
        self.data = data

    def _repr_html_(self) -> str:
        return self.data


class Stream(io.TextIOBase):
    """A cell's standard output, which goes where the cell shows things."""

    def __init__(self, say):
        self.say = say

    def write(self, text: str) -> int:
        if text:
            self.say("text", text)
        return len(text)


def shown(value) -> tuple[str, str]:
    """Return how a value is shown: ("html", markup), ("text", repr) or ("unanswered", words)."""
    if hasattr(value, "to_plotly_json") and hasattr(value, "layout"):
        from adabook.figures import show

        value = show(value, alt=value.layout.title.text or "The figure of this cell.")
    html = None
    if hasattr(value, "_repr_mimebundle_"):
        html = value._repr_mimebundle_().get("text/html")
    elif hasattr(value, "_repr_html_"):
        html = value._repr_html_()
    if html and "adalib-answer" in html:  # the page has the box for it already
        return "unanswered", f"{value!r}\n"
    return ("html", html) if html else ("text", f"{value!r}\n")


class OnDemand(importlib.abc.MetaPathFinder):
    """Brings a module's files when the module is first imported."""

    def __init__(self, modules, bring):
        self.modules = set(modules)
        self.bring = bring

    def find_spec(self, name, path=None, target=None):
        if name in IN_JUPYTER:
            raise ModuleNotFoundError(
                f"{name} works in Jupyter alone: open this chapter there (make lab)",
                name=name,
            )
        if name not in self.modules:
            return None
        self.modules.discard(name)
        self.bring(name)
        importlib.invalidate_caches()
        return importlib.machinery.PathFinder.find_spec(name)


def start(say, modules, bring) -> Page:
    """The page, once Python runs."""
    sys.meta_path.append(OnDemand(modules, bring))
    # A thread that watches progress bars.
    warnings.filterwarnings("ignore", "tqdm:disabling monitor support")
    warnings.formatwarning = lambda message, *_: f"Note: {message}\n"
    return Page(say)
