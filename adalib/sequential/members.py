"""Members of the library: what is known at a checkpoint, and rules that need no fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from adalib.sequential.rules import NEVER, Confidence, Fixed, Margin, Rule, points_of
from adalib.sequential.value import state_features
from adalib.sequential.votes import Votes

__all__ = ["Member", "Seen", "plain_members", "plain_points"]


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


def plain_points(members: Sequence[Member], seen: Seen) -> np.ndarray:
    """Where plain members stop every stream, shape (M, members)."""
    found = np.empty((len(seen.plain.n), len(members)), dtype=np.int16)
    for weighted, votes in ((False, seen.plain), (True, seen.weighted)):
        places = [j for j, member in enumerate(members) if member.weighted == weighted]
        if places:
            found[:, places] = points_of([members[j].rule for j in places], votes)
    return found


def plain_members(schedule: np.ndarray, weighted: Votes | None) -> list[Member]:
    """Rules that need no fit: fixed numbers, leads and Beta thresholds with caps, quitting where nothing repeats."""
    longest = int(schedule[-1])
    caps = sorted({int(schedule[schedule >= min(cap, longest)][0]) for cap in (4, 8, 16, 24, longest)})
    waits = [NEVER, *(wait for wait in (3, 5, 8, 12) if wait < longest)]
    members = [Member(Fixed(int(answers))) for answers in schedule]
    for cap in caps:
        members += [Member(Margin(lead, cap, wait)) for lead in (1, 2, 3, 4, 5) for wait in waits]
        members += [Member(Confidence(level, cap)) for level in (0.7, 0.8, 0.9, 0.95, 0.99)]
        if weighted is not None:
            one = float((weighted.leader[:, 0]).mean())  # what an average answer weighs
            leads = (0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4)
            members += [Member(Margin(lead * one, cap), weighted=True) for lead in leads]
    return members
