"""What the reader builds on answers: votes, subsets, cross-fitting, policies, induction, folds.

Each exercise is a brute force and its typical mistakes, which are functions too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from adabook.exercises.behaviour import Build
from adabook.exercises.cases import PRICED, Case, Inputs, by_hand, oracle, spent

EXERCISES: dict[tuple[str, str], Build] = {}  # by chapter and name


def _some_answers(
    rng: np.random.Generator, fewest: int, most: int, chances: Sequence[float]
) -> Case:
    """Draw some answers, the right one with the first chance; the last of the four is empty."""
    named = [*rng.permutation(["7", "8", "9", "x = 1", "1/2"])[:3].tolist(), ""]
    size = rng.integers(fewest, most + 1)
    return {"answers": [named[i] for i in rng.choice(4, size=size, p=chances)], "gold": named[0]}


def _winners(answers: Sequence[str]) -> list[str]:
    """The answers with the most votes; empty ones do not vote."""
    votes = Counter(answer for answer in answers if answer)
    return [answer for answer in votes if votes[answer] == max(votes.values())]


def _won(answers: Sequence[str], gold: str) -> float:
    """The share of the vote that the right answer wins."""
    winners = _winners(answers)
    return 1 / len(winners) if gold in winners else 0.0


def _with_empties(answers: Sequence[str], gold: str) -> float:
    """The same if empty answers could vote."""
    return _won([answer or "empty" for answer in answers], gold)


EXERCISES["data", "vote"] = Build(
    inputs=Inputs(
        draw=lambda rng: _some_answers(rng, 1, 16, [0.4, 0.3, 0.1, 0.2]),
        axes={"answers": ("answer",)},
        nasty=[
            {"answers": ["7", "8"], "gold": "7"},
            {"answers": ["", "", "7"], "gold": "7"},
            {"answers": ["", ""], "gold": "7"},
            {"answers": ["8", "7", "9", "7"], "gold": "7"},
        ],
    ),
    brute_force=_won,
    hint=(
        "count the answers that are not empty; the right one wins if none has more votes, and "
        "shares the win if others have as many"
    ),
    more=(
        "collections.Counter counts; how many answers have the most votes, is the right one "
        "among them, and what if there are no votes"
    ),
    mistakes={
        "it lets empty answers vote; they must not": _with_empties,
        "the first of the tied answers takes all; they must share": (
            lambda answers, gold: float(gold in _winners(answers)[:1])
        ),
        "it requires more than half of the votes; the most votes are enough": (
            lambda answers, gold: float(2 * answers.count(gold) > len([a for a in answers if a]))
        ),
        "that is the share of right answers, not the outcome of the vote": (
            lambda answers, gold: answers.count(gold) / max(1, len(answers))
        ),
        "a tie counts as a full win; it must be shared": (
            lambda answers, gold: float(gold in _winners(answers))
        ),
    },
)


def _draw_budget(rng: np.random.Generator) -> Case:
    """Draw some answers, and a budget that they allow."""
    case = _some_answers(rng, 2, 9, [0.4, 0.3, 0.15, 0.15])
    return {**case, "b": int(rng.integers(1, len(case["answers"]) + 1))}


def _all_subsets(answers: list[str], gold: str, b: int) -> float:
    """The accuracy of a vote of b answers, averaged over all ways to pick them."""
    return float(np.mean([_won(part, gold) for part in combinations(answers, b)]))


EXERCISES["motivation", "subsets"] = Build(
    inputs=Inputs(
        draw=_draw_budget,
        axes={"answers": ("answer",)},
        nasty=[
            {"answers": ["7", "7", "7", "8", "8"], "gold": "7", "b": 3},
            {"answers": ["", "7", "8"], "gold": "7", "b": 2},
            {"answers": ["8", "8", "7"], "gold": "7", "b": 3},
        ],
        valid=lambda answers, b, **_: b <= len(answers),
    ),
    brute_force=_all_subsets,
    hint="take every way to pick b of the answers, vote in each, and average",
    more="itertools lists the ways to pick; your vote function judges each of them",
    mistakes={
        "it votes in windows: b answers at a time, each used once": (
            lambda answers, gold, b: float(
                np.mean([_won(answers[i * b : i * b + b], gold) for i in range(len(answers) // b)])
            )
        ),
        "that is pass@b: a vote must be won, not just contain the right answer": (
            lambda answers, gold, b: (
                1 - comb(len(answers) - answers.count(gold), b) / comb(len(answers), b)
            )
        ),
        "it votes over the first b answers only": lambda answers, gold, b: _won(answers[:b], gold),
        "that is the share of right answers, whatever b is": (
            lambda answers, gold, b: _all_subsets(answers, gold, 1)
        ),
        "it lets empty answers vote; they must not": (
            lambda answers, gold, b: float(
                np.mean([_with_empties(part, gold) for part in combinations(answers, b)])
            )
        ),
    },
)


def _learn_known(rng: np.random.Generator, **case: Any) -> Case:
    """Draw features of known and of new questions."""
    # Distances between whole numbers tie often, so that the tie rule is tried.
    features = rng.integers(1, 5)
    known = rng.integers(0, 6, (len(case["acc"]), features)).astype(float)
    return {
        "known": known,
        **case,
        "new": rng.integers(0, 6, (rng.integers(1, 5), features)).astype(float),
    }


def _nearest(
    known: np.ndarray, acc: np.ndarray, cost: np.ndarray, lam: float, new: np.ndarray
) -> list[int]:
    """The oracle's label of the nearest known question, for every new one."""
    labels = oracle(acc, cost, lam)
    return [labels[min(range(len(known)), key=lambda i: ((known[i] - x) ** 2).sum())] for x in new]


