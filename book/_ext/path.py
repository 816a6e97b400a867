"""The 20-minute path: six stops through the book, listed on the first page and marked where they stand.

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
    last: str = ""  # the section that ends with the button to the next stop, if it is another


STOPS = (
    Stop(
        "notebooks/01_motivation",
        "ch01-kinds",
        "The question",
        5,
        "which questions do more answers help?",
    ),
    Stop(
        "notebooks/02_oracle",
        "ch02-one-price",
        "The price",
        3,
        "lets every question decide for itself",
    ),
    Stop(
        "notebooks/03_budgets",
        "ch03-slopes",
        "The frontier",
        4,
        "the best accuracy at every budget, exactly",
    ),
    Stop(
        "notebooks/07_results",
        "ch07-noise",
        "What the text cannot tell",
        3,
        "random numbers do as well, and neither gains on new questions",
    ),
    Stop(
        "notebooks/09_stopping",
        "ch09-idea",
        "Stopping",
        3,
        "the same price says when to stop asking",
    ),
    Stop(
        "notebooks/10_deploy",
        "ch10-money",
        "Does it pay for me?",
        2,
        "your own answers, your own prices",
    ),
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
        found = {
            label: section for section in doctree.findall(nodes.section) for label in section["ids"]
        }
        for label in filter(None, (stop.label, stop.last)):
            if label not in found:
                raise ExtensionError(
                    f"{docname}: the path stops at a section labelled ({label})=, and there is none"
                )
        head = f"Stop {at + 1} of {len(STOPS)} on the 20-minute path: {escape(stop.title.lower())}"
        found[stop.label].insert(
            1, nodes.raw("", f'<p class="adalib-path-mark">{head}</p>', format="html")
        )
        on, where = (
            (link(at + 1), f"{STOPS[at + 1].title} →") if at + 1 < len(STOPS) else (None, "")
        )
        home = app.builder.get_relative_uri(docname, "book/intro") + "#from-here"
        on, where = (
            (on, f"Next stop: {where}")
            if on
            else (home, "The end of the path: where to go from here →")
        )
        found[stop.last or stop.label].append(
            nodes.raw(
                "",
                f'<p class="adalib-path-next"><a href="{on}">{escape(where)}</a></p>',
                format="html",
            )
        )


def setup(app) -> dict:
    app.add_node(PathList)
    app.add_directive("path", PathDirective)
    app.connect("doctree-resolved", place_stops, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
