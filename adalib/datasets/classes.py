"""Answers compared once: the class of every sample, and what it is worth.

Comparing is the slow part, and every estimate needs it, so it is done question by question and kept as numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from adalib.vote.answers import answer_classes, same_answer
from adalib.vote.judge import given_up

__all__ = ["classes_of", "renumbered", "worth"]


def classes_of(answers: Sequence[Sequence[str]], source: str) -> np.ndarray:
    """The answer class of every sample, (N, R); -1 for an empty answer. Comparisons given up are told of."""
    # Comparing formulas takes milliseconds a pair: on a terminal, a long wait shows how long.
    rows = tqdm(answers, desc="comparing answers", unit=" questions", delay=3, disable=None, leave=False)
    before = given_up()
    classes = np.stack([answer_classes(row) for row in rows], dtype=np.int32, casting="same_kind")
    if given_up() > before:
        warnings.warn(
            f"{source}: {given_up() - before:,} comparisons of formulas were too slow and were given up; "
            "those answers count as different",
            stacklevel=3,
        )
    return classes


def worth(classes: np.ndarray, answers: Sequence[Sequence[str]], golds: Sequence[str]) -> np.ndarray:
    """1 for every sample whose class equals the gold, else 0; shape (N, R)."""
    values = np.zeros(classes.shape)
    for i, (gold, row) in enumerate(zip(golds, answers, strict=True)):
        own = classes[i].tolist()
        first = dict(zip(reversed(own), reversed(row), strict=True))  # the first member speaks for its class
        right = {c for c, answer in first.items() if c >= 0 and same_answer(answer, gold)}
        values[i] = [c in right for c in own]
    return values


def renumbered(classes: np.ndarray) -> np.ndarray:
    """Number the classes of every row in order of first appearance, as `answer_classes` does; -1 stays."""
    rows, found = np.arange(len(classes)), np.full_like(classes, -1)
    width = int(classes.max(initial=0)) + 2  # the last column is that of -1
    numbers = np.full((len(classes), width), -1, dtype=classes.dtype)
    count = np.zeros(len(classes), dtype=classes.dtype)
    for column, own in enumerate(classes.T):
        new = (own >= 0) & (numbers[rows, own] < 0)
        numbers[rows[new], own[new]] = count[new]
        count += new
        found[:, column] = numbers[rows, own]
    return found
