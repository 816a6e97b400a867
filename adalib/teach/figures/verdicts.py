"""Figures and tables of chapter 12 and of the replication page: verdicts, links into the chapters, folded cells."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from adalib.teach.figures.style import COLOURS, HTML, captioned, slider, table

__all__ = ["VERDICT_COLOURS", "cards", "finding", "folded", "linked_table", "trained_share", "verdict_bars"]

#: Of the four verdicts, in their order: stands, stands corrected, falls, open.
VERDICT_COLOURS = (COLOURS[2], COLOURS[5], COLOURS[1], COLOURS[6])


def verdict_bars(parts: Sequence[str], counts: Mapping[str, Sequence[int]]) -> go.Figure:
    """How many claims of each part got which verdict: one bar a part, one colour a verdict, numbers inside."""
    fig = go.Figure()
    for (verdict, numbers), colour in zip(counts.items(), VERDICT_COLOURS, strict=True):
        fig.add_bar(
            y=list(parts),
            x=list(numbers),
            orientation="h",
            name=f"{verdict} ({sum(numbers)})",
            marker_color=colour,
            text=[number or "" for number in numbers],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": "white" if colour in (COLOURS[2], COLOURS[1]) else "black"},
            hovertemplate=f"%{{y}}<br>{verdict}: %{{x}}<extra></extra>",
        )
    fig.update_yaxes(autorange="reversed")
    fig.update_xaxes(title="claims", dtick=2)
    return fig.update_layout(barmode="stack", height=150 + 42 * len(parts), legend_traceorder="normal")


def trained_share(
    shares: Sequence[float], oracle: ArrayLike, printed: ArrayLike, names: Sequence[str], active: int = 0
) -> go.Figure:
    """Printed gains over one answer against those of a policy that has the oracle's gain on a share of the questions.

    On the others it gains nothing. A slider moves the share; dots on the line fit.
    """
    oracle, printed = (np.asarray(values, dtype=float) for values in (oracle, printed))
    ends = [-0.004, float(max(oracle.max(), printed.max())) * 1.06]
    frames = []
    for share in shares:
        dots = go.Scatter(
            x=share * oracle,
            y=printed,
            mode="markers",
            marker={"size": 11, "color": COLOURS[0], "opacity": 0.8},
            hovertext=[
                f"{name}: {x:.3f} if so, {y:.3f} printed"
                for name, x, y in zip(names, share * oracle, printed, strict=True)
            ],
            hoverinfo="text",
        )
        title = f"largest difference {np.abs(printed - share * oracle).max():.4f}"
        frames.append(go.Frame(name=f"{share:g}", data=[dots], traces=[1], layout={"title": {"text": title}}))
    line = go.Scatter(x=ends, y=ends, mode="lines", line={"color": COLOURS[6], "dash": "dot"}, hoverinfo="skip")
    fig = go.Figure([line, frames[active].data[0]], frames=frames)
    fig.update_xaxes(title="gain if a share ρ is remembered", range=ends, tickformat=".2f")
    fig.update_yaxes(title="gain over one answer, printed", range=ends, tickformat=".2f")
    return fig.update_layout(
        height=520,
        showlegend=False,
        title=frames[active].layout.title.text,
        sliders=[slider([f"{share:g}" for share in shares], "ρ = ", active)],
    )


def linked_table(frame: pd.DataFrame, column: str, labels: Sequence[str], bold: str = "", caption: str = "") -> HTML:
    """A table, one of whose columns links to sections by their labels; all its texts are shown as text.

    The build looks up where a label is (``book/_ext/labels.py``) and stops if there is none. What follows the first
    line of a text is set smaller, below it; in the column ``bold`` the first line stands out.
    """
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in frame.columns)
    rows = []
    for values, label in zip(frame.itertuples(index=False), labels, strict=True):
        cells = []
        for name, value in zip(frame.columns, values, strict=True):
            first, _, rest = html.escape(str(value)).partition("\n")
            first = f"<strong>{first}</strong>" if name == bold else first
            text = f"{first}<br><small>{rest}</small>" if rest else first
            if name == column:
                text = _see(label, text)
            cells.append(f'<td data-label="{html.escape(str(name), quote=True)}">{text}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    parts = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return HTML(captioned(f'<div class="adalib-scroll"><table class="adalib-table">{parts}</table></div>', caption))


def cards(claims: pd.DataFrame) -> HTML:
    """Claims as cards: shut, a verdict and a name; open, the paper's words, why, and the number that decides.

    ``claims`` has the columns of ``adalib.paper.replication.claim_table``. The build looks up the labels in ``see``, as
    for `linked_table`; ``book/_static/cards.js`` adds buttons that show one verdict alone.
    """
    made = []
    for claim in claims.itertuples():
        verdict, name, says, place, reason, number, chapter = (
            html.escape(str(part), quote=True)
            for part in (claim.verdict, claim.name, claim.says, claim.place, claim.reason, claim.number, claim.chapter)
        )
        star = " *" if claim.inferred else ""
        made.append(
            f'<details class="adalib-card" data-verdict="{verdict}"><summary><span class="card-verdict">{verdict}{star}'
            f"</span> {name}</summary><p>“{says}” <small>{place}</small></p><p>{reason}</p>"
            f'<p class="card-number">{number}</p><p>{_see(claim.see, f"The evidence: {chapter}")}</p></details>'
        )
    return HTML(f'<div class="adalib-cards">{"".join(made)}<script type="application/json">{{}}</script></div>')


def finding(number: str, words: str, label: str, link: str) -> HTML:
    """A result that a reader will quote, for the welcome page: its number large, its words, and where it is shown.

    Explained in the teaching page, "How to add a chapter".

    Parameters
    ----------
    number, words : str
        Computed when the book is built.
    label, link : str
        The label of the section that shows it, and the words of the link.

    Examples
    --------
    >>> finding("+3.1 points", "of accuracy.", "ch07-real", "Chapter 7").html.count("adalib-see")
    1
    """
    texts = f"<strong>{html.escape(number)}</strong> <span>{html.escape(words)}</span>"
    return HTML(f'<p class="adalib-finding">{texts} {_see(label, html.escape(link))}</p>')


def _see(label: str, text: str) -> str:
    """A link to a label of the book (``book/_ext/labels.py``)."""
    return f'<a class="adalib-see" href="#{html.escape(label, quote=True)}" style="white-space: nowrap">{text}</a>'


def folded(parts: Sequence[tuple[str, str, pd.DataFrame]], digits: int = 3) -> HTML:
    """Tables that open on a click, each under its title, with a line of text as its caption."""
    texts = []
    for title, words, frame in parts:
        head = f"<summary>{html.escape(title)}</summary>"
        texts.append(f"<details>{head}{table(frame, digits, words or title).html}</details>")
    return HTML("".join(texts))
