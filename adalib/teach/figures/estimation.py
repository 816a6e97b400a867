"""Figures of chapter 5: how far an estimate wobbles, what a tie costs, and how much an oracle flatters itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adalib.teach.figures.style import COLOURS, error_bars, hundredfold, plain, slider

__all__ = [
    "Frame",
    "bars",
    "bracket",
    "claim_and_truth",
    "drag_samples",
    "estimate_histogram",
    "gain_of_two",
    "odd_and_even",
    "points",
]

CLAIMED, HONEST, TRUE = COLOURS[1], COLOURS[0], COLOURS[2]  # the same three colours in every figure of the chapter

Estimate = tuple[Sequence[float], Sequence[float], Sequence[float]]  # mean, low, high


def claim_and_truth(targets: Sequence[float], claimed: Estimate, truth: float) -> go.Figure:
    """What an oracle claims at each average budget, over a truth that is the same at all of them."""
    fig = go.Figure()
    fig.add_scatter(
        x=list(targets),
        y=list(claimed[0]),
        error_y=error_bars(*claimed),
        name="what the oracle claims",
        mode="lines+markers",
        line={"color": CLAIMED, "width": 3},
    )
    fig.add_scatter(
        x=list(targets),
        y=[truth] * len(targets),
        name="what any policy is worth",
        mode="lines",
        line={"color": TRUE, "width": 3, "dash": "dash"},
    )
    fig.update_xaxes(title="average budget B")
    return fig.update_yaxes(title="accuracy", tickformat=".2f").update_layout(height=340)


def estimate_histogram(estimates: Mapping[str, np.ndarray], truth: float, width: float) -> go.Figure:
    """How often each value of an estimate comes up when the samples are drawn again; the truth is marked."""
    fig = go.Figure()
    edges = np.arange(-width / 2, 1 + width, width)
    for (name, values), colour in zip(estimates.items(), (CLAIMED, HONEST), strict=True):
        share = np.histogram(values, edges)[0] / len(values)
        fig.add_bar(x=edges[:-1] + width / 2, y=share, name=plain(name), marker_color=colour)
    fig.add_vline(x=truth, line={"color": TRUE, "width": 3, "dash": "dash"}, annotation_text="truth")
    fig.update_xaxes(title="estimate of Acc(x, 16)", range=[-width, 1 + width])
    return fig.update_yaxes(title="share of redraws", tickformat=".0%").update_layout(height=340, bargap=0.1)


def points(
    x: Sequence,
    series: Mapping[str, Estimate],
    x_title: str,
    y_title: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    dashed: Mapping[str, Sequence[float]] | None = None,
    colours: Sequence[str] = COLOURS,
) -> go.Figure:
    """Estimates with their intervals, a line a name; exact curves are dashed. Log axes are labelled at their points."""
    fig = go.Figure()
    for (name, estimate), colour in zip(series.items(), colours, strict=False):
        fig.add_scatter(
            x=list(x),
            y=list(estimate[0]),
            error_y=error_bars(*estimate),
            name=plain(name),
            mode="lines+markers",
            line={"color": colour, "width": 3},
        )
    for (name, y), dash in zip((dashed or {}).items(), ("dash", "dot"), strict=False):
        line = {"color": TRUE if name == "best possible" else COLOURS[6], "width": 3, "dash": dash}
        fig.add_scatter(x=list(x), y=list(y), name=plain(name), mode="lines", line=line)
    ticks = {"type": "log", "tickvals": list(x), "ticktext": [str(v) for v in x]} if log_x else {}
    fig.update_xaxes(title=x_title, **ticks)
    if log_y:
        marks = [m * 10.0**e for e in (-4, -3, -2, -1) for m in (1, 2, 5)]
        fig.update_yaxes(type="log", tickvals=marks, ticktext=[f"{m:g}" for m in marks])
    return fig.update_yaxes(title=y_title).update_layout(height=380)


def odd_and_even(budgets: Sequence[int], curves: Mapping[str, Sequence[float]]) -> go.Figure:
    """Accuracy by budget where even budgets repeat the odd ones before them: filled marks are odd, hollow ones even."""
    fig = go.Figure()
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        fill = [colour if b % 2 else "rgba(0, 0, 0, 0)" for b in budgets]
        fig.add_scatter(
            x=list(budgets),
            y=list(curve),
            name=plain(name),
            mode="lines+markers",
            line={"color": colour, "width": 2},
            marker={"size": 10, "color": fill, "line": {"color": colour, "width": 2}},
        )
    fig.update_xaxes(
        title="budget b (filled: odd)", tickvals=list(budgets)[::2], range=[budgets[0] - 0.5, budgets[-1] + 0.5]
    )
    return fig.update_yaxes(title="Acc(x, b)", tickformat=".2f").update_layout(height=380)


def gain_of_two(sets: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> go.Figure:
    """One dot a question: its share of empty answers against what a second answer adds, relative to one."""
    fig = go.Figure()
    most = max(float(empty.max()) for empty, _ in sets.values()) * 1.05
    fig.add_scatter(
        x=[0, most], y=[0, most], mode="lines", name="theorem", line={"color": COLOURS[6], "width": 2, "dash": "dash"}
    )
    for (name, (empty, gain)), colour in zip(sets.items(), COLOURS, strict=False):
        marker = {"color": colour, "size": 8, "opacity": 0.6}
        fig.add_scatter(x=empty, y=gain, mode="markers", name=plain(name), marker=marker)
    fig.update_xaxes(title="share of empty answers", tickformat=".0%")
    return fig.update_yaxes(title="gain from b=1 to b=2", tickformat=".0%").update_layout(height=380)


def bars(
    groups: Sequence[str],
    series: Mapping[str, Estimate],
    y_title: str,
    *,
    colours: Sequence[str] = (CLAIMED, HONEST, TRUE),
    percent: bool = False,
) -> go.Figure:
    """Bars from zero, in groups, with intervals: gains in points, or shares in percent."""
    fig = go.Figure()
    for (name, estimate), colour in zip(series.items(), colours, strict=False):
        value = list(estimate) if percent else hundredfold(estimate)
        fig.add_bar(x=list(groups), y=value[0], error_y=error_bars(*value), name=plain(name), marker_color=colour)
    fig.update_yaxes(title=y_title, tickformat=".0%" if percent else "+.1f")
    return fig.update_layout(barmode="group", height=380)


def bracket(R: Sequence[int], panels: Mapping[str, Mapping[str, Estimate]], truth: float) -> go.Figure:
    """In-sample from above, cross-fitted from below, the truth between them; one panel a way to estimate.

    An estimate that is NaN does not exist and is left out.
    """
    fig = make_subplots(rows=len(panels), subplot_titles=list(panels), shared_xaxes=True, vertical_spacing=0.12)
    ends = [value for panel in panels.values() for estimate in panel.values() for value in (estimate[1], estimate[2])]
    span = np.nanmin(ends) - 0.003, np.nanmax(ends) + 0.003
    for row, panel in enumerate(panels.values(), start=1):
        for (name, estimate), colour in zip(panel.items(), (CLAIMED, HONEST), strict=True):
            there = np.isfinite(estimate[0])
            estimate = [np.asarray(part)[there] for part in estimate]
            fig.add_scatter(
                x=np.asarray(R)[there],
                y=estimate[0],
                error_y=error_bars(*estimate),
                name=plain(name),
                legendgroup=name,
                showlegend=row == 1,
                mode="lines+markers",
                line={"color": colour, "width": 3},
                row=row,
                col=1,
            )
        fig.add_scatter(
            x=list(R),
            y=[truth] * len(R),
            name="best possible",
            legendgroup="truth",
            showlegend=row == 1,
            mode="lines",
            line={"color": TRUE, "width": 3, "dash": "dash"},
            row=row,
            col=1,
        )
    fig.update_xaxes(type="log", tickvals=list(R), ticktext=[str(r) for r in R])
    fig.update_xaxes(title="samples a question, R", row=len(panels))
    fig.update_yaxes(title="accuracy", range=span, tickformat=".2f")
    return fig.update_layout(height=150 + 230 * len(panels), margin={"t": 70}, legend={"y": 1.08})


class Frame(NamedTuple):
    """What one position of the slider of `drag_samples` shows."""

    claimed: Sequence[float]
    worth: Sequence[float]
    labels: Sequence[float]


def drag_samples(
    frames: Mapping[int, Frame],
    targets: Sequence[float],
    best: Sequence[float],
    budgets: Sequence[int],
    active: int = 0,
) -> go.Figure:
    """Drag R: above, the oracle's claim, its worth and the best possible; below, the budgets given on a null."""
    fig = make_subplots(
        rows=2,
        subplot_titles=["DeepSeek-V3 stand-in, simulated", "flat null, simulated: nobody gains"],
        vertical_spacing=0.2,
        row_heights=[0.57, 0.43],
    )
    first = frames[list(frames)[active]]

    def traces(frame: Frame) -> list:
        return [
            go.Scatter(
                x=list(targets),
                y=list(frame.claimed),
                name="claimed",
                line={"color": CLAIMED, "width": 3},
                mode="lines",
            ),
            go.Scatter(
                x=list(targets), y=list(frame.worth), name="worth", line={"color": HONEST, "width": 3}, mode="lines"
            ),
            go.Bar(
                x=[f"b={b}" for b in budgets],
                y=list(frame.labels),
                text=[f"{share:.0%}" for share in frame.labels],
                marker_color=[COLOURS[6], *[CLAIMED] * (len(budgets) - 1)],
                showlegend=False,
            ),
        ]

    def title(frame: Frame) -> str:
        return f"B = {targets[-1]:g}: claims {frame.claimed[-1]:.3f}, worth {frame.worth[-1]:.3f}"

    for trace, row in zip(traces(first), (1, 1, 2), strict=True):
        fig.add_trace(trace, row=row, col=1)
    line = {"color": TRUE, "width": 3, "dash": "dash"}
    fig.add_scatter(x=list(targets), y=list(best), name="best possible", line=line, mode="lines", row=1, col=1)
    fig.frames = [
        go.Frame(data=traces(frame), name=str(R), traces=[0, 1, 2], layout={"title.text": title(frame)})
        for R, frame in frames.items()
    ]
    low = min(min(frame.worth) for frame in frames.values())
    high = max(max(frame.claimed) for frame in frames.values())
    fig.update_xaxes(title="average budget B", row=1)
    fig.update_yaxes(title="accuracy", range=[low - 0.005, high + 0.005], tickformat=".2f", row=1)
    fig.update_yaxes(title="share given", range=[0, 1.1], tickformat=".0%", row=2)
    return fig.update_layout(
        title={"text": title(first), "y": 0.98, "yanchor": "top"},
        height=700,
        margin={"t": 110},
        legend={"y": 1.06},
        sliders=[slider(list(frames), "samples a question, R = ", active=active)],
    )
