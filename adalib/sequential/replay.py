"""Libraries of rules: what each costs and scores, the best mix for a budget, and replays.

A rule's cost and accuracy are a point. Choosing between two rules at random gives any point on the
line between them, so the best policies lie on the upper concave envelope, as in
the chapter "Budgets".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Cost, Responses
from adalib.sequential.streams import Streams, make_streams
from adalib.solve.hull import concave_hull
from adalib.tolerances import TRAINED, meets

#: Orders in which a question is played back for scoring: each of 48 answers comes first once.
REPLAYS = 48
#: Up to this many questions are played back at once, in all orders; more in pieces, in fewer
#: orders.
WHOLE = 2000
_FEWEST = 4  # orders per question, however many questions there are
_CELLS = 1 << 15  # answers played back at a time in pieces: some megabytes


class Mix(NamedTuple):
    """Two members of a library and the chance of using the second."""

    low: int
    high: int
    share: float

    def draw(self, rng: np.random.Generator | int | None = None) -> int:
        """Return one of the two members, at random."""
        return self.high if np.random.default_rng(rng).random() < self.share else self.low


def mix_for(cost: ArrayLike, accuracy: ArrayLike, budget: float) -> Mix:
    """Return the best mix of two rules that costs at most ``budget`` on average."""
    cost = np.asarray(cost, dtype=float)
    accuracy = np.asarray(accuracy, dtype=float)
    if not meets(budget, cost.min(), TRAINED):
        raise ValueError(
            f"the budget is {budget}; the cheapest rule costs {cost.min():g}, give at least that"
        )
    best = concave_hull(cost, accuracy)
    after = int(np.searchsorted(cost[best], budget, side="right"))
    low = best[max(after - 1, 0)]
    high = best[min(after, len(best) - 1)]
    share = 0.0 if low == high else float((budget - cost[low]) / (cost[high] - cost[low]))
    return Mix(low, high, share)


def shares_of(mixes: Sequence[Mix]) -> tuple[list[int], np.ndarray]:
    """Return the members that any mix uses, and the share of each in each mix, (mixes, members)."""
    used = sorted({number for mix in mixes for number in (mix.low, mix.high)})
    shares = [
        [(1 - m.share) * (number == m.low) + m.share * (number == m.high) for number in used]
        for m in mixes
    ]
    return used, np.array(shares)


def in_pieces(
    responses: Responses,
    features: ArrayLike | None,
    size: int,
    outcome: Callable[[Responses, np.ndarray | None, int], Sequence[np.ndarray]],
) -> list[np.ndarray]:
    """Play questions back, ``size`` at a time, and join what ``outcome`` returns of each piece.

    It is given the piece, the features of its questions, and the number of its first question.
    """
    pieces = []
    for begin in range(0, responses.n, size):
        rows = np.arange(begin, min(begin + size, responses.n))
        piece = responses if rows.size == responses.n else responses.take(rows)
        piece_features = None if features is None else np.asarray(features)[rows]
        pieces.append(outcome(piece, piece_features, begin))
    return [np.concatenate(figures) for figures in zip(*pieces, strict=True)]


def orders_and_size(responses: Responses) -> tuple[int, int]:
    """Return in how many orders to play every question back, and how many questions at once."""
    if responses.n <= WHOLE:
        return REPLAYS, responses.n
    # Memory must not grow with the questions; chance evens out.
    orders = max(REPLAYS * WHOLE // responses.n, _FEWEST)
    return orders, max(_CELLS // (min(orders, responses.samples) * responses.samples), 1)


class Replay(NamedTuple):
    """Every question's expected outcome at every budget, arrays of shape (N, budgets)."""

    cost: np.ndarray
    accuracy: np.ndarray
    answers: np.ndarray

    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return cost and accuracy of every question, one pair per budget."""
        return list(zip(self.cost.T, self.accuracy.T, strict=True))


class Tried(NamedTuple):
    """What a policy did with unseen questions at one target: what `adalib.held_out` asks for."""

    cost: np.ndarray  #: of every question, as are the next three
    accuracy: np.ndarray
    column: np.ndarray | None = None  #: that was chosen, -1 for none
    waiting: np.ndarray | None = None  #: in average answers; None: they come one by one
    #: What its way of voting is worth to a plan that treats all questions alike, where it is not
    #: the plain vote: a better vote is no allocation. An `adalib.sequential.alike.Alike`.
    alike: Any = None


class Library:
    """Base class: rules with what each costs and scores in training."""

    cost: Cost = "samples"  #: what the budget counts: answers or tokens
    members: list[Any]  #: the rules that are kept, cheapest first
    costs: np.ndarray  #: their average cost in training
    accuracies: np.ndarray  #: their average accuracy in training

    def affordable(self, targets: Sequence[float]) -> list[float]:
        """Return the targets as budgets, none below what the cheapest rule costs."""
        return [max(target, float(self.costs.min())) for target in targets]

    def own_vote(self, answers: Responses, most: int, allowed: np.ndarray) -> Any:
        """Return plans that are the same for everyone with this vote; None if it is the plain one.

        They are every number of answers up to ``most``, and the allowances.
        """
        return None


class RuleLibrary(Library, ABC):
    """Base class: rules on a schedule's checkpoints."""

    schedule: np.ndarray

    def limited_to(self, answers: int) -> Self:
        """Return a copy, to be fitted, that asks for at most so many answers."""
        policy = copy(self)
        policy.schedule = self.schedule[self.schedule <= answers]
        return policy

    def streams(self, responses: Responses, seed: int, repeats: int) -> Streams:
        """Play the answers back, as many per question as a member may ask for."""
        longest = int(self.schedule[-1])
        return make_streams(responses, longest, repeats=repeats, seed=seed, cost=self.cost)

    @abstractmethod
    def play(
        self, members: Sequence[Any], streams: Streams, features: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return where each member stops each stream, and the accuracy there, (M, K)."""

    def paid(self, members: Sequence[Any], streams: Streams, stops: np.ndarray) -> np.ndarray:
        """Return what each member pays for each stream if it stops at these checkpoints, (M, K)."""
        return np.take_along_axis(streams.cost, self.schedule[stops] - 1, axis=1)

    def mix(self, budget: float) -> Mix:
        """Return the two members, and the share of the second, that cost ``budget`` in training."""
        return mix_for(self.costs, self.accuracies, budget)

    def replay(
        self,
        responses: Responses,
        budgets: Sequence[float],
        features: ArrayLike | None = None,
        *,
        seed: int = 1,
    ) -> Replay:
        """Play answers to unseen questions back, at every budget.

        Parameters
        ----------
        responses : Responses
            Answers to the questions, at least as many as the last checkpoint.
        budgets : sequence of float
            Average costs per question, each a limit.
        features : array_like, shape (N, d), optional
            Features of the questions, where a signal needs them.
        seed : int
            Seed of the orders in which answers are played back.

        Returns
        -------
        Replay
        """
        used, shares = shares_of([self.mix(budget) for budget in budgets])
        members = [self.members[number] for number in used]
        orders, size = orders_and_size(responses)

        def outcome(piece: Responses, features: np.ndarray | None, begin: int) -> list[np.ndarray]:
            streams = self.streams(piece, seed + begin, orders)
            stops, accuracy = self.play(members, streams, features)
            figures = (self.paid(members, streams, stops), accuracy, self.schedule[stops])
            return [streams.mean(figure @ shares.T) for figure in figures]

        return Replay(*in_pieces(responses, features, size, outcome))

    def trial(self, train: Any, test: Any, targets: Sequence[float]) -> list[Tried]:
        """Learn from ``train`` and return what it did on ``test``, for `adalib.held_out`."""
        # One half may have an answer more than the other; plan for what both have.
        policy: Any = self.limited_to(min(train.answers.samples, test.answers.samples))
        policy.fit(train.answers, train.features, train.groups)
        # These questions may take more tokens than the average.
        budgets = policy.affordable(targets)
        pairs = policy.replay(test.answers, budgets, test.features).pairs()
        alike = policy.own_vote(test.answers, int(policy.schedule[-1]), test.allowed)
        return [Tried(cost, accuracy, alike=alike) for cost, accuracy in pairs]
