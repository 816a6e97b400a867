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
import symtable
import sys
import traceback
import types
import warnings
from collections import Counter

IN_JUPYTER = ("ipywidgets", "anywidget")


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell makes, and those that it takes from elsewhere.

    >>> names("y = x + 1\\ndef f(a):\\n    return a + y + z")[1] == {"x", "z"}
    True
    """
    made: set[str] = set()
    taken: set[str] = set()
    for statement in ast.parse(source).body:
        table = symtable.symtable(ast.unparse(statement), "cell", "exec")
        own = {
            s.get_name()
            for s in table.get_symbols()
            if s.is_assigned() or s.is_imported() or s.is_namespace()
        }
        read = {s.get_name() for s in table.get_symbols() if s.is_referenced()} | _read_inside(
            table
        )
        if hasattr(
            statement, "body"
        ):  # a loop or a definition makes its own names before it uses them
            read -= own
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
        } & own  # never made anew
        taken |= read - made
        made |= own
    return made, taken - set(dir(builtins))


def _read_inside(table: symtable.SymbolTable) -> set[str]:
    inner = table.get_children()
    read = {
        s.get_name() for t in inner for s in t.get_symbols() if s.is_global() and s.is_referenced()
    }
    return read.union(*map(_read_inside, inner))


class Page:
    """The cells of a page and the names that they share.

    A cell is its source and whether it belongs to a solution, whose names no other cell may use.
    """

    def __init__(self, say):
        self.say = say
        self.cells = []
        self.ran = set()
        self.space = {"__name__": "__main__", "display": self.display}
        shown = types.ModuleType("IPython.display")
        shown.HTML, shown.display = Markup, self.display
        whole = types.ModuleType("IPython")
        whole.display, whole.get_ipython = shown, lambda: None
        sys.modules |= {"IPython": whole, "IPython.display": shown}

    def update(self, cells):
        """Take the cells as they stand on the page."""
        self.cells = [(source, solved) for source, solved in cells]

    def needs(self, at: int) -> list[int]:
        """Return the cells above that must run first, in order: they make this cell's names."""
        found: set[int] = set()
        waiting = [at]
        while waiting:
            cell = waiting.pop()
            for name in self._names(cell)[1]:
                makers = (
                    i
                    for i in reversed(range(cell))
                    if self._visible(i, at) and name in self._names(i)[0]
                )
                maker = next(makers, None)
                if maker is not None and maker not in found | self.ran:
                    found.add(maker)
                    waiting.append(maker)
        return sorted(found)

    def above(self, at: int) -> list[int]:
        """All cells above that are no solutions."""
        return [i for i in range(at) if not self.cells[i][1]]

    def _visible(self, cell: int, reader: int) -> bool:
        return not self.cells[cell][1] or self.cells[reader][1]

    def _names(self, cell: int) -> tuple[set[str], set[str]]:
        try:
            return names(self.cells[cell][0])
        except SyntaxError:  # it is reported when the cell runs
            return set(), set()

    def run(self, at: int) -> bool:
        """Run one cell and show what it shows; whether it ended well."""
        source = self.cells[at][0]
        file = f"cell {at + 1}"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        before = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = Stream(self.say)
        try:
            tree = ast.parse(source, file)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, file, "exec"), self.space)
            if last is not None:
                self.display(eval(compile(ast.Expression(last.value), file, "eval"), self.space))
            self.ran.add(at)
            return True
        except BaseException as error:
            trace = traceback.TracebackException.from_exception(error)
            while (
                trace.stack and trace.stack[0].filename != file
            ):  # what ran the cell is nobody's concern
                trace.stack.pop(0)
            *rest, final = list(trace.format())
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
        from adalib.teach.figures import show

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
                f"{name} works in Jupyter alone: open this chapter there (make lab, make lite)",
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
