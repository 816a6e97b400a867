"""Figure of chapter 3: an auctioneer, several machines, and one number from each of them a round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from adalib.teach.figures.budgets import at_top
from adalib.teach.figures.style import COLOURS, slider

__all__ = ["auction"]


def auction(prices: Sequence[float], spent: np.ndarray, budget: float, rounds: Sequence[int]) -> go.Figure:
    """Drag the round: what every machine would spend at the price called out, stacked, against the budget.

    ``prices`` holds the price of every round; ``spent`` a row a round and a column a machine, divided by the number of
    all questions, so that a row adds up to the average cost. ``rounds``, counted from 1, are those on the slider.
    """
    spent = np.asarray(spent, dtype=float)
    machines = spent.shape[1]
    first = np.cumsum(spent, axis=1) - spent

    def bars(number: int) -> list[go.Bar]:
        row = spent[number - 1]
        return [
            go.Bar(
                x=row,
                base=first[number - 1],
                y=[f"machine {m + 1}" for m in range(machines)],
                orientation="h",
                marker={"color": COLOURS[1] if row.sum() > budget else COLOURS[0]},
                text=[f"{value:.3f}" for value in row],
                textposition="outside",
                cliponaxis=False,
                hovertemplate="%{y} would spend %{x:.4f}<extra></extra>",
            )
        ]

    def title(number: int) -> dict:
        total = spent[number - 1].sum()
        # Three short lines: a phone shows some thirty characters beside the machines' names.
        verdict = "too much: raise the price" if total > budget else "within the budget: lower it"
        text = f"round {number}: λ = {prices[number - 1]:.6g}<br>together {total:.4f}<br>{verdict}"
        return at_top(text) | {"pad": {"t": 14}}  # the first line's own height, which plotly forgets

    frames = [go.Frame(name=str(number), data=bars(number), layout={"title": title(number)}) for number in rounds]
    fig = go.Figure(data=bars(rounds[0]), frames=frames)
    fig.add_vline(
        budget,
        line={"dash": "dot", "color": COLOURS[2], "width": 2},
        annotation={"text": f"B = {budget:g}", "font": {"color": COLOURS[2]}},
        annotation_position="bottom right",
    )
    shown = spent[[number - 1 for number in rounds]].sum(axis=1)
    # Short, and room at the right for the last number: a phone has 250 pixels for the bars.
    fig.update_xaxes(title="average cost, added up", range=[0, 1.22 * max(shown.max(), budget)])
    fig.update_yaxes(autorange="reversed")
    return fig.update_layout(
        height=500,
        showlegend=False,
        title=title(rounds[0]),
        margin={"t": 110},
        sliders=[slider(rounds, "round ") | {"pad": {"t": 64, "b": 8}}],  # in JupyterLab, below the axis' title
    )
