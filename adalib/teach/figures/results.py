"""Figures of chapter 7: printed beside ours, the frontiers, and what is left of a gain on questions not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adalib.teach.figures.style import COLOURS, error_bars, hundredfold, plain, slider

__all__ = [
    "Points",
    "both_ways",
    "differences",
    "drag_budget",
    "gain_dots",
    "headline",
    "on_the_line",
    "real_frontiers",
    "simulated_frontiers",
]

# One colour a policy in every figure of the chapter; what is in-sample is orange.
CLAIMED, ORACLE, CURVE, LABEL = COLOURS[1], COLOURS[2], COLOURS[0], COLOURS[5]
NOISE, MIX, FIXED, RANDOM = COLOURS[3], COLOURS[6], COLOURS[4], COLOURS[3]
_POLICY = {"oracle": ORACLE, "curve": CURVE, "label": LABEL, "noise": NOISE}
_TICKS = {"tickvals": [1, 1.5, 2, 3, 4, 6, 8, 12, 16], "ticktext": ["1", "1.5", "2", "3", "4", "6", "8", "12", "16"]}


class Points(NamedTuple):
    """A policy along the budgets: realised cost, accuracy, and gain over the best mix with its interval."""

    cost: Sequence[float]
    accuracy: Sequence[float]
    gain: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def headline(settings: Sequence[str], gains: Mapping[str, Sequence[float]]) -> go.Figure:
    """Gains in percentage points, one group of bars a setting; the first name is what the paper prints."""
    fig = go.Figure()
    for (name, values), colour in zip(gains.items(), (MIX, CLAIMED), strict=True):
        points = 100 * np.asarray(values, dtype=float)
        text = [f"{value:.1f}" for value in points]
        fig.add_bar(x=list(settings), y=points, text=text, name=plain(name), marker_color=colour)
    fig.update_yaxes(title="gain over Fixed, points")
    return fig.update_layout(barmode="group", height=340)


def differences(
    methods: Sequence[str],
    settings: Sequence[str],
    parts: Mapping[str, tuple[np.ndarray, float]],
) -> go.Figure:
    """Ours minus printed, a dot a cell; ``parts`` hold (values by method and setting and target, tolerance)."""
    fig = make_subplots(rows=len(parts), subplot_titles=[plain(part) for part in parts], vertical_spacing=0.14)
    spread = np.linspace(0.27, -0.27, len(settings))
    for row, (values, room) in enumerate(parts.values(), start=1):
        for s, (setting, colour) in enumerate(zip(settings, COLOURS, strict=False)):
            fig.add_scatter(
                x=values[:, s].ravel(),
                y=np.repeat(np.arange(len(methods)) + spread[s], values.shape[2]),
                mode="markers",
                name=plain(setting),
                legendgroup=setting,
                showlegend=row == 1,
                marker={"color": colour, "size": 8, "opacity": 0.8},
                row=row,
                col=1,
            )
        fig.add_vrect(x0=-room, x1=room, fillcolor=MIX, opacity=0.15, line_width=0, row=row, col=1)
        fig.update_xaxes(range=[-1.2 * room, 1.2 * room], row=row, col=1)
    fig.update_xaxes(title="ours minus printed", row=len(parts))
    fig.update_yaxes(
        tickvals=list(range(len(methods))), ticktext=list(methods), autorange="reversed", zeroline=False, showgrid=False
    )
    return fig.update_layout(height=640, margin={"t": 90}, legend={"y": 1.06})


def on_the_line(
    panels: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    settings: Sequence[str],
    x_title: str,
    y_title: str = "printed",
) -> go.Figure:
    """Printed values against what one hypothesis says, a dot a cell, and the line where they are equal."""
    fig = make_subplots(rows=len(panels), subplot_titles=[plain(name) for name in panels], vertical_spacing=0.2)
    for row, (x, y) in enumerate(panels.values(), start=1):
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        ends = [min(x.min(), y.min()), max(x.max(), y.max())]
        margin = 0.06 * (ends[1] - ends[0])
        span = [ends[0] - margin, ends[1] + margin]
        line = {"color": MIX, "width": 2, "dash": "dash"}
        fig.add_scatter(x=span, y=span, mode="lines", line=line, showlegend=False, row=row, col=1)
        for setting, colour in zip(dict.fromkeys(settings), COLOURS, strict=False):
            here = np.array([s == setting for s in settings])
            fig.add_scatter(
                x=x[here],
                y=y[here],
                mode="markers",
                name=plain(setting),
                legendgroup=setting,
                showlegend=row == 1,
                marker={"color": colour, "size": 11, "opacity": 0.8},
                row=row,
                col=1,
            )
    fig.update_xaxes(title=x_title, tickformat=".2f")
    fig.update_yaxes(title=y_title, tickformat=".2f")
    return fig.update_layout(height=720, margin={"t": 90}, legend={"y": 1.06})


def _switch(frames: Mapping[str, tuple[list, dict]], fig: go.Figure, places: Sequence[int], prefix: str) -> go.Figure:
    """Put the first frame's traces into the figure and a slider below that goes through all of them."""
    first, layout = next(iter(frames.values()))
    for trace, row in zip(first, places, strict=True):
        fig.add_trace(trace, **({} if row is None else {"row": row, "col": 1}))
    numbers = list(range(len(first)))
    fig.frames = [go.Frame(data=d, name=name, traces=numbers, layout=moved) for name, (d, moved) in frames.items()]
    # Shorter than the figure, so that the names at its ends have room.
    return fig.update_layout(**layout, sliders=[{**slider(list(frames), prefix), "x": 0.07, "len": 0.84}])


