"""Deal questions into folds, so that no model is scored on a question or a group it has seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses

#: Fewer questions than this are too few to learn from and to score on.
FEWEST = 10


def members(responses: Responses | Menu, groups: Sequence | None) -> np.ndarray:
    """Return the group of every question, numbered in the order of appearance.

    Without ``groups``, questions with the same text are one group.
    """
    n = responses.n
    if n < FEWEST:
        raise DataError(
            f"{responses.source}: has {n} questions; "
            f"give at least {FEWEST} to learn from and score on"
        )
    if groups is None:
        # Copies of a question must not be on both sides. If there are only a few texts for all
        # questions, they are kinds of questions, and learning about a kind is fair.
        groups = responses.questions if len(set(responses.questions)) >= FEWEST else range(n)
    member = group_numbers(groups, n)
    if not member.any():
        raise DataError(
            f"{responses.source}: all questions are in one group; give at least two, or no groups"
        )
    return member


def group_numbers(groups: Sequence, n: int, sort: bool = False) -> np.ndarray:
    """Number the groups of ``n`` questions from 0, in the order of appearance or sorted."""
    if len(groups) != n:
        raise ValueError(
            f"groups has {len(groups)} entries for {n} questions; give one per question"
        )
    names = [str(group) for group in groups]
    distinct = sorted(set(names)) if sort else dict.fromkeys(names)
    numbers = {name: number for number, name in enumerate(distinct)}
    return np.array([numbers[name] for name in names], dtype=int)


def drawn(rows: ArrayLike, most: int, rng: np.random.Generator | int) -> np.ndarray:
    """Return all rows, or ``most`` of them drawn at random and sorted if there are more."""
    rows = np.asarray(rows)
    if rows.size <= most:
        return rows
    return np.sort(np.random.default_rng(rng).choice(rows, most, replace=False))


def deal(
    member: ArrayLike, folds: int, seed: int = 0, order: ArrayLike | None = None
) -> np.ndarray:
    """Return the fold of every question; folds are of nearly equal size and split no group.

    ``member`` is the group of every question, from 0. Groups are shuffled by the seed, or dealt in
    the given order.
    """
    if folds < 2:
        raise ValueError(f"folds is {folds}; give at least 2")
    member = np.asarray(member)
    sizes = np.bincount(member)
    order = (
        np.random.default_rng(seed).permutation(sizes.size) if order is None else np.asarray(order)
    )
    fold_of_group = np.empty(sizes.size, dtype=int)
    fold_sizes = np.zeros(min(folds, sizes.size), dtype=int)
    # Largest groups first, each to the fold with the fewest questions so far.
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        fold = fold_sizes.argmin()
        fold_of_group[group] = fold
        fold_sizes[fold] += sizes[group]
    return fold_of_group[member]
