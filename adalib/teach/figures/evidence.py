"""Figures of the chapters on results: the claims, and what remains of them on unseen data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from adalib.colours import MEANINGS, budget_colours
from adalib.evaluate.intervals import in_points
from adalib.teach.figures import COLOURS, plain
from adalib.teach.figures.shapes import GREY, bar, dots, drag, level, line, panels

#: The same in every figure: what is claimed in sample, what is left of it on other answers, what
#: is true.
CLAIMED = MEANINGS["claimed"]
HONEST = MEANINGS["policy"]
TRUE = MEANINGS["oracle"]
#: One colour for a policy, wherever it appears.
POLICY = {
    "oracle": MEANINGS["oracle"],
    "priced": MEANINGS["price"],
    "curve": MEANINGS["policy"],
    "label": MEANINGS["label-policy"],
    "noise": MEANINGS["noise"],
    "mix": MEANINGS["mix"],
}
_MARKS = ("circle", "diamond", "square")  # of policies that share a colour
_COSTS = {"type": "log", "tickvals": [1, 1.5, 2, 3, 4, 6, 8, 12, 16]}
_COSTS |= {"ticktext": [f"{cost:g}" for cost in _COSTS["tickvals"]]}


def means(
    x: Sequence,
    groups: Mapping[str, Mapping[str, ArrayLike]],
    x_title: str,
    y_title: str,
    *,
    colours: Sequence[str] = (CLAIMED, HONEST, TRUE),
    digits: str = ".2f",
    points: bool = False,
) -> go.Figure:
    """Draw means with intervals in panels one above the other, with one scale and the same lines.

    Gains are in points.
    """
    scale = 100 if points else 1
    values = [
        [scale * np.asarray(part, dtype=float) for part in group.values()]
        for group in groups.values()
    ]
    parts = [
        [
            line(x, part, name, colour, marks=True)
            for name, part, colour in zip(group, own, colours, strict=False)
        ]
        for group, own in zip(groups.values(), values, strict=True)
    ]
    fig = panels(parts, list(groups))
    low = min(0.0, np.nanmin(values))
    high = np.nanmax(values)
    room = 0.06 * (high - low)
    fig.update_xaxes(title=x_title, row=len(groups))
    fig.update_yaxes(
        title=y_title, tickformat="+.0f" if points else digits, range=[low - room, high + room]
    )
    return fig.update_layout(
        height=140 + 220 * len(groups), margin={"t": 70}, legend={"y": 1 + 0.16 / len(groups)}
    )


# How much an oracle flatters itself.


class Worth(NamedTuple):
    """What one position of the slider of `drag_samples` shows."""

    claimed: Sequence[float]
    worth: Sequence[float]


def drag_samples(
    stops: Mapping[int, Worth], targets: Sequence[float], best: Sequence[float], active: int = 0
) -> go.Figure:
    """Drag R: the oracle's claim, its labels' true accuracy and the best possible, by budget."""
    shown = list(stops.values())

    def moving(i: int) -> list:
        return [
            line(targets, shown[i].claimed, "claimed", CLAIMED, marks=True),
            line(targets, shown[i].worth, "worth", POLICY["oracle"], marks=True),
        ]

    fig = go.Figure(line(targets, best, "best possible", GREY, dash="dash"))
    titles = [
        f"B = {targets[-1]:g}: claims {stop.claimed[-1]:.3f}, worth {stop.worth[-1]:.3f}"
        for stop in shown
    ]
    drag(fig, list(stops), moving, "answers per question, R = ", titles=titles, active=active)
    low = min(min(stop.worth) for stop in shown)
    high = max(max(stop.claimed) for stop in shown)
    fig.update_xaxes(title="average budget B")
    fig.update_yaxes(title="accuracy", range=[low - 0.005, high + 0.005], tickformat=".2f")
    return fig.update_layout(height=480, margin={"t": 90})


# What a text tells, and what it is worth.


def gains(
    places: Sequence[str],
    groups: Mapping[str, Mapping[str, ArrayLike]],
    policies: Mapping[str, str] | None = None,
) -> go.Figure:
    """Draw gains over the best mix at equal cost, in points with intervals, a panel per group.

    ``policies`` says whose colour a name has that is no policy's. Within the band a gain is less
    than a point."""
    whose = dict(policies or {})
    parts: list[list[go.Scatter]] = []
    for group in groups.values():
        seen: list[str] = []
        parts.append([])
        for name, estimate in group.items():
            policy = whose.get(name, name)
            mark = {
                "size": 9,
                "symbol": _MARKS[seen.count(policy)],
                "hovertemplate": "%{x}: %{y:+.1f} points",
            }
            parts[-1].append(
                dots(places, 100 * np.asarray(estimate, dtype=float), name, POLICY[policy], **mark)
            )
            seen.append(policy)
    fig = panels(parts, list(groups), 0.1 if len(groups) < 4 else 0.07)
    fig.add_hrect(
        y0=-1, y1=1, fillcolor=GREY, opacity=0.18, line_width=0, layer="below", row="all", col=1
    )
    level(fig, y=0, dash="solid", row="all", col=1)
    ends = 100 * np.array([list(group.values()) for group in groups.values()], dtype=float)
    span = [min(np.nanmin(ends), -1) - 0.4, max(np.nanmax(ends), 1) + 0.4]
    fig.update_yaxes(title="points", tickformat="+.0f", dtick=2, zeroline=False, range=span)
    fig.update_layout(scattermode="group", scattergap=0.4, height=150 + 210 * len(groups))
    return fig.update_layout(margin={"t": 70}, legend={"y": 1 + 0.14 / len(groups)})


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

    def moving(p: int) -> list[go.Scatter]:
        learned = offered[predicted[p]]
        best = offered[measured[p]]
        between = [
            end
            for pair in zip(learned.tolist(), best.tolist(), strict=True)
            for end in (*pair, None)
        ]
        ring = {
            "color": "rgba(0, 0, 0, 0)",
            "size": 20,
            "line": {"color": POLICY["oracle"], "width": 3},
        }
        return [
            line(between, np.repeat(labels, 3), colour=GREY, hoverinfo="skip"),
            dots(best, labels, "oracle", marker=ring),
            dots(learned, labels, "predicted", POLICY["curve"], size=11),
        ]

    titles = [f"{same} of {len(labels)} agree" for same in (predicted == measured).sum(axis=1)]
    fig = drag(go.Figure(), prices, moving, "λ = ", titles=titles, active=active)
    ends = [np.log10(offered[0] / 1.4), np.log10(offered[-1] * 1.4)]
    ticks = {"tickvals": list(budgets), "ticktext": [str(b) for b in budgets]}
    fig.update_xaxes(title="budget b", type="log", range=ends, **ticks)
    fig.update_yaxes(
        categoryorder="array", categoryarray=labels[::-1], range=[-0.6, len(labels) - 0.4]
    )
    return fig.update_layout(height=540, margin={"t": 96}, legend={"y": 1.01})


# Printed numbers next to ours, the frontiers, and what is left of a gain on questions not seen.


def on_the_line(
    groups: Mapping[str, tuple[ArrayLike, ArrayLike]], x_title: str, y_title: str
) -> go.Figure:
    """Draw pairs of values as dots with the line of equality, one panel per quantity."""
    fig = make_subplots(
        cols=len(groups), subplot_titles=[plain(name) for name in groups], horizontal_spacing=0.16
    )
    for number, pair in enumerate(groups.values(), start=1):
        x, y = (np.asarray(values, dtype=float) for values in pair)
        ends = np.array([min(x.min(), y.min()), max(x.max(), y.max())])
        span = ends + 0.06 * np.ptp(ends) * np.array([-1, 1])
        fig.add_trace(
            line(span, span, colour=GREY, width=2, dash="dash", hoverinfo="skip"), row=1, col=number
        )
        fig.add_trace(dots(x, y, "", POLICY["curve"], size=6, opacity=0.5), row=1, col=number)
        fig.update_xaxes(title=x_title, tickformat=".1f", nticks=5, row=1, col=number)
        fig.update_yaxes(
            title=y_title if number == 1 else None, tickformat=".1f", row=1, col=number
        )
    return fig.update_layout(height=360, margin={"t": 50})


def slopes(
    groups: Mapping[str, Mapping[str, tuple[float, float]]],
    ends: tuple[str, str],
    colours: Sequence[str],
) -> go.Figure:
    """Draw slope charts, a panel per group and a line per name, with the differences in points."""
    rows = -(-len(groups) // 2)
    names = [plain(name) for name in groups]
    fig = make_subplots(
        rows, 2, subplot_titles=names, horizontal_spacing=0.06, vertical_spacing=0.16
    )
    for number, group in enumerate(groups.values()):
        place = {"row": number // 2 + 1, "col": number % 2 + 1}
        for (name, pair), colour in zip(group.items(), colours, strict=True):
            trace = line(
                ends, pair, name, colour, marks=True, mode="lines+markers+text", legendgroup=name
            )
            trace.hovertemplate = "%{x}: %{y:.3f}"
            labels = [f"{pair[0]:.3f}", in_points(pair[1] - pair[0])]
            sides = ["middle left", "middle right"]
            trace.update(text=labels, textposition=sides, showlegend=number == 0, marker_size=9)
            fig.add_trace(trace, **place)
        values = np.array(list(group.values()))
        room = 0.15 * np.ptp(values)
        fig.update_yaxes(range=[values.min() - room, values.max() + room], **place)
    fig.update_yaxes(showticklabels=False, showgrid=False).update_xaxes(range=[-0.75, 1.65])
    return fig.update_layout(
        height=130 + 230 * rows, margin={"t": 80}, legend={"y": 1 + 0.2 / rows}
    )


def strips(rows: Mapping[str, ArrayLike], settings: Sequence[str]) -> go.Figure:
    """Draw values in points as dots, a strip per name and a colour per setting.

    ``settings`` has one entry per dot.
    """
    names = list(dict.fromkeys(settings))
    parts = [
        [
            dots(
                100 * np.asarray(values)[[own == name for own in settings]],
                [-k] * settings.count(name),
                name,
                colour,
                hovertemplate="%{x:+.1f} points",
            )
            for k, (name, colour) in enumerate(zip(names, COLOURS, strict=False))
        ]
        for values in rows.values()
    ]
    fig = panels(parts, list(rows), 0.09, shared_xaxes=True)
    fig.add_vrect(
        x0=-1, x1=1, fillcolor=GREY, opacity=0.18, line_width=0, layer="below", row="all", col=1
    )
    level(fig, x=0, dash="solid", row="all", col=1)
    fig.update_yaxes(
        showticklabels=False, showgrid=False, zeroline=False, range=[-len(names) + 0.2, 0.8]
    )
    fig.update_xaxes(tickformat="+.1f", zeroline=False).update_xaxes(title="points", row=len(rows))
    return fig.update_layout(height=110 + 110 * len(rows), margin={"t": 90}, legend={"y": 1.09})


class Points(NamedTuple):
    """Tabulate a policy by budget: cost, accuracy, and gain over the best mix with its interval."""

    cost: Sequence[float]
    accuracy: Sequence[float]
    gain: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]

    def in_points(self) -> np.ndarray:
        """The gain and the ends of its interval, in points."""
        return 100 * np.array([self.gain, self.low, self.high])


def real_frontiers(
    settings: Mapping[str, tuple[Mapping[str, Points], Sequence[float], Sequence[float]]],
) -> go.Figure:
    """Draw held-out real settings with a slider: accuracy with the hull above, gains below.

    The hull is a pair (cost, accuracy); gains are over the best random mix.
    """
    shown = list(settings.values())

    def moving(i: int) -> list[go.Scatter]:
        policies, cost, accuracy = shown[i]
        made = [line(cost, accuracy, "best mix", GREY)]
        for name, along in policies.items():
            curve = line(along.cost, along.accuracy, name, POLICY[name], marker_size=9)
            gain = line(along.cost, along.in_points(), "", POLICY[name], marks=True, marker_size=7)
            made += (
                [curve, gain]
                if name == "oracle"
                else [t.update(mode="markers") for t in (curve, gain)]
            )
        return made

    def span(i: int) -> dict:
        policies, _, accuracy = shown[i]
        top = max(max(along.accuracy) for along in policies.values())
        ends = np.array([along.in_points() for along in policies.values()])
        return {
            "yaxis": {"range": [min(accuracy) - 0.01, top + 0.02]},
            "yaxis2": {"range": [min(ends.min(), 0) - 0.4, ends.max() + 0.4], "tickformat": "+.0f"},
        }

    fig = panels(
        [[], []], ["accuracy, held out", "gain over the best mix in points, 95% interval"], 0.13
    )
    level(fig, y=0, dash="solid", width=3, row=2, col=1)
    rows = [1, *[1, 2] * len(shown[0][0])]
    drag(fig, [plain(name) for name in settings], moving, "setting: ", rows=rows, layout=span)
    fig.update_xaxes(range=[np.log10(0.84), np.log10(17)], **_COSTS).update_xaxes(
        title="average cost", row=2
    )
    fig.update_yaxes(tickformat=".2f", row=1)
    return fig.update_layout(height=720, margin={"t": 90}, legend={"y": 1.06})


# Who gets the budget, next to a population that nothing helps.


class Dots(NamedTuple):
    """One panel of `scatter`: a dot per question, and the mean budget of tenths."""

    acc1: np.ndarray
    column: np.ndarray
    most: np.ndarray  # largest gain of the curve over its start
    tenths: pd.DataFrame  # from by_difficulty, with 10 bins


def scatter(groups: Mapping[str, Dots], budgets: Sequence[int], seed: int = 0) -> go.Figure:
    """Draw every question's budget over its accuracy at one answer, with a line through tenths.

    Larger dots could gain more.
    """
    rng = np.random.default_rng(seed)
    place = np.log2(np.asarray(budgets, dtype=float))
    parts = []
    for own in groups.values():
        # Many questions share a point: a little jitter lets them be seen.
        y = (place[own.column] + rng.uniform(-0.16, 0.16, own.column.size)).round(3)
        size = {
            "size": 4 + 14 * np.clip(own.most, 0, 1),
            "line": {"width": 0},
            "color": HONEST,
            "opacity": 0.35,
        }
        tenth = own.tenths["acc1"].round(4), np.log2(own.tenths["budget"])
        hover_text = "Acc(x,1) %{x:.2f}, mean budget %{customdata}<extra></extra>"
        hover = {"customdata": own.tenths["budget"].round(2), "hovertemplate": hover_text}
        questions = dots(own.acc1.round(4), y, "a question", marker=size, hoverinfo="skip")
        parts.append([questions, line(*tenth, "mean of a tenth", CLAIMED, marks=True, **hover)])
    fig = panels(parts, list(groups))
    fig.update_xaxes(range=[-0.04, 1.04]).update_xaxes(title="estimated Acc(x, 1)", row=len(groups))
    fig.update_yaxes(
        title="budget",
        tickvals=place,
        ticktext=[str(b) for b in budgets],
        range=[-0.4, place[-1] + 0.4],
    )
    return fig.update_layout(height=140 + 230 * len(groups), margin={"t": 70}, legend={"y": 1.08})


def budgets_by_level(
    stops: Mapping[float, Mapping[str, pd.DataFrame]], budgets: Sequence[int], active: int = 0
) -> go.Figure:
    """Draw the share of each level at each budget, a panel per policy; drag the budget.

    The shares are those that `level_shares` returns.
    """
    shown = list(stops.values())
    colours = budget_colours(len(budgets))
    count = len(shown[active])

    def stacks(i: int) -> list[go.Bar]:
        return [
            bar(
                [f"level {level}" for level in shares.index],
                shares[column],
                f"b={b}",
                colours[column],
                sideways=True,
            )
            .update(
                hovertemplate=f"%{{y}}: %{{x:.0%}} get b={b}<extra></extra>", legendgroup=f"b={b}"
            )
            .update(showlegend=number == 0)
            for number, shares in enumerate(shown[i].values())
            for column, b in enumerate(budgets)
        ]

    fig = panels([[]] * count, list(shown[active]), 0.4 / count)
    rows = np.repeat(range(1, count + 1), len(budgets)).tolist()
    drag(fig, stops, stacks, "average budget B = ", rows=rows, active=active)
    fig.update_xaxes(range=[0, 1], tickformat=".0%", dtick=0.25, showticklabels=False)
    fig.update_xaxes(title="share of the level", showticklabels=True, row=count)
    fig.update_yaxes(autorange="reversed", showgrid=False)
    legend = {"y": 1.1, "traceorder": "normal"}
    return fig.update_layout(
        barmode="stack", height=180 + 122 * count, margin={"t": 90}, legend=legend
    )


def rows_of_dots(
    rows: Sequence[str],
    series: Mapping[str, ArrayLike],
    x_title: str,
    colours: Sequence[str] = COLOURS,
) -> go.Figure:
    """Draw estimates (mean, low, high) in points, a row per name and a dot per series.

    The largest mean is on top, and a line marks zero.
    """
    values = {name: 100 * np.asarray(estimate, dtype=float) for name, estimate in series.items()}
    order = np.argsort(-np.mean([mean for mean, _, _ in values.values()], axis=0), kind="stable")
    at = np.arange(len(rows))
    shifts = np.linspace(-0.27, 0.27, len(series))
    fig = go.Figure()
    level(fig, x=0, dash="solid")
    for (name, estimate), shift, colour in zip(values.items(), shifts, colours, strict=False):
        hover = {"hovertemplate": f"{plain(name)}: %{{x:+.2f}} points<extra></extra>"}
        fig.add_trace(dots(estimate[:, order], at + shift, name, colour, size=10, **hover))
    fig.update_xaxes(title=x_title, tickformat="+.1~f", zeroline=False)
    names = [plain(rows[place]) for place in order]
    fig.update_yaxes(
        tickvals=at, ticktext=names, range=[len(rows) - 0.45, -0.55], showgrid=False, zeroline=False
    )
    return fig.update_layout(height=130 + (30 + 16 * len(series)) * len(rows))
