"""The figure of the race: accuracy and waiting against tokens, with a price that is dragged."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from adabook.figures import shapes
from adabook.figures.style import COLOURS

_FIRST = 3  # the price of waiting that is shown before the slider moves
_RACE, *_RIVALS = (COLOURS[at] for at in (1, 6, 5, 0))


def waiting_paths(
    rivals: Mapping[str, pd.DataFrame], by_price: Mapping[float, pd.DataFrame]
) -> go.Figure:
    """Draw rivals, and the race at the price of waiting that a slider sets: a colour for each.

    Above is the accuracy, below the waiting. Every path has the columns ``cost``, ``accuracy`` and
    ``waiting``, in average answers.
    """
    still = [
        _path(path, name, colour)
        for (name, path), colour in zip(rivals.items(), _RIVALS, strict=False)
    ]
    fig = shapes.panels([list(traces) for traces in zip(*still, strict=True)], spacing=0.08)
    races = [_path(path, "the race", _RACE) for path in by_price.values()]
    shapes.drag(fig, by_price, lambda i: races[i], "price of waiting: ", rows=(1, 2), active=_FIRST)
    everything = pd.concat([*rivals.values(), *by_price.values()])
    for row, column in enumerate(("accuracy", "waiting"), start=1):
        low, high = everything[column].min(), everything[column].max()
        room = 0.06 * (high - low)
        fig.update_yaxes(range=[low - room, high + room], row=row)
    fig.update_xaxes(range=[1.3, 4.4])
    fig.update_xaxes(showticklabels=False, row=1)
    fig.update_xaxes(title="tokens, in average answers", row=2)
    fig.update_yaxes(title="accuracy, held out", row=1)
    fig.update_yaxes(title="waiting, in average answers", row=2)
    return fig.update_layout(height=620, margin={"t": 64}, legend={"y": 1.03})


def _path(path: pd.DataFrame, name: str, colour: str) -> list[go.Scatter]:
    """One policy at all budgets: its accuracy, and its waiting."""
    width = 3.5 if colour == _RACE else 2
    return [
        shapes.line(path.cost, path[column], name, colour, width=width, marks=True).update(
            hovertemplate=f"{name}: %{{x:.2f}} answers' tokens, {words}",
            showlegend=column == "accuracy",
        )
        for column, words in (
            ("accuracy", "%{y:.3f} right"),
            ("waiting", "waiting for %{y:.2f} answers"),
        )
    ]
