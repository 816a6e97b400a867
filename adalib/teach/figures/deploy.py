"""Figures of chapter 11: the price that follows, what to watch, and the run against a live model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adalib.teach.figures.style import COLOURS

__all__ = ["live", "watched"]


def watched(
    asked: int, agreement: Sequence[float], price: Sequence[float], shift: int, floor: float, alarm: int | None
) -> go.Figure:
    """Agreement and price, each over a window, up to the last of ``asked`` questions; the shift, and the alarm.

    Both begin when their first window is full.
    """
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08)
    for row, (name, values) in enumerate((("agreement", agreement), ("price", price)), start=1):
        x = list(range(asked - len(values) + 1, asked + 1))
        fig.add_scatter(x=x, y=list(values), name=name, mode="lines", line={"color": COLOURS[row - 1]}, row=row, col=1)
    fig.add_hline(y=floor, line={"dash": "dash", "color": COLOURS[6]}, row=1, col=1)
    fig.add_vline(x=shift, line={"dash": "dot", "color": COLOURS[3], "width": 2})
    if alarm is not None:
        fig.add_scatter(
            x=[alarm], y=[floor], mode="markers", marker={"size": 13, "color": COLOURS[3]}, name="alarm", row=1, col=1
        )
    fig.update_xaxes(title="questions", row=2, col=1)
    fig.update_yaxes(title="agreement", row=1, col=1).update_yaxes(title="λ, times the first", row=2, col=1)
    return fig.update_layout(height=480, showlegend=False)


def live(fixed: Mapping[int, float], router: tuple[float, float], span: tuple[float, float]) -> go.Figure:
    """Accuracy against answers a question: every fixed number, and the router with its interval."""
    fig = go.Figure()
    fig.add_scatter(
        x=list(fixed), y=list(fixed.values()), mode="lines+markers", name="always b", line={"color": COLOURS[6]}
    )
    cost, accuracy = router
    error = {"type": "data", "symmetric": False, "array": [span[1] - accuracy], "arrayminus": [accuracy - span[0]]}
    fig.add_scatter(
        x=[cost],
        y=[accuracy],
        error_y=error,
        mode="markers",
        name="the router",
        marker={"size": 13, "color": COLOURS[1]},
    )
    fig.update_xaxes(title="answers a question", rangemode="tozero")
    return fig.update_yaxes(title="share right").update_layout(height=380)
