r"""Votes weighted by :math:`e^{\pm\kappa x}`, where x is a field of the model's reply.

Three signals do so: how sure the model was (`Certainty`), how many ways to go on it saw
(`TokenEntropy`), and how much it wrote (`Length`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from adalib.datasets.files import number
from adalib.sequential.rules import Margin, Rule
from adalib.sequential.signals.base import Lesson
from adalib.sequential.signals.votes import VoteCount
from adalib.sequential.votes import Votes, count_votes, vote_weight

_EARLY = 8  # checkpoints at which sharpnesses are compared


class WeightedCount(VoteCount):
    r"""Base class: votes with weights from a field of the reply.

    The sharpness :math:`\kappa` is the one that votes best on early training answers. Where that is
    0, the field says nothing, and the signal is left out. A subclass names the field.
    """

    field_in_words: ClassVar[str]

    def steps(self, values: np.ndarray) -> Sequence[float]:
        """Return the sharpnesses to compare, 0 first."""
        return (0.0, 1.5, 3.0, 6.0, 12.0)

    def fit(self, lesson: Lesson) -> bool:
        early = lesson.schedule[:_EARLY]
        values = lesson.streams.read(self.reads)
        if values is None:
            return False
        longest = early[-1]
        classes = lesson.streams.classes[:, :longest]
        worth = lesson.streams.worth[:, :longest]
        values = values[:, :longest]
        steps = self.steps(values)
        weights = [None, *(vote_weight(self.sign * step, values) for step in steps[1:])]
        accuracies = [
            count_votes(classes, worth, weight).at(early - 1).value.mean() for weight in weights
        ]
        best = int(np.argmax(accuracies))
        self.sharpness = float(steps[best])
        self.gain = float(accuracies[best] - accuracies[0])
        return best > 0

    def weight(self, fields: Mapping[str, float | None]) -> float:
        value = fields.get(self.reads)
        if value is None:
            raise ValueError(
                f"this policy weights answers by their {self.field_in_words}; "
                f"give {self.reads} with every answer"
            )
        return float(vote_weight(self.sign * self.sharpness, value))

    def features(self, state: Votes, lead: list) -> list:
        first = state.leader
        second = state.runner
        ahead = first - second
        return [
            first,
            second,
            ahead,
            first / (first + second + 1e-9),
            np.exp(-2 * ahead),
            np.exp(-6 * ahead),
            np.log(first + 1e-3),
            first / state.n,
            np.exp(-2 * first),
            first * first,
            first * second,
            second * second,
        ]

    def lead(self, state: Votes) -> list:
        return [np.exp(-2 * (state.leader - state.runner)), state.leader, state.runner]

    def rules(self, state: Votes, cap: int, longest: int) -> list[Rule]:
        mean_weight = float(state.leader[:, 0].mean())
        leads = (0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4)
        return [Margin(ahead * mean_weight, cap) for ahead in leads]

    def to_dict(self) -> dict[str, Any]:
        return {"sharpness": self.sharpness}

    def restore(self, saved: dict[str, Any]) -> None:
        self.sharpness = number(saved["sharpness"], "sharpness", 1e-9, 1e3)


class Certainty(WeightedCount):
    """Votes weighted by the mean log-probability of the tokens that the model wrote."""

    name = "certainty"
    usual = True
    reads = "logprob"
    field_in_words = "log-probability"


class TokenEntropy(WeightedCount):
    """Votes weighted by the mean entropy of the model's tokens: the more uncertain, the lighter."""

    name = "entropy"
    reads = "entropy"
    sign = -1
    field_in_words = "mean token entropy"


class Length(WeightedCount):
    """Votes weighted by tokens: every endpoint reports them, and long answers are often wrong.

    Where weighting by length does not improve the vote, plain votes close it, and the length only
    helps to decide when to stop.
    """

    name = "length"
    usual = True
    unless = "certainty"  # next to which it adds nothing
    reads = "tokens"
    sign = -1
    field_in_words = "number of tokens"

    def steps(self, values: np.ndarray) -> Sequence[float]:
        mean = max(float(values.mean()), 1.0)
        return [step / mean for step in (0.0, 0.5, 1.0, 2.0, 4.0)]

    def fit(self, lesson: Lesson) -> bool:
        tokens = lesson.answers.tokens
        if tokens is None or not np.ptp(tokens):
            return False
        if not super().fit(lesson):
            self.sharpness = 1 / max(float(tokens.mean()), 1.0)
            self.gain = -1.0  # below plain votes, so that this count never closes the vote
        return True
