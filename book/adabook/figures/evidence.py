"""Figures of the chapters on results: the claims, and what remains of them on unseen data."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from adabook.figures.shapes import GREY, Values, dots, drag, level, line
from adabook.figures.style import CLAIMED, POLICY

_SYMBOLS = ("circle", "diamond", "square")  # of policies that share a colour
_NAME_WIDTH = 8  # letters; longer names of places would meet on a phone


def _percentage_points(estimate: Values) -> np.ndarray:
    """Return shares, or an estimate of them, in points."""
    return 100 * np.asarray(estimate, dtype=float)


# How much an oracle flatters itself.


class Worth(NamedTuple):
    """What one position of the slider of `drag_samples` shows."""

    claimed: Sequence[float]
    worth: Sequence[float]


def drag_samples(
    stops: Mapping[int, Worth], targets: Sequence[float], best: Sequence[float], active: int = 0
) -> go.Figure:
    """Drag R: the oracle's claim, its labels' true accuracy and the best possible, by budget."""
    shown = list(stops.values())

    def claim_and_worth(i: int) -> list[go.Scatter]:
        return [
            line(targets, shown[i].claimed, "claimed", CLAIMED, marks=True),
            line(targets, shown[i].worth, "worth", POLICY["oracle"], marks=True),
        ]

    titles = [
        f"B = {targets[-1]:g}: claims {stop.claimed[-1]:.3f}, worth {stop.worth[-1]:.3f}"
        for stop in shown
    ]
    prefix = "answers per question, R = "
    fig = go.Figure(line(targets, best, "best possible", GREY, dash="dash"))
    drag(fig, list(stops), claim_and_worth, prefix, titles=titles, active=active)
    low = min(min(stop.worth) for stop in shown)
    high = max(max(stop.claimed) for stop in shown)
    fig.update_xaxes(title="average budget B")
    fig.update_yaxes(title="accuracy", range=[low - 0.005, high + 0.005], tickformat=".2f")
    return fig.update_layout(height=480, margin={"t": 90})


# What a text tells, and what it is worth.


def gains(
    places: Sequence[str],
    estimates: Mapping[str, ArrayLike],
    x_title: str,
    policies: Mapping[str, str],
) -> go.Figure:
    """Draw gains over the best mix at equal cost, in points with intervals, at every place.

    ``policies`` says whose colour a name has."""
    names = ["<br>".join(textwrap.wrap(place, _NAME_WIDTH)) for place in places]
    in_points = {name: _percentage_points(estimate) for name, estimate in estimates.items()}
    fig = go.Figure()
    drawn: list[str] = []
    for name, values in in_points.items():
        policy = policies[name]
        # Names that share a policy's colour differ in their symbols.
        symbol = _SYMBOLS[drawn.count(policy)]
        hover = "%{x}: %{y:+.1f} points"
        fig.add_trace(dots(names, values, name, POLICY[policy], symbol=symbol, hovertemplate=hover))
        drawn.append(policy)
    level(fig, y=0, dash="solid")
    ends = np.array(list(in_points.values()))
    span = [min(np.nanmin(ends), -1) - 0.4, max(np.nanmax(ends), 1) + 0.4]
    fig.update_yaxes(title="points", tickformat="+.0f", dtick=2, zeroline=False, range=span)
    # Plotly would read "1, 16" as the number 116.
    fig.update_xaxes(title=x_title, type="category")
    legend = {"y": 1.14}
    return fig.update_layout(
        scattermode="group", scattergap=0.4, height=520, margin={"t": 70}, legend=legend
    )
