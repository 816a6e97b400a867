"""Members of the library: what is known at a checkpoint, and rules that need no fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adalib.sequential.rules import Confidence, Fixed, Margin, Rule, stopping_points
from adalib.sequential.value import state_features
from adalib.sequential.votes import Votes

__all__ = ["Member", "Seen", "plain_members"]


class Seen(NamedTuple):
    """What is known at every checkpoint: the votes, the votes weighted by certainty, and what the text says."""

    plain: Votes
    weighted: Votes | None
    prior: np.ndarray | None

    @property
    def value(self) -> np.ndarray:
        """What the vote is worth at every checkpoint: the weighted one, where certainty is known."""
        return (self.plain if self.weighted is None else self.weighted).value

    def features(self, column: int) -> np.ndarray:
        """The features at one checkpoint, shape (d, M)."""
        weighted = None if self.weighted is None else self.weighted.at(column)
        return state_features(self.plain.at(column), weighted, self.prior)


class Member(NamedTuple):
    """A member of the library: a plain rule on plain or weighted votes, or (rule None) a priced one."""

    rule: Rule | None
    weighted: bool = False
    price: int = -1

    def points(self, seen: Seen) -> np.ndarray:
        """Where a plain rule stops every stream."""
        return stopping_points(self.rule, seen.weighted if self.weighted else seen.plain)


def plain_members(schedule: np.ndarray, weighted: Votes | None) -> list[Member]:
    """Rules that need no fit: fixed numbers, leads and Beta thresholds with caps, quitting where nothing repeats."""
    longest = int(schedule[-1])
    caps = sorted({int(schedule[schedule >= min(cap, longest)][0]) for cap in (4, 8, 16, 24, longest)})
    waits = [10**9, *(wait for wait in (3, 5, 8, 12) if wait < longest)]
    members = [Member(Fixed(int(answers))) for answers in schedule]
    for cap in caps:
        members += [Member(Margin(lead, cap, wait)) for lead in (1, 2, 3, 4, 5) for wait in waits]
        members += [Member(Confidence(level, cap)) for level in (0.7, 0.8, 0.9, 0.95, 0.99)]
        if weighted is not None:
            one = float((weighted.leader[:, 0]).mean())  # what an average answer weighs
            leads = (0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4)
            members += [Member(Margin(lead * one, cap), weighted=True) for lead in leads]
    return members
