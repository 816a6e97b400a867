"""Plain stopping rules: stop when ... Each looks at the votes so far and at nothing else.

A rule says for every moment whether it would stop there; played back, the first such moment counts. The rules read
`Votes`, arrays of many streams or the numbers of one question alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from adalib.sequential.streams import Votes

__all__ = ["Confidence", "Fixed", "Margin", "NEVER", "Rule", "leader_holds", "points_of", "stopping_points"]

#: More answers than anybody asks: a rule without a cap.
NEVER = 10**9

#: Every pair of counts once: rules ask for the same few thousand times.
_HOLDS = 1 - betainc(*(np.indices((256, 256)) + 1.0), 0.5)


def leader_holds(leader: ArrayLike, runner: ArrayLike) -> np.ndarray:
    r"""Probability that of the two leading answers the first is the more frequent one, from a flat prior.

    For whole numbers of votes below 256: :math:`P(p > \tfrac12 \mid a, b) = 1 - I_{1/2}(a + 1, b + 1)`.
    """
    return _HOLDS[np.asarray(leader, dtype=int), np.asarray(runner, dtype=int)]


class Rule(Protocol):
    """Anything that can say when to stop: a frozen dataclass, so that equal rules are played once."""

    def stops(self, votes: Votes) -> Any:
        """Whether to stop at each moment, of the shape of the votes."""


@dataclass(frozen=True)
class Fixed:
    """Ask ``answers`` times, whatever comes."""

    answers: int

    def stops(self, votes: Votes) -> Any:
        return votes.n >= self.answers


@dataclass(frozen=True)
class Margin:
    """Stop when the leader is ``lead`` votes ahead, at ``cap`` answers, or when all of ``patience`` answers differ."""

    lead: float
    cap: int = NEVER
    patience: int = NEVER

    def stops(self, votes: Votes) -> Any:
        hopeless = (votes.n >= self.patience) & (votes.leader < 2)
        return (votes.leader - votes.runner >= self.lead) | (votes.n >= self.cap) | hopeless


@dataclass(frozen=True)
class Threshold:
    """Stop when some measure of the votes is past a threshold, or at ``cap`` answers."""

    threshold: float
    cap: int = NEVER

    def stops(self, votes: Votes) -> Any:
        return self.passed(votes) | (votes.n >= self.cap)

    def passed(self, votes: Votes) -> Any:
        """Whether the measure is past the threshold."""
        raise NotImplementedError


class Confidence(Threshold):
    """Stop when the leader would keep its lead over the runner-up with this probability, by `leader_holds`."""

    def passed(self, votes: Votes) -> Any:
        return leader_holds(votes.leader, votes.runner) >= self.threshold


def stopping_points(rule: Rule, votes: Votes) -> np.ndarray:
    """The column at which every stream stops, shape (M,): the first that the rule allows, else the last."""
    stops = np.array(rule.stops(votes))
    stops[:, -1] = True
    return stops.argmax(axis=1)


def points_of(rules: Sequence[Any], votes: Votes) -> np.ndarray:
    """Where each of many rules stops every stream, shape (M, rules).

    A cap, and giving up, only cut short what the same rule does without them: the earliest of the three counts. So
    rules that share a lead are played once, however many caps they have.
    """
    played = cache(lambda rule: stopping_points(rule, votes))
    points = np.empty((len(votes.n), len(rules)), dtype=np.int16)
    for j, rule in enumerate(rules):
        cuts = {name: NEVER for name in ("cap", "patience") if hasattr(rule, name)}
        first = np.minimum(played(replace(rule, **cuts)), np.searchsorted(votes.n[0], getattr(rule, "cap", NEVER)))
        if getattr(rule, "patience", NEVER) < NEVER:
            first = np.minimum(first, played(Margin(np.inf, patience=rule.patience)))
        points[:, j] = first
    return points
