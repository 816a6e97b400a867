"""Figures on choices: which budget each question gets, from the oracle or from a learned policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from adabook.figures.page import plain
from adabook.figures.shapes import GREY, dots, drag, line
from adabook.figures.style import POLICY


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
