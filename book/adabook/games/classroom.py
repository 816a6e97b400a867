"""The market game, for a classroom."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from adabook.games.base import BUDGETS, Game
from adalib.colours import BUDGETS as COLOURS
from adalib.datasets.responses import Responses
from adalib.solve.frontier import frontier
from adalib.table import archetypes

_CARDS = 40
# Of five students, in an order that mixes them: most have something to buy.
_DEAL = ("responsive", "easy", "responsive", "hard", "diminishing")


def market(responses: Responses) -> Game:
    """The market game: every student is a question with a real curve, the teacher is the price.

    Curves are in whole points of accuracy, so that a best buy can be found in one's head. The twin
    is the card with the widest step: at one price it goes from ``low`` to ``high``.
    """
    table = responses.table(BUDGETS)
    points = np.round(100 * table.acc).astype(int)

    def card(row: int) -> dict[str, Any]:
        return {
            "id": responses.ids[row],
            "question": responses.questions[row],
            "points": points[row].tolist(),
        }

    steps = [_widest_step(curve) for curve in points]
    widths = [high - low for low, high in steps]
    twin = max(range(len(points)), key=lambda row: (widths[row], points[row, -1]))
    low, high = steps[twin]
    cards = [card(row) for row in _dealt(archetypes(table), points)]
    data = {
        "budgets": list(BUDGETS),
        "colours": list(COLOURS),
        "cards": cards,
        "twin": {**card(twin), "low": low, "high": high},
    }
    lines = "; ".join(
        f"card {at}: {', '.join(map(str, one['points']))}" for at, one in enumerate(cards, 1)
    )
    without = f"Points of accuracy with {', '.join(map(str, BUDGETS))} answers. {lines}."
    return Game(
        "market",
        data,
        "The market game: every card is a question, and the class is the market.",
        without,
    )


def _dealt(kinds: np.ndarray, points: np.ndarray) -> list[int]:
    """The rows on the cards: kinds are dealt in turn, and no two cards have the same curve."""
    _, first = np.unique(points, axis=0, return_index=True)
    piles = {kind: _spread(np.flatnonzero(kinds == kind), first, points) for kind in set(_DEAL)}
    return [piles[_DEAL[at % len(_DEAL)]].pop(0) for at in range(_CARDS)]


def _widest_step(curve: np.ndarray) -> tuple[int, int]:
    """The budgets before and after the largest jump that a falling price makes a question take."""
    bought = frontier(curve[None] / 100, BUDGETS).cost.astype(int).tolist()
    return max(pairwise(bought), key=lambda step: step[1] - step[0], default=(bought[0], bought[0]))


def _spread(rows: np.ndarray, allowed: np.ndarray, points: np.ndarray) -> list[int]:
    """The rows of one kind, those far apart in what they gain first."""
    rows = np.intersect1d(rows, allowed)
    ordered = rows[np.argsort(points[rows, -1] - points[rows, 0], kind="stable")].tolist()
    # The first, the middle, the quarters, ...: places in the order of their bits read backwards.
    return [ordered[i] for i in sorted(range(len(ordered)), key=lambda i: f"{i:012b}"[::-1])]
