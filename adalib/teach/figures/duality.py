"""Figures of chapter 4: the dual function as an envelope of lines, a cut simplex, every claim as a strip of dots."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adalib.teach.figures.style import COLOURS, error_bars, plain, slider

__all__ = ["claim_strips", "copies", "cut_simplex", "dual_lines", "gap_against_n", "imitation_bounds", "perfect_copy"]

AFFORDABLE, BEYOND, BOUND = COLOURS[2], COLOURS[1], COLOURS[0]


def dual_lines(
    prices: np.ndarray,
    accuracy: np.ndarray,
    cost: np.ndarray,
    oracle: Sequence[int],
    budget: float,
    start: int = 0,
) -> go.Figure:
    """Drag the price: every policy is a line, the dual function is their upper envelope, the oracle its tangent.

    ``accuracy`` and ``cost`` have one entry a policy; ``oracle`` has the policy that wins at each of the ``prices``.
    """
    slope = budget - cost
    lines = accuracy[:, None] + slope[:, None] * prices
    top, ends = lines.max(axis=0), prices[[0, -1]]
    least, value = float(top.min()), float(accuracy[slope >= 0].max())
    fig = go.Figure()
    groups = (
        ("plan within B", slope >= 0, AFFORDABLE, 0.8),
        ("plan beyond B", slope < 0, BEYOND, 0.5),
    )
    for name, which, colour, opacity in groups:
        x = np.tile([*ends, np.nan], int(which.sum()))
        y = np.column_stack([lines[which][:, [0, -1]], np.full(which.sum(), np.nan)]).ravel()
        style = {"color": colour, "width": 1}
        fig.add_scatter(x=x, y=y, mode="lines", line=style, opacity=opacity, name=name, hoverinfo="skip")
    fig.add_scatter(x=prices, y=top, mode="lines", line={"color": BOUND, "width": 4}, name="G(λ)", hoverinfo="skip")
    dots = {"color": AFFORDABLE, "width": 2, "dash": "dot"}
    fig.add_scatter(x=ends, y=[value, value], mode="lines", line=dots, name="V̂(B), the best within B")

    def moving(i: int) -> list[go.Scatter]:
        win = oracle[i]
        line = {"color": COLOURS[3], "width": 2.5, "dash": "dash"}
        return [
            go.Scatter(x=ends, y=lines[win, [0, -1]], mode="lines", line=line, name="the oracle's line"),
            go.Scatter(
                x=[prices[i]],
                y=[top[i]],
                mode="markers",
                marker={"size": 13, "color": COLOURS[3], "line": {"width": 2, "color": "white"}},
                showlegend=False,
                hovertemplate="λ = %{x:.3f}<br>G = %{y:.3f}<extra></extra>",
            ),
        ]

    def notes(i: int) -> list[dict]:
        gap = _note(f"gap {least - value:.3f}", x=1, y=(least + value) / 2, xanchor="right", yref="y")
        text = f"C̄ = {cost[oracle[i]]:.2f}<br>slope B − C̄ = {slope[oracle[i]]:+.2f}<br>G = {top[i]:.3f}"
        return [gap, _note(text, x=0.45, y=1, yanchor="top")]

    fig.add_traces(moving(start))
    names = [f"{price:.3f}" for price in prices]
    fig.frames = [
        go.Frame(name=names[i], data=moving(i), traces=[4, 5], layout={"annotations": notes(i)})
        for i in range(len(prices))
    ]
    fig.add_hrect(value, least, fillcolor=COLOURS[6], opacity=0.25, line_width=0)
    height = float(np.ptp(top))
    fig.update_xaxes(title="price λ", range=[float(prices[0]), float(prices[-1])])
    fig.update_yaxes(title="accuracy", range=[value - 0.7 * height, float(top.max()) + 0.05 * height])
    return fig.update_layout(annotations=notes(start), height=580, sliders=[slider(names, "price λ = ", start)])


def _note(text: str, x: float, y: float, **place) -> dict:
    """A note inside a plot, x and by default y in shares of the plot."""
    ground = {"bgcolor": "rgba(128, 128, 128, 0.2)", "borderpad": 3, "showarrow": False}
    return {"text": text, "x": x, "xref": "x domain", "y": y, "yref": "y domain", "align": "left", **ground, **place}


def copies(
    prices: np.ndarray, dual: np.ndarray, counts: Sequence[int], values: Sequence[float], start: int = 0
) -> go.Figure:
    """Drag N: the dual function stays where it is, the best accuracy climbs towards its minimum, the gap closes."""
    least, values = float(dual.min()), np.asarray(values)
    fig = make_subplots(rows=2, vertical_spacing=0.17, row_heights=[0.6, 0.4])
    fig.add_scatter(x=prices, y=dual, mode="lines", line={"color": BOUND, "width": 4}, name="G(λ)", row=1, col=1)
    gaps, marks = least - values, {"color": COLOURS[6], "size": 7}
    fig.add_scatter(x=counts, y=gaps, mode="markers", marker=marks, name="gap", row=2, col=1)
    fig.add_scatter(
        x=counts,
        y=[1 / n for n in counts],
        mode="lines",
        line={"color": COLOURS[6], "dash": "dot"},
        name="1/N",
        row=2,
        col=1,
    )

    def moving(i: int) -> list[go.Scatter]:
        low, high = float(values[i]), least
        return [
            go.Scatter(
                x=[prices[0], prices[-1], prices[-1], prices[0]],
                y=[low, low, high, high],
                fill="toself",
                mode="lines",
                line={"width": 0},
                fillcolor="rgba(213, 94, 0, 0.3)",
                name="the gap",
                hoverinfo="skip",
                showlegend=False,
            ),
            go.Scatter(
                x=prices[[0, -1]], y=[low, low], mode="lines", line={"color": AFFORDABLE, "width": 3}, name="V̂(B)"
            ),
            go.Scatter(
                x=[counts[i]], y=[gaps[i]], mode="markers", marker={"color": BEYOND, "size": 13}, showlegend=False
            ),
        ]

    def notes(i: int) -> list[dict]:
        text = f"N = {counts[i]}<br>V̂ = {values[i]:.3f}<br>min G = {least:.3f}<br>gap {gaps[i]:.3f}"
        return [_note(text, x=0.5, y=1, yanchor="top")]

    for trace, row in zip(moving(start), (1, 1, 2), strict=True):
        fig.add_trace(trace, row=row, col=1)
    fig.frames = [
        go.Frame(name=str(n), data=moving(i), traces=[3, 4, 5], layout={"annotations": notes(i)})
        for i, n in enumerate(counts)
    ]
    fig.update_xaxes(title="price λ", row=1, col=1)
    fig.update_xaxes(title="number of questions N", row=2, col=1)
    fig.update_yaxes(title="accuracy", range=[-0.05, float(dual.max()) * 1.05], row=1, col=1)
    fig.update_yaxes(title="gap", range=[-0.05, 1.05], row=2, col=1)
    return fig.update_layout(annotations=notes(start), height=660, sliders=[slider(list(counts), "N = ", start)])


def claim_strips(claims: Mapping[str, tuple[np.ndarray, np.ndarray]], most: int = 350, reach: float = 1.0) -> go.Figure:
    """One strip a claim, one dot a case: how much room the claim has; orange where it fails.

    ``claims`` maps the claim to its gaps (right side minus left side) and whether it holds, one entry a case. At most
    ``most`` dots are drawn in each strip, gaps beyond ``reach`` at its edge.
    """
    fig = make_subplots(rows=len(claims), shared_xaxes=True, vertical_spacing=0.42 / len(claims))
    spread, lowest = np.random.default_rng(0), 0.0
    for row, (text, (gaps, holds)) in enumerate(claims.items(), 1):
        gaps, holds = np.asarray(gaps, dtype=float), np.asarray(holds, dtype=bool)
        failed = 1 - holds.mean()
        shown = spread.permutation(np.flatnonzero(np.isfinite(gaps)))[:most]
        lowest = min(lowest, float(gaps[shown].min()))
        for which, colour in ((holds[shown], BOUND), (~holds[shown], BEYOND)):
            fig.add_scatter(
                x=np.clip(gaps[shown][which], -reach, reach).round(4),
                y=spread.uniform(-1, 1, int(which.sum())).round(2),
                mode="markers",
                marker={"color": colour, "size": 6, "opacity": 0.45},
                hovertemplate="gap %{x}<extra></extra>",
                row=row,
                col=1,
            )
        # Lines short enough for a phone, the verdict on the last one if it fits there.
        verdict = f"fails in {failed:.1%}" if failed else "never fails"
        words = "<br>".join(plain(line) for line in textwrap.wrap(f"{text}:", 46))
        between = "<br>" if len(text) + len(verdict) > 46 else " "
        fig.add_annotation(
            text=f"{words}{between}<b>{verdict}</b>",
            x=0,
            xref="x domain",
            xanchor="left",
            y=1,
            yref="y domain",
            yanchor="bottom",
            showarrow=False,
            align="left",
            font={"size": 13},
            row=row,
            col=1,
        )
    fig.add_vline(0, line={"width": 1.5, "color": COLOURS[6]})
    fig.update_yaxes(visible=False, range=[-1.3, 1.3])
    fig.update_xaxes(range=[-1.05 * reach if lowest < -0.05 * reach else -0.15 * reach, 1.05 * reach])
    fig.update_xaxes(title="gap: right side minus left side", row=len(claims), col=1)
    return fig.update_layout(height=80 + 112 * len(claims), showlegend=False, margin={"t": 48})


def cut_simplex(cost: Sequence[float], budget: float) -> go.Figure:
    """One question's mixtures of three columns are a triangle; the budget cuts it, and the cut has its own corners."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    cost = np.asarray(cost, dtype=float)
    inside = [i for i in range(3) if cost[i] <= budget]
    cuts, around = [], []
    for i in range(3):
        j = (i + 1) % 3
        if cost[i] <= budget:
            around.append(corners[i])
        if (cost[i] - budget) * (cost[j] - budget) < 0:
            share = (budget - cost[i]) / (cost[j] - cost[i])
            cuts.append((corners[i] + share * (corners[j] - corners[i]), i, j, share))
            around.append(cuts[-1][0])
    kept = np.array([*around, around[0]])
    fig = go.Figure()
    outline = corners[[0, 1, 2, 0]]
    fig.add_scatter(
        x=outline[:, 0], y=outline[:, 1], mode="lines", line={"color": COLOURS[6]}, showlegend=False, hoverinfo="skip"
    )
    fig.add_scatter(
        x=kept[:, 0],
        y=kept[:, 1],
        fill="toself",
        fillcolor="rgba(0, 114, 178, 0.18)",
        mode="lines",
        line={"color": BOUND},
        name="affordable mixtures",
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=corners[inside, 0],
        y=corners[inside, 1],
        mode="markers",
        marker={"size": 14, "color": AFFORDABLE},
        name="vertex: one budget",
    )
    fig.add_scatter(
        x=[cut[0][0] for cut in cuts],
        y=[cut[0][1] for cut in cuts],
        mode="markers",
        marker={"size": 14, "color": BEYOND, "symbol": "diamond"},
        name="vertex: two budgets, split",
        hovertext=[f"{1 - s:.0%} at cost {cost[i]:g}, {s:.0%} at cost {cost[j]:g}" for _, i, j, s in cuts],
        hoverinfo="text",
    )
    for (x, y), c, shift in zip(corners, cost, [(0, -18), (0, -18), (0, 18)], strict=True):
        fig.add_annotation(x=x, y=y, text=f"always cost {c:g}", showarrow=False, xshift=shift[0], yshift=shift[1])
    fig.update_xaxes(visible=False, range=[-0.25, 1.25])
    fig.update_yaxes(visible=False, range=[-0.14, 1.0], scaleanchor="x")
    return fig.update_layout(height=400)


