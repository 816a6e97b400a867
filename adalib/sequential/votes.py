"""Count votes: step by step for many streams at once, or one answer at a time for one question.

`count_votes` is for answers played back, `BallotBox` for answers that arrive. Both describe a vote
by the same numbers (`Votes`), so that a rule decides alike on either.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["BallotBox", "Votes", "count_votes", "vote_weight"]


class Votes(NamedTuple):
    """The state of a vote after n answers: arrays of one shape, or numbers for one question."""

    n: Any  #: answers so far, unreadable ones included
    leader: Any  #: votes of the leading class
    runner: Any  #: votes of the next class, equal to ``leader`` in a tie
    distinct: Any  #: different answers so far
    empty: Any  #: answers that could not be read
    run: Any  #: how many answers at the end agree; 0 after an unreadable one
    log_sum: Any  #: sum of c log c over the classes, c their votes; NaN where votes are weighted
    value: Any  #: accuracy if the vote is closed now, ties shared; NaN where it is not known

    def at(self, columns: ArrayLike) -> Votes:
        """Return the state at some of the steps."""
        return Votes(*(field[..., columns] for field in self))

    def without_value(self) -> Votes:
        """Return the state as a live vote sees it, without knowing which answer is right."""
        return self._replace(value=np.nan)


def vote_weight(sharpness: float, field: Any) -> Any:
    """Return the weight of a vote, exp(sharpness * field), kept above zero so that it counts."""
    return np.exp(np.maximum(sharpness * field, -600.0))


class BallotBox:
    """The vote on one question, counted as its answers arrive.

    Parameters
    ----------
    weighted : bool
        Whether votes have weights of their own; there is no entropy of the votes then.
    """

    def __init__(self, weighted: bool = False) -> None:
        self.held: dict[Hashable, float] = {}
        self.n = 0
        self.empty = 0
        self.run = 0
        self._last: Hashable = None
        self._weighted = weighted

    def add(self, answer: Hashable, weight: float = 1.0) -> None:
        """Count one more answer; None is one that could not be read."""
        self.n += 1
        if answer is None:
            self.empty += 1
            self.run = 0
        else:
            self.held[answer] = self.held.get(answer, 0) + weight
            self.run = self.run + 1 if answer == self._last else 1
        self._last = answer

    @property
    def leaders(self) -> list[Hashable]:
        """The leading answers in the order they came: one, several that are tied, or none."""
        most = max(self.held.values(), default=0.0)
        return [answer for answer, votes in self.held.items() if votes == most]

    def votes(self) -> Votes:
        """Return the state of the vote; its ``value`` is NaN, since no gold answer is known."""
        *_, second, first = sorted([0.0, 0.0, *self.held.values()])
        log_sum = np.nan
        if not self._weighted:
            log_sum = float(sum(count * np.log(count) for count in self.held.values()))
        return Votes(
            n=self.n,
            leader=first,
            runner=second,
            distinct=len(self.held),
            empty=self.empty,
            run=self.run,
            log_sum=log_sum,
            value=np.nan,
        )


def count_votes(classes: ArrayLike, worth: ArrayLike, weights: np.ndarray | None = None) -> Votes:
    """Count votes step by step, for many streams at once.

    Parameters
    ----------
    classes : array_like, shape (M, T)
        The class of every answer in the order in which it came, negative where it was not readable.
    worth : array_like, shape (M, T)
        How right the answer's class is, in [0, 1].
    weights : ndarray, shape (M, T), optional
        The weight of every vote, all positive. Default: 1 each.

    Returns
    -------
    Votes
        Arrays of shape (M, T).

    Examples
    --------
    >>> votes = count_votes([[0, 1, 1]], [[1.0, 0.0, 0.0]])
    >>> votes.leader.tolist(), votes.value.tolist()
    ([[1.0, 1.0, 2.0]], [[1.0, 0.5, 0.0]])
    """
    classes = np.asarray(classes)
    worth = np.asarray(worth, dtype=float)
    streams, steps = classes.shape
    # A step is one row of memory, so that it is read in one piece.
    state = np.zeros((8, steps, streams))
    state[0] = np.arange(1, steps + 1)[:, None]
    rows = np.arange(streams)
    held = np.zeros((streams, int(classes.max(initial=0)) + 1))
    leader, runner, tied, tied_worth, run = np.zeros((5, streams))
    counts = np.arange(steps + 1)
    log_sum = np.full(streams, 0.0 if weights is None else np.nan)
    terms = counts * np.log(np.maximum(counts, 1)) if weights is None else None
    for step, (came, value) in enumerate(zip(classes.T.copy(), worth.T.copy(), strict=True)):
        own = np.maximum(came, 0)
        read = came >= 0
        before = held[rows, own]
        now = before + (read if weights is None else read * weights[:, step])
        held[rows, own] = now
        ahead = read & (now > leader)
        level = read & (now == leader)
        # A class that takes the lead leaves the old leader as runner-up, unless it led alone
        # before.
        led_alone = (before == leader) & (tied == 1)
        behind = np.where(read, np.maximum(runner, now), runner)
        overtaken = np.where(led_alone, runner, leader)
        runner = np.where(ahead, overtaken, np.where(level, leader, behind))
        leader = np.where(ahead, now, leader)
        tied = np.where(ahead, 1, tied + level)
        tied_worth = np.where(ahead, value, tied_worth + level * value)
        if terms is not None:
            log_sum = log_sum + terms[now.astype(int)] - terms[before.astype(int)]
        same = came == classes[:, step - 1] if step else np.zeros(streams, dtype=bool)
        run = read * (run * same + 1)
        new = read & (before == 0)
        shared = tied_worth / np.maximum(tied, 1)
        state[1:, step] = (leader, runner, new, ~read, run, log_sum, shared)
    state[3:5] = state[3:5].cumsum(axis=1)  # from "is new" and "is empty" to how many
    return Votes(*state.transpose(0, 2, 1))
