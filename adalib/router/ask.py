"""Many questions under one budget, some at a time, with a bar that shows what it costs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Protocol

from tqdm.auto import tqdm

from adalib.llm.endpoint import Answer, EndpointError
from adalib.llm.questions import Prompt
from adalib.router.controller import Purse
from adalib.sequential.rules import leader_holds
from adalib.vote.answers import answer_classes, extract_answer

if TYPE_CHECKING:
    from adalib.router.router import Router

__all__ = [
    "Asking",
    "Client",
    "Counted",
    "NotShortError",
    "Plan",
    "Routed",
    "Tally",
    "Vote",
    "ask",
    "ask_many",
    "is_short",
]


# A plan for one question, and its votes: read an answer, find its class, keep the text that gave it first.


class Vote(Protocol):
    """A vote that says whether to go on: `adalib.sequential.priced.Session`, or `Counted`."""

    goes_on: bool
    leaders: list
    reads: Mapping[str, str]  # the fields that every reply must have, each with the signal that needs it

    def add(self, answer: int | None, **said: float | None) -> bool:
        """Count one more answer with what its reply says of it, and say whether to go on."""


class Counted:
    """A vote of a number of answers that was fixed before the first.

    Examples
    --------
    >>> vote = Counted(3)
    >>> [vote.add(answer) for answer in (0, 1, 1)], vote.leaders
    ([True, True, False], [1])
    """

    def __init__(self, answers: int) -> None:
        self.answers, self.n, self.votes, self.reads = answers, 0, {}, {}

    @property
    def goes_on(self) -> bool:
        """Whether there are answers left to ask."""
        return self.n < self.answers

    @property
    def leaders(self) -> list[int]:
        """The classes that lead, in the order they came."""
        return [answer for answer, votes in self.votes.items() if votes == max(self.votes.values())]

    def add(self, answer: int | None, **said: float | None) -> bool:
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

    async def add(self, answer: Answer) -> None:
        """Read one more text, and put it to the vote."""
        said = {field: getattr(answer, field) for field in self.vote.reads}
        if None in said.values():
            raise EndpointError(
                "the endpoint gives no log-probabilities, by which this policy weighs answers; "
                f"fit it without {' and '.join(self.vote.reads.values())}"
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
        self.vote.add(None if number < 0 else number, **said)

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


# One question, from the first request to the vote: how many answers, at what cost, and why no more.
#
# Answers are asked in rounds: as many at a time as there are to the next moment at which one may stop. What is known
# beforehand is bounded beforehand: an answer is asked only where the question's cap and the purse have room for the
# most that it can cost. What goes wrong on the way ends the question with the best vote so far, if there is one.


WORTH = "the next answer is not worth its price"
FULL = "the longest vote that the policy knows"
CAP = "the cap of a question"
PURSE = "the total in money is spent"
LATE = "the time for a question is over"
ONE = "one answer was asked for"
OTHER = "no short answer to vote on"
_MOST_TOKENS = 10**9  # of one answer; no model writes as many
_TURN = 16  # tokens that a turn's own marks may cost, on top of its text


class Client(Protocol):
    """Whatever gives answers; `adalib.llm.endpoint.Endpoint` does."""

    async def sample(self, messages: Sequence[dict], **how: Any) -> Answer:
        """One answer."""


class NotShortError(ValueError):
    """The question has no short answer, and the caller asked for such questions to be refused."""


@dataclass(frozen=True)
class Asking:
    """How questions are asked. Explained in chapter 11, "Deploy".

    Attributes
    ----------
    temperature, max_tokens : float, int
        As in `collect`.
    cap : float
        Most that one question may cost, in the policy's unit of cost.
    price : float, optional
        A price of the caller's own, in place of the controller's.
    deadline : float
        Seconds after which the best vote so far is given.
    other : {"pass", "refuse"}
        What becomes of a question whose first answer is no short one: that answer, or `NotShortError`.
    price_in, price_out : float
        Dollars per million tokens read and written.
    votes : bool
        False asks for one answer, whatever the price.
    seed : int, optional
        The first answer's; the next ones count up, or they would all be the same.
    extra : dict
        Passed on to the endpoint as it is.
    """

    temperature: float = 0.7
    max_tokens: int = 256
    cap: float = inf
    price: float | None = None
    deadline: float = 300.0
    other: str = "pass"
    price_in: float = 0.0
    price_out: float = 0.0
    votes: bool = True
    seed: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.max_tokens <= _MOST_TOKENS:
            raise ValueError(f"max_tokens must lie between 1 and {_MOST_TOKENS:,}")
        if not 0 <= self.temperature < 100 or not self.cap > 0 or not self.deadline > 0:
            raise ValueError(
                f"need temperature >= 0, cap > 0 and deadline > 0, got {self.temperature}, {self.cap} and "
                f"{self.deadline}"
            )
        if self.price is not None and not 0 <= self.price < inf:
            raise ValueError(f"the price is {self.price}; give a number, 0 or more")
        if self.other not in ("pass", "refuse"):
            raise ValueError(f"other is {self.other!r}; choose 'pass' or 'refuse'")

    def dollars(self, read: float, written: float) -> float:
        """What so many tokens cost."""
        return (read * self.price_in + written * self.price_out) / 1e6


@dataclass(frozen=True)
class Routed:
    """The answer to a question, and how it came about. Explained in chapter 11, "Deploy".

    Attributes
    ----------
    answer, text : str
        The winning answer ("" where none could be read), and the first text that gave it.
    votes : dict of str to int
        Votes of every answer, the first seen first.
    samples, rounds : int
        Answers that came in, and how often one waited for some.
    cost, money : float
        In the policy's unit, and in dollars.
    certainty : float
        Chance that the winner would stay ahead of the runner-up, from the votes alone (`leader_holds`).
    agreement : float
        Share of the winner among the answers.
    reason : str
        Why no further answer was asked.
    price : float
        The price of compute at the time, in accuracy a unit of cost.
    tokens, prompt_tokens : int
        Written and read, over all samples.
    finish : str
        How the winning text ended.
    """

    answer: str
    text: str
    votes: dict[str, int]
    samples: int
    rounds: int
    cost: float
    money: float
    certainty: float
    agreement: float
    reason: str
    price: float
    tokens: int
    prompt_tokens: int
    finish: str


async def ask(router: Router, client: Client, question: str, messages: Sequence[dict], how: Asking) -> Routed:
    """Answer one question by the router's policy, at the controller's price.

    Explained in chapter 11, "Deploy".

    Parameters
    ----------
    router : Router
    client : Client
    question : str
        What the policy reads.
    messages : sequence of dict
        What the model is sent.
    how : Asking

    Raises
    ------
    EndpointError
        If the endpoint gave no answer at all, or the purse had no room for one.
    NotShortError
        If there is no short answer and ``how.other`` is "refuse".
    """
    controller = router.controller
    price = controller.price if how.price is None else how.price
    # One answer without a vote is as cheap as a question can be, and says nothing about the price.
    plan = router.plan(question, price) if how.votes else Plan(Counted(1), controller.budget, (1,))
    one = _Question(client, messages, how, plan, router)
    controller.open(plan.expected)
    try:
        reason = await one.until_done()
    finally:
        if one.cost:
            controller.close(plan.expected, one.cost)
        else:
            controller.drop(plan.expected)
    return one.outcome(reason, price)


class _Question:
    """One question while it is open."""

    def __init__(self, client: Client, messages: Sequence[dict], how: Asking, plan: Plan, router: Router):
        self.client, self.messages, self.how, self.plan, self.router = client, messages, how, plan, router
        self.purse: Purse = router.purse
        self.tally = Tally(plan.session)
        self.cost = self.money = 0.0
        self.tokens = self.prompt_tokens = self.rounds = 0
        # No text has more tokens than bytes.
        read = sum(len(str(turn.get("content", "")).encode()) + _TURN for turn in messages)
        self.most_read = read
        self.most_money = how.dollars(read, how.max_tokens)
        self.most_cost = router.cost_of(how.max_tokens)

    async def until_done(self) -> str:
        """Ask round after round; return why it ended."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.how.deadline
        while True:
            room = int(min((self.how.cap - self.cost) / self.most_cost * (1 + 1e-9), 1e9))
            if room < 1:
                return self._ended(CAP, f"a question may cost {self.how.cap:g}, one answer up to {self.most_cost:g}")
            wanted = min(self.plan.next_stop(self.tally.n) - self.tally.n, room)
            held = sum(self.purse.reserve(self.most_money) for _ in range(wanted))
            if not held:
                return self._ended(PURSE, f"${self.purse.spent:.4f} of ${self.purse.total:.4f}")
            tasks = [asyncio.create_task(self._one(self.tally.n + k)) for k in range(held)]
            for task in tasks:  # of a caller who has gone nobody asks how it ended
                task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            try:
                done, late = await asyncio.wait(tasks, timeout=max(end - loop.time(), 0.0))
            except asyncio.CancelledError:
                self._give_up(tasks)
                raise
            self._give_up(late)
            self.rounds += 1
            fault = await self._count([task for task in tasks if task in done])
            if late:
                return self._ended(LATE, f"no answer within {self.how.deadline:g} s")
            if fault is not None:
                if not self.tally.n:
                    raise fault
                return f"the endpoint failed: {fault}"
            if self.how.votes and self.tally.n == held and self.tally.other_kind:
                if self.how.other == "refuse":
                    raise NotShortError("the first answer holds no short answer to vote on; ask another question")
                return OTHER
            if not self.plan.session.goes_on:
                return ONE if not self.how.votes else FULL if self.tally.n >= self.plan.longest else WORTH

    def _ended(self, reason: str, why: str) -> str:
        if not self.tally.n:
            raise EndpointError(f"{reason}: {why}")
        return reason

    async def _one(self, number: int) -> Answer:
        """One answer; what was put aside for it is settled whatever happens."""
        how = self.how

        async def pause(seconds: float, why: str) -> None:
            if not why.startswith("HTTP"):  # a cut or a hang may be on the bill: pay for it, and put aside once more
                self._pay(self.most_money)
                if not self.purse.reserve(self.most_money):
                    raise _SpentError(f"{PURSE}: ${self.purse.spent:.4f} of ${self.purse.total:.4f}")
            await asyncio.sleep(seconds)

        try:
            answer = await self.client.sample(
                self.messages,
                temperature=how.temperature,
                max_tokens=how.max_tokens,
                logprobs=self.plan.logprobs,
                pause=pause,
                seed=None if how.seed is None else how.seed + number,
                extra=how.extra,
            )
        except asyncio.CancelledError:
            self._pay(self.most_money)  # nobody knows how far it came
            raise
        except _SpentError:
            raise
        except EndpointError:
            self.purse.settle(self.most_money, 0.0)
            raise
        # An endpoint that lies about its tokens is believed up to what it was asked for.
        written = how.max_tokens if answer.tokens is None else min(answer.tokens, how.max_tokens)
        read = self.most_read if answer.prompt_tokens is None else min(answer.prompt_tokens, self.most_read)
        self._pay(how.dollars(read, written))
        self.cost += self.router.cost_of(written)
        self.tokens, self.prompt_tokens = self.tokens + written, self.prompt_tokens + read
        return answer

    def _pay(self, money: float) -> None:
        self.purse.settle(self.most_money, money)
        self.money += money

    def _give_up(self, tasks: Sequence[asyncio.Task]) -> None:
        """Drop what is still open; it counts in full, for it may well be on the bill."""
        for task in tasks:
            if not task.done():
                self.cost += self.most_cost
                task.cancel()

    async def _count(self, tasks: Sequence[asyncio.Task]) -> EndpointError | None:
        """Put the answers of a round to the vote, in the order they were asked; return the first fault."""
        fault = None
        for task in tasks:
            error = task.exception()
            if isinstance(error, EndpointError):
                fault = fault or error
            elif error is not None:
                raise error
            else:
                await self.tally.add(task.result())
        return fault

    def outcome(self, reason: str, price: float) -> Routed:
        """What the vote came to."""
        found = self.tally.result()
        if reason == OTHER:  # the last number of a story is no answer
            found |= {"answer": "", "votes": {}, "certainty": 0.0, "agreement": 0.0}
        return Routed(
            **found,
            rounds=self.rounds,
            cost=self.cost,
            money=self.money,
            reason=reason,
            price=price,
            tokens=self.tokens,
            prompt_tokens=self.prompt_tokens,
        )


