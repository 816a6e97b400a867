"""Sampled answers played back as streams, and the state of the vote after every answer.

A file holds R answers per question; whoever stops after three saw three of them. Which three is chance, so every
question is played back several times and the outcomes are averaged: the answers are the same, the noise is less. The
orders are rotations of one shuffled row, so that no answer comes first twice before all have.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import log
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError
from adalib.datasets.responses import Responses

__all__ = ["BallotBox", "Cost", "Money", "Streams", "Votes", "answer_costs", "count_votes", "make_streams", "weight_of"]


class Votes(NamedTuple):
    """What is known of a vote after n answers; arrays of one shape, or plain numbers for a single question."""

    n: Any  #: answers so far, empty ones included
    leader: Any  #: votes of the leading class
    runner: Any  #: votes of the next one, equal when tied
    distinct: Any  #: different answers so far
    empty: Any  #: answers that could not be read
    run: Any  #: how many answers at the end are the same; 0 after an empty one
    log_sum: Any  #: sum of c log c, c the votes of a class, for the entropy of the votes; NaN where votes are weighted
    value: Any  #: what the answer is worth if the vote is closed now, ties shared

    def at(self, columns: ArrayLike) -> Votes:
        """Keep some of the steps."""
        return Votes(*(part[..., columns] for part in self))


def weight_of(sharpness: float, told: Any) -> Any:
    """What an answer's vote weighs: one so unlikely that its weight would be 0 still votes, as good as not at all."""
    return np.exp(np.maximum(sharpness * told, -600.0))


class BallotBox:
    """The vote on one question, counted as the answers come: what `count_votes` is for many at once."""

    def __init__(self) -> None:
        self.held: dict[Hashable, float] = {}
        self.n = self.empty = self.run = 0
        self.last: Hashable = None

    def add(self, answer: Hashable, weight: float = 1.0) -> None:
        """Count one more answer; None is one that could not be read."""
        self.n += 1
        if answer is None:
            self.empty += 1
            self.run = 0
        else:
            self.held[answer] = self.held.get(answer, 0) + weight
            self.run = self.run + 1 if answer == self.last else 1
        self.last = answer

    @property
    def leaders(self) -> list[Hashable]:
        """The answers that lead, in the order they came: one, several that are tied, or none."""
        most = max(self.held.values(), default=0.0)
        return [answer for answer, votes in self.held.items() if votes == most]

    def votes(self) -> Votes:
        """The state of the vote."""
        *_, second, first = sorted([0.0, 0.0, *self.held.values()])
        log_sum = sum(votes * log(votes) for votes in self.held.values())
        return Votes(self.n, first, second, len(self.held), self.empty, self.run, log_sum, np.nan)


def count_votes(classes: ArrayLike, worth: ArrayLike, weights: ArrayLike | None = None) -> Votes:
    """Count votes step by step, for many streams at once: (M, T) classes in the order they came, negative if empty.

    ``worth`` is what an answer's class is worth, in [0, 1]; ``weights``, all positive, what its vote weighs.
    """
    classes, worth = np.asarray(classes), np.asarray(worth, dtype=float)
    weights = None if weights is None else np.asarray(weights, dtype=float)
    m, t = classes.shape
    # A step is one row of memory, and what is read of it is read in one piece.
    state = np.zeros((8, t, m))
    state[0] = np.arange(1, t + 1)[:, None]
    rows, held = np.arange(m), np.zeros((m, int(classes.max(initial=0)) + 1))
    leader, runner, tied, tied_worth, log_sum = np.zeros((5, m))
    again, counts = np.zeros(m), np.arange(t + 1)
    terms = counts * np.log(np.maximum(counts, 1)) if weights is None else None
    for step, (came, value) in enumerate(zip(classes.T.copy(), worth.T.copy(), strict=True)):
        own, read = np.maximum(came, 0), came >= 0
        before = held[rows, own]
        now = before + (read if weights is None else read * weights[:, step])
        held[rows, own] = now
        ahead, level = read & (now > leader), read & (now == leader)
        # The one who goes ahead leaves the old leader behind as runner-up, unless it was the leader all alone.
        alone = (before == leader) & (tied == 1)
        behind = np.where(read, np.maximum(runner, now), runner)
        runner = np.where(ahead, np.where(alone, runner, leader), np.where(level, leader, behind))
        leader = np.where(ahead, now, leader)
        tied = np.where(ahead, 1, tied + level)
        tied_worth = np.where(ahead, value, tied_worth + level * value)
        if terms is not None:
            log_sum = log_sum + terms[now.astype(int)] - terms[before.astype(int)]
        again = read * (again * (came == classes[:, step - 1]) + 1) if step else read * 1.0
        state[1:, step] = leader, runner, read & (before == 0), ~read, again, log_sum, tied_worth / np.maximum(tied, 1)
    state[3:5] = state[3:5].cumsum(axis=1)
    if terms is None:
        state[6] = np.nan
    return Votes(*state.transpose(0, 2, 1))


