"""Exercises of chapter 9, "Ablations"."""

from __future__ import annotations

from functools import cache

import pandas as pd

from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy
from adalib.paper.ablations import extra_features, granularity
from adalib.paper.settings import answers, paper_population, path, utility
from adalib.teach.exercises import Construction, Exercise, checker
from adalib.teach.exercises.ladder_rest import FOLDS


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


@cache
def _importance() -> pd.Series:
    few, table = answers("word-fewshot"), utility("word-fewshot")
    known = text_features(few.questions, few.entropy[:, 0])
    leaking = pd.concat([known, extra_features(few.questions, table.acc[:, 0])], axis=1)
    return LabelPolicy().fit_labels(leaking, path("word-fewshot").at(2).labels).importance()


check = checker(
    {
        "sisters": Exercise(
            lambda: 1 - 359 / 1799 * 358 / 1798,
            "ask when both are missing: each of the two must be among the other 359 held-out rows of 1799",
            1e-3,
            more="1 - 359/1799 * 358/1798",
            wrong={
                "that is the chance that both are held out as well": lambda: 359 / 1799 * 358 / 1798,
                "that is the chance for one sister; there are two": lambda: 1 - 359 / 1799,
                "that is the chance that both are in training; one is enough": lambda: (1440 / 1799) * (1439 / 1798),
            },
        ),
        "menu": Construction(_menu_fault, "try (1, m, 16) for every m from 2 to 15"),
        "leak": Exercise(
            lambda: float(_importance()["single_pass_acc"]),
            "join the two tables with pandas.concat(axis=1), fit LabelPolicy() on labels, and look up the name",
            5e-3,
            more='policy.importance()["single_pass_acc"]',
            wrong={
                "that would be its share if all features counted alike": lambda: 1 / len(_importance()),
                "that is what all the others have together": lambda: float(1 - _importance()["single_pass_acc"]),
                "that is the largest of the honest features": lambda: float(
                    _importance().drop("single_pass_acc").max()
                ),
            },
        ),
        "even": Exercise(
            lambda: 0,
            "importances sum to 1: what do sixteen times 0.06 leave over for the others to have 0.05 more",
            more="16 * 0.06 = 0.96; 0.04 is left, and one feature at 0.11 needs 0.05 more than 0.06",
            wrong={
                "a feature is there or it is not; round down": lambda: 0.8,
                "that many at 0.11 would leave nothing for the rest, who have 0.06 each": lambda: 9,
                "all sixteen at 0.11 would sum to 1.76": lambda: 16,
                "one at 0.11 and fifteen at 0.06 sum to 1.01": lambda: 1,
            },
        ),
        "folds": FOLDS,
    }
)
