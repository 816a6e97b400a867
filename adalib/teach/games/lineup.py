"""Slopes, sorted: the edges of a few envelopes leave their questions and line up into one staircase, filled to B.

``book/_static/lineup.js`` moves them. An edge keeps its width, the answers that it costs; its height becomes its slope.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from adalib.solve.frontier import frontier
from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["lineup", "lineup_data"]


def lineup_data(acc: ArrayLike, cost: ArrayLike, names: Sequence[str]) -> dict:
    """The edges of every question's envelope, steepest first, and the corners that they join.

    Parameters
    ----------
    acc : array_like, shape (N, K)
        Accuracy of a few questions at K budgets.
    cost : array_like, shape (K,)
        What the budgets cost.
    names : sequence of str
        Of the questions.

    Returns
    -------
    dict
        ``edges`` as [question, cost, accuracy, cost, accuracy], ends of an edge in its own envelope, sorted by slope.

    Examples
    --------
    >>> made = lineup_data([[0.2, 0.3, 0.9]], [1, 2, 4], ["a"])
    >>> made["edges"]  # the second budget is below the line from the first to the third
    [[0, 1.0, 0.2, 4.0, 0.9]]
    """
    acc, cost = np.asarray(acc, dtype=float), np.asarray(cost, dtype=float)
    edges = []
    for row, curve in enumerate(acc):
        path = frontier(curve[None, :], cost)
        corners = [(float(c), round(float(a), 4)) for c, a in zip(path.cost, path.accuracy, strict=True)]
        edges += [(row, *low, *high) for low, high in zip(corners[:-1], corners[1:], strict=True)]
    edges.sort(key=lambda edge: -(edge[4] - edge[2]) / (edge[3] - edge[1]))
    return {
        "names": list(names),
        "edges": [list(edge) for edge in edges],
        "first": [round(float(value), 4) for value in acc[:, 0]],
        "cost": cost.tolist(),
    }


def lineup(acc: ArrayLike, cost: ArrayLike, names: Sequence[str]) -> HTML:
    """Put the moving picture on the page: make it the last expression of a cell.

    Explained in chapter 3, "Budgets".

    Parameters
    ----------
    acc, cost, names
        As for `lineup_data`.
    """
    return fragment("lineup", lineup_data(acc, cost, names))
