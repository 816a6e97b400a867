"""Exercises of chapter 6, "Learning"."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from adalib.evaluate.baselines import noise_features
from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy, regret_weights
from adalib.paper.settings import answers, path, utility
from adalib.teach.exercises import Construction, Exercise, checker
from adalib.teach.exercises.ladder_answers import LABEL_POLICY


def _labels(budget: float) -> np.ndarray:
    return path("word-fewshot").at(budget).labels


@cache
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


def _stakes() -> np.ndarray:
    table = utility("word-fewshot")
    return regret_weights(table.acc, table.cost, 0.03)


def _said(budget: float) -> float:
    labels = _labels(budget)
    return float(np.bincount(labels).max() / labels.size)


check = checker(
    {
        "majority": Exercise(
            lambda: _said(1.5),
            "it always says the commonest label, so it repeats the oracle exactly as often as that label occurs",
            1e-3,
            more="(labels == 0).mean()",
            wrong={
                "that is a number of questions; the share is asked for": lambda: int(np.bincount(_labels(1.5)).max()),
                "that is the accuracy of one answer; imitation compares labels": lambda: float(
                    utility("word-fewshot").acc[:, 0].mean()
                ),
                "those are the labels that it misses": lambda: 1 - _said(1.5),
                "that is at B = 3": lambda: _said(3),
            },
        ),
        "blind": Construction(
            _blind_fault, "the features count words and signs; exchange a word for one of the same length"
        ),
        "memory": Exercise(
            _memory,
            "LabelPolicy().fit_labels(noise, labels).predict(noise) == labels, averaged over all questions",
            2e-3,
            more="fit and predict on the same noise_features(word.n): in-sample on purpose",
            wrong={
                "that is the share of the commonest label; the trees remember more": lambda: _said(2),
                "those are the labels that it misses": lambda: 1 - _memory(),
                "that is the number of questions that it repeats; the share is asked for": lambda: round(
                    _memory() * answers("word-fewshot").n
                ),
            },
        ),
        "stake": Exercise(
            lambda: answers("word-fewshot").ids[int(_stakes().argmax())],
            "adalib.regret_weights gives what is at stake on each question; find the largest, and its id",
            more="word.ids[adalib.regret_weights(full.acc, full.cost, 0.03).argmax()]",
            wrong={
                "that is its row; the id is word.ids[row]": lambda: int(_stakes().argmax()),
                "there least is at stake": lambda: answers("word-fewshot").ids[int(_stakes().argmin())],
                "that is what is at stake; the question is asked for": lambda: float(_stakes().max().round(6)),
            },
        ),
        "label policy": LABEL_POLICY,
    }
)
