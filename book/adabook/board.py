"""The scoreboard of all policies on three open sets, read from what ``record_board.py`` wrote.

`adabook.scoreboard` is the short one, with the rows that the chapters earn.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd

from adabook.figures.page import HTML
from adabook.prose import points
from adabook.recorded import recorded
from adalib.evaluate.report import figure_and_table

#: The sets, by the names that `adalib.load` takes.
SETS = {
    "gsm8k-gpt4omini": "GPT-4o-mini, GSM8K",
    "math-qwen15": "our 1.5B model, MATH",
    "math500-gpt-oss-20b": "gpt-oss-20b, MATH-500",
}
#: Rows that are no class of ``adabook/policies``, by their names in the record.
NAMES = {
    "oracle": "the oracle",
    "length": "longest questions first",
    "label": "the paper's classifier",
    "curve": "curves predicted from the text",
    "noise": "random numbers as text",
    "priced_votes": "watching the votes",
    "priced": "watching every signal",
    "race": "the race",
    "margin": "a lead, tuned",
    "adaptive_consistency": "Adaptive-Consistency, tuned",
    "esc": "ESC, tuned",
}
#: The parts of the record where every question has the marks of another one's answers.
NULL = "other marks"


def rows(name: str, paid: str = "answers") -> list[Any]:
    """Return the rows of a set: what is recorded of each, under its attributes.

    >>> [row.policy for row in rows("gsm8k-gpt4omini") if row.target == 3][:3]
    ['oracle', 'length', 'label']
    """
    start = f"{name}, {paid}"
    found = [
        SimpleNamespace(**row)
        for part, of_part in recorded("board").items()
        for row in of_part
        if part == start or part.startswith(f"{start}, ")
    ]
    shown = [row for row in found if row.policy in NAMES or row.kind != "baseline"]
    for row in shown:
        row.mix_accuracy = row.accuracy - row.gain
    return shown


def tables() -> list[tuple[str, str]]:
    """Return the sets and what is paid on each, in the order of the page.

    >>> tables()[0]
    ('gsm8k-gpt4omini', 'answers')
    """
    parts = dict.fromkeys(tuple(part.split(", ")[:2]) for part in recorded("board"))
    return [(name, paid) for name in SETS for of, paid in parts if of == name and paid != NULL]


def by_budget(name: str, paid: str = "answers") -> pd.DataFrame:
    """Tabulate gains over the best mix, by policy and budget; without rules that take none."""
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
                "rule": row.policy,
                "spends": f"{row.cost:.2f}",
                "gain": points((row.gain, row.gain_low, row.gain_high)),
                "our lead by votes": points(row.over["priced_votes"], digits=2),
                "by every signal": points(row.over["priced"], digits=2),
            }
            for row in rules
        ]
    )


def compared() -> pd.DataFrame:
    """Return every lead on a rule at its own cost.

    Columns: ``set``, ``paid``, ``rule``, ``by``, and the lead with the ends of its interval.

    >>> bool((compared().low <= compared().high).all())
    True
    """
    found = [
        {"set": name, "paid": paid, "rule": row.policy, "by": by}
        | dict(zip(("mean", "low", "high"), lead, strict=True))
        for name, paid in tables()
        for row in rows(name, paid)
        for by, lead in getattr(row, "over", {}).items()
    ]
    return pd.DataFrame(found)


def shown(name: str, target: float = 3, paid: str = "answers") -> HTML:
    """Show the rows at a budget, and the rules at what they spend, as a report draws them."""
    at = [row for row in rows(name, paid) if row.target == target or hasattr(row, "over")]
    for row in at:
        row.policy = NAMES.get(row.policy, row.policy)
        row.target = round(row.cost, 2) if hasattr(row, "over") else row.target
    return HTML(figure_and_table(sorted(at, key=lambda row: -row.gain), folded=True))
