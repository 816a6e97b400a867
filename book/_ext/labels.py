"""Links that code writes into a page lead to the book's labels, and a label that does not exist stops the build.

Text links to a label by MyST's own syntax. A table that a cell makes cannot: it writes ``<a class="adalib-see"
href="#label">``, and the page that holds the label is looked up here, where Sphinx knows all of them.
"""

from __future__ import annotations

import re

from sphinx.util import logging

LINK = re.compile(r'(<a class="adalib-see" href=")#([\w-]+)"')
logger = logging.getLogger(__name__)


def resolve(app, pagename, templatename, context, doctree) -> None:
    """Give every such link of a page the address of its label."""
    known = app.env.get_domain("std").anonlabels

    def address(match: re.Match) -> str:
        start, label = match.groups()
        if label not in known:
            logger.warning(
                "a table links to the label %r, which no page has", label, location=pagename
            )
            return match.group(0)
        document, anchor = known[label][:2]
        page = "" if document == pagename else app.builder.get_relative_uri(pagename, document)
        return f'{start}{page}#{anchor}"'

    if "body" in context:
        context["body"] = LINK.sub(address, context["body"])


def setup(app) -> dict:
    app.connect("html-page-context", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