EXERCISES["learning", "label policy"] = Build(
    inputs=PRICED.turned(
        _learn_known,
        {**PRICED.axes, "known": ("question", "feature"), "new": ("asked", "feature")},
    ),
    brute_force=_nearest,
    hint=(
        "compute the oracle's labels of the known questions; a new question takes the label of "
        "the nearest known question (the first, if several tie)"
    ),
    more=(
        "the nearest question has the smallest sum of squared differences; numpy finds its row "
        "without a loop"
    ),
    mistakes={
        "that is the most common label for every question; look at the features": (
            lambda known, acc, cost, lam, new: (
                [int(np.bincount(oracle(acc, cost, lam)).argmax())] * len(new)
            )
        ),
        "it copies the most accurate column; copy the label at the price": (
            lambda known, acc, cost, lam, new: _nearest(known, acc, cost, 0.0, new)
        ),
        "it returns the row of the nearest question; return that question's label": (
            lambda known, acc, cost, lam, new: [
                int(((known - x) ** 2).sum(axis=1).argmin()) for x in new
            ]
        ),
        "it copies the farthest question": (
            lambda known, acc, cost, lam, new: [
                oracle(acc, cost, lam)[int(((known - x) ** 2).sum(axis=1).argmax())] for x in new
            ]
        ),
    },
)


def _draw_stops(rng: np.random.Generator) -> Case:
    """Draw a small world: some states with the vote's value, chances to move, and a price."""
    last, states = (int(rng.integers(*ends)) for ends in ((1, 4), (1, 4)))
    ends = np.sort(rng.integers(0, 9, (last, states, states - 1)) / 8, axis=2)
    edges = np.concatenate([np.zeros((last, states, 1)), ends, np.ones((last, states, 1))], axis=2)
    return {
        "worth": rng.integers(0, 9, (last + 1, states)) / 8,
        "moves": np.diff(edges, axis=2),
        "lam": float(rng.integers(0, 9) / 64),
    }


def _by_rule(rule: np.ndarray, worth: np.ndarray, moves: np.ndarray, lam: float) -> np.ndarray:
    """What a rule expects from the first states: in every state it goes on or stops."""
    value = worth[-1]
    for n in reversed(range(len(moves))):
        value = np.where(rule[n], moves[n] @ value - lam, worth[n])
    return value


