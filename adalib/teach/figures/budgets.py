"""Figures of chapter 3: from a budget to a price, and the whole frontier at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adalib.colours import budget_colours
from adalib.teach.figures.style import COLOURS, plain, slider

__all__ = ["bisection", "filling", "frontier_curves", "staircase_target", "tangent", "timings"]

_ZERO = 1e-3  # where a price of 0 is drawn on a logarithmic axis, and labelled 0


def bisection(paths: Mapping[float, np.ndarray], lam: np.ndarray, cost: np.ndarray, steps: int = 20) -> go.Figure:
    """Four views of the search, one colour a budget: price brackets, cost brackets, what is missing, the way taken.

    ``paths`` maps a budget to the recorded path (fields lo, hi, mid, cost_lo, cost_hi, cost_mid); ``lam`` and ``cost``
    are the breakpoints of the staircase. The first ``steps`` steps are drawn.
    """
    names = [
        "(a) bracket of the price",
        "(b) bracket of the cost",
        "(c) distance |C − B|",
        "(d) the way on the staircase",
    ]
    fig = make_subplots(rows=4, subplot_titles=names, vertical_spacing=0.075)
    order = np.argsort(lam, kind="stable")
    stairs = {"shape": "hv", "width": 2, "color": COLOURS[6]}
    fig.add_scatter(x=lam[order], y=cost[order], mode="lines", line=stairs, showlegend=False, row=4, col=1)
    step = np.arange(1, steps + 1)
    for (budget, path), colour in zip(paths.items(), budget_colours(len(paths)), strict=True):
        path = path[:steps]
        shared = {"mode": "lines", "legendgroup": str(budget), "name": f"B = {budget:g}", "showlegend": False}
        line = {"color": colour, "width": 2, "shape": "hv"}
        for row, low, high in ((1, "lo", "hi"), (2, "cost_hi", "cost_lo")):
            floor = _ZERO if row == 1 else 0.0
            fig.add_scatter(x=step, y=np.maximum(path[low], floor), line=line, **shared, row=row, col=1)
            fill = {"fill": "tonexty", "fillcolor": _faint(colour)}
            fig.add_scatter(x=step, y=np.maximum(path[high], floor), line=line, **fill, **shared, row=row, col=1)
        fig.add_hline(budget, line={"color": colour, "dash": "dot", "width": 1.5}, row=2, col=1)
        dots = {"color": colour, "size": 7}
        away = {**shared, "mode": "lines+markers", "line": line, "marker": dots}
        fig.add_scatter(x=step, y=np.abs(path["cost_mid"] - budget), **away, row=3, col=1)
        seen = {**shared, "mode": "markers", "showlegend": True, "marker": {"color": colour, "size": 9}}
        fig.add_scatter(x=path["mid"], y=path["cost_mid"], **seen, row=4, col=1)
    fig.add_hline(0.05, line={"dash": "dash", "color": COLOURS[6], "width": 1.5}, row=3, col=1)
    ticks = [_ZERO, 0.01, 0.1, 1, 5]
    fig.update_yaxes(type="log", tickvals=ticks, ticktext=["0", "0.01", "0.1", "1", "5"], title="price λ", row=1, col=1)
    fig.update_yaxes(title="average cost", row=2, col=1)
    fig.update_yaxes(type="log", title="distance", tickvals=[0.01, 0.05, 0.1, 1], row=3, col=1)
    fig.update_yaxes(title="average cost", row=4, col=1)
    for row in (1, 2, 3):
        fig.update_xaxes(title="step" if row == 3 else None, range=[0.5, steps + 0.5], row=row, col=1)
    fig.update_xaxes(title="price λ", range=[0, float(lam.max()) * 1.05], row=4, col=1)
    return fig.update_layout(height=1250, margin={"t": 80}, legend={"y": 1.03, "traceorder": "normal"})


def staircase_target(lam: np.ndarray, cost: np.ndarray, budget: float) -> go.Figure:
    """Average cost against the price, and the budget aimed at as a dotted line."""
    order = np.argsort(lam, kind="stable")
    end = 1.6 * float(np.max(lam))
    x, y = np.append(lam[order], end), np.append(cost[order], cost[order][-1])
    fig = go.Figure(
        go.Scatter(x=x, y=y, mode="lines", line={"shape": "hv", "width": 3, "color": COLOURS[0]}, name="average cost")
    )
    fig.add_hline(
        budget,
        line={"dash": "dot", "color": COLOURS[1], "width": 2},
        annotation={"text": f"B = {budget:g}", "font": {"color": COLOURS[1]}},
        annotation_position="top right",
    )
    fig.update_xaxes(title="price λ", range=[0, end])
    return fig.update_yaxes(title="average cost", rangemode="tozero").update_layout(height=320, showlegend=False)


def tangent(
    budgets: Sequence,
    cost: np.ndarray,
    acc: np.ndarray,
    corners: Sequence[int],
    prices: np.ndarray,
    winners: np.ndarray,
) -> go.Figure:
    """Drag the price: a line of that slope comes down on one question's curve and touches it at the winner.

    ``corners`` are the columns on the upper concave envelope; ``winners`` has one column a price.
    """
    ends = np.array([0.0, float(cost[-1]) * 1.16])

    def touching(at: int) -> list[go.Scatter]:
        column = winners[at]
        line = acc[column] + prices[at] * (ends - cost[column])
        star = {"symbol": "star", "size": 20, "color": COLOURS[1]}
        return [
            go.Scatter(x=ends, y=line, mode="lines", line={"color": COLOURS[1], "width": 2}, name="slope λ"),
            go.Scatter(x=[cost[column]], y=[acc[column]], mode="markers", marker=star, name="winner"),
        ]

    def title(at: int) -> str:
        return f"λ = {prices[at]:g}: the winner is b = {budgets[winners[at]]}"

    start = len(prices) // 2
    fig = go.Figure(
        data=[*_curve(budgets, cost, acc, list(corners)), *touching(start)],
        frames=[
            go.Frame(data=touching(at), traces=[2, 3], name=f"{price:g}", layout={"title.text": title(at)})
            for at, price in enumerate(prices)
        ],
    )
    low, high = float(acc.min()), float(acc.max())
    fig.update_xaxes(title="cost", range=ends)
    fig.update_yaxes(title="accuracy", range=[low - 0.25 * (high - low), high + 0.35 * (high - low)])
    return fig.update_layout(
        title=at_top(title(start)),
        height=460,
        margin={"t": 80},
        sliders=[slider([f"{p:g}" for p in prices], "λ = ", start)],
    )


def _curve(budgets: Sequence, cost: np.ndarray, acc: np.ndarray, corners: list[int]) -> list[go.Scatter]:
    """One question's upper concave envelope, and its points: those on the envelope in its colour."""
    envelope = {"mode": "lines", "line": {"color": COLOURS[0], "width": 3}, "name": "envelope"}
    colours = [COLOURS[0] if j in corners else COLOURS[6] for j in range(len(cost))]
    return [
        go.Scatter(x=cost[corners], y=acc[corners], **envelope),
        go.Scatter(
            x=cost,
            y=acc,
            mode="markers+text",
            marker={"size": 11, "color": colours},
            text=[f"b={b}" for b in budgets],
            textposition=_below(len(cost)),
            name="the question's curve",
            showlegend=False,
        ),
    ]


