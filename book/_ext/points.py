"""Gains of accuracy have one format in the book: points, with a sign. ``{points}`c06_gain``` quotes 0.0361 as +3.6.

More digits where a gain is small: ``{points}`c06_gain:2``` is +3.61. The sentence around it says "points".
"""

from __future__ import annotations

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole


class Points(PasteTextRole):
    """A glued number, a hundred times as large and with its sign."""

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
