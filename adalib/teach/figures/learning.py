"""Figures of chapter 6: what a text tells, what it is worth, and what a predicted curve decides at each price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adalib.teach.figures.style import COLOURS, error_bars, hundredfold, plain, slider

__all__ = ["gains", "predicted_and_measured", "price_choices"]

MEASURED, PREDICTED, CONTROL = COLOURS[0], COLOURS[1], COLOURS[6]  # the same in every figure of the chapter

Estimate = tuple[Sequence[float], Sequence[float], Sequence[float]]  # mean, low, high


def gains(
    targets: Sequence[float],
    series: Mapping[str, Estimate],
    title: str,
    *,
    control: str | None = "noise",
    colours: Sequence[str] = COLOURS,
) -> go.Figure:
    """Gains over the best random mix at equal cost, in points, with intervals: targets along the axis, a mark a policy.

    The series named ``control`` is drawn in grey.
    """
    fig = go.Figure()
    places = [f"B = {target:g}" for target in targets]
    symbols = ("circle", "square", "diamond", "triangle-up", "star")
    others = iter(zip(colours, symbols, strict=False))
    for name, estimate in series.items():
        colour, symbol = (CONTROL, "x") if name == control else next(others)
        points = hundredfold(estimate)
        fig.add_scatter(
            x=places,
            y=points[0],
            error_y=error_bars(*points, thickness=2),
            name=plain(name),
            mode="markers",
            marker={"color": colour, "size": 11, "symbol": symbol},
        )
    fig.add_hline(y=0, line={"color": CONTROL, "width": 2, "dash": "dash"})
    fig.update_yaxes(title="gain, points", tickformat="+.1f", zeroline=False)
    return fig.update_layout(height=400, title=title, scattermode="group", scattergap=0.35)


def predicted_and_measured(panels: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> go.Figure:
    """One dot a question, predicted across and measured up, a panel a quantity; on the line a prediction is right."""
    fig = make_subplots(rows=1, cols=len(panels), subplot_titles=[plain(name) for name in panels])
    for column, (predicted, measured) in enumerate(panels.values(), 1):
        both = np.concatenate([predicted, measured])
        ends = [float(both.min()) - 0.03, float(both.max()) + 0.03]
        line = {"color": CONTROL, "width": 2, "dash": "dash"}
        fig.add_scatter(x=ends, y=ends, mode="lines", line=line, hoverinfo="skip", row=1, col=column)
        marker = {"color": MEASURED, "size": 6, "opacity": 0.5}
        fig.add_scatter(x=predicted, y=measured, mode="markers", marker=marker, row=1, col=column)
        fig.update_xaxes(title="predicted", range=ends, tickformat=".1f", nticks=4, row=1, col=column)
        fig.update_yaxes(title="measured" if column == 1 else None, range=ends, tickformat=".1f", row=1, col=column)
    return fig.update_layout(height=360, showlegend=False, margin={"t": 50})


def price_choices(
    prices: Sequence[float],
    names: Sequence[str],
    budgets: Sequence[int],
    measured: np.ndarray,
    predicted: np.ndarray,
    spent: np.ndarray,
    *,
    active: int = 0,
) -> go.Figure:
    """Drag the price: the budget of each question by its measured curve, and by the curve predicted from its text.

    Parameters
    ----------
    prices : sequence of P float
    names : sequence of Q str
        The questions that are shown.
    budgets : sequence of K int
    measured, predicted : array of int, shape (P, Q)
        Columns chosen at each price.
    spent : array, shape (P, 2)
        Average cost over all questions, by measured and by predicted curves.
    active : int
        Price shown first.
    """
    offered, labels = np.asarray(budgets), [plain(name) for name in names]

    def traces(p: int) -> list[go.Scatter]:
        learned, best = offered[predicted[p]], offered[measured[p]]
        gap_x = np.column_stack([learned, best, np.full(best.size, np.nan)]).ravel()
        gap_x = [None if np.isnan(x) else float(x) for x in gap_x]
        gap_y = [label for label in labels for _ in range(3)]
        ring = {"color": "rgba(0, 0, 0, 0)", "size": 20, "line": {"color": MEASURED, "width": 3}}
        return [
            go.Scatter(
                x=gap_x,
                y=gap_y,
                mode="lines",
                line={"color": CONTROL, "width": 3},
                hoverinfo="skip",
                showlegend=False,
            ),
            go.Scatter(x=best, y=labels, mode="markers", marker=ring, name=f"oracle (mean of all: {spent[p, 0]:.2f})"),
            go.Scatter(
                x=learned,
                y=labels,
                mode="markers",
                marker={"color": PREDICTED, "size": 11},
                name=f"predicted from text ({spent[p, 1]:.2f})",
            ),
        ]

    def title(p: int) -> str:
        return f"λ = {prices[p]:g}: {int((predicted[p] == measured[p]).sum())} of {len(labels)} agree"

    stops = [f"{price:g}" for price in prices]
    fig = go.Figure(traces(active))
    fig.frames = [
        go.Frame(name=stop, data=traces(p), layout={"title": {"text": title(p)}}) for p, stop in enumerate(stops)
    ]
    _budget_axis(fig.update_xaxes, budgets)
    fig.update_xaxes(range=[np.log10(offered[0] / 1.4), np.log10(offered[-1] * 1.4)])
    fig.update_yaxes(categoryorder="array", categoryarray=labels[::-1], range=[-0.6, len(labels) - 0.4])
    return fig.update_layout(title=title(active), sliders=[slider(stops, "λ = ", active)], height=520)


def _budget_axis(update, budgets: Sequence[int]) -> None:
    update(title="budget b", type="log", tickvals=list(budgets), ticktext=[str(b) for b in budgets])
