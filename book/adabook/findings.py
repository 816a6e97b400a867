"""What the book found, by policy and by model: gains at one budget.

All of it comes from records: ``data/scripts/record_policies.py`` for policies, and
``record_findings.py`` for votes alone. The one table of README and first page is
`adabook.scoreboard`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from adabook.paper import models
from adabook.recorded import recorded
from adalib.evaluate.heldout import TAUGHT
from adalib.evaluate.intervals import Interval

#: Average answers per question at which everything is compared.
BUDGET = 3.0
#: The columns, by the name of a set in the records.
SETS = {
    "gsm8k-1.5b": "1.5B, GSM8K",
    "math-1.5b": "1.5B, MATH",
    "gsm8k-gpt4omini": "GPT-4o-mini, GSM8K",
    "math-7b": "Qwen2.5-7B, MATH",
    "math500-gpt-oss-20b": "gpt-oss-20b, MATH-500",
}
#: Sets of which only counts of right answers are known, so that a vote lies between two ends.
COUNTED = ("math-7b",)
#: Rules that stop while answers come in, by their names in the record.
WATCHING = {"votes": "watching votes", "all signals": "watching all signals"}
#: The rows, by the name of a policy in `gains`.
POLICIES = {
    "votes": "votes: three answers instead of one",
    "oracle": "the oracle, on answers it did not see",
    "label": "the paper's classifier, as printed",
    "ranked": "the same classifier, made to spend its budget",
    "curve": "accuracy curves predicted from the text",
    "words": "the same from the words, by linear regression",
    "watching votes": "watching the votes come in",
    "watching all signals": "watching every signal of the file",
}


def gains() -> pd.DataFrame:
    """The gains at `BUDGET` of every recorded policy, by set and policy.

    Columns: ``set``, ``end`` (what is assumed of wrong answers: "" where votes are known, else that
    they "agree" or "differ"), ``policy``, ``cost``, ``gain``, ``low``, ``high``, in accuracy.

    >>> found = gains().set_index(["set", "end", "policy"]).gain
    >>> bool(found["gsm8k-gpt4omini", "", "oracle"] > found["gsm8k-gpt4omini", "", "curve"] > 0)
    True
    """
    rows = [*_of_votes(), *_of_models()]
    return pd.DataFrame(sorted(rows, key=lambda row: list(SETS).index(row["set"])))


def _row(name: str, end: str, policy: str, cost: float, gain: Interval) -> dict:
    """One line of `gains`."""
    ends = {"gain": gain.mean, "low": gain.low, "high": gain.high}
    return {"set": name, "end": end, "policy": policy, "cost": cost} | ends


def _interval(row: dict) -> Interval:
    """The gain of a recorded row."""
    return Interval(row["gain"], row["gain_low"], row["gain_high"])


def _of_votes() -> Iterator[dict]:
    """What a mix of plain votes gains over one answer."""
    for part, rows in recorded("findings").items():
        name, policy = part.split(", ")
        for row in rows:
            yield _row(name, row["end"], policy, BUDGET, _interval(row))


def _of_models() -> Iterator[dict]:
    """What the policies of ``record_policies.py`` gain, over its deals."""
    found = models.frame()
    found = found[(found.target == BUDGET) & (found.paid == "answers") & (found.taught == TAUGHT)]
    for row in found.itertuples():
        name, _, end = str(row.set).partition("7b-")
        policy = WATCHING.get(row.policy, row.policy)
        gain = Interval(row.gain, row.low, row.high)
        yield _row(f"{name}7b" if end else name, end, policy, row.cost, gain)
