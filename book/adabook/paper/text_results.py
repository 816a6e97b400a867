"""What policies that read the text reach on both benchmarks, from ``data/record_text.py``.

A held-out gain depends on how the questions were dealt into folds and the answers into halves, so
every figure here is a mean over five deals, with an interval that covers questions and deals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from adabook.headline import over_deals
from adabook.paper.settings import PAPER, TARGETS
from adabook.recorded import recorded
from adalib.evaluate.intervals import Interval

#: The paper's model next to which a benchmark is shown.
PRINTED = {"GSM8K": "deepseek-v3-gsm8k", "MATH": "qwen2.5-7b-math"}
#: Rows of the main table: the paper's name of a method, and the name of its held-out row.
METHODS = {
    "Fixed": "fixed",
    "Random": "random",
    "Heuristic": "length",
    "Ours": "label",
    "Oracle": "oracle",
}


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


def ranked_with_weighted_votes(benchmark: str) -> Interval:
    """What the ranked classifier gains if all votes are weighted, on the 300 first questions."""
    found = [
        Interval(row["gain"], row["gain_low"], row["gain_high"])
        for part, rows in recorded("text").items()
        if part.startswith(f"{benchmark}, weighted")
        for row in rows
    ]
    return over_deals(found)


def main_table(benchmark: str) -> pd.DataFrame:
    """The paper's main table three ways: printed, on all questions, and on new questions."""
    held_out = held_out_text().set_index(["benchmark", "policy", "target"]).accuracy
    within = {
        kind: {
            (row["policy"], row["target"]): row["accuracy"]
            for row in recorded("text")[f"{benchmark.lower()}, all questions, {kind}"]
        }
        for kind in ("text", "noise")
    }
    rows = []
    for method, policy in METHODS.items():
        printed = PAPER[PRINTED[benchmark]]["main"][method]["accuracy"]
        everyone = [within["text"][method, target] for target in TARGETS]
        new = [held_out[benchmark, policy, target] for target in TARGETS]
        rows.append((policy, _spelled(printed), _spelled(everyone), _spelled(new)))
    everyone = [within["noise"]["Ours", target] for target in TARGETS]
    new = [held_out[benchmark, "noise", target] for target in TARGETS]
    rows.append(("label, noise", "", _spelled(everyone), _spelled(new)))
    ranked = [held_out[benchmark, "ranked", target] for target in TARGETS]
    rows.append(("ranked", "", "", _spelled(ranked)))
    return pd.DataFrame(rows, columns=["policy", "printed", "all questions", "new questions"])


def _spelled(accuracies: Sequence[float]) -> str:
    """Three accuracies in one cell that is not broken."""
    return "\N{NO-BREAK SPACE}·\N{NO-BREAK SPACE}".join(f"{value:.3f}" for value in accuracies)
