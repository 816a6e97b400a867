"""Figures of chapter 9: what an ablation shows, and what it shows when there is nothing to be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from adalib.colours import budget_colours
from adalib.teach.figures.style import COLOURS, plain, slider

__all__ = [
    "accuracy_by_share",
    "class_profile",
    "confusion",
    "drag_share",
    "frontiers",
    "importance_ranges",
    "regret_scatter",
]

PRINTED, ROWS, QUESTIONS = COLOURS[6], COLOURS[1], COLOURS[0]  # printed, flattering, honest: in every figure here


def regret_scatter(
    eps: Sequence[float], values: Mapping[str, Sequence[float]], lines: Mapping[str, float]
) -> go.Figure:
    """One mark a trained classifier: its share of wrong labels against what they cost; lines through the origin."""
    fig = go.Figure()
    symbols = ("circle", "diamond-open", "cross-thin-open", "x-thin-open")
    for (name, y), symbol, colour in zip(
        values.items(), symbols, (QUESTIONS, ROWS, COLOURS[2], COLOURS[3]), strict=False
    ):
        marker = {"size": 9, "symbol": symbol, "color": colour, "line": {"width": 2}}
        fig.add_scatter(x=list(eps), y=list(y), mode="markers", name=plain(name), marker=marker)
    right = 1.05 * max(eps)
    for (name, slope), dash in zip(lines.items(), ("dash", "dot"), strict=False):
        line = {"color": COLOURS[6], "width": 2, "dash": dash}
        fig.add_scatter(x=[0, right], y=[0, slope * right], mode="lines", name=plain(name), line=line)
    fig.update_xaxes(title="share of wrong labels, ε", rangemode="tozero", tickformat=".0%")
    return fig.update_yaxes(title="loss a question", rangemode="tozero", tickformat=".2f").update_layout(height=420)


def confusion(counts: np.ndarray, budgets: Sequence[int]) -> go.Figure:
    """Where each of the oracle's budgets ends up: shares of its row, and the counts on hover."""
    counts = np.asarray(counts)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [f"b={b}" for b in budgets]
    fig = go.Figure(
        go.Heatmap(
            x=names,
            y=names,
            z=shares,
            customdata=counts,
            text=[[f"{share:.0%}" for share in row] for row in shares],
            texttemplate="%{text}",
            hovertemplate="oracle %{y}, predicted %{x}: %{customdata} rows<extra></extra>",
            colorscale="Cividis",
            zmin=0,
            zmax=1,
            showscale=False,
        )
    )
    fig.update_yaxes(title="the oracle's budget", autorange="reversed")
    return fig.update_xaxes(title="the predicted budget").update_layout(height=380)


def accuracy_by_share(shares: Sequence[float], curves: Mapping[str, Mapping[str, Sequence[float]]]) -> go.Figure:
    """Gain by share of the training data; a colour a budget, solid for scores on all questions, dotted for unseen."""
    fig = go.Figure()
    for (name, lines), colour in zip(curves.items(), budget_colours(len(curves)), strict=True):
        for kind, y in lines.items():
            dash = {"all": "solid", "unseen": "dot"}[kind]
            there = np.isfinite(y)
            fig.add_scatter(
                x=np.asarray(shares)[there],
                y=np.asarray(y)[there],
                mode="lines+markers",
                name=plain(f"{name}, {kind}"),
                line={"color": colour, "width": 3, "dash": dash},
            )
    fig.add_hline(y=0, line={"color": COLOURS[6], "width": 2, "dash": "dash"})
    fig.update_xaxes(title="share of the questions trained on", tickformat=".0%", range=[0, 1.05])
    fig.update_yaxes(title="accuracy above Fixed-b", tickformat=".2f")
    return fig.update_layout(height=420)