def simulated_frontiers(settings: Mapping[str, Mapping[str, Sequence[float]]]) -> go.Figure:
    """Accuracy against the average budget on simulated settings, chosen by a slider: claims, truth and baselines."""

    def traces(found: Mapping[str, Sequence[float]]) -> list:
        def line(x: str, y: str, name: str, colour: str, **more) -> go.Scatter:
            style = {"color": colour, "width": 3, **more.pop("line", {})}
            return go.Scatter(x=list(found[x]), y=list(found[y]), name=name, mode="lines", line=style, **more)

        return [
            line("budget", "claimed", "oracle, in-sample", CLAIMED),
            line("learned_cost", "learned", "noise, our reconstruction", CLAIMED, line={"dash": "dot"}),
            line("budget", "oracle", "best possible", ORACLE),
            line("budget", "mix", "best mix", MIX),
            line("budget", "random", "Random", RANDOM, line={"width": 2, "dash": "dash"}),
            line("budget", "fixed", "Fixed", FIXED, line={"width": 2, "shape": "hv"}),
        ]

    def span(found: Mapping[str, Sequence[float]]) -> dict:
        low, high = min(found["fixed"]), max(found["claimed"])
        room = 0.08 * (high - low)
        return {"yaxis": {"range": [low - room, high + room]}}

    frames = {name: (traces(found), span(found)) for name, found in settings.items()}
    fig = go.Figure().update_layout(height=500, margin={"t": 90})
    fig.update_xaxes(title="average cost", type="log", range=[np.log10(0.97), np.log10(16.5)], **_TICKS)
    fig.update_yaxes(title="accuracy (simulated)", tickformat=".3f")
    return _switch(frames, fig, [None] * 6, "simulated setting: ")


