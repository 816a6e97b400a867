"""The page of all policies on three open sets, read from what ``record_policies.py`` wrote.

`adabook.scoreboard` is the short one, with the rows that the chapters earn.
"""

from __future__ import annotations

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


def by_budget(name: str, paid: str = "answers") -> pd.DataFrame:
    """Tabulate gains by policy and budget; without rules that take none."""
    able = [row for row in rows(name, paid) if not hasattr(row, "over")]
    lines: dict[str, dict[str, str]] = {}
    for row in able:
        line = lines.setdefault(NAMES.get(row.policy, row.policy), {})
        line[f"B = {row.target:g}"] = points((row.gain, row.gain_low, row.gain_high))
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("policy").reset_index()


def at_own_cost(name: str, paid: str = "answers") -> pd.DataFrame:
    """Tabulate rules that take no budget, with our lead on each at its own cost."""
    rules = sorted(
        (row for row in rows(name, paid) if hasattr(row, "over")), key=lambda row: row.cost
    )
    return pd.DataFrame(
        [
            {
                "rule": NAMES.get(row.policy, row.policy),
                "spends": f"{row.cost:.2f}",
                "gain": points((row.gain, row.gain_low, row.gain_high)),
                "our lead by votes": points(row.over["votes"], digits=2),
            }
            for row in rules
        ]
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
            (f"{row.cost:.2f}", f"{100 * row.accuracy:.1f}%"),
        )
        for row in rows(name, paid)
        if row.target == target or hasattr(row, "over")
    ]
    words = (
        f"{SETS[name]}: points gained over the same number of answers for everyone, at the same "
        "cost, with 95% intervals. The filled dots are ours."
    )
    return HTML(gains_figure(lines, words, (f"{paid} spent", "right")))
