"""What a signal of priced stopping is: what it learns, its state in a replay, and its state live.

A signal turns what is known about a question into numbers that a linear rule can weigh. The same
method, `Signal.features`, does so for answers played back and for answers that arrive, from states
of the same type.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.sequential.streams import Streams


class Lesson(NamedTuple):
    """What a signal may learn from."""

    answers: Responses  #: of the training questions
    streams: Streams  #: the same answers played back
    schedule: np.ndarray  #: numbers of answers at which one may stop
    fold: np.ndarray  #: the fold of each question, shape (N,)
    features: ArrayLike | None  #: of the questions, shape (N, d)


class State(Protocol):
    """What a signal knows: arrays over streams and checkpoints, or numbers for one question."""

    def at(self, columns: ArrayLike) -> Any:
        """Return the state at some of the checkpoints."""


class LiveState(Protocol):
    """What a signal knows about one question while its answers arrive."""

    def add(self, answer: Hashable, fields: Mapping[str, float | None]) -> None:
        """Take in one more answer, None if unreadable, with the fields of its reply."""

    def state(self) -> Any:
        """Return the state of this moment, of the type that a replay has at one checkpoint."""


class Signal(ABC):
    """One thing that a stopping rule looks at.

    A subclass with a ``name``, and its entry in `adalib.sequential.signals.SIGNALS`, is all that a
    new signal needs.
    """

    name: ClassVar[str]  #: under which it is chosen, and stored in a file
    reads: ClassVar[str] = ""  #: field of an answer that it needs, in `Responses` and in a reply
    usual: ClassVar[bool] = False  #: whether a policy uses it unless signals are named
    unless: ClassVar[str] = ""  #: a signal next to which it is no longer usual
    takes: int = 0  #: features of a question that it needs before the first answer

    def fit(self, lesson: Lesson) -> bool:
        """Learn from training questions; return False if the signal says nothing there."""
        return True

    @abstractmethod
    def replayed(
        self,
        streams: Streams,
        columns: np.ndarray,
        features: ArrayLike | None,
        trained_on: bool,
    ) -> State:
        """Return the state of streams after the answers ``columns`` (counted from 0).

        ``trained_on`` says that these are the questions from which the signal learned.
        """

    @abstractmethod
    def live(self, features: ArrayLike | None) -> LiveState:
        """Return the state of one question before its first answer."""

    @abstractmethod
    def features(self, state: Any, lead: list) -> list:
        """Return finite numbers for a linear rule; ``lead`` is how clear the deciding count is."""

    def to_dict(self) -> dict[str, Any]:
        """Return what was learned, as plain values for a JSON file."""
        return {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take back what `to_dict` returned; raise ValueError if it is not sound."""
        if saved:
            raise ValueError(f"the signal {self.name!r} learns nothing, so a file cannot hold any")
