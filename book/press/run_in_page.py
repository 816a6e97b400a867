"""Say where a chapter runs, and mark the pages whose cells run in the page.

The cells are those that the page shows. ``book/_static/live.js`` adds the buttons and, at the first
press, Python, which ``make live`` puts next to the book (`editions.pyodide`). Every lesson is such
a page, unless the metadata of its notebook has ``"adalib": {"live": false}``.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes

from contents import lessons
from press.address import colab_address


def find_live_pages(app) -> None:
    """Ask the registry once which chapters have live cells, and which have not."""
    listed = lessons(Path(app.srcdir))
    app.live_pages = {page.name for page in listed if page.runs_live}
    app.still_pages = {page.name for page in listed if not page.runs_live}


def say_where_it_runs(app, doctree, docname) -> None:
    """Say below the title of a chapter where its code runs."""
    if docname not in app.live_pages | app.still_pages:
        return
    here = docname not in app.still_pages
    page = "in this page, " if here else ""
    line = nodes.paragraph("", f"Runs {page}in JupyterLab (the download above)")
    line["classes"].append("adalib-runs")
    if repository := app.config.adalib_repository:
        stem = docname.rpartition("/")[2]
        colab = nodes.reference("", "Colab", refuri=colab_address(repository, stem))
        line += [nodes.Text(" and on "), colab]
    line += nodes.Text("." if here else "; it uses XGBoost, which no browser runs.")
    title = next(iter(doctree.findall(nodes.title)))
    title.parent.insert(title.parent.index(title) + 1, line)


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
    app.connect("doctree-resolved", say_where_it_runs)
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
