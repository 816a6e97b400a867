"""The page that a host shows in the place of one that is not there: ``404.html``.

A host shows it at the address that was asked for, in any folder, so its links count from the
book's own address (``ADALIB_BOOK_URL``), or from the host's root where that is not set.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

NAME = "404"


def add_page(app) -> Iterator[tuple[str, dict[str, str], str]]:
    """Give Sphinx the page's name, its context and its template."""
    base = f'<base href="{escape(app.config.html_baseurl or "/")}">\n'
    yield NAME, {"title": "Page not found", "metatags": base}, f"{NAME}.html"


def setup(app) -> dict:
    app.connect("html-collect-pages", add_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
