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
    log_sum : sum over the classes of c log c, c the votes of a class; the entropy of the votes follows from it;
        NaN where votes are weighted
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
    weights = None if weights is None else np.asarray(weights, dtype=float)
    shapes = [np.shape(part) for part in (classes, worth, classes if weights is None else weights)]
    if classes.ndim != 2 or len(set(shapes)) > 1:
        raise ValueError(f"classes, worth and weights have shapes {shapes[0]}, {shapes[1]} and {shapes[2]}")
    if weights is not None and not (weights > 0).all():
        raise ValueError("a weight is not positive; an answer that shall not vote has a negative class")
    m, t = classes.shape
    # A step is one row of memory, and what is read of it is read in one piece.
    found = np.zeros((8, t, m))
    found[0] = np.arange(1, t + 1)[:, None]
    rows, held = np.arange(m), np.zeros((m, int(classes.max(initial=0)) + 1))
    leader, runner, tied, tied_worth, log_sum = np.zeros((5, m))
    terms = _c_log_c(np.arange(t + 1)) if weights is None else None
    again = np.zeros(m)
    for step, (came, value) in enumerate(zip(classes.T.copy(), worth.T.copy(), strict=True)):
        own, read = np.maximum(came, 0), came >= 0
        before = held[rows, own]
        now = before + (read if weights is None else read * weights[:, step])
        held[rows, own] = now
        ahead, level = read & (now > leader), read & (now == leader)
        # The one who goes ahead leaves the old leader behind as runner-up, unless it was the leader all alone.
        alone = (before == leader) & (tied == 1)
        behind = np.where(read, np.maximum(runner, now), runner)
        runner = np.where(ahead, np.where(alone, runner, leader), np.where(level, leader, behind))
        leader = np.where(ahead, now, leader)
        tied = np.where(ahead, 1, tied + level)
        tied_worth = np.where(ahead, value, tied_worth + level * value)
        if terms is not None:
            log_sum = log_sum + terms[now.astype(int)] - terms[before.astype(int)]
        again = read * (again * (came == classes[:, step - 1]) + 1) if step else read * 1.0
        found[1:, step] = leader, runner, read & (before == 0), ~read, again, log_sum, tied_worth / np.maximum(tied, 1)
    found[3:5] = found[3:5].cumsum(axis=1)
    if terms is None:
        found[6] = np.nan
    return Votes(*found.transpose(0, 2, 1))


def _c_log_c(count: np.ndarray) -> np.ndarray:
    return count * np.log(np.maximum(count, 1))
