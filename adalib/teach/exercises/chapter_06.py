"""Exercises of chapter 6, "Learning"."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from adalib.datasets.loading import load
from adalib.evaluate.baselines import noise_features
from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy
from adalib.solve.frontier import frontier
from adalib.teach.exercises import Construction, Exercise, checker


def _labels(budget: float) -> np.ndarray:
    table = load("word-fewshot").table()
    return frontier(table.acc, table.cost).at(budget).labels


def _memory() -> float:
    labels = _labels(2)
    noise = noise_features(labels.size)
    return float((LabelPolicy().fit_labels(noise, labels).predict(noise) == labels).mean())


def _blind_fault(answer: Any) -> str | None:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2 or not all(isinstance(text, str) for text in answer):
        return "give a pair of texts"
    words = [sorted(re.findall(r"\w+", text.lower())) for text in answer]
    if min(map(len, words)) < 4:
        return "each question needs at least four words"
    if words[0] == words[1]:
        return "the two use the same words; change one, so that another sum is asked for"
    features = text_features(list(answer))
    apart = [name for name in features if features[name][0] != features[name][1]]
    return f"{apart[0]} tells them apart" if apart else None


check = checker(
    {
        "majority": Exercise(
            lambda: float(np.bincount(_labels(1.5)).max() / _labels(1.5).size),
            "it always says the commonest label, so it repeats the oracle exactly as often as that label occurs",
            tolerance=1e-3,
        ),
        "blind": Construction(_blind_fault),
        "memory": Exercise(
            _memory,
            "LabelPolicy().fit_labels(noise, labels).predict(noise) == labels, averaged over all questions",
            tolerance=2e-3,
        ),
    }
)
