"""Figures of chapters 0 to 4: answers and their votes, the price of one question and of all, the frontier, the dual."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from adalib.colours import budget_colours
from adalib.teach.figures import COLOURS, faint, plain
from adalib.teach.figures.shapes import GREY, band, bar, dots, drag, level, line, lines, panels

BLUE, ORANGE, GREEN, PINK, GOLD = COLOURS[:5]

Array = np.ndarray
Steps = tuple[Array, Array]
Style = dict[str, Any]


# Chapters 0 and 1: the answers to a question, their votes, and how accuracy grows with the budget.


def accuracy_curves(
    budgets: Sequence[int],
    curves: Mapping[str, ArrayLike],
    bands: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    dashed: Sequence[str] = (),
    y_title: str = "accuracy of the vote",
) -> go.Figure:
    """Accuracy against the budget b on a doubling axis, one line a name, with 95% bands where given."""
    fig = lines(budgets, curves, "budget b (answers that vote)", y_title, bands=bands, dashed=dashed, log_x=True)
    return fig.update_yaxes(range=[-0.02, 1.02]).update_layout(height=420)


def window_votes(outcomes: Mapping[int, Array], samples: int) -> go.Figure:
    """Drag b: the samples are cut into windows of b, each votes; ``outcomes[b]`` is how right each vote is."""
    budgets, shares = list(outcomes), list(outcomes.values())

    def windows(i: int) -> list[go.Bar]:
        b, share = budgets[i], shares[i]
        right, wrong = share > 0.99, share < 0.01
        kinds = (("right", right, GREEN), ("tie", ~right & ~wrong, GOLD), ("wrong", wrong, ORANGE))
        return [
            bar([""] * here.sum(), np.full(here.sum(), b - 0.12 * min(b, 3)), name, colour, sideways=True).update(
                base=b * np.flatnonzero(here), marker={"line": {"width": 0}}, hoverinfo="skip"
            )
            for name, here, colour in kinds
        ]

    votes = [f"{share.size} vote{'s' if share.size > 1 else ''}" for share in shares]
    titles = [f"{said} of {b}: {share.mean():.0%} right" for said, b, share in zip(votes, budgets, shares, strict=True)]
    fig = drag(go.Figure(), budgets, windows, "budget b = ", titles=titles)
    fig.update_xaxes(title="samples, in the order they were drawn", range=[0, samples]).update_yaxes(visible=False)
    return fig.update_layout(barmode="overlay", height=300, margin={"t": 70}, bargap=0.3)


# Chapter 2: what a price does to questions, and to the cost.


def ribbons(paths: Mapping[str, Steps], prices: Array, labels: Array, budgets: Sequence[int]) -> go.Figure:
    """What questions buy as the price rises: a ribbon for every named one, and below the shares of all.

    A path is (prices, costs) of one question's own frontier; ``labels`` has a row a price and a column a question.
    """
    end, colours = 1.04 * float(prices[-1]), budget_colours(len(budgets))
    pieces: list[list[tuple[str, float, float]]] = [[] for _ in budgets]
    for name, (lam, cost) in paths.items():
        # The last price of a frontier is 0; a budget is bought from its own price up to the one before.
        for low, high, spent in zip(lam, [end, *lam[:-1]], cost, strict=True):
            pieces[list(budgets).index(round(spent))].append((name, low, high))
    rows = []
    for b, own, colour in zip(budgets, pieces, colours, strict=True):
        names, low, high = zip(*own, strict=True) if own else ((), (), ())
        said = f"%{{y}} buys {b}<br>from λ = %{{base:.3f}}<extra></extra>"
        width = (np.array(high) - np.array(low)).round(5)
        rows.append(bar(names, width, f"b = {b}", colour, sideways=True, base=np.round(low, 5), hovertemplate=said))
    shares = _shares(np.append(prices, end), labels[[*range(len(labels)), -1]], budgets)
    fig = panels([rows, shares], ["", "shares of all questions"], spacing=0.15, row_heights=[0.64, 0.36])
    fig.update_xaxes(title="price λ", range=[0, end])
    fig.update_yaxes(tickformat=".0%", range=[0, 1], tickvals=[0.5, 1], row=2)
    fig.update_yaxes(type="category", categoryorder="array", categoryarray=list(paths)[::-1], row=1)
    return fig.update_layout(
        height=760, barmode="overlay", bargap=0.25, margin={"t": 70}, legend={"traceorder": "normal"}
    )


def _shares(prices: Array, labels: Array, budgets: Sequence) -> list[go.Scatter]:
    """Share of the questions at each budget, stacked, the budgets written where their areas are widest."""
    shares = np.array([(labels == column).mean(axis=1) for column in range(len(budgets))])
    # Away from the edges, where a label would be cut.
    inner = (prices > 0.04 * prices[-1]) & (prices < 0.9 * prices[-1])
    traces, written = [], []
    for column, colour in enumerate(budget_colours(len(budgets))):
        area: Style = {"stackgroup": "shares", "fillcolor": colour, "hovertemplate": "%{y:.1%}", "showlegend": False}
        traces.append(line(prices, shares[column], f"b = {budgets[column]}", width=0, shape="hv", **area))
        if (shares[column] * inner).max(initial=0.0) > 0.08:
            widest = int((shares[column] * inner).argmax())
            middle = shares[:column, widest].sum() + shares[column, widest] / 2
            written.append((prices[widest], middle, str(budgets[column]), "black" if column < 2 else "white"))
    x, y, text, ink = zip(*written, strict=True) if written else ((), (), (), ())
    font = {"color": ink, "size": 15}
    return [*traces, dots(x, y, text=text, textfont=font, hoverinfo="skip").update(mode="text")]


def staircases(groups: Mapping[str, Mapping[str, Steps]]) -> go.Figure:
    """Average cost against the price, one panel a group of settings, one staircase a setting: (prices, costs)."""
    right = 1.05 * max(float(np.max(lam)) for group in groups.values() for lam, _ in group.values())
    named = [zip(group.items(), COLOURS, strict=False) for group in groups.values()]
    fig = panels([[_stairs(*steps, right, name, own) for (name, steps), own in one] for one in named], list(groups))
    fig.update_xaxes(title="price λ", range=[0, right]).update_yaxes(title="average cost", rangemode="tozero")
    corner = {"x": 1.0, "xanchor": "right", "yanchor": "top", "orientation": "v", "bgcolor": "rgba(0, 0, 0, 0)"}
    for row in range(1, len(groups) + 1):
        legend, top = "legend" if row == 1 else f"legend{row}", next(fig.select_yaxes(row=row)).domain[1]
        fig.update_traces(legend=legend, row=row).update_layout({legend: {**corner, "y": top}})
    return fig.update_layout(height=60 + 320 * len(groups), margin={"t": 40})


def _stairs(lam: Array, cost: Array, end: float, name: str, colour: str) -> go.Scatter:
    """A staircase in the order of rising prices, drawn on to the right edge."""
    order = np.argsort(lam, kind="stable")
    x, y = np.asarray(lam, dtype=float)[order], np.asarray(cost, dtype=float)[order]
    said = "λ = %{x:.4f}: %{y:.3f}"
    return line(np.append(x, end), np.append(y, y[-1]), name, colour, width=2.5, shape="hv", hovertemplate=said)


# Chapter 3: from a budget to a price, and the whole frontier at once.


def staircase_target(lam: Array, cost: Array, budget: float) -> go.Figure:
    """Average cost against the price, and the budget aimed at as a dotted line."""
    end = 1.6 * float(np.max(lam))
    fig = go.Figure(_stairs(lam, cost, end, "average cost", BLUE))
    note = {"text": f"B = {budget:g}", "font": {"color": ORANGE}}
    level(fig, y=budget, dash="dot", colour=ORANGE, annotation=note, annotation_position="top right")
    fig.update_xaxes(title="price λ", range=[0, end])
    return fig.update_yaxes(title="average cost", rangemode="tozero").update_layout(height=320, showlegend=False)


def bisection(paths: Mapping[float, Array], lam: Array, cost: Array, steps: int = 20) -> go.Figure:
    """Four views of the search, one colour a budget: price brackets, cost brackets, what is missing, the way taken."""
    zero, step, order = 1e-3, np.arange(1, steps + 1), np.argsort(lam, kind="stable")
    parts: list[list] = [[], [], [], [line(lam[order], cost[order], colour=GREY, width=2, shape="hv")]]
    for (budget, path), colour in zip(paths.items(), budget_colours(len(paths)), strict=True):
        path, name = path[:steps], f"B = {budget:g}"
        style: Style = {"name": name, "colour": colour, "width": 2, "shape": "hv", "showlegend": False}
        filled: Style = {"fill": "tonexty", "fillcolor": faint(colour, 0.2)}
        # A price of 0 is drawn at the foot of its logarithmic axis, and labelled 0.
        for part, low, high, floor in ((0, "lo", "hi", zero), (1, "cost_hi", "cost_lo", 0.0)):
            parts[part].append(line(step, np.maximum(path[low], floor), **style))
            parts[part].append(line(step, np.maximum(path[high], floor), **style, **filled))
        parts[2].append(line(step, np.abs(path["cost_mid"] - budget), marks=True, marker_size=7, **style))
        parts[3].append(dots(path["mid"], path["cost_mid"], name, colour))
    names = ["bracket of the price", "bracket of the cost", "distance |C − B|", "the way on the staircase"]
    fig = panels(parts, [f"({letter}) {name}" for letter, name in zip("abcd", names, strict=True)], spacing=0.075)
    for budget, colour in zip(paths, budget_colours(len(paths)), strict=True):
        level(fig, y=budget, dash="dot", colour=colour, width=1.5, row=2, col=1)
    level(fig, y=0.05, width=1.5, row=3, col=1)
    ticks = {"tickvals": [zero, 0.01, 0.1, 1, 5], "ticktext": ["0", "0.01", "0.1", "1", "5"]}
    fig.update_yaxes(title="average cost").update_yaxes(type="log", title="price λ", **ticks, row=1)
    fig.update_yaxes(type="log", title="distance", tickvals=[0.01, 0.05, 0.1, 1], row=3)
    fig.update_xaxes(range=[0.5, steps + 0.5]).update_xaxes(title="step", row=3)
    fig.update_xaxes(title="price λ", range=[0, float(lam.max()) * 1.05], row=4)
    return fig.update_layout(height=1250, margin={"t": 80}, legend={"y": 1.03, "traceorder": "normal"})


def tangent(
    budgets: Sequence,
    cost: Array,
    acc: Array,
    corners: Sequence[int],
    prices: Array,
    winners: Array,
) -> go.Figure:
    """Drag the price: a line of that slope comes down on one question's curve and touches it at the winner."""
    ends = np.array([0.0, float(cost[-1]) * 1.16])
    fig = go.Figure(line(cost[list(corners)], acc[list(corners)], "envelope", BLUE))
    # Labels stand to the right of their points, but not the last one, which a narrow screen would cut.
    places = ["bottom right"] * (len(cost) - 1) + ["bottom center"]
    said: Style = {"text": [f"b={b}" for b in budgets], "textposition": places, "mode": "markers+text"}
    colours = [BLUE if j in corners else GREY for j in range(len(cost))]
    fig.add_trace(dots(cost, acc, "the question's curve", colours, size=11, showlegend=False, **said))

    def touching(i: int) -> list[go.Scatter]:
        x, y = cost[winners[i]], acc[winners[i]]
        slope = line(ends, y + prices[i] * (ends - x), "slope λ", ORANGE, width=2)
        return [slope, dots([x], [y], "winner", ORANGE, size=20, symbol="star")]

    titles = [f"λ = {price:g}: the winner is b = {budgets[won]}" for price, won in zip(prices, winners, strict=True)]
    drag(fig, prices, touching, "λ = ", titles=titles, active=len(prices) // 2)
    low, high = float(acc.min()), float(acc.max())
    fig.update_xaxes(title="cost", range=ends)
    fig.update_yaxes(title="accuracy", range=[low - 0.25 * (high - low), high + 0.35 * (high - low)])
    return fig.update_layout(height=460, margin={"t": 80})


def filling(
    lam: Array,
    cost: Array,
    first_accuracy: float,
    budgets: Sequence,
    targets: Sequence[float],
    accuracy: Sequence[float],
    labels: Array,
    ids: Sequence[str],
    width: int = 31,
) -> go.Figure:
    """Drag the budget B: steps are bought from the steepest down, and every question is a tile coloured by its budget.

    ``accuracy`` and the rows of ``labels`` belong to ``targets``; the area is what is gained over ``first_accuracy``.
    """
    # Tiles in the order in which questions are served, so that the served ones fill the wall from the top.
    served = np.argsort(-(labels > 0).sum(axis=0), kind="stable")
    colours, k = budget_colours(len(budgets)), len(budgets)
    empty = -served.size % width
    names = np.array([plain(ids[i]) for i in served] + [""] * empty).reshape(-1, width).tolist()
    scale = [[(j + side) / k, colour] for j, colour in enumerate(colours) for side in (0, 1)]
    wall = {"text": names, "hovertemplate": "%{text}<extra></extra>", "colorscale": scale, "showscale": False}

    def moving(i: int) -> list:
        inside = int(np.searchsorted(cost, targets[i], side="right"))
        x, y = np.append(cost[:inside], targets[i]).round(5), np.append(lam[:inside], lam[inside - 1]).round(5)
        filled: Style = {"fill": "tozeroy", "fillcolor": faint(ORANGE, 0.45), "hoverinfo": "skip"}
        tiles = [*map(int, labels[i, served]), *[None] * empty]
        rows = [tiles[at : at + width] for at in range(0, len(tiles), width)]
        tiled = go.Heatmap(wall, z=rows, zmin=-0.5, zmax=k - 0.5, xgap=1, ygap=1)
        return [line(x, y, width=0, shape="hv", **filled), tiled]

    titles = [f"accuracy {first_accuracy:.3f} + {end - first_accuracy:.3f} = {end:.3f}" for end in accuracy]
    start = next((i for i, budget in enumerate(targets) if budget >= 2), 0)
    fig = panels([[], []], ["steps bought, the steepest first", "each tile a question"], 0.17, row_heights=[0.52, 0.48])
    drag(fig, targets, moving, "B = ", rows=(1, 2), titles=titles, active=start)
    fig.add_trace(line(cost.round(5), lam.round(5), colour=BLUE, width=2.5, shape="hv"), row=1, col=1)
    for budget, colour in zip(budgets, colours, strict=True):
        fig.add_trace(dots([None], [None], f"b = {budget}", colour, size=12, symbol="square"), row=2, col=1)
    fig.update_xaxes(title="average cost B", row=1).update_xaxes(visible=False, row=2)
    fig.update_yaxes(title="price λ", row=1).update_yaxes(visible=False, autorange="reversed", row=2)
    return fig.update_layout(height=800, margin={"t": 130}, legend={"y": 1.06, "font": {"size": 12}})


def auction(prices: Sequence[float], spent: ArrayLike, budget: float, rounds: Sequence[int]) -> go.Figure:
    """Drag the round, counted from 1: what every machine would spend at its price, stacked, against the budget."""
    spent = np.asarray(spent, dtype=float)
    machines = [f"machine {m + 1}" for m in range(spent.shape[1])]

    def reported(i: int) -> list[go.Bar]:
        row = spent[rounds[i] - 1]
        said = {"texttemplate": "%{x:.3f}", "textposition": "outside", "cliponaxis": False}
        hover = "%{y} would spend %{x:.4f}<extra></extra>"
        over = ORANGE if row.sum() > budget else BLUE
        return [bar(machines, row, "", over, sideways=True, base=np.cumsum(row) - row, hovertemplate=hover, **said)]

    totals = spent[np.asarray(rounds) - 1].sum(axis=1)
    verdicts = ["too much: raise the price" if total > budget else "within the budget: lower it" for total in totals]
    # Three short lines: a phone shows some thirty characters beside the machines' names.
    titles = [
        f"round {number}: λ = {prices[number - 1]:.6g}<br>together {total:.4f}<br>{verdict}"
        for number, total, verdict in zip(rounds, totals, verdicts, strict=True)
    ]
    fig = drag(go.Figure(), rounds, reported, "round ", titles=titles)
    note = {"text": f"B = {budget:g}", "font": {"color": GREEN}}
    level(fig, x=budget, dash="dot", colour=GREEN, annotation=note, annotation_position="bottom right")
    # Short, and room at the right for the last number: a phone has 250 pixels for the bars.
    fig.update_xaxes(title="average cost, added up", range=[0, 1.22 * max(totals.max(), budget)])
    # Room for the title's first line, which plotly forgets, and in JupyterLab for the axis' title above the slider.
    fig.update_layout(title_pad={"t": 14}, sliders=[{"pad": {"t": 64, "b": 8}}])
    return fig.update_yaxes(autorange="reversed").update_layout(height=500, showlegend=False, margin={"t": 110})


# Chapter 4: the dual function as an envelope of lines, a cut simplex, every claim as a strip of dots.


def dual_lines(
    prices: Array, accuracy: Array, cost: Array, oracle: Sequence[int], budget: float, start: int = 0
) -> go.Figure:
    """Drag the price: every policy is a line, the dual function is their upper envelope, the oracle its tangent."""
    slope = budget - cost
    heights = accuracy[:, None] + slope[:, None] * prices
    top, ends = heights.max(axis=0), prices[[0, -1]]
    least, value = float(top.min()), float(accuracy[slope >= 0].max())
    fig = go.Figure()
    for name, which, colour in (("plan within B", slope >= 0, GREEN), ("plan beyond B", slope < 0, ORANGE)):
        x = np.tile([*ends, np.nan], int(which.sum()))
        y = np.column_stack([heights[which][:, [0, -1]], np.full(which.sum(), np.nan)]).ravel()
        fig.add_trace(line(x, y, name, colour, width=1, opacity=0.6, hoverinfo="skip"))
    fig.add_trace(line(prices, top, "G(λ)", BLUE, width=4, hoverinfo="skip"))
    fig.add_trace(line(ends, [value, value], "V̂(B), the best within B", GREEN, width=2, dash="dot"))

    def moving(i: int) -> list[go.Scatter]:
        touching = line(ends, heights[oracle[i], [0, -1]], "the oracle's line", PINK, width=2.5, dash="dash")
        said = "λ = %{x:.3f}<br>G = %{y:.3f}<extra></extra>"
        dot = dots([prices[i]], [top[i]], colour=PINK, size=13, hovertemplate=said)
        return [touching, dot.update(marker_line={"width": 2, "color": "white"})]

    def notes(i: int) -> dict:
        gap = _note(f"gap {least - value:.3f}", x=1, y=(least + value) / 2, xanchor="right", yref="y")
        text = f"C̄ = {cost[oracle[i]]:.2f}<br>slope B − C̄ = {slope[oracle[i]]:+.2f}<br>G = {top[i]:.3f}"
        return {"annotations": [gap, _note(text, x=0.45, y=1, yanchor="top")]}

    drag(fig, [f"{price:.3f}" for price in prices], moving, "price λ = ", layout=notes, active=start)
    fig.add_hrect(value, least, fillcolor=GREY, opacity=0.25, line_width=0)
    height = float(np.ptp(top))
    fig.update_xaxes(title="price λ", range=[float(prices[0]), float(prices[-1])])
    fig.update_yaxes(title="accuracy", range=[value - 0.7 * height, float(top.max()) + 0.05 * height])
    return fig.update_layout(height=580)


def _note(text: str, x: float, y: float, **place) -> dict:
    """A note inside a plot, x and by default y in shares of the plot."""
    ground = {"bgcolor": "rgba(128, 128, 128, 0.2)", "borderpad": 3, "showarrow": False}
    return {"text": text, "x": x, "xref": "x domain", "y": y, "yref": "y domain", "align": "left", **ground, **place}


def copies(prices: Array, dual: Array, counts: Sequence[int], values: Sequence[float], start: int = 0) -> go.Figure:
    """Drag N: the dual function stays where it is, the best accuracy climbs towards its minimum, the gap closes."""
    least, ends = float(dual.min()), prices[[0, -1]]
    gaps = least - np.asarray(values)
    bound = line(counts, [1 / n for n in counts], "1/N", GREY, dash="dot", width=2)
    parts = [[line(prices, dual, "G(λ)", BLUE, width=4)], [dots(counts, gaps, "gap", GREY, size=7), bound]]
    fig = panels(parts, spacing=0.17, row_heights=[0.6, 0.4])

    def moving(i: int) -> list[go.Scatter]:
        return [
            band(ends, [values[i]] * 2, [least] * 2, ORANGE, 0.3),
            line(ends, [values[i]] * 2, "V̂(B)", GREEN),
            dots([counts[i]], [gaps[i]], colour=ORANGE, size=13),
        ]

    def notes(i: int) -> dict:
        text = f"N = {counts[i]}<br>V̂ = {values[i]:.3f}<br>min G = {least:.3f}<br>gap {gaps[i]:.3f}"
        return {"annotations": [_note(text, x=0.5, y=1, yanchor="top")]}

    drag(fig, counts, moving, "N = ", rows=(1, 1, 2), layout=notes, active=start)
    fig.update_xaxes(title="price λ", row=1).update_xaxes(title="number of questions N", row=2)
    fig.update_yaxes(title="accuracy", range=[-0.05, float(dual.max()) * 1.05], row=1)
    return fig.update_yaxes(title="gap", range=[-0.05, 1.05], row=2).update_layout(height=660)


def claim_strips(claims: Mapping[str, tuple[Array, Array]], most: int = 350, reach: float = 1.0) -> go.Figure:
    """One strip a claim, a dot for (at most so many) cases: its gap, and whether it holds; orange where it fails."""
    fig = make_subplots(rows=len(claims), shared_xaxes=True, vertical_spacing=0.42 / len(claims))
    spread, lowest = np.random.default_rng(0), 0.0
    for row, (text, (gaps, holds)) in enumerate(claims.items(), 1):
        shown = spread.permutation(np.flatnonzero(np.isfinite(gaps)))[:most]
        lowest = min(lowest, float(gaps[shown].min()))
        for which, colour in ((holds[shown], BLUE), (~holds[shown], ORANGE)):
            x = np.clip(gaps[shown][which], -reach, reach).round(4)
            y = spread.uniform(-1, 1, int(which.sum())).round(2)
            said = "gap %{x}<extra></extra>"
            fig.add_trace(dots(x, y, colour=colour, size=6, opacity=0.45, hovertemplate=said), row=row, col=1)
        # Lines short enough for a phone, the verdict on the last one if it fits there.
        verdict = f"fails in {1 - holds.mean():.1%}" if not holds.all() else "never fails"
        words = "<br>".join(plain(part) for part in textwrap.wrap(f"{text}:", 46))
        between = "<br>" if len(text) + len(verdict) > 46 else " "
        place = {"x": 0, "xref": "x domain", "xanchor": "left", "y": 1, "yref": "y domain", "yanchor": "bottom"}
        note = {"text": f"{words}{between}<b>{verdict}</b>", "showarrow": False, "align": "left", "font": {"size": 13}}
        fig.add_annotation(note | place, row=row, col=1)
    level(fig, x=0, dash="solid", width=1.5)
    fig.update_yaxes(visible=False, range=[-1.3, 1.3])
    fig.update_xaxes(range=[-1.05 * reach if lowest < -0.05 * reach else -0.15 * reach, 1.05 * reach])
    fig.update_xaxes(title="gap: right side minus left side", row=len(claims))
    return fig.update_layout(height=80 + 112 * len(claims), showlegend=False, margin={"t": 48})


def cut_simplex(cost: Sequence[float], budget: float) -> go.Figure:
    """One question's mixtures of three columns are a triangle; the budget cuts it, and the cut has its own corners."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    whole, cuts, around, told = corners[np.asarray(cost) <= budget], [], [], []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        if cost[i] <= budget:
            around.append(corners[i])
        if (cost[i] - budget) * (cost[j] - budget) < 0:
            share = (budget - cost[i]) / (cost[j] - cost[i])
            cuts.append(corners[i] + share * (corners[j] - corners[i]))
            around.append(cuts[-1])
            told.append(f"{1 - share:.0%} at cost {cost[i]:g}, {share:.0%} at cost {cost[j]:g}")
    (x, y), (a, b) = corners[[0, 1, 2, 0]].T, np.array([*around, around[0]]).T
    (p, q), (r, s) = whole.T, np.array(cuts).T
    filled: Style = {"fill": "toself", "fillcolor": faint(BLUE, 0.18), "hoverinfo": "skip"}
    split = dots(r, s, "vertex: two budgets, split", ORANGE, size=14, symbol="diamond")
    fig = go.Figure(
        [
            line(x, y, colour=GREY, width=2, hoverinfo="skip"),
            line(a, b, "affordable mixtures", BLUE, width=2, **filled),
            dots(p, q, "vertex: one budget", GREEN, size=14),
            split.update(hovertext=told, hoverinfo="text"),
        ]
    )
    for (x, y), c, shift in zip(corners, cost, (-18, -18, 18), strict=True):
        fig.add_annotation(x=x, y=y, text=f"always cost {c:g}", showarrow=False, yshift=shift)
    fig.update_xaxes(visible=False, range=[-0.25, 1.25])
    return fig.update_yaxes(visible=False, range=[-0.14, 1.0], scaleanchor="x").update_layout(height=400)
