"""Marks the pages whose cells run in the page, and says which modules they load first.

The sources are those that the page shows; ``book/_static/live.js`` adds the buttons and, at the first press, Python,
which ``make live`` puts beside the book (`editions.pyodide`). Without it a page weighs a script more.
"""

from __future__ import annotations

import re

from docutils import nodes

PAGES = re.compile(r"notebooks/(0[0-5]_|10_|11_|13_|appendix_)")
# What a chapter may import by name, numpy first; whatever else turns out to be needed comes when it is imported.
_FIRST = ("numpy", "lazy_loader", "adalib", "pandas", "plotly", "scipy")
_IMPORT = re.compile(r"^(?:import|from) (\w+)", re.M)
_WITH = {"pandas": ("dateutil", "six"), "plotly": ("narwhals", "packaging")}


def needs(code: str) -> list[str]:
    """The modules that cells import, in the order in which they are loaded.

    >>> needs("import numpy as np\\nimport adalib")
    ['numpy', 'lazy_loader', 'adalib']
    """
    named = {*_IMPORT.findall(code), "lazy_loader"} | (
        {"pandas", "plotly"} if "adalib.teach.figures" in code else set()
    )
    return [
        module for first in _FIRST if first in named for module in (first, *_WITH.get(first, ()))
    ]


def mark(app, pagename, templatename, context, doctree) -> None:
    if not doctree or not PAGES.match(pagename):
        return
    code = "\n".join(block.astext() for block in doctree.findall(nodes.literal_block))
    app.add_js_file("live.js", loading_method="defer")
    app.add_css_file("live.css")
    wanted = " ".join(needs(code))
    context["metatags"] = (
        context.get("metatags", "") + f'<meta name="adalib-live" content="{wanted}">\n'
    )


def setup(app) -> dict:
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
