"""One answer: asked, asked again after a failure that may pass, and booked once per request."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from adalib.llm.client import EndpointError
from adalib.llm.reply import Answer
from adalib.router.account import Account
from adalib.router.asking import SpentError
from adalib.router.routed import SPENT

FIRST_WAIT = 0.5  # seconds before a second try; doubled for each try after that
LONGEST_WAIT = 8.0


class Attempt:
    """One answer to a question, for whose first request money was put aside before.

    The money is settled here whatever happens, exactly once per request: by the reply, by the
    failure, or by `abandon` or `cancel` if the answer is no longer waited for.

    Parameters
    ----------
    account : Account
        Where the answer is booked.
    request : callable
        Sends one request, and returns the answer or raises `EndpointError`. It is given a function
        to call with the number of tokens that have arrived so far.
    tries : int
        Requests before giving up.
    """

    def __init__(
        self,
        account: Account,
        request: Callable[[Callable[[int], None]], Awaitable[Answer]],
        tries: int,
    ) -> None:
        self.account = account
        self.request = request
        self.tries = tries
        self.arrived = 0  # tokens of the request under way, where it is a stream
        self.is_sent = False
        self.holds_money = True
        account.begin()

    async def run(self) -> Answer:
        """Return the answer, or raise the last failure."""
        for attempt in range(1, self.tries + 1):
            try:
                self.is_sent = True
                answer = await self.request(self._arrive)
            except EndpointError as error:
                self._fail(error)
                if not error.passes or attempt == self.tries:
                    raise
                await asyncio.sleep(_wait(attempt, error.retry_after))
                await self._begin_again()
                continue
            if self.holds_money:
                self.holds_money = False
                self.account.take_in(answer)
            return answer
        raise AssertionError("unreachable")

    def abandon(self) -> None:
        """Book the most for an answer that hangs, for it may be on the bill."""
        if self.holds_money:
            self.holds_money = False
            if self.is_sent:
                self.account.book_most()
            else:
                self.account.book_nothing()

    def cancel(self, written: int, read: int) -> None:
        """Book an answer that was cancelled after it had written so many tokens."""
        if self.holds_money:
            self.holds_money = False
            self.account.cancel(written, read)

    def _arrive(self, tokens: int) -> None:
        """Note how many tokens have arrived."""
        self.arrived = tokens

    def _fail(self, error: EndpointError) -> None:
        """Book a request that failed: nothing if it was refused or never sent, else the most."""
        self.is_sent = False
        self.arrived = 0
        if self.holds_money:
            self.holds_money = False
            if error.billed:
                self.account.book_most()
            else:
                self.account.book_nothing()

    async def _begin_again(self) -> None:
        """Put money aside for another request."""
        if not await self.account.put_aside(1):
            raise SpentError(f"{SPENT}: {self.account.by.purse}")
        self.holds_money = True
        self.account.begin()


def _wait(attempt: int, asked_for: float | None) -> float:
    """Seconds before the next try: as the endpoint asks, else doubled each time and spread."""
    if asked_for is not None and 0 < asked_for <= 60:
        return asked_for
    wait = min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT)
    return wait * (1 - random.random() / 4)
