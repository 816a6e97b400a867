"""The page of all policies on three open sets, read from what ``record_policies.py`` wrote.

`adabook.scoreboard` is the short one, with the rows that the chapters earn.
"""

from __future__ import annotations

from base64 import b64encode
from types import SimpleNamespace
from typing import Any

import pandas as pd

from adabook.figures.page import HTML
from adabook.headline import averaged, over_deals
from adabook.paper.models import families
from adabook.prose import points
from adabook.protocol import RIVALS, VOTED
from adalib.evaluate.gains import Gain, gains_figure
from adalib.evaluate.intervals import Interval

#: The sets, with their titles.
SETS = {name: VOTED[name] for name in RIVALS}
#: What the page calls the rows, by their names in the record; a class that is not here, by its own.
NAMES = {
    "oracle": "the oracle",
    "three": "three answers for everyone",
    "fixed": "Fixed, on the paper's menu",
    "length": "longest questions first, on the paper's menu",
    "label": "the paper's classifier",
    "curve": "curves predicted from the text",
    "noise": "random numbers as text",
    "ranked": "the classifier, made to spend",
    "votes": "watching the votes",
    "all signals": "watching every signal",
    "race": "the race",
    "margin": "a lead, tuned",
    "adaptive_consistency": "Adaptive-Consistency, tuned",
    "esc": "ESC, tuned",
    "AdaptiveConsistency": "Adaptive-Consistency",
    "Cges": "CGES",
    "Cisc": "CISC",
    "DeepConf": "DeepConf",
    "Doubling": "doubling until three quarters agree",
    "EarlyStopping": "ESC",
    "LearnedPrior": "a leader by a learned prior",
    "Lead": "a lead of three votes",
    "TwoAgree": "until two agree",
    "TwoInARow": "two equal in a row",
    "Uab": "UAB",
    "WaldsTest": "Wald's test",
    "Weitzman": "Weitzman's reservation value",
}
#: Ours among them.
OURS = ("curve", "votes", "all signals", "race")
#: The parts of the record where every question has the marks of another one's answers.
NULL = "other marks"


def rows(name: str, paid: str = "answers") -> list[Any]:
    """Return the rows of a set, over its deals: what is recorded of each, under its attributes.

    >>> [row.policy for row in rows("gsm8k-gpt4omini") if row.target == 3][:3]
    ['oracle', 'fixed', 'length']
    """
    cells: dict[tuple[str, float], list[dict]] = {}
    for (of, was_paid, family), found in families().items():
        if (of, was_paid) != (name, paid) or family in ("bill", "time"):
            continue
        for row in found:
            if row["policy"] in NAMES:
                cells.setdefault((row["policy"], row["target"]), []).append(row)
    return [_row(policy, target, deals) for (policy, target), deals in cells.items()]


def _row(policy: str, target: float | None, deals: list[dict]) -> SimpleNamespace:
    """Return a policy's row over its deals; one without a budget is plotted at what it spends."""
    found = averaged(deals)
    row = SimpleNamespace(
        policy=policy,
        kind=deals[0]["kind"],
        target=target,
        cost=found["cost"],
        accuracy=found["accuracy"],
        mix_accuracy=found["accuracy"] - found["gain"],
        gain=found["gain"],
        gain_low=found["low"],
        gain_high=found["high"],
    )
    for by in deals[0].get("over", {}):
        lead = over_deals([Interval(*deal["over"][by]) for deal in deals])
        row.__dict__.setdefault("over", {})[by] = [lead.mean, lead.low, lead.high]
    return row


def tables() -> list[tuple[str, str]]:
    """Return the sets and what is paid on each, in the order of the page.

    >>> tables()[0]
    ('gsm8k-gpt4omini', 'answers')
    """
    return [(name, paid) for name in SETS for paid in ("answers", "tokens")]


def everything() -> pd.DataFrame:
    """Tabulate every row of every set: what it spends and gains, and our lead at its own cost.

    The lead is that of watching the votes, over a rule that takes no budget.

    >>> everything().columns[:4].tolist()
    ['set', 'paid', 'policy', 'budget']
    """
    return pd.DataFrame(
        [
            {
                "set": SETS[name],
                "paid": paid,
                "policy": NAMES.get(row.policy, row.policy),
                "budget": row.target,
                "spent": row.cost,
                "right": row.accuracy,
                "gain": row.gain,
                "gain_low": row.gain_low,
                "gain_high": row.gain_high,
            }
            | dict(zip(("lead", "lead_low", "lead_high"), _lead(row), strict=False))
            for name, paid in tables()
            for row in rows(name, paid)
        ]
    )


def _lead(row: SimpleNamespace) -> list[float]:
    """Our lead by votes on a rule at its own cost, with its ends; nothing if it takes a budget."""
    return row.over["votes"] if hasattr(row, "over") else []


def download() -> HTML:
    """Show a link that saves `everything` as a table to be opened elsewhere."""
    csv = everything().round(5).to_csv(index=False)
    packed = b64encode(csv.encode()).decode()
    return HTML(
        f'<p><a download="all-policies.csv" href="data:text/csv;base64,{packed}">'
        f"Every row as a table</a> (CSV, {len(csv) / 1000:.0f} kB)</p>"
    )


def compared() -> pd.DataFrame:
    """Return the lead of watching the votes on every rule, at the rule's own cost.

    Columns: ``set``, ``paid``, ``rule``, and the lead with the ends of its interval. Rules with a
    vote of their own are left out: their bar is another one.

    >>> bool((compared().low <= compared().high).all())
    True
    """
    found = [
        {"set": name, "paid": paid, "rule": row.policy}
        | dict(zip(("mean", "low", "high"), row.over["votes"], strict=True))
        for name, paid in tables()
        for row in rows(name, paid)
        if hasattr(row, "over") and row.policy != "Cges"
    ]
    return pd.DataFrame(found)


def shown(name: str, target: float = 3, paid: str = "answers") -> HTML:
    """Show what every policy gains at a budget, and the rules at what they spend."""
    lines = [
        Gain(
            NAMES.get(row.policy, row.policy),
            row.gain,
            row.gain_low,
            row.gain_high,
            row.policy in OURS,
            (
                f"{row.cost:.2f}",
                f"{100 * row.accuracy:.1f}%",
                points(_lead(row), digits=2) if _lead(row) else "",
            ),
        )
        for row in rows(name, paid)
        if row.target == target or hasattr(row, "over")
    ]
    words = (
        f"{SETS[name]}: points gained over the same number of answers for everyone, at the same "
        "cost, with 95% intervals. The filled dots are ours."
    )
    return HTML(gains_figure(lines, words, (f"{paid} spent", "right", "our lead by votes")))
