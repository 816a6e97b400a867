"""Numbers that cells glued: a role for gains in points, and links from numbers to cells.

``{points}`learning_gain``` quotes 0.0361 as +3.6, ``{points}`learning_gain:2``` as +3.61; the
sentence around it says "points". A number leads to the cell that computed it, if the page shows
that cell: ``book/_static/notes.js`` opens a note that says so.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole
from nbformat import NotebookNode
from recorded import executed


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


def collect(app, env) -> None:
    """Find out, page by page, which cell glued a name."""
    notebooks = executed(Path(app.srcdir) / "notebooks", env.mystnb_config.execution_cache_path)
    app.glued_by = {f"notebooks/{page}": _glued_names(notebook) for page, notebook in notebooks}


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


def setup(app) -> dict:
    app.add_role_to_domain("glue", "text", Glued(), override=True)
    app.add_role("points", Points())
    app.connect("env-updated", collect)
    app.connect("doctree-resolved", lead)
    app.add_js_file("notes.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
