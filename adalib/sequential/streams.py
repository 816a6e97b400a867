"""Sampled answers played back as streams, each question several times in other orders.

A file holds R answers a question; whoever stops after three saw three of them. Which three is chance, so every question
is played back several times and the outcomes are averaged: the answers are the same, the noise is less. The orders are
rotations of one shuffled row, so that no answer comes first twice before all have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError
from adalib.datasets.responses import Responses

__all__ = ["Cost", "Money", "Streams", "Votes", "answer_costs", "count_votes", "make_streams"]


# The state of a vote after every answer: all that a stopping rule may look at.
#
# Answers come in one by one. After each there is a leader, a runner-up, so many different answers, so many that could
# not be read, and what the vote would be worth if it were closed now. An answer changes one class only, so a step costs the
# same however many answers came before. `Votes` holds many questions at once as arrays, one column a
# step; a rule written for it also reads the numbers of a single question.


@dataclass(frozen=True, eq=False)
class Votes:
    """What is known of a vote after n answers; arrays of one shape, or plain numbers for a single question.

    Attributes
    ----------
    n : answers so far, empty ones included
    leader, runner : votes of the leading class and of the next one (equal when tied)
    distinct, empty : different answers so far, and answers that could not be read
    run : how many answers at the end are the same; 0 after an empty one
    log_sum : sum over the classes of c log c, c the votes of a class; the entropy of the votes follows from it;
        NaN where votes are weighted
    value : what the answer is worth if the vote is closed now, ties shared
    """

    n: np.ndarray
    leader: np.ndarray
    runner: np.ndarray
    distinct: np.ndarray
    empty: np.ndarray
    run: np.ndarray
    log_sum: np.ndarray
    value: np.ndarray

    def at(self, columns: ArrayLike) -> Votes:
        """Keep some of the steps."""
        return Votes(*(getattr(self, f.name)[..., columns] for f in fields(self)))

    def rows(self, rows: ArrayLike) -> Votes:
        """Keep some of the streams."""
        return Votes(*(getattr(self, f.name)[rows] for f in fields(self)))


def count_votes(classes: ArrayLike, worth: ArrayLike, weights: ArrayLike | None = None) -> Votes:
    """Count votes step by step, for many streams of answers at once.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    classes : array_like of int, shape (M, T)
        The class of every answer in the order it came; negative for an empty one, which never gets a vote.
    worth : array_like, shape (M, T)
        What the class of the answer is worth, in [0, 1].
    weights : array_like, shape (M, T), optional
        Positive weight of every vote; default 1.

    Returns
    -------
    Votes
        Arrays of shape (M, T).

    Examples
    --------
    >>> votes = count_votes([[0, 1, 1, -1]], worth=[[0, 1, 1, 0]])
    >>> votes.leader.tolist(), votes.runner.tolist(), votes.value.tolist()
    ([[1.0, 1.0, 2.0, 2.0]], [[0.0, 1.0, 1.0, 1.0]], [[0.0, 0.5, 1.0, 1.0]])
    """
    classes, worth = np.asarray(classes), np.asarray(worth, dtype=float)
    weights = None if weights is None else np.asarray(weights, dtype=float)
    shapes = [np.shape(part) for part in (classes, worth, classes if weights is None else weights)]
    if classes.ndim != 2 or len(set(shapes)) > 1:
        raise ValueError(f"classes, worth and weights have shapes {shapes[0]}, {shapes[1]} and {shapes[2]}")
    if weights is not None and not (weights > 0).all():
        raise ValueError("a weight is not positive; an answer that shall not vote has a negative class")
    m, t = classes.shape
    # A step is one row of memory, and what is read of it is read in one piece.
    found = np.zeros((8, t, m))
    found[0] = np.arange(1, t + 1)[:, None]
    rows, held = np.arange(m), np.zeros((m, int(classes.max(initial=0)) + 1))
    leader, runner, tied, tied_worth, log_sum = np.zeros((5, m))
    terms = _c_log_c(np.arange(t + 1)) if weights is None else None
    again = np.zeros(m)
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
        found[1:, step] = leader, runner, read & (before == 0), ~read, again, log_sum, tied_worth / np.maximum(tied, 1)
    found[3:5] = found[3:5].cumsum(axis=1)
    if terms is None:
        found[6] = np.nan
    return Votes(*found.transpose(0, 2, 1))


def _c_log_c(count: np.ndarray) -> np.ndarray:
    return count * np.log(np.maximum(count, 1))


Cost = Literal["samples", "tokens"] | Callable[[Responses], np.ndarray]


@dataclass(frozen=True)
class Money:
    """A price list: what every answer costs in money.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    per_token : float
        Price of a generated token.
    per_answer : float
        Price of asking at all: the tokens of the prompt, say.

    Examples
    --------
    >>> answers = Responses(["a"], ["?"], ["7"], [["7", "8"]], tokens=[[100, 300]])
    >>> Money(per_token=0.01, per_answer=0.5)(answers).tolist()
    [[1.5, 3.5]]
    """

    per_token: float
    per_answer: float = 0.0

    def __call__(self, responses: Responses) -> np.ndarray:
        """Return the cost of every answer, shape (N, R)."""
        return self.per_answer + self.per_token * answer_costs(responses, "tokens")


def answer_costs(responses: Responses, cost: Cost) -> np.ndarray:
    """Return what every answer costs, shape (N, R): 1, its tokens, or what a price list says."""
    if callable(cost):
        return np.asarray(cost(responses), dtype=float)
    if cost not in ("samples", "tokens"):
        raise ValueError(f"cost must be 'samples', 'tokens' or a price list, got {cost!r}")
    if cost == "samples":
        return np.ones((responses.n, responses.samples))
    if responses.tokens is None:
        raise DataError(f'{responses.source}: has no tokens; add "tokens" to every line, or let cost be "samples"')
    return responses.tokens


@dataclass(frozen=True, eq=False)
class Streams:
    """M streams of T answers: every question ``repeats`` times, in that many orders.

    Attributes
    ----------
    question : ndarray of int, shape (M,)
        Whose answers they are.
    classes : ndarray of int, shape (M, T)
    worth : ndarray, shape (M, T)
        What the class of each answer is worth: the mean over the question's answers of that class.
    cost : ndarray, shape (M, T)
        What has been paid after each answer.
    logprob : ndarray, shape (M, T), or None
    """

    question: np.ndarray
    classes: np.ndarray
    worth: np.ndarray
    cost: np.ndarray
    logprob: np.ndarray | None

    def votes(self, sharpness: float = 0.0) -> Votes:
        r"""Count the votes, each weighted by :math:`e^{s \ell}`, where :math:`\ell` is the answer's log-probability."""
        sharpness = sharpness if self.logprob is not None else 0.0
        if sharpness not in self._counted:
            # An answer so unlikely that its weight would be 0 still votes, as good as not at all.
            weights = np.exp(np.maximum(sharpness * self.logprob, -600.0)) if sharpness > 0 else None
            self._counted[sharpness] = count_votes(self.classes, self.worth, weights)
        return self._counted[sharpness]

    @cached_property
    def _counted(self) -> dict[float, Votes]:
        return {}

    def first(self, answers: int) -> Streams:
        """Keep only so many answers of each stream."""
        logprob = None if self.logprob is None else self.logprob[:, :answers]
        parts = (part[:, :answers] for part in (self.classes, self.worth, self.cost))
        return Streams(self.question, *parts, logprob)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Average over the streams of each question: (M, ...) becomes (N, ...)."""
        n = int(self.question[-1]) + 1
        return values.reshape(n, -1, *values.shape[1:]).mean(axis=1)


@lru_cache(maxsize=8)  # several rules are often played the same answers, one after the other
def make_streams(
    responses: Responses, limit: int = 40, *, repeats: int = 8, seed: int = 0, cost: Cost = "samples"
) -> Streams:
    """Play every question's answers back in several orders.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    responses : Responses
    limit : int
        Longest stream; never more than the answers that are there.
    repeats : int
        Orders a question, at most its answers.
    seed : int
    cost : {"samples", "tokens"} or function of Responses
        What an answer costs: 1, its tokens, or what a `Money` price list says.

    Returns
    -------
    Streams
    """
    if limit < 1 or repeats < 1:
        raise ValueError(f"limit is {limit} and repeats {repeats}; give at least 1")
    n, r = responses.n, responses.samples
    repeats = min(repeats, r)
    shuffled = np.random.default_rng(seed).permuted(np.tile(np.arange(r), (n, 1)), axis=1)
    turns = (np.arange(repeats)[:, None] * r // repeats + np.arange(min(limit, r))) % r
    places = shuffled[:, turns].reshape(n * repeats, -1)
    question = np.repeat(np.arange(n), repeats)

    def deal(values: np.ndarray) -> np.ndarray:
        return np.asarray(values)[question[:, None], places]

    classes = deal(responses.classes)
    paid = deal(answer_costs(responses, cost)).cumsum(axis=1)
    logprob = None if responses.logprob is None else deal(responses.logprob)
    return Streams(question, classes, deal(_worth(responses)), paid, logprob)


def _worth(responses: Responses) -> np.ndarray:
    """What the class of every answer is worth, (N, R): a checker may call one class right here and wrong there."""
    rows = np.arange(responses.n)[:, None]
    own = np.maximum(responses.classes, 0)
    total, count = np.zeros((2, responses.n, int(own.max()) + 1))
    read = responses.classes >= 0
    np.add.at(total, (rows, own), responses.values * read)
    np.add.at(count, (rows, own), read)
    return np.where(read, total[rows, own] / np.maximum(count[rows, own], 1), 0.0)
