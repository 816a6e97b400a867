"""Figures, tables and cards on a page: colours, a template, and one way to show each.

:func:`show` places a ``plotly`` Figure on a page of the book, where the book's own copy of
plotly.js draws it with no network, in light and in dark. In JupyterLab its own renderer draws it.
``shapes`` holds what figures are made of, ``prices`` draws what the chapters on prices need, and
``evidence`` what the chapters on results need.
"""

from __future__ import annotations

import html
import json
import re
import uuid
from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio

from adalib.evaluate.intervals import Interval, in_points

__all__ = [
    "COLOURS",
    "HTML",
    "cards",
    "faint",
    "finding",
    "folded",
    "in_points",
    "linked_table",
    "plain",
    "show",
    "table",
]

# Okabe and Ito's palette, which people with any common colour blindness can tell apart, without
# its black and its yellow: each vanishes on one of our two backgrounds.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")

# Greys that read on white and on black alike, for JupyterLab; on a page book/_static/figures.js
# sharpens them to fit.
_TEXT = "#717880"
_GRID = "rgba(128, 134, 142, 0.3)"
_AXIS = {
    "gridcolor": _GRID,
    "zerolinecolor": _GRID,
    "linecolor": _GRID,
    "automargin": True,
    "title": {"standoff": 10},
}

pio.templates["adalib"] = go.layout.Template(
    data={
        kind: [{"colorscale": "Cividis"}]
        for kind in ("heatmap", "contour", "surface", "histogram2d")
    },
    layout={
        "colorway": COLOURS,
        "colorscale": {"sequential": "Cividis", "sequentialminus": "Cividis", "diverging": "PuOr"},
        "font": {"family": "Adalib Sans, system-ui, sans-serif", "size": 14, "color": _TEXT},
        # A title hangs from the upper edge of the figure, above the legend.
        "title": {
            "font": {"size": 16},
            "x": 0,
            "xref": "paper",
            "y": 0.98,
            "yref": "container",
            "yanchor": "top",
        }
        | {"automargin": True},
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "height": 420,
        # The axes make their own room (automargin), so narrow screens lose nothing to fixed
        # margins.
        "margin": {"l": 8, "r": 12, "t": 24, "b": 8},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        # Legends lie above the plot: they wrap on a phone, and a slider below keeps its place.
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
        "hoverlabel": {"font": {"size": 13}},
        "sliderdefaults": {
            "pad": {"t": 44, "b": 8},
            "bordercolor": _GRID,
            "bgcolor": _GRID,
            "tickcolor": _GRID,
        },
        "updatemenudefaults": {"bordercolor": _GRID, "bgcolor": "rgba(0, 0, 0, 0)"},
    },
)


