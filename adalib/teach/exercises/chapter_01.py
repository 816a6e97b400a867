"""Exercises of chapter 1, "Four kinds of question"."""

from __future__ import annotations

import numpy as np

from adalib.datasets.loading import load
from adalib.table import archetypes
from adalib.teach.exercises import Exercise, checker


def _random_mix() -> float:
    means = load("word-fewshot").table(budgets=(1, 4)).acc.mean(axis=0)
    return float(means @ [2 / 3, 1 / 3])


def _best_family() -> str:
    word = load("word-fewshot")
    families, acc = np.array(word.extras["family"]), word.table(budgets=(1, 16)).acc
    return str(max(np.unique(families), key=lambda family: (acc[:, 1] - acc[:, 0])[families == family].mean()))


check = checker(
    {
        "hot": Exercise(
            lambda: int(np.sum(archetypes(load("word-hot").table()) == "responsive")),
            "adalib.archetypes gives one name a question; count one of them",
        ),
        "mix": Exercise(
            _random_mix,
            "if a share s gets 4 and the rest 1, the cost is 1 + 3 s, and accuracies mix the same way",
            tolerance=1e-3,
        ),
        "family": Exercise(_best_family, "average the gain from b=1 to b=16 within each family"),
    }
)
