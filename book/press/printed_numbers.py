"""Numbers as a book prints them: gains in points, a minus for a hyphen, intervals on one line.

A gain that a cell glued is quoted in points and with its sign: ``{points}`learning_gain``` prints
0.0361 as +3.6, and ``{points}`learning_gain:2``` as +3.61. The sentence around it says "points".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole
from sphinx.addnodes import desc_signature

from press import rewrite

_MINUS = re.compile(r"(?<![\w.,-])-(?=\.?\d)")
_INTERVAL = re.compile(r"(?<=\[)([+−-]?\d[\d.,]*%?,)\s(?=[+−-]?\d[\d.,]*%?\])")
_CODE = (nodes.literal, nodes.math, nodes.raw)
_NO_TEXT = (*_CODE, nodes.literal_block, nodes.doctest_block, nodes.math_block, desc_signature)
# Markup, and what is no running text; what stands on both sides of a mark within a line belongs
# together.
_MARKUP = re.compile(r"(<(pre|code|script|style|textarea|svg)\b.*?</\2>|<[^>]*>)", re.S)
_WITHIN = re.compile(r"</?(?:a|b|em|span|strong)\b")
_GAP = "\N{OBJECT REPLACEMENT CHARACTER}"


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
    pieces = _MARKUP.split(markup)
    texts, marks = pieces[::3], pieces[1::3]
    gaps = ["" if _WITHIN.match(mark) else _GAP for mark in marks]
    parts = [part for pair in zip(texts, [*gaps, ""], strict=True) for part in pair]
    shown = printed(parts)[::2]
    return "".join(part for pair in zip(shown, [*marks, ""], strict=True) for part in pair)


def print_numbers(app, doctree, docname) -> None:
    """Print the numbers of a page as in a book; code and formulas are left as they are."""
    for markup in doctree.findall(nodes.raw):
        rewrite(markup, printed_markup)
    for block in _blocks(doctree):
        places = list(_texts(block))
        parts = [_GAP if is_code else str(holder[at]) for holder, at, is_code in places]
        for (holder, at, is_code), new in zip(places, printed(parts), strict=True):
            if not is_code:
                holder[at] = nodes.Text(new)


def _blocks(node: nodes.Element) -> Iterator[nodes.TextElement]:
    """The paragraphs, titles and the like below a node; extensions of others forget parents."""
    for child in node.children:
        if isinstance(child, nodes.TextElement) and not isinstance(child, _NO_TEXT):
            yield child
        elif isinstance(child, nodes.Element) and not isinstance(child, _NO_TEXT):
            yield from _blocks(child)


def _texts(node: nodes.Element, is_code: bool = False) -> Iterator[tuple[nodes.Element, int, bool]]:
    """Where the texts of a block are, and whether each is code or a formula."""
    for at, child in enumerate(node.children):
        if isinstance(child, nodes.Text):
            yield node, at, is_code
        else:
            yield from _texts(child, is_code or isinstance(child, _CODE))


def setup(app) -> dict:
    app.add_role("points", Points())
    app.connect("doctree-resolved", print_numbers, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
