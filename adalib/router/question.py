"""One question at work: how many answers it gets, and why no more.

Answers are asked in rounds: as many at a time as the policy says, and it decides once all of them
are in. In a race (`adalib.router.race`) it decides at every answer that finishes. An answer is
asked only if the question's cap and the purse have room for the most that it can cost, and a
further try after a failure is another answer in this respect. Whatever goes wrong ends the question
with the best vote so far, if there is one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from adalib.llm.client import EndpointError
from adalib.llm.reply import Answer
from adalib.router.account import Account
from adalib.router.asking import (
    Allocator,
    Asking,
    AskingClient,
    CapError,
    FixedVote,
    LateError,
    NotShortError,
    SpentError,
)
from adalib.router.attempt import Attempt
from adalib.router.ballots import Ballots
from adalib.router.race import LiveRace
from adalib.router.routed import (
    CAP,
    FULL,
    GONE,
    LATE,
    OTHER,
    SPENT,
    WORTH,
    Routed,
    summed_details,
)
from adalib.sequential.race_session import RaceSession
from adalib.sequential.rules import leader_holds

_LONG = 4_000  # characters of a question from which it is read in a thread
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads


class OpenQuestion:
    """One question while it is open: its ballots, its account, and the vote that goes on.

    Parameters
    ----------
    by : Allocator
        The policy, and what is left to spend.
    client : AskingClient
        Gives the answers.
    messages : sequence of dict
        What the model is sent.
    asking : Asking
        The settings.
    first_answer : Future, optional
        Set to the first answer as soon as it is there.
    early_reply : Future, optional
        Set to the outcome as soon as no answer under way can change it.
    """

    def __init__(
        self,
        by: Allocator,
        client: AskingClient,
        messages: Sequence[dict[str, Any]],
        asking: Asking,
        first_answer: asyncio.Future[Answer] | None = None,
        early_reply: asyncio.Future[Routed] | None = None,
    ) -> None:
        self.by = by
        self.client = client
        self.messages = messages
        self.asking = asking
        self.first_answer = first_answer
        self.early_reply = early_reply
        self.account = Account(by, messages, asking)
        self.ballots = Ballots(asking)
        self.rounds = 0
        self.waiting = 0  # tokens that were waited for one after the other
        self.caller_gone = asyncio.Event()  # then no further answer is asked, and a race is closed
        self.steered = asking.price is None  # the budget counts what its own price decides
        self.price = by.controller.price if asking.price is None else asking.price

    async def run(self, question: str) -> Routed:
        """Plan, ask until the vote is closed, and return the winner."""
        if len(question) > _LONG:
            decision = await asyncio.to_thread(self.by.plan, question, self.price)
        else:
            decision = self.by.plan(question, self.price)
        self.vote = decision.session
        self.stops = decision.stops
        self.expected = decision.expected
        self.counts_with = decision.expected
        if self.steered:
            self.by.controller.open(decision.expected)
        end = asyncio.get_running_loop().time() + self.asking.deadline
        ask = self._ask_in_a_race if isinstance(self.vote, RaceSession) else self._ask_in_rounds
        reason = ""
        try:
            reason = await ask(end)
        finally:
            counted = self._leave(reason)
        return self._routed(reason, counted)

    async def _ask_in_rounds(self, end: float) -> str:
        """Ask round after round; return why it ended."""
        fault: EndpointError | None = None
        while True:
            room = self.account.room()
            held = await self.account.put_aside(min(self.vote.asks, room)) if room >= 1 else 0
            if not held:
                return self._ended_without_room(room)
            late, fault = await self._round(held, end)
            if late:
                return self._ended_late()
            if self.caller_gone.is_set():
                return self._ended(GONE, fault or EndpointError(GONE))
            if fault is not None:
                return self._ended(f"the endpoint failed: {fault}", fault)
            if self._has_no_short_answer():
                return OTHER
            if not self.vote.goes_on:
                return self._ended_by_the_policy()
            if self._brakes(self.account.cost):
                return WORTH

    async def _round(self, size: int, end: float) -> tuple[bool, EndpointError | None]:
        """Ask some answers at once and put them to the vote.

        They vote in the order in which they were asked. A fixed vote, where the order does not
        matter, takes them as they come in, so that it can be decided before the last one. Returns
        whether some came too late, and the first fault. If the caller gives up in the middle,
        answers under way may still come in and are booked as reported.
        """
        first = len(self.ballots.answers)
        attempts = [self._begin(number) for number in range(first, first + size)]
        tasks = [asyncio.create_task(attempt.run()) for attempt in attempts]
        waited_before = self.waiting
        self.rounds += 1
        as_they_come = isinstance(self.vote, FixedVote)
        when = asyncio.FIRST_COMPLETED if as_they_come else asyncio.ALL_COMPLETED
        fault: EndpointError | None = None
        in_time = True
        pending = set(tasks)
        try:
            while pending and in_time:
                left = max(end - asyncio.get_running_loop().time(), 0.0)
                done, pending = await asyncio.wait(pending, timeout=left, return_when=when)
                if asyncio.get_running_loop().time() >= end:
                    _abandon(attempts, tasks)
                    in_time = not pending
                for task in (task for task in tasks if task in done):
                    failure = _failure(task)
                    if failure is not None:
                        fault = fault or failure
                        continue
                    answer = task.result()
                    self.waiting = max(self.waiting, waited_before + (answer.tokens or 0))
                    in_time = await self._count(answer, end) and in_time
                    self._reply_early()
        finally:
            _abandon(attempts, tasks)
        return not in_time, fault

    async def _ask_in_a_race(self, end: float) -> str:
        """Start answers together and decide at every finish; return why the race was closed."""
        race = LiveRace(self.vote, self.account, self._begin)
        try:
            reason = await self._run_race(race, end)
        finally:
            at_the_close = await race.cancel_rest()
            self.waiting = round(race.session.clock)
            for runner, answer in at_the_close:  # paid for, so they vote
                await self._count(answer, end, runner.number)
        return reason

    async def _run_race(self, race: LiveRace, end: float) -> str:
        """Wait for one finish after the other until the race is to be closed; return why."""
        session = race.session
        fault: EndpointError | None = None
        while True:
            if session.asks:
                self.rounds += 1
                if not await race.start() and not race.running:
                    return self._ended_without_room(self.account.room())
            if not race.running:  # none is left that could still finish
                error = fault or EndpointError("all answers of the race failed")
                return self._ended(f"the endpoint failed: {error}", error)
            left = max(end - asyncio.get_running_loop().time(), 0.0)
            finished = await race.next_finished(left, self.caller_gone)
            if self.caller_gone.is_set():
                return self._ended(GONE, EndpointError(GONE))
            if not finished:
                return self._ended_late()
            for task in finished:
                try:
                    runner, answer = race.take(task)
                except EndpointError as error:
                    fault = fault or error
                    continue
                if not await self._count(answer, end, runner.number):
                    return self._ended_late()
            if not self.ballots.answers:
                continue  # one failed before any finished: the others may not
            if fault is not None:
                return self._ended(f"the endpoint failed: {fault}", fault)
            if self._has_no_short_answer():
                return OTHER
            if self.vote is not session or not session.goes_on:
                return self._ended_by_the_policy()
            if self._brakes(self.account.cost + self.by.cost_of(race.written())):
                return WORTH

    def _begin(self, number: int) -> Attempt:
        """Prepare the answer of a number, for which money was put aside."""
        request = partial(self._request, number)
        return Attempt(self.account, request, self.asking.tries)

    async def _request(self, number: int, arrive: Callable[[int], None]) -> Answer:
        """Send one request for the answer of a number; ``arrive`` is told of its tokens."""
        asking = self.asking
        streamed = {"arriving": arrive} if isinstance(self.vote, RaceSession) else {}
        answer = await self.client.sample(
            self.messages,
            temperature=asking.temperature,
            max_tokens=asking.max_tokens,
            limit_name=asking.limit_name,
            logprobs=any(name != "tokens" for name in self.vote.reads),
            seed=None if asking.seed is None else asking.seed + number,
            extra=asking.extra,
            **streamed,
        )
        if self.first_answer is not None and not self.first_answer.done():
            self.first_answer.set_result(answer)
        return answer

    async def _count(self, answer: Answer, end: float, runner: int | None = None) -> bool:
        """Read one more text and put it to the vote; False if that takes too long."""
        fields = {name: getattr(answer, name) for name in self.vote.reads}
        if None in fields.values():
            self._vote_without_signals(fields)
            fields = {}
        left = max(end - asyncio.get_running_loop().time(), 0.1)
        try:
            await self.ballots.add(answer, left)
        except TimeoutError:
            return False
        ballot = self.ballots.ballots[-1]
        if isinstance(self.vote, RaceSession) and runner is not None:
            fields.pop("tokens", None)
            self.vote.finish(runner, ballot, tokens=answer.tokens or 0, **fields)
        else:
            self.vote.add(ballot, **fields)
        return True

    def _vote_without_signals(self, fields: Mapping[str, Any]) -> None:
        """Go on with plain votes if the endpoint lacks what the policy weighs answers by."""
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
        for ballot in self.ballots.ballots:
            self.vote.add(ballot)

    def _brakes(self, cost: float) -> bool:
        """Count what the question has cost so far; whether no price lets it go on."""
        if not self.steered:
            return False
        controller = self.by.controller
        self.counts_with = controller.rise(self.counts_with, cost)
        return controller.brakes

    def _reply_early(self) -> None:
        """Give the outcome away as soon as no answer under way can change it."""
        reply = self.early_reply
        if reply is None or reply.done():
            return
        if isinstance(self.vote, FixedVote) and self.vote.is_decided:
            reply.set_result(self._routed(FULL, self.steered))

    def _has_no_short_answer(self) -> bool:
        """Whether there is nothing to vote on; raise if such questions are refused."""
        if not self.ballots.show_no_short_answer():
            return False
        if self.asking.other == "refuse":
            why = "the answers hold no short answer to vote on; ask another question"
            raise NotShortError(why)
        return True

    def _ended_by_the_policy(self) -> str:
        """Why the policy asks for no further answer."""
        return FULL if len(self.ballots.answers) >= self.stops[-1] else WORTH

    def _ended_late(self) -> str:
        """End because the time is over."""
        why = f"no answer within {self.asking.deadline:g} s"
        return self._ended(LATE, LateError(f"{LATE}: {why}"))

    def _ended_without_room(self, room: int) -> str:
        """End because the question's cap has no room, or the purse no money, for another answer."""
        if room >= 1:
            return self._ended(SPENT, SpentError(f"{SPENT}: {self.by.purse}"))
        most = self.account.most_cost
        limits = f"a question may cost {self.asking.cap:g}, one answer up to {most:g}"
        return self._ended(CAP, CapError(f"{CAP}: {limits}"))

    def _ended(self, reason: str, error: EndpointError) -> str:
        """End with the best vote so far, or with the error if there is none."""
        if not self.ballots.answers:
            raise error
        return reason

    def _leave(self, reason: str) -> bool:
        """Tell the controller what the question cost; return whether it counts in the average."""
        controller = self.by.controller
        cost = self.account.cost
        self.account.close()
        if reason == OTHER:
            # Several that were asked at once, though, were the price's choice.
            together = isinstance(self.vote, FixedVote | RaceSession)
            answers = len(self.ballots.answers) + self.account.cancelled
            counted = together and self.rounds == 1 < answers
        else:
            # A vote cut short is no saving and must not lower the price.
            counted = reason in (WORTH, FULL) or cost > controller.budget
        if self.steered and counted:
            controller.close(self.counts_with, cost)
            return True
        if self.steered:
            controller.drop(self.counts_with)
        if cost:
            controller.aside(cost)
        return False

    def _routed(self, reason: str, counted: bool) -> Routed:
        """The winner and how it came about."""
        ballots = self.ballots
        account = self.account
        passed_on = reason == OTHER  # the last number of a story is no answer
        leaders = [] if passed_on else self.vote.leaders
        votes: dict[str, int] = {}
        if not passed_on:
            votes = {answer: ballots.votes[c] for c, (answer, _) in ballots.winners.items()}
        answer, won = ballots.winners[leaders[0]] if leaders else ("", ballots.answers[0])
        ahead, behind = (sorted(ballots.votes.values(), reverse=True) + [0, 0])[:2]
        return Routed(
            answer=answer,
            text=won.text,
            votes=votes,
            samples=len(ballots.answers),
            rounds=self.rounds,
            cost=account.cost,
            money=account.money,
            confidence=float(leader_holds(ahead, behind)) if leaders else 0.0,
            agreement=votes[answer] / len(ballots.answers) if leaders else 0.0,
            reason=reason,
            price=self.price,
            tokens=account.tokens,
            prompt_tokens=account.prompt_tokens,
            finish=won.finish,
            certificate=self._certified_risk(leaders),
            counted=counted,
            bill=tuple(account.bill),
            fingerprint=won.fingerprint,
            expected=self.expected,
            unread=ballots.ballots.count(None),
            details=summed_details(ballots.answers),
            waiting=self.waiting,
            cancelled=account.cancelled,
            cancelled_tokens=account.cancelled_tokens,
        )

    def _certified_risk(self, leaders: Sequence[Any]) -> float:
        """The chance, at most, that another answer is the model's most frequent one.

        Those who finish a race first are no random sample of the model's answers, so it certifies
        nothing.
        """
        if not leaders or isinstance(self.vote, RaceSession):
            return 1.0
        return self.vote.certificate.risk_of(leaders[0])


def _failure(task: asyncio.Task[Answer]) -> EndpointError | None:
    """The endpoint's failure in a task that ended; any other exception is ours, and is raised."""
    error = task.exception()
    if error is None or isinstance(error, EndpointError):
        return error
    raise error


def _abandon(attempts: Sequence[Attempt], tasks: Sequence[asyncio.Task[Answer]]) -> None:
    """Book and cancel the answers of a round that are not waited for any longer."""
    for attempt, task in zip(attempts, tasks, strict=True):
        if not task.done():
            attempt.abandon()
            task.cancel()
        # Retrieve the exception so asyncio does not warn after a disconnect.
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
