"""The market game, for a classroom."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from adalib.colours import BUDGETS as COLOURS
from adalib.datasets.responses import Responses
from adalib.solve.frontier import frontier
from adalib.table import archetypes
from adalib.teach.games.base import BUDGETS, Game

_CARDS = 40
# Of five students, in an order that mixes them: most have something to buy.
_DEAL = ("responsive", "easy", "responsive", "hard", "diminishing")


def market(responses: Responses) -> Game:
    """The market game: every student is a question with a real curve, the teacher is the price.

    Curves are in whole points of accuracy: a best buy can be found in one's head. Kinds are dealt
    in turn, and no two cards have the same curve. The twin is the card with the widest step: at
    one price it goes from ``low`` to ``high``."""
    table = responses.table(BUDGETS)
    points = np.round(100 * table.acc).astype(int)
    _, first = np.unique(points, axis=0, return_index=True)
    kinds = archetypes(table)
    piles = {kind: _spread(np.flatnonzero(kinds == kind), first, points) for kind in set(_DEAL)}
    dealt = [piles[_DEAL[at % len(_DEAL)]].pop(0) for at in range(_CARDS)]

    def card(row: int) -> dict[str, Any]:
        return {
            "id": responses.ids[row],
            "question": responses.questions[row],
            "points": points[row].tolist(),
        }

    def widest_step(row: int) -> tuple[int, int]:
        bought = frontier(points[row, None] / 100, BUDGETS).cost.astype(int).tolist()
        return max(
            pairwise(bought), key=lambda step: step[1] - step[0], default=(bought[0], bought[0])
        )

    steps = [widest_step(row) for row in range(len(points))]
    twin = max(range(len(points)), key=lambda row: (steps[row][1] - steps[row][0], points[row, -1]))
    low, high = steps[twin]
    cards = [card(row) for row in dealt]
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


def _spread(rows: np.ndarray, allowed: np.ndarray, points: np.ndarray) -> list[int]:
    """The rows of one kind, those far apart in what they gain first."""
    rows = np.intersect1d(rows, allowed)
    ordered = rows[np.argsort(points[rows, -1] - points[rows, 0], kind="stable")].tolist()
    # The first, the middle, the quarters, ...: places in the order of their bits read backwards.
    return [ordered[i] for i in sorted(range(len(ordered)), key=lambda i: f"{i:012b}"[::-1])]
