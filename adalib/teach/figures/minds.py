"""Figures of chapter 13: one question set and several models, their menu, and the price at which a small one pays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from adalib.teach.figures.style import COLOURS, error_bars, hundredfold, plain

__all__ = ["frontiers", "ratios", "votes"]


def votes(budgets: Sequence[int], curves: Mapping[str, Sequence[float]]) -> go.Figure:
    """Mean accuracy of a vote of b, a line a model."""
    fig = go.Figure()
    for name, values in curves.items():
        fig.add_scatter(x=list(budgets), y=list(values), name=plain(name), mode="lines+markers")
    fig.update_xaxes(title="answers in the vote, b", type="log", tickvals=list(budgets))
    return fig.update_yaxes(title="accuracy", range=[0, 1]).update_layout(height=360)


def frontiers(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], arms: Mapping[str, tuple]) -> go.Figure:
    """Accuracy over cost: a line a frontier, a dot an arm; ``arms`` hold (cost, accuracy, names) by model."""
    fig = go.Figure()
    for (name, (cost, accuracy)), colour in zip(lines.items(), COLOURS, strict=False):
        fig.add_scatter(x=list(cost), y=list(accuracy), name=plain(name), mode="lines", line_color=colour)
    for (name, (cost, accuracy, told)), colour in zip(arms.items(), COLOURS, strict=False):
        fig.add_scatter(
            x=list(cost),
            y=list(accuracy),
            text=[plain(arm) for arm in told],
            name=f"{plain(name)}, everybody alike",
            mode="markers",
            marker={"color": colour, "size": 9, "symbol": "circle-open"},
            hovertemplate="%{text}: %{y:.3f} at cost %{x:.0f}<extra></extra>",
        )
    fig.update_xaxes(title="cost a question, tokens × billion parameters", type="log")
    return fig.update_yaxes(title="accuracy")


def ratios(ratio: Sequence[float], gains: Mapping[str, Sequence[tuple[float, float, float]]]) -> go.Figure:
    """Gain over the best mix of arms at equal cost, by how much dearer the large model is; (mean, low, high) each."""
    fig = go.Figure()
    for name, points in gains.items():
        gain = hundredfold(list(zip(*points, strict=True)))
        fig.add_scatter(x=list(ratio), y=gain[0], name=plain(name), mode="lines+markers", error_y=error_bars(*gain))
    fig.update_xaxes(title="price of the large model's answer, in answers of the small one", type="log")
    fig.update_xaxes(tickvals=list(ratio), ticktext=[f"{value:g}" for value in ratio])
    return fig.update_yaxes(title="gain over the best mix, points", zeroline=True).update_layout(height=360)
