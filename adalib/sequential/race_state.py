"""What a priced race knows at a finish, what it may do there, and the rules that decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adalib.datasets.saved import number, numbers, whole
from adalib.sequential.evidence import Evidence

STARTS = (1, 2, 3, 4, 6, 8, 12)  #: sizes of the first wave
_LOOKS = (1, 2, 3, 4)  # finishes at which a second wave may start
_MORE = (2, 4)  # sizes of the second wave

#: A moment of decision: the second wave's look and size (0, 0 without one), and finishes so far.
Finish = tuple[int, int, int]


def second_waves(start: int, finished: int, most: int) -> list[int]:
    """Return the sizes of a second wave that may start after ``finished`` of ``start`` answers."""
    if finished not in _LOOKS:
        return []
    return [more for more in _MORE if start + more <= most]


def decision_points(start: int, most: int) -> dict[Finish, int]:
    """Return every finish with a decision, and how many options it has besides closing."""
    points: dict[Finish, int] = {}
    for finished in range(1, start + 1):
        waves = second_waves(start, finished, most)
        options = int(finished < start) + len(waves)
        if options:
            points[0, 0, finished] = options
        for more in waves:
            for later in range(finished + 1, start + more):
                points[finished, more, later] = 1
    return points


def race_features(
    evidence: Evidence, clock: Any, second_age: Any, first_running: Any, second: bool
) -> np.ndarray:
    """Return the features of a race at one finish, shape (d, ...).

    Times are in average answers: since the start, and since the second wave started, if one did.
    How many answers run in all is not a feature, since every number of finishes has its own rule.
    """
    lead = evidence.deciding_count.lead(evidence.votes)
    times = [clock, np.sqrt(clock), np.exp(-clock), *(clock * clear for clear in lead)]
    if second:
        times += [second_age, np.exp(-second_age), first_running]
    return np.concatenate([evidence.features(), np.array(times, dtype=float)])


def feature_count(evidence: Evidence, second: bool) -> int:
    """Return how many features a race has with these signals."""
    return race_features(evidence, 1.0, 0.0, 0, second).size


@dataclass(frozen=True, eq=False)
class PricedMember:
    """A race that starts ``start`` answers and follows fitted rules, at one pair of prices.

    ``rules`` has, for every finish with a decision, coefficients of shape (options, d + 1), the
    constant first: of waiting for the next finish (if an answer runs), then of every second wave.
    """

    start: int
    most: int  #: answers of both waves, at most
    token_price: float  #: accuracy per tokens of an average answer
    waiting_price: float  #: accuracy per time of an average answer
    rules: dict[Finish, np.ndarray] = field(repr=False)

    @property
    def answers(self) -> int:
        """The most answers that start."""
        return self.start + max([0, *(more for _, more, _ in self.rules)])

    def gains(self, finish: Finish, features: np.ndarray) -> np.ndarray:
        """Return what every option promises over closing, shape (..., options)."""
        rules = self.rules[finish]
        return rules[:, 0] + features.T @ rules[:, 1:].T

    def to_dict(self) -> dict[str, Any]:
        """Return the member as plain values."""
        return {
            "start": self.start,
            "token_price": self.token_price,
            "waiting_price": self.waiting_price,
            "rules": [[*finish, rule.tolist()] for finish, rule in self.rules.items()],
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any], most: int, evidence: Evidence) -> PricedMember:
        """Return the member that `to_dict` described; raise ValueError if it is not sound."""
        start = whole(saved["start"], "start", 1, most)
        points = decision_points(start, most)
        rules = {}
        for look, more, finished, rule in saved["rules"]:
            finish = (look, more, finished)
            shape = (points.pop(finish), feature_count(evidence, second=more > 0) + 1)
            rules[finish] = numbers(rule, "rules", shape)
        if points:
            raise ValueError("a race has no rule for some of its finishes")
        token_price = number(saved["token_price"], "token_price", 0)
        waiting_price = number(saved["waiting_price"], "waiting_price", 0)
        return cls(start, most, token_price, waiting_price, rules)
