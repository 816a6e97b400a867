"""Questions at work: how many answers each gets, at what cost, and why no more.

Answers are asked in rounds: as many at a time as the policy says, and it decides once all of them are
in. An answer is asked only if the question's cap and the purse have room for the most that it can cost,
and a further try after a failure is another answer in this respect. Whatever goes wrong ends the
question with the best vote so far, if there is one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol

from tqdm.auto import tqdm

from adalib.llm.client import EndpointError
from adalib.llm.questions import Prompt
from adalib.llm.reply import DETAILS, Answer
from adalib.router.controller import BudgetController
from adalib.router.purse import Prices, Purse, Tally
from adalib.sequential.certificate import Certificate
from adalib.sequential.rounds import RoundSession
from adalib.sequential.rules import leader_holds
from adalib.sequential.votes import BallotBox
from adalib.vote.answers import answer_classes
from adalib.vote.kinds import answer_reader, is_free_text, short_text
from adalib.vote.meaning import Meaning

__all__ = [
    "Asking",
    "AskingClient",
    "CapError",
    "Decision",
    "FixedVote",
    "LateError",
    "NotShortError",
    "Routed",
    "SpentError",
    "ask",
    "ask_many",
]

# Why no further answer was asked.
WORTH = "the next answer is not worth its price"
FULL = "the longest vote that the policy knows"
CAP = "the cap of a question"
SPENT = "the total in money is spent"
LATE = "the time for a question is over"
OTHER = "no short answer to vote on"
GONE = "the caller has gone"

MOST_TOKENS = 10**9  # of one answer; no model writes as many
FIRST_WAIT = 0.5  # seconds before a second try; doubled for each try after that
LONGEST_WAIT = 8.0
_TURN = 16  # tokens that a turn's own marks may cost, on top of its text
_SHORT = 4_000  # characters that are read at once; longer texts are read in a thread
_UNREAD = 2  # this many unreadable texts mean there is no short answer
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads


class SpentError(EndpointError):
    """There is no money for another answer."""


class CapError(EndpointError):
    """The cap of a question has no room for a single answer."""


class LateError(EndpointError):
    """No answer came before the deadline."""


class NotShortError(ValueError):
    """The question has no short answer, and the caller asked for such questions to be refused."""


class FixedVote:
    """A vote of a fixed number of answers, asked like a session of priced stopping."""

    def __init__(self, answers: int) -> None:
        self.answers = answers
        self.goes_on = True
        self.certificate = Certificate()
        self.reads: Mapping[str, str] = {}  # fields of an answer that the vote needs
        self._box = BallotBox()

    @property
    def asks(self) -> int:
        """How many answers to ask at once: all that are to come."""
        return self.answers - self._box.n

    @property
    def leaders(self) -> list[Hashable]:
        """The classes that lead, in the order they came."""
        return self._box.leaders

    def add(self, answer: Hashable, **fields: float | None) -> bool:
        """Count one more answer; None is one that could not be read."""
        self._box.add(answer)
        self.certificate.add(answer)
        self.goes_on = self._box.n < self.answers
        return self.goes_on


@dataclass(frozen=True)
class Decision:
    """What a policy makes of one question at one price."""

    session: Any  # FixedVote, or a session of priced stopping
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
    """How questions are asked. Explained in the chapter "Deploy".

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


@dataclass(frozen=True)
class Routed:
    """The answer to a question, and how it came about. Explained in the chapter "Deploy"."""

    answer: str  # the winner, "" if none could be read
    text: str  # the first text that gave it
    votes: dict[str, int]  # of every answer, the first seen first
    samples: int  # answers that came in
    rounds: int  # how often one waited for some
    cost: float  # in the policy's unit
    money: float  # in dollars
    confidence: float  # chance that the winner stays ahead of the runner-up, from the votes alone
    agreement: float  # share of the winner among the answers
    reason: str  # why no further answer was asked
    price: float  # of compute at the time, in accuracy per unit of cost
    tokens: int  # written, over all samples
    prompt_tokens: int  # read
    finish: str  # how the winning text ended
    certificate: float = 1.0  # chance, at most, that another answer is the model's most frequent
    counted: bool = True  # in the average that the budget holds
    bill: tuple[float, ...] = ()  # dollars for each answer that came in
    fingerprint: str | None = None  # of the system that wrote the winning text
    expected: float = 0.0  # what such questions cost in training
    unread: int = 0  # answers that could not be read
    details: dict[str, dict[str, int]] = field(default_factory=dict)  # of tokens, summed


