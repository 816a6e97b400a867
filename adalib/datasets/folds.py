"""Deal questions into folds, so that none is scored by a model that saw it, nor one of its group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses

__all__ = ["FEWEST", "deal", "drawn", "group_numbers", "members"]

#: With fewer questions than this there is nothing to learn from and nothing to be sure of.
FEWEST = 10


def members(responses: Responses | Menu, groups: Sequence | None) -> np.ndarray:
    """The group of every question, numbered in the order of appearance."""
    n = responses.n
    if n < FEWEST:
        raise DataError(f"{responses.source}: has {n} questions; give at least {FEWEST} to learn from and score on")
    if groups is None:
        # Copies of a question must not stand on both sides. A handful of texts for all is no copying: then the texts
        # are kinds of questions, and it is fair to learn about a kind.
        groups = responses.questions if len(set(responses.questions)) >= FEWEST else range(n)
    member = group_numbers(groups, n)
    if not member.any():
        raise DataError(f"{responses.source}: all questions are in one group; give at least two, or no groups")
    return member


def group_numbers(groups: Sequence, n: int, sort: bool = False) -> np.ndarray:
    """Number the groups of ``n`` questions from 0, in the order of appearance or sorted; equal texts are one group.

    Examples
    --------
    >>> group_numbers(["tea", "soup", "tea"], 3).tolist()
    [0, 1, 0]
    """
    if len(groups) != n:
        raise ValueError(f"groups has {len(groups)} entries for {n} questions; give one a question")
    return pd.factorize(np.array([str(group) for group in groups], dtype=object), sort=sort)[0]


def drawn(rows: ArrayLike, most: int, rng: np.random.Generator | int) -> np.ndarray:
    """All of the rows or, where there are more than ``most``, so many of them, drawn at random and in order.

    Examples
    --------
    >>> drawn(range(3), 5, 0).tolist(), drawn(range(1000), 2, 0).size
    ([0, 1, 2], 2)
    """
    rows = np.asarray(rows)
    return np.sort(np.random.default_rng(rng).choice(rows, most, replace=False)) if rows.size > most else rows


def deal(member: ArrayLike, folds: int, seed: int = 0, order: ArrayLike | None = None) -> np.ndarray:
    """Deal questions into folds of nearly one size, none of which parts a group.

    Parameters
    ----------
    member : array_like of int, shape (N,)
        The group of every question, numbered from 0; ``range(N)`` where each is its own.
    folds : int
        How many folds, at least 2; with fewer groups there are only so many.
    seed : int
        Shuffles the groups.
    order : array_like of int, optional
        The groups in the order in which they are dealt, in place of shuffling them.

    Returns
    -------
    ndarray of int, shape (N,)
        The fold of every question.

    Examples
    --------
    >>> deal([0, 0, 1, 2, 2, 3], folds=2, order=[0, 1, 2, 3]).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    if folds < 2:
        raise ValueError(f"folds is {folds}; give at least 2")
    member = np.asarray(member)
    sizes = np.bincount(member)
    order = np.random.default_rng(seed).permutation(sizes.size) if order is None else np.asarray(order)
    place, load = np.empty(sizes.size, dtype=int), np.zeros(min(folds, sizes.size), dtype=int)
    # Largest groups first, each to the fold with the fewest questions so far: folds of nearly one size.
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        place[group] = load.argmin()
        load[place[group]] += sizes[group]
    return place[member]
