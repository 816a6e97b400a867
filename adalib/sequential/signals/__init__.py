"""The signals of priced stopping, and the registry that finds them.

A signal is a subclass of `Signal` with a ``name``, in a module of this folder. Everything that
stops under a price (a replay, a session, a saved policy) reads `SIGNALS` and names none of them.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from adalib.sequential.signals.base import Signal
from adalib.sequential.signals.votes import VoteCount

__all__ = ["SIGNALS", "signal_types", "usual_signals"]


def signal_types() -> dict[str, type[Signal]]:
    """Return every signal of this folder by name: votes first, then by the alphabet."""
    found: dict[str, type[Signal]] = {}
    for module in pkgutil.iter_modules(__path__):
        for item in vars(import_module(f"{__name__}.{module.name}")).values():
            is_signal = isinstance(item, type) and issubclass(item, Signal)
            if is_signal and "name" in vars(item):  # a base class has no name of its own
                found[item.name] = item
    votes = found.pop(VoteCount.name)
    return {votes.name: votes, **dict(sorted(found.items()))}


#: Every signal by its name. A rule's coefficients are in this order.
SIGNALS = signal_types()


def usual_signals() -> list[str]:
    """Return the names of the signals that a policy uses unless it is given others.

    A signal says ``usual = True`` itself; what its base class says does not count.
    """
    return [name for name, signal in SIGNALS.items() if vars(signal).get("usual", False)]
