"""Exercises of chapter 9, "Ablations"."""

from __future__ import annotations

import numpy as np
import pandas as pd

from adalib.datasets.loading import load
from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy
from adalib.paper.ablations import granularity
from adalib.paper.stand_ins import paper_population
from adalib.paper.unlisted_features import extra_features
from adalib.solve.frontier import frontier
from adalib.teach.exercises import Construction, Exercise, checker


def _menu_fault(menu: object) -> str | None:
    try:
        budgets = tuple(int(b) for b in menu)
    except (TypeError, ValueError):
        return "give three budgets, such as (1, 8, 16)"
    if len(budgets) != 3 or list(budgets) != sorted(set(budgets)) or budgets[0] != 1 or budgets[-1] > 16:
        return "give three different budgets in increasing order, the first 1 and the last at most 16"
    tried = {"default": (1, 8, 16), "mine": budgets}
    gain = granularity(paper_population("deepseek-v3-math"), [2], tried).set_index("menu").gain["mine"]
    return None if gain >= 0.003 else f"it adds {gain:.4f}; the middle budget should be one that many questions can use"


def _leak() -> float:
    few = load("word-fewshot")
    table = few.table()
    known = text_features(few.questions, np.asarray(few.extras["entropy"])[:, 0])
    leaking = pd.concat([known, extra_features(few.questions, table.acc[:, 0])], axis=1)
    labels = frontier(table.acc, table.cost).at(2).labels
    return float(LabelPolicy().fit_labels(leaking, labels).importance()["single_pass_acc"])


check = checker(
    {
        "sisters": Exercise(
            lambda: 1 - 359 / 1799 * 358 / 1798,
            "ask when both are missing: each of the two must be among the other 359 held-out rows of 1799",
            tolerance=1e-3,
        ),
        "menu": Construction(_menu_fault),
        "leak": Exercise(
            _leak,
            "join the two tables with pandas.concat(axis=1), fit LabelPolicy() on labels, and look up the name",
            tolerance=5e-3,
        ),
    }
)
