"""Deal questions into folds, so that none is scored by a model that saw it, nor one of its group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from adalib.datasets.jsonl import DataError
from adalib.datasets.responses import Responses

__all__ = ["FEWEST", "deal", "members"]

#: With fewer questions than this there is nothing to learn from and nothing to be sure of.
FEWEST = 10


def members(responses: Responses, groups: Sequence | None) -> np.ndarray:
    """The group of every question, numbered in the order of appearance."""
    n = responses.n
    if n < FEWEST:
        raise DataError(f"{responses.source}: has {n} questions; give at least {FEWEST} to learn from and score on")
    if groups is None:
        # Copies of a question must not stand on both sides. A handful of texts for all is no copying: then the texts
        # are kinds of questions, and it is fair to learn about a kind.
        groups = responses.questions if len(set(responses.questions)) >= FEWEST else range(n)
    if len(groups) != n:
        raise ValueError(f"groups has {len(groups)} entries for {n} questions; give one a question")
    member, names = pd.factorize(np.array([str(group) for group in groups], dtype=object))
    if len(names) < 2:
        raise DataError(f"{responses.source}: all questions are in one group; give at least two, or no groups")
    return member


def deal(member: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """The fold of every question, none of which parts a group."""
    if folds < 2:
        raise ValueError(f"folds is {folds}; give at least 2")
    # Largest groups first, each to the fold with the fewest questions so far: folds of nearly one size.
    sizes = np.bincount(member)
    order = np.random.default_rng(seed).permutation(sizes.size)
    place, load = np.empty(sizes.size, dtype=int), np.zeros(min(folds, sizes.size), dtype=int)
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        place[group] = load.argmin()
        load[place[group]] += sizes[group]
    return place[member]
