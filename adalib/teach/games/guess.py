"""Guess the curve: drag the vote's accuracy at every budget, then see the truth. ``book/_static/guess.js`` plays."""

from __future__ import annotations

from collections.abc import Sequence

from adalib.teach.figures.style import HTML
from adalib.teach.games.fragment import fragment

__all__ = ["guess"]


def guess(budgets: Sequence[int], truth: Sequence[float], known: int = 1) -> HTML:
    """Put the guess on the page: make it the last expression of a cell.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    budgets : sequence of int
        Answers in a vote.
    truth : sequence of float
        Accuracy of the vote at each.
    known : int
        So many points from the left are given; the others start at the height of the last one given.

    Examples
    --------
    >>> "0.4" in guess([1, 4], [0.4, 0.8]).html
    True
    """
    truth = [round(float(value), 4) for value in truth]
    told = ", ".join(f"{value:.2f} with {b}" for b, value in zip(budgets, truth, strict=True))
    return fragment(
        "guess", {"budgets": list(budgets), "truth": truth, "known": known}, f"The vote is right with chance {told}."
    )
