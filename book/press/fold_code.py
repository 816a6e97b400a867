"""Code that only draws stands after what it drew, folded behind one small word.

So a figure is followed by its caption and then by "code". ``book/_static/code.js`` adds the switch
in the header that opens all of it.
"""

from __future__ import annotations

from myst_nb.sphinx_ import HideCodeCellNode


def begin_code(translator, node: HideCodeCellNode) -> None:
    """Fold a part of a cell under one word."""
    classes = " ".join(["adalib-code", *node["classes"]])
    word = "code" if "above-input" in node["classes"] else "output"
    translator.body.append(f'<details class="{classes}"><summary>{word}</summary>\n')


def end_code(translator, node: HideCodeCellNode) -> None:
    """End what `begin_code` began."""
    translator.body.append("</details>\n")


def code_after_figure(app, doctree, docname) -> None:
    """Move folded code behind the output of its cell."""
    for fold in list(doctree.findall(HideCodeCellNode)):
        cell = fold.parent
        if "above-input" in fold["classes"] and cell.index(fold) < len(cell) - 1:
            cell.remove(fold)
            cell.append(fold)


def setup(app) -> dict:
    app.add_node(HideCodeCellNode, override=True, html=(begin_code, end_code))
    app.connect("doctree-resolved", code_after_figure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
