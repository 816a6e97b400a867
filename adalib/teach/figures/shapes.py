"""The shapes that figures are made of: lines, dots, bars, panels, heatmaps and a slider.

Wherever values are shown, an estimate ``(mean, low, high)`` may stand in their place: its interval
is then drawn, too. What has a name has an entry in the legend, and what has none has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.basedatatypes import BaseTraceType
from plotly.subplots import make_subplots

from adalib.colours import BUDGETS
from adalib.teach.figures import COLOURS, faint, plain

__all__ = [
    "band",
    "bar",
    "bars",
    "clouds",
    "dots",
    "drag",
    "heatmap",
    "level",
    "line",
    "lines",
    "panels",
    "stacked",
]

GREY = COLOURS[6]
#: Numbers, names, or the (mean, low, high) of an estimate.
Values = ArrayLike | Sequence[Any]
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def line(
    x: Values,
    y: Values,
    name: str = "",
    colour: str | None = None,
    *,
    dash: str = "solid",
    width: float = 3,
    shape: str | None = None,
    marks: bool = False,
    **more: Any,
) -> go.Scatter:
    """A line through points; ``marks`` shows the points, too."""
    style = {"color": colour, "width": width, "dash": dash, "shape": shape}
    return go.Scatter(
        _shared_fields(x, y, name)
        | {"mode": "lines+markers" if marks else "lines", "line": style}
        | more
    )


def dots(
    x: Values,
    y: Values,
    name: str = "",
    colour: Any = None,
    *,
    size: Any = 9,
    symbol: Any = None,
    **more: Any,
) -> go.Scatter:
    """Points alone; ``opacity`` lets those below be seen."""
    marker = {"color": colour, "size": size, "symbol": symbol}
    return go.Scatter(_shared_fields(x, y, name) | {"mode": "markers", "marker": marker} | more)


def bar(
    groups: Sequence,
    values: Values,
    name: str = "",
    colour: Any = None,
    *,
    sideways: bool = False,
    **more: Any,
) -> go.Bar:
    """A bar for each of the groups, upright or sideways."""
    x, y = (values, groups) if sideways else (groups, values)
    made = _shared_fields(x, y, name) | {
        "orientation": "h" if sideways else None,
        "marker": {"color": colour},
    }
    return go.Bar(made | more)


def band(x: Values, low: Values, high: Values, colour: str, opacity: float = 0.2) -> go.Scatter:
    """The area between two curves."""
    x, low, high = (np.asarray(part) for part in (x, low, high))
    around: dict = {"fill": "toself", "fillcolor": faint(colour, opacity), "hoverinfo": "skip"}
    return line(np.r_[x, x[::-1]], np.r_[low, high[::-1]], width=0, **around)


def level(
    fig: go.Figure,
    *,
    x: float | None = None,
    y: float | None = None,
    dash: str = "dash",
    **more: Any,
) -> None:
    """A thin straight line across a figure or one of its panels, at an x or a y."""
    style = {"color": more.pop("colour", GREY), "width": more.pop("width", 2), "dash": dash}
    if x is not None:
        fig.add_vline(x=x, line=style, **more)
    if y is not None:
        fig.add_hline(y=y, line=style, **more)


def lines(
    x: Sequence,
    series: Mapping[str, Values],
    x_title: str,
    y_title: str,
    *,
    exact: Mapping[str, Values] | None = None,
    bands: Mapping[str, tuple[Values, Values]] | None = None,
    dashed: Sequence[str] = (),
    colours: Sequence[str] = COLOURS,
    log_x: bool = False,
    height: int = 380,
) -> go.Figure:
    """Draw a line through points for every name.

    ``exact`` curves are dashed in grey, and ``bands`` are (low, high) by name.
    """
    fig = go.Figure()
    for (name, y), colour in zip(series.items(), colours, strict=False):
        if bands and name in bands:
            fig.add_trace(band(x, *bands[name], colour))
        fig.add_trace(
            line(x, y, name, colour, dash="dash" if name in dashed else "solid", marks=True)
        )
    for (name, y), dash in zip((exact or {}).items(), _DASHES[1:], strict=False):
        fig.add_trace(line(x, y, name, GREY, dash=dash))
    ticks = {"type": "log", "tickvals": list(x), "ticktext": [f"{v:g}" for v in x]} if log_x else {}
    return (
        fig.update_xaxes(title=x_title, **ticks)
        .update_yaxes(title=y_title)
        .update_layout(height=height)
    )


def clouds(
    groups: Mapping[str, tuple[Values, Values]],
    rays: Mapping[str, float],
    x_title: str,
    y_title: str,
) -> go.Figure:
    """Dots in groups, (x, y) by name, and straight lines from the origin, their slopes by name."""
    right = 1.05 * max(float(np.max(x)) for x, _ in groups.values())
    fig = go.Figure()
    for (name, slope), dash in zip(rays.items(), _DASHES[1:], strict=False):
        fig.add_trace(line([0, right], [0, slope * right], name, GREY, dash=dash, width=2))
    for (name, (x, y)), colour, symbol in zip(
        groups.items(), COLOURS, ("circle", "diamond", "cross", "x"), strict=False
    ):
        fig.add_trace(dots(x, y, name, colour, symbol=symbol, opacity=0.7))
    fig.update_xaxes(title=x_title, rangemode="tozero")
    return fig.update_yaxes(title=y_title, rangemode="tozero")


def bars(
    groups: Sequence,
    series: Mapping[str, Values],
    y_title: str,
    *,
    colours: Sequence[str] = COLOURS,
    points: bool = False,
    written: str = "",
) -> go.Figure:
    """Draw bars side by side for every group, one per name.

    ``written`` is the format of the numbers on them, if any.
    """
    fig = go.Figure()
    for (name, values), colour in zip(series.items(), colours, strict=False):
        values = 100 * np.asarray(values, dtype=float) if points else values
        fig.add_trace(
            bar(groups, values, name, colour, texttemplate=f"%{{y:{written}}}" if written else None)
        )
    fig.update_yaxes(title=y_title, tickformat="+.1f" if points else None)
    return fig.update_layout(barmode="group", height=380)


def stacked(
    rows: Sequence[str],
    parts: Mapping[str, Sequence],
    x_title: str,
    *,
    colours: Sequence = COLOURS,
    share: bool = True,
) -> go.Figure:
    """Draw a bar per row, of segments end to end with their size on them: shares or counts."""
    fig = go.Figure()
    for (name, values), colour in zip(parts.items(), colours, strict=False):
        text = (
            [f"{v:.0%}" if v >= 0.045 else "" for v in values]
            if share
            else [v or "" for v in values]
        )
        ink = {"color": "white" if colour in (*COLOURS[:4], *BUDGETS[3:]) else "black"}
        labels = {
            "text": text,
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "textfont": ink,
        }
        fig.add_trace(bar(rows, values, name, colour, sideways=True, **labels))
    fig.update_xaxes(
        title=x_title, **({"tickformat": ".0%", "range": [0, 1]} if share else {"dtick": 2})
    )
    fig.update_yaxes(autorange="reversed")
    fig.update_layout(uniformtext={"minsize": 11, "mode": "hide"}, legend={"traceorder": "normal"})
    return fig.update_layout(barmode="stack", height=120 + 45 * len(rows))


def heatmap(x: Sequence[str], y: Sequence[str], z: Values, text: Any, **more: Any) -> go.Heatmap:
    """A tile for every x and y, with a text on it: one for each, or a template for all."""
    labels = (
        {"texttemplate": text}
        if isinstance(text, str)
        else {"text": text, "texttemplate": "%{text}"}
    )
    names = {"x": [plain(name) for name in x], "y": [plain(name) for name in y], "z": z}
    return go.Heatmap(names | labels | {"showscale": False} | more)


def panels(
    parts: Sequence[Sequence[BaseTraceType]],
    titles: Sequence[str] = (),
    spacing: float = 0.16,
    **more: Any,
) -> go.Figure:
    """Draw panels below each other, each under its title, with every name once in the legend."""
    names = [plain(title) for title in titles] or None
    fig = make_subplots(rows=len(parts), subplot_titles=names, vertical_spacing=spacing, **more)
    seen: set[str] = set()
    for row, traces in enumerate(parts, start=1):
        for trace in traces:
            trace.legendgroup = trace.name
            if trace.name in seen:
                trace.showlegend = False
            elif trace.showlegend is not False:
                seen.add(trace.name)
            fig.add_trace(trace, row=row, col=1)
    return fig


def drag(
    fig: go.Figure,
    stops: Iterable,
    traces: Callable[[int], Sequence[BaseTraceType]],
    prefix: str,
    *,
    rows: Sequence[int] = (),
    titles: Sequence[str] = (),
    layout: Callable[[int], dict] | None = None,
    active: int = 0,
) -> go.Figure:
    """Put a slider below a figure.

    Stop i shows ``traces(i)``, each in its row, with ``titles[i]`` and ``layout(i)``.
    """

    def moved(i: int) -> dict:
        return (layout(i) if layout else {}) | ({"title": {"text": titles[i]}} if titles else {})

    before = len(fig.data)
    shown = traces(active)
    for number, trace in enumerate(shown):
        fig.add_trace(trace, **({"row": rows[number], "col": 1} if rows else {}))
    places = list(range(before, len(fig.data)))
    names = [stop if isinstance(stop, str) else f"{stop:g}" for stop in stops]
    fig.frames = [
        go.Frame(name=name, data=traces(i), traces=places, layout=moved(i))
        for i, name in enumerate(names)
    ]
    at_once = {
        "mode": "immediate",
        "frame": {"duration": 0, "redraw": True},
        "transition": {"duration": 0},
    }
    steps = [{"label": name, "method": "animate", "args": [[name], at_once]} for name in names]
    # Shorter than the figure, so that names at its ends have room.
    slider = {
        "active": active,
        "steps": steps,
        "currentvalue": {"prefix": prefix},
        "x": 0.07,
        "len": 0.84,
    }
    return fig.update_layout(**moved(active), sliders=[slider])


def _shared_fields(x: Values, y: Values, name: str) -> dict:
    """What all traces share: values, their intervals, and a name or no place in the legend."""
    fields: dict[str, Any] = {"name": plain(name)} if name else {"showlegend": False}
    for axis, values in (("x", x), ("y", y)):
        if np.ndim(values) == 2:
            values, low, high = np.asarray(values, dtype=float)
            ends = {"array": high - values, "arrayminus": values - low}
            fields[f"error_{axis}"] = {"type": "data", "symmetric": False, "thickness": 1.5, **ends}
        fields[axis] = values
    return fields
