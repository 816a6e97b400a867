"""Questions at work: how many answers each is given, at what cost, and why no more.

Answers are asked in rounds: as many at a time as there are to the next moment at which one may stop. What is known
beforehand is bounded beforehand: an answer is asked only where the question's cap and the purse have room for the
most that it can cost. What goes wrong on the way ends the question with the best vote so far, if there is one.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, Protocol

from tqdm.auto import tqdm

from adalib.llm.endpoint import UNSENT, Answer, EndpointError
from adalib.llm.questions import Prompt
from adalib.router.controller import BudgetController, Purse, Tally
from adalib.sequential.certificate import Certificate
from adalib.sequential.peers import leader_holds
from adalib.sequential.priced import Session
from adalib.sequential.streams import BallotBox
from adalib.vote.answers import Meaning, answer_classes, answer_reader, is_free_text, short_text

__all__ = ["Asking", "Client", "Decision", "FixedVote", "NotShortError", "Routed", "ask", "ask_many"]

WORTH = "the next answer is not worth its price"
FULL = "the longest vote that the policy knows"
CAP = "the cap of a question"
PURSE = "the total in money is spent"
LATE = "the time for a question is over"
ONE = "one answer was asked for"
OTHER = "no short answer to vote on"
MOST_TOKENS = 10**9  # of one answer; no model writes as many
_TURN = 16  # tokens that a turn's own marks may cost, on top of its text
_UNREAD = 2  # texts without an answer that make a question one without a short answer


class NotShortError(ValueError):
    """The question has no short answer, and the caller asked for such questions to be refused."""


class _SpentError(EndpointError):
    """The purse ran out between two tries."""


class FixedVote:
    """A vote of a number of answers that was fixed before the first; asked like `adalib.sequential.priced.Session`."""

    def __init__(self, answers: int) -> None:
        self.answers, self.goes_on, self._box = answers, True, BallotBox()
        self.certificate = Certificate()
        self.reads: Mapping[str, str] = {}

    @property
    def leaders(self) -> list[Hashable]:
        """The classes that lead, in the order they came."""
        return self._box.leaders

    def add(self, answer: Hashable, **said: float | None) -> bool:
        """Count one more answer; None is one that could not be read."""
        self._box.add(answer)
        self.certificate.add(answer)
        self.goes_on = self._box.n < self.answers
        return self.goes_on


@dataclass(frozen=True)
class Decision:
    """What a policy makes of one question at one price."""

    session: Session | FixedVote
    expected: float  # what such a question cost on training questions
    stops: tuple[int, ...]  # numbers of answers at which one may stop


class Allocator(Protocol):
    """What questions are asked by: a policy, its unit of cost, and what is left to spend. `Router` is one."""

    controller: BudgetController
    purse: Purse
    tally: Tally

    def plan(self, question: str, price: float) -> Decision: ...

    def cost_of(self, tokens: int) -> float: ...


class Client(Protocol):
    """Whatever gives answers, asked as `adalib.llm.endpoint.Endpoint.sample` is."""

    @property
    def sample(self) -> Callable[..., Awaitable[Answer]]: ...


@dataclass(frozen=True)
class Asking:
    """How questions are asked. Explained in chapter 10, "Deploy"."""

    temperature: float | None = 0.7  # None leaves it to the endpoint
    max_tokens: int = 256
    limit: str = "max_tokens"  # what the endpoint calls it
    kind: str = "auto"  # of answers, see `adalib.vote.answers`
    cap: float = inf  # most that one question may cost, in the policy's unit
    price: float | None = None  # a price of the caller's own, in place of the controller's
    deadline: float = 300.0  # seconds after which the best vote so far is given
    other: str = "pass"  # where there is no short answer the first text is passed on; "refuse": `NotShortError`
    price_in: float = 0.0  # dollars per million tokens read
    price_out: float = 0.0  # and written
    votes: bool = True  # False asks for one answer, whatever the price
    seed: int | None = None  # the first answer's; the next ones count up, or they would all be the same
    extra: dict[str, Any] = field(default_factory=dict)  # passed on to the endpoint as it is
    headers: dict[str, str] = field(default_factory=dict)  # and as a header
    same: Meaning | None = None  # tells when answers in words are one; a short text is then an answer

    def __post_init__(self) -> None:
        if not 1 <= self.max_tokens <= MOST_TOKENS:
            raise ValueError(f"max_tokens must lie between 1 and {MOST_TOKENS:,}")
        answer_reader(self.kind)
        if not 0 <= (self.temperature or 0.0) < 100 or not self.cap > 0 or not self.deadline > 0:
            got = f"{self.temperature}, {self.cap} and {self.deadline}"
            raise ValueError(f"need temperature >= 0, cap > 0 and deadline > 0, got {got}")
        if self.price is not None and not 0 <= self.price < inf:
            raise ValueError(f"the price is {self.price}; give a number, 0 or more")
        if self.other not in ("pass", "refuse"):
            raise ValueError(f"other is {self.other!r}; choose 'pass' or 'refuse'")

    def dollars(self, read: float, written: float) -> float:
        """What so many tokens cost."""
        return (read * self.price_in + written * self.price_out) / 1e6


@dataclass(frozen=True)
class Routed:
    """The answer to a question, and how it came about. Explained in chapter 10, "Deploy"."""

    answer: str  # the winner, "" where none could be read
    text: str  # the first text that gave it
    votes: dict[str, int]  # of every answer, the first seen first
    samples: int  # answers that came in
    rounds: int  # how often one waited for some
    cost: float  # in the policy's unit
    money: float  # in dollars
    confidence: float  # chance that the winner would stay ahead of the runner-up, from the votes alone
    agreement: float  # share of the winner among the answers
    reason: str  # why no further answer was asked
    price: float  # of compute at the time, in accuracy a unit of cost
    tokens: int  # written, over all samples
    prompt_tokens: int  # read
    finish: str  # how the winning text ended
    certificate: float = 1.0  # chance, at most, that another answer is the model's most frequent, whenever it stopped
    counted: bool = True  # in the average that the budget holds; False where something else than our price decided
    bill: tuple[float, ...] = ()  # dollars for each answer that came in
    fingerprint: str | None = None  # of the system that wrote the winning text
    expected: float = 0.0  # what such questions cost in training


async def ask(
    by: Allocator,
    client: Client,
    question: str,
    messages: Sequence[dict[str, Any]],
    how: Asking,
    first: asyncio.Future[Answer] | None = None,
) -> Routed:
    """Answer one question by a policy that reads ``question``; the model is sent ``messages``.

    ``first`` is given the first answer as soon as it is there. `EndpointError` if there was no answer or no money for
    one, `NotShortError` where that is asked for."""
    price = by.controller.price if how.price is None else how.price
    decision = by.plan(question, price) if how.votes else Decision(FixedVote(1), 1.0, (1,))
    one = _Question(by, client, messages, how, decision, first)
    reason = ""
    try:
        reason = await one.until_done()
    finally:
        counted = one.leave(reason)
    return one.routed(reason, price, counted)


class _Question:
    """One question while it is open: its answers, their classes, the vote on them, and what they cost."""

    def __init__(
        self,
        by: Allocator,
        client: Client,
        messages: Sequence[dict[str, Any]],
        how: Asking,
        decision: Decision,
        came: asyncio.Future[Answer] | None,
    ) -> None:
        self.by, self.client, self.messages, self.how, self.stops = by, client, messages, how, decision.stops
        self.purse, self.tally, self.vote, self.came = by.purse, by.tally, decision.session, came
        self.read = answer_reader(how.kind)
        self.answers: list[Answer] = []
        self.bill: list[float] = []
        self.waits: set[int] = set()  # answers between two tries, with nothing sent
        self.first: dict[Hashable, tuple[str, Answer]] = {}  # of every class: its answer, and the text that gave it
        self.votes: Counter[Hashable] = Counter()
        self.classes: dict[str, int] = {}
        self.cost = self.money = 0.0
        self.tokens = self.prompt_tokens = self.rounds = 0
        # No text has more tokens than bytes, and all that is sent may count.
        self.most_read = len(json.dumps([messages, how.extra]).encode()) + _TURN * len(messages)
        self.most_money = how.dollars(self.most_read, how.max_tokens)
        self.most_cost = by.cost_of(how.max_tokens)
        self.controller, self.counts_with, self.expected = by.controller, decision.expected, decision.expected
        self.steered = how.votes and how.price is None  # the budget counts what its own price decides
        if self.steered:
            self.controller.open(decision.expected)

    def leave(self, reason: str) -> bool:
        """Tell the controller what the question cost; whether it counts in the average."""
        if reason == OTHER:  # a curve policy's answers, though, were the price's choice
            counted = isinstance(self.vote, FixedVote) and len(self.answers) > 1
        else:  # what was cut short saved nothing, and must not make it cheap for others
            counted = reason in (WORTH, FULL) or self.cost > self.controller.budget
        if self.steered and counted:
            self.controller.close(self.counts_with, self.cost)
            return True
        if self.steered:
            self.controller.drop(self.counts_with)
        if self.cost:
            self.controller.aside(self.cost)
        return False

    async def until_done(self) -> str:
        """Ask round after round; return why it ended."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.how.deadline
        while True:
            room = int(min((self.how.cap - self.cost) / self.most_cost * (1 + 1e-9), 1e9))
            if room < 1:
                return self._ended(CAP, f"a question may cost {self.how.cap:g}, one answer up to {self.most_cost:g}")
            before = len(self.answers)
            wanted = min(next(stop for stop in self.stops if stop > before) - before, room)
            held = await self._put_aside(wanted)
            if not held:
                return self._ended(PURSE, str(self.purse))
            late, fault = await self._round(range(before, before + held), end)
            if late:
                return self._ended(LATE, f"no answer within {self.how.deadline:g} s")
            if fault is not None:
                if not self.answers:
                    raise fault
                return f"the endpoint failed: {fault}"
            if self.how.votes and not self.first and self._is_other():
                if self.how.other == "refuse":
                    raise NotShortError("the answers hold no short answer to vote on; ask another question")
                return OTHER
            if not self.vote.goes_on:
                if not self.how.votes:
                    return ONE
                return FULL if len(self.answers) >= self.stops[-1] else WORTH
            if self.steered:
                self.counts_with = self.controller.rise(self.counts_with, self.cost)
                if self.controller.brakes:
                    return WORTH

    def routed(self, reason: str, price: float, counted: bool) -> Routed:
        """The winner and how it came about."""
        plain = reason == OTHER  # the last number of a story is no answer
        leaders = [] if plain else self.vote.leaders
        votes = {} if plain else {answer: self.votes[number] for number, (answer, _) in self.first.items()}
        answer, won = self.first[leaders[0]] if leaders else ("", self.answers[0])
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
        )

    def _ended(self, reason: str, why: str) -> str:
        if not self.answers:
            raise EndpointError(f"{reason}: {why}")
        return reason

    def _is_other(self) -> bool:
        """Whether texts without an answer are no tries at one: a long one or code by itself, short ones together."""
        texts = [answer.text for answer in self.answers if answer.finish == "stop"]
        return self.how.kind == "auto" and (len(texts) >= _UNREAD or any(map(is_free_text, texts)))

    async def _put_aside(self, wanted: int) -> int:
        """Put money aside for as many of the wanted answers as there is."""
        held = sum(self.purse.reserve(self.most_money) for _ in range(wanted))
        if held < wanted:
            await self.purse.more(self.most_money * (wanted - held))
            held += sum(self.purse.reserve(self.most_money) for _ in range(wanted - held))
        return held

    async def _round(self, numbers: Sequence[int], end: float) -> tuple[bool, EndpointError | None]:
        """Put what comes in to the vote, in the order it was asked: whether some came too late, and the first fault."""
        tasks = {number: asyncio.create_task(self._one(number)) for number in numbers}
        for task in tasks.values():  # of a caller who has gone nobody asks how it ended
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        try:
            await asyncio.wait(tasks.values(), timeout=max(end - asyncio.get_running_loop().time(), 0.0))
        finally:
            # What is still open is dropped. It counts in full where it was sent, for it may well be on the bill.
            late = {number for number, task in tasks.items() if not task.done()}
            for number in late:
                tasks[number].cancel()
                self._pay(0.0 if number in self.waits else self.most_money)
                self._add_cost(0.0 if number in self.waits else self.most_cost)
        self.rounds += 1
        fault: EndpointError | None = None
        for task in (task for number, task in tasks.items() if number not in late):
            error = task.exception()
            if error is None:
                await self._count(task.result(), end)
            elif isinstance(error, EndpointError):
                fault = fault or error
            else:
                raise error
        return bool(late), fault

    async def _count(self, answer: Answer, end: float) -> None:
        """Read one more text, and put it to the vote."""
        said = {name: getattr(answer, name) for name in self.vote.reads}
        if None in said.values():
            mend = f"fit it without {' and '.join(self.vote.reads.values())}"
            lacking = "numbers of tokens" if said.get("tokens", 0) is None else "log-probabilities"
            raise EndpointError(f"the endpoint gives no {lacking}, by which this policy weighs answers; {mend}")
        self.answers.append(answer)
        told = self.read(answer.text, answer.finish == "stop")
        if not told and self.how.same and self.how.kind == "auto" and answer.finish == "stop":
            told = short_text(answer.text)
        if told and told not in self.classes:
            known = [one for one, _ in self.first.values()]
            # Comparing formulas may take a second, in which a server has other things to do.
            left = max(end - asyncio.get_running_loop().time(), 0.1)
            try:
                work = asyncio.to_thread(answer_classes, [*known, told])
                self.classes[told] = int((await asyncio.wait_for(work, left))[-1])
            except TimeoutError:  # what cannot be compared in time is like no other
                self.classes[told] = len(self.first)
            if self.how.same and self.classes[told] == len(known):
                self.classes[told] = await self._by_meaning(self.how.same, told, known, left)
        number = self.classes[told] if told else None
        if number is not None:
            self.first.setdefault(number, (told, answer))
            self.votes[number] += 1
        self.vote.add(number, **said)

    async def _by_meaning(self, same: Meaning, told: str, known: list[str], left: float) -> int:
        """The class of an answer in words: one of its own where nobody can say, or no money is left to ask."""
        most = paid = len("".join([told, *known]).encode()) * same.price / 1e6
        if not self.purse.reserve(most):
            return len(known)
        try:
            found, read = await asyncio.wait_for(same.find(told, known), left)
            paid = read * same.price / 1e6
            return len(known) if found is None else known.index(found)
        except Exception as error:  # also of a function that is not ours
            paid = most if getattr(error, "billed", True) else 0.0
            warnings.warn(f"answers are not compared by meaning: {error}", stacklevel=2)
            return len(known)
        finally:
            self._pay(paid, most)

    async def _one(self, number: int) -> Answer:
        """One answer; what was put aside for it is settled whatever happens, by `_round` where it is dropped."""
        how = self.how
        try:
            answer = await self.client.sample(
                self.messages,
                temperature=how.temperature,
                max_tokens=how.max_tokens,
                limit=how.limit,
                logprobs=bool(self.vote.reads),
                pause=partial(self._pause, number),
                seed=None if how.seed is None else how.seed + number,
                extra=how.extra,
                headers=how.headers,
            )
        except _SpentError:
            raise
        except EndpointError as error:
            self._pay(self.most_money if error.billed else 0.0)
            raise
        # The bill is what the endpoint says. What it wrote beyond its limit no price could have saved.
        written = how.max_tokens if answer.tokens is None else answer.tokens
        read = self.most_read if answer.prompt_tokens is None else answer.prompt_tokens
        self.bill.append(how.dollars(read, written))
        self._pay(self.bill[-1])
        self._add_cost(self.by.cost_of(min(written, how.max_tokens)))
        self.tokens, self.prompt_tokens = self.tokens + written, self.prompt_tokens + read
        self.tally.samples += 1
        self.tally.tokens, self.tally.prompt_tokens = self.tally.tokens + written, self.tally.prompt_tokens + read
        if self.came is not None and not self.came.done():
            self.came.set_result(answer)
        return answer

    async def _pause(self, number: int, seconds: float, why: str) -> None:
        if not why.startswith(UNSENT):  # a cut or a hang may be on the bill: pay for it, and put aside once more
            self._pay(self.most_money)
            if not await self._put_aside(1):
                raise _SpentError(f"{PURSE}: {self.purse}")
        self.waits.add(number)
        await asyncio.sleep(seconds)
        self.waits.discard(number)

    def _pay(self, money: float, held: float | None = None) -> None:
        self.purse.settle(self.most_money if held is None else held, money)
        self.money += money
        self.tally.money += money

    def _add_cost(self, cost: float) -> None:
        self.cost += cost
        self.tally.cost += cost


async def ask_many(
    by: Allocator,
    client: Client,
    work: Sequence[tuple[Any, str]],
    prompt: Prompt,
    how: Asking,
    done: Callable[[Any, Routed], None],
    concurrency: int,
    progress: bool,
    stop: asyncio.Event | None = None,
) -> None:
    """Ask (name, question) pairs, ``concurrency`` at a time; ``done(name, answer)`` is called as each comes in.

    The first fault ends it, and what was answered is with ``done``. Once ``stop`` is set no question is begun."""
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; give at least 1")
    left, controller = iter(work), by.controller
    bar = tqdm(total=len(work), unit="question", disable=None if progress else True, smoothing=0.05)

    async def worker() -> None:
        for name, question in left:
            if stop is not None and stop.is_set():
                return
            done(name, await ask(by, client, question, prompt.fill(question), how))
            held = f"average {controller.average or 0.0:.2f} of {controller.budget:g}, price {controller.price:.4f}"
            bar.set_postfix_str(held + (f", ${by.purse.spent:.2f}" if by.purse.spent else ""), refresh=False)
            bar.update()

    workers = [asyncio.create_task(worker()) for _ in range(min(concurrency, len(work)))]
    with bar:
        try:
            await asyncio.gather(*workers)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
