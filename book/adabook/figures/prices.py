"""Figures on prices: what a price makes questions buy, and how a budget finds its price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from adabook.figures.shapes import GREY, band, bar, dots, drag, level, line, panels
from adabook.figures.style import COLOURS, SERIES, faint
from adalib.colours import budget_colours
from adalib.evaluate.intervals import Interval
from adalib.solve.frontier import Frontier

BLUE, ORANGE, GREEN = COLOURS[:3]

Array = np.ndarray
Steps = tuple[Array, Array]  # the prices and the costs of a frontier

_PRICE_TITLE = "price λ"
_COST_TITLE = "average cost"
_TITLE_MARGIN = {"t": 80}  # room for a title that changes with a slider


# What questions buy as the price rises.


def ribbons(paths: Mapping[str, Steps], budgets: Sequence[int], highest: float) -> go.Figure:
    """Draw what questions buy as the price rises to the highest: a ribbon for each.

    A path is (prices, costs) of one question's own frontier."""
    end = 1.04 * highest
    fig = go.Figure(_ribbon_bars(paths, budgets, end))
    fig.update_xaxes(title=_PRICE_TITLE, range=[0, end])
    fig.update_yaxes(type="category", categoryorder="array", categoryarray=list(paths)[::-1])
    return fig.update_layout(
        height=520,
        barmode="overlay",
        bargap=0.25,
        margin={"t": 70},
        legend={"traceorder": "normal"},
    )


def _ribbon_bars(paths: Mapping[str, Steps], budgets: Sequence[int], end: float) -> list[go.Bar]:
    """Return a trace per budget: for each question the range of prices at which it buys it."""
    pieces: dict[int, list[tuple[str, float, float]]] = {b: [] for b in budgets}
    for name, (prices, costs) in paths.items():
        # The last price of a frontier is 0; a budget is bought from its own price up to the one
        # before.
        upper_prices = [end, *prices[:-1]]
        for low, high, cost in zip(prices, upper_prices, costs, strict=True):
            pieces[round(cost)].append((name, low, high))
    traces = []
    for b, colour in zip(budgets, budget_colours(len(budgets)), strict=True):
        names = tuple(name for name, _, _ in pieces[b])
        lows = np.array([low for _, low, _ in pieces[b]])
        highs = np.array([high for _, _, high in pieces[b]])
        ribbon = bar(
            names,
            (highs - lows).round(5),
            f"b = {b}",
            colour,
            sideways=True,
            base=lows.round(5),
            hovertemplate=f"%{{y}} buys {b}<br>from λ = %{{base:.3f}}<extra></extra>",
        )
        traces.append(ribbon)
    return traces


# Average cost against the price.


def staircases(steps: Mapping[str, Steps]) -> go.Figure:
    """Draw average cost against the price, a staircase (prices, costs) per setting."""
    end = 1.05 * max(float(np.max(lam)) for lam, _ in steps.values())
    fig = go.Figure(
        [
            _stairs(lam, cost, end, name, colour)
            for (name, (lam, cost)), colour in zip(steps.items(), SERIES, strict=False)
        ]
    )
    fig.update_xaxes(title=_PRICE_TITLE, range=[0, end])
    fig.update_yaxes(title=_COST_TITLE, rangemode="tozero")
    return fig.update_layout(height=380, margin={"t": 40})


def _stairs(lam: Array, cost: Array, end: float, name: str, colour: str) -> go.Scatter:
    """A staircase in the order of rising prices, drawn on to the right edge."""
    order = np.argsort(lam, kind="stable")
    prices = np.asarray(lam, dtype=float)[order]
    costs = np.asarray(cost, dtype=float)[order]
    return line(
        np.append(prices, end),
        np.append(costs, costs[-1]),
        name,
        colour,
        width=2.5,
        shape="hv",
        hovertemplate="λ = %{x:.4f}: %{y:.3f}",
    )


# From a budget to its price.


def staircase_target(lam: Array, cost: Array, budget: float) -> go.Figure:
    """Average cost against the price, and the budget aimed at as a dotted line."""
    end = 1.6 * float(np.max(lam))
    fig = go.Figure(_stairs(lam, cost, end, "average cost", BLUE))
    level(
        fig,
        y=budget,
        dash="dot",
        colour=ORANGE,
        annotation={"text": f"B = {budget:g}", "font": {"color": ORANGE}},
        annotation_position="top right",
    )
    fig.update_xaxes(title=_PRICE_TITLE, range=[0, end])
    fig.update_yaxes(title=_COST_TITLE, rangemode="tozero")
    return fig.update_layout(height=320, showlegend=False)


