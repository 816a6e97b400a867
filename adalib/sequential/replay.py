"""What rules would have cost and brought, on answers that are there already, and the envelope over them.

Every rule has an average cost and an accuracy on training questions: a point. What can be had by tossing a coin between
two rules lies on the line between their points, so the best at every budget is the upper concave envelope of all
points: chapter 3 once more, over rules in place of budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.sequential.streams import Streams

__all__ = ["Mix", "REPLAYS", "Replay", "WHOLE", "corners", "mix_for", "outcomes", "played_in_parts", "shares_of"]

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
    """Find the best mix of two rules that costs ``budget`` on average; less, where nothing dearer is better.

    Examples
    --------
    >>> mix_for([1, 2, 4], [0.5, 0.5, 0.8], budget=2)
    Mix(low=0, high=2, share=0.3333333333333333)
    """
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

    `adalib.frontier` walks millions of questions with a few budgets each; here is one question with hundreds, so the
    points are scanned once from left to right, and whoever lies under the line between its neighbours is dropped.

    Examples
    --------
    >>> corners([4, 1, 2], [0.8, 0.5, 0.5])
    [1, 0]
    """
    x, y = np.asarray(cost, dtype=float).tolist(), np.asarray(accuracy, dtype=float).tolist()
    kept: list[int] = []
    for i in sorted(range(len(x)), key=lambda i: (x[i], -y[i])):
        if kept and y[i] <= y[kept[-1]]:
            continue
        while len(kept) > 1:
            b, a = kept[-1], kept[-2]
            if (y[b] - y[a]) * (x[i] - x[a]) > (y[i] - y[a]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


@dataclass(frozen=True, eq=False)
class Replay:
    """Every question's expected outcome at every budget, each (N, B); ``rounds`` is how often one had to wait."""

    cost: np.ndarray
    accuracy: np.ndarray
    answers: np.ndarray
    rounds: np.ndarray

    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Cost and accuracy of every question, a pair per budget."""
        return list(zip(self.cost.T, self.accuracy.T, strict=True))


def played_in_parts(
    play: Callable[[Responses, ArrayLike | None, int, int], Replay],
    responses: Responses,
    features: ArrayLike | None,
    seed: int,
) -> Replay:
    """Play many questions back, some at a time, so that what it takes does not grow with their number.

    ``play`` is given the answers, the features and a seed of every part, and in how many orders to play them: fewer
    where there are so many questions that chance evens out over them.
    """
    if responses.n <= WHOLE:
        return play(responses, features, seed, REPLAYS)
    orders = max(REPLAYS * WHOLE // responses.n, _FEWEST)
    size = max(_CELLS // (min(orders, responses.samples) * responses.samples), 1)
    known = None if features is None else np.asarray(features)
    parts = []
    for begin in range(0, responses.n, size):
        rows = np.arange(begin, min(begin + size, responses.n))
        parts.append(play(responses.take(rows), None if known is None else known[rows], seed + begin, orders))
    return Replay(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Replay)))


def outcomes(
    streams: Streams, worth: np.ndarray, schedule: np.ndarray, stops: np.ndarray, shares: np.ndarray
) -> Replay:
    """Average over the streams of each question, and over the coin.

    K rules stop M streams at checkpoints ``stops`` (M, K) of the ``schedule``, where the vote is ``worth`` (M, K);
    ``shares`` (B, K) says how often each rule is used at each budget.
    """
    paid = np.take_along_axis(streams.cost[:, schedule - 1], stops, axis=1)
    parts = [paid, worth, schedule[stops], stops + 1]
    return Replay(*(streams.mean(part @ shares.T) for part in parts))


def shares_of(mixes: Sequence[Mix]) -> tuple[list[int], np.ndarray]:
    """The members that some mix uses, and how often each mix uses each, shape (mixes, members)."""
    used = sorted({number for mix in mixes for number in (mix.low, mix.high)})
    shares = [[(1 - m.share) * (number == m.low) + m.share * (number == m.high) for number in used] for m in mixes]
    return used, np.array(shares)
