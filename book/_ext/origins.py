"""Numbers that cells glued: the role that quotes a gain in points, and the way from a number to its cell.

``{points}`c06_gain``` quotes 0.0361 as +3.6, ``{points}`c06_gain:2``` as +3.61; the sentence around it says "points".
A number leads to the cell that computed it, if the page shows that cell; ``book/_static/origins.js`` opens a note.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole
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
    """Which cell glued a name, page by page."""
    app.glued_by = {}
    for page, notebook in executed(Path(app.srcdir) / "notebooks", env.mystnb_config.execution_cache_path):
        outputs = ((at, output) for at, cell in enumerate(notebook.cells) for output in cell.get("outputs", []))
        names = ((output.get("metadata", {}).get("scrapbook", {}).get("name"), at) for at, output in outputs)
        app.glued_by[f"notebooks/{page}"] = dict(names)


def lead(app, doctree, docname) -> None:
    """Link the numbers of running text to their cells; of several that one cell gave to a paragraph, the first."""
    cells = {cell["cell_index"]: cell for cell in doctree.findall(nodes.container) if "cell_index" in cell}
    for paragraph in doctree.findall(nodes.paragraph):
        told = set()
        for number in [node for node in paragraph.findall(nodes.inline) if "glued" in node]:
            place = app.glued_by.get(docname, {}).get(number["glued"])
            if place in cells and place not in told:
                told.add(place)
                cells[place]["ids"] = [f"cell-{place}"]
                link = nodes.reference("", "", refuri=f"#cell-{place}", internal=True, classes=["adalib-origin"])
                number.replace_self(link)
                link += number


def setup(app) -> dict:
    app.add_role_to_domain("glue", "text", Glued(), override=True)
    app.add_role("points", Points())
    app.connect("env-updated", collect)
    app.connect("doctree-resolved", lead)
    app.add_js_file("origins.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
