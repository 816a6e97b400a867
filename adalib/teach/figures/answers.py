"""Figures of chapters 0 and 1: the answers to a question, their votes, and how accuracy grows with the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adalib.teach.figures.style import COLOURS, plain, slider

__all__ = ["accuracy_curves", "answer_grid", "samples_and_gains", "stacked_shares", "vote_bars", "window_votes"]

# What an answer is, in this order everywhere: its name and its colour.
KINDS = ("right", "most common wrong answer", "other wrong answers", "no answer read")
KIND_COLOURS = (COLOURS[2], COLOURS[1], COLOURS[4], COLOURS[6])


def _kinds(classes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """0 right, 1 the most common wrong class, 2 any other wrong one, 3 empty."""
    kinds = np.where(values > 0.5, 0, 2)
    wrong = classes[(kinds == 2) & (classes >= 0)]
    if wrong.size:
        kinds[(kinds == 2) & (classes == np.bincount(wrong).argmax())] = 1
    kinds[classes < 0] = 3
    return kinds


def answer_grid(answers: Sequence[str], classes: np.ndarray, values: np.ndarray, width: int = 16) -> go.Figure:
    """Every sampled answer to one question as a tile, in the order sampled, coloured by what it is."""
    kinds = _kinds(np.asarray(classes), np.asarray(values))
    x, y = np.arange(len(kinds)) % width, np.arange(len(kinds)) // width
    fig = go.Figure()
    for kind, (name, colour) in enumerate(zip(KINDS, KIND_COLOURS, strict=True)):
        here = np.flatnonzero(kinds == kind)
        if not here.size:
            continue
        fig.add_scatter(
            x=x[here],
            y=y[here],
            mode="markers+text",
            name=f"{name} ({here.size})",
            marker={"symbol": "square", "size": 26, "color": colour, "opacity": 0.9},
            text=[plain(answers[i])[:4] for i in here],
            textfont={"size": 10, "color": "black" if colour == COLOURS[4] else "white"},
            hovertext=[f"sample {i + 1}: {plain(answers[i]) or 'nothing read'}" for i in here],
            hoverinfo="text",
        )
    fig.update_xaxes(visible=False, range=[-0.6, width - 0.4])
    fig.update_yaxes(visible=False, autorange="reversed")
    return fig.update_layout(height=70 + 40 * int(y.max() + 1))


def vote_bars(names: Sequence[str], counts: Sequence[int], right: Sequence[bool]) -> go.Figure:
    """Votes for each answer, most voted first; the right one in its own colour."""
    colours = [KIND_COLOURS[0] if r else KIND_COLOURS[1] for r in right]
    fig = go.Figure(
        go.Bar(x=list(counts), y=[plain(n) for n in names], orientation="h", marker_color=colours, text=list(counts))
    )
    fig.update_yaxes(type="category", autorange="reversed", title="answer")
    return fig.update_xaxes(title="votes").update_layout(height=90 + 34 * len(names), showlegend=False)


def accuracy_curves(
    budgets: Sequence[int],
    curves: Mapping[str, np.ndarray],
    bands: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    dashed: Sequence[str] = (),
    y_title: str = "accuracy of the vote",
) -> go.Figure:
    """Accuracy against the budget b on a doubling axis, one line a name, with 95% bands where given."""
    fig = go.Figure()
    for (name, curve), colour in zip(curves.items(), COLOURS * 3, strict=False):
        if bands and name in bands:
            low, high = bands[name]
            fig.add_scatter(
                x=[*budgets, *budgets[::-1]],
                y=[*low, *high[::-1]],
                fill="toself",
                fillcolor=colour,
                opacity=0.16,
                mode="lines",
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        line = {"color": colour, "width": 3, "dash": "dash" if name in dashed else "solid"}
        fig.add_scatter(x=list(budgets), y=list(curve), name=plain(name), mode="lines+markers", line=line)
    fig.update_xaxes(
        type="log", tickvals=list(budgets), ticktext=[str(b) for b in budgets], title="budget b (answers that vote)"
    )
    return fig.update_yaxes(title=y_title, range=[-0.02, 1.02])


def window_votes(outcomes: Mapping[int, np.ndarray], samples: int) -> go.Figure:
    """Drag b: the samples are cut into windows of b, each votes, and the share of right votes is Acc(x, b).

    ``outcomes[b]`` holds one number a window: the share of its vote that is right (ties shared).
    """
    budgets = list(outcomes)

    def bars(b: int) -> list[go.Bar]:
        share = outcomes[b]
        left = b * np.arange(len(share))
        right, wrong = share > 0.99, share < 0.01
        kinds = (("right", right, COLOURS[2]), ("tie", ~right & ~wrong, COLOURS[4]), ("wrong", wrong, COLOURS[1]))
        return [
            go.Bar(
                x=np.full(here.sum(), b - 0.12 * min(b, 3)),
                base=left[here],
                y=[""] * int(here.sum()),
                orientation="h",
                name=name,
                marker={"color": colour, "line": {"width": 0}},
                hoverinfo="skip",
            )
            for name, here, colour in kinds
        ]

    def title(b: int) -> str:
        windows = len(outcomes[b])
        return f"{windows} vote{'s' if windows > 1 else ''} of {b}: {outcomes[b].mean():.0%} right"

    frames = [go.Frame(data=bars(b), name=str(b), layout={"title.text": title(b)}) for b in budgets]
    fig = go.Figure(data=bars(budgets[0]), frames=frames)
    fig.update_xaxes(title="samples, in the order they were drawn", range=[0, samples])
    fig.update_yaxes(visible=False)
    return fig.update_layout(
        barmode="overlay",
        height=300,
        title=title(budgets[0]),
        margin={"t": 70},
        bargap=0.3,
        sliders=[slider(budgets, "budget b = ")],
    )


def stacked_shares(rows: Sequence[str], shares: Mapping[str, Sequence[float]], x_title: str) -> go.Figure:
    """Shares that add up to one, a stacked bar a row."""
    fig = go.Figure()
    for (name, values), colour in zip(shares.items(), COLOURS, strict=False):
        fig.add_bar(
            y=list(rows),
            x=list(values),
            name=plain(name),
            orientation="h",
            marker_color=colour,
            text=[f"{v:.0%}" if v >= 0.045 else "" for v in values],
            textposition="inside",
            insidetextanchor="middle",
            textfont={"color": "white"},
            textangle=0,
        )
    fig.update_xaxes(tickformat=".0%", title=x_title, range=[0, 1])
    fig.update_yaxes(autorange="reversed")
    return fig.update_layout(barmode="stack", height=110 + 48 * len(rows), legend={"traceorder": "normal"})


def samples_and_gains(
    budgets: Sequence[int], groups: Sequence[str], spent: np.ndarray, gained: np.ndarray, accuracy: Sequence[float]
) -> go.Figure:
    """Drag a uniform budget: where the extra samples go, beside where the extra right answers come from.

    ``spent`` and ``gained`` have a row a group and a column a budget (in samples and in questions).
    """
    fig = make_subplots(
        cols=2,
        subplot_titles=["extra samples", "extra right"],
        horizontal_spacing=0.12,
        shared_yaxes=True,
    )

    def bars(k: int) -> list[go.Bar]:
        colours = [COLOURS[i] for i in range(len(groups))]
        return [
            go.Bar(
                x=values[:, k],
                y=list(groups),
                orientation="h",
                marker_color=colours,
                text=[f"{v:,.0f}" for v in values[:, k]],
                showlegend=False,
            )
            for values in (spent, gained)
        ]

    def title(k: int) -> str:
        return f"everyone gets {budgets[k]}: accuracy {accuracy[k]:.3f}"

    start = len(budgets) // 2
    for column, bar in enumerate(bars(start), start=1):
        fig.add_trace(bar, row=1, col=column)
    fig.frames = [
        go.Frame(data=bars(k), name=str(b), traces=[0, 1], layout={"title.text": title(k)})
        for k, b in enumerate(budgets)
    ]
    fig.update_yaxes(autorange="reversed")
    fig.update_xaxes(range=[0, float(spent.max()) * 1.15], col=1)
    fig.update_xaxes(range=[min(0.0, float(gained.min()) * 1.4), float(gained.max()) * 1.2], col=2)
    return fig.update_layout(
        title=title(start), height=400, margin={"t": 90}, sliders=[slider(budgets, "uniform budget b = ", active=start)]
    )
