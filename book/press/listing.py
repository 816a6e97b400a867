"""Lists of what the book holds, made from its built pages: moving figures, games, exercises.

A page asks for one by ``<div data-adalib-list="moving"></div>``; it is filled when all pages are
written.
"""

from __future__ import annotations

import json
import re
from html import escape, unescape
from pathlib import Path

_TITLE = re.compile(r"<h1>(.*?)<a class=\"headerlink\"", re.DOTALL)
_FIGURE = re.compile(r'<figure class="adalib-figure">.*?</figure>', re.DOTALL)
_DATA = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
_NUMBER = re.compile(
    r'<a class="adalib-number" id="([^"]+)"[^>]*>([^<]+)</a>\s*(.*?)</figcaption>', re.DOTALL
)
_EXERCISE = re.compile(
    r'<div class="exercise admonition" id="([^"]+)">\s*<p class="admonition-title">'
    r'<span class="caption-number">(.*?)</span>(.*?)</p>',
    re.DOTALL,
)
_PLACE = re.compile(r'(<div data-adalib-list="(\w+)">).*?(</div>)', re.DOTALL)
_GAME = re.compile(
    r'"adalib-told"><a class="adalib-number" id="([^"]+)"[^>]*>([^<]+)</a>(.*?)</(?:fig|p)',
    re.DOTALL,
)


def plain(markup: str) -> str:
    """The text of a piece of HTML, on one line.

    >>> plain("<b>One</b> price,\\n for &lt; all")
    'One price, for < all'
    """
    return " ".join(unescape(re.sub("<[^>]+>", "", markup)).split())


def moving(page: str) -> list[tuple[str, str, str]]:
    """Where, by what name and to what end a reader can move something on a page."""
    found = []  # with its place on the page
    for game in _GAME.finditer(page):
        label, name, caption = game.groups()
        found.append((game.start(), label, name.rstrip("."), plain(caption).rstrip(".")))
    for figure in _FIGURE.finditer(page):
        data = _DATA.search(figure[0])
        numbered = _NUMBER.search(figure[0])
        if data and numbered and json.loads(data[1])["layout"].get("sliders"):
            label, name, caption = numbered.groups()
            first_sentence = plain(caption).split(". ")[0].rstrip(".")
            found.append((figure.start(), label, name.rstrip("."), first_sentence))
    return [line[1:] for line in sorted(found)]


def exercises(page: str) -> list[tuple[str, str, str]]:
    """The exercises of a page: where, by what number, and of what kind."""
    return [
        (label, plain(name), plain(kind).strip("()"))
        for label, name, kind in _EXERCISE.findall(page)
    ]


def listed(address: str, title: str, lines: list[tuple[str, str, str]]) -> str:
    """The part of a list that one page has; nothing where the page has none."""
    if not lines:
        return ""
    items = ""
    for label, name, what in lines:
        items += (
            f'<li><a href="{address}#{label}">{escape(name)}</a> <span>{escape(what)}</span></li>'
        )
    return f'<p><a href="{address}">{escape(title)}</a></p><ul class="adalib-listing">{items}</ul>'


def make_lists(app, exception) -> None:
    """Read the built pages in the order of the book and fill the lists where they are asked for."""
    index = Path(app.outdir) / "book" / "index.html"
    if exception is not None or app.builder.format != "html" or not index.exists():
        return
    lists = {"moving": "", "exercises": ""}
    for name in [app.config.root_doc, *app.env.toctree_includes.get(app.config.root_doc, [])]:
        path = Path(app.outdir) / f"{name}.html"
        if not path.exists() or path == index:
            continue
        page = path.read_text(encoding="utf-8")
        titled = _TITLE.search(page)
        title = plain(titled[1]) if titled else name
        for kind, read in (("moving", moving), ("exercises", exercises)):
            lists[kind] += listed(f"../{name}.html", title, read(page))
    page = index.read_text(encoding="utf-8")
    index.write_text(
        _PLACE.sub(lambda place: place[1] + lists[place[2]] + place[3], page), encoding="utf-8"
    )


def setup(app) -> dict:
    app.connect("build-finished", make_lists)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
