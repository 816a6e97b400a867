"""Chapters have numbers: in their titles, in the sidebar, and every mention of "chapter 5" leads there.

A chapter's number is the one in its file name. The titles in the notebooks stay bare, so that a chapter can move.
"""

from __future__ import annotations

import re

from docutils import nodes

_FILE = re.compile(r"notebooks/(\d+)_")
_MENTION = re.compile(r"\b[Cc]hapters?\s+\d+(?:(?:,\s+|\s+and\s+|\s+to\s+)\d+)*\b")
_NUMBER = re.compile(r"(?:\b[Cc]hapters?\s+)?\d+")


def number(docname: str) -> int | None:
    """The number of a chapter; None for a page that is none.

    Examples
    --------
    >>> number("notebooks/03_budgets"), number("book/intro")
    (3, None)
    """
    found = _FILE.match(docname)
    return int(found[1]) if found else None


def pieces(text: str) -> list[tuple[str, int | None]]:
    """Cut a text into parts that mention a chapter, with its number, and parts that do not.

    Examples
    --------
    >>> pieces("See chapters 2 and 3.")
    [('See ', None), ('chapters 2', 2), (' and ', None), ('3', 3), ('.', None)]
    """
    found, at = [], 0
    for mention in _MENTION.finditer(text):
        for part in _NUMBER.finditer(mention[0]):
            start, end = mention.start() + part.start(), mention.start() + part.end()
            found += [(text[at:start], None), (text[start:end], int(re.search(r"\d+", part[0])[0]))]
            at = end
    return [(part, chapter) for part, chapter in [*found, (text[at:], None)] if part]


def number_title(app, doctree) -> None:
    """Put the number before the title, ahead of whatever collects titles."""
    chapter = number(app.env.docname)
    title = next(iter(doctree.findall(nodes.title)), None)
    if chapter is not None and title is not None:
        title.insert(0, nodes.Text(f"{chapter}. "))


def link_mentions(app, doctree, docname) -> None:
    """Turn every mention of another chapter in running text into a link."""
    pages = {number(other): other for other in app.env.found_docs if number(other) is not None}
    for text in list(doctree.findall(nodes.Text)):
        if not _MENTION.search(text) or _inside(text, nodes.reference, nodes.literal, nodes.title, nodes.literal_block):
            continue
        parts = []
        for part, chapter in pieces(str(text)):
            if chapter in pages and pages[chapter] != docname:
                uri = app.builder.get_relative_uri(docname, pages[chapter])
                parts.append(nodes.reference(part, part, refuri=uri, internal=True))
            else:
                parts.append(nodes.Text(part))
        text.parent.replace(text, parts)


def _inside(node: nodes.Node, *kinds: type) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False


def setup(app) -> dict:
    app.connect("doctree-read", number_title, priority=100)
    app.connect("doctree-resolved", link_mentions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
