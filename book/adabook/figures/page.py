"""What it takes to put something on a page: a figure with its caption, markup, a link.

A figure is stored on a page of the book as data, which the book's own copy of plotly.js draws.
Texts are escaped, since they may come from a model or from a reader's file.
"""

from __future__ import annotations

import html
import json
import re
import uuid
from importlib.resources import files

import plotly.graph_objects as go

from adabook.figures.hover import describe_points
from adabook.figures.style import TEMPLATE

_DRAWINGS = files("adabook.figures") / "drawings"


class HTML:
    """Markup that shows itself on a page and in JupyterLab."""

    def __init__(self, html_text: str):
        self.html = html_text

    def _repr_html_(self) -> str:
        return self.html


class _Shown:
    """A figure ready for display: plotly's format for JupyterLab, inert HTML for a book page."""

    def __init__(self, fig: go.Figure, alt: str):
        self.fig = fig
        self.alt = alt

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        without_arrays = json.loads(self.fig.to_json())  # JupyterLite's kernel takes no arrays
        return {"application/vnd.plotly.v1+json": without_arrays, "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        name = f"figure-{uuid.uuid4().hex}"
        caption = bold_finding(self.alt)
        height = self.fig.layout.height or self.fig.layout.template.layout.height
        # Data, not code: figures.js draws it. "<" is escaped so that no label can close the
        # element.
        data = self.fig.to_json().replace("<", "\\u003c")
        return (
            f'<figure class="adalib-figure"><div id="{name}" class="plotly-graph-div" role="img" '
            f'aria-labelledby="{name}-told" style="min-height: {height:g}px"></div>'
            f'<script type="application/json">{data}</script>'
            f'<figcaption id="{name}-told">{caption}</figcaption></figure>'
        )


def show(fig: go.Figure, alt: str | None = None) -> _Shown:
    """Put a figure on the page: make it the last expression of a cell.

    ``alt`` says what there is to see, the finding between ``**``: it is the caption, and what is
    told to readers who cannot see the figure; by default the figure's title. The book's template
    is applied to a copy, and what the figure sets itself wins. Explained in CONTRIBUTING.md.

    >>> bars = go.Figure(go.Bar(y=[1, 3]))
    >>> shown = show(bars, alt="Two bars; the second is three times the first.")
    >>> "three times" in shown._repr_html_()
    True
    """
    alt = alt or fig.layout.title.text
    if not alt:
        raise ValueError(
            "the figure has no text alternative: pass alt= with a sentence that says what it shows"
        )
    shown = go.Figure(fig).update_layout(template=TEMPLATE)
    describe_points(shown)
    return _Shown(shown, alt)


def drawing(name: str, caption: str) -> HTML:
    """Put a drawing made by hand on the page, with a caption that says what to look for.

    ``name`` is that of a file in ``drawings/``. It becomes part of the page, so that it takes the
    page's letters and colours, in the dark too.

    >>> drawing("envelope", "**The band skips two answers.**").html.count("<figcaption>")
    1
    """
    svg = (_DRAWINGS / f"{name}.svg").read_text(encoding="utf-8")
    return HTML(
        f'<figure class="adalib-drawing">{svg}'
        f"<figcaption>{bold_finding(caption)}</figcaption></figure>"
    )


def plain(text: str) -> str:
    """Escape text from a model or a file for a label.

    Plotly reads a few HTML tags in labels, and this text must stay text.

    >>> plain("1 < 2 <b>")
    '1 &lt; 2 &lt;b&gt;'
    """
    return html.escape(str(text), quote=False)


def bold_finding(caption: str) -> str:
    """Return a caption as markup with its finding in bold.

    The finding is the text between pairs of stars, or else the first of several sentences.

    >>> bold_finding("Cost falls slowly. A line per year."), bold_finding("A line per year.")
    ('<strong>Cost falls slowly.</strong> A line per year.', 'A line per year.')
    """
    if "**" not in caption:
        caption = re.sub(r"^(.{10,160}?[.?!])(?= [A-Z(])", r"**\1**", caption, flags=re.DOTALL)
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html.escape(caption, quote=True))


def link(label: str, markup: str) -> str:
    """Link to a label of the book.

    The build looks up where it is (``book/press/cross_references.py``).
    """
    return f'<a class="adalib-see" href="#{html.escape(label, quote=True)}">{markup}</a>'


def chapter_name(words: str) -> str:
    """Mark words that the build replaces by the name of the chapter that holds the label."""
    return f'<span class="adalib-chapter">{words}</span>'