def search(path: Array, lam: Array, cost: Array, budget: float, steps: int = 20) -> go.Figure:
    """Play the search step by step: a magnified staircase of the prices still in question."""
    end = float(path["hi"][0])
    shown = path[:steps]
    hover = "λ = %{x:.6f}: %{y:.4f}<extra></extra>"

    def bracket(i: int) -> list[go.Scatter]:
        step = shown[i]
        style = {"size": 14, "hovertemplate": hover}
        return [
            dots([step["lo"]], [step["cost_lo"]], "price too low", ORANGE, **style),
            dots([step["hi"]], [step["cost_hi"]], "price high enough", BLUE, **style),
        ]

    def magnified(i: int) -> dict:
        step = shown[i]
        return {
            "xaxis": {"range": _widened(step["lo"], step["hi"], 0.15)},
            # The higher price has the lower cost.
            "yaxis": {"range": _widened(step["cost_hi"], step["cost_lo"], 0.2)},
        }

    titles = [f"λ between {step['lo']:.5f} and {step['hi']:.5f}" for step in shown]
    fig = go.Figure(_stairs(lam, cost, end, "", BLUE))
    drag(fig, range(1, len(shown) + 1), bracket, "step ", titles=titles, layout=magnified)
    level(fig, y=budget, dash="dot", colour=ORANGE)
    fig.update_xaxes(title=_PRICE_TITLE, nticks=4, tickformat="~g")
    fig.update_yaxes(title=_COST_TITLE, nticks=6)
    # Room between title and ticks, which grow longer from step to step.
    fig.update_yaxes(title_standoff=32)
    return fig.update_layout(height=430, margin=_TITLE_MARGIN)


def _widened(low: float, high: float, share: float) -> list[float]:
    """A range with a share of its length added at both ends."""
    room = share * (high - low)
    return [low - room, high + room]


