"""What a page shows of itself: its code behind a small link, markup that screen readers understand,
its name and picture where a link to it is shared.

Code that only draws stands after what it drew, folded, so that a figure is followed by its caption
and then by "code". ``book/_static/code.js`` adds the switch in the header that opens all of it.
"""

from __future__ import annotations

import os
import re
from html import escape, unescape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode

DESCRIPTION = (
    "Put a price on compute, and every question decides for itself how many answers it gets."
)
CARD = "card.png"
ICON = "icon.svg"
TOUCH_ICON = "touch-icon.png"  # book/make_icon.py draws it
ADDRESS = "ADALIB_BOOK_URL"
_ID = re.compile(r'(<[a-z][^<>]*?) id="([^"]+)"')
_NUMBER = r"(?:<(?:a|span)\b[^>]*>)*[+\N{MINUS SIGN}-]?\d[\d.,]*%?(?:</(?:a|span)>)*"
_HYPHEN = r"(?<![\w.,-])-(?=\.?\d)"
_PRINTED = re.compile(
    r'<(pre|code|script|style|textarea)\b.*?</\1>|<(span|div) class="math\b.*?</\2>'
    rf"|(?P<low>\[{_NUMBER},)\s(?P<high>{_NUMBER}\])|<[^>]*>|(?P<minus>{_HYPHEN})",
    re.DOTALL,
)


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


def with_ids_once(body: str) -> str:
    """The page without ids that an earlier element has: exercises and theorems repeat some; links
    find the first.

    >>> with_ids_once('<div id="a"><p id="a"></p></div>')
    '<div id="a"><p></p></div>'
    """
    seen: set[str] = set()

    def once(tag: re.Match) -> str:
        repeated = tag[2] in seen
        seen.add(tag[2])
        return tag[1] if repeated else tag[0]

    return _ID.sub(once, body)


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


def with_plain_roles(body: str) -> str:
    """The page as screen readers want it: no heading cell without a heading, no role that was
    withdrawn from the standard (docutils gives it to every reference).

    >>> with_plain_roles('<tr><th class="head"><p></p></th><th>b</th></tr>')
    '<tr><td></td><th>b</th></tr>'
    >>> with_plain_roles('<div class="citation" role="doc-biblioentry">')
    '<div class="citation">'
    """
    body = re.sub(r"<th\b[^>]*>\s*(?:<p></p>)?\s*</th>", "<td></td>", body)
    return body.replace(' role="doc-biblioentry"', "")


def head(title: str, description: str, static: str, address: str) -> str:
    """What the head of a page tells others: its name, a line about it, its icons, and a picture
    where one can be shown.

    >>> print(head("Votes & ties", "Ask twice.", "_static", "https://a.example/"))
    <meta name="description" content="Ask twice.">
    <meta property="og:title" content="Votes &amp; ties">
    <meta property="og:description" content="Ask twice.">
    <meta property="og:type" content="article">
    <link rel="icon" type="image/svg+xml" href="_static/icon.svg">
    <link rel="apple-touch-icon" href="_static/touch-icon.png">
    <meta property="og:image" content="https://a.example/_static/card.png">
    <meta name="twitter:card" content="summary_large_image">
    >>> "card" in head("Votes & ties", "Ask twice.", "_static", "")
    False
    """
    tags = [
        f'<meta name="description" content="{escape(description)}">',
        f'<meta property="og:title" content="{escape(title)}">',
        f'<meta property="og:description" content="{escape(description)}">',
        '<meta property="og:type" content="article">',
        f'<link rel="icon" type="image/svg+xml" href="{static}/{ICON}">',
        f'<link rel="apple-touch-icon" href="{static}/{TOUCH_ICON}">',
    ]
    if address:  # other sites show a picture only by its whole address
        tags.append(f'<meta property="og:image" content="{escape(address)}_static/{CARD}">')
        tags.append('<meta name="twitter:card" content="summary_large_image">')
    return "\n".join(tags)


def describe(app, pagename, templatename, context, doctree) -> None:
    """Print the numbers of a page as in a book, and write its head."""
    if "body" in context:
        context["body"] = with_plain_roles(with_printed_numbers(with_ids_once(context["body"])))
    paragraphs = doctree.findall(nodes.paragraph) if doctree and pagename != "book/intro" else ()
    texts = (node.astext() for node in paragraphs)
    first = next((text for text in texts if len(text) > 60), DESCRIPTION)
    description = " ".join(first.split())
    if len(description) > 200:
        description = description[:199].rsplit(" ", 1)[0] + " …"
    title = unescape(re.sub("<[^>]+>", "", context.get("title", "")))
    static = context["pathto"]("_static", resource=True)
    tags = head(title, description, static, app.config.html_baseurl)
    context["metatags"] = f"{context.get('metatags', '')}{tags}\n"


def know_address(app, config) -> None:
    """Take the address that the book will have from the environment, with a slash at its end."""
    if address := os.environ.get(ADDRESS):
        config.html_baseurl = address.rstrip("/") + "/"


def setup(app) -> dict:
    app.connect("config-inited", know_address)
    app.add_node(HideCodeCellNode, override=True, html=(begin_code, end_code))
    app.connect("doctree-resolved", code_after_figure)
    app.connect("html-page-context", describe, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
