"""Mend what docutils and the extensions of others write and screen readers stumble over."""

from __future__ import annotations

import re

_ID = re.compile(r'(<[a-z][^<>]*?) id="([^"]+)"')


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


def mend(app, pagename, templatename, context, doctree) -> None:
    """Mend the markup of a page."""
    if "body" in context:
        context["body"] = with_plain_roles(with_ids_once(context["body"]))


def setup(app) -> dict:
    app.connect("html-page-context", mend, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
