"""Sampled answers played back as streams, with what each answer costs.

Which of R answers come first is chance, so every question is played back several times and the
outcomes are averaged. The orders are rotations of one shuffled row: each answer comes first once
before any comes first twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np

from adalib.datasets.responses import SAMPLED, Cost, Responses
from adalib.sequential.votes import Votes, count_votes, vote_weight

_KEPT = 2  # ways in which a set of answers was played back last
_PLAYED: WeakKeyDictionary[Responses, dict[tuple, Streams]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Streams:
    """M streams of T answers: every question ``repeats`` times, in that many orders."""

    question: np.ndarray  #: the question of each stream, shape (M,)
    classes: np.ndarray  #: the class of each answer, shape (M, T), as are the next two
    worth: np.ndarray  #: how right that class is: the mean over the question's answers in it
    cost: np.ndarray  #: paid so far, after each answer
    read: Callable[[str], np.ndarray | None]  #: a field of `Responses` per answer, None if absent
    _counted: dict[tuple[float, str], Votes] = field(default_factory=dict, init=False, repr=False)

    def votes(self, sharpness: float = 0.0, by: str = "logprob") -> Votes:
        """Count votes, each weighted by exp(sharpness * x), with x the answer's field ``by``."""
        values = self.read(by) if sharpness else None
        key = (0.0, "") if values is None else (sharpness, by)
        if key not in self._counted:
            weights = None if values is None else vote_weight(sharpness, values)
            self._counted[key] = count_votes(self.classes, self.worth, weights)
        return self._counted[key]

    def take(self, rows: np.ndarray) -> Streams:
        """Return some of the streams."""

        @cache
        def read(name: str) -> np.ndarray | None:
            values = self.read(name)
            return None if values is None else values[rows]

        return Streams(
            self.question[rows], self.classes[rows], self.worth[rows], self.cost[rows], read
        )

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Average over the streams of each question: (M, ...) becomes (N, ...)."""
        questions = int(self.question[-1]) + 1
        return values.reshape(questions, -1, *values.shape[1:]).mean(axis=1)


def make_streams(
    responses: Responses, limit: int, *, repeats: int, seed: int = 0, cost: Cost = "samples"
) -> Streams:
    """Play every question's answers back in several orders.

    Parameters
    ----------
    responses : Responses
    limit : int
        Answers per stream, at most.
    repeats : int
        Orders per question; never more than it has answers.
    seed : int
        Seed of the shuffle.
    cost : {"samples", "tokens"} or Prices
        What an answer costs.

    Returns
    -------
    Streams

    Examples
    --------
    >>> from adalib import beta_population
    >>> make_streams(beta_population(5, 2, 2).sample(8), 4, repeats=3).classes.shape
    (15, 4)
    """
    # Several rules are often played the same answers, one after the other.
    played = _PLAYED.setdefault(responses, {})
    key = limit, repeats, seed, cost
    if key not in played:
        for oldest in list(played)[: len(played) + 1 - _KEPT]:
            del played[oldest]
        played[key] = _played_back(responses, limit, repeats, seed, cost)
    return played[key]


def _played_back(responses: Responses, limit: int, repeats: int, seed: int, cost: Cost) -> Streams:
    """Return the streams of `make_streams`."""
    n = responses.n
    samples = responses.samples
    repeats = min(repeats, samples)
    shuffled = np.random.default_rng(seed).permuted(np.tile(np.arange(samples), (n, 1)), axis=1)
    first = np.arange(repeats)[:, None] * samples // repeats
    rotations = (first + np.arange(min(limit, samples))) % samples
    places = shuffled[:, rotations].reshape(n * repeats, -1)
    question = np.repeat(np.arange(n), repeats)

    def in_order(values: np.ndarray) -> np.ndarray:
        return np.asarray(values)[question[:, None], places]

    # Not the answers themselves, or the streams of a set that nobody has any more would stay.
    fields = {name: getattr(responses, name) for name in ("answers", *SAMPLED)}

    @cache
    def read(name: str) -> np.ndarray | None:
        values = fields[name]
        if name == "answers":  # texts are pointed at, since copies of one length would fill memory
            values = np.array(values, dtype=object)
        return None if values is None else in_order(values)

    paid = in_order(responses.answer_costs(cost)).cumsum(axis=1)
    return Streams(
        question, in_order(responses.classes), in_order(_class_worth(responses)), paid, read
    )


def _class_worth(responses: Responses) -> np.ndarray:
    """Return how right each answer's class is: a checker may mark one class differently twice."""
    classes = responses.classes
    voted = classes >= 0
    own = np.arange(responses.n)[:, None] * (int(classes.max()) + 1) + classes
    total = np.bincount(own[voted], responses.values[voted])
    count = np.bincount(own[voted])
    mean = np.append(total / np.maximum(count, 1), 0.0)  # the last is for unreadable answers
    return mean[np.where(voted, own, -1)]
