"""Figures of chapter 8: who gets the budget, beside a population that nothing helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adalib.colours import budget_colours
from adalib.teach.figures.style import COLOURS, error_bars, hundredfold, in_points, plain, slider

__all__ = ["Dots", "Stack", "drag_budget", "heatmaps", "means", "scatter"]

CLAIMED, HONEST = COLOURS[1], COLOURS[0]  # on the samples that chose; on the others

Estimate = tuple[Sequence[float], Sequence[float], Sequence[float]]  # mean, low, high


def means(
    x: Sequence,
    panels: Mapping[str, Mapping[str, Estimate]],
    x_title: str,
    y_title: str,
    *,
    colours: Sequence[str] = (CLAIMED, HONEST, COLOURS[2]),
    digits: str = ".2f",
    points: bool = False,
) -> go.Figure:
    """Means with their intervals, one panel above the other on one scale, the same lines in each; gains in points."""
    if points:
        panels = {name: {line: hundredfold(part) for line, part in panel.items()} for name, panel in panels.items()}
    fig = make_subplots(rows=len(panels), subplot_titles=[plain(name) for name in panels], vertical_spacing=0.16)
    for row, panel in enumerate(panels.values(), start=1):
        for (name, estimate), colour in zip(panel.items(), colours, strict=False):
            fig.add_scatter(
                x=list(x),
                y=list(estimate[0]),
                error_y=error_bars(*estimate),
                name=plain(name),
                legendgroup=name,
                showlegend=row == 1,
                mode="lines+markers",
                line={"color": colour, "width": 3},
                row=row,
                col=1,
            )
    fig.update_xaxes(title=x_title, row=len(panels))
    ends = [end for panel in panels.values() for estimate in panel.values() for part in estimate[1:] for end in part]
    low, high = np.nanmin([0.0, *ends]), np.nanmax(ends)
    room = 0.06 * (high - low)
    fig.update_yaxes(title=y_title, tickformat="+.0f" if points else digits, range=[low - room, high + room])
    return fig.update_layout(height=140 + 220 * len(panels), margin={"t": 70}, legend={"y": 1 + 0.16 / len(panels)})


class Dots(NamedTuple):
    """One panel of `scatter`: a dot a question, and the mean budget of tenths."""

    acc1: np.ndarray
    column: np.ndarray
    most: np.ndarray  # largest gain of the curve over its start
    tenths: pd.DataFrame  # from by_difficulty, with 10 bins


def scatter(panels: Mapping[str, Dots], budgets: Sequence[int], seed: int = 0) -> go.Figure:
    """The budget of every question over its accuracy at one answer; larger dots could gain more. A line for tenths."""
    fig = make_subplots(rows=len(panels), subplot_titles=[plain(name) for name in panels], vertical_spacing=0.16)
    rng = np.random.default_rng(seed)
    place = np.log2(np.asarray(budgets, dtype=float))
    for row, dots in enumerate(panels.values(), start=1):
        marker = {"size": 4 + 14 * np.clip(dots.most, 0, 1), "color": HONEST, "opacity": 0.35, "line": {"width": 0}}
        fig.add_scatter(
            x=dots.acc1.round(4),
            # Many questions share a point: a little jitter lets them be seen.
            y=(place[dots.column] + rng.uniform(-0.16, 0.16, dots.column.size)).round(3),
            mode="markers",
            marker=marker,
            name="a question",
            legendgroup="dots",
            showlegend=row == 1,
            hoverinfo="skip",
            row=row,
            col=1,
        )
        fig.add_scatter(
            x=dots.tenths["acc1"].round(4),
            y=np.log2(dots.tenths["budget"]),
            mode="lines+markers",
            line={"color": CLAIMED, "width": 3},
            name="mean of a tenth",
            legendgroup="tenths",
            showlegend=row == 1,
            customdata=dots.tenths["budget"].round(2),
            hovertemplate="Acc(x,1) %{x:.2f}, mean budget %{customdata}<extra></extra>",
            row=row,
            col=1,
        )
    fig.update_xaxes(range=[-0.04, 1.04])
    fig.update_xaxes(title="estimated Acc(x, 1)", row=len(panels))
    fig.update_yaxes(title="budget", tickvals=place, ticktext=[str(b) for b in budgets], range=[-0.4, place[-1] + 0.4])
    return fig.update_layout(height=140 + 230 * len(panels), margin={"t": 70}, legend={"y": 1.08})


def heatmaps(
    frames: Mapping[float, Mapping[str, pd.DataFrame]], budgets: Sequence[int], title: str, active: int = 0
) -> go.Figure:
    """Levels by budgets, shares of each level, one panel a policy; a slider moves the average budget.

    Every table has a row a level and a column a budget, as `level_shares` makes them.
    """
    start = list(frames.values())[active]
    fig = make_subplots(rows=len(start), subplot_titles=[plain(name) for name in start], vertical_spacing=0.12)

    def maps(tables: Mapping[str, pd.DataFrame]) -> list[go.Heatmap]:
        return [
            go.Heatmap(
                x=[f"b={b}" for b in budgets],
                y=[f"level {level}" for level in shares.index],
                z=shares.to_numpy(),
                texttemplate="%{z:.0%}",
                zmin=0,
                zmax=1,
                showscale=False,
                xgap=2,
                ygap=2,
                hovertemplate="%{y}, %{x}: %{z:.1%}<extra></extra>",
            )
            for shares in tables.values()
        ]

    for row, trace in enumerate(maps(start), start=1):
        fig.add_trace(trace, row=row, col=1)
    fig.frames = [
        go.Frame(data=maps(tables), name=str(B), traces=list(range(len(start)))) for B, tables in frames.items()
    ]
    fig.update_yaxes(autorange="reversed", showgrid=False)
    fig.update_xaxes(showgrid=False, showticklabels=False, ticks="")
    fig.update_xaxes(showticklabels=True, row=len(start))
    levels = sum(len(shares) for shares in start.values())
    return fig.update_layout(
        title={"text": plain(title), "y": 0.98, "yanchor": "top"},
        height=200 + 34 * levels + 40 * len(start),
        margin={"t": 80},
        sliders=[slider([str(B) for B in frames], "average budget B = ", active=active)],
    )


class Stack(NamedTuple):
    """One position of `drag_budget` in one panel: shares of budgets by fifth, and what they claim and gain."""

    shares: np.ndarray  # (budgets, fifths)
    claimed: float
    gain: float


def drag_budget(panels: Mapping[str, Mapping[float, Stack]], budgets: Sequence[int], active: int = 0) -> go.Figure:
    """Budgets by fifth of the accuracy at one answer as the average budget grows, one panel a population."""
    positions = list(next(iter(panels.values())))
    fifths = ["lowest", "2nd", "middle", "4th", "highest"]

    def heading(name: str, stack: Stack) -> str:
        return f"{plain(name)}<br>claims {in_points(stack.claimed)}, gains {in_points(stack.gain)} points"

    def bars(B: float) -> list[go.Bar]:
        return [
            go.Bar(
                x=fifths,
                y=shares,
                name=f"b={b}",
                marker_color=colour,
                legendgroup=str(b),
                showlegend=number == 0,
                hovertemplate=f"%{{x}}: %{{y:.0%}} get b={b}<extra></extra>",
            )
            for number, panel in enumerate(panels.values())
            for b, shares, colour in zip(budgets, panel[B].shares, budget_colours(len(budgets)), strict=True)
        ]

    start = positions[active]
    fig = make_subplots(
        rows=len(panels),
        subplot_titles=[heading(name, panel[start]) for name, panel in panels.items()],
        vertical_spacing=0.18,
    )
    for number, trace in enumerate(bars(start)):
        fig.add_trace(trace, row=1 + number // len(budgets), col=1)
    placed = [note.to_plotly_json() for note in fig.layout.annotations]

    def notes(B: float) -> list[dict]:
        return [
            {**note, "text": heading(name, panel[B])}
            for note, (name, panel) in zip(placed, panels.items(), strict=True)
        ]

    fig.frames = [
        go.Frame(data=bars(B), name=f"{B:g}", traces=list(range(len(fig.data))), layout={"annotations": notes(B)})
        for B in positions
    ]
    fig.update_xaxes(title="fifth of the questions, by Acc(x, 1)", row=len(panels))
    fig.update_yaxes(title="share given", tickformat=".0%", range=[0, 1])
    return fig.update_layout(
        barmode="stack",
        height=760,
        margin={"t": 120},
        legend={"y": 1.13, "traceorder": "normal"},
        sliders=[slider([f"{B:g}" for B in positions], "average budget B = ", active=active)],
    )
