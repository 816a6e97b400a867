"""Spend the answers: a budget to hand out over real questions, then the price does it.

Whoever plays sees one half of the samples, and so does the price; both are scored on the other half. The page gets
everything it needs from here, as data; ``book/_static/spend.js`` plays.
"""

from __future__ import annotations

import numpy as np

from adalib.colours import budget_colours
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.solve.frontier import frontier
from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["spend", "spend_data"]

_BUDGETS = (1, 2, 4, 8, 16)
_INKS = ["#10151a"] * 3 + ["#ffffff"] * 2  # what can be read on each budget's colour


def spend_data(responses: Responses, budget: float, seed: int = 0) -> dict:
    """What the page needs: the questions by level, both halves' curves, the oracle's plan and the best mix's score.

    Parameters
    ----------
    responses : Responses
        Real questions with levels.
    budget : float
        Answers a question on average.
    seed : int
        Deals the samples into the half that is seen and the half that scores.

    Returns
    -------
    dict
        Plain lists and numbers. ``seen`` and ``scored`` are accuracies in ten-thousandths, a row a question.
    """
    seen, scored = (half.table(_BUDGETS) for half in responses.split_samples(seed))
    best = frontier(seen.acc, seen.cost).at(budget)
    levels = ["" if level is None else str(level) for level in responses.levels or [None] * responses.n]
    order = np.argsort(levels, kind="stable")
    rows = np.arange(responses.n)
    return {
        "budgets": list(_BUDGETS),
        "colours": budget_colours(len(_BUDGETS)),
        "inks": _INKS,
        "total": round(budget * responses.n),
        "questions": [responses.questions[i] for i in order],
        "levels": [levels[i] for i in order],
        "seen": _fine(seen.acc[order]),
        "scored": _fine(scored.acc[order]),
        "oracle": best.labels[order].tolist(),
        "price": round(best.lam, 4),
        "oracle_accuracy": float(scored.acc[rows, best.labels].mean()),
        "mix_accuracy": float(best_mix(seen.acc, seen.cost, budget).expected(scored.acc).mean()),
    }


def spend(responses: Responses, budget: float = 2.0, seed: int = 0) -> HTML:
    """Put the game on the page: make it the last expression of a cell.

    Explained on the welcome page.

    Parameters
    ----------
    responses, budget, seed
        As for `spend_data`.
    """
    return fragment("spend", spend_data(responses, budget, seed), "This game is played with JavaScript.")


def _fine(acc: np.ndarray) -> list[list[int]]:
    return np.round(acc * 10_000).astype(int).tolist()
