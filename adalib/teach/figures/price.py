"""Figures of chapter 2: what a price does to one question, to all of them, and to the bill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from adalib.colours import budget_colours
from adalib.teach.figures.style import COLOURS, plain

__all__ = ["lagrangian", "net_values", "staircases"]

_BANDS = 10  # groups of questions by Acc(x, 1), each drawn as one trace
_SPREAD = 0.76  # how much of the height of a budget's band its questions fill

Step = tuple[np.ndarray, np.ndarray]


def net_values(budgets: Sequence, net: Mapping[str, np.ndarray], winners: Sequence[int]) -> go.Figure:
    """Net value of one question at every budget, one line a price; a star marks the winner at each price.

    ``net`` maps what a price is called to the K net values; ``winners`` has one column a price.
    """
    fig = go.Figure(_net_traces(budgets, net, winners))
    fig.update_xaxes(_budget_axis(budgets))
    return fig.update_yaxes(title="net value")


def lagrangian(
    prices: np.ndarray,
    labels: np.ndarray,
    budgets: Sequence,
    first: np.ndarray,
    one: int,
    net: Mapping[float, np.ndarray],
    winners: Sequence[int],
) -> go.Figure:
    """The price at three scales: every question's budget, the shares of the budgets, one question's net values.

    ``prices`` ascend, ``labels`` has a row a price and a column a question, ``first`` is Acc(x, 1). Question ``one`` is
    drawn thick in the first panel, and in the last one at the prices in ``net`` (price -> K net values).
    """
    names = ["(a) each question: its budget", "(b) all questions: shares", "(c) one question: three prices"]
    fig = make_subplots(rows=3, subplot_titles=names, vertical_spacing=0.1, row_heights=[0.42, 0.26, 0.32])
    for trace in _waterfall(prices, labels, first, one):
        fig.add_trace(trace, row=1, col=1)
    for trace in _shares(prices, labels, budgets):
        fig.add_trace(trace, row=2, col=1)
    for trace in _net_traces(budgets, {f"λ = {price:g}": values for price, values in net.items()}, winners):
        fig.add_trace(trace, row=3, col=1)
    for price in net:
        for row in (1, 2):
            fig.add_vline(price, line={"dash": "dot", "width": 1.5, "color": COLOURS[6]}, row=row, col=1)
    for row in (1, 2):
        fig.update_xaxes(title="price λ", range=[0, float(prices[-1]) * 1.04], row=row, col=1)
    fig.update_xaxes(_budget_axis(budgets), row=3, col=1)
    ladder = {"tickvals": list(range(len(budgets))), "ticktext": [str(b) for b in budgets]}
    fig.update_yaxes(title="budget b", zeroline=False, **ladder, row=1, col=1)
    fig.update_yaxes(title="share", tickformat=".0%", range=[0, 1], row=2, col=1)
    fig.update_yaxes(title="net value", row=3, col=1)
    corner = {"x": 0.02, "y": 0.02, "xanchor": "left", "yanchor": "bottom", "orientation": "v"}
    return fig.update_layout(height=1180, margin={"t": 40}, legend=corner)


def staircases(panels: Mapping[str, Mapping[str, Step]]) -> go.Figure:
    """Average cost against the price, one panel a group of settings, one staircase a setting.

    Each staircase is (prices, average costs), one pair a breakpoint in any order: from a breakpoint on the cost is the
    one given there, until the next.
    """
    highest = max(float(np.max(lam)) for group in panels.values() for lam, _ in group.values())
    fig = make_subplots(rows=len(panels), subplot_titles=list(panels), vertical_spacing=0.16)
    for row, group in enumerate(panels.values(), start=1):
        for (name, (lam, cost)), colour in zip(group.items(), COLOURS, strict=False):
            x, y = _sorted_steps(lam, cost, highest * 1.05)
            fig.add_scatter(
                x=x,
                y=y,
                mode="lines",
                line={"shape": "hv", "width": 2.5, "color": colour},
                name=plain(name),
                legend="legend" if row == 1 else f"legend{row}",
                hovertemplate="λ = %{x:.4f}: %{y:.3f}",
                row=row,
                col=1,
            )
    fig.update_xaxes(title="price λ", range=[0, highest * 1.05])
    fig.update_yaxes(title="average cost", rangemode="tozero")
    corner = {"x": 1.0, "xanchor": "right", "yanchor": "top", "orientation": "v", "bgcolor": "rgba(0, 0, 0, 0)"}
    for row in range(1, len(panels) + 1):
        top = fig.layout["yaxis" if row == 1 else f"yaxis{row}"].domain[1]
        fig.update_layout({"legend" if row == 1 else f"legend{row}": {**corner, "y": top}})
    return fig.update_layout(height=60 + 320 * len(panels), margin={"t": 40})


def _sorted_steps(lam: np.ndarray, cost: np.ndarray, end: float) -> Step:
    """The staircase in the order of rising prices, drawn on to the right edge."""
    order = np.argsort(lam, kind="stable")
    x, y = np.asarray(lam, dtype=float)[order], np.asarray(cost, dtype=float)[order]
    return np.append(x, end), np.append(y, y[-1])


def _budget_axis(budgets: Sequence) -> dict:
    """Budgets at equal distances, as the doubling ladder of the book."""
    return {"title": "budget b", "tickvals": list(range(len(budgets))), "ticktext": [str(b) for b in budgets]}


def _net_traces(budgets: Sequence, net: Mapping[str, np.ndarray], winners: Sequence[int]) -> list[go.Scatter]:
    traces = []
    for (name, values), winner, colour in zip(net.items(), winners, COLOURS, strict=False):
        size, symbol = np.full(len(budgets), 8), np.full(len(budgets), "circle", dtype=object)
        size[winner], symbol[winner] = 20, "star"
        traces.append(
            go.Scatter(
                x=list(range(len(budgets))),
                y=list(values),
                mode="lines+markers",
                name=plain(name),
                line={"color": colour, "width": 2.5},
                marker={"size": size, "symbol": symbol, "color": colour},
                hovertemplate="%{y:.3f}",
            )
        )
    return traces


def _shares(prices: np.ndarray, labels: np.ndarray, budgets: Sequence) -> list[go.Scatter]:
    """Share of the questions at each budget, stacked, the budgets written where their areas are widest."""
    shares = np.array([(labels == column).mean(axis=1) for column in range(len(budgets))])
    traces, names = [], {"x": [], "y": [], "text": []}
    for column, colour in enumerate(budget_colours(len(budgets))):
        traces.append(
            go.Scatter(
                x=prices,
                y=shares[column],
                stackgroup="shares",
                line={"width": 0, "shape": "hv"},
                fillcolor=colour,
                name=f"b = {budgets[column]}",
                hovertemplate="%{y:.1%}",
                showlegend=False,
            )
        )
        # Away from the edges, where a label would be cut.
        inner = (prices > 0.04 * prices[-1]) & (prices < 0.9 * prices[-1])
        if (shares[column] * inner).max(initial=0.0) > 0.08:
            widest = int((shares[column] * inner).argmax())
            names["x"].append(prices[widest])
            names["y"].append(shares[:column, widest].sum() + shares[column, widest] / 2)
            names["text"].append(str(budgets[column]))
    font = {"color": "white", "size": 15}
    traces.append(go.Scatter(**names, mode="text", textfont=font, hoverinfo="skip", showlegend=False))
    return traces


def _waterfall(prices: np.ndarray, labels: np.ndarray, first: np.ndarray, one: int) -> list[go.Scatter]:
    """Every question as a run of shelves, those of a budget side by side in the order of Acc(x, 1)."""
    n = labels.shape[1]
    place = np.empty(n)
    place[np.argsort(first, kind="stable")] = (np.arange(n) / max(n - 1, 1) - 0.5) * _SPREAD
    band = np.minimum((np.asarray(first) * _BANDS).astype(int), _BANDS - 1)
    # Without the darkest end of the scale, which a dark page would swallow.
    colours = sample_colorscale("Viridis", list(np.linspace(0.15, 1, _BANDS)))
    traces = []
    for number in np.unique(band):
        x, y = [], []
        for question in np.flatnonzero(band == number):
            turn, column = _turns(prices, labels[:, question])
            # A gap after each shelf: drawn falls of hundreds of questions would cover the shelves.
            for start, end, level in zip(turn[:-1], turn[1:], column[:-1] + place[question], strict=True):
                x += [start, end, None]
                y += [level, level, None]
        line = {"width": 1, "color": colours[number]}
        traces.append(go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False))
    x, y = _turns(prices, labels[:, one])
    thick = {"shape": "hv", "width": 4, "color": COLOURS[1]}
    traces.append(go.Scatter(x=x, y=y + place[one], mode="lines", line=thick, name="question of (c)", showlegend=False))
    scale = {
        "title": {"text": "Acc(x, 1)", "side": "top"},
        "orientation": "h",
        "thickness": 10,
        "lenmode": "pixels",
        "len": 130,
        "x": 0.92,
        "xanchor": "right",
        "y": 0.97,
        "yanchor": "top",
        "tickvals": [0, 0.5, 1],
        "tickangle": 0,
    }
    marker = {"color": [0, 1], "cmin": 0, "cmax": 1, "colorscale": colours, "showscale": True, "colorbar": scale}
    # Nothing to see but the scale of colours that belongs to the lines.
    traces.append(go.Scatter(x=[None, None], y=[None, None], mode="markers", marker=marker, showlegend=False))
    return traces


def _turns(prices: np.ndarray, columns: np.ndarray) -> Step:
    """The prices at which a question changes its budget, and both ends."""
    keep = np.flatnonzero(np.append(True, columns[1:] != columns[:-1]))
    return np.append(prices[keep], prices[-1]), np.append(columns[keep], columns[-1])