class OpenQuestion:
    """One question while it is open: its answers, their classes, the vote on them, and what they cost."""

    def __init__(
        self,
        by: Allocator,
        client: AskingClient,
        messages: Sequence[dict[str, Any]],
        asking: Asking,
        first_answer: asyncio.Future[Answer] | None = None,
    ) -> None:
        self.by = by
        self.client = client
        self.messages = messages
        self.asking = asking
        self.first_answer = first_answer
        self.read = answer_reader(asking.kind)
        self.answers: list[Answer] = []
        self.extracted: list[str] = []  # what was read out of each, "" for nothing
        self.bill: list[float] = []
        self.winners: dict[Hashable, tuple[str, Answer]] = {}  # the first of every class
        self.votes: Counter[Hashable] = Counter()
        self.classes: dict[str, int] = {}
        self.ballots: list[Hashable | None] = []  # the class of each answer, in order
        self.cost = 0.0
        self.money = 0.0
        self.tokens = 0
        self.prompt_tokens = 0
        self.rounds = 0
        # No text has more tokens than bytes, and all that is sent may count.
        sent = json.dumps([messages, asking.extra], ensure_ascii=False).encode()
        self.most_read = len(sent) + _TURN * len(messages)
        self.most_money = asking.prices.most(self.most_read, asking.max_tokens)
        self.most_cost = by.cost_of(asking.max_tokens)
        self.held_cost = 0.0  # what the controller's ledger holds for this question
        self.caller_gone = False  # then no further answer is asked; those under way may come in
        self.steered = asking.price is None  # the budget counts what its own price decides

    async def run(self, question: str) -> Routed:
        """Plan, ask until the vote is closed, and return the winner."""
        controller = self.by.controller
        price = controller.price if self.asking.price is None else self.asking.price
        if len(question) > _SHORT:
            decision = await asyncio.to_thread(self.by.plan, question, price)
        else:
            decision = self.by.plan(question, price)
        self.vote = decision.session
        self.stops = decision.stops
        self.expected = decision.expected
        self.counts_with = decision.expected
        if self.steered:
            controller.open(decision.expected)
        reason = ""
        try:
            reason = await self._ask_until_done()
        finally:
            counted = self._leave(reason)
        return self._routed(reason, price, counted)

    async def _ask_until_done(self) -> str:
        """Ask round after round; return why it ended."""
        end = asyncio.get_running_loop().time() + self.asking.deadline
        while True:
            room = int(min((self.asking.cap - self.cost) / self.most_cost * (1 + 1e-9), 1e9))
            if room < 1:
                limits = (
                    f"a question may cost {self.asking.cap:g}, one answer up to {self.most_cost:g}"
                )
                return self._ended(CAP, CapError(f"{CAP}: {limits}"))
            wanted = min(self.vote.asks, room)
            held = await self._put_aside(wanted)
            if not held:
                return self._ended(SPENT, SpentError(f"{SPENT}: {self.by.purse}"))
            before = len(self.answers)
            late, fault = await self._round(range(before, before + held), end)
            if late:
                why = f"no answer within {self.asking.deadline:g} s"
                return self._ended(LATE, LateError(f"{LATE}: {why}"))
            if self.caller_gone:
                return self._ended(GONE, fault or EndpointError(GONE))
            if fault is not None:
                return self._ended(f"the endpoint failed: {fault}", fault)
            if not self.winners and self._has_no_short_answer():
                if self.asking.other == "refuse":
                    raise NotShortError(
                        "the answers hold no short answer to vote on; ask another question"
                    )
                return OTHER
            if not self.vote.goes_on:
                return FULL if len(self.answers) >= self.stops[-1] else WORTH
            if self.steered:
                controller = self.by.controller
                self.counts_with = controller.rise(self.counts_with, self.cost)
                if controller.brakes:
                    return WORTH

    def _ended(self, reason: str, error: EndpointError) -> str:
        """End with the best vote so far, or with the error if there is none."""
        if not self.answers:
            raise error
        return reason

    def _leave(self, reason: str) -> bool:
        """Tell the controller what the question cost; return whether it counts in the average."""
        controller = self.by.controller
        controller.hold(-self.held_cost)
        self.held_cost = 0.0
        if reason == OTHER:
            # Several that were asked at once, though, were the price's choice.
            together = isinstance(self.vote, FixedVote | RoundSession)
            counted = together and self.rounds == 1 < len(self.answers)
        else:
            # A vote cut short is no saving and must not lower the price.
            counted = reason in (WORTH, FULL) or self.cost > controller.budget
        if self.steered and counted:
            controller.close(self.counts_with, self.cost)
            return True
        if self.steered:
            controller.drop(self.counts_with)
        if self.cost:
            controller.aside(self.cost)
        return False

    def _routed(self, reason: str, price: float, counted: bool) -> Routed:
        """The winner and how it came about."""
        passed_on = reason == OTHER  # the last number of a story is no answer
        leaders = [] if passed_on else self.vote.leaders
        votes: dict[str, int] = {}
        if not passed_on:
            votes = {answer: self.votes[c] for c, (answer, _) in self.winners.items()}
        answer, won = self.winners[leaders[0]] if leaders else ("", self.answers[0])
        ahead, behind = (sorted(self.votes.values(), reverse=True) + [0, 0])[:2]
        return Routed(
            answer=answer,
            text=won.text,
            votes=votes,
            samples=len(self.answers),
            rounds=self.rounds,
            cost=self.cost,
            money=self.money,
            confidence=float(leader_holds(ahead, behind)) if leaders else 0.0,
            agreement=votes[answer] / len(self.answers) if leaders else 0.0,
            reason=reason,
            price=price,
            tokens=self.tokens,
            prompt_tokens=self.prompt_tokens,
            finish=won.finish,
            certificate=self.vote.certificate.risk_of(leaders[0]) if leaders else 1.0,
            counted=counted,
            bill=tuple(self.bill),
            fingerprint=won.fingerprint,
            expected=self.expected,
            unread=self.ballots.count(None),
            details=summed_details(self.answers),
        )

    def _has_no_short_answer(self) -> bool:
        """Whether the unreadable texts show there is no short answer: one long text or code, or several."""
        texts = [answer.text for answer in self.answers if answer.finish == "stop"]
        if self.asking.kind != "auto":
            return False
        return len(texts) >= _UNREAD or any(map(is_free_text, texts))

    async def _put_aside(self, wanted: int) -> int:
        """Put money aside for as many of the wanted answers as there is."""
        purse = self.by.purse
        held = sum(purse.reserve(self.most_money) for _ in range(wanted))
        if held < wanted:
            await purse.more(self.most_money * (wanted - held))
            held += sum(purse.reserve(self.most_money) for _ in range(wanted - held))
        return held

    async def _round(self, numbers: Sequence[int], end: float) -> tuple[bool, EndpointError | None]:
        """Ask some answers at once and put them to the vote in order.

        Returns whether some came too late, and the first fault. If the caller gives up in the middle,
        answers under way may still come in and are booked as reported, by `_Attempt`.
        """
        attempts = [_Attempt(self, number) for number in numbers]
        tasks = [asyncio.create_task(attempt.run()) for attempt in attempts]
        try:
            left = max(end - asyncio.get_running_loop().time(), 0.0)
            await asyncio.wait(tasks, timeout=left)
        finally:
            late = [
                attempt for attempt, task in zip(attempts, tasks, strict=True) if not task.done()
            ]
            for attempt in late:
                attempt.abandon()
            for task in tasks:
                if not task.done():
                    task.cancel()
                # Retrieve the exception so asyncio does not warn after a disconnect.
                task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        self.rounds += 1
        fault: EndpointError | None = None
        in_time = not late
        for task in tasks:
            if task.cancelled() or not task.done():
                continue
            error = task.exception()
            if error is None:
                in_time = await self._count(task.result(), end) and in_time
            elif isinstance(error, EndpointError):
                fault = fault or error
            else:
                raise error
        return not in_time, fault

    async def _count(self, answer: Answer, end: float) -> bool:
        """Read one more text and put it to the vote; False if the time is over before it is compared."""
        fields = {name: getattr(answer, name) for name in self.vote.reads}
        if None in fields.values():
            self._vote_without_signals(fields)
            fields = {}
        self.answers.append(answer)
        left = max(end - asyncio.get_running_loop().time(), 0.1)
        try:
            # A long text, and a function of the user's, may take seconds; a server has other things to do.
            if len(answer.text) > _SHORT or self.asking.kind.startswith("python:"):
                extracted = await asyncio.wait_for(asyncio.to_thread(self._extract, answer), left)
            else:
                extracted = self._extract(answer)
            self.extracted.append(extracted)
            if extracted and extracted not in self.classes:
                await self._classify(extracted, left)
        except TimeoutError:
            return False
        number = self.classes[extracted] if extracted else None
        if number is not None:
            self.winners.setdefault(number, (extracted, answer))
            self.votes[number] += 1
        self.ballots.append(number)
        self.vote.add(number, **fields)
        return True

    def _extract(self, answer: Answer) -> str:
        finished = answer.finish == "stop"
        extracted = self.read(answer.text, finished)
        if not extracted and self.asking.same and self.asking.kind == "auto" and finished:
            extracted = short_text(answer.text)
        return extracted

    async def _classify(self, extracted: str, left: float) -> None:
        """Find the class of an answer that is written differently from all before it."""
        texts = [*self.classes, extracted]
        numbers = await asyncio.wait_for(asyncio.to_thread(answer_classes, texts), left)
        first_alike = texts[int((numbers == numbers[-1]).argmax())]
        number = self.classes.get(first_alike, len(self.winners))
        if self.asking.same and number == len(self.winners):
            number = await self._class_by_meaning(self.asking.same, extracted, left)
        self.classes[extracted] = number

    async def _class_by_meaning(self, same: Meaning, extracted: str, left: float) -> int:
        """The class of an answer in words: a new one if the comparison fails."""
        candidates = [answer for answer, _ in self.winners.values()]
        try:
            found = await asyncio.wait_for(same.find(extracted, candidates), left)
        except Exception as error:  # also of a function that is not ours
            warnings.warn(f"answers are not compared by meaning: {error}", stacklevel=2)
            return len(candidates)
        return len(candidates) if found is None else candidates.index(found)

    def _vote_without_signals(self, fields: Mapping[str, Any]) -> None:
        """Go on with plain votes where the endpoint does not give what the policy weighs answers by."""
        missing = [name for name, value in fields.items() if value is None]
        if not self.by.votes_alone:
            self.by.votes_alone = True
            _LOG.warning(
                "the endpoint gives no %s, by which this policy weighs answers: "
                "votes alone from now on; fit without it to learn when to stop",
                " and no ".join(missing),
            )
        decision = self.by.plan("", 0.0)
        self.vote = decision.session
        self.stops = decision.stops
        for number in self.ballots:
            self.vote.add(number)

    def pay(self, money: float) -> None:
        """Book money for one answer that money was put aside for."""
        self.by.purse.settle(self.most_money, money)
        self.money += money
        self.by.tally.money += money

    def add_cost(self, cost: float) -> None:
        """Count cost in the policy's unit."""
        self.cost += cost
        self.by.tally.cost += cost

    def hold_cost(self, cost: float) -> None:
        """Tell the ledger that this question may cost so much more, or less."""
        self.held_cost += cost
        self.by.controller.hold(cost)

    def take_in(self, answer: Answer) -> None:
        """Book an answer that came in, as the endpoint reports it."""
        asking = self.asking
        dollars = asking.prices.of(answer, self.most_read, asking.max_tokens)
        written = asking.max_tokens if answer.tokens is None else answer.tokens
        read = self.most_read if answer.prompt_tokens is None else answer.prompt_tokens
        self.bill.append(dollars)
        self.pay(dollars)
        # What an endpoint wrote beyond its limit no price could have saved.
        cost = self.by.cost_of(min(written, asking.max_tokens))
        self.add_cost(cost)
        self.hold_cost(cost - self.most_cost)
        self.tokens += written
        self.prompt_tokens += read
        tally = self.by.tally
        tally.samples += 1
        tally.tokens += written
        tally.prompt_tokens += read
        if self.first_answer is not None and not self.first_answer.done():
            self.first_answer.set_result(answer)


