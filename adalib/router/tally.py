"""A plan for one question, and its votes: read an answer, find its class, keep the text that gave it first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Protocol

from adalib.llm.endpoint import Answer, EndpointError
from adalib.sequential.rules import leader_holds
from adalib.vote.answers import answer_classes, extract_answer

__all__ = ["Counted", "Plan", "Tally", "Vote", "is_short"]


class Vote(Protocol):
    """A vote that says whether to go on: `adalib.sequential.session.Session`, or `Counted`."""

    goes_on: bool
    leaders: list

    def add(self, answer: int | None, logprob: float | None = None) -> bool:
        """Count one more answer, and say whether to go on."""


class Counted:
    """A vote of a number of answers that was fixed before the first.

    Examples
    --------
    >>> vote = Counted(3)
    >>> [vote.add(answer) for answer in (0, 1, 1)], vote.leaders
    ([True, True, False], [1])
    """

    def __init__(self, answers: int) -> None:
        self.answers, self.n, self.votes = answers, 0, {}

    @property
    def goes_on(self) -> bool:
        """Whether there are answers left to ask."""
        return self.n < self.answers

    @property
    def leaders(self) -> list[int]:
        """The classes that lead, in the order they came."""
        return [answer for answer, votes in self.votes.items() if votes == max(self.votes.values())]

    def add(self, answer: int | None, logprob: float | None = None) -> bool:
        """Count one more answer; None is one that could not be read."""
        self.n += 1
        if answer is not None:
            self.votes[answer] = self.votes.get(answer, 0) + 1
        return self.goes_on


@dataclass(frozen=True)
class Plan:
    """What a policy makes of one question at one price.

    Attributes
    ----------
    session : Vote
        Counts the answers and says whether to go on.
    expected : float
        What such a question cost on training questions.
    stops : tuple of int
        Numbers of answers at which one may stop.
    logprobs : bool
        Whether the answers' log-probabilities are needed.
    """

    session: Vote
    expected: float
    stops: tuple[int, ...]
    logprobs: bool = False

    @property
    def longest(self) -> int:
        """Most answers that the policy asks."""
        return self.stops[-1]

    def next_stop(self, answers: int) -> int:
        """The next number of answers at which one may stop."""
        return next(stop for stop in self.stops if stop > answers)


def is_short(text: str) -> bool:
    r"""Whether a text ends in a short answer: one that is marked as such, or a number in its last line.

    Examples
    --------
    >>> is_short(r"So it is \boxed{7}."), is_short("3 + 4 = 7"), is_short("In 1984 we read.\nThen we slept.")
    (True, True, False)
    """
    return bool(extract_answer(text, finished=False) or extract_answer(text.strip().rsplit("\n", 1)[-1]))


class Tally:
    """The answers to one question: their classes, the first text of each, and the vote."""

    def __init__(self, vote: Vote) -> None:
        self.vote, self.n = vote, 0
        self.first: list[tuple[str, Answer]] = []  # of every class: its answer and the text it was read from
        self.votes: list[int] = []
        self.opening: Answer | None = None
        self._classes: dict[str, int] = {}

    @property
    def other_kind(self) -> bool:
        """Whether the first answer, said to its end, is no short one."""
        return self.opening is not None and self.opening.finish == "stop" and not is_short(self.opening.text)

    async def add(self, answer: Answer, weighs: bool) -> None:
        """Read one more text, and put it to the vote."""
        if weighs and answer.logprob is None:
            raise EndpointError(
                "the endpoint gives no log-probabilities, by which this policy weighs answers; fit it without certainty"
            )
        self.n += 1
        self.opening = self.opening or answer
        told = extract_answer(answer.text, finished=answer.finish == "stop")
        number = await self._class(told) if told else -1
        if number == len(self.first):
            self.first.append((told, answer))
            self.votes.append(0)
        if number >= 0:
            self.votes[number] += 1
        self.vote.add(None if number < 0 else number, answer.logprob)

    async def _class(self, told: str) -> int:
        if told not in self._classes:
            known = [answer for answer, _ in self.first]
            # Comparing formulas may take a second, in which a server has other things to do.
            found = await asyncio.to_thread(answer_classes, [*known, told]) if known else [0]
            self._classes[told] = int(found[-1])
        return self._classes[told]

    def result(self) -> dict[str, Any]:
        """The winner and its votes, in the names of `Routed`."""
        votes = {answer: count for (answer, _), count in zip(self.first, self.votes, strict=True)}
        leaders = self.vote.leaders
        answer, won = self.first[leaders[0]] if leaders else ("", self.opening)
        ranked = sorted(self.votes, reverse=True) + [0, 0]
        return {
            "answer": answer,
            "text": won.text,
            "votes": votes,
            "samples": self.n,
            "certainty": float(leader_holds(ranked[0], ranked[1])) if leaders else 0.0,
            "agreement": votes[answer] / self.n if leaders else 0.0,
            "finish": won.finish,
        }
