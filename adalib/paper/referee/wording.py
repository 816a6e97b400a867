"""Words that several verdicts share."""

from __future__ import annotations

from adalib.evaluate.intervals import in_points

BOTH = "on GSM8K and MATH"


def with_interval(gain, digits: int = 1) -> str:
    """Return a gain in points with its interval; ``gain`` is an `Interval` or a held-out row."""
    names = ("gain", "gain_low", "gain_high") if hasattr(gain, "gain") else ("mean", "low", "high")
    mean, low, high = (in_points(getattr(gain, name), digits) for name in names)
    return f"{mean} points [{low}, {high}]"
