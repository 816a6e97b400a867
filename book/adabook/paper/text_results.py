"""What policies that read the text reach on both benchmarks, from ``data/record_text.py``.

A held-out gain depends on how the questions were dealt into folds and the answers into halves, so
every figure here is a mean over five deals, with an interval that covers questions and deals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from adabook.headline import over_deals
from adabook.recorded import recorded
from adalib.evaluate.intervals import Interval


def held_out_text() -> pd.DataFrame:
    """Every policy's held-out cost and gain in points on both benchmarks, over the five deals.

    Columns: ``benchmark``, ``policy``, ``target``, ``cost``, ``accuracy``, ``gain``, ``low``,
    ``high``, and ``words``, the gain with its interval as a text.
    """
    by_policy: dict[tuple[str, str, float], list[dict]] = {}
    for part, rows in recorded("text").items():
        name, description, *deal = part.split(", ")
        if not deal or description in ("all questions", "weighted"):
            continue
        suffix = f", 16 features {description}" if description in ("counted", "reused") else ""
        for row in rows:
            if row["policy"] == "mix":  # the others are compared with it
                continue
            key = (name.upper(), row["policy"] + suffix, row["target"])
            by_policy.setdefault(key, []).append(row)
    return pd.DataFrame([_averaged(*key, rows) for key, rows in by_policy.items()])


def _averaged(benchmark: str, policy: str, target: float, rows: Sequence[dict]) -> dict:
    """One policy's figures, averaged over its deals."""
    gain = over_deals([Interval(row["gain"], row["gain_low"], row["gain_high"]) for row in rows])
    mean, low, high = (100 * end for end in (gain.mean, gain.low, gain.high))
    return {
        "benchmark": benchmark,
        "policy": policy,
        "target": target,
        "cost": np.mean([row["cost"] for row in rows]),
        "accuracy": np.mean([row["accuracy"] for row in rows]),
        "gain": mean,
        "low": low,
        "high": high,
        "words": f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]",
    }
