"""A price on waiting: answers asked together come back together, and each round is charged.

At every state the question is no longer whether to ask one more answer, but how many at once: 0, 1,
2, 4 or 8, by the same backward induction as `adalib.sequential.policy`. A price of compute and a
price of time then choose the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.sealed import number
from adalib.sequential.evidence import Evidence
from adalib.sequential.induction import cross_fitted
from adalib.sequential.policy import PRICES, PricedStopping
from adalib.sequential.rules import Fixed
from adalib.sequential.session import Member, Session, checked_gain
from adalib.sequential.streams import Streams

SIZES = (1, 2, 4, 8)  #: answers that may be asked at once


class PricedRounds(PricedStopping):
    r"""Ask as many answers at once as a price of compute and a price of waiting say.

    At price :math:`\lambda` per unit of cost and :math:`\mu` per round, the policy maximises
    :math:`E[v - \lambda c - \mu r]` with r the rounds of waiting. The schedule is no parameter. The
    library has a rule for every price of compute, and fixed numbers of answers in one round.
    Explained in the chapter "The race".

    Parameters
    ----------
    round_price : float
        Price of one round, in accuracy, from 0 to 1.
    signals : sequence of str, optional
        As for `PricedStopping`.
    most : int
        Answers per question, at most.
    **settings
        ``cost``, ``repeats``, ``seed`` and ``exact``, as for `PricedStopping`.

    Attributes
    ----------
    accuracies : ndarray, shape (members,)
        Accuracy in training, less what the rounds cost; the other attributes are those of
        `PricedStopping`.

    Examples
    --------
    >>> from adalib import beta_population
    >>> policy = PricedRounds(1.0, ("votes",), most=8, repeats=2)
    >>> policy = policy.fit(beta_population(60, 1.5, 1.5).sample(8))
    >>> policy.replay(beta_population(10, 1.5, 1.5).sample(8), [3.0]).rounds.max().item()
    1.0
    """

    FORMAT = "adalib rounds, version 1"
    RULES = {"Fixed": Fixed}

    def __init__(
        self,
        round_price: float,
        signals: Sequence[str] | None = None,
        *,
        most: int = 24,
        **settings: Any,
    ) -> None:
        super().__init__(signals, schedule=range(1, most + 1), **settings)
        if not 0 <= round_price <= 1 or self.certify is not None:
            raise ValueError(
                f"round_price is {round_price}; give 0 to 1 in accuracy, and no certify with it"
            )
        self.round_price = round_price

    @classmethod
    def from_settings(
        cls,
        round_price: float,
        signals: Sequence[str] | None,
        schedule: list[int],
        settings: dict[str, Any],
    ) -> Self:
        if schedule != list(range(1, len(schedule) + 1)):
            raise ValueError("its schedule leaves an answer out")
        checked = number(round_price, "round_price", 0, 1)
        return cls(checked, signals, most=len(schedule), **settings)

    def coefficient_shapes(self, features: int) -> list[tuple[int, ...]]:
        last = self.schedule.size
        return [
            (sum(n + size <= last for size in SIZES), features * (n > 0) + 1) for n in range(last)
        ]

    @property
    def largest_round(self) -> int:
        fixed = [member.rule.answers for member in self.members if isinstance(member.rule, Fixed)]
        return int(min(max(*SIZES, *fixed), self.schedule[-1]))

    def begin(self, number: int, features: ArrayLike | None = None) -> RoundSession:
        return RoundSession(self, self.members[number], features)

    def walk(
        self, members: Sequence[Any], streams: Streams, features: Any = None
    ) -> tuple[np.ndarray, ...]:
        return self._walk(members, self.evidence(streams, features))

    def _walk(self, members: Sequence[Any], evidence: Evidence) -> tuple[np.ndarray, ...]:
        """Return where each member stops each stream, the accuracy there, and the rounds waited."""
        states = self._states(evidence)
        priced = [j for j, member in enumerate(members) if member.rule is None]
        prices = [members[j].price for j in priced]

        def asked(n: int) -> np.ndarray:
            fitted = self.coefficients[n][..., prices]
            gains = fitted[:, 0, None] + states[n].T @ fitted[:, 1:]
            return best_size(gains, first=n == 0)

        streams = len(evidence.votes.n)
        answers = np.ones((streams, len(members)), dtype=int)
        rounds = np.ones((streams, len(members)), dtype=int)
        if priced:
            longest = int(self.schedule[-1])
            answers[:, priced], rounds[:, priced] = walked(asked, longest, (streams, len(priced)))
        for j, member in enumerate(members):
            if member.rule is not None:
                answers[:, j] = member.rule.answers
        accuracy = np.take_along_axis(evidence.votes.value, answers - 1, axis=1)
        return answers - 1, accuracy, rounds

    def play(
        self, members: Sequence[Any], streams: Streams, features: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        stops, accuracy, _ = self.walk(members, streams, features)
        return stops, accuracy

    def _states(self, evidence: Evidence) -> list[np.ndarray]:
        """Return the features before the first answer (none) and after each answer but the last."""
        nothing = np.zeros((0, len(evidence.votes.n)))
        return [nothing, *self._checkpoint_features(evidence)]

    def _fit_library(self, evidence: Evidence, streams: Streams, fold: np.ndarray) -> None:
        """Fit a rule for every price, add fixed numbers of answers, and keep the envelope."""
        longest = int(self.schedule[-1])
        nothing = np.zeros((len(streams.question), 1))  # before the first answer
        value = np.hstack([nothing, evidence.votes.value])
        paid = np.hstack([nothing, streams.cost[:, :longest]])
        self.unit = float((paid[:, -1] / longest).mean())
        prices = PRICES[::2] / self.unit
        self.coefficients, chosen = rounds_induction(
            self._states(evidence), value, paid, prices, self.round_price, fold
        )
        plain = [Member(Fixed(int(answers))) for answers in self.schedule]
        priced = [Member(None, price=j) for j in range(prices.size)]
        stops, accuracies, rounds = self._walk([*priced, *plain], evidence)
        accuracy = accuracies.mean(axis=0)
        # As without rounds: accuracy by fits that did not see the question, cost by the rule
        # itself.
        left_out, _ = walked(chosen.__getitem__, longest, (len(streams.question), prices.size))
        accuracy[: prices.size] = np.take_along_axis(value, left_out, axis=1).mean(axis=0)
        waited = rounds.mean(axis=0)
        cost = np.take_along_axis(paid, stops + 1, axis=1).mean(axis=0)
        figures = np.array([cost, accuracy - self.round_price * waited, waited])
        self._keep(prices, self.coefficients, plain, figures)


def rounds_induction(
    features: list,
    value: np.ndarray,
    cost: np.ndarray,
    prices: np.ndarray,
    round_price: float,
    fold: np.ndarray,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Do the backward induction where a round has a price: ask 0, 1, 2, 4 or 8 more at once?

    ``features``, ``value`` and ``cost`` begin before the first answer, when stopping is not
    allowed. Returns the coefficients at every state but the last, (K, d + 1, L), one row per number
    in `SIZES`, and the numbers chosen there, (M, L), by fits on the other folds.
    """
    last = value.shape[1] - 1
    levels = prices.size
    rewards = [np.repeat(value[:, -1:], levels, axis=1)]  # at the last state, then those before
    coefficients = []
    chosen = []
    for n in reversed(range(last)):
        sizes = [size for size in SIZES if n + size <= last]
        outcomes = []
        for size in sizes:
            bill = np.multiply.outer(cost[:, n + size] - cost[:, n], prices) + round_price
            outcomes.append(rewards[last - n - size] - bill)
        now = np.repeat(value[:, n : n + 1], levels, axis=1)
        gains = np.hstack([outcome - now for outcome in outcomes])
        fitted, predicted = cross_fitted(features[n], gains, fold, 0.01 * (n + 1))
        stay = np.full(now.shape, 0.0 if n else -np.inf)
        best = np.argmax([stay, *np.split(predicted, len(sizes), axis=1)], axis=0)
        rewards.append(np.choose(best, [now, *outcomes]))
        chosen.append(np.array([0, *sizes])[best])
        coefficients.append(np.array(np.split(fitted, len(sizes), axis=1)))
    return coefficients[::-1], chosen[::-1]