def tangent(
    budgets: Sequence,
    cost: Array,
    acc: Array,
    corners: Sequence[int],
    prices: Array,
    winners: Array,
) -> go.Figure:
    """Drag the price: a line of that slope comes down on one question's curve to the best buy.

    ``corners`` are the columns on the envelope, ``winners`` the column bought at each price.
    """
    ends = np.array([0.0, float(cost[-1]) * 1.16])

    def touching(i: int) -> list[go.Scatter]:
        x = cost[winners[i]]
        y = acc[winners[i]]
        slope = line(ends, y + prices[i] * (ends - x), "slope λ", ORANGE, width=2)
        return [slope, dots([x], [y], "winner", ORANGE, size=16, symbol="star")]

    titles = [
        f"λ = {price:g}: the winner is b = {budgets[winner]}"
        for price, winner in zip(prices, winners, strict=True)
    ]
    envelope = line(cost[list(corners)], acc[list(corners)], "envelope", BLUE)
    fig = go.Figure([envelope, _curve_points(budgets, cost, acc, corners)])
    drag(fig, prices, touching, "λ = ", titles=titles, active=len(prices) // 2)
    low = float(acc.min())
    high = float(acc.max())
    fig.update_xaxes(title="cost", range=ends)
    fig.update_yaxes(title="accuracy", range=[low - 0.4 * (high - low), high + 0.35 * (high - low)])
    return fig.update_layout(height=460, margin=_TITLE_MARGIN)


def _curve_points(budgets: Sequence, cost: Array, acc: Array, corners: Sequence[int]) -> go.Scatter:
    """The points of a question's curve with their budgets; those below the envelope are grey."""
    colours = []
    places = []
    for column in range(len(cost)):
        on_envelope = column in corners
        colours.append(BLUE if on_envelope else GREY)
        # Neighbours on a narrow screen: a corner has its number above, a point under the envelope
        # below.
        places.append("top center" if on_envelope else "bottom center")
    return dots(
        cost,
        acc,
        "the question's curve",
        colours,
        size=11,
        showlegend=False,
        mode="markers+text",
        text=[str(b) for b in budgets],
        textposition=places,
    )


# The whole frontier at once.


def oracle_and_mix(
    oracle: Frontier,
    mix: Frontier,
    targets: Array,
    held_out: Interval,
    cost: Array,
    mean_curve: Array,
) -> go.Figure:
    """Draw accuracy against average cost: the oracle, the best mix, and the same budget for all.

    ``held_out`` has the oracle's accuracy on other answers at each of ``targets``.
    """
    names = [f"{c:g}" for c in cost]
    fig = go.Figure(
        [
            line(oracle.cost, oracle.accuracy, "oracle, same answers", GREEN, dash="dot", width=2),
            band(targets, held_out.low, held_out.high, GREEN),
            line(targets, held_out.mean, "oracle, other answers", GREEN),
            line(mix.cost, mix.accuracy, "best mix", GREY, dash="dash"),
            dots(
                cost,
                mean_curve,
                "the same for all",
                GREY,
                size=11,
                symbol="diamond",
                mode="markers+text",
                text=names,
                textposition="bottom center",
            ),
        ]
    )
    ends = [-0.08, np.log10(cost[-1]) + 0.1]
    title = "answers per question, on average"
    fig.update_xaxes(type="log", title=title, range=ends, tickvals=cost, ticktext=names)
    return fig.update_yaxes(title="accuracy").update_layout(height=480)


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
    bought = [_bought(lam, cost, target) for target in targets]

    def filled(i: int) -> list:
        target_above = line([targets[i]] * 2, [0, top], colour=ORANGE, width=2, dash="dash")
        target_below = line([targets[i]] * 2, [-0.6, 0.6], colour=ORANGE, width=2, dash="dash")
        thermometer = _thermometer(labels[i], budgets)
        return [_area(*bought[i]), target_above, *thermometer, target_below]

    titles = [_gain_title(*steps, first_accuracy) for steps in bought]
    first_shown = next((i for i, target in enumerate(targets) if target >= 2), 0)
    rows = (1, 1, *[2] * len(budgets), 2)
    fig = panels([[], []], spacing=0.24, row_heights=[0.76, 0.24])
    drag(fig, targets, filled, "B = ", rows=rows, titles=titles, active=first_shown)
    staircase = line(cost.round(5), lam.round(5), colour=BLUE, width=2.5, shape="hv")
    fig.add_trace(staircase, row=1, col=1)
    fig.update_xaxes(range=[0, end])
    fig.update_yaxes(title=_PRICE_TITLE, range=[0, top], row=1)
    fig.update_xaxes(title="answers per question, on average", row=2)
    fig.update_yaxes(visible=False, range=[-0.7, 0.7], row=2)
    # The legend belongs to the thermometer, and stands above it.
    legend = {"y": fig.layout.yaxis2.domain[1] + 0.02, "font": {"size": 12}, "traceorder": "normal"}
    return fig.update_layout(barmode="stack", height=580, margin=_TITLE_MARGIN, legend=legend)


def _bought(lam: Array, cost: Array, target: float) -> Steps:
    """The steps of a frontier up to an average cost: their prices, and where each begins and ends.

    There is one cost more than prices, since the last step ends at the target.
    """
    steps = int(np.searchsorted(cost, target, side="right"))
    return lam[:steps], np.append(cost[:steps], target)


def _area(prices: Array, costs: Array) -> go.Scatter:
    """The area under the steps that were bought, which is the accuracy gained."""
    heights = np.append(prices, prices[-1])
    return line(
        costs.round(5),
        heights.round(5),
        width=0,
        shape="hv",
        fill="tozeroy",
        fillcolor=faint(ORANGE, 0.45),
        hoverinfo="skip",
    )


def _gain_title(prices: Array, costs: Array, first_accuracy: float) -> str:
    """The price of the last step that was bought, and the accuracy with all of them."""
    gain = float(np.diff(costs) @ prices)
    return (
        f"price {prices[-1]:.3f}, accuracy {first_accuracy:.3f} + {gain:.3f} = "
        f"{first_accuracy + gain:.3f}"
    )


def _thermometer(labels: Array, budgets: Sequence) -> list[go.Bar]:
    """Return one bar per budget, as long as the answers per question that go to it."""
    spent = np.bincount(labels, minlength=len(budgets)) * budgets / labels.size
    hover = "%{x:.2f} answers per question<extra></extra>"
    return [
        bar([0], [answers], f"b = {b}", colour, sideways=True, hovertemplate=hover)
        for answers, b, colour in zip(spent, budgets, budget_colours(len(budgets)), strict=True)
    ]
