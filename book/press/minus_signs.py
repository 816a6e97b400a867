"""Numbers as a book prints them: a minus, not a hyphen, and an interval on one line."""

from __future__ import annotations

import re

_NUMBER = r"(?:<(?:a|span)\b[^>]*>)*[+\N{MINUS SIGN}-]?\d[\d.,]*%?(?:</(?:a|span)>)*"
_HYPHEN = r"(?<![\w.,-])-(?=\.?\d)"
_PRINTED = re.compile(
    r'<(pre|code|script|style|textarea)\b.*?</\1>|<(span|div) class="math\b.*?</\2>'
    rf"|(?P<low>\[{_NUMBER},)\s(?P<high>{_NUMBER}\])|<[^>]*>|(?P<minus>{_HYPHEN})",
    re.DOTALL,
)


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
    app.connect("html-page-context", print_numbers, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