def real_frontiers(settings: Mapping[str, tuple[Mapping[str, Points], Sequence[float], Sequence[float]]]) -> go.Figure:
    """Held out, real settings, chosen by a slider: accuracy above, gain over the best mix with intervals below.

    Each setting is its policies and the hull of the uniform budgets (cost, accuracy).
    """

    def traces(found: tuple) -> list:
        policies, cost, accuracy = found
        made = [
            go.Scatter(x=list(cost), y=list(accuracy), name="best mix", mode="lines", line={"color": MIX, "width": 3})
        ]
        for name, points in policies.items():
            mode, colour = "lines" if name == "oracle" else "markers", _POLICY[name]
            style = {"mode": mode, "line": {"color": colour, "width": 3}, "marker": {"color": colour, "size": 9}}
            title = "oracle, cross-fitted" if name == "oracle" else name
            made.append(go.Scatter(x=list(points.cost), y=list(points.accuracy), name=title, **style))
            gain = hundredfold((points.gain, points.low, points.high))
            style["mode"] = "lines+markers" if name == "oracle" else "markers"
            style["marker"] = {"color": colour, "size": 7}
            error = error_bars(*gain)
            made.append(go.Scatter(x=list(points.cost), y=gain[0], error_y=error, showlegend=False, **style))
        return made

    def span(found: tuple) -> dict:
        policies, _, accuracy = found
        top = max(max(points.accuracy) for points in policies.values())
        low = min(accuracy)
        ends = hundredfold([min(min(p.low) for p in policies.values()), max(max(p.high) for p in policies.values())])
        return {
            "yaxis": {"range": [low - 0.01, top + 0.02]},
            "yaxis2": {"range": [min(ends[0], 0) - 0.4, ends[1] + 0.4], "tickformat": "+.0f"},
        }

    frames = {plain(name): (traces(found), span(found)) for name, found in settings.items()}
    fig = make_subplots(
        rows=2,
        subplot_titles=["accuracy, held out", "gain over the best mix in points, 95% interval"],
        vertical_spacing=0.13,
    )
    fig.add_hline(y=0, line={"color": MIX, "width": 3}, row=2, col=1)
    fig.update_xaxes(type="log", range=[np.log10(0.95), np.log10(17)], **_TICKS)
    fig.update_xaxes(title="average cost", row=2)
    fig.update_yaxes(tickformat=".2f")
    fig.update_layout(height=720, margin={"t": 90}, legend={"y": 1.06})
    count = len(next(iter(settings.values()))[0])
    return _switch(frames, fig, [1, *[1, 2] * count], "setting: ")


def both_ways(settings: Sequence[str], panels: Mapping[str, Mapping[str, tuple]]) -> go.Figure:
    """The same policies by two protocols, above each other: bars of the gain, text features beside noise."""
    fig = make_subplots(rows=len(panels), subplot_titles=[plain(name) for name in panels], vertical_spacing=0.16)
    colours = {"text": CURVE, "noise": NOISE}
    names = [plain(s).replace("-", "-<br>") for s in settings]
    for row, bars in enumerate(panels.values(), start=1):
        for name, estimate in bars.items():
            gain = hundredfold(estimate)
            error = {**error_bars(*gain), "color": MIX} if len(gain) == 3 else None
            fig.add_bar(
                x=names,
                y=gain[0],
                error_y=error,
                name=f"{name} features",
                legendgroup=name,
                showlegend=row == 1,
                marker_color=colours[name],
                row=row,
                col=1,
            )
    fig.update_xaxes(tickangle=0)
    fig.update_yaxes(title="gain over best mix, points", tickformat="+.0f", matches="y")
    return fig.update_layout(height=600, barmode="group", margin={"t": 80}, legend={"y": 1.07})


