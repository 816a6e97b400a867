"""What the text of a question is worth to each model, from ``record_models.py``.

The sets are "gsm8k-1.5b", "math-1.5b", "gsm8k-gpt4omini", and of Qwen2.5-7B on MATH both ends of
its votes, "math-7b-agree" and "math-7b-differ". Figures are means over deals of questions and
answers, with intervals that cover questions and deals.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from adabook.headline import averaged, over_deals
from adabook.prose import points
from adabook.recorded import recorded
from adalib.evaluate.heldout import TAUGHT
from adalib.evaluate.intervals import Interval


def frame() -> pd.DataFrame:
    """Return every policy's figures, a row per set, policy, target and way of paying.

    Columns: ``set``, ``policy``, ``target``, ``paid`` ("answers" or "tokens"), ``taught`` (the most
    training questions), ``cost`` (what was spent, in average answers), ``accuracy``, ``gain`` over
    the best mix of that cost with ``low`` and ``high``, ``lead`` over the static oracle's gain with
    ``lead_low`` and ``lead_high``, ``deals``, and ``words``, the gain in points as a text.
    """
    cells: dict[tuple[str, str, float, str, int], list[dict]] = {}
    for part, rows in recorded("models").items():
        name, *kind, _ = part.split(", ")
        paid = "tokens" if kind[0].endswith("in tokens") else "answers"
        taught = int(kind[0].split()[1]) if kind[0].startswith("taught") else TAUGHT
        for row in rows:
            key = (name, row["policy"], row["target"], paid, taught)
            cells.setdefault(key, []).append(row)
    columns = ("set", "policy", "target", "paid", "taught")
    return pd.DataFrame(
        [dict(zip(columns, key, strict=True)) | _over_deals(rows) for key, rows in cells.items()]
    )


def _over_deals(rows: list[dict]) -> dict[str, Any]:
    """Average a policy's figures and its lead over its deals."""
    found = averaged(rows)
    lead = over_deals([Interval(*row["over_oracle"]) for row in rows])
    return {
        **found,
        "lead": lead.mean,
        "lead_low": lead.low,
        "lead_high": lead.high,
        "deals": len(rows),
        "words": points((found["gain"], found["low"], found["high"]), digits=2),
    }
