"""Plain stopping rules, which need no fit, and where they stop.

A rule looks at the state of a vote (`adalib.sequential.votes.Votes`) and says whether to stop:
after a fixed number of answers, at a lead, or once the leader is probably the most frequent answer.
Since the state of a replay holds arrays, one call decides for every moment of every stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from adalib.sequential.votes import Votes

#: More answers than are ever asked: the cap of a rule without a cap.
NEVER = 10**9


def _tabulated(size: int) -> np.ndarray:
    """Tabulate P(p > 1/2 | a, b) from a flat prior, for all counts below ``size``.

    The value at (a, b) is the mean of those at (a - 1, b) and (a, b - 1), the recurrence of the
    regularised incomplete beta function at 1/2. It spares a server scipy.
    """
    holds = np.zeros((size + 1, size + 1))  # the first row and column are counts of -1
    holds[1:, 0] = 1.0
    for total in range(2, 2 * size + 1):
        a = np.arange(max(1, total - size), min(size, total - 1) + 1)
        b = total - a
        holds[a, b] = (holds[a - 1, b] + holds[a, b - 1]) / 2
    return holds[1:, 1:]


#: Tabulated because rules look the same pairs up many times.
_HOLDS = _tabulated(256)


def leader_holds(leader: ArrayLike, runner: ArrayLike) -> np.ndarray:
    """Return the probability that the leader is more frequent than the runner-up.

    It is tabulated for fewer than 256 votes.
    """
    return _HOLDS[np.asarray(leader, dtype=int), np.asarray(runner, dtype=int)]


class Rule(Protocol):
    """A stopping rule, as a frozen dataclass, so that equal rules are played only once."""

    def stops(self, votes: Votes) -> Any:
        """Return whether to stop at each moment, in the shape of the votes."""


@dataclass(frozen=True)
class Fixed:
    """Ask a fixed number of answers."""

    answers: int

    def stops(self, votes: Votes) -> Any:
        return votes.n >= self.answers


@dataclass(frozen=True)
class Margin:
    """Stop at a lead of ``lead`` votes, at ``cap`` answers, or if all of ``patience`` differ."""

    lead: float
    cap: int = NEVER
    patience: int = NEVER

    def stops(self, votes: Votes) -> Any:
        hopeless = (votes.n >= self.patience) & (votes.leader < 2)
        return (votes.leader - votes.runner >= self.lead) | (votes.n >= self.cap) | hopeless


@dataclass(frozen=True)
class Threshold:
    """Base class: stop when the subclass's measure passes the threshold, or at the cap."""

    threshold: float
    cap: int = NEVER

    def stops(self, votes: Votes) -> Any:
        return votes.n >= self.cap


class Confidence(Threshold):
    """Stop when `leader_holds` reaches this probability."""

    def stops(self, votes: Votes) -> Any:
        return (leader_holds(votes.leader, votes.runner) >= self.threshold) | super().stops(votes)


def stopping_points(rule: Rule, votes: Votes) -> np.ndarray:
    """Return the column at which every stream stops, (M,): the first allowed, else the last."""
    stops = np.array(rule.stops(votes))
    stops[:, -1] = True
    return stops.argmax(axis=1)


def points_of(rules: Sequence[Any], votes: Votes) -> np.ndarray:
    """Return where each of many rules stops every stream, shape (M, rules)."""
    # A cap or giving up only shortens what the rule does without them, so rules that differ in
    # these alone are played once, and the earliest of the three reasons counts.
    played = cache(lambda rule: stopping_points(rule, votes))
    points = np.empty((len(votes.n), len(rules)), dtype=np.int16)
    for j, rule in enumerate(rules):
        uncapped = {name: NEVER for name in ("cap", "patience") if hasattr(rule, name)}
        capped = np.searchsorted(votes.n[0], getattr(rule, "cap", NEVER))
        first = np.minimum(played(replace(rule, **uncapped)), capped)
        if getattr(rule, "patience", NEVER) < NEVER:
            first = np.minimum(first, played(Margin(np.inf, patience=rule.patience)))
        points[:, j] = first
    return points