class _Attempt:
    """One answer: asked, asked again after a failure that may pass, and booked once for each request.

    Money for the first request was put aside before. It is settled here whatever happens, exactly once
    per request: by the reply, by the failure, or by `abandon` when the deadline passes.
    """

    def __init__(self, question: OpenQuestion, number: int) -> None:
        self.question = question
        self.number = number
        self.holds_money = True
        self.is_sent = False
        question.hold_cost(question.most_cost)

    async def run(self) -> Answer:
        question = self.question
        asking = question.asking
        for attempt in range(1, asking.tries + 1):
            try:
                answer = await self._request()
            except EndpointError as error:
                self._failed(error)
                if not error.passes or attempt == asking.tries:
                    raise
                await asyncio.sleep(_wait(attempt, error.retry_after))
                if not await question._put_aside(1):
                    raise SpentError(f"{SPENT}: {question.by.purse}") from None
                self.holds_money = True
                question.hold_cost(question.most_cost)
                continue
            if self.holds_money:
                self.holds_money = False
                question.take_in(answer)
            return answer
        raise AssertionError("unreachable")

    async def _request(self) -> Answer:
        asking = self.question.asking
        self.is_sent = True
        return await self.question.client.sample(
            self.question.messages,
            temperature=asking.temperature,
            max_tokens=asking.max_tokens,
            limit_name=asking.limit_name,
            logprobs=bool(self.question.vote.reads),
            seed=None if asking.seed is None else asking.seed + self.number,
            extra=asking.extra,
        )

    def _failed(self, error: EndpointError) -> None:
        """Book a request that failed: nothing if it was refused or never sent, else the most."""
        self.is_sent = False
        if not self.holds_money:
            return
        self.holds_money = False
        self.question.pay(self.question.most_money if error.billed else 0.0)
        cost = self.question.most_cost if error.billed else 0.0
        self.question.hold_cost(cost - self.question.most_cost)
        if error.billed:
            self.question.add_cost(cost)

    def abandon(self) -> None:
        """Book the most for an answer that hangs, for it may be on the bill."""
        if not self.holds_money:
            return
        self.holds_money = False
        question = self.question
        question.pay(question.most_money if self.is_sent else 0.0)
        cost = question.most_cost if self.is_sent else 0.0
        question.hold_cost(cost - question.most_cost)
        question.add_cost(cost)


