"""Figures of chapter 10: what each signal adds, and who gets the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from adalib.teach.figures.style import COLOURS

__all__ = ["answers_by_kind", "ladder", "rounds"]


def ladder(
    targets: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    faint: Mapping[str, Sequence[float]],
    band: tuple[str, Sequence[float], Sequence[float]],
) -> go.Figure:
    """Accuracy against the average budget: one line a rung, ``faint`` lines dashed, an interval around one of them."""
    fig = go.Figure()
    name, low, high = band
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    fig.add_scatter(x=list(targets), y=list(low), **edge)
    fig.add_scatter(x=list(targets), y=list(high), fill="tonexty", fillcolor="rgba(213, 94, 0, 0.15)", **edge)
    others = iter([colour for colour in COLOURS if colour != COLOURS[1]])
    for label, values in lines.items():
        colour = COLOURS[1] if label == name else next(others)
        fig.add_scatter(
            x=list(targets), y=list(values), name=label, mode="lines+markers", line={"color": colour, "width": 3}
        )
    for (label, values), dash in zip(faint.items(), ("dot", "dash", "dashdot", "longdash"), strict=False):
        fig.add_scatter(
            x=list(targets),
            y=list(values),
            name=label,
            mode="lines",
            line={"color": "#8a8f98", "width": 2, "dash": dash},
        )
    fig.update_xaxes(title="average answers a question")
    return fig.update_yaxes(title="accuracy, held out").update_layout(height=460)


def answers_by_kind(names: Sequence[str], parts: Mapping[str, np.ndarray]) -> go.Figure:
    """Answers that each kind of question gets, one group of bars a policy."""
    fig = go.Figure()
    for (label, values), colour in zip(parts.items(), COLOURS, strict=False):
        fig.add_bar(x=list(names), y=list(values), name=label, marker={"color": colour})
    return fig.update_yaxes(title="answers a question").update_layout(height=340, barmode="group")


def rounds(found: Mapping[str, tuple[float, float, float]]) -> go.Figure:
    """Accuracy against rounds of waiting, one point a size of the round; cost in the label."""
    fig = go.Figure()
    for (label, (wait, accuracy, cost)), colour in zip(found.items(), COLOURS, strict=False):
        text = f"{label}: cost {cost:.2f}"
        fig.add_scatter(x=[wait], y=[accuracy], name=text, mode="markers", marker={"size": 14, "color": colour})
    fig.update_xaxes(title="rounds a question has to wait", rangemode="tozero")
    return fig.update_yaxes(title="accuracy").update_layout(height=340)