class _Shown:
    """A figure ready for display: plotly's format for JupyterLab, inert HTML for a book page."""

    def __init__(self, fig: go.Figure, alt: str):
        self.fig = fig
        self.alt = alt

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        plain = json.loads(self.fig.to_json())  # JupyterLite's kernel takes no arrays
        return {"application/vnd.plotly.v1+json": plain, "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        name = f"figure-{uuid.uuid4().hex}"
        caption = _bold(self.alt)
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
    is applied to a copy, and what the figure sets itself wins. Explained in the teaching page,
    "How to add a chapter".

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
    return _Shown(go.Figure(fig).update_layout(template="adalib"), alt)


class HTML:
    """Markup that shows itself on a page and in JupyterLab."""

    def __init__(self, html_text: str):
        self.html = html_text

    def _repr_html_(self) -> str:
        return self.html


def plain(text: str) -> str:
    """Escape text from a model or a file for a label.

    Plotly reads a few HTML tags in labels, and this text must stay text.

    >>> plain("1 < 2 <b>")
    '1 &lt; 2 &lt;b&gt;'
    """
    return html.escape(str(text), quote=False)


def faint(colour: str, opacity: float) -> str:
    """A colour of the palette, seen through."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


# What a page shows in words and numbers, with links into the chapters


def table(
    frame: pd.DataFrame, digits: int = 3, caption: str = "", points: Sequence[str] = ()
) -> HTML:
    """Put a table on the page, with whole texts, rounded numbers and no row numbers.

    Make it the last expression of a cell.

    Texts are shown as text, whatever they hold, and missing values left blank. The columns named
    in ``points`` hold gains of accuracy. Explained in the teaching page, "How to add a chapter".
    """
    frame = frame.assign(
        **{name: frame[name].map(in_points, na_action="ignore") for name in points}
    )
    with pd.option_context("display.max_colwidth", None):
        text = frame.to_html(
            index=False,
            na_rep="",
            float_format=lambda v: number(v, digits),
            border=0,
            classes="adalib-table",
        )
    return HTML(f'<div class="adalib-scroll">{captioned(text, caption)}</div>')


def captioned(text: str, caption: str) -> str:
    """The markup of a table, with its caption."""
    return (
        text.replace("<thead>", f"<caption>{_bold(caption)}</caption><thead>", 1)
        if caption
        else text
    )


def _bold(text: str) -> str:
    """Return a caption as markup with its finding in bold.

    The finding is the text between pairs of stars, or else the first of several sentences.

    >>> _bold("Cost falls slowly. A line per year."), _bold("A line per year.")
    ('<strong>Cost falls slowly.</strong> A line per year.', 'A line per year.')
    """
    if "**" not in text:
        text = re.sub(r"^(.{10,160}?[.?!])(?= [A-Z(])", r"**\1**", text, flags=re.DOTALL)
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html.escape(text, quote=True))


def number(value: float, digits: int = 3) -> str:
    """A number of a table: one digit where it is large, and no minus before nothing.

    >>> number(0.5178), number(22.853), number(-0.0001)
    ('0.518', '22.9', '0.000')
    """
    text = f"{value:.{1 if abs(value) >= 20 else digits}f}"
    return text if float(text) else text.lstrip("-")


def linked_table(
    frame: pd.DataFrame, column: str, labels: Sequence[str], bold: str = "", caption: str = ""
) -> HTML:
    """Show a table with one more column, ``column``, of links to the sections with these labels.

    All texts are shown as text. The build looks up where a label is (``book/_ext/labels.py``),
    writes the number of its chapter into the link, and stops if there is no such label. What
    follows the first line of a text is set smaller, below it; in the column ``bold`` the first
    line stands out."""
    names = [*map(str, frame.columns), column]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    rows = []
    for values, label in zip(frame.itertuples(index=False), labels, strict=True):
        cells = []
        for name, value in zip(frame.columns, values, strict=True):
            first, _, rest = html.escape(str(value)).partition("\n")
            first = f"<strong>{first}</strong>" if name == bold else first
            text = f"{first}<br><small>{rest}</small>" if rest else first
            cells.append(f"<td>{text}</td>")
        link = _see(label, _chapter("in the book"))
        cells.append(f"<td>{link}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    parts = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return HTML(
        captioned(
            f'<div class="adalib-scroll"><table class="adalib-table">{parts}</table></div>', caption
        )
    )


def cards(claims: pd.DataFrame) -> HTML:
    """Show claims as cards.

    A closed card has a verdict and a name; an open one the paper's words, why, and the number that
    decides.

    ``claims`` has the columns of ``adalib.paper.referee.register.claim_table``. The build looks up
    the labels in ``see``, as for `linked_table`; ``book/_static/cards.js`` adds buttons that show
    one verdict alone."""
    made = []
    for claim in claims.itertuples():
        verdict, name, says, place, reason, number = (
            html.escape(str(part), quote=True)
            for part in (
                claim.verdict,
                claim.name,
                claim.says,
                claim.place,
                claim.reason,
                claim.number,
            )
        )
        star = " *" if claim.inferred else ""
        link = _see(claim.see, f"The evidence: {_chapter('in the book')}")
        made.append(
            f'<details class="adalib-card" data-verdict="{verdict}">'
            f'<summary><span class="card-verdict">{verdict}{star}'
            f"</span> {name}</summary><p>“{says}” <small>{place}</small></p><p>{reason}</p>"
            f'<p class="card-number">{number}</p><p>{link}</p></details>'
        )
    return HTML(
        f'<div class="adalib-cards">{"".join(made)}<script '
        f'type="application/json">{{}}</script></div>'
    )


_AXIS_POINTS = (-1.5, 6.5)  # the axis of a small dot plot, one scale for all findings


def finding(
    number: str,
    words: str,
    label: str,
    gains: Mapping[str, Interval] | None = None,
    more: str = "",
) -> HTML:
    """Show a result worth quoting on the welcome page: its number in large type, then its words.

    ``label`` is that of the section that shows it. ``gains`` are drawn as dots, one per name, in
    points. Their intervals, and the text ``more``, open on a click.

    >>> finding("+3.1 points", "of accuracy.", "ch07-real").html.count("adalib-see")
    1
    >>> gains = {"MATH": Interval(0.03, 0.01, 0.05)}
    >>> finding("+3", "points.", "ch07-real", gains).html.count("<circle")
    1
    """
    texts = f"<strong>{html.escape(number)}</strong> <span>{html.escape(words)}</span>"
    texts = f"<p>{texts} {_see(label, _chapter('In the book'))}</p>"
    if gains:
        spelled = "; ".join(f"{name} {_spelled(gain)}" for name, gain in gains.items())
        hidden = f"In points, with 95% intervals over questions: {spelled}. {more}".strip()
        texts += _dots(gains)
        texts += f"<details><summary>Intervals</summary><p>{html.escape(hidden)}</p></details>"
    return HTML(f'<div class="adalib-finding">{texts}</div>')


def _chapter(words: str) -> str:
    """Mark words that the build replaces by the name of the chapter that holds the label."""
    return f'<span class="adalib-chapter">{words}</span>'


def _spelled(gain: Interval) -> str:
    """A gain in points with its interval."""
    return (
        f"{in_points(float(gain.mean))} [{in_points(float(gain.low))}, "
        f"{in_points(float(gain.high))}]"
    )


def _dots(gains: Mapping[str, Interval]) -> str:
    """Draw gains as dots on one axis, a named row each; at zero lies a random allocation."""
    low, high = _AXIS_POINTS
    # In the units of the drawing.
    left = 70
    width = 300
    row = 22

    def across(points: float) -> float:
        return left + width * (points - low) / (high - low)

    bottom = row * len(gains) + 4
    zero = f"{across(0):.1f}"
    marks = [
        f'<line x1="{zero}" x2="{zero}" y1="0" y2="{bottom}" stroke="currentColor" opacity="0.5"/>',
        f'<text x="{zero}" y="{bottom + 14}" text-anchor="middle">0</text>',
    ]
    for at, (name, gain) in enumerate(gains.items()):
        middle = row * at + row / 2
        marks.append(
            f'<text x="0" y="{middle + 5:.1f}">{html.escape(name)}</text>'
            f'<circle cx="{across(100 * float(gain.mean)):.1f}" cy="{middle:.1f}" r="6" '
            f'fill="{COLOURS[0]}">'
            f"<title>{html.escape(f'{name} {_spelled(gain)}')}</title></circle>"
        )
    spoken = "; ".join(
        f"{name} {in_points(float(gain.mean))} points" for name, gain in gains.items()
    )
    return (
        f'<svg viewBox="0 0 {left + width} {bottom + 18}" role="img" '
        f'aria-label="{html.escape(spoken)}" style="width: 100%; max-width: 26rem; font-size: '
        f'14px" fill="currentColor">{"".join(marks)}</svg>'
    )


def _see(label: str, text: str) -> str:
    """Link to a label of the book (``book/_ext/labels.py``)."""
    return (
        f'<a class="adalib-see" href="#{html.escape(label, quote=True)}" style="white-space: '
        f'nowrap">{text}</a>'
    )


def folded(parts: Sequence[tuple[str, str, pd.DataFrame]], digits: int = 3) -> HTML:
    """Tables that open on a click, each under its title, with a line of text as its caption."""
    texts = []
    for title, words, frame in parts:
        head = f"<summary>{html.escape(title)}</summary>"
        texts.append(f"<details>{head}{table(frame, digits, words or title).html}</details>")
    return HTML("".join(texts))
