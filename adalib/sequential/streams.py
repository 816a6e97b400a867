"""Sampled answers played back as streams, the vote after every answer, and what rules would have cost and brought.

Which of R answers come first is chance, so every question is played back several times and the outcomes are averaged:
rotations of one shuffled row, so that no answer comes first twice before all have. A rule's cost and accuracy are a
point; a coin between two rules lies on the line between them, and the best is the upper concave envelope of chapter 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.files import DataError
from adalib.datasets.responses import Responses

__all__ = ["BallotBox", "Cost", "Library", "Mix", "Money", "REPLAYS", "Replay", "Streams", "Votes", "WHOLE"]
__all__ += ["answer_costs", "corners", "count_votes", "make_streams", "mix_for", "shares_of", "weight_of"]


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
    """The vote on one question, counted as the answers come; what no rule of a session looks at is not a number."""

    def __init__(self) -> None:
        self.held: dict[Hashable, float] = {}
        self.n = self.empty = 0

    def add(self, answer: Hashable, weight: float = 1.0) -> None:
        """Count one more answer; None is one that could not be read."""
        self.n += 1
        if answer is None:
            self.empty += 1
        else:
            self.held[answer] = self.held.get(answer, 0) + weight

    @property
    def leaders(self) -> list[Hashable]:
        """The answers that lead, in the order they came: one, several that are tied, or none."""
        most = max(self.held.values(), default=0.0)
        return [answer for answer, votes in self.held.items() if votes == most]

    def votes(self) -> Votes:
        """The state of the vote."""
        *_, second, first = sorted([0.0, 0.0, *self.held.values()])
        return Votes(self.n, first, second, len(self.held), self.empty, np.nan, np.nan, np.nan)


def count_votes(classes: ArrayLike, worth: ArrayLike, weights: np.ndarray | None = None) -> Votes:
    """Count votes step by step, for many streams at once: (M, T) classes in the order they came, negative if empty.

    ``worth`` is what an answer's class is worth, in [0, 1]; ``weights``, all positive, what its vote weighs.
    """
    classes, worth = np.asarray(classes), np.asarray(worth, dtype=float)
    m, t = classes.shape
    # A step is one row of memory, and what is read of it is read in one piece.
    state = np.zeros((8, t, m))
    state[0] = np.arange(1, t + 1)[:, None]
    rows, held = np.arange(m), np.zeros((m, int(classes.max(initial=0)) + 1))
    leader, runner, tied, tied_worth, again = np.zeros((5, m))
    counts, log_sum = np.arange(t + 1), np.full(m, 0.0 if weights is None else np.nan)
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
        return values.reshape(int(self.question[-1]) + 1, -1, *values.shape[1:]).mean(axis=1)


@lru_cache(maxsize=8)  # several rules are often played the same answers, one after the other
def make_streams(responses: Responses, limit: int, *, repeats: int, seed: int = 0, cost: Cost = "samples") -> Streams:
    """Play every question's answers back, ``limit`` at most, in ``repeats`` orders, or as many as it has answers."""
    n, r, classes = responses.n, responses.samples, responses.classes
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

    # A class is worth the mean over its answers: a checker may call it right here and wrong there.
    voted, own = classes >= 0, np.arange(n)[:, None] * (int(classes.max()) + 1) + classes
    total, count = np.bincount(own[voted], responses.values[voted]), np.bincount(own[voted])
    worth = np.append(total / np.maximum(count, 1), 0.0)[np.where(voted, own, -1)]
    paid = deal(answer_costs(responses, cost)).cumsum(axis=1)
    return Streams(question, deal(classes), deal(worth), paid, read)


#: Orders in which a question is played back when a rule is scored: of 48 answers each comes first once.
REPLAYS = 48
#: Questions that are played back all at once, and in all orders; more are played in parts, and in fewer.
WHOLE = 2000
_FEWEST = 4  # orders of a question, however many there are
_CELLS = 1 << 15  # answers played back at a time where there are more: some megabytes


class Mix(NamedTuple):
    """Two members of a library and the chance of the second."""

    low: int
    high: int
    share: float


def mix_for(cost: ArrayLike, accuracy: ArrayLike, budget: float) -> Mix:
    """Find the best mix of two rules that costs ``budget`` on average; less, where nothing dearer is better."""
    cost, accuracy = np.asarray(cost, dtype=float), np.asarray(accuracy, dtype=float)
    if not budget >= cost.min() * (1 - 1e-9):
        raise ValueError(f"the budget is {budget}; the cheapest rule costs {cost.min():g}, give at least that")
    best = corners(cost, accuracy)
    after = int(np.searchsorted(cost[best], budget, side="right"))
    low, high = best[max(after - 1, 0)], best[min(after, len(best) - 1)]
    return Mix(low, high, 0.0 if low == high else float((budget - cost[low]) / (cost[high] - cost[low])))


