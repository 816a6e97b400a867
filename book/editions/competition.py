"""A competition for a class: an open part to hand out, and a part that the teacher keeps.

A secret draws both: which questions are open, and the order in which their answers come.
`adabook.competition` ranks what students hand in.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from adabook.competition import BUDGETS, HIDDEN, OPEN, SETTINGS, renamed
from adalib.datasets.folds import members
from adalib.datasets.responses import Responses

#: Fewer questions in a part, and no gain could be told from chance.
FEWEST = 100

_RULES = """# Beat the price

Your model has answered {questions} questions, {samples} times each; they are in `open.jsonl`. Write
a policy that spends {budget:g} answers per question on average and is right more often than the
best random mix of the same cost. Hand in **one Python file with one class**. It will learn from
these questions and be scored on others, whose answers come in an order that nobody knows.

Answers are called A, B and so on, by names drawn anew for every question: count them, and do not
look for numbers in them. Your file runs without a network and without other files, for a minute at
most. numpy, pandas, scipy, scikit-learn and adalib are there.
"""
_PLANS = """%%writefile my_plan.py
import numpy as np


class LongTexts:
    \"\"\"More answers for the questions whose first feature, the length, is largest.\"\"\"

    def __init__(self, budget):
        self.budget = budget

    def fit(self, features, table):
        share = (self.budget - table.cost[0]) / (table.cost[2] - table.cost[0])
        self.limit = np.quantile(features.iloc[:, 0], 1 - share)

    def predict(self, features):
        return np.where(features.iloc[:, 0] > self.limit, 2, 0)
"""
_WATCHES = """%%writefile my_watch.py
from collections import Counter


class Lead:
    \"\"\"Ask until one answer leads by two.\"\"\"

    def fit(self, answers):
        pass

    def more(self, seen):
        votes = [count for _, count in Counter(one.answer for one in seen).most_common(2)]
        return len(seen) < 8 and votes[0] - sum(votes[1:]) < 2
"""
_COMPARE = """import adalib
from my_plan import LongTexts
from my_watch import Lead

answers = adalib.load("open.jsonl")
own = {{"LongTexts": LongTexts, "Lead": Lead}}
rows = adalib.held_out(answers, [{budget:g}], {budgets}, learners=own)
for row in rows:
    print(f"{{row.policy:16}} {{row.cost:5.2f}} answers, gain {{100 * row.gain:+.1f}} points")
"""
_HONEST = """Change a class, restart the notebook and run it again. `noise` learns from random
numbers and must gain nothing. The row `oracle` knows every question, but only before it asks. What
you read off these questions again and again, you will believe too much: the others decide.
"""


def draw(answers: Responses, secret: str) -> tuple[Responses, Responses]:
    """Deal questions into an open and a kept half, and their answers into a new order.

    Copies of a question stay together. Answers get new names, since in some sets the right one is
    called the same everywhere.
    """
    rng = np.random.default_rng(int.from_bytes(_seed(secret, "draw"), "big"))
    group = members(answers, None)
    is_open = rng.permutation(np.arange(group.max() + 1) % 2 == 0)[group]
    shuffled = rng.permuted(np.tile(np.arange(answers.samples), (answers.n, 1)), axis=1)
    both = []
    for name, of_part in (("open", is_open), ("kept", ~is_open)):
        rows = rng.permutation(np.flatnonzero(of_part))
        if rows.size < FEWEST:
            raise ValueError(
                f"{answers.source}: leaves {rows.size} questions to a half; "
                f"give a file of {2 * FEWEST} or more"
            )
        part = renamed(answers.take(rows), rng, shuffled[rows])
        both.append(replace(part, ids=[f"{name}-{number:04d}" for number in range(len(rows))]))
    return both[0], both[1]


def write_competition(answers: Responses, secret: str, budget: float, target: Path) -> None:
    """Write what is handed out, and what is kept."""
    open_part, kept_part = draw(answers, secret)
    out, keep = target / "hand-out", target / "keep"
    out.mkdir(parents=True, exist_ok=True)
    keep.mkdir(mode=0o700, exist_ok=True)
    open_part.save(out / OPEN)
    open_part.save(keep / OPEN)
    kept_part.save(keep / HIDDEN)
    seed = int.from_bytes(_seed(secret, "orders")[:4], "big")
    settings = json.dumps({"budget": budget, "seed": seed})
    (keep / SETTINGS).write_text(settings, encoding="utf-8")
    write(starter(open_part, budget), out / "starter.ipynb")


def starter(open_part: Responses, budget: float) -> object:
    """The notebook that students start from."""
    rules = _RULES.format(questions=open_part.n, samples=open_part.samples, budget=budget)
    return new_notebook(
        cells=[
            new_markdown_cell(rules),
            new_markdown_cell("## One that plans, and one that watches"),
            new_code_cell(_PLANS),
            new_code_cell(_WATCHES),
            new_code_cell(_COMPARE.format(budget=budget, budgets=BUDGETS)),
            new_markdown_cell(_HONEST),
        ]
    )


def _seed(secret: str, purpose: str) -> bytes:
    return hashlib.sha256(f"competition\0{secret}\0{purpose}".encode()).digest()
