"""Games of the chapters on votes and prices: a vote, a budget per kind, a price, a staircase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adabook.games.base import BUDGETS, Game, listed, rounded_mean, texts_by_class
from adalib.colours import BUDGETS as COLOURS
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import archetypes


def votes(responses: Responses, row: int) -> Game:
    """Ask one question again and again: its real answers come in one by one, and vote.

    An answer is 0, right; 1, the commonest wrong one; 2, another wrong one; or 3, unread, with an
    empty text."""
    classes = responses.classes[row]
    right = responses.values[row] > 0
    wrong = np.bincount(classes[~right & (classes >= 0)], minlength=1).argmax()
    answers = texts_by_class(responses, row)
    data = {
        "answers": [answers.get(number, "") for number in classes.tolist()],
        "kinds": np.select([classes < 0, right, classes == wrong], [3, 0, 1], default=2).tolist(),
        "right": answers.get(int(classes[right][0]), "") if right.any() else "",
    }
    caption = "Ask one question again and again, and watch the vote."
    return Game("votes", data, caption, f"{right.sum()} of {right.size} answers are right.")


def kinds(responses: Responses, seed: int = 0) -> Game:
    """Spend by kind: a budget for each of the four kinds, next to the best mix and the oracle.

    Kinds, mix and oracle are chosen on half of the answers to each question, and all are scored on
    the other half."""
    seen, scored = (half.table(BUDGETS) for half in responses.split_samples(seed))
    found = archetypes(seen)
    path = frontier(seen)
    everyone = np.arange(seen.n)
    costs = np.arange(BUDGETS[0], BUDGETS[-1] + 0.25, 0.25)
    data: dict[str, Any] = {
        "budgets": list(BUDGETS),
        "kinds": [
            {
                "name": name,
                "count": int((found == name).sum()),
                "acc": rounded_mean(scored.acc[found == name]),
            }
            for name in ("easy", "responsive", "diminishing", "hard")
        ],
        "costs": costs.tolist(),
        "mix": [rounded_mean(best_mix(seen.acc, seen.cost, c).expected(scored.acc)) for c in costs],
        "oracle": [rounded_mean(scored.acc[everyone, path.at(c).labels]) for c in costs],
    }
    curves = "; ".join(f"{kind['name']} {listed(BUDGETS, kind['acc'])}" for kind in data["kinds"])
    caption = (
        "Give each kind of question a budget, next to the best mix and the oracle at the same cost."
    )
    return Game(
        "kinds", data, caption, f"How often each kind is right, by number of answers: {curves}."
    )


_STEP = 0.001  # by which a price in a sentence moves


def tangent(budgets: Sequence[int], curve: ArrayLike, start: float, most: float = 0.1) -> Game:
    """A line of slope λ rests on one question's curve; its intercept is the net value."""
    data = {
        "budgets": list(budgets),
        "curve": np.asarray(curve).round(6).tolist(),
        "start": start,
        "most": most,
    }
    without = f"The accuracy of the vote is {listed(budgets, data['curve'])} answers."
    return Game("price", data, "Drag the price, and watch what one question buys.", without)


def sentence(
    responses: Responses, name: str, start: float, most: float = 0.1, seed: int = 0
) -> Game:
    """A price in a sentence: what all questions buy, how accurate they are, a mix of that cost.

    Oracle and mix are chosen on half of the answers to each question and scored on the other half.
    """
    seen, scored = (half.table(BUDGETS) for half in responses.split_samples(seed))
    prices = np.arange(round(most / _STEP) + 1) * _STEP
    labels = [oracle_labels(seen.acc, seen.cost, price) for price in prices]
    cost = [float(seen.cost[own].mean()) for own in labels]
    data = {
        "n": seen.n,
        "name": name,
        "budgets": list(BUDGETS),
        "colours": list(COLOURS),
        "start": start,
        "most": most,
        "bought": [np.bincount(own, minlength=len(BUDGETS)).tolist() for own in labels],
        "cost": np.round(cost, 4).tolist(),
        "accuracy": [rounded_mean(scored.acc[np.arange(seen.n), own]) for own in labels],
        "mix": [
            rounded_mean(best_mix(seen.acc, seen.cost, spent).expected(scored.acc))
            for spent in cost
        ],
    }
    at = round(start / _STEP)
    scores = f"accuracy {data['accuracy'][at]:.3f}, best mix {data['mix'][at]:.3f}"
    without = f"At a price of {start:g}: {cost[at]:.2f} answers per question, {scores}."
    return Game(
        "price", data, f"Drag the price, and watch what all questions of {name} buy.", without
    )


_VOTE = {"axis": "answers in the vote", "unit": "answers", "who": "the vote"}


