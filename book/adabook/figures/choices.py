"""Figures on choices: which budget each question gets, from the oracle or from a learned policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from adabook.figures.page import plain
from adabook.figures.shapes import GREY, dots, drag, line, panels
from adabook.figures.style import CLAIMED, HONEST, POLICY


def price_choices(
    prices: Sequence[float],
    names: Sequence[str],
    budgets: Sequence[int],
    measured: np.ndarray,
    predicted: np.ndarray,
    active: int = 0,
) -> go.Figure:
    """Drag the price: each question's budget by its measured curve and by its predicted one.

    ``measured`` and ``predicted`` hold columns chosen, one row per price.
    """
    offered = np.asarray(budgets)
    labels = [plain(name) for name in names]
    ring = {
        "color": "rgba(0, 0, 0, 0)",
        "size": 20,
        "line": {"color": POLICY["oracle"], "width": 3},
    }

    def choices(p: int) -> list[go.Scatter]:
        learned = offered[predicted[p]]
        best = offered[measured[p]]
        # One trace for all connections: None leaves a gap between two of them.
        connections: list[int | None] = []
        for start, end in zip(learned.tolist(), best.tolist(), strict=True):
            connections += [start, end, None]
        return [
            line(connections, np.repeat(labels, 3), colour=GREY, hoverinfo="skip"),
            dots(best, labels, "oracle", marker=ring),
            dots(learned, labels, "predicted", POLICY["curve"], size=11),
        ]

    agreements = (predicted == measured).sum(axis=1)
    titles = [f"{same} of {len(labels)} agree" for same in agreements]
    fig = drag(go.Figure(), prices, choices, "λ = ", titles=titles, active=active)
    fig.update_xaxes(
        title="budget b",
        type="log",
        range=[np.log10(offered[0] / 1.4), np.log10(offered[-1] * 1.4)],
        tickvals=list(budgets),
        ticktext=[str(b) for b in budgets],
    )
    fig.update_yaxes(
        categoryorder="array", categoryarray=labels[::-1], range=[-0.6, len(labels) - 0.4]
    )
    return fig.update_layout(height=540, margin={"t": 96}, legend={"y": 1.01})


class Dots(NamedTuple):
    """One panel of `scatter`: a dot per question, and the mean budget of tenths."""

    acc1: np.ndarray
    column: np.ndarray
    most: np.ndarray  # largest gain of the curve over its start
    tenths: pd.DataFrame  # from by_difficulty, with 10 bins


def scatter(groups: Mapping[str, Dots], budgets: Sequence[int], seed: int = 0) -> go.Figure:
    """Draw every question's budget over its accuracy at one answer, with a line through tenths.

    Larger dots could gain more.
    """
    rng = np.random.default_rng(seed)
    heights = np.log2(np.asarray(budgets, dtype=float))
    parts = []
    for panel in groups.values():
        # Many questions share a point: a little jitter lets them be seen.
        jitter = rng.uniform(-0.16, 0.16, panel.column.size)
        questions = _question_dots(panel, (heights[panel.column] + jitter).round(3))
        parts.append([questions, _mean_of_tenths(panel.tenths)])
    fig = panels(parts, list(groups))
    fig.update_xaxes(range=[-0.04, 1.04])
    fig.update_xaxes(title="estimated Acc(x, 1)", row=len(groups))
    fig.update_yaxes(
        title="budget",
        tickvals=heights,
        ticktext=[str(b) for b in budgets],
        range=[-0.4, heights[-1] + 0.4],
    )
    return fig.update_layout(height=140 + 230 * len(groups), margin={"t": 70}, legend={"y": 1.08})


def _question_dots(panel: Dots, heights: np.ndarray) -> go.Scatter:
    """Draw a dot per question, larger if its curve climbs more."""
    marker = {
        "size": 4 + 14 * np.clip(panel.most, 0, 1),
        "line": {"width": 0},
        "color": HONEST,
        "opacity": 0.35,
    }
    return dots(panel.acc1.round(4), heights, "a question", marker=marker, hoverinfo="skip")


def _mean_of_tenths(tenths: pd.DataFrame) -> go.Scatter:
    """Join the mean budgets of tenths of the questions, on the logarithmic axis of budgets."""
    return line(
        tenths["acc1"].round(4),
        np.log2(tenths["budget"]),
        "mean of a tenth",
        CLAIMED,
        marks=True,
        customdata=tenths["budget"].round(2),
        hovertemplate="Acc(x,1) %{x:.2f}, mean budget %{customdata}<extra></extra>",
    )