def corners(cost: ArrayLike, accuracy: ArrayLike) -> list[int]:
    """Name the rules on the envelope, cheapest first: `adalib.frontier` for one question with hundreds of budgets."""
    x, y = np.asarray(cost, dtype=float).tolist(), np.asarray(accuracy, dtype=float).tolist()
    kept: list[int] = []
    for i in sorted(range(len(x)), key=lambda i: (x[i], -y[i])):
        if kept and y[i] <= y[kept[-1]]:
            continue
        while len(kept) > 1:  # whoever lies under the line between its neighbours is dropped
            b, a = kept[-1], kept[-2]
            if (y[b] - y[a]) * (x[i] - x[a]) > (y[i] - y[a]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


def shares_of(mixes: Sequence[Mix]) -> tuple[list[int], np.ndarray]:
    """The members that some mix uses, and how often each mix uses each, shape (mixes, members)."""
    used = sorted({number for mix in mixes for number in (mix.low, mix.high)})
    shares = [[(1 - m.share) * (number == m.low) + m.share * (number == m.high) for number in used] for m in mixes]
    return used, np.array(shares)


class Replay(NamedTuple):
    """Every question's expected outcome at every budget, each (N, B); ``rounds`` is how often one had to wait."""

    cost: np.ndarray
    accuracy: np.ndarray
    answers: np.ndarray
    rounds: np.ndarray

    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Cost and accuracy of every question, a pair per budget."""
        return list(zip(self.cost.T, self.accuracy.T, strict=True))


class Library(ABC):
    """Rules that may stop at the checkpoints of a schedule, and what each costs and brings on training questions."""

    cost: Cost = "samples"
    schedule: np.ndarray
    members: list[Any]
    costs: np.ndarray
    accuracies: np.ndarray

    def streams(self, responses: Responses, seed: int, repeats: int) -> Streams:
        """The answers played back, as many as it may ask for."""
        return make_streams(responses, int(self.schedule[-1]), repeats=repeats, seed=seed, cost=self.cost)

    @abstractmethod
    def play(self, members: Sequence[Any], streams: Streams, features: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The checkpoint at which each member stops each stream, and what the vote is worth there, both (M, K)."""

    def walk(self, members: Sequence[Any], streams: Streams, features: Any = None) -> tuple[np.ndarray, ...]:
        """What `play` says, and the rounds that each stream waits: one per checkpoint, unless a rule says otherwise."""
        stops, worth = self.play(members, streams, features)
        return stops, worth, stops + 1

    def paid(self, members: Sequence[Any], streams: Streams, stops: np.ndarray) -> np.ndarray:
        """What each member pays for each stream when it stops at these checkpoints, shape (M, K)."""
        return np.take_along_axis(streams.cost, self.schedule[stops] - 1, axis=1)

    def mix(self, budget: float) -> Mix:
        """The two members, and the chance of the dearer, that cost ``budget`` on training questions."""
        return mix_for(self.costs, self.accuracies, budget)

    def replay(
        self, responses: Responses, budgets: Sequence[float], features: ArrayLike | None = None, *, seed: int = 1
    ) -> Replay:
        """Play answers back to unseen questions, at every budget: an average cost, at most."""
        used, shares = shares_of([self.mix(budget) for budget in budgets])
        n, size, orders = responses.n, responses.n, REPLAYS
        if n > WHOLE:  # what it takes does not grow with their number, and chance evens out over them
            orders = max(REPLAYS * WHOLE // n, _FEWEST)
            size = max(_CELLS // (min(orders, responses.samples) * responses.samples), 1)
        members, parts = [self.members[number] for number in used], []
        for begin in range(0, n, size):
            rows = np.arange(begin, min(begin + size, n))
            asked = responses if size == n else responses.take(rows)
            known = None if features is None else np.asarray(features)[rows]
            streams = self.streams(asked, seed + begin, orders)
            stops, worth, rounds = self.walk(members, streams, known)
            paid, answers = self.paid(members, streams, stops), self.schedule[stops]
            parts.append([streams.mean(part @ shares.T) for part in (paid, worth, answers, rounds)])
        return Replay(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Learn from ``train`` and be scored on ``test``, for `adalib.held_out`."""
        policy: Any = copy(self)
        # One half may be an answer longer than the other: nobody plans for more than there is to ask.
        policy.schedule = self.schedule[self.schedule <= min(train.answers.samples, test.answers.samples)]
        policy.fit(train.answers, train.features, train.groups)
        return policy.replay(test.answers, targets, test.features).pairs()