def filling(
    lam: np.ndarray,
    cost: np.ndarray,
    first_accuracy: float,
    budgets: Sequence,
    targets: Sequence[float],
    accuracy: Sequence[float],
    labels: np.ndarray,
    ids: Sequence[str],
    width: int = 31,
) -> go.Figure:
    """Drag the budget B: steps are bought from the steepest down, and every question is a tile coloured by its budget.

    ``lam`` and ``cost`` are the frontier's breakpoints; ``accuracy`` and the rows of ``labels`` (one column a question)
    belong to ``targets``. The coloured area is the accuracy gained over ``first_accuracy``.
    """
    # Tiles in the order in which questions are served, so that the served ones fill the wall from the top.
    served = np.argsort(-(labels > 0).sum(axis=0), kind="stable")
    names = [plain(ids[i]) for i in served]

    def moving(at: int) -> list:
        return [_bought(lam, cost, targets[at]), _wall(labels[at, served], names, len(budgets), width)]

    def title(at: int) -> str:
        gain = accuracy[at] - first_accuracy
        return f"accuracy {first_accuracy:.3f} + {gain:.3f} = {accuracy[at]:.3f}"

    start = next((at for at, budget in enumerate(targets) if budget >= 2), 0)
    fig = make_subplots(
        rows=2,
        subplot_titles=["steps bought, the steepest first", "each tile a question"],
        vertical_spacing=0.17,
        row_heights=[0.52, 0.48],
    )
    area, wall = moving(start)
    fig.add_trace(area, row=1, col=1)
    curve = {"shape": "hv", "width": 2.5, "color": COLOURS[0]}
    fig.add_scatter(x=cost.round(5), y=lam.round(5), mode="lines", line=curve, showlegend=False, row=1, col=1)
    fig.add_trace(wall, row=2, col=1)
    for budget, colour in zip(budgets, budget_colours(len(budgets)), strict=True):
        key = {"symbol": "square", "size": 12, "color": colour}
        fig.add_scatter(x=[None], y=[None], mode="markers", marker=key, name=f"b = {budget}", row=2, col=1)
    fig.frames = [
        go.Frame(data=moving(at), traces=[0, 2], name=f"{budget:g}", layout={"title.text": title(at)})
        for at, budget in enumerate(targets)
    ]
    fig.update_xaxes(title="average cost B", row=1, col=1)
    fig.update_yaxes(title="price λ", row=1, col=1)
    fig.update_xaxes(visible=False, row=2, col=1)
    fig.update_yaxes(visible=False, autorange="reversed", row=2, col=1)
    return fig.update_layout(
        title=at_top(title(start)),
        height=800,
        margin={"t": 130},
        legend={"y": 1.06, "font": {"size": 12}},
        sliders=[slider([f"{b:g}" for b in targets], "B = ", start)],
    )


