"""The game of the chapter "When you can check an answer": tries at puzzles until they pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from adabook.games.base import Game

_TOTAL = 100  # tries to hand out


def attempts(puzzles: Sequence[str], passed: ArrayLike, chance: ArrayLike) -> Game:
    """Hand out tries to puzzles, whose real tries come in their order; then two plans play.

    ``passed`` says of every try at every puzzle whether it passes, and ``chance`` how likely the
    next one is to pass after each number of failures."""
    tries = np.asarray(passed, dtype=int)
    chance = np.asarray(chance, dtype=float)
    solved_at = [int(row.argmax()) + 1 if row.any() else 0 for row in tries]
    # The chance depends on the failures alone, so the puzzle with the fewest has the next try.
    cap = _played(solved_at, _TOTAL, tries.shape[1])
    knows, left = 0, _TOTAL
    for row in np.argsort(-tries.mean(axis=1), kind="stable"):
        if tries[row].any() and solved_at[row] <= left:
            knows += 1
            left -= solved_at[row]
    data = {
        "puzzles": list(puzzles),
        "tries": tries.tolist(),
        "chance": chance.round(4).tolist(),
        "total": _TOTAL,
        "cap": cap,
        "knows": knows,
    }
    caption = "Spend a hundred tries on ten puzzles; every failure lowers a puzzle's chance."
    return Game(
        "attempts",
        data,
        caption,
        f"Always to the highest chance, {_TOTAL} tries solve {cap} of the {len(tries)} puzzles; a "
        f"plan that knows the passes solves {knows}.",
    )


def _played(solved_at: Sequence[int], total: int, most: int) -> int:
    """How many puzzles are solved if every one gets its n-th try before any gets the next."""
    spent = solved = 0
    for number in range(1, most + 1):
        for at in solved_at:
            if at and at < number:
                continue  # solved before
            if spent == total:
                return solved
            spent += 1
            solved += at == number
    return solved