def _best_rule(worth: np.ndarray, moves: np.ndarray, lam: float) -> np.ndarray:
    """What the best of all rules expects from the first states."""
    shape = moves.shape[:2]
    rules = (np.reshape(rule, shape) for rule in product((False, True), repeat=shape[0] * shape[1]))
    return np.max([_by_rule(rule, worth, moves, lam) for rule in rules], axis=0)


def _pays_to_stop(worth: np.ndarray, moves: np.ndarray, lam: float) -> np.ndarray:
    """A mistake: the price is paid also where the rule stops."""
    value = worth[-1]
    for n in reversed(range(len(moves))):
        value = np.maximum(worth[n], moves[n] @ value) - lam
    return value


EXERCISES["stopping", "induct"] = Build(
    inputs=Inputs(
        draw=_draw_stops,
        axes={},
        nasty=[
            by_hand(worth=[[0.5, 0.25], [1.0, 0.0]], moves=[[[0.5, 0.5], [0.5, 0.5]]], lam=0.125),
            by_hand(
                worth=[[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]],
                moves=[[[1.0, 0.0], [0.0, 1.0]], [[0.75, 0.25], [0.25, 0.75]]],
                lam=0.0625,
            ),
        ],
        valid=lambda moves, lam, **_: (moves.sum(axis=2) == 1).all() and lam >= 0,
    ),
    brute_force=_best_rule,
    hint=(
        "work back from the last answer: in every state take the larger of the vote's worth and"
        " what the next states are worth on average, minus the price"
    ),
    more=(
        "after the last answer the value is the vote's worth; one step earlier, compare "
        "stopping with the mean value of the next states minus the price"
    ),
    mistakes={
        "the next answer is free in yours; it costs the price": (
            lambda worth, moves, lam: _best_rule(worth, moves, 0.0)
        ),
        "it looks only one answer ahead; carry back the value of the next states, not their vote": (
            lambda worth, moves, lam: np.maximum(worth[0], moves[0] @ worth[1] - lam)
        ),
        "it always goes on to the last answer; where the vote is worth more, stop": (
            lambda worth, moves, lam: _by_rule(np.ones(moves.shape[:2]), worth, moves, lam)
        ),
        "it pays the price even where it stops": _pays_to_stop,
    },
)


def _second_half(rng: np.random.Generator, acc: np.ndarray, **case: Any) -> Case:
    """Add a table of other accuracies, as if from the other half of the answers."""
    return {"first": acc, "second": rng.integers(0, 9, acc.shape) / 8, **case}


def _one_way(first: np.ndarray, second: np.ndarray, cost: np.ndarray, lam: float) -> float:
    """What labels chosen on the first half are worth on the second."""
    return spent(second, oracle(first, cost, lam))


EXERCISES["estimation", "cross-fit"] = Build(
    inputs=PRICED.turned(
        _second_half,
        {"first": ("question", "budget"), "second": ("question", "budget"), "cost": ("budget",)},
        [by_hand(first=[[0.0, 1.0]], second=[[1.0, 0.0]], cost=[1.0, 2.0], lam=0.0)],
        valid=lambda first, second, **case: PRICED.valid(np.vstack([first, second]), **case),
    ),
    brute_force=lambda first, second, *price: (
        (_one_way(first, second, *price) + _one_way(second, first, *price)) / 2
    ),
    hint=(
        "choose labels on one half and score them on the other, both ways round, and average "
        "the two"
    ),
    more="the labels of one half pick entries of the other half's table; do it both ways round",
    mistakes={
        "that is the in-sample value: it scores labels on the half that chose them": (
            lambda first, second, *price: (
                (_one_way(first, first, *price) + _one_way(second, second, *price)) / 2
            )
        ),
        "it goes one way only; choose on the second half too": _one_way,
        "it averages the halves before it chooses; no half is left for scoring": (
            lambda first, second, *price: _one_way(
                (first + second) / 2, (first + second) / 2, *price
            )
        ),
        "it chooses on the half that scores; look up the other half's label": (
            lambda first, second, *price: float(
                (first.max(axis=1).mean() + second.max(axis=1).mean()) / 2
            )
        ),
    },
)
