"""Exercises of chapter 1, "Four kinds of question"."""

from __future__ import annotations

import numpy as np

from adalib.paper.settings import answers, utility
from adalib.table import archetypes
from adalib.teach.exercises import Exercise, checker
from adalib.teach.exercises.ladder_answers import SUBSETS


def _kind(name: str, kind: str) -> int:
    return int(np.sum(archetypes(utility(name)) == kind))


def _mixed(share: float) -> float:
    means = utility("word-fewshot").acc.mean(axis=0)
    return float((1 - share) * means[0] + share * means[2])


def _in(family: str) -> np.ndarray:
    return np.array(answers("word-fewshot").extras["family"]) == family


def _family(worth: np.ndarray) -> str:
    return str(max(np.unique(answers("word-fewshot").extras["family"]), key=lambda family: worth[_in(family)].mean()))


def _gain() -> np.ndarray:
    acc = utility("word-fewshot").acc
    return acc[:, -1] - acc[:, 0]


check = checker(
    {
        "hot": Exercise(
            lambda: _kind("word-hot", "responsive"),
            "adalib.archetypes gives one name a question; count one of them",
            more='numpy.sum(adalib.archetypes(adalib.load("word-hot").table()) == "responsive")',
            wrong={
                "that is word-fewshot; the hot answers are asked for": lambda: _kind("word-fewshot", "responsive"),
                "that is a share; the number of questions is asked for": lambda: (
                    _kind("word-hot", "responsive") / answers("word-hot").n
                ),
                "those are the diminishing ones": lambda: _kind("word-hot", "diminishing"),
            },
        ),
        "mix": Exercise(
            lambda: _mixed(1 / 3),
            "if a share s gets 4 and the rest 1, the cost is 1 + 3 s, and accuracies mix the same way",
            1e-3,
            more="s is 1/3; the column for 4 answers is the third of the table",
            wrong={
                "that is two answers for everyone": lambda: float(utility("word-fewshot").acc[:, 1].mean()),
                "with half of the questions at 4 the average cost would be 2.5": lambda: _mixed(1 / 2),
                "the shares are exchanged: two thirds at 4 would cost 3": lambda: _mixed(2 / 3),
                "that is the share that gets 4; the accuracy is asked for": lambda: 1 / 3,
            },
        ),
        "family": Exercise(
            lambda: _family(_gain()),
            "average the gain from b=1 to b=16 within each family",
            more='pandas.Series(gain).groupby(word.extras["family"]).mean().idxmax()',
            wrong={
                "that family is the most accurate; look for the gain": lambda: _family(
                    utility("word-fewshot").acc[:, -1]
                ),
                "that is its gain; the family's name is asked for": lambda: float(
                    _gain()[_in(_family(_gain()))].mean()
                ),
                "that family gains least": lambda: _family(-_gain()),
            },
        ),
        "flat": Exercise(
            lambda: float((np.abs(_gain()) < 0.01).mean()),
            "compare the last column with the first: where they differ by less than 0.01, up or down, more answers "
            "change nothing",
            1e-3,
            more="numpy.mean of numpy.abs(acc[:, -1] - acc[:, 0]) < 0.01",
            wrong={
                "that is a number of questions; the share is asked for": lambda: int((np.abs(_gain()) < 0.01).sum()),
                "those that lose are in it; a fall is a change too": lambda: float((_gain() < 0.01).mean()),
                "those are the ones that change": lambda: float((np.abs(_gain()) >= 0.01).mean()),
            },
        ),
        "subsets": SUBSETS,
    }
)
