"""The 20-minute path: six stops, listed on the first page and marked on their pages.

A stop is a section with a label. Under its heading stands which stop it is, and at its end a button
leads to the next. The build fails where a section has lost its label.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective


class Stop(NamedTuple):
    """A section of the path: its label, its name, its minutes and what it finds."""

    label: str
    title: str
    minutes: int
    finds: str
    last: str = ""  # the section that ends with the button to the next stop, if it is another


STOPS = (
    Stop(
        "motivation-kinds",
        "The question",
        4,
        "more answers help some questions a lot, and others not at all",
    ),
    Stop("oracle-one-price", "The price", 4, "lets every question decide for itself"),
    Stop("budgets-slopes", "The frontier", 3, "one sort gives the best accuracy at every budget"),
    Stop("duality-shadow", "Duality", 3, "the price is what one more answer is worth"),
    Stop(
        "results-noise",
        "The text",
        3,
        "a small gain on new questions; on old ones random numbers seem to help as much",
    ),
    Stop("stopping-ladder", "Watching", 3, "five points with a small model, from two causes"),
)


class PathList(nodes.General, nodes.Element):
    """Where the list of stops goes."""


class PathDirective(SphinxDirective):
    """``{path}``: the list of stops."""

    def run(self) -> list[nodes.Node]:
        return [PathList()]


def place_stops(app, doctree, docname) -> None:
    """Write the list where it is asked for, and mark the stops of this page."""
    place_by_label = app.env.get_domain("std").anonlabels

    def link(stop: Stop) -> str:
        page, anchor, *_ = place_by_label[stop.label]
        return f"{app.builder.get_relative_uri(docname, page)}#{anchor}"

    for asked in list(doctree.findall(PathList)):
        _check_labels(place_by_label)
        items = "".join(
            f'<li><a href="{link(stop)}"><strong>{escape(stop.title)}</strong> '
            f"{escape(stop.finds)}</a>"
            f"<span>{stop.minutes} min</span></li>"
            for stop in STOPS
        )
        asked.replace_self(_html(f'<ol class="adalib-path">{items}</ol>'))
    sections = {
        label: section for section in doctree.findall(nodes.section) for label in section["ids"]
    }
    home = app.builder.get_relative_uri(docname, "book/intro") + "#from-here"
    for number, stop in enumerate(STOPS, start=1):
        if place_by_label.get(stop.label, [""])[0] != docname:
            continue
        head = f"Stop {number} of {len(STOPS)} on the 20-minute path: {escape(stop.title.lower())}"
        sections[stop.label].insert(1, _html(f'<p class="adalib-path-mark">{head}</p>'))
        following = STOPS[number] if number < len(STOPS) else None
        if following and following.label in place_by_label:  # a book of some pages may lack it
            address = link(following)
            words = f"Next stop: {following.title} →"
        else:
            address = home
            words = "The end of the path: where to go from here →"
        button = f'<p class="adalib-path-next"><a href="{address}">{escape(words)}</a></p>'
        sections[stop.last or stop.label].append(_html(button))


def _html(markup: str) -> nodes.raw:
    return nodes.raw("", markup, format="html")


def _check_labels(place_by_label: Mapping[str, tuple]) -> None:
    """Stop the build if a section of the path has lost its label."""
    for stop in STOPS:
        for label in filter(None, (stop.label, stop.last)):
            if label not in place_by_label:
                raise ExtensionError(
                    f"the 20-minute path stops at a section labelled ({label})=, and no page has it"
                )


def setup(app) -> dict:
    app.add_node(PathList)
    app.add_directive("path", PathDirective)
    app.connect("doctree-resolved", place_stops, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
