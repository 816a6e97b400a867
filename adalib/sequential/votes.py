"""The state of a vote after every answer: all that a stopping rule may look at.

Answers come in one by one. After each there is a leader, a runner-up, so many different answers, so many that could not
be read, and what the vote would be worth if it were closed now. An answer changes one class only, so a step costs the
same however many answers came before. `Votes` holds many questions at once as arrays, one column a
step; a rule written for it also reads the numbers of a single question.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Votes", "count_votes"]


@dataclass(frozen=True, eq=False)
class Votes:
    """What is known of a vote after n answers; arrays of one shape, or plain numbers for a single question.

    Attributes
    ----------
    n : answers so far, empty ones included
    leader, runner : votes of the leading class and of the next one (equal when tied)
    distinct, empty : different answers so far, and answers that could not be read
    run : how many answers at the end are the same; 0 after an empty one
    log_sum : sum over the classes of c log c, c the votes of a class; the entropy of the votes follows from it
    value : what the answer is worth if the vote is closed now, ties shared
    """

    n: np.ndarray
    leader: np.ndarray
    runner: np.ndarray
    distinct: np.ndarray
    empty: np.ndarray
    run: np.ndarray
    log_sum: np.ndarray
    value: np.ndarray

    def at(self, columns: ArrayLike) -> Votes:
        """Keep some of the steps."""
        return Votes(*(getattr(self, f.name)[..., columns] for f in fields(self)))

    def rows(self, rows: ArrayLike) -> Votes:
        """Keep some of the streams."""
        return Votes(*(getattr(self, f.name)[rows] for f in fields(self)))


def count_votes(classes: ArrayLike, worth: ArrayLike, weights: ArrayLike | None = None) -> Votes:
    """Count votes step by step, for many streams of answers at once.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    classes : array_like of int, shape (M, T)
        The class of every answer in the order it came; negative for an empty one, which never gets a vote.
    worth : array_like, shape (M, T)
        What the class of the answer is worth, in [0, 1].
    weights : array_like, shape (M, T), optional
        Positive weight of every vote; default 1.

    Returns
    -------
    Votes
        Arrays of shape (M, T).

    Examples
    --------
    >>> votes = count_votes([[0, 1, 1, -1]], worth=[[0, 1, 1, 0]])
    >>> votes.leader.tolist(), votes.runner.tolist(), votes.value.tolist()
    ([[1.0, 1.0, 2.0, 2.0]], [[0.0, 1.0, 1.0, 1.0]], [[0.0, 0.5, 1.0, 1.0]])
    """
    classes, worth = np.asarray(classes), np.asarray(worth, dtype=float)
    weights = np.ones(classes.shape) if weights is None else np.asarray(weights, dtype=float)
    if classes.ndim != 2 or worth.shape != classes.shape or weights.shape != classes.shape:
        raise ValueError(f"classes, worth and weights have shapes {classes.shape}, {worth.shape} and {weights.shape}")
    if not (weights > 0).all():
        raise ValueError("a weight is not positive; an answer that shall not vote has a negative class")
    m, t = classes.shape
    found = np.zeros((8, m, t))
    found[0] = np.arange(1, t + 1)
    rows, held = np.arange(m), np.zeros((m, int(classes.max(initial=0)) + 1))
    leader, runner, tied, tied_worth, log_sum = np.zeros((5, m))
    for step in range(t):
        own, read = np.maximum(classes[:, step], 0), classes[:, step] >= 0
        before = held[rows, own]
        now = before + np.where(read, weights[:, step], 0.0)
        held[rows, own] = now
        ahead, level = read & (now > leader), read & (now == leader)
        # The one who goes ahead leaves the old leader behind as runner-up, unless it was the leader all alone.
        alone = (before == leader) & (tied == 1)
        behind = np.where(read, np.maximum(runner, now), runner)
        runner = np.where(ahead, np.where(alone, runner, leader), np.where(level, leader, behind))
        leader = np.where(ahead, now, leader)
        tied = np.where(ahead, 1, tied + level)
        tied_worth = np.where(ahead, worth[:, step], tied_worth + np.where(level, worth[:, step], 0.0))
        log_sum = log_sum + _c_log_c(now) - _c_log_c(before)
        found[1:3, :, step] = leader, runner
        found[3, :, step] = read & (before == 0)
        found[4, :, step] = ~read
        again = found[5, :, step - 1] * (classes[:, step] == classes[:, step - 1]) if step else 0
        found[5, :, step] = np.where(read, again + 1, 0)
        found[6:, :, step] = log_sum, tied_worth / np.maximum(tied, 1)
    found[3:5] = found[3:5].cumsum(axis=2)
    return Votes(*found)


def _c_log_c(count: np.ndarray) -> np.ndarray:
    return count * np.log(np.maximum(count, 1e-300))
