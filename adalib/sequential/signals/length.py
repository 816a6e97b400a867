"""How much the model wrote."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adalib.sequential.signals.base import Lesson
from adalib.sequential.signals.weighted import WeightedCount


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
