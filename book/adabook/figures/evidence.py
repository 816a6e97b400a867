"""Figures of the chapters on results: the claims, and what remains of them on unseen data.

Those that show which budget each question gets are in `choices`, and can be had from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from adabook.figures.page import plain
from adabook.figures.shapes import GREY, Values, dots, drag, level, line, panels
from adabook.figures.style import CLAIMED, COLOURS, HONEST, POLICY, TRUE
from adalib.evaluate.intervals import in_points

_SYMBOLS = ("circle", "diamond", "square")  # of policies that share a colour
# A grey band within a point of zero, where a gain is too small to matter.
_POINT_BAND: dict[str, Any] = {
    "fillcolor": GREY,
    "opacity": 0.18,
    "line_width": 0,
    "layer": "below",
}
_EVERY_PANEL: dict[str, Any] = {"row": "all", "col": 1}


def _percentage_points(estimate: Values) -> np.ndarray:
    """Return shares, or an estimate of them, in points."""
    return 100 * np.asarray(estimate, dtype=float)


# Means in panels.


def means(
    x: Sequence,
    groups: Mapping[str, Mapping[str, ArrayLike]],
    x_title: str,
    y_title: str,
    *,
    colours: Sequence[str] = (CLAIMED, HONEST, TRUE),
    digits: str = ".2f",
    points: bool = False,
) -> go.Figure:
    """Draw means with intervals in panels one above the other, with one scale and the same lines.

    Gains are in points.
    """
    scale = 100 if points else 1
    values = [
        [scale * np.asarray(estimate, dtype=float) for estimate in group.values()]
        for group in groups.values()
    ]
    parts = []
    for group, estimates in zip(groups.values(), values, strict=True):
        named = zip(group, estimates, colours, strict=False)
        parts.append([line(x, y, name, colour, marks=True) for name, y, colour in named])
    fig = panels(parts, list(groups))
    low = min(0.0, np.nanmin(values))
    high = np.nanmax(values)
    room = 0.06 * (high - low)
    fig.update_xaxes(title=x_title, row=len(groups))
    fig.update_yaxes(
        title=y_title,
        tickformat="+.0f" if points else digits,
        range=[low - room, high + room],
    )
    return fig.update_layout(
        height=140 + 220 * len(groups), margin={"t": 70}, legend={"y": 1 + 0.16 / len(groups)}
    )


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
    groups: Mapping[str, Mapping[str, ArrayLike]],
    policies: Mapping[str, str] | None = None,
) -> go.Figure:
    """Draw gains over the best mix at equal cost, in points with intervals, a panel per group.

    ``policies`` says whose colour a name has that is no policy's. Within the band a gain is less
    than a point."""
    parts = [_gain_dots(places, group, policies or {}) for group in groups.values()]
    fig = panels(parts, list(groups), spacing=0.1 if len(groups) < 4 else 0.07)
    fig.add_hrect(y0=-1, y1=1, **_POINT_BAND, **_EVERY_PANEL)
    level(fig, y=0, dash="solid", **_EVERY_PANEL)
    ends = _percentage_points([list(group.values()) for group in groups.values()])
    span = [min(np.nanmin(ends), -1) - 0.4, max(np.nanmax(ends), 1) + 0.4]
    fig.update_yaxes(title="points", tickformat="+.0f", dtick=2, zeroline=False, range=span)
    return fig.update_layout(
        scattermode="group",
        scattergap=0.4,
        height=150 + 210 * len(groups),
        margin={"t": 70},
        legend={"y": 1 + 0.14 / len(groups)},
    )


def _gain_dots(
    places: Sequence[str], group: Mapping[str, ArrayLike], policies: Mapping[str, str]
) -> list[go.Scatter]:
    """Draw one panel of `gains`; names that share a policy's colour differ in their symbols."""
    traces = []
    drawn: list[str] = []
    for name, estimate in group.items():
        policy = policies.get(name, name)
        trace = dots(
            places,
            _percentage_points(estimate),
            name,
            POLICY[policy],
            size=9,
            symbol=_SYMBOLS[drawn.count(policy)],
            hovertemplate="%{x}: %{y:+.1f} points",
        )
        traces.append(trace)
        drawn.append(policy)
    return traces


# Printed numbers next to ours, the frontiers, and what is left of a gain on questions not seen.


