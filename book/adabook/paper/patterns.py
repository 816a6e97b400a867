"""What the paper's printed shares imply about its numbers of questions.

Explained in the chapter "The test".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike


def nearest_mix(
    by_level: ArrayLike, overall: ArrayLike, n: int = 200
) -> tuple[tuple[int, ...], float]:
    """Whole numbers of questions per level that come nearest to printed overall accuracies."""
    by_level = np.asarray(by_level, dtype=float)
    overall = np.asarray(overall, dtype=float)
    # All ways to take n questions from three levels.
    mixes = np.array([(i, j, n - i - j) for i in range(n, -1, -1) for j in range(n - i, -1, -1)])
    error = np.abs(mixes @ by_level.T / n - overall).max(axis=1)
    return tuple(int(count) for count in mixes[error.argmin()]), float(error.min())


def whole_counts(
    shares: Sequence[float],
    cost: float,
    budgets: Sequence[int],
    n: int = 200,
    half_digit: float = 0.005,
) -> list[tuple[int, ...]]:
    """All whole numbers of questions per budget that print as these shares at this mean cost."""
    counts_by_budget = [
        [count for count in range(n + 1) if abs(count / n - share) <= half_digit + 1e-9]
        for share in shares
    ]
    spent = round(cost * n)
    return [
        counts
        for counts in product(*counts_by_budget)
        if sum(counts) == n and np.dot(counts, budgets) == spent
    ]
