"""What all figures share: a common template, and one way to put a figure on a page.

Every figure function takes plain arrays and returns a ``plotly`` Figure, so that figures can be drawn from anyone's
numbers. :func:`show` places it on a page of the book, where it is drawn by the book's own copy of plotly.js with no
network, in light and in dark, and in JupyterLab, by its own renderer.
"""

from __future__ import annotations

import html
import uuid
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import ArrayLike

from adalib.evaluate.intervals import in_points

__all__ = ["COLOURS", "HTML", "error_bars", "hundredfold", "in_points", "plain", "show", "slider", "table"]

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
        "font": {"family": "system-ui, sans-serif", "size": 14, "color": _TEXT},
        "title": {
            "font": {"size": 16},
            "x": 0,
            "xref": "paper",
            "automargin": True,
            "yref": "container",
            "y": 0.98,
            "yanchor": "top",
        },
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

    Explained in the teaching page, "How to add a chapter".

    Parameters
    ----------
    fig : plotly.graph_objects.Figure
        The figure. It is not changed; the book's template is applied to a copy, and what the figure sets itself wins.
    alt : str, optional
        What there is to see, in a sentence: the caption, and what is told to readers who cannot see the figure. The
        figure's title by default.

    Returns
    -------
    object
        Drawn by JupyterLab and by the pages of the book.

    Raises
    ------
    ValueError
        If there is neither ``alt`` nor a title.

    Examples
    --------
    >>> shown = show(go.Figure(go.Bar(y=[1, 3])), alt="Two bars; the second is three times the first.")
    >>> "three times" in shown._repr_html_()
    True
    """
    alt = alt or fig.layout.title.text
    if not alt:
        raise ValueError("the figure has no text alternative: pass alt= with a sentence that says what it shows")
    fig = go.Figure(fig).update_layout(template="adalib")
    return _Shown(fig, alt)


class HTML:
    """Markup that shows itself on a page and in JupyterLab."""

    def __init__(self, html_text: str):
        self.html = html_text

    def _repr_html_(self) -> str:
        return self.html


def table(frame: pd.DataFrame, digits: int = 3, caption: str = "", points: Sequence[str] = ()) -> HTML:
    """Put a table on the page: whole texts, numbers to so many digits, no row numbers; make it the last expression.

    Explained in the teaching page, "How to add a chapter".

    Parameters
    ----------
    frame : pandas.DataFrame
        Its texts are shown as text, whatever they hold. Missing values are left blank.
    digits : int
        Digits after the point of fractional numbers.
    caption : str
        What there is to see, in a sentence. The page puts a number before it.
    points : sequence of str
        The columns that hold gains of accuracy: they are shown in points, with a sign.
    """
    frame = frame.assign(**{name: frame[name].map(in_points, na_action="ignore") for name in points})
    with pd.option_context("display.max_colwidth", None):
        text = frame.to_html(
            index=False, na_rep="", float_format=lambda v: number(v, digits), border=0, classes="adalib-table"
        )
    return HTML(f'<div class="adalib-scroll">{captioned(text, caption)}</div>')


def captioned(text: str, caption: str) -> str:
    """The markup of a table, with its caption."""
    return text.replace("<thead>", f"<caption>{html.escape(caption)}</caption><thead>", 1) if caption else text


def number(value: float, digits: int = 3) -> str:
    """A number of a table: one digit where it is large, and no minus before nothing.

    Examples
    --------
    >>> number(0.5178), number(22.853), number(-0.0001)
    ('0.518', '22.9', '0.000')
    """
    text = f"{value:.{1 if abs(value) >= 20 else digits}f}"
    return text if float(text) else text.lstrip("-")


def plain(text: str) -> str:
    """Text from a model or a file, as a label: plotly reads a few HTML tags in labels, and this text must stay text.

    Examples
    --------
    >>> plain("1 < 2 <b>")
    '1 &lt; 2 &lt;b&gt;'
    """
    return html.escape(str(text), quote=False)


def slider(values: Sequence, prefix: str, active: int = 0) -> dict:
    """A slider for the layout of a figure with one frame a value, each frame named by its value."""
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    steps = [{"label": str(v), "method": "animate", "args": [[str(v)], at_once]} for v in values]
    return {"active": active, "steps": steps, "currentvalue": {"prefix": prefix}}


def hundredfold(estimate: Sequence[ArrayLike]) -> list[np.ndarray]:
    """Gains of accuracy and the ends of their intervals, in points."""
    return [100 * np.asarray(part, dtype=float) for part in estimate]


def error_bars(mean: ArrayLike, low: ArrayLike, high: ArrayLike, thickness: float = 1.5) -> dict:
    """The ends of intervals as plotly wants them: their distances from the means."""
    mean, low, high = (np.asarray(part, dtype=float) for part in (mean, low, high))
    return {"type": "data", "symmetric": False, "array": high - mean, "arrayminus": mean - low, "thickness": thickness}
