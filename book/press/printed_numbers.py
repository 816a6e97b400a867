"""Numbers as a book prints them: gains in points, a minus for a hyphen, intervals on one line.

A gain that a cell glued is quoted in points and with its sign: ``{points}`learning_gain``` prints
0.0361 as +3.6, and ``{points}`learning_gain:2``` as +3.61. The sentence around it says "points".
"""

from __future__ import annotations

import re

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole

_NUMBER = r"(?:<(?:a|span)\b[^>]*>)*[+\N{MINUS SIGN}-]?\d[\d.,]*%?(?:</(?:a|span)>)*"
_HYPHEN = r"(?<![\w.,-])-(?=\.?\d)"
_PRINTED = re.compile(
    r'<(pre|code|script|style|textarea)\b.*?</\1>|<(span|div) class="math\b.*?</\2>'
    rf"|(?P<low>\[{_NUMBER},)\s(?P<high>{_NUMBER}\])|<[^>]*>|(?P<minus>{_HYPHEN})",
    re.DOTALL,
)


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


def with_printed_numbers(body: str) -> str:
    """The page with a minus before its numbers and intervals on one line; code and formulas are
    left as they are.

    >>> cell = '<td class="a -1">+1.2 [<b></b>, 0] [-0.3, +2.7], 3-4</td> <code>[-1, 2]</code>'
    >>> with_printed_numbers(cell)
    '<td class="a -1">+1.2 [<b></b>, 0] [−0.3,&nbsp;+2.7], 3-4</td> <code>[-1, 2]</code>'
    """

    def signed(text: str) -> str:
        return re.sub(rf"(<[^>]*>)|{_HYPHEN}", lambda found: found[1] or "\N{MINUS SIGN}", text)

    def printed(found: re.Match) -> str:
        if found["low"]:
            return f"{signed(found['low'])}&nbsp;{signed(found['high'])}"
        return "\N{MINUS SIGN}" if found["minus"] else found[0]

    return _PRINTED.sub(printed, body)


def print_numbers(app, pagename, templatename, context, doctree) -> None:
    """Print the numbers of a page as in a book."""
    if "body" in context:
        context["body"] = with_printed_numbers(context["body"])


def setup(app) -> dict:
    app.add_role("points", Points())
    app.connect("html-page-context", print_numbers, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
