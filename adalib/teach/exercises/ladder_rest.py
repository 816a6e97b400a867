"""Rungs of the later chapters: the best random mix, folds that keep copies together, one menu of two models."""

from __future__ import annotations

from typing import Any

import numpy as np

from adalib.teach.exercises.build import Build
from adalib.teach.exercises.cases import Case, Inputs
from adalib.teach.exercises.tables import TARGETED, best_value

__all__ = ["FOLDS", "MENU", "MIX"]


def _draw_means(rng: np.random.Generator) -> Case:
    case = TARGETED.draw(rng)
    return {"means": case["acc"][0], "cost": case["cost"], "budget": case["budget"]}


def _best_mix(means: np.ndarray, cost: np.ndarray, budget: float) -> float:
    return best_value(means[None], cost, budget)


MIX = Build(
    Inputs(
        _draw_means,
        {"means": ("budget",), "cost": ("budget",)},
        [
            {"means": np.array([0.25, 0.25, 1.0]), "cost": np.array([1.0, 2.0, 4.0]), "budget": 2.0},
            {"means": np.array([0.5, 0.25]), "cost": np.array([1.0, 2.0]), "budget": 2.0},
        ],
        lambda case: TARGETED.valid({**case, "acc": case["means"][None]}),
    ),
    _best_mix,
    "toss a coin between any two budgets so that the average cost is the budget or less, and take the best such coin",
    "for every pair low, high with cost[low] <= B < cost[high] the accuracy is on the line between them; budgets in B "
    "count by themselves too",
    {
        "it mixes neighbours only; a coin between 1 and 4 may beat them": lambda means, cost, budget: float(
            np.interp(budget, cost, means)
        ),
        "that is the largest budget that fits, without a coin": lambda means, cost, budget: float(
            means[np.searchsorted(cost, budget, side="right") - 1]
        ),
        "that is the best single budget that fits; a coin may do better": lambda means, cost, budget: float(
            means[cost <= budget].max()
        ),
        "it mixes the cheapest with the dearest only": lambda means, cost, budget: float(
            np.interp(budget, cost[[0, -1]], means[[0, -1]])
        ),
    },
)


def _draw_rows(rng: np.random.Generator) -> Case:
    parts = int(rng.integers(2, 4))
    asked = int(rng.integers(parts, 6))
    rows = np.concatenate([np.arange(asked), rng.integers(0, asked, rng.integers(0, 8))])
    return {"questions": rng.permutation(rows), "parts": parts}


def _by_question(questions: np.ndarray, parts: int) -> np.ndarray:
    return np.unique(questions, return_inverse=True)[1] % parts


def _judge_folds(got: Any, best: Any, case: Case) -> str | None:
    folds, questions, parts = np.asarray(got), case["questions"], case["parts"]
    if folds.shape != questions.shape:
        return f"it must return one fold a row, {questions.size} in all"
    if not set(folds.tolist()) <= set(range(parts)):
        return f"folds are numbered 0 to {parts - 1}"
    for question in np.unique(questions):
        if len(set(folds[questions == question].tolist())) > 1:
            return f"copies of question {question} are in different folds: one would be learned from, another scored"
    if len(set(folds.tolist())) < parts:
        return "a fold is empty"
    return None


FOLDS = Build(
    Inputs(
        _draw_rows,
        {"questions": ("row",)},
        [{"questions": np.array([0, 1, 0, 1]), "parts": 2}, {"questions": np.array([7, 7, 9]), "parts": 2}],
        lambda case: len(np.unique(case["questions"])) >= case["parts"],
    ),
    _by_question,
    "deal out questions, not rows: all copies of a question go into one fold",
    "numpy.unique(questions, return_inverse=True) numbers the questions; that number modulo parts is a fold",
    {
        "it deals out rows, so copies of a question part": lambda questions, parts: np.arange(len(questions)) % parts,
        "it cuts the rows into blocks, and a question may lie across a cut": lambda questions, parts: (
            np.arange(len(questions)) * parts // len(questions)
        ),
        "everything is in one fold": lambda questions, parts: np.zeros(len(questions), dtype=int),
    },
    judge=_judge_folds,
)


def _draw_models(rng: np.random.Generator) -> Case:
    n, few, many = rng.integers(1, 4), rng.integers(1, 4), rng.integers(1, 4)
    prices = rng.choice(np.arange(1.0, 33.0), size=few + many, replace=False)
    return {
        "small": rng.integers(0, 9, (n, few)) / 8,
        "small_cost": np.sort(prices[:few]),
        "large": rng.integers(0, 9, (n, many)) / 8,
        "large_cost": np.sort(prices[few:]),
    }


def _joined(small: np.ndarray, small_cost: np.ndarray, large: np.ndarray, large_cost: np.ndarray) -> np.ndarray:
    columns = [(c, *small[:, j]) for j, c in enumerate(small_cost)] + [
        (c, *large[:, j]) for j, c in enumerate(large_cost)
    ]
    return np.array(sorted(columns)).T


MENU = Build(
    Inputs(
        _draw_models,
        {
            "small": ("question", "few"),
            "small_cost": ("few",),
            "large": ("question", "many"),
            "large_cost": ("many",),
        },
        valid=lambda case: (
            len({*case["small_cost"], *case["large_cost"]}) == case["small_cost"].size + case["large_cost"].size
        ),
    ),
    _joined,
    "put the columns of both models side by side and order them by cost; accuracies move with their costs",
    "order = numpy.argsort(costs) and then costs[order] and acc[:, order], as one array: costs above, accuracies below",
    {
        "the columns are not ordered by cost": lambda small, small_cost, large, large_cost: np.vstack(
            [np.append(small_cost, large_cost), np.hstack([small, large])]
        ),
        "the costs are ordered, and the accuracies stayed behind": lambda small, small_cost, large, large_cost: (
            np.vstack([np.sort(np.append(small_cost, large_cost)), np.hstack([small, large])])
        ),
        "it sorts every row by itself; whole columns must move": lambda small, small_cost, large, large_cost: np.sort(
            np.vstack([np.append(small_cost, large_cost), np.hstack([small, large])]), axis=1
        ),
    },
)