def gap_against_n(
    sizes: Sequence[int], gaps: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]], dashed: Sequence[str] = ()
) -> go.Figure:
    """Mean duality gap against the number of questions, both axes doubling, with the bound 1/N.

    ``gaps`` maps a name to means and the ends of their intervals, one entry a size.
    """
    fig = go.Figure()
    fig.add_scatter(
        x=list(sizes),
        y=[1 / n for n in sizes],
        mode="lines",
        line={"color": COLOURS[6], "dash": "dot", "width": 3},
        name="the bound 1/N",
    )
    for (name, (mean, low, high)), colour in zip(gaps.items(), COLOURS, strict=False):
        fig.add_scatter(
            x=list(sizes),
            y=mean,
            error_y=error_bars(mean, low, high, thickness=1),
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": "dash" if name in dashed else "solid"},
            name=plain(name),
        )
    fig.update_xaxes(type="log", title="number of questions N", tickvals=list(sizes), ticktext=[str(n) for n in sizes])
    fig.update_yaxes(type="log", title="mean gap, min G − V̂(B)", exponentformat="power", dtick=1)
    return fig.update_layout(height=480)


def imitation_bounds(clouds: Mapping[str, tuple[np.ndarray, np.ndarray]], slopes: Mapping[str, float]) -> go.Figure:
    """Accuracy lost against the share of labels that differ, one cloud a kind of policy, with lines through the origin.

    ``clouds`` maps a kind to (share, accuracy lost), one entry a policy; ``slopes`` maps a line's name to its slope.
    """
    fig = go.Figure()
    far = max(float(eps.max()) for eps, _ in clouds.values())
    for (name, slope), colour, dash in zip(slopes.items(), (COLOURS[6], COLOURS[4]), ("solid", "dash"), strict=False):
        line = {"color": colour, "width": 3, "dash": dash}
        fig.add_scatter(x=[0, far], y=[0, slope * far], mode="lines", line=line, name=plain(name))
    for (name, (eps, lost)), colour, symbol in zip(
        clouds.items(), (BOUND, BEYOND), ("circle", "diamond"), strict=False
    ):
        marks = {"color": colour, "size": 8, "opacity": 0.7, "symbol": symbol}
        fig.add_scatter(x=eps, y=lost, mode="markers", marker=marks, name=plain(name))
    top = 1.6 * max(float(lost.max()) for _, lost in clouds.values())
    fig.update_xaxes(title="ε, share of labels that differ from the oracle's", range=[0, far * 1.03])
    return fig.update_yaxes(title="accuracy lost", range=[0, top]).update_layout(height=460)


def perfect_copy(budgets: np.ndarray, lost: Mapping[str, np.ndarray], bound: Mapping[str, np.ndarray]) -> go.Figure:
    """What a perfect copy of the oracle loses against the best, at every budget; the printed bound is zero."""
    fig = make_subplots(rows=len(lost), shared_xaxes=True, vertical_spacing=0.06)
    lines = (
        ("ours: price × slack", bound, {"color": COLOURS[6], "width": 1.5}),
        ("lost, V̂(B) − accuracy", lost, {"color": BEYOND, "width": 2.5}),
    )
    for row, setting in enumerate(lost, 1):
        for name, values, line in lines:
            fig.add_scatter(
                x=budgets, y=values[setting], mode="lines", line=line, name=name, showlegend=row == 1, row=row, col=1
            )
        fig.add_annotation(_note(plain(setting), x=1, y=1, xanchor="right", yanchor="top"), row=row, col=1)
    fig.update_yaxes(rangemode="tozero", exponentformat="none", title="accuracy")
    fig.update_xaxes(title="budget B", row=len(lost), col=1)
    return fig.update_layout(height=90 + 200 * len(lost))
