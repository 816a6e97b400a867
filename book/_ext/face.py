"""What a page shows of itself: its code behind a small link, its name and picture where a link to it is shared.

Code that only draws stands after what it drew, folded, so that a figure is followed by its caption and then by "code".
``book/_static/code.js`` adds the switch in the header that opens all of it.
"""

from __future__ import annotations

import re
from html import escape, unescape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode

DESCRIPTION = "Put a price on compute, and every question decides for itself how many answers it gets."
CARD, ICON = "card.png", "icon.svg"
_ID = re.compile(r'(<[a-z][^<>]*?) id="([^"]+)"')


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


def describe(app, pagename, templatename, context, doctree) -> None:
    """The head of a page: what search engines and shared links say of it, and its icon."""
    if "body" in context:
        context["body"] = with_ids_once(context["body"])
    paragraphs = doctree.findall(nodes.paragraph) if doctree and pagename != "book/intro" else ()
    said = next((" ".join(text.split()) for node in paragraphs if len(text := node.astext()) > 60), DESCRIPTION)
    said = said if len(said) <= 200 else said[:199].rsplit(" ", 1)[0] + " …"
    title = unescape(re.sub("<[^>]+>", "", context.get("title", "")))
    static = {name: context["pathto"](f"_static/{name}", resource=True) for name in (CARD, ICON)}
    if app.config.html_baseurl:  # a picture for other sites wants a whole address, where the book has one
        static[CARD] = f"{app.config.html_baseurl}_static/{CARD}"
    tags = [
        f'<meta name="description" content="{escape(said)}">',
        f'<meta property="og:title" content="{escape(title)}">',
        f'<meta property="og:description" content="{escape(said)}">',
        '<meta property="og:type" content="article">',
        f'<meta property="og:image" content="{static[CARD]}">',
        '<meta name="twitter:card" content="summary_large_image">',
        f'<link rel="icon" type="image/svg+xml" href="{static[ICON]}">',
    ]
    context["metatags"] = context.get("metatags", "") + "\n".join(tags) + "\n"


def setup(app) -> dict:
    app.add_node(HideCodeCellNode, override=True, html=(begin_code, end_code))
    app.connect("doctree-resolved", code_after_figure)
    app.connect("html-page-context", describe, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
