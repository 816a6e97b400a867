"""One answer that is being asked for: who waits for it reads here how far it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Runner:
    """One answer while it is being written.

    Attributes
    ----------
    number : int
        Which answer to its question it is, from 0.
    started : float
        The clock of its race when it started, in tokens.
    tokens : float or None
        Tokens generated so far. Whoever asks may keep it up to date, so that a cancelled answer is
        booked with what it had really generated; otherwise the clock of the race is used.
    paid : bool
        Whether it is booked even if nothing comes. Who asks may say that its request has not been
        sent yet, or was refused with an error, which costs nothing.
    """

    number: int
    started: float = 0.0
    tokens: float | None = None
    paid: bool = True
