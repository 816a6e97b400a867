"""Formulas are MathML from the start: no script has to run before a reader sees them.

`mathml` writes them, and browsers draw them with the book's own mathematical font.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.math import get_node_equation_number, wrap_displaymath

from mathml import to_mathml

_MARKS = re.compile(r"[.,;:!?)\]]+")  # what no line begins with


class KeepMarks(SphinxPostTransform):
    """Keep a formula and the marks that follow it on one line: browsers would break before them."""

    default_priority = 900
    formats = ("html",)

    def run(self, **options) -> None:
        """Put each formula and its marks into one element that does not break."""
        for formula in list(self.document.findall(nodes.math)):
            following = formula.next_node(nodes.Text, descend=False, siblings=True)
            place = formula.parent.index(formula)
            if following is None or following is not formula.parent[place + 1]:
                continue
            marks = _MARKS.match(following)
            if marks:
                whole = nodes.inline("", "", classes=["adalib-whole"])
                formula.parent[place + 1] = nodes.Text(following[marks.end() :])
                formula.replace_self(whole)
                whole += [formula, nodes.Text(marks[0])]


def visit_inline(translator, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    formula = to_mathml(node.astext())
    translator.body.append(
        translator.starttag(node, "span", formula, CLASS="math notranslate nohighlight") + "</span>"
    )
    raise nodes.SkipNode


def visit_display(translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number."""
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, _("Link to this equation"))
        translator.body.append("</span>")
    tex = node.astext() if node["nowrap"] else wrap_displaymath(node.astext(), None, False)
    translator.body.append(to_mathml(tex.strip(), display=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app) -> dict:
    app.add_post_transform(KeepMarks)
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
