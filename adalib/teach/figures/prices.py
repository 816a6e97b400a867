"""Figures of the chapters on prices: votes, one question's price, the frontier, the dual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from adalib.colours import budget_colours
from adalib.teach.figures import COLOURS, faint, plain
from adalib.teach.figures.shapes import GREY, band, bar, dots, drag, level, line, lines, panels

BLUE, ORANGE, GREEN, PINK, GOLD = COLOURS[:5]

Array = np.ndarray
Steps = tuple[Array, Array]
Style = dict[str, Any]


# The answers to a question, their votes, and how accuracy grows with the budget.


def accuracy_curves(
    budgets: Sequence[int],
    curves: Mapping[str, ArrayLike],
    bands: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    dashed: Sequence[str] = (),
    y_title: str = "accuracy of the vote",
) -> go.Figure:
    """Draw accuracy against the budget b on a doubling axis, a line per name, with 95% bands."""
    fig = lines(
        budgets,
        curves,
        "budget b (answers that vote)",
        y_title,
        bands=bands,
        dashed=dashed,
        log_x=True,
    )
    return fig.update_yaxes(range=[-0.02, 1.02]).update_layout(height=420)


def window_votes(outcomes: Mapping[int, Array], samples: int) -> go.Figure:
    """Drag b: the samples are cut into windows of b, and each window votes.

    ``outcomes[b]`` has the accuracy of each vote.
    """
    budgets = list(outcomes)
    shares = list(outcomes.values())

    def windows(i: int) -> list[go.Bar]:
        b = budgets[i]
        share = shares[i]
        right = share > 0.99
        wrong = share < 0.01
        kinds = (("right", right, GREEN), ("tie", ~right & ~wrong, GOLD), ("wrong", wrong, ORANGE))
        made = []
        for name, here, colour in kinds:
            first = b * np.flatnonzero(here)
            hover = [
                f"answers {at + 1} to {at + b}: {name}" if b > 1 else f"answer {at + 1}: {name}"
                for at in first
            ]
            style = {"base": first, "marker_line_width": 0, "hovertext": hover, "hoverinfo": "text"}
            wide = np.full(first.size, b - 0.12 * min(b, 3))
            made.append(bar([""] * first.size, wide, name, colour, sideways=True).update(style))
        return made

    votes = [f"{share.size} vote{'s' if share.size > 1 else ''}" for share in shares]
    titles = [
        f"{number} of {b}: {share.mean():.0%} right"
        for number, b, share in zip(votes, budgets, shares, strict=True)
    ]
    fig = drag(go.Figure(), budgets, windows, "budget b = ", titles=titles)
    fig.update_xaxes(
        title="samples, in the order they were drawn", range=[0, samples]
    ).update_yaxes(visible=False)
    return fig.update_layout(barmode="overlay", height=300, margin={"t": 70}, bargap=0.3)


# What a price does to questions, and to the cost.


def ribbons(
    paths: Mapping[str, Steps], prices: Array, labels: Array, budgets: Sequence[int]
) -> go.Figure:
    """Draw what questions buy as the price rises: ribbons for the named ones, shares of all below.

    A path is (prices, costs) of one question's own frontier; ``labels`` has a row per price and
    a column per question."""
    end = 1.04 * float(prices[-1])
    colours = budget_colours(len(budgets))
    pieces: list[list[tuple[str, float, float]]] = [[] for _ in budgets]
    for name, (lam, cost) in paths.items():
        # The last price of a frontier is 0; a budget is bought from its own price up to the one
        # before.
        for low, high, spent in zip(lam, [end, *lam[:-1]], cost, strict=True):
            pieces[list(budgets).index(round(spent))].append((name, low, high))
    rows = []
    for b, own, colour in zip(budgets, pieces, colours, strict=True):
        names, low, high = zip(*own, strict=True) if own else ((), (), ())
        hover = f"%{{y}} buys {b}<br>from λ = %{{base:.3f}}<extra></extra>"
        width = (np.array(high) - np.array(low)).round(5)
        rows.append(
            bar(
                names,
                width,
                f"b = {b}",
                colour,
                sideways=True,
                base=np.round(low, 5),
                hovertemplate=hover,
            )
        )
    shares = _shares(np.append(prices, end), labels[[*range(len(labels)), -1]], budgets)
    fig = panels(
        [rows, shares], ["", "shares of all questions"], spacing=0.15, row_heights=[0.64, 0.36]
    )
    fig.update_xaxes(title="price λ", range=[0, end])
    fig.update_yaxes(tickformat=".0%", range=[0, 1], tickvals=[0.5, 1], row=2)
    fig.update_yaxes(type="category", categoryorder="array", categoryarray=list(paths)[::-1], row=1)
    return fig.update_layout(
        height=760,
        barmode="overlay",
        bargap=0.25,
        margin={"t": 70},
        legend={"traceorder": "normal"},
    )


def _shares(prices: Array, labels: Array, budgets: Sequence) -> list[go.Scatter]:
    """Draw the share of questions at each budget, stacked, each named where its area is widest."""
    shares = np.array([(labels == column).mean(axis=1) for column in range(len(budgets))])
    # Away from the edges, where a label would be cut.
    inner = (prices > 0.04 * prices[-1]) & (prices < 0.9 * prices[-1])
    traces = []
    written = []
    for column, colour in enumerate(budget_colours(len(budgets))):
        area: Style = {
            "stackgroup": "shares",
            "fillcolor": colour,
            "hovertemplate": "%{y:.1%}",
            "showlegend": False,
        }
        traces.append(
            line(prices, shares[column], f"b = {budgets[column]}", width=0, shape="hv", **area)
        )
        if (shares[column] * inner).max(initial=0.0) > 0.08:
            widest = int((shares[column] * inner).argmax())
            middle = shares[:column, widest].sum() + shares[column, widest] / 2
            written.append(
                (prices[widest], middle, str(budgets[column]), "black" if column < 2 else "white")
            )
    x, y, text, ink = zip(*written, strict=True) if written else ((), (), (), ())
    font = {"color": ink, "size": 15}
    return [*traces, dots(x, y, text=text, textfont=font, hoverinfo="skip").update(mode="text")]


def staircases(groups: Mapping[str, Mapping[str, Steps]]) -> go.Figure:
    """Draw average cost against the price, a panel per group and a staircase per setting.

    A staircase is a pair (prices, costs).
    """
    right = 1.05 * max(float(np.max(lam)) for group in groups.values() for lam, _ in group.values())
    named = [zip(group.items(), COLOURS, strict=False) for group in groups.values()]
    fig = panels(
        [[_stairs(*steps, right, name, own) for (name, steps), own in one] for one in named],
        list(groups),
    )
    fig.update_xaxes(title="price λ", range=[0, right]).update_yaxes(
        title="average cost", rangemode="tozero"
    )
    corner = {
        "x": 1.0,
        "xanchor": "right",
        "yanchor": "top",
        "orientation": "v",
        "bgcolor": "rgba(0, 0, 0, 0)",
    }
    for row in range(1, len(groups) + 1):
        legend = "legend" if row == 1 else f"legend{row}"
        top = next(fig.select_yaxes(row=row)).domain[1]
        fig.update_traces(legend=legend, row=row).update_layout({legend: {**corner, "y": top}})
    return fig.update_layout(height=60 + 320 * len(groups), margin={"t": 40})


def _stairs(lam: Array, cost: Array, end: float, name: str, colour: str) -> go.Scatter:
    """A staircase in the order of rising prices, drawn on to the right edge."""
    order = np.argsort(lam, kind="stable")
    x = np.asarray(lam, dtype=float)[order]
    y = np.asarray(cost, dtype=float)[order]
    hover = "λ = %{x:.4f}: %{y:.3f}"
    return line(
        np.append(x, end),
        np.append(y, y[-1]),
        name,
        colour,
        width=2.5,
        shape="hv",
        hovertemplate=hover,
    )


# From a budget to a price, and the whole frontier at once.


def staircase_target(lam: Array, cost: Array, budget: float) -> go.Figure:
    """Average cost against the price, and the budget aimed at as a dotted line."""
    end = 1.6 * float(np.max(lam))
    fig = go.Figure(_stairs(lam, cost, end, "average cost", BLUE))
    note = {"text": f"B = {budget:g}", "font": {"color": ORANGE}}
    level(
        fig, y=budget, dash="dot", colour=ORANGE, annotation=note, annotation_position="top right"
    )
    fig.update_xaxes(title="price λ", range=[0, end])
    return fig.update_yaxes(title="average cost", rangemode="tozero").update_layout(
        height=320, showlegend=False
    )


def search(path: Array, lam: Array, cost: Array, budget: float, steps: int = 20) -> go.Figure:
    """Play the search step by step: a magnified staircase of the prices still in question."""
    end = float(path["hi"][0])
    shown = path[:steps]
    fig = go.Figure(_stairs(lam, cost, end, "", BLUE))

    def ends(i: int) -> list[go.Scatter]:
        low = shown["lo"][i]
        high = shown["hi"][i]
        hover = "λ = %{x:.6f}: %{y:.4f}<extra></extra>"
        return [
            dots(
                [low], [shown["cost_lo"][i]], "price too low", ORANGE, size=14, hovertemplate=hover
            ),
            dots(
                [high],
                [shown["cost_hi"][i]],
                "price high enough",
                BLUE,
                size=14,
                hovertemplate=hover,
            ),
        ]

    def glass(i: int) -> dict:
        across = shown[["lo", "hi"]][i]
        down = shown[["cost_hi", "cost_lo"]][i]
        room = {"xaxis": 0.15 * (across[1] - across[0]), "yaxis": 0.2 * (down[1] - down[0])}
        ranges = {"xaxis": across, "yaxis": down}
        return {
            axis: {"range": [low - room[axis], high + room[axis]]}
            for axis, (low, high) in ranges.items()
        }

    titles = [f"λ between {row['lo']:.5f} and {row['hi']:.5f}" for row in shown]
    drag(fig, range(1, len(shown) + 1), ends, "step ", titles=titles, layout=glass)
    level(fig, y=budget, dash="dot", colour=ORANGE)
    fig.update_xaxes(title="price λ", nticks=4, tickformat="~g").update_yaxes(
        title="average cost", nticks=6
    )
    # Room between title and ticks, which grow longer from step to step.
    return fig.update_yaxes(title_standoff=32).update_layout(height=430, margin={"t": 80})


def tangent(
    budgets: Sequence,
    cost: Array,
    acc: Array,
    corners: Sequence[int],
    prices: Array,
    winners: Array,
) -> go.Figure:
    """Drag the price: a line of that slope comes down on one question's curve to the best buy."""
    ends = np.array([0.0, float(cost[-1]) * 1.16])
    fig = go.Figure(line(cost[list(corners)], acc[list(corners)], "envelope", BLUE))
    # Neighbours on a narrow screen: a corner has its number above, a point under the envelope
    # below.
    places = ["top center" if j in corners else "bottom center" for j in range(len(cost))]
    hover: Style = {
        "text": [str(b) for b in budgets],
        "textposition": places,
        "mode": "markers+text",
    }
    colours = [BLUE if j in corners else GREY for j in range(len(cost))]
    fig.add_trace(
        dots(cost, acc, "the question's curve", colours, size=11, showlegend=False, **hover)
    )

    def touching(i: int) -> list[go.Scatter]:
        x = cost[winners[i]]
        y = acc[winners[i]]
        slope = line(ends, y + prices[i] * (ends - x), "slope λ", ORANGE, width=2)
        return [slope, dots([x], [y], "winner", ORANGE, size=16, symbol="star")]

    titles = [
        f"λ = {price:g}: the winner is b = {budgets[won]}"
        for price, won in zip(prices, winners, strict=True)
    ]
    drag(fig, prices, touching, "λ = ", titles=titles, active=len(prices) // 2)
    low = float(acc.min())
    high = float(acc.max())
    fig.update_xaxes(title="cost", range=ends)
    fig.update_yaxes(
        title="accuracy", range=[low - 0.25 * (high - low), high + 0.35 * (high - low)]
    )
    return fig.update_layout(height=460, margin={"t": 80})


def filling(
    lam: Array,
    cost: Array,
    first_accuracy: float,
    budgets: Sequence,
    targets: Sequence[float],
    labels: Array,
) -> go.Figure:
    """Drag the budget B: steps are bought from the steepest down until the answers reach B.

    A row of ``labels`` belongs to each of ``targets``; the area is what is gained over
    ``first_accuracy``, and a piece of the thermometer the answers that go to questions with b
    each.
    """
    end = 1.03 * float(cost[-1])
    top = 1.06 * float(lam[0])
    inside = [int(np.searchsorted(cost, budget, side="right")) for budget in targets]

    def moving(i: int) -> list:
        x = np.append(cost[: inside[i]], targets[i])
        y = np.append(lam[: inside[i]], lam[inside[i] - 1])
        filled: Style = {"fill": "tozeroy", "fillcolor": faint(ORANGE, 0.45), "hoverinfo": "skip"}
        area = line(x.round(5), y.round(5), width=0, shape="hv", **filled)
        edges = [
            line([targets[i]] * 2, ends, colour=ORANGE, width=2, dash="dash")
            for ends in ([0, top], [-0.6, 0.6])
        ]
        return [area, edges[0], *_thermometer(labels[i], budgets), edges[1]]

    def title(steps: int, budget: float) -> str:
        gain = float(np.diff(np.append(cost[:steps], budget)) @ lam[:steps])
        return (
            f"price {lam[steps - 1]:.3f}, accuracy {first_accuracy:.3f} + {gain:.3f} = "
            f"{first_accuracy + gain:.3f}"
        )

    start = next((i for i, budget in enumerate(targets) if budget >= 2), 0)
    fig = panels([[], []], spacing=0.24, row_heights=[0.76, 0.24])
    drag(
        fig,
        targets,
        moving,
        "B = ",
        rows=(1, 1, *[2] * len(budgets), 2),
        titles=list(map(title, inside, targets)),
        active=start,
    )
    fig.add_trace(
        line(cost.round(5), lam.round(5), colour=BLUE, width=2.5, shape="hv"), row=1, col=1
    )
    fig.update_xaxes(range=[0, end]).update_xaxes(title="answers per question, on average", row=2)
    fig.update_yaxes(title="price λ", range=[0, top], row=1).update_yaxes(
        visible=False, range=[-0.7, 0.7], row=2
    )
    # The legend belongs to the thermometer, and stands above it.
    legend = {"y": fig.layout.yaxis2.domain[1] + 0.02, "font": {"size": 12}, "traceorder": "normal"}
    return fig.update_layout(barmode="stack", height=580, margin={"t": 80}, legend=legend)


def _thermometer(labels: Array, budgets: Sequence) -> list:
    """Return one bar per budget, as long as the answers per question that go to it."""
    spent = np.bincount(labels, minlength=len(budgets)) * budgets / labels.size
    hover = "%{x:.2f} answers per question<extra></extra>"
    pieces = zip(spent, budgets, budget_colours(len(budgets)), strict=True)
    return [
        bar([0], [answers], f"b = {b}", colour, sideways=True, hovertemplate=hover)
        for answers, b, colour in pieces
    ]


# The dual function as an envelope of lines, a cut simplex, every claim as a bar that passes or
# fails.


def dual_lines(
    prices: Array,
    accuracy: Array,
    cost: Array,
    oracle: Sequence[int],
    budget: float,
    start: int = 0,
) -> go.Figure:
    """Drag the price: every policy is a line, the dual function their upper envelope."""
    slope = budget - cost
    heights = accuracy[:, None] + slope[:, None] * prices
    top = heights.max(axis=0)
    ends = prices[[0, -1]]
    least = float(top.min())
    value = float(accuracy[slope >= 0].max())
    within = slope >= 0
    fig = go.Figure()
    fig.add_trace(_policy_lines(ends, heights[within], "policy within B", GREY))
    fig.add_trace(_policy_lines(ends, heights[~within], "policy beyond B", ORANGE))
    fig.add_trace(line(prices, top, "G(λ)", BLUE, width=4, hoverinfo="skip"))
    fig.add_trace(line(ends, [value, value], "V̂(B), the best within B", GREY, width=2, dash="dot"))

    def moving(i: int) -> list[go.Scatter]:
        touching = line(
            ends, heights[oracle[i], [0, -1]], "the oracle's line", GREEN, width=2.5, dash="dash"
        )
        hover = "λ = %{x:.3f}<br>G = %{y:.3f}<extra></extra>"
        dot = dots([prices[i]], [top[i]], colour=GREEN, size=13, hovertemplate=hover)
        return [touching, dot.update(marker_line={"width": 2, "color": "white"})]

    def notes(i: int) -> dict:
        gap = _note(
            f"gap {least - value:.3f}", x=1, y=(least + value) / 2, xanchor="right", yref="y"
        )
        text = (
            f"C̄ = {cost[oracle[i]]:.2f}<br>slope B − C̄ = {slope[oracle[i]]:+.2f}<br>G = "
            f"{top[i]:.3f}"
        )
        return {"annotations": [gap, _note(text, x=0.45, y=1, yanchor="top")]}

    drag(
        fig, [f"{price:.3f}" for price in prices], moving, "price λ = ", layout=notes, active=start
    )
    fig.add_hrect(value, least, fillcolor=GREY, opacity=0.25, line_width=0)
    height = float(np.ptp(top))
    fig.update_xaxes(title="price λ", range=[float(prices[0]), float(prices[-1])])
    fig.update_yaxes(
        title="accuracy", range=[value - 0.7 * height, float(top.max()) + 0.05 * height]
    )
    return fig.update_layout(height=580)


def _policy_lines(ends: Array, heights: Array, name: str, colour: str) -> go.Scatter:
    """Return the lines of some policies as one trace, with a gap between two lines."""
    gaps = np.full(len(heights), np.nan)
    x = np.tile([*ends, np.nan], len(heights))
    y = np.column_stack([heights[:, [0, -1]], gaps]).ravel()
    return line(x, y, name, colour, width=1, opacity=0.6, hoverinfo="skip")


def _note(text: str, x: float, y: float, **place) -> dict:
    """A note inside a plot, x and by default y in shares of the plot."""
    ground = {"bgcolor": "rgba(128, 128, 128, 0.2)", "borderpad": 3, "showarrow": False}
    return {
        "text": text,
        "x": x,
        "xref": "x domain",
        "y": y,
        "yref": "y domain",
        "align": "left",
        **ground,
        **place,
    }


def copies(
    prices: Array, dual: Array, counts: Sequence[int], values: Sequence[float], start: int = 0
) -> go.Figure:
    """Drag N: the dual function stays, the best accuracy climbs to its minimum, the gap closes."""
    least = float(dual.min())
    ends = prices[[0, -1]]
    gaps = least - np.asarray(values)
    bound = line(counts, [1 / n for n in counts], "1/N", GREY, dash="dot", width=2)
    parts = [
        [line(prices, dual, "G(λ)", BLUE, width=4)],
        [dots(counts, gaps, "gap", GREY, size=7), bound],
    ]
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


def claim_bars(fails: Mapping[str, float]) -> go.Figure:
    """Draw a bar per claim, with an orange end for the share of cases in which it fails."""
    rows = list(range(len(fails)))
    shares = np.array(list(fails.values()))
    fig = go.Figure()
    for parts, colour, outcome, written in (
        (1 - shares, BLUE, "holds", shares < 0.5),
        (shares, ORANGE, "fails", shares >= 0.5),
    ):
        text = [
            f"{outcome} in {part:.1%}" if part < 1 else f"{outcome} in all cases" for part in parts
        ]
        text = [words if here else "" for words, here in zip(text, written, strict=True)]
        inner: Style = {
            "text": text,
            "textposition": "inside",
            "insidetextanchor": "start",
            "width": 0.34,
        }
        inner |= {"textfont": {"color": "white", "size": 13}, "hoverinfo": "skip", "textangle": 0}
        fig.add_trace(bar(rows, parts, colour=colour, sideways=True, **inner))
    for row, claim in enumerate(fails):
        note = {"text": plain(claim), "showarrow": False, "align": "left", "font": {"size": 13}}
        fig.add_annotation(note | {"x": 0, "xanchor": "left", "y": row - 0.2, "yanchor": "bottom"})
    fig.update_xaxes(visible=False, range=[0, 1])
    fig.update_yaxes(visible=False, range=[len(fails) - 0.6, -0.85])
    return fig.update_layout(
        barmode="stack", height=20 + 66 * len(fails), showlegend=False, margin={"t": 8}
    )


def cut_simplex(cost: Sequence[float], budget: float) -> go.Figure:
    """Draw one question's mixtures of three columns: a triangle that the budget cuts."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    whole = corners[np.asarray(cost) <= budget]
    cuts = []
    around = []
    splits = []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        if cost[i] <= budget:
            around.append(corners[i])
        if (cost[i] - budget) * (cost[j] - budget) < 0:
            share = (budget - cost[i]) / (cost[j] - cost[i])
            cuts.append(corners[i] + share * (corners[j] - corners[i]))
            around.append(cuts[-1])
            splits.append(f"{1 - share:.0%} at cost {cost[i]:g}, {share:.0%} at cost {cost[j]:g}")
    x, y = corners[[0, 1, 2, 0]].T
    a, b = np.array([*around, around[0]]).T
    p, q = whole.T
    r, s = np.array(cuts).T
    filled: Style = {"fill": "toself", "fillcolor": faint(BLUE, 0.18), "hoverinfo": "skip"}
    split = dots(r, s, "vertex: two budgets, split", ORANGE, size=14, symbol="diamond")
    fig = go.Figure(
        [
            line(x, y, colour=GREY, width=2, hoverinfo="skip"),
            line(a, b, "affordable mixtures", BLUE, width=2, **filled),
            dots(p, q, "vertex: one budget", GREEN, size=14),
            split.update(hovertext=splits, hoverinfo="text"),
        ]
    )
    for (x, y), c, shift in zip(corners, cost, (-18, -18, 18), strict=True):
        fig.add_annotation(x=x, y=y, text=f"always cost {c:g}", showarrow=False, yshift=shift)
    fig.update_xaxes(visible=False, range=[-0.25, 1.25])
    return fig.update_yaxes(visible=False, range=[-0.14, 1.0], scaleanchor="x").update_layout(
        height=400
    )