def _wait(attempt: int, asked_for: float | None) -> float:
    """Seconds before the next try: what the endpoint asks for, else doubled each time and spread."""
    if asked_for is not None and 0 < asked_for <= 60:
        return asked_for
    wait = min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT)
    return wait * (1 - random.random() / 4)


def summed_details(answers: Sequence[Answer]) -> dict[str, dict[str, int]]:
    """Return the details of tokens that answers report, each count summed."""
    sums: dict[str, Counter[str]] = {name: Counter() for name in DETAILS}
    for answer in answers:
        for name, counts in answer.details.items():
            sums[name].update(counts)
    return {name: dict(counts) for name, counts in sums.items() if counts}


async def ask(
    by: Allocator,
    client: AskingClient,
    question: str,
    messages: Sequence[dict[str, Any]],
    asking: Asking,
) -> Routed:
    """Answer one question by a policy that reads ``question``; the model is sent ``messages``.

    Raises
    ------
    EndpointError
        If there was no answer, or no money for one.
    NotShortError
        Where ``asking`` asks for it.
    """
    return await OpenQuestion(by, client, messages, asking).run(question)


async def ask_many(
    by: Allocator,
    client: AskingClient,
    work: Sequence[tuple[Any, str]],
    prompt: Prompt,
    asking: Asking,
    done: Callable[[Any, Routed], None],
    concurrency: int,
    progress: bool,
    stop: asyncio.Event | None = None,
) -> None:
    """Ask (name, question) pairs, ``concurrency`` at a time; call ``done(name, answer)`` for each.

    The first fault ends it, and what was answered is with ``done``. Once ``stop`` is set, no question
    is begun.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; give at least 1")
    left = iter(work)
    controller = by.controller
    bar = tqdm(total=len(work), unit="question", disable=None if progress else True, smoothing=0.05)

    async def worker() -> None:
        for name, question in left:
            if stop is not None and stop.is_set():
                return
            done(name, await ask(by, client, question, prompt.fill(question), asking))
            average = f"average {controller.average or 0.0:.2f} of {controller.budget:g}"
            spent = f", ${by.purse.spent:.2f}" if by.purse.spent else ""
            bar.set_postfix_str(f"{average}, price {controller.price:.4f}{spent}", refresh=False)
            bar.update()

    workers = [asyncio.create_task(worker()) for _ in range(min(concurrency, len(work)))]
    with bar:
        try:
            await asyncio.gather(*workers)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
