"""The answers of a race: started at once, counted as they finish, cancelled when the race closes.

Answers come as streams. An answer is cancelled by closing its connection, upon which an endpoint
stops writing, and is booked with what it had written by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from adalib.llm.client import EndpointError
from adalib.llm.reply import Answer
from adalib.router.account import Account
from adalib.router.attempt import Attempt
from adalib.sequential.race_session import RaceSession, Runner


class Started(NamedTuple):
    """One answer of a race: its place there, and its requests."""

    runner: Runner
    attempt: Attempt


class LiveRace:
    """The answers of one question that run side by side, as a `RaceSession` decides.

    Parameters
    ----------
    session : RaceSession
        Says how many answers to start.
    account : Account
        Where money is put aside, and cancelled answers are booked.
    begin : callable
        Returns the `Attempt` for the answer of a number.

    Attributes
    ----------
    running : dict of Task to Started
        The answers that have not ended.
    """

    def __init__(
        self, session: RaceSession, account: Account, begin: Callable[[int], Attempt]
    ) -> None:
        self.session = session
        self.account = account
        self.begin = begin
        self.running: dict[asyncio.Task[Answer], Started] = {}
        # Of finished answers: tokens that they report, and tokens that were counted in their
        # streams.
        self._reported = 0
        self._counted = 0
        self._prompt_tokens = account.most_read

    async def start(self) -> int:
        """Start what the session asks for, as far as cap and purse allow; return how many."""
        runners = self.session.begin_answers()
        wanted = min(len(runners), max(self.account.room(), 0))
        held = await self.account.put_aside(wanted)
        for runner in runners[:held]:
            attempt = self.begin(runner.number)
            self.running[asyncio.create_task(attempt.run())] = Started(runner, attempt)
        for runner in runners[held:]:
            self.session.cancel(runner.number, 0.0)
        return held

    async def next_finished(
        self, seconds: float, gone: asyncio.Event
    ) -> list[asyncio.Task[Answer]]:
        """Wait for an answer to end, and return those that did, in the order of the race's clock.

        The list is empty if the time is over, or the caller gone, before.
        """
        hung_up = asyncio.create_task(gone.wait())
        try:
            await asyncio.wait(
                {*self.running, hung_up}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            hung_up.cancel()
        return sorted((task for task in self.running if task.done()), key=self._finish_time)

    def take(self, task: asyncio.Task[Answer]) -> tuple[Runner, Answer]:
        """Take an answer that ended out of the race, or raise what went wrong with it."""
        runner, attempt = self.running.pop(task)
        try:
            answer = task.result()
        except EndpointError:
            self.session.cancel(runner.number, 0.0)
            raise
        self._reported += answer.tokens or 0
        self._counted += attempt.arrived
        if answer.prompt_tokens is not None:
            self._prompt_tokens = answer.prompt_tokens
        return runner, answer

    def written(self) -> int:
        """Return the tokens that running answers have written so far."""
        return sum(self._written(started) or 0 for started in self.running.values())

    async def cancel_rest(self) -> list[tuple[Runner, Answer]]:
        """Cancel and book what still runs; return the answers that finished in that very moment."""
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)
        finished = []
        for task, started in list(self.running.items()):
            if not task.cancelled() and task.exception() is None:
                finished.append(self.take(task))
                continue
            written = self._written(started)
            if written is None:
                started.attempt.abandon()
            else:
                started.attempt.cancel(written, self._prompt_tokens)
            self.session.cancel(started.runner.number, written)
        self.running.clear()
        return finished

    def _finish_time(self, task: asyncio.Task[Answer]) -> float:
        """The race's clock when an answer finished; one that failed comes last."""
        if task.cancelled() or task.exception() is not None:
            return float("inf")
        return self.running[task].runner.started + (task.result().tokens or 0)

    def _written(self, started: Started) -> int | None:
        """Return the tokens that an answer has written; None if there is nothing to go by.

        They are counted in its stream, and scaled by what finished answers report per counted
        token: an event may bring several. A stream that is silent while the model thinks is taken
        to have written as much as the finished answers had by then.
        """
        runner, attempt = started
        most = self.account.asking.max_tokens
        if attempt.arrived:
            per_counted = self._reported / self._counted if self._counted else 1.0
            return min(ceil(attempt.arrived * per_counted), most)
        if self.session.clock > runner.started:
            return min(ceil(self.session.clock - runner.started), most)
        return None
