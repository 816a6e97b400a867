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
    """Number the groups of ``n`` questions from 0, in the order of appearance or sorted; equal texts are one group."""
    if len(groups) != n:
        raise ValueError(f"groups has {len(groups)} entries for {n} questions; give one a question")
    return pd.factorize(np.array([str(group) for group in groups], dtype=object), sort=sort)[0]


def drawn(rows: ArrayLike, most: int, rng: np.random.Generator | int) -> np.ndarray:
    """All of the rows or, where there are more than ``most``, so many of them, drawn at random and in order."""
    rows = np.asarray(rows)
    return np.sort(np.random.default_rng(rng).choice(rows, most, replace=False)) if rows.size > most else rows


def deal(member: ArrayLike, folds: int, seed: int = 0, order: ArrayLike | None = None) -> np.ndarray:
    """The fold of every question: folds of nearly one size, none of which parts a group.

    ``member`` is the group of every question, from 0. Groups are shuffled by the seed, or dealt in the given order."""
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