def gain_dots(settings: Sequence[str], targets: Mapping[str, Mapping[str, tuple]]) -> go.Figure:
    """Held-out gains with intervals, a row of dots a setting, one target at a time by a slider."""
    at = np.arange(len(settings))

    def traces(policies: Mapping[str, tuple]) -> list:
        spread = np.linspace(-0.27, 0.27, len(policies))
        made = []
        for (name, estimate), shift in zip(policies.items(), spread, strict=True):
            style = {"color": _POLICY[name], "size": 11}
            title = {"oracle": "oracle, cross-fitted", "noise": "noise control"}.get(name, name)
            gain = hundredfold(estimate)
            style = {"mode": "markers", "marker": style, "error_x": error_bars(*gain)}
            made.append(go.Scatter(x=gain[0], y=at + shift, name=title, **style))
        return made

    frames = {name: (traces(policies), {}) for name, policies in targets.items()}
    ends = hundredfold([side for policies in targets.values() for part in policies.values() for side in part])
    fig = go.Figure().update_layout(height=480)
    fig.add_vline(x=0, line={"color": MIX, "width": 3})
    fig.update_xaxes(
        title="gain over the mix, points", range=[np.min(ends) - 0.4, np.max(ends) + 0.4], tickformat="+.0f"
    )
    fig.update_yaxes(tickvals=at, ticktext=[plain(s) for s in settings], autorange="reversed", zeroline=False)
    return _switch(frames, fig, [None] * len(next(iter(targets.values()))), "target B = ")


def drag_budget(
    grid: Sequence[float],
    hull: tuple[Sequence[float], Sequence[float]],
    oracle: Points,
    curve: Points,
    equal_cost: Sequence[float],
    active: int = 0,
) -> go.Figure:
    """Drag the average budget along a frontier: where mix, curve and oracle stand, and how far apart they are.

    ``equal_cost`` is what the mix would have to spend for the curve policy's accuracy at each budget.
    """
    fig = make_subplots(rows=2, row_heights=[0.66, 0.34], vertical_spacing=0.17)
    lines = [(hull[0], hull[1], "best mix", MIX), (oracle.cost, oracle.accuracy, "oracle, cross-fitted", ORACLE)]
    for x, y, name, colour in [*lines, (curve.cost, curve.accuracy, "curve", CURVE)]:
        fig.add_scatter(x=list(x), y=list(y), name=name, mode="lines", line={"color": colour, "width": 3}, row=1, col=1)

    def moving(j: int) -> list:
        mix = float(np.interp(curve.cost[j], *hull))
        colours = [MIX, CURVE, ORACLE]
        x, y = [curve.cost[j], curve.cost[j], oracle.cost[j]], [mix, curve.accuracy[j], oracle.accuracy[j]]
        gains = [hundredfold([part.gain[j], part.low[j], part.high[j]]) for part in (curve, oracle)]
        return [
            go.Scatter(x=x, y=y, mode="markers", marker={"color": colours, "size": 15}, showlegend=False),
            go.Bar(
                x=[gain[0] for gain in gains],
                y=["curve", "oracle"],
                orientation="h",
                error_x={**error_bars(*zip(*gains, strict=True)), "color": MIX},
                marker_color=[CURVE, ORACLE],
                showlegend=False,
            ),
        ]

    def title(j: int) -> str:
        spent = f"curve: accuracy {curve.accuracy[j]:.3f} at cost {curve.cost[j]:.1f}"
        need = f"the mix needs {equal_cost[j]:.1f}" if np.isfinite(equal_cost[j]) else "no mix gets there"
        return f"{spent}<br>{need}"

    for trace, row in zip(moving(active), (1, 2), strict=True):
        fig.add_trace(trace, row=row, col=1)
    fig.frames = [
        go.Frame(data=moving(j), name=f"{B:g}", traces=[3, 4], layout={"title.text": title(j)})
        for j, B in enumerate(grid)
    ]
    fig.update_xaxes(type="log", range=[np.log10(0.95), np.log10(17)], title="average cost", row=1, **_TICKS)
    fig.update_yaxes(title="accuracy, held out", tickformat=".2f", row=1)
    least, most = hundredfold([min(0, min(curve.low)), max(*oracle.high, *curve.high)])
    fig.update_xaxes(title="gain over the best mix, points", range=[least - 0.2, most + 0.2], tickformat="+.0f", row=2)
    return fig.update_layout(
        title={"text": title(active), "y": 0.98, "yanchor": "top"},
        height=660,
        margin={"t": 120},
        legend={"y": 1.03},
        sliders=[slider([f"{B:g}" for B in grid], "average budget B = ", active=active)],
    )
