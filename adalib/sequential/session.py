"""The live session: one question whose answers arrive, decided by a fitted policy."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from adalib.sequential.certificate import Certificate
from adalib.sequential.evidence import Evidence
from adalib.sequential.rules import Rule
from adalib.sequential.signals.base import Signal
from adalib.sequential.signals.votes import VoteCount


class Member(NamedTuple):
    """A member of a policy's library: a plain rule on one count, or the priced rule of a number."""

    rule: Rule | None  #: None for a priced rule
    by: str = "votes"  #: the count that a plain rule looks at
    price: int = -1  #: the number of a priced rule's price


class _Fitted(Protocol):
    """What a session reads of a fitted policy."""

    signals_in_use: dict[str, Signal]
    deciding_count: VoteCount
    schedule: np.ndarray
    certify: float | None

    @property
    def coefficients(self) -> Sequence[np.ndarray]: ...

    @property
    def reads(self) -> dict[str, str]: ...


def checked_gain(gain: np.ndarray) -> np.ndarray:
    """Return the gain of going on; raise ValueError if it is not finite.

    NaN would never stop.
    """
    if not np.isfinite(gain).all():
        raise ValueError("the gain of another answer is not finite; fit the policy again")
    return gain


class Session:
    """The vote on one question, as `PricedStopping.start` begins it.

    Explained in the chapter "When to stop".

    Parameters
    ----------
    policy : PricedStopping
        A fitted policy.
    member : Member
        The rule of its library to follow.
    features : array_like, shape (d,), optional
        Features of the question, where a signal needs them.

    Attributes
    ----------
    goes_on : bool
        Whether another answer is worth its price.
    asks : int
        How many answers to ask at once.
    leaders : list
        The leading answers: one, several that are tied, or none.
    reads : dict of str to str
        The fields that `add` needs with every answer, each with the signal that reads it.
    certificate : Certificate
        How sure it is that the leader is the model's most frequent answer.

    Examples
    --------
    >>> from adalib import PricedStopping, beta_population
    >>> policy = PricedStopping(("votes",), repeats=2).fit(beta_population(60, 1.5, 1.5).sample(12))
    >>> session = policy.start(1.0)
    >>> session.add("7"), session.leaders
    (False, ['7'])
    """

    def __init__(self, policy: _Fitted, member: Member, features: ArrayLike | None) -> None:
        self._policy = policy
        self._member = member
        self._n = 0
        self._rule_stops = False
        self._live = {name: signal.live(features) for name, signal in policy.signals_in_use.items()}
        self.certificate = Certificate()
        self.reads = policy.reads
        self.goes_on = True

    @property
    def asks(self) -> int:
        """How many answers to ask at once: those up to the next checkpoint."""
        if not self.goes_on:
            return 0
        schedule = self._policy.schedule
        following = np.searchsorted(schedule, self._n, side="right")
        return int(schedule[following]) - self._n

    @property
    def leaders(self) -> list[Hashable]:
        """The leading answers in the order they came: one, several that are tied, or none."""
        return self._live[self._policy.deciding_count.name].leaders  # type: ignore[attr-defined]

    def add(self, answer: Hashable, **fields: float | None) -> bool:
        """Count one more answer and return whether to go on.

        Parameters
        ----------
        answer : hashable
            The answer, or its class; None or "" if it could not be read.
        **fields : float
            The fields that `reads` names, for example ``logprob=-0.2``.

        Returns
        -------
        bool
            Whether another answer is worth its price.
        """
        self._count(answer, fields)
        schedule = self._policy.schedule
        column = int(np.searchsorted(schedule, self._n))
        last = schedule.size - 1
        if column > last or schedule[column] == self._n:
            self._rule_stops = self._rule_stops or column >= last or self._stops(column)
            self.goes_on = column < last and (self._uncertified() or not self._rule_stops)
        return self.goes_on

    def features(self) -> np.ndarray:
        """Return the features of this moment."""
        states = {name: live.state() for name, live in self._live.items()}
        policy = self._policy
        return Evidence(policy.signals_in_use, states, policy.deciding_count).features()

    def _count(self, answer: Hashable, fields: Mapping[str, float | None]) -> None:
        """Show an answer to every signal and to the certificate."""
        readable = None if answer == "" else answer
        for live in self._live.values():
            live.add(readable, fields)
        self._n += 1
        self.certificate.add(readable)

    def _stops(self, column: int) -> bool:
        """Return whether the rule stops at this checkpoint."""
        rule, count, price = self._member
        if rule is not None:
            return bool(rule.stops(self._live[count].state()))
        fitted = self._policy.coefficients[column][:, price]
        return bool(checked_gain(fitted[0] + self.features() @ fitted[1:]) <= 0)

    def _uncertified(self) -> bool:
        """Return whether the policy asks for a certificate that is still missing."""
        alpha = self._policy.certify
        return alpha is not None and self.certificate.risk > alpha
