"""How sure the model was of its answer."""

from __future__ import annotations

from adalib.sequential.signals.weighted import WeightedCount


class Certainty(WeightedCount):
    """Votes weighted by the mean log-probability of the tokens that the model wrote."""

    name = "certainty"
    usual = True
    reads = "logprob"
    field_in_words = "log-probability"
