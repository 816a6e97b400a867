"""The live session: one question whose answers arrive, decided by a fitted policy.

A session is what a replay does, for one question and without its gold answer. It takes one answer
at a time, tells whether another is worth its price, and how many to ask for at once.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.sequential.evidence import LiveEvidence, SignalPolicy
from adalib.sequential.rules import Rule


class Member(NamedTuple):
    """A member of a library: a plain rule on one count, or the rule fitted at one price."""

    rule: Rule | None  #: None for a priced rule
    by: str = "votes"  #: the count that a plain rule looks at
    price_index: int = -1  #: which of the policy's prices a priced rule has

    def to_dict(self) -> dict[str, Any]:
        """Return the member as plain values."""
        if self.rule is None:
            return {"price": self.price_index}
        return {"rule": type(self.rule).__name__, "by": self.by, **vars(self.rule)}


class SteppedPolicy(SignalPolicy):
    """Base class: what a session reads of a policy that decides at checkpoints."""

    schedule: np.ndarray  #: numbers of answers at which one may stop
    coefficients: list[np.ndarray]  #: of the priced rules, (d + 1, prices) at each but the last


def checked_gain(gain: np.ndarray) -> np.ndarray:
    """Return the gain of going on; raise ValueError if it is not finite.

    NaN would never stop.
    """
    if not np.isfinite(gain).all():
        raise ValueError("the gain of another answer is not finite; fit the policy again")
    return gain


class Session:
    """The vote on one question, as `PricedStopping.start` begins it.

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
        The leading answers, each as it was first given: one, several that are tied, or none.
    reads : dict of str to str
        The fields that `add` needs with every answer, each with the signal that reads it.

    Examples
    --------
    >>> from adalib import PricedStopping, beta_population
    >>> policy = PricedStopping(("votes",), repeats=2).fit(beta_population(60, 1.5, 1.5).sample(12))
    >>> session = policy.start(1.0)
    >>> session.add("7"), session.leaders
    (False, ['7'])
    >>> vote = policy.start(12.0)  # one half, written in two ways, and another answer
    >>> [vote.add(answer) for answer in ("0.5", "3", "1/2")][-1], vote.leaders
    (True, ['0.5'])
    """

    def __init__(self, policy: SteppedPolicy, member: Member, features: ArrayLike | None) -> None:
        self._policy = policy
        self._member = member
        self._evidence = LiveEvidence(policy, features)
        self._n = 0
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
        return self._evidence.leaders

    def add(self, answer: Hashable, **fields: float | None) -> bool:
        """Count one more answer and return whether to go on.

        Parameters
        ----------
        answer : hashable
            The answer as `extract_answer` reads it, of which equal ones count together (see
            `same_answer`); or its class; None or "" if it could not be read.
        **fields : float
            The fields that `reads` names, for example ``logprob=-0.2``.

        Returns
        -------
        bool
            Whether another answer is worth its price. Once it is not, this stays so.
        """
        self._evidence.add(answer, fields)
        self._n += 1
        schedule = self._policy.schedule
        checkpoint = int(np.searchsorted(schedule, self._n))
        if self._n >= schedule[-1]:
            self.goes_on = False
        elif self.goes_on and schedule[checkpoint] == self._n:
            self.goes_on = not self._stops(checkpoint)
        return self.goes_on

    def _stops(self, checkpoint: int) -> bool:
        """Return whether the rule stops at this checkpoint."""
        rule, count, price_index = self._member
        if rule is not None:
            return bool(rule.stops(self._evidence.votes(count)))
        fitted = self._policy.coefficients[checkpoint][:, price_index]
        features = self._evidence.now().features()
        return bool(checked_gain(fitted[0] + features @ fitted[1:]) <= 0)
