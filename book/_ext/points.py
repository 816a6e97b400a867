"""Gains of accuracy have one format in the book: points, with a sign. ``{points}`c06_gain``` quotes 0.0361 as +3.6.

More digits where a gain is small: ``{points}`c06_gain:2``` is +3.61. The sentence around it says "points".
"""

from __future__ import annotations

from myst_nb.ext.glue.roles import PasteTextRole


class Points(PasteTextRole):
    """A glued number, a hundred times as large and with its sign."""

    def run(self):
        name, _, digits = self.text.partition(":")
        self.text = f"{name}:+z.{digits or 1}%"
        nodes, messages = super().run()
        for node in nodes:
            node.children[0] = type(node.children[0])(node.astext().removesuffix("%"))
        return nodes, messages


def setup(app) -> dict:
    app.add_role("points", Points())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
