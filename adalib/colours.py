"""Colours by what they mean: one per budget, and one per policy and price.

Each budget is darker than the one before, so that lightness alone distinguishes them. All are
legible on white and on black, so that a budget keeps its colour when the page turns dark. The
other colours are Okabe and Ito's, which people with any common colour blindness can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence

#: One colour per meaning. `adabook.colours` adds those that only pages of the book need.
MEANINGS = {
    "oracle": "#009E73",
    "policy": "#0072B2",
    "label-policy": "#56B4E9",
    "price": "#D55E00",
    "noise": "#CC79A7",
    "mix": "#8C8C8C",
}

BUDGETS = ("#b3bdc7", "#66beb0", "#2e96b4", "#4274be", "#8b3fae")

#: With several models each has its own hue; a pair is the colour of its cheapest and dearest arm.
MODELS = (
    ("#f3b27a", "#9c4a00"),
    ("#8fb8e0", "#0b4f9c"),
    ("#93cf9a", "#00631f"),
    ("#d3b0dd", "#6a1b83"),
)


def budget_colours(k: int) -> list[str]:
    """Return the colours of ``k`` budgets, cheapest first, evenly spaced along `BUDGETS`."""
    return _between(BUDGETS, k)


def arm_colours(models: Sequence[str]) -> list[str]:
    """Return a colour per arm of a menu, given the model of each arm, cheapest first."""
    colours = [""] * len(models)
    for number, model in enumerate(dict.fromkeys(models)):
        places = [place for place, name in enumerate(models) if name == model]
        for place, colour in zip(
            places, _between(MODELS[number % len(MODELS)], len(places)), strict=True
        ):
            colours[place] = colour
    return colours


def _between(ends: Sequence[str], k: int) -> list[str]:
    """Return ``k`` colours, evenly spaced on the line through the given ones."""
    stops = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in ends]
    colours = []
    for step in range(k):
        place = (len(stops) - 1) * step / max(k - 1, 1)
        at = min(int(place), len(stops) - 2)
        mixed = (
            round(low + (place - at) * (high - low))
            for low, high in zip(*stops[at : at + 2], strict=True)
        )
        colours.append("#" + "".join(f"{channel:02x}" for channel in mixed))
    return colours
