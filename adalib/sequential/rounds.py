"""A price on waiting: answers that are asked together come back together, and a round has its price.

At every state the question is no longer whether to ask one more, but how many at once: 0, 1, 2, 4 or 8, by the backward
induction of `adalib.sequential.priced`. A price of compute and a price of time then choose the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.sealed import number
from adalib.sequential.peers import Fixed
from adalib.sequential.priced import PRICES, Member, PricedStopping, Session, cross_fitted
from adalib.sequential.signals import Seen
from adalib.sequential.streams import Streams

__all__ = ["SIZES", "PricedRounds", "RoundSession", "rounds_induction"]

SIZES = (1, 2, 4, 8)  #: answers that may be asked at once


class PricedRounds(PricedStopping):
    """Ask as many answers at once as a price of compute and a price of waiting say: the schedule is no parameter.

    Explained in chapter 9, "When to stop". The library has a rule for every price of compute, and fixed numbers of
    answers in one round; ``accuracies`` are less what the rounds cost.

    Parameters
    ----------
    round_price : float
        What a round is worth in accuracy, from 0 to 1.
    most : int
        Answers to a question, at most.
    signals, cost, repeats, seed, exact
        As for `PricedStopping`.
    """

    FORMAT = "adalib rounds, version 1"
    RULES = {"Fixed": Fixed}

    def __init__(self, round_price: float, signals: Sequence[str] | None = None, *, most: int = 24, **how: Any) -> None:
        super().__init__(signals, schedule=range(1, most + 1), **how)
        if not 0 <= round_price <= 1 or self.certify is not None:
            raise ValueError(f"round_price is {round_price}; give 0 to 1 in accuracy, and no certify beside it")
        self.round_price = round_price

    @classmethod
    def remade(cls, round_price: float, signals: Sequence[str], schedule: list[int], how: dict[str, Any]) -> Self:
        if schedule != list(range(1, len(schedule) + 1)):
            raise ValueError("its schedule leaves an answer out")
        return cls(number(round_price, "round_price", 0, 1), signals, most=len(schedule), **how)

    def shapes(self, known: int) -> list[tuple[int, ...]]:
        last = self.schedule.size
        return [(sum(n + size <= last for size in SIZES), known * (n > 0) + 1) for n in range(last)]

    @property
    def largest_round(self) -> int:
        fixed = [member.rule.answers for member in self.members if isinstance(member.rule, Fixed)]
        return int(min(max(*SIZES, *fixed), self.schedule[-1]))

    def begin(self, number: int, features: ArrayLike | None = None) -> RoundSession:
        return RoundSession(self, self.members[number], features)

    def walk(self, members: Sequence[Any], streams: Streams, features: Any = None) -> tuple[np.ndarray, ...]:
        return self._walk(members, self.seen(streams, features))

    def _walk(self, members: Sequence[Any], seen: Seen) -> tuple[np.ndarray, ...]:
        states, chosen = self._states(seen), [member.price for member in members if member.rule is None]

        def asked(n: int) -> np.ndarray:
            fitted = self.coefficients[n][..., chosen]
            return best_size(fitted[:, 0, None] + states[n].T @ fitted[:, 1:], first=not n)

        answers, rounds = np.ones((2, len(seen.votes.n), len(members)), dtype=int)
        if chosen:
            places = [j for j, member in enumerate(members) if member.rule is None]
            shape = len(seen.votes.n), len(chosen)
            answers[:, places], rounds[:, places] = walked(asked, int(self.schedule[-1]), shape)
        for j, member in enumerate(members):
            if member.rule is not None:
                answers[:, j] = member.rule.answers
        return answers - 1, np.take_along_axis(seen.votes.value, answers - 1, axis=1), rounds

    def play(self, members: Sequence[Any], streams: Streams, features: Any = None) -> tuple[np.ndarray, np.ndarray]:
        stops, worth, _ = self.walk(members, streams, features)
        return stops, worth

    def _states(self, seen: Seen) -> list[np.ndarray]:
        """What is known before the first answer (nothing is looked at), and after each but the last."""
        nothing = np.zeros((0, len(seen.votes.n)))
        return [nothing, *(seen.at(column).features() for column in range(self.schedule.size - 1))]

    def _fit_library(self, seen: Seen, streams: Streams, fold: np.ndarray) -> None:
        longest, start = int(self.schedule[-1]), np.zeros((len(streams.question), 1))
        value, paid = np.hstack([start, seen.votes.value]), np.hstack([start, streams.cost[:, :longest]])
        self.unit = float((paid[:, -1] / longest).mean())
        prices = PRICES[::2] / self.unit
        self.coefficients, chosen = rounds_induction(self._states(seen), value, paid, prices, self.round_price, fold)
        plain = [Member(Fixed(int(answers))) for answers in self.schedule]
        # As without rounds: accuracy by fits that did not see the question, cost by the rule itself.
        left_out, _ = walked(chosen.__getitem__, longest, (len(streams.question), prices.size))
        stops, worth, rounds = self._walk([*(Member(None, price=j) for j in range(prices.size)), *plain], seen)
        accuracy = worth.mean(axis=0)
        accuracy[: prices.size] = np.take_along_axis(value, left_out, axis=1).mean(axis=0)
        net = accuracy - self.round_price * rounds.mean(axis=0)
        cost = np.take_along_axis(paid, stops + 1, axis=1).mean(axis=0)
        self._keep(prices, self.coefficients, plain, np.array([cost, net, rounds.mean(axis=0)]))


def rounds_induction(
    features: list, value: np.ndarray, cost: np.ndarray, prices: np.ndarray, round_price: float, fold: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """`backward_induction` where a round has its price too: at every state, ask 0, 1, 2, 4 or 8 more at once?

    ``features``, ``value`` and ``cost`` begin before the first answer, when nobody stops. Returns the coefficients at
    every state but the last, (K, d + 1, L), a row per number in `SIZES`, and the numbers chosen there, (M, L), by fits
    on the other folds.
    """
    last, levels = value.shape[1] - 1, prices.size
    rewards = [np.repeat(value[:, -1:], levels, axis=1)]  # at the last state, then at those before it
    coefficients, chosen = [], []
    for n in reversed(range(last)):
        sizes = [size for size in SIZES if n + size <= last]
        paid = [np.multiply.outer(cost[:, n + size] - cost[:, n], prices) + round_price for size in sizes]
        ways = [rewards[last - n - size] - bill for size, bill in zip(sizes, paid, strict=True)]
        now = np.repeat(value[:, n : n + 1], levels, axis=1)
        fitted, guess = cross_fitted(features[n], np.hstack([way - now for way in ways]), fold, 0.01 * (n + 1))
        stay = np.full(now.shape, 0.0 if n else -np.inf)
        best = np.argmax([stay, *np.split(guess, len(sizes), axis=1)], axis=0)
        rewards.append(np.choose(best, [now, *ways]))
        chosen.append(np.array([0, *sizes])[best])
        coefficients.append(np.array(np.split(fitted, len(sizes), axis=1)))
    return coefficients[::-1], chosen[::-1]


class RoundSession(Session):
    """The vote on one question in rounds: ``asks`` says how many answers to ask at once, then how many are to come."""

    def __init__(self, policy: PricedRounds, member: Member, features: ArrayLike | None) -> None:
        super().__init__(policy, member, features)
        self._asks = self._next()

    @property
    def asks(self) -> int:
        return self._asks

    def add(self, answer: Hashable, **said: float | None) -> bool:
        self._count(None if answer == "" else answer, said)
        self._asks = self._asks - 1 or self._next()
        self.goes_on = self._asks > 0
        return self.goes_on

    def _next(self) -> int:
        rule, _, price = self._member
        if rule is not None:
            return 0 if self._n else rule.answers  # type: ignore[attr-defined]
        if self._n == len(self._policy.coefficients):
            return 0
        fitted = self._policy.coefficients[self._n][..., price]
        known = self.known() if self._n else np.zeros(0)
        return int(best_size(fitted[:, 0] + fitted[:, 1:] @ known, first=not self._n))


def best_size(guess: np.ndarray, first: bool) -> np.ndarray:
    """How many to ask where the sizes promise these gains, (K, ...): none where no gain is positive, but at first."""
    stay = np.full((1, *guess.shape[1:]), -np.inf if first else 0.0)
    return np.array([0, *SIZES])[np.argmax(np.concatenate([stay, guess]), axis=0)]


def walked(asked: Callable[[int], np.ndarray], last: int, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Answers and rounds of every stream when ``asked(n)`` says how many come next after n answers, 0 to stop."""
    at, rounds = np.zeros((2, *shape), dtype=int)
    for n in range(last):
        more = np.where(at == n, asked(n), 0)
        at += more
        rounds += more > 0
    return at, rounds
