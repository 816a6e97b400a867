"""Findings on a page: cards with a verdict on each claim, and results worth quoting.

Both link to the section of the book that shows the evidence.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import pandas as pd

from adabook.figures.page import HTML, chapter_name, link
from adabook.figures.style import COLOURS
from adalib.evaluate.intervals import Interval, in_points

# The dot plot of a finding. All findings share one scale, in points; the rest is in the units of
# the drawing.
_LOWEST_POINTS = -1.5
_HIGHEST_POINTS = 6.5
_NAMES_WIDTH = 70
_PLOT_WIDTH = 300
_ROW_HEIGHT = 22


def cards(claims: pd.DataFrame) -> HTML:
    """Show claims as cards.

    A closed card has a verdict and a name; an open one the paper's words, why, and the number that
    decides.

    ``claims`` has the columns of ``adabook.paper.referee.claim_table``. The build looks up
    the labels in ``see``, as for `linked_table`; ``book/_static/cards.js`` adds buttons that show
    one verdict alone."""
    markup = "".join(_card(claim) for claim in claims.itertuples())
    return HTML(
        f'<div class="adalib-cards">{markup}<script type="application/json">{{}}</script></div>'
    )


def _card(claim: Any) -> str:
    """The markup of one row of the table of claims; a star marks an inferred verdict."""
    verdict, name, says, place, reason, number = (
        html.escape(str(text), quote=True)
        for text in (
            claim.verdict,
            claim.name,
            claim.says,
            claim.place,
            claim.reason,
            claim.number,
        )
    )
    star = " *" if claim.inferred else ""
    evidence = link(claim.see, f"The evidence: {chapter_name('in the book')}")
    return (
        f'<details class="adalib-card" data-verdict="{verdict}">'
        f'<summary><span class="card-verdict">{verdict}{star}</span> {name}</summary>'
        f"<p>“{says}” <small>{place}</small></p>"
        f"<p>{reason}</p>"
        f'<p class="card-number">{number}</p>'
        f"<p>{evidence}</p></details>"
    )


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

    >>> finding("+3.1 points", "of accuracy.", "results-real").html.count("adalib-see")
    1
    >>> gains = {"MATH": Interval(0.03, 0.01, 0.05)}
    >>> finding("+3", "points.", "results-real", gains).html.count("<circle")
    1
    """
    quote = f"<strong>{html.escape(number)}</strong> <span>{html.escape(words)}</span>"
    markup = f"<p>{quote} {link(label, chapter_name('In the book'))}</p>"
    if gains:
        intervals = "; ".join(f"{name} {_with_interval(gain)}" for name, gain in gains.items())
        hidden = f"In points, with 95% intervals over questions: {intervals}. {more}".strip()
        markup += _dot_plot(gains)
        markup += f"<details><summary>Intervals</summary><p>{html.escape(hidden)}</p></details>"
    return HTML(f'<div class="adalib-finding">{markup}</div>')


def _with_interval(gain: Interval) -> str:
    """A gain in points with its interval."""
    mean, low, high = (in_points(float(end)) for end in (gain.mean, gain.low, gain.high))
    return f"{mean} [{low}, {high}]"


def _dot_plot(gains: Mapping[str, Interval]) -> str:
    """Draw gains as dots on one axis, a named row each; at zero lies a random allocation."""
    bottom = _ROW_HEIGHT * len(gains) + 4
    zero = f"{_across(0):.1f}"
    marks = [
        f'<line x1="{zero}" x2="{zero}" y1="0" y2="{bottom}" stroke="currentColor" opacity="0.5"/>',
        f'<text x="{zero}" y="{bottom + 14}" text-anchor="middle">0</text>',
    ]
    for row, (name, gain) in enumerate(gains.items()):
        middle = _ROW_HEIGHT * row + _ROW_HEIGHT / 2
        marks.append(
            f'<text x="0" y="{middle + 5:.1f}">{html.escape(name)}</text>'
            f'<circle cx="{_across(100 * float(gain.mean)):.1f}" cy="{middle:.1f}" r="6" '
            f'fill="{COLOURS[0]}">'
            f"<title>{html.escape(f'{name} {_with_interval(gain)}')}</title></circle>"
        )
    spoken = "; ".join(
        f"{name} {in_points(float(gain.mean))} points" for name, gain in gains.items()
    )
    return (
        f'<svg viewBox="0 0 {_NAMES_WIDTH + _PLOT_WIDTH} {bottom + 18}" role="img" '
        f'aria-label="{html.escape(spoken)}" style="width: 100%; max-width: 26rem; font-size: '
        f'14px" fill="currentColor">{"".join(marks)}</svg>'
    )


def _across(points: float) -> float:
    """Where a gain in points lies from left to right."""
    span = _HIGHEST_POINTS - _LOWEST_POINTS
    return _NAMES_WIDTH + _PLOT_WIDTH * (points - _LOWEST_POINTS) / span
