"""How often a majority vote is right when the distribution of the answers is known."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

import numpy as np
from numpy.typing import ArrayLike

from adalib.vote.estimators import check_budgets, chunks, settled
from adalib.vote.winning import Situations, exponential_series, winning_ways


def acc_iid(
    probs: ArrayLike, correct: ArrayLike, budgets: Sequence[int], empty: ArrayLike | None = None
) -> np.ndarray:
    """Compute the true Acc(x, b) of a majority vote over b independent draws, ties shared.

    It is the limit of `acc_subsets` as R grows.

    Parameters
    ----------
    probs : array_like, shape (m,) or (N, m)
        Probability of each answer, each row summing to 1; pad with zeros.
    correct : int or array_like of int, shape (N,)
        Column of the correct answer; -1 where it is never given.
    budgets : sequence of K int
        Numbers of draws, from 1 to 170.
    empty : int or array_like of int, shape (N,), optional
        Column of the draws that give no answer and do not vote; -1 or None for none.

    Returns
    -------
    ndarray, shape (K,) or (N, K)
        Accuracy at each budget, of one question or of N.

    Raises
    ------
    ValueError
        If a row of ``probs`` does not sum to 1, or a column number is out of range.

    Examples
    --------
    >>> acc_iid([0.6, 0.4], 0, budgets=[1, 2, 3, 5]).round(4)
    array([0.6   , 0.6   , 0.648 , 0.6826])
    """
    budgets = check_budgets(budgets, 170, "acc_iid works up to budget 170")
    probs = np.asarray(probs, dtype=float)
    p = np.atleast_2d(probs)
    if p.ndim > 2 or p.size == 0 or not (p >= 0).all() or np.abs(p.sum(1) - 1).max() > 1e-6:
        raise ValueError("probs must hold probabilities, every row summing to 1")
    n, m = p.shape
    correct_column = _checked_column(correct, n, m, "correct")
    empty_column = _checked_column(-1 if empty is None else empty, n, m, "empty")
    if ((correct_column == empty_column) & (correct_column >= 0)).any():
        raise ValueError("correct and empty name the same column; an empty answer is never correct")
    rows = np.arange(n)
    others = np.column_stack([p, np.zeros(n)])  # column -1 is an answer that is never given
    own = others[rows, correct_column]
    no_answer = others[rows, empty_column]
    others[rows, correct_column] = 0
    others[rows, empty_column] = 0
    acc = np.empty((n, len(budgets)))
    largest = max(budgets)
    for chunk in chunks(n, (largest + m) * (largest // 2 + 1)):
        rivals = others[chunk].T
        unlimited = np.where(rivals > 0, np.inf, 0)  # independent draws never run out
        situations = Situations(own[chunk], rivals, no_answer[chunk], most_votes=unlimited)
        acc[chunk] = winning_ways(exponential_series, budgets, situations).T
    acc = settled(acc * [float(factorial(b)) for b in budgets])
    return acc[0] if probs.ndim == 1 else acc


def _checked_column(column: ArrayLike, n: int, m: int, name: str) -> np.ndarray:
    """Return a column number per row; ValueError unless all are from -1 to m - 1."""
    columns = np.broadcast_to(column, (n,))
    if columns.dtype.kind not in "iu" or not ((columns >= -1) & (columns < m)).all():
        raise ValueError(f"{name} must hold column numbers from 0 to {m - 1}, or -1 for none")
    return columns
