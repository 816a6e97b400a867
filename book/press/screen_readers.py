"""Mend what docutils and the extensions of others write and screen readers stumble over."""

from __future__ import annotations

import re
from functools import partial

from docutils import nodes

from press import rewrite

_EMPTY_HEAD = re.compile(r"<th\b[^>]*>\s*</th>")


def mend(app, doctree, docname) -> None:
    """No id twice, since exercises repeat some and links find the first; no head without words."""
    seen: set[str] = set()
    for node in doctree.findall(nodes.Element):
        node["ids"] = [name for name in node["ids"] if name not in seen]
        seen.update(node["ids"])
    for head in list(doctree.findall(nodes.thead)):
        if not head.astext().strip():
            head.parent.remove(head)
    for markup in doctree.findall(nodes.raw):
        rewrite(markup, partial(_EMPTY_HEAD.sub, "<td></td>"))


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
    app.add_node(nodes.citation, override=True, html=(begin_citation, end_citation))
    app.connect("doctree-resolved", mend, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
