"""Links that code writes lead to the book's labels; an unknown label stops the build.

Text links to a label by MyST's own syntax. A table that a cell makes cannot: it writes ``<a
class="adalib-see" href="#label">``, and the page that holds the label is looked up here, where
Sphinx knows all of them. Inside such a link ``<span class="adalib-chapter">`` holds words that give
way to the number of that page, "chapter 7".
"""

from __future__ import annotations

import re

from sphinx.util import logging

LINK = re.compile(r'(<a class="adalib-see" href=")#([\w-]+)"([^>]*>)(.*?</a>)', re.S)
CHAPTER = re.compile(r'<span class="adalib-chapter">(.*?)</span>', re.S)
logger = logging.getLogger(__name__)


def resolve(app, pagename, templatename, context, doctree) -> None:
    """Give every such link of a page the address of its label and the number of its chapter."""
    place_by_label = app.env.get_domain("std").anonlabels

    def address(match: re.Match) -> str:
        start, label, attributes, words = match.groups()
        if label not in place_by_label:
            logger.warning(
                "a table links to the label %r, which no page has", label, location=pagename
            )
            return match.group(0)
        document, anchor = place_by_label[label][:2]
        page = "" if document == pagename else app.builder.get_relative_uri(pagename, document)
        words = CHAPTER.sub(lambda held: _called(app.numbers.get(document, ""), held[1]), words)
        return f'{start}{page}#{anchor}"{attributes}{words}'

    if "body" in context:
        context["body"] = LINK.sub(address, context["body"])


def _called(number: str, words: str) -> str:
    """Name the chapter with this number, with a capital if the words that stand there have one.

    >>> _called("7", "In the book"), _called("A", "in the book"), _called("", "in the book")
    ('Chapter 7', 'appendix A', 'in the book')
    """
    if not number:
        return words
    kind = "chapter" if number.isdigit() else "appendix"
    if words[0].isupper():
        kind = kind.capitalize()
    return f"{kind} {number}"


def setup(app) -> dict:
    app.connect("html-page-context", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
