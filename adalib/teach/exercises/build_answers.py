"""What the reader builds on answers: a vote, all subsets, cross-fitting, a label policy, a stopping rule, folds.

Each exercise is a brute force and its typical mistakes, which are functions too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from adalib.teach.exercises.cases import PRICED, Case, Inputs, oracle, spent
from adalib.teach.exercises.judged import Build

__all__ = ["EXERCISES"]

EXERCISES: dict[tuple[str, str], Build] = {}  # by chapter and name


def _said(rng: np.random.Generator, fewest: int, most: int, chances: Sequence[float]) -> list[str]:
    """Some answers, the right one among them with the first chance; the last of the four is empty."""
    return [["7", "8", "9", ""][i] for i in rng.choice(4, size=rng.integers(fewest, most + 1), p=chances)]


def _winners(answers: Sequence[str]) -> list[str]:
    votes = Counter(answer for answer in answers if answer)
    return [answer for answer in votes if votes[answer] == max(votes.values())]


def _won(answers: Sequence[str], gold: str) -> float:
    winners = _winners(answers)
    return 1 / len(winners) if gold in winners else 0.0


def _with_empties(answers: Sequence[str], gold: str) -> float:
    return _won([answer or "empty" for answer in answers], gold)


EXERCISES["00", "vote"] = Build(
    Inputs(
        lambda rng: {"answers": _said(rng, 1, 7, [0.4, 0.3, 0.1, 0.2]), "gold": "7"},
        {"answers": ("answer",)},
        [
            {"answers": ["7", "8"], "gold": "7"},
            {"answers": ["", "", "7"], "gold": "7"},
            {"answers": ["", ""], "gold": "7"},
            {"answers": ["8", "7", "9", "7"], "gold": "7"},
        ],
    ),
    _won,
    "count the answers that are not empty; the right one wins if none has more votes, and shares the win where "
    "others have as many",
    "collections.Counter counts; with w answers on top the win is 1 / w if the right one is among them, and without "
    "any vote it is 0",
    {
        "empty answers vote; they must not": _with_empties,
        "the first of the tied answers takes all; they must share": lambda answers, gold: float(
            gold in _winners(answers)[:1]
        ),
        "it asks for more than half of the votes; the most votes are enough": lambda answers, gold: float(
            2 * answers.count(gold) > len([a for a in answers if a])
        ),
        "that is the share of right answers, not the outcome of the vote": lambda answers, gold: (
            answers.count(gold) / max(1, len(answers))
        ),
        "a tie counts as a full win; it must be shared": lambda answers, gold: float(gold in _winners(answers)),
    },
)


def _draw_budget(rng: np.random.Generator) -> Case:
    answers = _said(rng, 2, 7, [0.4, 0.3, 0.15, 0.15])
    return {"answers": answers, "gold": "7", "b": int(rng.integers(1, len(answers) + 1))}


def _all_subsets(answers: list[str], gold: str, b: int) -> float:
    return float(np.mean([_won(part, gold) for part in combinations(answers, b)]))


EXERCISES["01", "subsets"] = Build(
    Inputs(
        _draw_budget,
        {"answers": ("answer",)},
        [
            {"answers": ["7", "7", "7", "8", "8"], "gold": "7", "b": 3},
            {"answers": ["", "7", "8"], "gold": "7", "b": 2},
            {"answers": ["8", "8", "7"], "gold": "7", "b": 3},
        ],
        lambda case: case["b"] <= len(case["answers"]),
    ),
    _all_subsets,
    "take every way to pick b of the answers, vote in each, and average",
    "itertools.combinations(answers, b) lists the ways; your vote of chapter 0 judges each",
    {
        "those are windows: b answers at a time, each used once": lambda answers, gold, b: float(
            np.mean([_won(answers[i * b : i * b + b], gold) for i in range(len(answers) // b)])
        ),
        "that is pass@b: a vote must be won, not just contain the right answer": lambda answers, gold, b: (
            1 - comb(len(answers) - answers.count(gold), b) / comb(len(answers), b)
        ),
        "it votes over the first b answers alone": lambda answers, gold, b: _won(answers[:b], gold),
        "that is the share of right answers, whatever b is": lambda answers, gold, b: _all_subsets(answers, gold, 1),
        "empty answers vote; they must not": lambda answers, gold, b: float(
            np.mean([_with_empties(part, gold) for part in combinations(answers, b)])
        ),
    },
)


def _learn_known(rng: np.random.Generator, **case: Any) -> Case:
    # Distances between whole numbers tie often, so that the tie rule is tried.
    known = rng.integers(0, 6, (len(case["acc"]), 2)).astype(float)
    return {"known": known, **case, "new": rng.integers(0, 6, (rng.integers(1, 5), 2)).astype(float)}


def _nearest(known: np.ndarray, acc: np.ndarray, cost: np.ndarray, lam: float, new: np.ndarray) -> list[int]:
    labels = oracle(acc, cost, lam)
    return [labels[min(range(len(known)), key=lambda i: ((known[i] - x) ** 2).sum())] for x in new]


EXERCISES["06", "label policy"] = Build(
    PRICED.turned(
        _learn_known, {**PRICED.axes, "known": ("question", "feature"), "new": ("asked", "feature")}, valid=PRICED.valid
    ),
    _nearest,
    "make the oracle's labels of the known questions; a new question takes the label of the known one that is "
    "nearest in its features, the first if several are",
    "((known - x) ** 2).sum(axis=1).argmin() is the row of the nearest known question",
    {
        "that is the commonest label for everyone; look at the features": lambda known, acc, cost, lam, new: (
            [int(np.bincount(oracle(acc, cost, lam)).argmax())] * len(new)
        ),
        "it copies the most accurate column; copy the label at the price": lambda known, acc, cost, lam, new: _nearest(
            known, acc, cost, 0.0, new
        ),
        "it returns the row of the nearest question; return that question's label": lambda known, acc, cost, lam, new: [
            int(((known - x) ** 2).sum(axis=1).argmin()) for x in new
        ],
        "it copies the farthest question": lambda known, acc, cost, lam, new: [
            oracle(acc, cost, lam)[int(((known - x) ** 2).sum(axis=1).argmax())] for x in new
        ],
    },
)


def _asked(answers: list[str], lead: int, over_all: bool = False) -> int:
    """Answers asked until the first is ahead of the second, or of all the others, by the lead."""
    for n in range(1, len(answers) + 1):
        first, *others = sorted(Counter(a for a in answers[:n] if a).values(), reverse=True) or [0]
        if first - sum(others if over_all else others[:1]) >= lead:
            return n
    return len(answers)


def _so_many_votes(answers: list[str], lead: int) -> int:
    reached = (n for n in range(len(answers)) if answers[n] and answers[: n + 1].count(answers[n]) >= lead)
    return next(reached, len(answers) - 1) + 1


EXERCISES["09", "stopping"] = Build(
    Inputs(
        lambda rng: {"answers": _said(rng, 1, 10, [0.45, 0.25, 0.15, 0.15]), "lead": int(rng.integers(1, 4))},
        {"answers": ("answer",)},
        [
            {"answers": ["7", "7", "8"], "lead": 2},
            {"answers": ["", "", "7"], "lead": 1},
            {"answers": ["7", "8", "9", "7", "7"], "lead": 2},
            {"answers": ["7", "8", "7", "8"], "lead": 2},
        ],
    ),
    _asked,
    "after every answer count the votes; stop as soon as the first is ahead of the second by the lead, else when "
    "the answers run out",
    "Counter(...).most_common(2) gives the two leading counts; an answer that is empty is paid, and does not vote",
    {
        "it returns the place counted from 0; one answer asked is 1": lambda *case: _asked(*case) - 1,
        "empty answers vote; they are paid, and must not": lambda answers, lead: _asked(
            [a or "?" for a in answers], lead
        ),
        "it compares the leader with all the others together; compare it with the second": partial(
            _asked, over_all=True
        ),
        "it asks for so many votes, not for so many more than the second": _so_many_votes,
    },
)


def _second_half(rng: np.random.Generator, acc: np.ndarray, **case: Any) -> Case:
    return {"first": acc, "second": rng.integers(0, 9, acc.shape) / 8, **case}


def _one_way(first: np.ndarray, second: np.ndarray, cost: np.ndarray, lam: float) -> float:
    """What labels chosen on the first half are worth on the second."""
    return spent(second, oracle(first, cost, lam))


EXERCISES["05", "cross-fit"] = Build(
    PRICED.turned(
        _second_half,
        {"first": ("question", "budget"), "second": ("question", "budget"), "cost": ("budget",)},
        [{"first": np.array([[0.0, 1.0]]), "second": np.array([[1.0, 0.0]]), "cost": np.array([1.0, 2.0]), "lam": 0.0}],
        valid=lambda case: PRICED.valid({**case, "acc": np.concatenate([case["first"], case["second"]])}),
    ),
    lambda first, second, *price: (_one_way(first, second, *price) + _one_way(second, first, *price)) / 2,
    "choose labels on one half and look them up in the other, both ways round, and average the two",
    "labels = oracle(first, cost, lam) is scored by second[range(n), labels], and the other way round",
    {
        "that is the in-sample value: it scores labels on the half that chose them": lambda first, second, *price: (
            (_one_way(first, first, *price) + _one_way(second, second, *price)) / 2
        ),
        "it goes one way only; choose on the second half too": _one_way,
        "it averages the halves before it chooses; then both saw the labels": lambda first, second, *price: _one_way(
            (first + second) / 2, (first + second) / 2, *price
        ),
        "it takes the best of the half that scores; look up the other half's label": lambda first, second, *price: (
            float((first.max(axis=1).mean() + second.max(axis=1).mean()) / 2)
        ),
    },
)


def _draw_rows(rng: np.random.Generator) -> Case:
    parts = int(rng.integers(2, 4))
    asked = int(rng.integers(parts, 6))
    rows = np.concatenate([np.arange(asked), rng.integers(0, asked, rng.integers(0, 8))])
    return {"questions": rng.permutation(rows), "parts": parts}


def _judge_folds(got: Any, best: Any, case: Case) -> str | None:
    folds, questions, parts = np.asarray(got), case["questions"], case["parts"]
    if folds.shape != questions.shape:
        return f"it must return one fold a row, {questions.size} in all"
    if not set(folds.tolist()) <= set(range(parts)):
        return f"folds are numbered 0 to {parts - 1}"
    for question in np.unique(questions):
        if len(set(folds[questions == question].tolist())) > 1:
            return f"copies of question {question} are in different folds: one would be learned from, another scored"
    return "a fold is empty" if len(set(folds.tolist())) < parts else None


EXERCISES["08", "folds"] = Build(
    Inputs(
        _draw_rows,
        {"questions": ("row",)},
        [{"questions": np.array([0, 1, 0, 1]), "parts": 2}, {"questions": np.array([7, 7, 9]), "parts": 2}],
        lambda case: len(np.unique(case["questions"])) >= case["parts"],
    ),
    lambda questions, parts: np.unique(questions, return_inverse=True)[1] % parts,
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
