"""The figures of the chapter "What an answer costs"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adabook.colours import MEANINGS
from adabook.figures import shapes
from adabook.figures.style import COLOURS


def machine_curves(measured: pd.DataFrame, limits: pd.DataFrame) -> go.Figure:
    """Draw time and energy of a step against the answers side by side, a line for each model.

    Both frames have a row per model ("part"), context and number of answers ("rows");
    ``measured`` has the columns seconds and joules, ``limits`` the least seconds that memory and
    arithmetic allow. A slider chooses the context.
    """
    contexts = sorted(measured.context.unique())
    models = list(measured.part.unique())

    def at_context(stop: int) -> list[go.Scatter]:
        now, least = (
            frame[frame.context == contexts[stop]].set_index("part") for frame in (measured, limits)
        )
        traces = []
        for model, colour in zip(models, COLOURS, strict=False):
            here, bound = now.loc[model], least.loc[model]
            traces.append(shapes.line(here.rows, 1000 * here.seconds, model, colour, marks=True))
            fast = 1000 * bound.seconds
            name = f"{model}, the larger limit"
            least_time = shapes.line(bound.rows, fast, name, colour, dash="dot", width=2)
            traces.append(least_time.update(showlegend=False))
            each = here.joules / here.rows
            traces.append(shapes.line(here.rows, each, model, colour, marks=True, showlegend=False))
        return traces

    titles = ("milliseconds for a step", "joules for a token")
    fig = make_subplots(rows=2, subplot_titles=titles, vertical_spacing=0.16)
    names = [f"{context:,.0f}" for context in contexts]
    shapes.drag(fig, names, at_context, "tokens of context: ", rows=[1, 1, 2] * len(models))
    ticks = {"tickvals": [1, 4, 16, 64, 256, 1024]}
    fig.update_xaxes(type="log", **ticks)
    fig.update_xaxes(title="answers side by side", row=2)
    # A fixed range, so that the eye sees what the slider changes.
    fig.update_yaxes(type="log", range=[-0.7, 2.1], tickvals=[1, 10, 100], row=1)
    fig.update_yaxes(type="log", range=[-2.7, 0.7], tickvals=[0.01, 0.1, 1], row=2)
    # The models are named above the title of the first part.
    return fig.update_layout(height=660, margin={"t": 90}, legend={"y": 1.08, "yanchor": "bottom"})


def bought_by_load(
    cost: Mapping[int, np.ndarray], bought: Mapping[int, np.ndarray], titles: Sequence[str]
) -> go.Figure:
    """Draw what b answers cost, and who buys how many, for a load that a slider sets.

    ``cost`` and ``bought`` hold, by the number of questions at a time, the cost of each budget in
    first answers, and the share of the questions that buy it.
    """
    loads = list(cost)
    budgets = [1, 2, 4, 8, 16]
    names = [f"{b}" for b in budgets]

    def at_load(stop: int) -> list[Any]:
        load = loads[stop]
        straight = shapes.line(names, budgets, "C(b) = b", shapes.GREY, dash="dash")
        paid = shapes.line(names, cost[load], "what b answers cost", MEANINGS["price"], marks=True)
        share = shapes.bar(names, 100 * bought[load], "share of the questions", MEANINGS["policy"])
        return [straight, paid, share]

    parts = ("cost of b answers, in first answers", "percent of the questions that buy b")
    fig = make_subplots(rows=2, subplot_titles=parts, vertical_spacing=0.18)
    stops = [f"{load:,}" for load in loads]
    shapes.drag(
        fig, stops, at_load, "questions at a time: ", rows=[1, 1, 2], titles=titles, active=0
    )
    fig.update_xaxes(type="category", categoryarray=names)
    fig.update_xaxes(title="answers", row=2)
    fig.update_yaxes(range=[0, 17], row=1)
    fig.update_yaxes(range=[0, 105], row=2)
    return fig.update_layout(height=560, margin={"t": 96}, showlegend=False)
