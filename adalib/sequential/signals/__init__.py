"""The signals of priced stopping, and their registry.

A signal is a subclass of `Signal` with a ``name``. Everything that stops under a price (a replay, a
session, a saved policy) reads `SIGNALS` and names none of them.
"""

from __future__ import annotations

from adalib.sequential.signals.base import Signal
from adalib.sequential.signals.text import Text
from adalib.sequential.signals.votes import VoteCount
from adalib.sequential.signals.weighted import Certainty, Length, TokenEntropy

__all__ = ["SIGNALS", "usual_signals"]

#: Every signal by its name. A rule's coefficients are in this order.
SIGNALS: dict[str, type[Signal]] = {
    signal.name: signal for signal in (VoteCount, Certainty, TokenEntropy, Length, Text)
}


def usual_signals() -> list[str]:
    """Return the names of the signals that a policy uses unless it is given others.

    A signal says ``usual = True`` itself; what its base class says does not count.
    """
    return [name for name, signal in SIGNALS.items() if vars(signal).get("usual", False)]
