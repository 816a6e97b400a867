"""What a figure says of a point that the reader points at: its name and its values, with units."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

_FOUR_DIGITS = ".4~r"  # as d3 writes them: 0.6123 and 12,350, never 1.235e+4
_NO_BOX = "<extra></extra>"  # instead of plotly's second box, which holds the trace's name


def describe_points(fig: go.Figure) -> None:
    """Give every trace that says nothing of its own a text for the reader who points at it.

    It holds the trace's name, what each axis measures, and an interval where there is one.

    >>> fig = go.Figure(go.Scatter(x=[1, 2], y=[0.5, 0.6], name="oracle"))
    >>> describe_points(fig.update_xaxes(title="cost").update_yaxes(title="accuracy"))
    >>> fig.data[0].hovertemplate
    '<b>oracle</b><br>cost: %{x}<br>accuracy: %{y}<extra></extra>'
    """
    for axis in (*fig.select_xaxes(), *fig.select_yaxes()):
        if axis.tickformat is None and axis.hoverformat is None:
            axis.hoverformat = _FOUR_DIGITS
    for trace in fig.data:
        if trace.type in ("scatter", "bar") and trace.hovertemplate is None and not trace.hoverinfo:
            lines = [f"<b>{trace.name}</b>"] if trace.name else []
            if trace.hovertext is not None:
                lines.append("%{hovertext}")
            lines += [_value(fig, trace, "x"), _value(fig, trace, "y")]
            trace.hovertemplate = "<br>".join(lines) + _NO_BOX
        elif isinstance(trace.hovertemplate, str) and not trace.name:
            # Without a name plotly would write "trace 3" next to it.
            trace.hovertemplate = trace.hovertemplate.removesuffix(_NO_BOX) + _NO_BOX


def _value(fig: go.Figure, trace: BaseTraceType, letter: str) -> str:
    """The line of one axis: what it measures, the value, and its interval."""
    anchor = trace[f"{letter}axis"] or letter
    axis = fig.layout[anchor.replace(letter, f"{letter}axis")]
    title = axis.title.text
    interval = _interval(fig, trace, letter, axis.tickformat or axis.hoverformat)
    value = f"%{{{letter}}}{interval}"
    return f"{title.replace('<br>', ' ')}: {value}" if title else value


def _interval(fig: go.Figure, trace: BaseTraceType, letter: str, written: str) -> str:
    """The ends of an interval, stored next to the points, since a text cannot add.

    A slider moves points, but not what is stored next to them.
    """
    error = trace[f"error_{letter}"]
    if (
        fig.frames
        or error.array is None
        or error.arrayminus is None
        or trace.customdata is not None
    ):
        return ""
    middle = np.asarray(trace[letter], dtype=float)
    low = middle - np.asarray(error.arrayminus, dtype=float)
    high = middle + np.asarray(error.array, dtype=float)
    trace.customdata = np.column_stack([low, high])
    ends = [f"%{{customdata[{end}]:{written}}}" for end in (0, 1)]
    return f" [{ends[0]}, {ends[1]}]"