class _SpentError(EndpointError):
    """The purse ran out between two tries."""


async def ask_many(
    router: Router,
    client: Client,
    work: Iterable[tuple[Any, str]],
    prompt: Prompt,
    how: Asking,
    done: Callable[[Any, Routed], None],
    concurrency: int = 16,
    progress: bool = True,
    stop: threading.Event | None = None,
) -> None:
    """Ask (name, question) pairs, ``concurrency`` at a time; ``done(name, answer)`` is called as each comes in.

    The first fault ends it: what was answered until then has been handed to ``done``. Once ``stop`` is set no further
    question is begun.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; give at least 1")
    work = list(work)
    left = iter(work)
    bar = tqdm(total=len(work), unit="question", disable=not progress, smoothing=0.05)

    async def worker() -> None:
        for name, question in left:
            if stop is not None and stop.is_set():
                return
            done(name, await ask(router, client, question, prompt.fill(question), how))
            bar.set_postfix_str(_told(router), refresh=False)
            bar.update()

    workers = [asyncio.create_task(worker()) for _ in range(min(concurrency, max(len(work), 1)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        bar.close()


def _told(router: Router) -> str:
    controller, purse = router.controller, router.purse
    money = f", ${purse.spent:.2f}" if purse.spent else ""
    average = controller.average or 0.0
    return f"average {average:.2f} of {controller.budget:g}, price {controller.price:.4f}{money}"
