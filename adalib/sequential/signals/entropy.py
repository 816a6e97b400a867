"""How many ways to go on the model saw."""

from __future__ import annotations

from adalib.sequential.signals.weighted import WeightedCount


class TokenEntropy(WeightedCount):
    """Votes weighted by the mean entropy of the model's tokens: the more uncertain, the lighter."""

    name = "entropy"
    reads = "entropy"
    sign = -1
    field_in_words = "mean token entropy"