def drag_share(frames: Mapping[str, Mapping[str, float]], active: int = 0) -> go.Figure:
    """Drag the training share: what part of the oracle's gain is reached on seen, unseen and all questions."""
    names = list(next(iter(frames.values())))
    colours = [ROWS, QUESTIONS, COLOURS[3]]

    def bars(frame: Mapping[str, float]) -> go.Bar:
        there = [np.isfinite(frame[name]) for name in names]
        return go.Bar(
            x=names,
            y=[frame[name] if known else 0.0 for name, known in zip(names, there, strict=True)],
            text=[f"{frame[name]:.0%}" if known else "none left" for name, known in zip(names, there, strict=True)],
            textposition="outside",
            marker_color=colours,
            showlegend=False,
        )

    fig = go.Figure(bars(frames[list(frames)[active]]))
    fig.add_hline(y=1, line={"color": COLOURS[6], "width": 2, "dash": "dash"})
    fig.frames = [go.Frame(data=[bars(frame)], name=name, traces=[0]) for name, frame in frames.items()]
    every = [value for frame in frames.values() for value in frame.values() if np.isfinite(value)]
    low, high = min(0.0, *every), max(1.0, *every)
    fig.update_yaxes(title="share of the oracle's gain", range=[low - 0.05, high + 0.15], tickformat=".0%")
    return fig.update_layout(height=440, sliders=[slider(list(frames), "trained on ", active=active)])


def frontiers(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], largest: float) -> go.Figure:
    """Best accuracy at every average budget, a line a menu of budgets."""
    fig = go.Figure()
    for (name, (cost, accuracy)), colour, dash in zip(
        lines.items(), COLOURS, ("solid", "solid", "dash", "dot", "dashdot"), strict=False
    ):
        line = {"color": colour, "width": 3, "dash": dash}
        fig.add_scatter(x=list(cost), y=list(accuracy), mode="lines", name=plain(name), line=line)
    fig.update_xaxes(title="average budget B", range=[1, largest])
    return fig.update_yaxes(title="best accuracy", tickformat=".2f").update_layout(height=380)


def importance_ranges(
    features: Sequence[str], importance: Sequence[float], shuffled: tuple, noise: tuple[float, float]
) -> go.Figure:
    """Importances as dots, most important on top; bars show where they fall when the labels are shuffled."""
    names = [plain(name) for name in features][::-1]
    low, high = (np.asarray(part)[::-1] for part in shuffled)
    fig = go.Figure()
    fig.add_vrect(x0=noise[0], x1=noise[1], fillcolor=COLOURS[6], opacity=0.25, line_width=0)
    fig.add_bar(
        x=high - low,
        base=low,
        y=names,
        orientation="h",
        name="with shuffled labels",
        marker_color=COLOURS[5],
        opacity=0.55,
        width=0.5,
    )
    fig.add_scatter(
        x=list(importance)[::-1],
        y=names,
        mode="markers",
        name="with the true labels",
        marker={"size": 10, "color": ROWS},
    )
    # An entry of the legend for the band, which plotly does not list by itself.
    band = {"size": 12, "symbol": "square", "color": COLOURS[6], "opacity": 0.4}
    fig.add_scatter(x=[None], y=names[:1], mode="markers", name="range with noise columns", marker=band)
    fig.update_xaxes(title="importance (shares, sum 1)", rangemode="tozero", tickformat=".2f")
    return fig.update_layout(height=max(340, 30 * len(names) + 110)).update_yaxes(
        tickfont={"size": 11}, type="category"
    )


def class_profile(
    features: Sequence[str], classes: Sequence[str], values: np.ndarray, marked: np.ndarray | None = None
) -> go.Figure:
    """Profile of each class as a heatmap, a row a feature; cells that stand out are marked with a star."""
    values = np.asarray(values, dtype=float)
    largest = float(np.abs(values).max()) or 1.0
    stars = np.zeros(values.shape, dtype=bool) if marked is None else np.asarray(marked)
    text = [
        [f"{v:.1f}{'*' if s else ''}" for v, s in zip(*pair, strict=True)] for pair in zip(values, stars, strict=True)
    ]
    fig = go.Figure(
        go.Heatmap(
            x=[plain(name) for name in classes],
            y=[plain(name) for name in features],
            z=values,
            text=text,
            texttemplate="%{text}",
            hovertemplate="%{y}, %{x}: %{z:.2f}<extra></extra>",
            colorscale="PuOr",
            zmid=0,
            zmin=-largest,
            zmax=largest,
            showscale=False,
        )
    )
    fig.update_yaxes(autorange="reversed", tickfont={"size": 11})
    return fig.update_layout(height=max(320, 26 * len(features) + 90))
