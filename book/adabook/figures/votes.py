"""Figures on votes: how accuracy grows with the budget, and how samples make up votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from adabook.colours import MEANINGS
from adabook.figures.shapes import bar, drag, lines
from adabook.figures.style import COLOURS

_TIE = COLOURS[4]


def accuracy_curves(
    budgets: Sequence[int],
    curves: Mapping[str, ArrayLike],
    bands: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    y_title: str = "accuracy of the vote",
) -> go.Figure:
    """Draw accuracy against the budget b on a doubling axis, a line per name, with 95% bands."""
    fig = lines(
        budgets,
        curves,
        "budget b (answers that vote)",
        y_title,
        bands=bands,
        log_x=True,
        height=420,
    )
    return fig.update_yaxes(range=[-0.02, 1.02])


def window_votes(outcomes: Mapping[int, np.ndarray], samples: int) -> go.Figure:
    """Drag b: the samples are cut into windows of b, and each window votes.

    ``outcomes[b]`` has the accuracy of each vote.
    """
    budgets = list(outcomes)
    titles = [_votes_title(b, accuracy) for b, accuracy in outcomes.items()]

    def windows(i: int) -> list[go.Bar]:
        b = budgets[i]
        accuracy = outcomes[b]
        right = accuracy > 0.99
        wrong = accuracy < 0.01
        return [
            _windows(b, right, "right", MEANINGS["right"]),
            _windows(b, ~right & ~wrong, "tie", _TIE),
            _windows(b, wrong, "wrong", MEANINGS["wrong"]),
        ]

    fig = drag(go.Figure(), budgets, windows, "budget b = ", titles=titles)
    fig.update_xaxes(title="samples, in the order they were drawn", range=[0, samples])
    fig.update_yaxes(visible=False)
    return fig.update_layout(barmode="overlay", height=300, margin={"t": 70}, bargap=0.3)


def _votes_title(b: int, accuracy: np.ndarray) -> str:
    """How many votes of b answers there are, and the share of them that are right."""
    votes = "votes" if accuracy.size > 1 else "vote"
    return f"{accuracy.size} {votes} of {b}: {accuracy.mean():.0%} right"


def _windows(b: int, chosen: np.ndarray, outcome: str, colour: str) -> go.Bar:
    """Draw the chosen windows of b answers as pieces of one sideways bar, with gaps between."""
    starts = b * np.flatnonzero(chosen)
    hover = [
        f"answers {start + 1} to {start + b}: {outcome}"
        if b > 1
        else f"answer {start + 1}: {outcome}"
        for start in starts
    ]
    gap = 0.12 * min(b, 3)
    return bar(
        [""] * starts.size,
        np.full(starts.size, b - gap),
        outcome,
        colour,
        sideways=True,
        base=starts,
        marker_line_width=0,
        hovertext=hover,
        hoverinfo="text",
    )
