"""What the text of a question is worth to each model, from ``record_models.py``.

The sets are "gsm8k-1.5b", "math-1.5b", "gsm8k-gpt4omini", and of Qwen2.5-7B on MATH both ends of
its votes, "math-7b-agree" and "math-7b-differ" (at temperature 1.0 "math-7b-hot-agree" and
"math-7b-hot-differ"). Figures are means over deals of questions and answers, with intervals that
cover questions and deals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from adabook.headline import over_deals
from adabook.recorded import recorded
from adalib.evaluate.heldout import TAUGHT
from adalib.evaluate.intervals import Interval

_MEANS = ("cost", "accuracy")


def frame() -> pd.DataFrame:
    """Return every policy's figures, a row per set, policy, target and way of paying.

    Columns: ``set``, ``policy``, ``target``, ``paid`` ("answers" or "tokens"), ``taught`` (the most
    training questions), ``cost`` (what was spent, in average answers), ``accuracy``, ``gain`` over
    the best mix of that cost with ``low`` and ``high``, ``lead`` over the static oracle's gain with
    ``lead_low`` and ``lead_high``, ``deals``, and ``words``, the gain in points as a text.
    """
    cells: dict[tuple[str, str, float, str, int], list[dict]] = {}
    for part, rows in recorded("models").items():
        if ", deal " not in part:
            continue
        name, *kind, _ = part.split(", ")
        paid = "tokens" if kind[0].endswith("in tokens") else "answers"
        taught = int(kind[0].split()[1]) if kind[0].startswith("taught") else TAUGHT
        for row in rows:
            key = (name, row["policy"], row["target"], paid, taught)
            cells.setdefault(key, []).append(row)
    return pd.DataFrame([_averaged(*key, rows) for key, rows in cells.items()])


def _averaged(
    name: str, policy: str, target: float, paid: str, taught: int, rows: list[dict]
) -> dict[str, Any]:
    """Average a policy's figures over its deals; one deal alone keeps its interval."""
    gain = _together([_gain(row) for row in rows])
    lead = _together([Interval(*row["over_oracle"]) for row in rows])
    means = {figure: float(np.mean([row[figure] for row in rows])) for figure in _MEANS}
    return {
        "set": name,
        "policy": policy,
        "target": target,
        "paid": paid,
        "taught": taught,
        **means,
        "gain": gain.mean,
        "low": gain.low,
        "high": gain.high,
        "lead": lead.mean,
        "lead_low": lead.low,
        "lead_high": lead.high,
        "deals": len(rows),
        "words": f"{100 * gain.mean:+.2f} [{100 * gain.low:+.2f}, {100 * gain.high:+.2f}]",
    }


def _gain(row: dict) -> Interval:
    """Return a recorded gain with its interval; the mix, which gains nothing, has none."""
    ends = [0.0 if row[end] is None else row[end] for end in ("gain", "gain_low", "gain_high")]
    return Interval(*ends)


def _together(found: list[Interval]) -> Interval:
    """Return the mean of several deals with its interval."""
    return over_deals(found) if len(found) > 1 else found[0]


def explained() -> pd.DataFrame:
    """Return the share of the variance between questions that a description explains, held out.

    Columns: ``set``, ``policy`` (the description: single features, "surface", "words" …),
    ``quantity`` ("one answer", or "improvement" from 1 answer to 16), ``explained`` with ``low``
    and ``high``, and ``deviation``, the true standard deviation between questions.
    """
    return _rows_of("explained")


def concentrated() -> pd.DataFrame:
    """Return which ``share`` of the improvement the ``top`` share of the questions holds.

    Further columns: ``improvement`` in all, and the share of questions that are ``undecided``
    (neither always nor never right).
    """
    return _rows_of("concentrated")


def levels() -> pd.DataFrame:
    """Return accuracy by ``model``, ``votes`` ("agree", "differ", "real vote"), level, budget.

    Columns: those four, ``questions``, ``accuracy``, ``low`` and ``high``.
    """
    return pd.DataFrame(recorded("models")["levels"]).drop(columns="part")


def _rows_of(kind: str) -> pd.DataFrame:
    """Return the rows of a kind of part for every set."""
    return pd.DataFrame(
        [
            {"set": part.partition(", ")[0]} | {key: row[key] for key in row if key != "part"}
            for part, rows in recorded("models").items()
            if part.endswith(f", {kind}")
            for row in rows
        ]
    )
