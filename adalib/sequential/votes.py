"""Count votes: step by step for many streams at once, or one answer at a time for one question.

`count_votes` is for answers played back, `BallotBox` for answers that arrive. Both describe a vote
by the same numbers (`Votes`), so that a rule decides alike on either.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Votes(NamedTuple):
    """The state of a vote after n answers: arrays of one shape, or numbers for one question."""

    n: Any  #: answers so far, unreadable ones included
    leader: Any  #: votes of the leading class
    runner: Any  #: votes of the next class, equal to ``leader`` in a tie
    distinct: Any  #: different answers so far
    empty: Any  #: answers that could not be read
    run: Any  #: how many answers at the end agree; 0 after an unreadable one
    value: Any  #: accuracy if the vote is closed now, ties shared; NaN where it is not known

    @property
    def readable(self) -> Any:
        """Answers so far that could be read."""
        return self.n - self.empty

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
    """The vote on one question, counted as its answers arrive."""

    def __init__(self) -> None:
        self.held: dict[Hashable, float] = {}
        self.n = 0
        self.empty = 0
        self.run = 0
        self._last: Hashable = None

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
        return Votes(
            n=self.n,
            leader=first,
            runner=second,
            distinct=len(self.held),
            empty=self.empty,
            run=self.run,
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
    boxes = _BallotBoxes(streams, int(classes.max(initial=0)) + 1)
    # A step is one row of memory, so that it is read and written in one piece.
    classes_by_step = classes.T.copy()
    worth_by_step = worth.T.copy()
    state = np.empty((len(Votes._fields), steps, streams))
    for step in range(steps):
        weight = 1.0 if weights is None else weights[:, step]
        boxes.add(classes_by_step[step], worth_by_step[step], weight)
        state[:, step] = boxes.votes()
    return Votes(*state.transpose(0, 2, 1))


class _BallotBoxes:
    """The votes on many questions at once, one answer to each at a time.

    Every array has one entry per stream.
    """

    def __init__(self, streams: int, classes: int) -> None:
        self._rows = np.arange(streams)
        self._held = np.zeros((streams, classes))  # votes of each class
        self._last = np.full(streams, -1)  # class of the last answer
        self._n = 0
        self._leader = np.zeros(streams)
        self._runner = np.zeros(streams)
        self._distinct = np.zeros(streams)
        self._empty = np.zeros(streams)
        self._run = np.zeros(streams)
        self._tied = np.zeros(streams)  # classes that lead together
        self._tied_worth = np.zeros(streams)  # and their worth, added up

    def add(self, classes: np.ndarray, worth: np.ndarray, weight: float | np.ndarray) -> None:
        """Count one more answer of every stream; a negative class is one that was not readable."""
        read = classes >= 0
        own = np.maximum(classes, 0)
        before = self._held[self._rows, own]
        now = before + read * weight
        self._held[self._rows, own] = now
        self._update_leaders(read, before, now, worth)
        self._run = read * (self._run * (classes == self._last) + 1)
        self._last = classes
        self._distinct += read & (before == 0)
        self._empty += ~read
        self._n += 1

    def _update_leaders(
        self, read: np.ndarray, before: np.ndarray, now: np.ndarray, worth: np.ndarray
    ) -> None:
        """Update the lead after a class went from ``before`` to ``now`` votes."""
        leader = self._leader
        runner = self._runner
        ahead = read & (now > leader)
        level = read & (now == leader)
        # A class that takes the lead leaves the old leader as runner-up, unless it led alone
        # before.
        led_alone = (before == leader) & (self._tied == 1)
        overtaken = np.where(led_alone, runner, leader)
        behind = np.where(read, np.maximum(runner, now), runner)
        self._runner = np.where(ahead, overtaken, np.where(level, leader, behind))
        self._leader = np.where(ahead, now, leader)
        self._tied = np.where(ahead, 1, self._tied + level)
        self._tied_worth = np.where(ahead, worth, self._tied_worth + level * worth)

    def votes(self) -> Votes:
        """Return the state of every vote."""
        return Votes(
            n=np.full(len(self._rows), self._n),
            leader=self._leader,
            runner=self._runner,
            distinct=self._distinct,
            empty=self._empty,
            run=self._run,
            value=self._tied_worth / np.maximum(self._tied, 1),
        )
