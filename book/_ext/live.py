"""Mark the pages whose cells run in the page, and name the modules that they load first.

The cells are those that the page shows. ``book/_static/live.js`` adds the buttons and, at the first
press, Python, which ``make live`` puts next to the book (`editions.pyodide`). Every chapter is such
a page, unless the metadata of its notebook has ``"adalib": {"live": false}``.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes

from contents import pages

# What a chapter may import by name, numpy first; other modules come when a cell imports them.
_FIRST = ("numpy", "lazy_loader", "adalib", "pandas", "plotly", "scipy")
_IMPORT = re.compile(r"^(?:import|from) (\w+)", re.M)
_REQUIRED_BY = {"pandas": ("dateutil", "six"), "plotly": ("narwhals", "packaging")}


def needs(code: str) -> list[str]:
    """List the modules that cells import, in the order in which they are loaded.

    >>> needs("import numpy as np\\nimport adalib")
    ['numpy', 'lazy_loader', 'adalib']
    """
    imported = {*_IMPORT.findall(code), "lazy_loader"}
    if "adalib.teach.figures" in code:
        imported |= {"pandas", "plotly"}
    modules: list[str] = []
    for module in _FIRST:
        if module in imported:
            modules += [module, *_REQUIRED_BY.get(module, ())]
    return modules


def find_live_pages(app) -> None:
    """Ask the registry once which pages have live cells."""
    app.live_pages = {page.name for page in pages(Path(app.srcdir)) if page.runs_live}


def mark(app, pagename, templatename, context, doctree) -> None:
    """Add the scripts and the list of modules to a page with live cells."""
    if not doctree or pagename not in app.live_pages:
        return
    code = "\n".join(block.astext() for block in doctree.findall(nodes.literal_block))
    app.add_js_file("live.js", loading_method="defer")
    app.add_css_file("live.css")
    modules = " ".join(needs(code))
    context["metatags"] = (
        context.get("metatags", "") + f'<meta name="adalib-live" content="{modules}">\n'
    )


def setup(app) -> dict:
    app.connect("builder-inited", find_live_pages)
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
