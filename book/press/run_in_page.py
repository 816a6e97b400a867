"""Say where a chapter runs, and mark the pages whose cells run in the page.

The cells are those that the page shows. ``book/_static/live.js`` adds the buttons and, at the first
press, Python, which ``make live`` puts next to the book (`editions.pyodide`). Every chapter is such
a page, unless the metadata of its notebook has ``"adalib": {"live": false}``.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes

from contents import pages
from press.address import colab_address

_WHY_NOT = (
    "This page uses XGBoost, which does not run in the browser. To run and change its cells, "
    "download the notebook at the top of this page; it says how to install the package."
)


def find_live_pages(app) -> None:
    """Ask the registry once which chapters have live cells, and which have not."""
    chapters = [
        page for page in pages(Path(app.srcdir)) if page.number and page.path.suffix == ".ipynb"
    ]
    app.live_pages = {page.name for page in chapters if page.runs_live}
    app.still_pages = {page.name for page in chapters if not page.runs_live}


def say_where_it_runs(app, doctree, docname) -> None:
    """Say below the title of a chapter where its code runs."""
    if docname not in app.live_pages | app.still_pages:
        return
    page = "" if docname in app.still_pages else "in this page, "
    line = nodes.paragraph("", f"Runs {page}in JupyterLab (the download above)")
    line["classes"].append("adalib-runs")
    if repository := app.config.adalib_repository:
        stem = docname.rpartition("/")[2]
        colab = nodes.reference("", "Colab", refuri=colab_address(repository, stem))
        line += [nodes.Text(" and on "), colab]
    line += nodes.Text(".")
    title = next(iter(doctree.findall(nodes.title)))
    title.parent.insert(title.parent.index(title) + 1, line)


def explain(app, doctree, docname) -> None:
    """Say before the first cell of a chapter without live cells why they do not run here."""
    if docname not in app.still_pages:
        return
    for container in doctree.findall(nodes.container):
        if "cell" in container["classes"]:
            note = nodes.paragraph("", "", nodes.emphasis("", _WHY_NOT), classes=["adalib-still"])
            container.parent.insert(container.parent.index(container), note)
            return


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
    app.connect("doctree-resolved", explain)
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
