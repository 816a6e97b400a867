"""A role for gains: a number that a cell glued, in points and with its sign.

``{points}`learning_gain``` quotes 0.0361 as +3.6, ``{points}`learning_gain:2``` as +3.61; the
sentence around it says "points".
"""

from __future__ import annotations

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole


class Points(PasteTextRole):
    """A glued number, a hundred times as large and with its sign."""

    text: str

    def run(self):
        name, _, digits = self.text.partition(":")
        self.text = f"{name}:+z.{digits or 1}%"
        found, messages = super().run()
        for node in found:
            node[0] = nodes.Text(node.astext().removesuffix("%").replace("-", "\N{MINUS SIGN}"))
        return found, messages


def setup(app) -> dict:
    app.add_role("points", Points())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
