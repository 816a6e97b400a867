"""Numbers that cells glued: a role for gains in points, and links from numbers to cells.

``{points}`learning_gain``` quotes 0.0361 as +3.6, ``{points}`learning_gain:2``` as +3.61; the
sentence around it says "points". A number leads to the cell that computed it, if the page shows
that cell.
There ``book/_static/notes.js`` opens a note with the files behind the cell, what computed them, and
the tests that repeat a part of it.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from pathlib import Path

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole
from nbformat import NotebookNode
from recorded import executed

from adabook.paper import settings

_RECORDED = re.compile(r"\brecorded(_cells)?$")  # functions that read a record


class Glued(PasteTextRole):
    """A glued number that knows its name."""

    def run(self):
        name = self.text.partition(":")[0]
        found, messages = super().run()
        for node in found:
            node["glued"] = name
        return found, messages


class Points(Glued):
    """A glued number, a hundred times as large and with its sign."""

    def run(self):
        name, _, digits = self.text.partition(":")
        self.text = f"{name}:+z.{digits or 1}%"
        found, messages = super().run()
        for node in found:
            node[0] = nodes.Text(node.astext().removesuffix("%").replace("-", "\N{MINUS SIGN}"))
        return found, messages


def files_read(codes: dict[int, str], sets: set[str]) -> dict[int, set[str]]:
    """Return the sets of answers and records that each cell reads, itself or by earlier names.

    ``codes`` are the cells' programs by their place in the notebook, ``sets`` the names of all sets
    of answers.

    >>> lines = {1: 'a = load("math")', 4: 'b = recorded("minds"), a', 5: "print(b)"}
    >>> sorted(files_read(lines, {"math"})[5])
    ['math', 'minds.jsonl']
    """
    files_by_name = {"BENCHMARKS": {*settings.BENCHMARKS}, "REAL": {*settings.REAL}}
    files_by_cell = {}
    for place, code in codes.items():
        files_by_cell[place] = set()
        program = re.sub(r"^\s*[%!].*", "", code, flags=re.M)  # without commands to the notebook
        for statement in ast.parse(program).body:
            files = _files_of(statement, files_by_name, sets)
            files_by_cell[place] |= files
            files_by_name |= dict.fromkeys(_names_made(statement), files)
    return files_by_cell


def _files_of(statement: ast.stmt, files_by_name: dict[str, set[str]], sets: set[str]) -> set[str]:
    """The files that a statement reads: named in it, or behind a name that it uses."""
    files: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            continue
        if isinstance(node, (ast.Name, ast.Attribute)):
            files |= files_by_name.get(ast.unparse(node).removeprefix("settings."), set())
        elif isinstance(node, ast.Constant) and node.value in sets:
            files.add(node.value)
        elif isinstance(node, ast.Call) and _RECORDED.search(ast.unparse(node.func)):
            record = node.args[0].value if node.args else "stopping"  # the default of `recorded`
            files.add(f"{record}.jsonl")
    return files


def _names_made(statement: ast.stmt) -> list[str]:
    """The names that a statement gives to something."""
    names = [statement.name] if hasattr(statement, "name") else []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
    return names


@functools.cache
def origin_of(root: Path, name: str) -> list[str]:
    """Return a data set's name, its place on the data cards, and what computes and tests it.

    >>> origin_of(Path(__file__).parents[2], "minds.jsonl")[2]
    'computed by data/record_minds.py, a part again by tests/adabook/test_recorded.py'
    """
    if not name.endswith(".jsonl"):
        return [name, name, ""]
    call = re.escape(f'record("{name.removesuffix(".jsonl")}"')
    scripts = _files_with(root, "data/record_*.py", call)
    named = "|".join(script.stem for script in scripts)
    tests = _files_with(root, "tests/**/test_*.py", rf"\b(?:{named})\b") if scripts else []
    origin = f"computed by {_listed(scripts, root)}"
    if tests:
        origin += f", a part again by {_listed(tests, root)}"
    return [f"data/recorded/{name}", "the-recorded-comparison", origin]


def _files_with(root: Path, pattern: str, wanted: str) -> list[Path]:
    """The files below a folder whose text matches a regular expression."""
    files = sorted(root.glob(pattern))
    return [file for file in files if re.search(wanted, file.read_text(encoding="utf-8"))]


def _listed(files: list[Path], root: Path) -> str:
    return ", ".join(str(file.relative_to(root)) for file in files)


def collect(app, env) -> None:
    """Find out, page by page, which cell glued a name and which files it reads."""
    root = Path(app.srcdir)
    app.glued_by = {}
    app.rows_of = {}
    sets = {file.name.removesuffix(".jsonl.gz") for file in root.glob("data/answers/*.jsonl.gz")}
    for page, notebook in executed(root / "notebooks", env.mystnb_config.execution_cache_path):
        glued = _glued_names(notebook)
        codes = {
            place: cell.source
            for place, cell in enumerate(notebook.cells)
            if cell.cell_type == "code"
        }
        read = files_read(codes, sets)
        app.glued_by[f"notebooks/{page}"] = glued
        app.rows_of[f"notebooks/{page}"] = {
            f"cell-{place}": [origin_of(root, name) for name in sorted(read[place])]
            for place in set(glued.values())
            if read[place]
        }


def _glued_names(notebook: NotebookNode) -> dict[str, int]:
    """The names that a notebook glued, each with the place of its cell."""
    glued = {}
    for place, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name is not None:
                glued[name] = place
    return glued


def lead(app, doctree, docname) -> None:
    """Link the numbers of running text to their cells, one per cell and paragraph."""
    cells = {
        cell["cell_index"]: cell
        for cell in doctree.findall(nodes.container)
        if "cell_index" in cell
    }
    for paragraph in doctree.findall(nodes.paragraph):
        seen = set()
        for number in [node for node in paragraph.findall(nodes.inline) if "glued" in node]:
            place = app.glued_by.get(docname, {}).get(number["glued"])
            if place in cells and place not in seen:
                seen.add(place)
                cells[place]["ids"] = [f"cell-{place}"]
                link = nodes.reference(
                    "", "", refuri=f"#cell-{place}", internal=True, classes=["adalib-origin"]
                )
                number.replace_self(link)
                link += number


def hand_over(app, pagename, templatename, context, doctree) -> None:
    """Give the page what its notes say of the files."""
    if rows := app.rows_of.get(pagename):
        context["body"] += (
            '<script type="application/json" id="adalib-rows">'
            f"{json.dumps(rows, sort_keys=True)}</script>"
        )


def setup(app) -> dict:
    app.connect("html-page-context", hand_over)
    app.add_role_to_domain("glue", "text", Glued(), override=True)
    app.add_role("points", Points())
    app.connect("env-updated", collect)
    app.connect("doctree-resolved", lead)
    app.add_js_file("notes.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
