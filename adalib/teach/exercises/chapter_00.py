"""Exercises of chapter 0, "One question, many answers"."""

from __future__ import annotations

import numpy as np

from adalib.paper.settings import answers, utility
from adalib.teach.exercises import Exercise, checker
from adalib.teach.exercises.ladder_answers import VOTE
from adalib.vote.estimators import pass_at


def _row() -> int:
    return answers("word-fewshot").ids.index("word-trees-05")


def _empty_answers() -> int:
    return answers("word-fewshot").answers[_row()].count("")


def _right_answers() -> int:
    return int(answers("word-fewshot").values[_row()].sum())


def _different() -> int:
    classes = answers("word-fewshot").classes[_row()]
    return len(np.unique(classes[classes >= 0]))


def _rise() -> np.ndarray:
    acc = utility("word-fewshot").acc
    return acc[:, -1] - acc[:, 0]


def _passed(budget: int) -> float:
    return float(pass_at(answers("word-fewshot").values, [budget]).mean())


def _voted() -> float:
    return float(utility("word-fewshot").acc[:, -1].mean())


check = checker(
    {
        "empty": Exercise(
            _empty_answers,
            "an empty answer is the empty string; count them in word.answers[q]",
            more='a list has a method for it: word.answers[q].count("")',
            wrong={
                "those are the answers that could be read; the others are asked for": lambda: 96 - _empty_answers(),
                "that is a share; the number of answers is asked for": lambda: _empty_answers() / 96,
                "those are the right answers": _right_answers,
            },
        ),
        "different": Exercise(
            _different,
            "two answers that mean the same are one; word.classes[q] numbers them, and gives -1 to an empty one",
            more="numpy.unique of the classes that are 0 or more, and count",
            wrong={
                "the empty answer is counted as one of them": lambda: _different() + 1,
                "those are all answers that were read, repetitions too": lambda: 96 - _empty_answers(),
                "those are the wrong ones among them; the right one is an answer too": lambda: _different() - 1,
            },
        ),
        "hurts": Exercise(
            lambda: answers("word-fewshot").ids[int(_rise().argmin())],
            "take the last column of the table minus the first, and find its smallest row",
            more="word.ids[row] is the id of a row; argmin finds the row",
            wrong={
                "that is its row; the id is word.ids[row]": lambda: int(_rise().argmin()),
                "there voting helps most; look for the largest fall": lambda: answers("word-fewshot").ids[
                    _rise().argmax()
                ],
                "that is the size of the fall; the question's id is asked for": lambda: float(_rise().min().round(6)),
            },
        ),
        "pass16": Exercise(
            lambda: _passed(16),
            "average the last column of vote.pass_at(word.values, budgets) over the questions",
            1e-3,
            more="adalib.pass_at(word.values, [16]) has one column; take its mean",
            wrong={
                "that is the accuracy of the vote; the judge's is asked for": _voted,
                "that is the gap between judge and vote; the judge's own mean is asked for": lambda: (
                    _passed(16) - _voted()
                ),
                "that is pass@1: a judge of one answer has no choice": lambda: _passed(1),
            },
        ),
        "vote": VOTE,
    }
)
