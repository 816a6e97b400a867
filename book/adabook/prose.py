"""Numbers for the text: what a chapter computes, its prose quotes by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from adalib.evaluate.intervals import Interval


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
