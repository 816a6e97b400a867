"""Plain stopping rules: stop when ... Each looks at the votes so far and at nothing else.

A rule says for every moment whether it would stop there; played back, the first such moment counts. The rules read
`Votes`, arrays of many streams or the numbers of one question alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from adalib.sequential.streams import Votes

__all__ = ["Confidence", "Fixed", "Margin", "NEVER", "Rule", "leader_holds", "points_of", "stopping_points"]

#: More answers than anybody asks: a rule without a cap.
NEVER = 10**9

_MOST = 256
#: Every pair of counts once: rules ask for the same few thousand times.
_HOLDS = 1 - betainc(*(np.indices((_MOST, _MOST)) + 1.0), 0.5)


class Rule(Protocol):
    """Anything that can say when to stop: a frozen dataclass, so that equal rules are played once."""

    def stops(self, votes: Votes) -> Any:
        """Whether to stop at each moment, of the shape of the votes."""


def stopping_points(rule: Rule, votes: Votes) -> np.ndarray:
    """The column at which every stream stops, shape (M,): the first that the rule allows, else the last.

    Examples
    --------
    >>> from adalib.sequential.streams import count_votes
    >>> votes = count_votes([[0, 1, 1, 1], [0, 0, 1, 1]], worth=[[0, 1, 1, 1], [1, 1, 0, 0]])
    >>> stopping_points(Margin(2), votes).tolist()
    [3, 1]
    """
    stops = np.array(rule.stops(votes))
    stops[:, -1] = True
    return stops.argmax(axis=1)


def points_of(rules: Sequence[Any], votes: Votes) -> np.ndarray:
    """Where each of many rules stops every stream, shape (M, rules).

    A cap, and giving up, only cut short what the same rule does without them: the earliest of the three counts. So
    rules that share a lead are played once, however many caps they have.
    """
    played: dict[Rule, np.ndarray] = {}

    def play(rule: Rule) -> np.ndarray:
        if rule not in played:
            played[rule] = stopping_points(rule, votes)
        return played[rule]

    points = np.empty((len(votes.n), len(rules)), dtype=np.int16)
    for j, rule in enumerate(rules):
        cuts = {name: NEVER for name in ("cap", "patience") if hasattr(rule, name)}
        points[:, j] = np.minimum(play(replace(rule, **cuts)), np.searchsorted(votes.n[0], getattr(rule, "cap", NEVER)))
        if getattr(rule, "patience", NEVER) < NEVER:
            np.minimum(points[:, j], play(Margin(np.inf, patience=rule.patience)), out=points[:, j], casting="unsafe")
    return points


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
class Confidence:
    """Stop when the leader would keep its lead over the runner-up with this probability (`leader_holds`).

    For plain votes, fewer than 256 of each.
    """

    threshold: float
    cap: int = NEVER

    def stops(self, votes: Votes) -> Any:
        return (leader_holds(votes.leader, votes.runner) >= self.threshold) | (votes.n >= self.cap)


def leader_holds(leader: ArrayLike, runner: ArrayLike) -> np.ndarray:
    r"""Probability that of the two leading answers the first is the more frequent one, from a flat prior.

    For whole numbers of votes below 256: :math:`P(p > \tfrac12 \mid a, b) = 1 - I_{1/2}(a + 1, b + 1)`.

    Examples
    --------
    >>> leader_holds([1, 4], [1, 0]).round(4).tolist()
    [0.5, 0.9688]
    """
    return _HOLDS[np.asarray(leader, dtype=int), np.asarray(runner, dtype=int)]
