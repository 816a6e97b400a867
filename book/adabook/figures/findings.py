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
from adabook.headline import headline
from adabook.paper.text_results import ranked_with_weighted_votes
from adalib.evaluate.intervals import Interval, in_points

# The dot plot of a finding. All findings share one scale, in points; the rest is in the units of
# the drawing.
_LOWEST_POINTS = -1.0
_HIGHEST_POINTS = 5.2
_TICKS = range(-1, 6)
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


def finding(words: str, label: str, gains: Mapping[str, Interval]) -> HTML:
    """Show a result on the welcome page: what it is, and its gains in points with intervals.

    ``label`` is that of the section that shows it. All findings share one axis, so that they can
    be compared.

    >>> gains = {"MATH": Interval(0.03, 0.01, 0.05)}
    >>> finding("An oracle", "results-main-table", gains).html.count("<circle")
    1
    """
    large = " and ".join(in_points(float(gain.mean)) for gain in gains.values())
    quote = f"<strong>{html.escape(large)} points</strong> <span>{html.escape(words)}.</span>"
    markup = f"<p>{quote} {link(label, chapter_name('In the book'))}</p>{_dot_plot(gains)}"
    return HTML(f'<div class="adalib-finding">{markup}</div>')


def welcome() -> dict[str, HTML]:
    """The findings of the welcome page by name: same questions, votes, budgets and cost."""
    found = {name: headline(name.lower(), 3, everything=False) for name in ("GSM8K", "MATH")}
    weights = " and ".join(in_points(float(causes.weighting.mean)) for causes in found.values())
    shares = " and ".join(f"{causes.share.mean:.0%}" for causes in found.values())
    return {
        "finding_price": finding(
            "An oracle that knows in advance how much further answers help each question, with one "
            "price for all",
            "oracle-one-price",
            {name: causes.oracle for name, causes in found.items()},
        ),
        "finding_text": finding(
            "The paper's classifier, trained on 240 of these questions and made to spend its whole "
            "budget, on the others",
            "results-priced",
            {name: ranked_with_weighted_votes(name.lower()) for name in found},
        ),
        "finding_watch": finding(
            "Priced stopping, which looks at the answers as they arrive",
            "stopping-ladder",
            {name: causes.stopping for name, causes in found.items()},
        ),
        "finding_weights": HTML(
            f"<p>So priced stopping reaches {shares} of the oracle's gain. The random allocation "
            "at zero counts confident answers for more, too, which alone makes it "
            f"{weights} points more accurate than with plain votes.</p>"
        ),
    }


def _with_interval(gain: Interval) -> str:
    """A gain in points with its interval."""
    mean, low, high = (in_points(float(end)) for end in (gain.mean, gain.low, gain.high))
    return f"{mean} [{low}, {high}]"


def _dot_plot(gains: Mapping[str, Interval]) -> str:
    """Draw gains as dots with intervals on one axis, a row per name."""
    bottom = _ROW_HEIGHT * len(gains) + 4
    marks = [_tick(points, bottom) for points in _TICKS]
    marks += [_row(number, name, gain) for number, (name, gain) in enumerate(gains.items())]
    spoken = "; ".join(f"{name} {_with_interval(gain)} points" for name, gain in gains.items())
    return (
        f'<svg viewBox="0 0 {_NAMES_WIDTH + _PLOT_WIDTH} {bottom + 18}" role="img" '
        f'aria-label="{html.escape(spoken)}" style="width: 100%; max-width: 26rem; font-size: '
        f'14px" fill="currentColor">{"".join(marks)}</svg>'
    )


def _tick(points: int, bottom: float) -> str:
    """A grid line of the axis with its number; zero, where a random allocation lies, is darker."""
    x = f"{_across(points):.1f}"
    opacity = 0.6 if points == 0 else 0.15
    return (
        f'<line x1="{x}" x2="{x}" y1="0" y2="{bottom}" stroke="currentColor" opacity="{opacity}"/>'
        f'<text x="{x}" y="{bottom + 14}" text-anchor="middle">{points:+d}</text>'
    ).replace("+0", "0")


def _row(number: int, name: str, gain: Interval) -> str:
    """One name with its dot and its interval."""
    y = _ROW_HEIGHT * number + _ROW_HEIGHT / 2
    mean, low, high = (_across(100 * float(end)) for end in (gain.mean, gain.low, gain.high))
    return (
        f'<text x="0" y="{y + 5:.1f}">{html.escape(name)}</text>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}" '
        f'stroke="{COLOURS[0]}" stroke-width="2"/>'
        f'<circle cx="{mean:.1f}" cy="{y:.1f}" r="5" fill="{COLOURS[0]}">'
        f"<title>{html.escape(f'{name} {_with_interval(gain)}')}</title></circle>"
    )


def _across(points: float) -> float:
    """Where a gain in points lies from left to right."""
    span = _HIGHEST_POINTS - _LOWEST_POINTS
    return _NAMES_WIDTH + _PLOT_WIDTH * (points - _LOWEST_POINTS) / span