def _bought(lam: np.ndarray, cost: np.ndarray, budget: float) -> go.Scatter:
    """The area under the sorted steps, up to a budget."""
    inside = int(np.searchsorted(cost, budget, side="right"))
    return go.Scatter(
        x=np.append(cost[:inside], budget).round(5),
        y=np.append(lam[:inside], lam[inside - 1]).round(5),
        mode="lines",
        line={"shape": "hv", "width": 0},
        fill="tozeroy",
        fillcolor=_faint(COLOURS[1], 0.45),
        hoverinfo="skip",
        showlegend=False,
    )


def _wall(labels: np.ndarray, names: Sequence[str], k: int, width: int) -> go.Heatmap:
    """Every question a tile, row by row, in the colour of its budget (one of k)."""
    empty = -labels.size % width
    tiles = [*map(int, labels), *[None] * empty]
    texts = [*names, *[""] * empty]
    return go.Heatmap(
        z=[tiles[at : at + width] for at in range(0, len(tiles), width)],
        zmin=-0.5,
        zmax=k - 0.5,
        colorscale=[[(j + side) / k, colour] for j, colour in enumerate(budget_colours(k)) for side in (0, 1)],
        showscale=False,
        xgap=1,
        ygap=1,
        text=[texts[at : at + width] for at in range(0, len(texts), width)],
        hovertemplate="%{text}<extra></extra>",
    )


def frontier_curves(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    budgets: Sequence,
    uniform: tuple[np.ndarray, np.ndarray],
    bands: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    dashed: Sequence[str] = (),
) -> go.Figure:
    """Accuracy against average cost: curves of (cost, accuracy), and the uniform budgets as diamonds."""
    fig = go.Figure()
    for (name, (cost, accuracy)), colour in zip(curves.items(), COLOURS, strict=False):
        if bands and name in bands:
            low, high = bands[name]
            around = {"x": [*cost, *cost[::-1]], "y": [*low, *high[::-1]]}
            hidden = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
            fig.add_scatter(**around, fill="toself", fillcolor=_faint(colour), **hidden)
        line = {"color": colour, "width": 3, "dash": "dash" if name in dashed else "solid"}
        fig.add_scatter(x=cost, y=accuracy, mode="lines", line=line, name=plain(name))
    fig.add_scatter(
        x=uniform[0],
        y=uniform[1],
        mode="markers+text",
        marker={"symbol": "diamond", "size": 11, "color": COLOURS[6]},
        text=[f"all {b}" for b in budgets],
        textposition=_below(len(budgets)),
        name="the same for all",
    )
    ticks = {"tickvals": list(uniform[0]), "ticktext": [f"{c:g}" for c in uniform[0]]}
    # Room on the right for the last label.
    ends = [np.log10(uniform[0][0]) - 0.05, np.log10(uniform[0][-1]) + 0.2]
    fig.update_xaxes(type="log", title="average cost", range=ends, **ticks)
    return fig.update_yaxes(title="accuracy").update_layout(height=480)


def timings(sizes: Sequence[int], seconds: Mapping[str, Sequence[float]]) -> go.Figure:
    """Seconds against the number of questions, both on logarithmic axes."""
    fig = go.Figure()
    for (name, values), colour in zip(seconds.items(), COLOURS, strict=False):
        fig.add_scatter(x=list(sizes), y=list(values), mode="lines+markers", line={"color": colour}, name=plain(name))
    fig.update_xaxes(type="log", title="questions N", dtick=1)
    return fig.update_yaxes(type="log", title="seconds", dtick=1, tickformat="~g").update_layout(height=340)


def _below(n: int) -> list[str]:
    """Where the labels of n points stand: to the right, but the last one not, which a narrow screen would cut."""
    return ["bottom right"] * (n - 1) + ["bottom center"]


def at_top(text: str) -> dict:
    """A title that hangs from the upper edge of the figure, above the legend."""
    return {"text": text, "y": 0.985, "yanchor": "top"}


def _faint(colour: str, opacity: float = 0.2) -> str:
    """A colour of the palette, seen through."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"