Cost = Literal["samples", "tokens"] | Callable[[Responses], np.ndarray]


@dataclass(frozen=True)
class Money:
    """A price list: what a generated token costs in money, and what asking at all does (the prompt, say)."""

    per_token: float
    per_answer: float = 0.0

    def __call__(self, responses: Responses) -> np.ndarray:
        return self.per_answer + self.per_token * answer_costs(responses, "tokens")


def answer_costs(responses: Responses, cost: Cost) -> np.ndarray:
    """Return what every answer costs, shape (N, R): 1, its tokens, or what a price list says."""
    if callable(cost):
        return np.asarray(cost(responses), dtype=float)
    if cost == "samples":
        return np.ones((responses.n, responses.samples))
    if cost != "tokens":
        raise ValueError(f"cost must be 'samples', 'tokens' or a price list, got {cost!r}")
    if responses.tokens is None:
        raise DataError(f'{responses.source}: has no tokens; add "tokens" to every line, or let cost be "samples"')
    return responses.tokens


@dataclass(frozen=True, eq=False)
class Streams:
    """M streams of T answers: every question ``repeats`` times, in that many orders."""

    question: np.ndarray  #: whose answers they are, shape (M,)
    classes: np.ndarray  #: of each answer, shape (M, T), as are the others
    worth: np.ndarray  #: of its class: the mean over the question's answers of that class
    cost: np.ndarray  #: what has been paid after each answer
    read: Callable[[str], np.ndarray | None]  #: what a field of `Responses` says of each answer, if it is there
    _counted: dict[tuple[float, str], Votes] = field(default_factory=dict, init=False, repr=False)

    def votes(self, sharpness: float = 0.0, by: str = "logprob") -> Votes:
        r"""Count the votes, each weighted by :math:`e^{s x}`, where :math:`x` is what a field says of the answer."""
        told = self.read(by) if sharpness else None
        key = (0.0, "") if told is None else (sharpness, by)
        if key not in self._counted:
            weights = None if told is None else weight_of(sharpness, told)
            self._counted[key] = count_votes(self.classes, self.worth, weights)
        return self._counted[key]

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Average over the streams of each question: (M, ...) becomes (N, ...)."""
        n = int(self.question[-1]) + 1
        return values.reshape(n, -1, *values.shape[1:]).mean(axis=1)


@lru_cache(maxsize=8)  # several rules are often played the same answers, one after the other
def make_streams(
    responses: Responses, limit: int = 40, *, repeats: int = 8, seed: int = 0, cost: Cost = "samples"
) -> Streams:
    """Play every question's answers back, ``limit`` at most, in ``repeats`` orders, or as many as it has answers."""
    n, r = responses.n, responses.samples
    repeats = min(repeats, r)
    shuffled = np.random.default_rng(seed).permuted(np.tile(np.arange(r), (n, 1)), axis=1)
    turns = (np.arange(repeats)[:, None] * r // repeats + np.arange(min(limit, r))) % r
    places = shuffled[:, turns].reshape(n * repeats, -1)
    question = np.repeat(np.arange(n), repeats)

    def deal(values: np.ndarray) -> np.ndarray:
        return np.asarray(values)[question[:, None], places]

    @cache
    def read(field: str) -> np.ndarray | None:
        told = getattr(responses, field)
        return None if told is None else deal(told)

    paid = deal(answer_costs(responses, cost)).cumsum(axis=1)
    return Streams(question, deal(responses.classes), deal(_worth(responses)), paid, read)


def _worth(responses: Responses) -> np.ndarray:
    """What the class of every answer is worth, (N, R): a checker may call one class right here and wrong there."""
    rows = np.arange(responses.n)[:, None]
    own = np.maximum(responses.classes, 0)
    total, count = np.zeros((2, responses.n, int(own.max()) + 1))
    read = responses.classes >= 0
    np.add.at(total, (rows, own), responses.values * read)
    np.add.at(count, (rows, own), read)
    return np.where(read, total[rows, own] / np.maximum(count[rows, own], 1), 0.0)
