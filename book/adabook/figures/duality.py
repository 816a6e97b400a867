"""Figures on duality: the dual function as an envelope of lines, its gap, and what a copy loses.

Each policy is a line over the price, of slope budget minus cost. The dual function is the highest
of these lines, and its minimum bounds the best accuracy within the budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from adabook.figures.shapes import GREY, band, dots, drag, line, panels
from adabook.figures.style import COLOURS, faint

_BLUE, _ORANGE, _GREEN = COLOURS[:3]


# The dual function.


def dual_lines(
    prices: np.ndarray,
    accuracy: np.ndarray,
    cost: np.ndarray,
    oracle: Sequence[int],
    budget: float,
    start: int = 0,
) -> go.Figure:
    """Drag the price: every policy is a line, the dual function their upper envelope.

    ``accuracy`` and ``cost`` have one entry per policy, ``oracle`` the best policy at each price.
    """
    slope = budget - cost
    heights = accuracy[:, None] + slope[:, None] * prices
    dual = heights.max(axis=0)
    least = float(dual.min())
    affordable = slope >= 0
    best = float(accuracy[affordable].max())
    ends = prices[[0, -1]]

    def oracle_line(i: int) -> list[go.Scatter]:
        at_ends = heights[oracle[i], [0, -1]]
        tangent = line(ends, at_ends, "the oracle's line", _GREEN, width=2.5, dash="dash")
        hover = "λ = %{x:.3f}<br>G = %{y:.3f}<extra></extra>"
        dot = dots([prices[i]], [dual[i]], colour=_GREEN, size=13, hovertemplate=hover)
        dot.update(marker_line={"width": 2, "color": "white"})
        return [tangent, dot]

    gap_note = _note(
        f"gap {least - best:.3f}", x=1, y=(least + best) / 2, xanchor="right", yref="y"
    )

    def notes(i: int) -> dict:
        text = (
            f"C̄ = {cost[oracle[i]]:.2f}<br>"
            f"slope B − C̄ = {slope[oracle[i]]:+.2f}<br>"
            f"G = {dual[i]:.3f}"
        )
        return {"annotations": [gap_note, _note(text, x=0.45, y=1, yanchor="top")]}

    fig = go.Figure(_policies_and_dual(prices, heights, affordable, oracle))
    fig.add_trace(line(ends, [best, best], "V̂(B), the best within B", GREY, width=2, dash="dot"))
    stops = [f"{price:.3f}" for price in prices]
    drag(fig, stops, oracle_line, "price λ = ", layout=notes, active=start)
    fig.add_hrect(best, least, fillcolor=GREY, opacity=0.25, line_width=0)
    height = float(np.ptp(dual))
    fig.update_xaxes(title="price λ", range=[float(prices[0]), float(prices[-1])])
    fig.update_yaxes(
        title="accuracy", range=[best - 0.7 * height, float(dual.max()) + 0.05 * height]
    )
    return fig.update_layout(height=580)


def _policies_and_dual(
    prices: np.ndarray, heights: np.ndarray, affordable: np.ndarray, oracle: Sequence[int]
) -> list[go.Scatter]:
    """Draw the lines of all policies, and their upper envelope.

    Those that are the highest somewhere stand out; the others are a ground.
    """
    ends = prices[[0, -1]]
    highest = np.isin(np.arange(len(heights)), oracle)
    faint = {"width": 1, "opacity": 0.3, "showlegend": False}
    strong = {"width": 2, "opacity": 0.9}
    lines = [
        _policy_lines(ends, heights[which & within], name, colour, **look)
        for which, look in ((~highest, faint), (highest, strong))
        for within, name, colour in (
            (affordable, "policy within B", GREY),
            (~affordable, "policy beyond B", _ORANGE),
        )
    ]
    return [*lines, line(prices, heights.max(axis=0), "G(λ)", _BLUE, width=4, hoverinfo="skip")]


def _policy_lines(
    ends: np.ndarray, heights: np.ndarray, name: str, colour: str, **look: Any
) -> go.Scatter:
    """Return the lines of some policies as one trace, with a gap between two lines."""
    gaps = np.full(len(heights), np.nan)
    x = np.tile([*ends, np.nan], len(heights))
    y = np.column_stack([heights[:, [0, -1]], gaps]).ravel()
    return line(x, y, name, colour, hoverinfo="skip", **look)


def _note(text: str, x: float, y: float, **place: Any) -> dict[str, Any]:
    """A note inside a plot, x and by default y in shares of the plot."""
    note: dict[str, Any] = {
        "text": text,
        "x": x,
        "xref": "x domain",
        "y": y,
        "yref": "y domain",
        "align": "left",
        "bgcolor": "rgba(128, 128, 128, 0.2)",
        "borderpad": 3,
        "showarrow": False,
    }
    note.update(place)
    return note


def copies(
    prices: np.ndarray,
    dual: np.ndarray,
    counts: Sequence[int],
    values: Sequence[float],
) -> go.Figure:
    """Drag N: the dual function stays, the best accuracy climbs to its minimum, the gap closes."""
    least = float(dual.min())
    ends = prices[[0, -1]]
    gaps = least - np.asarray(values)
    bound = line(counts, [1 / n for n in counts], "1/N", GREY, dash="dot", width=2)
    dual_panel = [line(prices, dual, "G(λ)", _BLUE, width=4)]
    gap_panel = [dots(counts, gaps, "gap", GREY, size=7), bound]
    fig = panels([dual_panel, gap_panel], spacing=0.17, row_heights=[0.6, 0.4])

    def best_and_gap(i: int) -> list[go.Scatter]:
        return [
            band(ends, [values[i]] * 2, [least] * 2, _ORANGE, 0.3),
            line(ends, [values[i]] * 2, "V̂(B)", _GREEN),
            dots([counts[i]], [gaps[i]], colour=_ORANGE, size=13),
        ]

    def notes(i: int) -> dict:
        text = f"N = {counts[i]}<br>V̂ = {values[i]:.3f}<br>min G = {least:.3f}<br>gap {gaps[i]:.3f}"
        return {"annotations": [_note(text, x=0.5, y=1, yanchor="top")]}

    drag(fig, counts, best_and_gap, "N = ", rows=(1, 1, 2), layout=notes)
    fig.update_xaxes(title="price λ", row=1)
    fig.update_yaxes(title="accuracy", range=[-0.05, float(dual.max()) * 1.05], row=1)
    fig.update_xaxes(title="number of questions N", row=2)
    fig.update_yaxes(title="gap", range=[-0.05, 1.05], row=2)
    return fig.update_layout(height=660)


# What a perfect copy of the oracle loses.


def loss_and_bound(
    budgets: np.ndarray, lost: Mapping[str, np.ndarray], bound: Mapping[str, np.ndarray]
) -> go.Figure:
    """Draw the accuracy lost at each budget and its bound, a panel per setting."""
    parts = [
        [
            line(budgets, bound[name], "our bound, price × slack", GREY, width=1.5),
            line(budgets, lost[name], "lost, V̂(B) − accuracy", _ORANGE, width=2.5),
        ]
        for name in lost
    ]
    fig = panels(parts, list(lost), shared_xaxes=True)
    fig.update_yaxes(rangemode="tozero", exponentformat="none", title="accuracy")
    fig.update_xaxes(title="budget B", row=len(parts))
    return fig.update_layout(height=520, margin={"t": 80}, legend={"y": 1.1})


# The vertices of the linear program.


def cut_simplex(cost: Sequence[float], budget: float) -> go.Figure:
    """Draw one question's mixtures of three columns: a triangle that the budget cuts."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    outline, cuts, splits = _affordable_outline(corners, cost, budget)
    triangle_x, triangle_y = corners[[0, 1, 2, 0]].T
    outline_x, outline_y = outline.T
    whole_x, whole_y = corners[np.asarray(cost) <= budget].T
    cut_x, cut_y = cuts.T
    fig = go.Figure(
        [
            line(triangle_x, triangle_y, colour=GREY, width=2, hoverinfo="skip"),
            line(
                outline_x,
                outline_y,
                "affordable mixtures",
                _BLUE,
                width=2,
                fill="toself",
                fillcolor=faint(_BLUE, 0.18),
                hoverinfo="skip",
            ),
            dots(whole_x, whole_y, "vertex: one budget", _GREEN, size=14),
            dots(
                cut_x,
                cut_y,
                "vertex: two budgets, split",
                _ORANGE,
                size=14,
                symbol="diamond",
                hovertext=splits,
                hoverinfo="text",
            ),
        ]
    )
    for (x, y), c, shift in zip(corners, cost, (-18, -18, 18), strict=True):
        fig.add_annotation(x=x, y=y, text=f"always cost {c:g}", showarrow=False, yshift=shift)
    fig.update_xaxes(visible=False, range=[-0.25, 1.25])
    fig.update_yaxes(visible=False, range=[-0.14, 1.0], scaleanchor="x")
    return fig.update_layout(height=400)


def _affordable_outline(
    corners: np.ndarray, cost: Sequence[float], budget: float
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Walk around the triangle, and keep the part within the budget.

    Returns the closed outline of that part, the points where the budget cuts an edge, and for each
    of these the mixture of two columns in words.
    """
    outline = []
    cuts = []
    splits = []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        if cost[i] <= budget:
            outline.append(corners[i])
        crosses_budget = (cost[i] - budget) * (cost[j] - budget) < 0
        if crosses_budget:
            share = (budget - cost[i]) / (cost[j] - cost[i])
            cut = corners[i] + share * (corners[j] - corners[i])
            cuts.append(cut)
            outline.append(cut)
            splits.append(f"{1 - share:.0%} at cost {cost[i]:g}, {share:.0%} at cost {cost[j]:g}")
    return np.array([*outline, outline[0]]), np.array(cuts), splits
