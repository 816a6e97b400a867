"""Numbers as a book prints them: gains in points, a minus for a hyphen, intervals on one line.

A gain that a cell glued is quoted in points and with its sign: ``{points}`learning_gain``` prints
0.0361 as +3.6, and ``{points}`learning_gain:2``` as +3.61. The sentence around it says "points".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole

from press import rewrite, texts

_MINUS = re.compile(r"(?<![\w.,-])-(?=\.?\d)")
_INTERVAL = re.compile(r"(?<=\[)([+−-]?\d[\d.,]*%?,)\s(?=[+−-]?\d[\d.,]*%?\])")
_BLOCKS = (nodes.paragraph, nodes.title, nodes.term, nodes.rubric, nodes.caption)
_CODE = (nodes.literal, nodes.math, nodes.raw)
# Markup and what is no running text, or else a text.
_MARKUP = re.compile(r"(<(pre|code|script|style|textarea|svg)\b.*?</\2>|<[^>]*>)|[^<]+", re.S)


class Points(PasteTextRole):
    """A glued number, a hundred times as large and with its sign."""

    text: str

    def run(self):
        name, _, digits = self.text.partition(":")
        self.text = f"{name}:+z.{digits or 1}%"
        found, messages = super().run()
        for node in found:
            node[0] = nodes.Text(node.astext().removesuffix("%"))
        return found, messages


def printed(parts: Iterable[str]) -> list[str]:
    """The parts of a text, whose numbers may begin in one and end in another, as a book prints it.

    >>> printed(["-3 to ", "2-4, [", "-0.3", ", ", "+2.7", "]"])
    ['−3 to ', '2-4, [', '−0.3', ',\\xa0', '+2.7', ']']
    """
    parts = list(parts)
    text = _INTERVAL.sub("\\1\N{NO-BREAK SPACE}", _MINUS.sub("\N{MINUS SIGN}", "".join(parts)))
    ends = [sum(map(len, parts[:at])) for at in range(len(parts) + 1)]
    return [text[start:end] for start, end in zip(ends, ends[1:], strict=False)]


def printed_markup(markup: str) -> str:
    """What a cell shows as a book prints it.

    >>> printed_markup('<td class="a -1">[-0.3, +2.7], 3-4</td><td>-1</td><code>-1</code>')
    '<td class="a -1">[−0.3,\\xa0+2.7], 3-4</td><td>−1</td><code>-1</code>'
    """
    return _MARKUP.sub(lambda found: found[0] if found[1] else printed([found[0]])[0], markup)


def print_numbers(app, doctree, docname: str = "") -> None:
    """Print the numbers of a page as in a book; code and formulas are left as they are.

    That is done when the page has been read, and again when it has what other pages show.
    """
    for markup in doctree.findall(nodes.raw):
        rewrite(markup, printed_markup)
    for block in doctree.findall(lambda node: isinstance(node, _BLOCKS)):
        found = list(texts(block, lambda node: isinstance(node, _CODE)))
        for text, shown in zip(found, printed(found), strict=True):
            text.parent.replace(text, nodes.Text(shown))


def setup(app) -> dict:
    app.add_role("points", Points())
    app.connect("doctree-read", print_numbers, priority=900)
    app.connect("doctree-resolved", print_numbers, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
