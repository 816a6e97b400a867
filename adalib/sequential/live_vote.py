"""A vote on a live model: ask as a session wants, count what comes, note what is paid for."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adalib.ask.endpoint import Ask, NoAnswerError
from adalib.ask.reply import Answer
from adalib.ask.runner import Runner
from adalib.sequential.race_session import RaceSession
from adalib.vote.answers import ClassesSoFar
from adalib.vote.extract import extract_answer, marks_answer

_LONG_TEXT = 300  # characters from which a text needs a marked answer: an essay holds numbers too
_SHORT_TEXT = 40  # characters of a text that is an answer as it is, such as "Paris"

# Why no further answer was asked.
WORTH = "not worth its price"
LONGEST = "the longest vote"
NOT_SHORT = "no short answer"
ENDING = "the server is ending"


@dataclass(frozen=True)
class Routed:
    """The winner of a vote, and how it came about.

    Attributes
    ----------
    answer : str
        The winner, "" if no answer could be read.
    winner : Answer
        The first reply that gave it.
    votes : dict of str to int
        How many replies gave each answer.
    answers : tuple of Answer
        All replies that came in and were counted.
    tokens : int
        Tokens written, those of cancelled replies included.
    cancelled : int
        Replies that are paid for and do not count: they were cancelled, or are no text.
    cost, price : float
        What the vote cost in the policy's unit, and the price at which it began.
    reason : str
        Why no further answer was asked.
    """

    answer: str
    winner: Answer
    votes: dict[str, int]
    answers: tuple[Answer, ...]
    tokens: int
    cancelled: int
    cost: float
    price: float
    reason: str


class _NotShortError(Exception):
    """A race has an answer that is not a short one, so there is nothing to vote on."""


class LiveVote:
    """The vote on one question: the answers that came in, and which of them are the same.

    The session of a policy decides how many to ask; ``usual`` has the mean of each field of a
    reply, for where an endpoint does not report it.

    What is asked for is paid, whatever comes of it, and so it is noted in ``runners`` at once. An
    answer counts once its class is known. Classes are numbered one answer at a time, because which
    class is new depends on those before.
    """

    def __init__(self, session: Any, ask: Ask, most: int, usual: dict[str, float]) -> None:
        self.session = session
        self.ask = ask
        self.most = most
        self.usual = usual
        self.runners: list[Runner] = []
        self.came: dict[int, Answer] = {}  # by the number of its runner
        self.answers: list[Answer] = []  # those that were counted
        self.ballots: list[str] = []
        self.numbers: list[int] = []  # the class of each ballot; -1 where it is none
        self._first = asyncio.Event()
        self._classes = ClassesSoFar()
        self._one_at_a_time = asyncio.Lock()

    async def run(self, ending: asyncio.Event) -> str:
        """Ask until the session wants no more, or the vote is to end; return why no more."""

        async def closing() -> None:
            await ending.wait()
            await self._first.wait()

        work = asyncio.ensure_future(self._ask_all())
        end = asyncio.ensure_future(closing())
        try:
            await asyncio.wait({work, end}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancelled([work, end])  # until its connections are closed
        return ENDING if work.cancelled() else work.result()

    async def _ask_all(self) -> str:
        """Ask until the session wants no more, and return why it does not."""
        try:
            if isinstance(self.session, RaceSession):
                await self.session.run(self._race)
            else:
                await self._ask_in_rounds()
        except _NotShortError:
            pass
        if not self._has_read:
            return NOT_SHORT
        return LONGEST if len(self.answers) >= self.most else WORTH

    async def _ask_in_rounds(self) -> None:
        """Ask for as many answers at once as the session wants, and count them in that order."""
        while self.session.goes_on:
            first = len(self.runners)
            runners = [Runner(first + k) for k in range(self.session.asks)]
            tasks = [asyncio.ensure_future(self._answer_of(runner)) for runner in runners]
            try:
                await asyncio.wait(tasks)  # also for those beside a failure: they are paid for
            finally:
                await _cancelled(tasks)
            await self.count_the_rest()
            for task in tasks:
                task.result()  # or raise what went wrong
            if not self._has_read:  # texts that were cut would be cut the next time too
                return

    async def count_the_rest(self) -> None:
        """Count what came in and was not counted; what a race had not counted is left out."""
        if isinstance(self.session, RaceSession):
            return
        came = [self.came[asked] for asked in sorted(self.came)]
        for answer in came[len(self.answers) :]:
            ballot, fields = await self._count(answer)
            self.session.add(ballot, **fields)

    async def _race(self, runner: Runner) -> tuple[int | None, dict[str, Any]]:
        """Ask for one answer of a race, which runs next to others."""
        answer = await self._answer_of(runner)
        ballot, fields = await self._count(answer)
        # An essay says that its question has no short answer. A cut text says nothing about others.
        if not self._has_read and answer.finish == "stop":
            raise _NotShortError
        return ballot, fields

    async def _answer_of(self, runner: Runner) -> Answer:
        """Ask for one answer, and note what it costs however that ends."""
        self.runners.append(runner)
        runner.paid = True
        try:
            answer = await self.ask(runner)
        finally:
            if runner.tokens is None:  # nobody counted, so it is booked with the usual number
                runner.tokens = self._tokens_of_one if runner.paid else 0.0
        written = self._tokens_of_one if answer.tokens is None else float(answer.tokens)
        runner.paid, runner.tokens = True, written
        self.came[runner.number] = answer
        self._first.set()
        return answer

    async def _count(self, answer: Answer) -> tuple[int | None, dict[str, Any]]:
        """Note one more answer; return its class, None if unreadable, and what a policy reads."""
        ballot = short_answer(answer)
        async with self._one_at_a_time:
            # Formulas are compared as mathematics, which takes a while; a server has other work.
            number = await asyncio.to_thread(self._classes.add, ballot)
            self.answers.append(answer)
            self.ballots.append(ballot)
            self.numbers.append(number)
        given = {name: getattr(answer, name) for name in ("tokens", *self.session.reads)}
        fields = {
            name: self.usual.get(name) if value is None else value for name, value in given.items()
        }
        return None if number < 0 else number, fields

    @property
    def _tokens_of_one(self) -> float:
        """How many tokens an answer usually has."""
        return self.usual.get("tokens", 0.0)

    @property
    def _has_read(self) -> bool:
        """Whether one of the counted answers could be read."""
        return max(self.numbers, default=-1) >= 0

    @property
    def tokens(self) -> float:
        """Tokens written so far, those of cancelled answers included."""
        return sum(runner.tokens or 0.0 for runner in self.runners if runner.paid)

    @property
    def asked(self) -> int:
        """How many answers are paid for."""
        return sum(runner.paid for runner in self.runners)

    def routed(self, cost: float, price: float, reason: str) -> Routed:
        """Return the outcome; the winner is the first of the leading answers."""
        leaders = self.session.leaders
        winner = self.numbers.index(leaders[0]) if leaders else 0
        read = [number for number in self.numbers if number >= 0]
        answers = tuple(self.answers or self.came.values())
        return Routed(
            answer=self.ballots[winner] if leaders else "",
            winner=answers[winner],
            votes=dict(Counter(self.ballots[self.numbers.index(number)] for number in read)),
            answers=answers,
            tokens=round(self.tokens),
            cancelled=self.asked - len(answers),
            cost=cost,
            price=price,
            reason=reason,
        )


def short_answer(answer: Answer) -> str:
    """Return the answer to vote with; "" where a reply is not a short answer.

    A long text counts only if its answer is marked (a box, "Answer:", "####"), because an essay
    holds numbers too. A text of a few words is an answer as it is, unless it marks an answer and
    then gives none. A text that was cut is no answer: its last number may be half of one.
    """
    if answer.finish != "stop":
        return ""
    text = answer.text.strip()
    if len(text) > _LONG_TEXT and not extract_answer(text, finished=False):
        return ""
    is_answer = len(text) <= _SHORT_TEXT and not marks_answer(text)
    return answer.answer or (text if is_answer else "")


async def _cancelled(tasks: Sequence[asyncio.Future]) -> None:
    """Cancel what still runs, and wait until it has ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def in_words(error: BaseException) -> str:
    """Say why a vote failed, without the endpoint's own words, which may hold a text or a key."""
    if isinstance(error, NoAnswerError):
        return str(error)
    return "out of time" if isinstance(error, TimeoutError) else type(error).__name__
