"""Mark the pages whose cells run in the page.

The cells are those that the page shows. ``book/_static/live.js`` adds the buttons and, at the first
press, Python, which ``make live`` puts next to the book (`editions.pyodide`). Every chapter is such
a page, unless the metadata of its notebook has ``"adalib": {"live": false}``.
"""

from __future__ import annotations

from pathlib import Path

from contents import pages


def find_live_pages(app) -> None:
    """Ask the registry once which pages have live cells."""
    app.live_pages = {page.name for page in pages(Path(app.srcdir)) if page.runs_live}


def mark(app, pagename, templatename, context, doctree) -> None:
    """Add the scripts and a mark to a page with live cells."""
    if doctree and pagename in app.live_pages:
        app.add_js_file("live.js", loading_method="defer")
        app.add_css_file("live.css")
        # Other scripts ask for it.
        mark_of_page = '<meta name="adalib-live" content="yes">\n'
        context["metatags"] = context.get("metatags", "") + mark_of_page


def setup(app) -> dict:
    app.connect("builder-inited", find_live_pages)
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
