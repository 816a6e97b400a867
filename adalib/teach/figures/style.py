"""What all figures share: colours, a template, and one way to put a figure on a page.

:func:`show` places a ``plotly`` Figure on a page of the book, where the book's own copy of plotly.js draws it with no
network, in light and in dark, and in JupyterLab, where its own renderer does.
"""

from __future__ import annotations

import html
import uuid

import plotly.graph_objects as go
import plotly.io as pio

__all__ = ["COLOURS", "HTML", "faint", "plain", "show"]

# Okabe and Ito's palette, which people with any common colour blindness can tell apart, without its black and its
# yellow: each vanishes on one of our two backgrounds.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")

# Greys that read on white and on black alike, for JupyterLab; on a page book/_static/figures.js sharpens them to fit.
_TEXT, _GRID = "#717880", "rgba(128, 134, 142, 0.3)"
_AXIS = {"gridcolor": _GRID, "zerolinecolor": _GRID, "linecolor": _GRID, "automargin": True, "title": {"standoff": 10}}

pio.templates["adalib"] = go.layout.Template(
    data={kind: [{"colorscale": "Cividis"}] for kind in ("heatmap", "contour", "surface", "histogram2d")},
    layout={
        "colorway": COLOURS,
        "colorscale": {"sequential": "Cividis", "sequentialminus": "Cividis", "diverging": "PuOr"},
        "font": {"family": '"Source Sans 3", system-ui, sans-serif', "size": 14, "color": _TEXT},
        # A title hangs from the upper edge of the figure, above the legend.
        "title": {"font": {"size": 16}, "x": 0, "xref": "paper", "y": 0.98, "yref": "container", "yanchor": "top"}
        | {"automargin": True},
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "height": 420,
        # The axes make their own room (automargin), so narrow screens lose nothing to fixed margins.
        "margin": {"l": 8, "r": 12, "t": 24, "b": 8},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        # Legends lie above the plot: they wrap on a phone, and a slider below keeps its place.
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
        "hoverlabel": {"font": {"size": 13}},
        "sliderdefaults": {"pad": {"t": 44, "b": 8}, "bordercolor": _GRID, "bgcolor": _GRID, "tickcolor": _GRID},
        "updatemenudefaults": {"bordercolor": _GRID, "bgcolor": "rgba(0, 0, 0, 0)"},
    },
)


class _Shown:
    """A figure ready for display: plotly's own format for JupyterLab, inert HTML for a page of the book."""

    def __init__(self, fig: go.Figure, alt: str):
        self.fig, self.alt = fig, alt

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"application/vnd.plotly.v1+json": self.fig.to_plotly_json(), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        name = f"figure-{uuid.uuid4().hex}"
        told = html.escape(self.alt, quote=True)
        height = self.fig.layout.height or self.fig.layout.template.layout.height
        # Data, not code: figures.js draws it. "<" is escaped so that no label can close the element.
        data = self.fig.to_json().replace("<", "\\u003c")
        return (
            f'<figure class="adalib-figure"><div id="{name}" class="plotly-graph-div" role="img" '
            f'aria-labelledby="{name}-told" style="min-height: {height:g}px"></div>'
            f'<script type="application/json">{data}</script>'
            f'<figcaption id="{name}-told">{told}</figcaption></figure>'
        )


def show(fig: go.Figure, alt: str | None = None) -> _Shown:
    """Put a figure on the page: make it the last expression of a cell.

    ``alt`` says in a sentence what there is to see: it is the caption, and what is told to readers who cannot see the
    figure; by default the figure's title. The book's template is applied to a copy, and what the figure sets itself
    wins. Explained in the teaching page, "How to add a chapter".

    >>> shown = show(go.Figure(go.Bar(y=[1, 3])), alt="Two bars; the second is three times the first.")
    >>> "three times" in shown._repr_html_()
    True
    """
    alt = alt or fig.layout.title.text
    if not alt:
        raise ValueError("the figure has no text alternative: pass alt= with a sentence that says what it shows")
    return _Shown(go.Figure(fig).update_layout(template="adalib"), alt)


class HTML:
    """Markup that shows itself on a page and in JupyterLab."""

    def __init__(self, html_text: str):
        self.html = html_text

    def _repr_html_(self) -> str:
        return self.html


def plain(text: str) -> str:
    """Text from a model or a file, as a label: plotly reads a few HTML tags in labels, and this text must stay text.

    >>> plain("1 < 2 <b>")
    '1 &lt; 2 &lt;b&gt;'
    """
    return html.escape(str(text), quote=False)


def faint(colour: str, opacity: float) -> str:
    """A colour of the palette, seen through."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"