def on_the_line(
    groups: Mapping[str, tuple[ArrayLike, ArrayLike]], x_title: str, y_title: str
) -> go.Figure:
    """Draw pairs of values as dots with the line of equality, one panel per quantity."""
    fig = make_subplots(
        cols=len(groups), subplot_titles=[plain(name) for name in groups], horizontal_spacing=0.16
    )
    for column, pair in enumerate(groups.values(), start=1):
        x, y = (np.asarray(values, dtype=float) for values in pair)
        ends = np.array([min(x.min(), y.min()), max(x.max(), y.max())])
        span = ends + 0.06 * np.ptp(ends) * np.array([-1, 1])
        equality = line(span, span, colour=GREY, width=2, dash="dash", hoverinfo="skip")
        pairs = dots(x, y, "", POLICY["curve"], size=6, opacity=0.5)
        fig.add_trace(equality, row=1, col=column)
        fig.add_trace(pairs, row=1, col=column)
        fig.update_xaxes(title=x_title, tickformat=".1f", nticks=5, row=1, col=column)
        fig.update_yaxes(
            title=y_title if column == 1 else None, tickformat=".1f", row=1, col=column
        )
    return fig.update_layout(height=360, margin={"t": 50})


def slopes(
    groups: Mapping[str, Mapping[str, tuple[float, float]]],
    ends: tuple[str, str],
    colours: Sequence[str],
) -> go.Figure:
    """Draw slope charts, a panel per group and a line per name, with the differences in points."""
    rows = -(-len(groups) // 2)  # two panels per row, rounded up
    names = [plain(name) for name in groups]
    fig = make_subplots(
        rows, 2, subplot_titles=names, horizontal_spacing=0.06, vertical_spacing=0.16
    )
    for number, group in enumerate(groups.values()):
        place = {"row": number // 2 + 1, "col": number % 2 + 1}
        for (name, pair), colour in zip(group.items(), colours, strict=True):
            trace = _slope(ends, pair, name, colour)
            trace.showlegend = number == 0
            fig.add_trace(trace, **place)
        values = np.array(list(group.values()))
        room = 0.15 * np.ptp(values)
        fig.update_yaxes(range=[values.min() - room, values.max() + room], **place)
    fig.update_xaxes(range=[-0.75, 1.65])
    fig.update_yaxes(showticklabels=False, showgrid=False)
    return fig.update_layout(
        height=130 + 230 * rows, margin={"t": 80}, legend={"y": 1 + 0.2 / rows}
    )


def _slope(ends: tuple[str, str], pair: tuple[float, float], name: str, colour: str) -> go.Scatter:
    """Draw a line from one value to the other, labelled with the first and with the difference."""
    first, second = pair
    return line(
        ends,
        pair,
        name,
        colour,
        mode="lines+markers+text",
        marker_size=9,
        text=[f"{first:.3f}", in_points(second - first)],
        textposition=["middle left", "middle right"],
        hovertemplate="%{x}: %{y:.3f}",
        legendgroup=name,
    )


def strips(rows: Mapping[str, ArrayLike], settings: Sequence[str]) -> go.Figure:
    """Draw values in points as dots, a strip per name and a colour per setting.

    ``settings`` has one entry per dot.
    """
    names = list(dict.fromkeys(settings))
    parts = []
    for values in rows.values():
        in_strip = 100 * np.asarray(values)
        traces = []
        for number, (name, colour) in enumerate(zip(names, COLOURS, strict=False)):
            own = in_strip[[setting == name for setting in settings]]
            heights = [-number] * settings.count(name)
            traces.append(dots(own, heights, name, colour, hovertemplate="%{x:+.1f} points"))
        parts.append(traces)
    fig = panels(parts, list(rows), 0.09, shared_xaxes=True)
    fig.add_vrect(x0=-1, x1=1, **_POINT_BAND, **_EVERY_PANEL)
    level(fig, x=0, dash="solid", **_EVERY_PANEL)
    fig.update_xaxes(tickformat="+.1f", zeroline=False)
    fig.update_xaxes(title="points", row=len(rows))
    fig.update_yaxes(
        showticklabels=False, showgrid=False, zeroline=False, range=[-len(names) + 0.2, 0.8]
    )
    return fig.update_layout(height=110 + 110 * len(rows), margin={"t": 90}, legend={"y": 1.09})
