"""Plain vote counts: how far ahead the leading answer is, and how many others there are.

This signal is always used. Weighted votes (`adalib.sequential.signals.weighted`) build on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from adalib.sequential.rules import NEVER, Confidence, Margin, Rule
from adalib.sequential.signals.base import Signal
from adalib.sequential.streams import Streams
from adalib.sequential.votes import BallotBox, Votes


class LiveCount:
    """A count of the answers to one question, each with the weight that its signal gives it."""

    def __init__(self, signal: VoteCount) -> None:
        self._signal = signal
        self._box = BallotBox()

    def add(self, answer: Hashable, fields: Mapping[str, float | None]) -> None:
        weight = 1.0 if answer is None else self._signal.weight(fields)
        self._box.add(answer, weight)

    def state(self) -> Votes:
        return self._box.votes()

    @property
    def leaders(self) -> list[Hashable]:
        """The leading answers in the order they came."""
        return self._box.leaders


class VoteCount(Signal):
    """Plain vote counts; the lead enters as steps and as exp(-lead/2).

    The second says that later votes tell less.
    """

    name = "votes"
    usual = True
    sign: ClassVar[int] = 1  #: whether a larger field makes a vote weigh more (1) or less (-1)
    sharpness = 0.0  #: how strongly the field changes the weight of a vote
    gain = 0.0  #: accuracy gained in training if this count closes the vote, not plain votes

    def count(self, streams: Streams) -> Votes:
        """Return the count after every answer."""
        return streams.votes(self.sign * self.sharpness, self.reads)

    def replayed(
        self,
        streams: Streams,
        columns: np.ndarray,
        features: ArrayLike | None,
        trained_on: bool,
    ) -> Votes:
        return self.count(streams).at(columns)

    def live(self, features: ArrayLike | None) -> LiveCount:
        return LiveCount(self)

    def weight(self, fields: Mapping[str, float | None]) -> float:
        """Return the weight of a readable answer whose reply has these fields."""
        return 1.0

    def features(self, state: Votes, lead: list) -> list:
        n = state.n
        ahead = state.leader - state.runner
        return [
            state.leader / n,
            state.runner / n,
            state.distinct / n,
            state.empty / n,
            np.exp(-0.5 * ahead),
            *(ahead >= k for k in (1, 2, 3, 4, 6)),
            state.leader >= 2,
            (state.leader <= 1) & (n >= 2),
        ]

    def lead(self, state: Votes) -> list:
        """Return how clear the vote is, for signals whose meaning depends on it."""
        return [state.leader / state.n, np.exp(-0.5 * (state.leader - state.runner))]

    def rules(self, state: Votes, cap: int, longest: int) -> list[Rule]:
        """Return plain rules with this cap: leads, giving up, and Beta thresholds.

        A rule gives up if no answer repeats.
        """
        waits = [NEVER, *(wait for wait in (3, 5, 8, 12) if wait < longest)]
        leads: list[Rule] = [
            Margin(ahead, cap, wait) for ahead in (1, 2, 3, 4, 5) for wait in waits
        ]
        return leads + [Confidence(level, cap) for level in (0.7, 0.8, 0.9, 0.95, 0.99)]
