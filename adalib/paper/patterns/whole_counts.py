"""Arithmetic on printed tables: which whole numbers of questions could stand behind rounded figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["nearest_mix", "whole_counts"]


def nearest_mix(by_level: ArrayLike, overall: ArrayLike, n: int = 200) -> tuple[tuple[int, ...], float]:
    """The whole numbers of questions a level whose averages come nearest to printed overall accuracies.

    Explained in chapter 8, "Patterns".

    Parameters
    ----------
    by_level : array_like, shape (settings, 3)
        Accuracy by level; all settings ask the same questions.
    overall : array_like, shape (settings,)
        Accuracy over all questions.
    n : int
        Number of questions.

    Returns
    -------
    counts, error
        Questions at each level, and the largest difference over the settings. Every mix was tried.

    Examples
    --------
    >>> nearest_mix([[1.0, 0.5, 0.0], [1.0, 0.0, 0.0]], [0.75, 0.5], n=4)
    ((2, 2, 0), 0.0)
    """
    by_level, overall = np.asarray(by_level, dtype=float), np.asarray(overall, dtype=float)
    mixes = np.array([(i, j, n - i - j) for i in range(n, -1, -1) for j in range(n - i, -1, -1)])
    error = np.abs(mixes @ by_level.T / n - overall).max(axis=1)
    return tuple(int(count) for count in mixes[error.argmin()]), float(error.min())


def whole_counts(
    shares: Sequence[float], cost: float, budgets: Sequence[int], n: int = 200, half_digit: float = 0.005
) -> list[tuple[int, ...]]:
    """All whole numbers of questions a budget that print as these shares and have this average cost.

    Explained in chapter 8, "Patterns".

    Parameters
    ----------
    shares : sequence of K float
        As printed.
    cost : float
        Average cost, printed without rounding.
    budgets : sequence of K int
    n : int
        Number of questions.
    half_digit : float
        Largest rounding of a share.

    Examples
    --------
    >>> whole_counts([0.67, 0.33], cost=2.0, budgets=(1, 4), n=3)
    [(2, 1)]
    """
    near = [[c for c in range(n + 1) if abs(c / n - share) <= half_digit + 1e-9] for share in shares]
    spent = round(cost * n)
    return [c for c in product(*near) if sum(c) == n and np.dot(c, budgets) == spent]
