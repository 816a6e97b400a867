"""What every policy gains with each model, from ``record_policies.py``.

The sets are those of `adabook.protocol`. Figures are means over deals of questions and answers,
with intervals that cover questions and deals.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

from adabook.headline import averaged, over_deals
from adabook.prose import points
from adabook.recorded import recorded
from adalib.evaluate.heldout import TAUGHT
from adalib.evaluate.intervals import Interval

#: Families of policies that are ours or the paper's, and take a budget.
_FAMILIES = ("plans", "words", "watches")


def frame() -> pd.DataFrame:
    """Return every policy's figures, a row per set, policy, target and way of paying.

    Columns: ``set``, ``policy``, ``target``, ``paid`` ("answers" or "tokens"), ``taught`` (the most
    training questions), ``cost`` (what was spent, in average answers), ``accuracy``, ``gain`` over
    the same for everyone at that cost with ``low`` and ``high``, ``lead`` over the static oracle's
    gain with ``lead_low`` and ``lead_high``, ``deals``, and ``words``, the gain in points as a
    text.
    """
    return _frame().copy()


@cache
def _frame() -> pd.DataFrame:
    cells: dict[tuple[str, str, float, str, int], list[dict]] = {}
    for (name, paid, family), rows in families().items():
        taught = int(family.split()[1]) if family.startswith("taught") else TAUGHT
        if paid == "other marks" or (taught == TAUGHT and family not in _FAMILIES):
            continue
        for row in rows:
            cells.setdefault((name, row["policy"], row["target"], paid, taught), []).append(row)
    columns = ("set", "policy", "target", "paid", "taught")
    return pd.DataFrame(
        [dict(zip(columns, key, strict=True)) | _over_deals(rows) for key, rows in cells.items()]
    )


@cache
def families() -> dict[tuple[str, str, str], list[dict]]:
    """Return the rows of the record by set, by what is paid and by family, of all deals."""
    found: dict[tuple[str, str, str], list[dict]] = {}
    for part, rows in recorded("policies").items():
        name, paid, family, _ = part.split(", ")
        found.setdefault((name, paid, family), []).extend(rows)
    return found


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
