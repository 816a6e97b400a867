"""The 20-minute path: five stops through the book, listed on the first page and marked where they stand.

A stop is a section with a label. Under its heading stands which stop it is, and at its end a button leads to the next.
The build fails where a section has lost its label.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective


class Stop(NamedTuple):
    page: str
    label: str
    title: str
    minutes: int
    finds: str


STOPS = (
    Stop("notebooks/01_motivation", "ch01-kinds", "The question", 3, "which questions more answers help"),
    Stop("notebooks/02_oracle", "ch02-one-price", "The price", 5, "one price lets every question decide for itself"),
    Stop("notebooks/03_budgets", "ch03-slopes", "The frontier", 4, "the best accuracy at every budget, exactly"),
    Stop("notebooks/09_stopping", "ch09-idea", "Stopping", 5, "the same price says when to stop asking"),
    Stop("notebooks/10_deploy", "ch10-ten-lines", "Does it pay for me?", 3, "three commands on your own answers"),
)


class PathList(nodes.General, nodes.Element):
    """Where the list of stops goes."""


class PathDirective(SphinxDirective):
    """``{path}``: the list of stops."""

    def run(self) -> list[nodes.Node]:
        return [PathList()]


def place_stops(app, doctree, docname) -> None:
    """Write the list where it is asked for, and mark the stops of this page."""

    def link(at: int) -> str:
        return app.builder.get_relative_uri(docname, STOPS[at].page) + "#" + STOPS[at].label

    for asked in list(doctree.findall(PathList)):
        items = "".join(
            f'<li><a href="{link(at)}"><strong>{escape(stop.title)}</strong> {escape(stop.finds)}</a>'
            f"<span>{stop.minutes} min</span></li>"
            for at, stop in enumerate(STOPS)
        )
        asked.replace_self(nodes.raw("", f'<ol class="adalib-path">{items}</ol>', format="html"))
    for at, stop in enumerate(STOPS):
        if stop.page != docname:
            continue
        section = next((node for node in doctree.findall(nodes.section) if stop.label in node["ids"]), None)
        if section is None:
            raise ExtensionError(f"{docname}: the path stops at a section labelled ({stop.label})=, and there is none")
        head = f"Stop {at + 1} of {len(STOPS)} on the 20-minute path: {escape(stop.title.lower())}"
        section.insert(1, nodes.raw("", f'<p class="adalib-path-mark">{head}</p>', format="html"))
        on, where = (link(at + 1), f"{STOPS[at + 1].title} →") if at + 1 < len(STOPS) else (None, "")
        home = app.builder.get_relative_uri(docname, "book/intro") + "#from-here"
        on, where = (on, f"Next stop: {where}") if on else (home, "The end of the path: where to go from here →")
        section.append(
            nodes.raw("", f'<p class="adalib-path-next"><a href="{on}">{escape(where)}</a></p>', format="html")
        )


def setup(app) -> dict:
    app.add_node(PathList)
    app.add_directive("path", PathDirective)
    app.connect("doctree-resolved", place_stops, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
