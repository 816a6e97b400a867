"""Exercises of chapter 0, "One question, many answers"."""

from __future__ import annotations

from adalib.datasets.loading import load
from adalib.teach.exercises import Exercise, checker
from adalib.vote.estimators import pass_at


def _empty_answers() -> int:
    word = load("word-fewshot")
    return word.answers[word.ids.index("word-trees-05")].count("")


def _most_hurt() -> str:
    word = load("word-fewshot")
    acc = word.table().acc
    return word.ids[int((acc[:, -1] - acc[:, 0]).argmin())]


check = checker(
    {
        "empty": Exercise(_empty_answers, "an empty answer is the empty string; count them in word.answers[q]"),
        "hurts": Exercise(_most_hurt, "take the last column of the table minus the first, and find its smallest row"),
        "pass16": Exercise(
            lambda: float(pass_at(load("word-fewshot").values, [16]).mean()),
            "average the last column of vote.pass_at(word.values, budgets) over the questions",
            tolerance=1e-3,
        ),
    }
)
