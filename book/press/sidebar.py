"""The sidebar's parts for few readers are folded; the one that holds the page is open."""

from __future__ import annotations

from bs4 import BeautifulSoup

#: Parts of `_toc.yml` that a reader of the chapters passes by.
FOLDED = ("Appendices", "For teachers", "Reference")


def folded(contents: str) -> str:
    """Fold these parts in a list of contents, by the browser's own means.

    Examples
    --------
    >>> folded('<p class="caption">Reference</p><ul><li>Index</li></ul>')
    '<details><summary class="caption">Reference</summary><ul><li>Index</li></ul></details>'
    """
    soup = BeautifulSoup(contents, "html.parser")
    for caption in soup.select("p.caption"):
        pages = caption.find_next_sibling("ul")
        if caption.get_text(strip=True) not in FOLDED or pages is None:
            continue
        fold = soup.new_tag("details")
        if pages.select_one(".current"):
            fold["open"] = ""
        caption.name = "summary"
        caption.attrs = {"class": "caption"}
        caption.wrap(fold).append(pages)
    return str(soup)


def fold_sidebar(app, pagename, templatename, context, doctree) -> None:
    """Have the theme draw the sidebar so."""
    draw = context.get("generate_toctree_html")
    if draw:

        def drawn(kind: str, **options) -> object:
            found = draw(kind=kind, **options)
            return folded(str(found)) if kind == "sidebar" else found

        context["generate_toctree_html"] = drawn


def setup(app) -> dict:
    app.connect("html-page-context", fold_sidebar, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
