"""The figures of the chapter "What an answer costs"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from adabook.colours import MEANINGS
from adabook.figures import shapes
from adabook.figures.style import COLOURS


def menu_frontiers(
    paths: Mapping[str, tuple[np.ndarray, np.ndarray]],
    same_for_all: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> go.Figure:
    """Draw accuracy against cost: a line for each frontier, circles for equal numbers of answers.

    Both hold cost and accuracy by name; the circles of a model have the colour of its line.
    """
    colours = dict(zip(paths, COLOURS, strict=False))
    fig = go.Figure([shapes.line(*path, name, colours[name]) for name, path in paths.items()])
    for name, (cost, accuracy) in same_for_all.items():
        label = f"{name}, same number for all"
        fig.add_trace(shapes.dots(cost, accuracy, label, colours[name], symbol="circle-open"))
    ticks = {"tickvals": [30, 100, 300, 1000], "ticktext": ["30", "100", "300", "1,000"]}
    fig.update_xaxes(title="cost per question, tokens × billion parameters", type="log", **ticks)
    return fig.update_yaxes(title="accuracy")


def raised_efforts(
    extra: np.ndarray, gained: np.ndarray, prices: Sequence[float], titles: Sequence[str]
) -> go.Figure:
    """Draw each question's gain from a higher effort against its extra tokens.

    Those above the line of the price, which a slider sets, get the higher effort.
    """
    spread = np.random.default_rng(0).uniform(-0.03, 0.03, gained.size)  # equal gains would overlap
    along = np.geomspace(200, 80_000, 60)

    def at_price(stop: int) -> list[go.Scatter]:
        raised = gained > prices[stop] * extra
        border = np.minimum(prices[stop] * along, 1.2)
        groups = (
            ("gets xhigh", raised, MEANINGS["policy"]),
            ("stays at low", ~raised, shapes.GREY),
        )
        return [
            *(
                shapes.dots(extra[rows], (gained + spread)[rows], name, colour, size=7, opacity=0.7)
                for name, rows, colour in groups
            ),
            shapes.line(along, border, "the price", MEANINGS["price"], width=2),
        ]

    names = [f"{1000 * price:g}" for price in prices]
    prefix = "price of 1,000 tokens: "
    fig = shapes.drag(go.Figure(), names, at_price, prefix, titles=titles, active=4)
    thousands = [300, 1000, 3000, 10_000, 30_000]
    ticks = {"tickvals": thousands, "ticktext": [f"{tokens:,}" for tokens in thousands]}
    fig.update_xaxes(title="extra tokens of xhigh", type="log", range=[2.3, 4.9], **ticks)
    fig.update_yaxes(title="gain in accuracy from xhigh", range=[-1.1, 1.15])
    return fig.update_layout(height=500, margin={"t": 96}, legend={"y": 1.01})
