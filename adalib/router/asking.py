"""How questions are asked: the settings, what a policy decides with, and what can go wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol

from adalib.llm.client import EndpointError
from adalib.llm.reply import Answer
from adalib.router.controller import BudgetController
from adalib.router.purse import Prices, Purse, Tally
from adalib.sequential.certificate import Certificate
from adalib.sequential.votes import BallotBox
from adalib.vote.kinds import answer_reader
from adalib.vote.meaning import Meaning

MOST_TOKENS = 10**9  # of one answer; no model writes as many


class SpentError(EndpointError):
    """There is no money for another answer."""


class CapError(EndpointError):
    """The cap of a question has no room for a single answer."""


class LateError(EndpointError):
    """No answer came before the deadline."""


class NotShortError(ValueError):
    """The question has no short answer, and the caller asked for such questions to be refused."""


class FixedVote:
    """A vote of a fixed number of answers, asked like a session of priced stopping.

    Parameters
    ----------
    answers : int
        How many answers vote.

    Attributes
    ----------
    goes_on : bool
        Whether an answer is still to come.
    reads : mapping
        Fields of an answer that the vote needs: none.
    """

    def __init__(self, answers: int) -> None:
        self.answers = answers
        self.goes_on = True
        self.certificate = Certificate()
        self.reads: Mapping[str, str] = {}
        self._box = BallotBox()

    @property
    def asks(self) -> int:
        """How many answers to ask at once: all that are to come."""
        return self.answers - self._box.n

    @property
    def leaders(self) -> list[Hashable]:
        """The classes that lead, in the order they came."""
        return self._box.leaders

    @property
    def is_decided(self) -> bool:
        """Whether no answer that is still to come can change the winner."""
        votes = self._box.votes()
        return votes.leader - votes.runner > self.asks

    def add(self, answer: Hashable, **fields: float | None) -> bool:
        """Count one more answer, None if it could not be read; return whether more are to come."""
        self._box.add(answer)
        self.certificate.add(answer)
        self.goes_on = self._box.n < self.answers
        return self.goes_on


@dataclass(frozen=True)
class Decision:
    """What a policy makes of one question at one price."""

    session: Any  # FixedVote, or a session of priced stopping or of a race
    expected: float  # what such a question cost on training questions
    stops: tuple[int, ...]  # numbers of answers at which one may stop


class Allocator(Protocol):
    """What questions are asked by: a policy, its unit of cost, and what is left to spend."""

    controller: BudgetController
    purse: Purse
    tally: Tally
    votes_alone: bool

    def plan(self, question: str, price: float) -> Decision: ...

    def cost_of(self, tokens: int) -> float: ...


class AskingClient(Protocol):
    """Whatever gives answers, asked as `adalib.llm.client.Client.sample` is."""

    @property
    def sample(self) -> Callable[..., Awaitable[Answer]]: ...


@dataclass(frozen=True)
class Asking:
    """The settings with which questions are asked. Explained in the chapter "Deploy".

    Attributes
    ----------
    temperature : float or None
        None leaves it to the endpoint.
    max_tokens, limit_name : int, str
        Where an answer is cut, and what the endpoint calls this limit.
    kind : str
        What an answer is, see `adalib.vote.kinds`.
    cap : float
        The most that one question may cost, in the policy's unit.
    price : float or None
        A price of the caller's own, in place of the controller's.
    deadline : float
        Seconds after which the best vote so far is given.
    tries : int
        Requests for one answer before giving up.
    other : {"pass", "refuse"}
        Where there is no short answer, pass the first text on, or raise `NotShortError`.
    prices : Prices
        Dollars per million tokens.
    seed : int or None
        The first answer's seed; the next ones count up, or all answers would be the same.
    extra : dict
        Further fields of the request, sent to the endpoint as they are.
    same : Meaning or None
        Tells when answers in words mean the same; a short text is then an answer.
    """

    temperature: float | None = 0.7
    max_tokens: int = 256
    limit_name: str = "max_tokens"
    kind: str = "auto"
    cap: float = inf
    price: float | None = None
    deadline: float = 300.0
    tries: int = 3
    other: str = "pass"
    prices: Prices = field(default_factory=Prices)
    seed: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    same: Meaning | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.max_tokens <= MOST_TOKENS:
            raise ValueError(f"max_tokens must lie between 1 and {MOST_TOKENS:,}")
        answer_reader(self.kind)
        if not 0 <= (self.temperature or 0.0) < 100 or not self.cap > 0 or not self.deadline > 0:
            given = f"{self.temperature}, {self.cap} and {self.deadline}"
            raise ValueError(f"need temperature >= 0, cap > 0 and deadline > 0, got {given}")
        if self.price is not None and not 0 <= self.price < inf:
            raise ValueError(f"the price is {self.price}; give a number, 0 or more")
        if self.tries < 1:
            raise ValueError(f"need tries >= 1, got {self.tries}")
        if self.other not in ("pass", "refuse"):
            raise ValueError(f"other is {self.other!r}; choose 'pass' or 'refuse'")
