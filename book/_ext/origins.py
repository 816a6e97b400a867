"""Numbers that cells glued: a role for gains in points, and links from numbers to cells.

``{points}`c06_gain``` quotes 0.0361 as +3.6, ``{points}`c06_gain:2``` as +3.61; the sentence around
it says "points". A number leads to the cell that computed it, if the page shows that cell;
``book/_static/notes.js`` opens a note, with the files behind the cell, what computed them, and
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
from recorded import executed

from adalib.paper import settings


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

    >>> lines = {1: 'a = load("math")', 4: 'b = recorded("minds"), a', 5: "print(b)"}
    >>> sorted(files_read(lines, {"math"})[5])
    ['math', 'minds.jsonl']
    """
    made = {"BENCHMARKS": {*settings.BENCHMARKS}, "REAL": {*settings.REAL}}
    found = {}
    for at, code in codes.items():
        found[at] = set()
        for statement in ast.parse(re.sub(r"^\s*[%!].*", "", code, flags=re.M)).body:
            files = set()
            given = [statement.name] if hasattr(statement, "name") else []
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    given.append(node.id)
                elif isinstance(node, (ast.Name, ast.Attribute)):
                    files |= made.get(ast.unparse(node).removeprefix("settings."), set())
                elif isinstance(node, ast.Constant) and node.value in sets:
                    files.add(node.value)
                elif isinstance(node, ast.Call) and re.search(
                    r"\brecorded(_cells)?$", ast.unparse(node.func)
                ):
                    files.add(f"{node.args[0].value if node.args else 'stopping'}.jsonl")
            found[at] |= files
            made |= dict.fromkeys(given, files)
    return found


@functools.cache
def origin_of(root: Path, name: str) -> list[str]:
    """Return a data set's name, its place on the data cards, and what computes and tests it.

    >>> origin_of(Path(__file__).parents[2], "minds.jsonl")[2]
    'computed by data/record_minds.py, a part again by tests/evaluate/test_recorded.py'
    """
    if not name.endswith(".jsonl"):
        return [name, name, ""]
    texts = {
        file: file.read_text(encoding="utf-8") for file in sorted(root.glob("data/record_*.py"))
    }
    scripts = [
        file for file, text in texts.items() if f'record("{name.removesuffix(".jsonl")}"' in text
    ]
    files = {
        file: file.read_text(encoding="utf-8") for file in sorted(root.glob("tests/**/test_*.py"))
    }
    tests = [
        file
        for file, text in files.items()
        if any(re.search(rf"\b{script.stem}\b", text) for script in scripts)
    ]
    by, again = (
        ", ".join(str(file.relative_to(root)) for file in some) for some in (scripts, tests)
    )
    origin = f"computed by {by}" + (f", a part again by {again}" if again else "")
    return [f"data/recorded/{name}", "the-recorded-comparison", origin]


def collect(app, env) -> None:
    """Which cell glued a name and which files it reads, page by page."""
    app.glued_by, app.rows_of, root = {}, {}, Path(app.srcdir)
    sets = {file.name.removesuffix(".jsonl.gz") for file in root.glob("data/answers/*.jsonl.gz")}
    for page, notebook in executed(
        Path(app.srcdir) / "notebooks", env.mystnb_config.execution_cache_path
    ):
        outputs = (
            (at, output)
            for at, cell in enumerate(notebook.cells)
            for output in cell.get("outputs", [])
        )
        names = (
            (output.get("metadata", {}).get("scrapbook", {}).get("name"), at)
            for at, output in outputs
        )
        app.glued_by[f"notebooks/{page}"] = glued = dict(names)
        read = files_read(
            {at: cell.source for at, cell in enumerate(notebook.cells) if cell.cell_type == "code"},
            sets,
        )
        rows = {
            f"cell-{at}": [origin_of(root, name) for name in sorted(read[at])]
            for at in set(glued.values())
            if read[at]
        }
        app.rows_of[f"notebooks/{page}"] = rows


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
