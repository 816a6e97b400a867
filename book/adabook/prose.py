"""Numbers for the text: what a chapter computes, its prose quotes by name, or prints in points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from adalib.evaluate.intervals import Interval, in_points


def give(prefix: str = "", **values: Any) -> None:
    """Hand values to the prose: after ``give("budgets_", over=6)`` it may quote ``budgets_over``.

    An `Interval` becomes ``_mean``, ``_low`` and ``_high``. Explained in the teaching page, "How to
    add a chapter".
    """
    for name, value in named(prefix, values).items():
        glue(name, value)


def glue(name: str, value: Any, display: bool = False) -> None:
    """Hand one value to the prose, and show it if asked; do nothing where no page is made."""
    try:
        from myst_nb import glue as to_the_page  # the book's, not the package's
    except ImportError:
        return
    to_the_page(name, value, display=display)


def points(gain: Interval | Iterable[float], digits: int = 1) -> str:
    """Write a gain of accuracy and the ends of its interval in points, as the book prints them.

    >>> points(Interval(0.012, 0.004, 0.02)), points((-0.0123, -0.02, 0.0), digits=2)
    ('+1.2 [+0.4, +2.0]', '-1.23 [-2.00, +0.00]')
    """
    ends = (gain.mean, gain.low, gain.high) if isinstance(gain, Interval) else gain
    mean, low, high = (in_points(float(end), digits) for end in ends)
    return f"{mean} [{low}, {high}]"


def named(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    """The names and plain values that `give` hands out.

    >>> named("budgets_", {"over": np.int64(6), "gain": Interval(0.2, np.float64(0.1), 0.3)})
    {'budgets_over': 6, 'budgets_gain_mean': 0.2, 'budgets_gain_low': 0.1, 'budgets_gain_high': 0.3}
    """
    plain: dict[str, Any] = {}
    for name, value in values.items():
        parts = {name: value}
        if isinstance(value, Interval):
            parts = {f"{name}_{part}": getattr(value, part) for part in ("mean", "low", "high")}
        # A numpy number would be quoted with its type.
        plain |= {
            prefix + key: part.item() if isinstance(part, np.generic) else part
            for key, part in parts.items()
        }
    return plain