class RoundSession(Session):
    """The vote on one question in rounds; ``asks`` is how many answers are still to come."""

    def __init__(self, policy: PricedRounds, member: Member, features: ArrayLike | None) -> None:
        super().__init__(policy, member, features)
        self._asks = self._next_size()

    @property
    def asks(self) -> int:
        return self._asks

    def add(self, answer: Hashable, **fields: float | None) -> bool:
        self._count(answer, fields)
        self._asks = self._asks - 1 or self._next_size()
        self.goes_on = self._asks > 0
        return self.goes_on

    def _next_size(self) -> int:
        """Return how many answers to ask in the next round, 0 to stop."""
        rule, _, price = self._member
        if rule is not None:
            return 0 if self._n else rule.answers  # type: ignore[attr-defined]
        if self._n == len(self._policy.coefficients):
            return 0
        fitted = self._policy.coefficients[self._n][..., price]
        features = self.features() if self._n else np.zeros(0)
        return int(best_size(fitted[:, 0] + fitted[:, 1:] @ features, first=not self._n))


def best_size(gain: np.ndarray, first: bool) -> np.ndarray:
    """Return how many to ask if the sizes promise these gains, (K, ...): 0 if none is positive.

    At the first round at least one answer is asked.
    """
    stay = np.full((1, *gain.shape[1:]), -np.inf if first else 0.0)
    best = np.argmax(np.concatenate([stay, checked_gain(gain)]), axis=0)
    return np.array([0, *SIZES])[best]


def walked(
    asked: Callable[[int], np.ndarray], last: int, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers and rounds of every stream, if ``asked(n)`` come next after n answers."""
    answers = np.zeros(shape, dtype=int)
    rounds = np.zeros(shape, dtype=int)
    for n in range(last):
        more = np.where(answers == n, asked(n), 0)
        answers += more
        rounds += more > 0
    return answers, rounds
