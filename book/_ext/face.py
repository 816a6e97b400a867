"""What a page shows of itself: its code behind a small link, its name and picture where a link to it is shared.

Code that only draws stands after what it drew, folded, so that a figure is followed by its caption and then by "code".
``book/_static/code.js`` adds the switch in the header that opens all of it.
"""

from __future__ import annotations

import os
import re
from html import escape, unescape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode

DESCRIPTION = "Put a price on compute, and every question decides for itself how many answers it gets."
CARD, ICON = "card.png", "icon.svg"
ADDRESS = "ADALIB_BOOK_URL"
_ID = re.compile(r'(<[a-z][^<>]*?) id="([^"]+)"')
_NUMBER = r"(?:<(?:a|span)\b[^>]*>)*[+\N{MINUS SIGN}-]?\d[\d.,]*%?(?:</(?:a|span)>)*"
_INTERVAL = re.compile(
    r'<(pre|code|script)\b.*?</\1>|<(span|div) class="math\b.*?</\2>' + rf"|(\[{_NUMBER},)\s({_NUMBER}\])", re.DOTALL
)


def begin_code(translator, node: HideCodeCellNode) -> None:
    """Fold a part of a cell under one word."""
    classes = " ".join(["adalib-code", *node["classes"]])
    word = "code" if "above-input" in node["classes"] else "output"
    translator.body.append(f'<details class="{classes}"><summary>{word}</summary>\n')


def end_code(translator, node: HideCodeCellNode) -> None:
    translator.body.append("</details>\n")


def code_after_figure(app, doctree, docname) -> None:
    """Move folded code behind the output of its cell."""
    for fold in list(doctree.findall(HideCodeCellNode)):
        cell = fold.parent
        if "above-input" in fold["classes"] and cell.index(fold) < len(cell) - 1:
            cell.remove(fold)
            cell.append(fold)


def with_ids_once(body: str) -> str:
    """The page without ids that an earlier element has: exercises and theorems repeat some; links find the first.

    >>> with_ids_once('<div id="a"><p id="a"></p></div>')
    '<div id="a"><p></p></div>'
    """
    seen: set[str] = set()

    def once(tag: re.Match) -> str:
        known = tag[2] in seen
        seen.add(tag[2])
        return tag[1] if known else tag[0]

    return _ID.sub(once, body)


def with_whole_intervals(body: str) -> str:
    """The page with intervals that stay on one line; code and formulas are left as they are.

    >>> with_whole_intervals("<td>+1.2 [<b></b>, 0] [-0.3, +2.7]</td> <code>[1, 2]</code>")
    '<td>+1.2 [<b></b>, 0] [-0.3,&nbsp;+2.7]</td> <code>[1, 2]</code>'
    """
    return _INTERVAL.sub(lambda found: f"{found[3]}&nbsp;{found[4]}" if found[3] else found[0], body)


def describe(app, pagename, templatename, context, doctree) -> None:
    """The head of a page: what search engines and shared links say of it, and its icon."""
    if "body" in context:
        context["body"] = with_whole_intervals(with_ids_once(context["body"]))
    paragraphs = doctree.findall(nodes.paragraph) if doctree and pagename != "book/intro" else ()
    said = next((" ".join(text.split()) for node in paragraphs if len(text := node.astext()) > 60), DESCRIPTION)
    said = said if len(said) <= 200 else said[:199].rsplit(" ", 1)[0] + " …"
    title = unescape(re.sub("<[^>]+>", "", context.get("title", "")))
    icon, address = context["pathto"](f"_static/{ICON}", resource=True), app.config.html_baseurl
    tags = [
        f'<meta name="description" content="{escape(said)}">',
        f'<meta property="og:title" content="{escape(title)}">',
        f'<meta property="og:description" content="{escape(said)}">',
        '<meta property="og:type" content="article">',
        f'<link rel="icon" type="image/svg+xml" href="{icon}">',
    ]
    if address:  # other sites show a picture only by its whole address
        tags.append(f'<meta property="og:image" content="{escape(address)}_static/{CARD}">')
        tags.append('<meta name="twitter:card" content="summary_large_image">')
    context["metatags"] = context.get("metatags", "") + "\n".join(tags) + "\n"


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
