"""The market game, for a classroom: every student is a question with a real curve, the teacher is the price.

Curves are in whole points of accuracy and prices in points an answer, so that a best buy can be found in one's head.
The page gets the cards as data; ``book/_static/market.js`` prints them, counts the hands and finds the clearing price.
"""

from __future__ import annotations

import numpy as np

from adalib.colours import BUDGETS as COLOURS
from adalib.datasets.responses import Responses
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable, archetypes
from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["market", "market_data"]

_BUDGETS = (1, 2, 4, 8, 16)
_CARDS = 40
# Of five students, in an order that mixes them: most have something to buy.
_DEAL = ("responsive", "easy", "responsive", "hard", "diminishing")


def market_data(responses: Responses) -> dict:
    """The cards of the game: real questions, no two with the same curve, and the twins.

    Explained in the page "The market game".

    Parameters
    ----------
    responses : Responses
        Real questions. Their kinds are dealt in turn, so that a class of any size gets a mixed market.

    Returns
    -------
    dict
        ``budgets``; ``cards``, each with ``id``, ``question`` and ``points`` (accuracy in whole points, one a budget);
        and ``twin``, the card whose largest step is the widest: at one price it goes from ``low`` to ``high``.
    """
    table = responses.table(_BUDGETS)
    points = np.round(100 * table.acc).astype(int)
    _, first = np.unique(points, axis=0, return_index=True)  # no two cards are the same
    kinds = archetypes(table)
    piles = {kind: _spread(np.flatnonzero(kinds == kind), first, points) for kind in set(_DEAL)}
    dealt = [piles[_DEAL[at % len(_DEAL)]].pop(0) for at in range(_CARDS)]

    def card(row: int) -> dict:
        return {"id": responses.ids[row], "question": responses.questions[row], "points": points[row].tolist()}

    steps = [_widest_step(points[row]) for row in range(len(points))]
    twin = max(range(len(points)), key=lambda row: (steps[row][1] - steps[row][0], points[row, -1]))
    low, high = steps[twin]
    return {
        "budgets": list(_BUDGETS),
        "colours": list(COLOURS[: len(_BUDGETS)]),
        "cards": [card(row) for row in dealt],
        "twin": {**card(twin), "low": low, "high": high},
    }


def _spread(rows: np.ndarray, allowed: np.ndarray, points: np.ndarray) -> list[int]:
    """The rows of one kind, those far apart in what they gain first."""
    rows = np.intersect1d(rows, allowed)
    ordered = rows[np.argsort(points[rows, -1] - points[rows, 0], kind="stable")].tolist()
    # The first, the middle, the quarters, ...: places in the order of their bits read backwards.
    return [ordered[i] for i in sorted(range(len(ordered)), key=lambda i: f"{i:012b}"[::-1])]


def _widest_step(points: np.ndarray) -> tuple[int, int]:
    """The two budgets of the widest step on a curve's own frontier."""
    table = UtilityTable(points[None, :] / 100, list(_BUDGETS))
    bought = frontier(table.acc, table.cost).cost
    widths = np.diff(bought)
    at = int(widths.argmax()) if len(widths) else 0
    return int(bought[at]), int(bought[at + 1] if len(widths) else bought[at])


def market(responses: Responses) -> HTML:
    """Put the game on the page: make it the last expression of a cell.

    Explained in the page "The market game".

    Parameters
    ----------
    responses : Responses
        As for `market_data`.
    """
    return fragment("market", market_data(responses), "This game is played with JavaScript.")
