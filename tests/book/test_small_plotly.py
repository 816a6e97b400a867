"""The parts of plotly.js and of the theme's icons that the book carries: small, and all that its
pages need."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
import small_plotly
from offline import EAGER, ICONS, PLOTLY, plotly_source
from small_icons import small_icons

KEPT = {"scatter", *small_plotly.TRACES}
THEME = files("pydata_sphinx_theme") / "theme" / "pydata_sphinx_theme" / "static" / ICONS
PAGE = (
    '<i class="fa-solid fa-list"></i><i class="fas fa-file-pdf"></i>'
    '<span class="switch fa-solid fa-sun fa-lg">'
)


def test_the_books_plotly_is_a_third_of_the_whole(html):
    whole = plotly_source().read_text(encoding="utf-8")
    built = (html / "_static" / "lib" / PLOTLY).read_text(encoding="utf-8")
    part = small_plotly.small_plotly(whole)
    assert built == EAGER + part, "the built book has another plotly: run `make book`"
    assert len(part) < len(whole) / 3
    assert part[:100] == whole[:100]  # with its name, version and licence
    with pytest.raises(ValueError, match="bar, staircase"):
        small_plotly.small_plotly(whole, ("bar", "staircase"))


def test_it_draws_each_kind_of_trace(html, new_page):
    page = new_page()
    page.goto((html / "search.html").as_uri())
    page.add_script_tag(path=html / "_static" / "lib" / PLOTLY)
    drawn = page.evaluate(
        """() => Plotly.newPlot(document.body.appendChild(document.createElement("div")), [
            {type: "scatter", y: [1, 2], fill: "tozeroy", error_y: {array: [0.1, 0.1]},
             mode: "lines+markers"},
            {type: "bar", y: [1, 2]},
            {type: "heatmap", z: [[1, 2], [3, 4]], xaxis: "x2", yaxis: "y2",
             colorbar: {title: {text: "c"}}},
        ], {grid: {rows: 1, columns: 2, pattern: "independent"},
            annotations: [{text: "b", x: 0, y: 1}],
            shapes: [{type: "rect", x0: 0, x1: 1, y0: 0, y1: 1}]}).then((div) => [
            ".scatterlayer .point", ".barlayer .point", ".heatmaplayer image",
            ".annotation", ".shapelayer path", ".cbtitle",
        ].map((part) => div.querySelectorAll(part).length > 0))"""
    )
    assert drawn == [True] * 6
    assert set(page.evaluate("Object.keys(Plotly.PlotSchema.get().traces)")) == KEPT


def test_only_the_icons_of_the_pages_are_kept():
    theme = THEME.read_text(encoding="utf-8")
    made = small_icons(theme, [PAGE, PAGE])
    icons = dict(re.findall(r'"([\w-]+)": \[\d+, \d+, "(M[^"]+)"\]', made))
    assert list(icons) == ["file-pdf", "list", "sun"]
    # A sun is there as an outline, too.
    outline = re.search(r'[{,]sun:\[\d+,\d+,\[[^]]*\],"\w+","([^"]+)"', theme)[1]
    assert icons["sun"] != outline
    with pytest.raises(ValueError, match="'no-such-thing' icon"):
        small_icons(theme, ['<i class="fas fa-no-such-thing"></i>'])
