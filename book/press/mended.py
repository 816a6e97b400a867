"""Mend what docutils and the extensions of others write, where readers stumble over it.

Code that only draws stands after what it drew, folded behind one small word, so that a figure is
followed by its caption and then by "code"; ``book/_static/code.js`` adds the switch in the header
that opens all of it.

A build that writes a part of the pages takes the words of the others from the search of the build
before, but not their entries, such as those of the glossary; here they come from what was read.
"""

from __future__ import annotations

import re
from functools import partial

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.util.index_entries import split_index_msg

from press import rewrite

_EMPTY_HEAD = re.compile(r"<th\b[^>]*>\s*</th>")


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


def mend(app, doctree, docname) -> None:
    """Drop an id that an exercise repeats (links find the first), and heads without words."""
    seen: set[str] = set()
    for node in doctree.findall(nodes.Element):
        node["ids"] = [name for name in node["ids"] if name not in seen]
        seen.update(node["ids"])
    for head in list(doctree.findall(nodes.thead)):
        if not head.astext().strip():
            head.parent.remove(head)
    for markup in doctree.findall(nodes.raw):
        rewrite(markup, partial(_EMPTY_HEAD.sub, "<td></td>"))


def keep_index_entries(app) -> list:
    """Give the search the entries of the pages that are not written anew; no page is added."""
    if indexer := getattr(app.builder, "indexer", None):
        for docname, entries in app.env.get_domain("index").entries.items():
            found = {
                (word, target or "", main)
                for kind, value, target, main, _ in entries
                for word in split_index_msg(kind, value)
            }
            indexer._index_entries.setdefault(docname, sorted(found))
    return []


def begin_citation(translator, node: nodes.citation) -> None:
    """Begin an entry of the references, without the role that was withdrawn from the standard."""
    if not isinstance(node.previous_sibling(), nodes.citation):
        translator.body.append('<div class="citation-list">\n')
    translator.body.append(translator.starttag(node, "div", CLASS="citation"))


def end_citation(translator, node: nodes.citation) -> None:
    """End what `begin_citation` began."""
    last = not isinstance(node.next_node(descend=False, siblings=True), nodes.citation)
    translator.body.append("</div>\n" + "</div>\n" * last)


def setup(app) -> dict:
    app.add_node(HideCodeCellNode, override=True, html=(begin_code, end_code))
    app.add_node(nodes.citation, override=True, html=(begin_citation, end_citation))
    app.connect("doctree-resolved", code_after_figure)
    app.connect("doctree-resolved", mend, priority=600)
    app.connect("html-collect-pages", keep_index_entries)  # the last event before the search
    return {"parallel_read_safe": True, "parallel_write_safe": True}
