"""The figure of the chapter "The race": accuracy against tokens, with the waiting as colour."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from adabook.figures import shapes
from adabook.figures.style import COLOURS

_FIRST = 3  # the price of waiting that is shown before the slider moves
_DASHES = ("dash", "dot", "dashdot")


def waiting_paths(
    rivals: Mapping[str, pd.DataFrame], by_price: Mapping[float, pd.DataFrame]
) -> go.Figure:
    """Draw rivals as dashed lines, and the race at the price of waiting that a slider sets.

    Every path has the columns ``cost``, ``accuracy`` and ``waiting``, in average answers.
    """
    names = zip(rivals.items(), _DASHES, strict=False)
    fig = go.Figure()
    for (name, path), dash in names:
        fig.add_traces(_path(path, name, COLOURS[6], dash))
    paths = list(by_price.values())
    shapes.drag(
        fig,
        by_price,
        lambda i: _path(paths[i], "the race", COLOURS[1], "solid"),
        "price of waiting: ",
        active=_FIRST,
    )
    fig.update_xaxes(title="tokens, in average answers", range=[1.3, 4.4])
    fig.update_yaxes(title="accuracy, held out")
    ticks = {"tickvals": [0.75, 1, 1.5, 2], "ticktext": ["0.75", "1", "1.5", "2 or more"]}
    scale = {
        "colorscale": "Cividis",
        "cmin": 0.7,
        "cmax": 2,
        "colorbar": {"title": "waiting", **ticks},
    }
    return fig.update_layout(height=520, coloraxis=scale)


def _path(path: pd.DataFrame, name: str, colour: str, dash: str) -> list[go.Scatter]:
    """One policy at all budgets: a line, which the legend names, and dots, which it could not."""
    marker = {"size": 14, "color": path.waiting, "coloraxis": "coloraxis"}
    hover = f"{name}: %{{x:.2f}} answers' tokens, %{{y:.3f}} right, waiting %{{customdata:.2f}}"
    points = shapes.dots(path.cost, path.accuracy, "", colour, hovertemplate=hover)
    return [
        shapes.line(path.cost, path.accuracy, name, colour, dash=dash, hoverinfo="skip"),
        points.update(marker=marker, customdata=path.waiting),
    ]
