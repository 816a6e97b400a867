"""One question, answer by answer: the policy at work."""

from __future__ import annotations

from collections.abc import Hashable
from math import log
from typing import TYPE_CHECKING

import numpy as np

from adalib.sequential.value import state_features
from adalib.sequential.votes import Votes

if TYPE_CHECKING:
    from adalib.sequential.members import Member
    from adalib.sequential.priced import PricedStopping

__all__ = ["Session"]


class Session:
    """The vote on one question, with a policy that says whether to go on.

    Made by `PricedStopping.start`. Explained in chapter 10, "When to stop".

    Parameters
    ----------
    policy : PricedStopping
    member : Member
        The member of the library that the coin chose for this question.
    prior : ndarray, shape (2,), or None
        What the text says.
    """

    def __init__(self, policy: PricedStopping, member: Member, prior: np.ndarray | None) -> None:
        self._policy, self._member, self._prior = policy, member, prior
        self._votes: dict[Hashable, int] = {}
        self._weights: dict[Hashable, float] = {}
        self._checkpoints = {int(n): column for column, n in enumerate(policy.schedule)}
        self._n = self._empty = self._run = 0
        self._last: Hashable = None
        self._go = True

    @property
    def goes_on(self) -> bool:
        """Whether another answer is worth its price."""
        return self._go

    @property
    def leaders(self) -> list[Hashable]:
        """The answers that lead the vote, in the order they came: one, several that are tied, or none."""
        counts = self._weights if self._policy.sharpness else self._votes
        return [answer for answer, votes in counts.items() if votes == max(counts.values())]

    def add(self, answer: Hashable, logprob: float | None = None) -> bool:
        """Count one more answer, and say whether to go on.

        Parameters
        ----------
        answer : hashable
            Equal answers are one class; None or "" is an answer that could not be read.
        logprob : float, optional
            Mean log-probability of its tokens; needed where the policy weighs by certainty.

        Returns
        -------
        bool
        """
        self._n += 1
        if answer is None or answer == "":
            self._empty += 1
            self._run = 0
        else:
            self._votes[answer] = self._votes.get(answer, 0) + 1
            self._weights[answer] = self._weights.get(answer, 0.0) + self._weight(logprob)
            self._run = self._run + 1 if answer == self._last else 1
        self._last = answer
        column = self._checkpoints.get(self._n)
        if self._n >= self._policy.schedule[-1]:
            self._go = False
        elif column is not None:
            self._go = not self._stops(column)
        return self._go

    def _weight(self, logprob: float | None) -> float:
        if not self._policy.sharpness:
            return 1.0
        if logprob is None:
            raise ValueError("this policy weighs answers by their log-probability; give logprob with every answer")
        return float(np.exp(max(self._policy.sharpness * logprob, -600.0)))

    def _state(self, counts: dict[Hashable, float]) -> Votes:
        first, second = 0.0, 0.0
        for votes in counts.values():
            if votes > first:
                first, second = votes, first
            elif votes > second:
                second = votes
        log_sum = sum(votes * log(votes) for votes in counts.values())
        return Votes(self._n, first, second, len(counts), self._empty, self._run, log_sum, np.nan)

    def _stops(self, column: int) -> bool:
        weighted = self._state(self._weights) if self._policy.sharpness else None
        if self._member.rule is not None:
            votes = weighted if self._member.weighted else self._state(self._votes)
            return bool(self._member.rule.stops(votes))
        known = state_features(self._state(self._votes), weighted, self._prior)
        fitted = self._policy.coefficients[column, :, self._member.price]
        return bool(fitted[0] + known @ fitted[1:] <= 0)