def guess(
    budgets: Sequence[float],
    truth: Sequence[float],
    known: int = 1,
    start: Sequence[float] | None = None,
    ends: tuple[float, float] = (0, 1),
    words: Mapping[str, str] | None = None,
) -> Game:
    """Guess a curve, the vote's or the oracle's: drag all points but the first, then see the truth.

    The points begin where the known ones end, or on the curve ``start``, which then stays in
    sight. ``ends`` are those of the axis."""
    curves = [[round(float(value), 4) for value in curve] for curve in (truth, start or [])]
    terms = dict(words or _VOTE)
    data = {"budgets": list(budgets), "truth": curves[0], "known": known, "start": curves[1]}
    data |= {"ends": list(ends), "words": terms}
    caption = f"Draw the accuracy of {terms['who']} before you see it."
    return Game(
        "guess", data, caption, f"The accuracy of {terms['who']} is {listed(budgets, curves[0])}."
    )


_PART = 20  # questions of each of the three parts


def spend(responses: Responses, budget: float = 2.0, seed: int = 0) -> Game:
    """Spend the answers, on the welcome page: the reader hands out a budget, then the price does.

    Every question starts with one answer. Player and price see half of the answers to a question,
    and the other half scores both. The sixty questions are chosen on the half that is seen, so that
    what a tile would reach does not tell what an answer adds: `_quick_slow_and_flat` has the rule.
    """
    seen, scored = (half.table(BUDGETS).acc for half in responses.split_samples(seed))
    levels = responses.levels or [""] * responses.n
    rows = sorted(_quick_slow_and_flat(seen), key=lambda row: (str(levels[row]), row))
    seen = seen[rows]
    scored = scored[rows]
    best = frontier(seen, BUDGETS).at(budget)
    mix = best_mix(seen, np.array(BUDGETS), budget)
    data = {
        "budgets": list(BUDGETS),
        "colours": list(COLOURS),
        "total": round(budget * len(rows)),
        "questions": [responses.questions[row] for row in rows],
        "seen": np.round(seen * 10_000).astype(int).tolist(),
        "scored": np.round(scored * 10_000).astype(int).tolist(),
        "oracle": best.labels.tolist(),
        "price": round(best.lam, 4),
        "oracle_accuracy": float(scored[np.arange(len(rows)), best.labels].mean()),
        "mix_accuracy": float(mix.expected(scored).mean()),
    }
    caption = (
        f"Hand out {data['total'] - len(rows)} extra answers to {len(rows)} of our {responses.n} "
        "questions. More answers help a third of them early, a third late, and a third hardly at "
        "all."
    )
    without = (
        f"With {data['total']} answers one price gets {data['oracle_accuracy']:.0%} right, "
        f"and the best mix {data['mix_accuracy']:.0%}."
    )
    return Game("spend", data, caption, without)


def _quick_slow_and_flat(acc: np.ndarray) -> list[int]:
    """Three parts of questions: four answers bring most, some, or none of what can be gained.

    A quick one has two thirds of what sixteen answers gain with four already, and those that gain
    most with four are taken. A slow one has less than a third of it, and those that gain most with
    sixteen are taken. A flat one never gains more than a tenth, and those nearest to one half are
    taken.
    """
    gain = acc - acc[:, :1]
    four = gain[:, BUDGETS.index(4)]
    sixteen = gain[:, BUDGETS.index(16)]
    parts = (
        (four >= 2 / 3 * sixteen, -four),
        (four < 1 / 3 * sixteen, -sixteen),
        (gain.max(axis=1) <= 0.1, np.abs(acc[:, 0] - 0.5)),
    )
    picked: dict[int, None] = {}  # in order, each once
    for belongs, key in parts:
        order = np.argsort(key, kind="stable")
        free = [int(row) for row in order if belongs[row] and int(row) not in picked]
        picked |= dict.fromkeys(free[:_PART])
    return list(picked)


def lineup(acc: ArrayLike, cost: ArrayLike, names: Sequence[str]) -> Game:
    """Slopes, sorted: the edges of a few envelopes line up into one staircase.

    An edge is [question, cost, accuracy, cost, accuracy], its ends in its own envelope; the
    steepest come first.

    >>> played = lineup([[0.2, 0.3, 0.9]], [1, 2, 4], ["a"])
    >>> played.data["edges"]  # the second budget is below the line
    [[0, 1.0, 0.2, 4.0, 0.9]]
    """
    acc = np.asarray(acc, dtype=float)
    cost = np.asarray(cost, dtype=float)
    edges: list[list[float]] = []
    for row, curve in enumerate(acc):
        path = frontier(curve[None, :], cost)
        corners = [
            (float(c), round(float(a), 4)) for c, a in zip(path.cost, path.accuracy, strict=True)
        ]
        edges += [[row, *low, *high] for low, high in pairwise(corners)]
    edges.sort(key=lambda edge: -(edge[4] - edge[2]) / (edge[3] - edge[1]))
    first = [round(float(value), 4) for value in acc[:, 0]]
    order = ", ".join(f"{names[int(edge[0])]} from {edge[1]:g} to {edge[3]:g}" for edge in edges)
    data = {"names": list(names), "edges": edges, "first": first, "cost": cost.tolist()}
    return Game(
        "lineup",
        data,
        "Line up the steps of all questions, the steepest first.",
        f"In order: {order}.",
    )
