"""The shapes that figures are made of: lines, dots, bars, panels and a slider.

Wherever values are shown, an estimate ``(mean, low, high)`` may stand in their place: its interval
is then drawn, too. What has a name has an entry in the legend, and what has none has none. Further
keywords go to plotly as they are, and override what a shape sets itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.basedatatypes import BaseTraceType
from plotly.subplots import make_subplots

from adabook.figures.page import plain
from adabook.figures.style import COLOURS, SERIES, faint
from adalib.colours import BUDGETS

GREY = COLOURS[6]
#: Numbers, names, or the (mean, low, high) of an estimate.
Values = ArrayLike | Sequence[Any]

# Data are drawn solid, so curves for reference take these in turn.
_DASHES = ("dash", "dot", "dashdot", "longdash")
_DARK_COLOURS = (*COLOURS[:4], *BUDGETS[3:])
_SMALLEST_LABELLED_SHARE = 0.045  # of a stacked bar: in a shorter segment a label has no room


# Single traces.


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
    fields = _shared_fields(x, y, name)
    fields["mode"] = "lines+markers" if marks else "lines"
    fields["line"] = {"color": colour, "width": width, "dash": dash, "shape": shape}
    fields.update(more)
    return go.Scatter(fields)


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
    fields = _shared_fields(x, y, name)
    fields["mode"] = "markers"
    fields["marker"] = {"color": colour, "size": size, "symbol": symbol}
    fields.update(more)
    return go.Scatter(fields)


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
    fields = _shared_fields(x, y, name)
    fields["orientation"] = "h" if sideways else None
    fields["marker"] = {"color": colour}
    fields.update(more)
    return go.Bar(fields)


def _shared_fields(x: Values, y: Values, name: str) -> dict[str, Any]:
    """What all traces share: values, their intervals, and a name or no place in the legend."""
    fields: dict[str, Any] = {"name": plain(name)} if name else {"showlegend": False}
    for axis, values in (("x", x), ("y", y)):
        if np.ndim(values) == 2:
            mean, low, high = np.asarray(values, dtype=float)
            fields[axis] = mean
            fields[f"error_{axis}"] = _error_bars(mean, low, high)
        else:
            fields[axis] = values
    return fields


def _error_bars(mean: np.ndarray, low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
    """The intervals of estimates as plotly wants them: how far they reach from the mean."""
    return {
        "type": "data",
        "symmetric": False,
        "thickness": 1.5,
        "array": high - mean,
        "arrayminus": mean - low,
    }


def band(x: Values, low: Values, high: Values, colour: str, opacity: float = 0.2) -> go.Scatter:
    """The area between two curves."""
    x, low, high = (np.asarray(values) for values in (x, low, high))
    # Around the area: along the lower curve, and back along the upper one.
    around_x = np.r_[x, x[::-1]]
    around_y = np.r_[low, high[::-1]]
    return line(
        around_x,
        around_y,
        width=0,
        fill="toself",
        fillcolor=faint(colour, opacity),
        hoverinfo="skip",
    )


def level(
    fig: go.Figure,
    *,
    x: float | None = None,
    y: float | None = None,
    dash: str = "dash",
    colour: str = GREY,
    width: float = 2,
    **more: Any,
) -> None:
    """A thin straight line across a figure or one of its panels, at an x or a y."""
    style = {"color": colour, "width": width, "dash": dash}
    if x is not None:
        fig.add_vline(x=x, line=style, **more)
    if y is not None:
        fig.add_hline(y=y, line=style, **more)


# Whole figures.


def lines(
    x: Sequence,
    series: Mapping[str, Values],
    x_title: str,
    y_title: str,
    *,
    exact: Mapping[str, Values] | None = None,
    bands: Mapping[str, tuple[Values, Values]] | None = None,
    colours: Sequence[str] = SERIES,
    log_x: bool = False,
    height: int = 380,
) -> go.Figure:
    """Draw a line through points for every name.

    ``exact`` curves are dashed in grey, and ``bands`` are (low, high) by name.
    """
    fig = go.Figure()
    for (name, y), colour in zip(series.items(), colours, strict=False):
        if bands and name in bands:
            low, high = bands[name]
            fig.add_trace(band(x, low, high, colour))
        fig.add_trace(line(x, y, name, colour, marks=True))
    for (name, y), dash in zip((exact or {}).items(), _DASHES, strict=False):
        fig.add_trace(line(x, y, name, GREY, dash=dash))
    fig.update_xaxes(title=x_title)
    if log_x:
        fig.update_xaxes(type="log", tickvals=list(x), ticktext=[f"{value:g}" for value in x])
    fig.update_yaxes(title=y_title)
    return fig.update_layout(height=height)


def bars(
    groups: Sequence,
    series: Mapping[str, Values],
    y_title: str,
    *,
    colours: Sequence[str] = SERIES,
) -> go.Figure:
    """Draw bars side by side for every group, one per name."""
    fig = go.Figure()
    for (name, values), colour in zip(series.items(), colours, strict=False):
        fig.add_trace(bar(groups, values, name, colour))
    fig.update_yaxes(title=y_title)
    return fig.update_layout(barmode="group", height=380)


def stacked(
    rows: Sequence[str],
    parts: Mapping[str, Sequence],
    x_title: str,
    *,
    colours: Sequence[str] = SERIES,
) -> go.Figure:
    """Draw a bar per row, of shares end to end with their size on them."""
    fig = go.Figure()
    for (name, values), colour in zip(parts.items(), colours, strict=False):
        segment = bar(
            rows,
            values,
            name,
            colour,
            sideways=True,
            text=[f"{share:.0%}" if share >= _SMALLEST_LABELLED_SHARE else "" for share in values],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": "white" if colour in _DARK_COLOURS else "black"},
        )
        fig.add_trace(segment)
    fig.update_xaxes(title=x_title, tickformat=".0%", range=[0, 1])
    fig.update_yaxes(autorange="reversed")
    return fig.update_layout(
        barmode="stack",
        height=120 + 45 * len(rows),
        uniformtext={"minsize": 11, "mode": "hide"},
        legend={"traceorder": "normal"},
    )


def panels(
    parts: Sequence[Sequence[BaseTraceType]],
    titles: Sequence[str] = (),
    spacing: float = 0.16,
    **more: Any,
) -> go.Figure:
    """Draw panels below each other, each under its title, with every name once in the legend."""
    names = [plain(title) for title in titles] or None
    fig = make_subplots(rows=len(parts), subplot_titles=names, vertical_spacing=spacing, **more)
    in_legend: set[str] = set()
    for row, traces in enumerate(parts, start=1):
        for trace in traces:
            trace.legendgroup = trace.name
            if trace.name in in_legend:
                trace.showlegend = False
            elif trace.showlegend is not False:
                in_legend.add(trace.name)
            fig.add_trace(trace, row=row, col=1)
    return fig


# A slider.


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

    def layout_at(i: int) -> dict:
        changes = dict(layout(i)) if layout else {}
        if titles:
            changes["title"] = {"text": titles[i]}
        return changes

    still = len(fig.data)
    for number, trace in enumerate(traces(active)):
        place = {"row": rows[number], "col": 1} if rows else {}
        fig.add_trace(trace, **place)
    moving = list(range(still, len(fig.data)))
    names = [stop if isinstance(stop, str) else f"{stop:g}" for stop in stops]
    fig.frames = [
        go.Frame(name=name, data=traces(i), traces=moving, layout=layout_at(i))
        for i, name in enumerate(names)
    ]
    return fig.update_layout(**layout_at(active), sliders=[_slider(names, prefix, active)])


def _slider(names: Sequence[str], prefix: str, active: int) -> dict[str, Any]:
    """A slider that jumps to the frame of a name; ``prefix`` stands before the name."""
    at_once = {
        "mode": "immediate",
        "frame": {"duration": 0, "redraw": True},
        "transition": {"duration": 0},
    }
    return {
        "active": active,
        "steps": [
            {"label": name, "method": "animate", "args": [[name], at_once]} for name in names
        ],
        "currentvalue": {"prefix": prefix},
        # Shorter than the figure, so that names at its ends have room.
        "x": 0.07,
        "len": 0.84,
    }
