"""What rules would have cost and brought, on answers that are there already, and the envelope over them.

Every rule has an average cost and an accuracy on training questions: a point. What can be had by tossing a coin between
two rules lies on the line between their points, so the best at every budget is the upper concave envelope of all
points: chapter 3 once more, over rules in place of budgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.sequential.streams import Streams

__all__ = ["Library", "Mix", "REPLAYS", "Replay", "WHOLE", "corners", "mix_for", "shares_of"]

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
    if after in (0, len(best)):
        return Mix(best[max(after - 1, 0)], best[max(after - 1, 0)], 0.0)
    low, high = best[after - 1], best[after]
    return Mix(low, high, float((budget - cost[low]) / (cost[high] - cost[low])))


def corners(cost: ArrayLike, accuracy: ArrayLike) -> list[int]:
    """Name the rules on the envelope, cheapest first: the only ones that some price picks.

    `adalib.frontier` walks millions of questions with a few budgets each; here is one question with hundreds.
    """
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


class Library:
    """Rules that may stop at the checkpoints of a schedule, and what each costs and brings on training questions."""

    schedule: np.ndarray
    members: list[Any]
    costs: np.ndarray
    accuracies: np.ndarray

    def fit(self, responses: Responses, features: ArrayLike | None = None, groups: Sequence | None = None) -> Self:
        """Learn the members, their costs and their accuracies."""
        raise NotImplementedError

    def play(
        self, members: Sequence[Any], responses: Responses, features: ArrayLike | None, seed: int, repeats: int
    ) -> tuple[Streams, np.ndarray, np.ndarray]:
        """Streams, the checkpoint at which each member stops them, and what the vote is worth there, both (M, K)."""
        raise NotImplementedError

    def mix(self, budget: float) -> Mix:
        """The two members, and the chance of the dearer, that cost ``budget`` on training questions."""
        return mix_for(self.costs, self.accuracies, budget)

    def replay(
        self, responses: Responses, budgets: Sequence[float], features: ArrayLike | None = None, *, seed: int = 1
    ) -> Replay:
        """Play answers back to unseen questions, at every budget: an average cost to aim for.

        Many questions are played some at a time, so that what it takes does not grow with their number, and in fewer
        orders: chance evens out over them.
        """
        used, shares = shares_of([self.mix(budget) for budget in budgets])
        n, size, orders = responses.n, responses.n, REPLAYS
        if n > WHOLE:
            orders = max(REPLAYS * WHOLE // n, _FEWEST)
            size = max(_CELLS // (min(orders, responses.samples) * responses.samples), 1)
        parts = []
        for begin in range(0, n, size):
            rows = np.arange(begin, min(begin + size, n))
            asked = responses if size == n else responses.take(rows)
            known = None if features is None else np.asarray(features)[rows]
            streams, stops, worth = self.play([self.members[i] for i in used], asked, known, seed + begin, orders)
            answers = self.schedule[stops]
            paid = np.take_along_axis(streams.cost, answers - 1, axis=1)
            parts.append([streams.mean(part @ shares.T) for part in (paid, worth, answers, stops + 1)])
        return Replay(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Learn from ``train`` and be scored on ``test``, for `adalib.held_out`."""
        policy = copy(self)
        # One half may be an answer longer than the other: nobody plans for more than there is to ask.
        policy.schedule = self.schedule[self.schedule <= min(train.answers.samples, test.answers.samples)]
        policy.fit(train.answers, train.features, train.groups)
        return policy.replay(test.answers, targets, test.features).pairs()
