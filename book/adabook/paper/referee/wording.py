"""What the verdicts on claims share: what a function that decides returns, and some words."""

from __future__ import annotations

from adalib.evaluate.heldout import HeldOutRow
from adalib.evaluate.intervals import Interval, in_points

#: A number, the sentence that holds it, and whether it bears our verdict out.
Finding = tuple[float, str, bool]

BOTH = "on GSM8K and MATH"


def with_interval(gain: Interval | HeldOutRow, digits: int = 1) -> str:
    """Return a gain in points with its interval; ``gain`` is an `Interval` or a held-out row."""
    names = ("gain", "gain_low", "gain_high") if hasattr(gain, "gain") else ("mean", "low", "high")
    mean, low, high = (in_points(getattr(gain, name), digits) for name in names)
    return f"{mean} points [{low}, {high}]"
