"""One budget for several servers: what was overspent by all of them is one number, kept in Redis.

The price depends on nothing but that number (`adalib.router.controller`). Each server adds what its
questions cost, in one atomic step, and reads the sum over all. A step carries a number, so that one
that was sent twice counts once. What a server has open is kept under its own name: if the server
dies, what its open questions had cost is added to the debt when the entry expires. The largest
number of questions that were ever open is kept too, so the bound survives restarts of all servers.

While Redis does not answer, each server goes on by itself from what it last knew, and hands in what
it did when Redis is back. A total in money is lent out in small parts, so that all servers together
never pass it; requests for a loan that come while one is under way wait for the same next one.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Awaitable, Callable
from math import inf, isfinite
from time import monotonic
from typing import Any, NamedTuple
from uuid import uuid4

from redis import Redis as Plain
from redis.asyncio import Redis
from redis.exceptions import RedisError

from adalib.router.controller import BudgetController
from adalib.router.purse import Purse
from adalib.router.redis_scripts import LEND, STEP
from adalib.router.router import Router

_BEAT = 1.0  # seconds between two steps of a server that has nothing to tell
_LIFE = 10_000  # milliseconds after which what a silent server had open is forgotten
_PATIENCE = 1.0  # seconds for one step
# Share of the total that a server is lent beyond its need, to go on while Redis does not answer.
_LOAN = 0.02
_LEASE = 60_000  # milliseconds after which a loan expires that was not renewed
_UNREACHED = (RedisError, OSError, TimeoutError, ValueError, TypeError, OverflowError)
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads


class ShareError(ValueError):
    """The store cannot be reached at the start; the message is one line without secrets."""


class _Sums(NamedTuple):
    """Sums over closed questions, and what the other servers have open."""

    asked: int = 0  # questions
    spent: float = 0.0  # their cost
    debt: float = 0.0  # by how much they passed their budgets
    others: float = 0.0  # cost above the budgets of the questions that other servers have open
    theirs: int = 0  # how many those are
    at_once: int = 0  # the most questions that were ever open at a time


class SharedController(BudgetController):
    """A `BudgetController` with the sums of all servers, which `Share` carries to the store."""

    def __init__(self, budget: float, price: float, **settings: Any) -> None:
        super().__init__(budget, price, **settings)
        self.number = 0  # of the last step
        self.stored = _Sums()  # the sums in the store, as last read
        self._sent = _Sums()  # sent there, and not confirmed
        self._new = _Sums()  # closed since then

    @property
    def unsent(self) -> bool:
        """Whether a question was closed that is not yet in the store."""
        return self._new.asked + self._sent.asked > 0

    def take(self) -> _Sums:
        """Return the next step: the last one again if it was not confirmed, else all since then."""
        if not self._sent.asked:
            self.number += 1
            self._sent = self._new
            self._new = _Sums()
        return self._sent

    def confirm(self, sums: _Sums) -> None:
        """Take over the sums of all servers, in which the store has counted the last step."""
        self.stored = sums
        self._sent = _Sums()
        self.others = sums.others
        self.at_once = max(self.at_once, self.open_now + sums.theirs, sums.at_once)
        self._add_up()

    def _settle(self, cost: float, more: float) -> None:
        self._new = _Sums(self._new.asked + 1, self._new.spent + cost, self._new.debt + more)
        self._add_up()

    def _add_up(self) -> None:
        """Count what the store has, what is on its way there, and what is new."""
        sums = (self.stored, self._sent, self._new)
        self.asked = sum(one.asked for one in sums)
        self.spent = sum(one.spent for one in sums)
        self.closed = max(sum(one.debt for one in sums), self.floor)


class SharedPurse(Purse):
    """A `Purse` of several servers: each spends what it was lent, and `Share` carries the sums."""

    def __init__(self, old: Purse) -> None:
        super().__init__(old.total, old._ledger)
        self.spent = old.spent
        self.reserved = old.reserved
        self.number = 0  # of the last step
        self.lent = 0.0
        self.until = 0.0  # when the loan expires, by the monotonic clock
        self.stored = old.spent  # dollars spent by all, as last read
        self._sent = 0.0  # dollars sent there, and not confirmed
        self._new = 0.0  # dollars paid since then
        self.ask: Callable[[float], Awaitable[None]] | None = None

    @property
    def unsent(self) -> bool:
        """Whether something was paid that is not yet in the store."""
        return self._sent + self._new > 0

    async def more(self, most: float) -> None:
        """Be lent more, if there is."""
        if self.ask is not None and self.total < inf:
            await self.ask(most)

    def settle(self, most: float, cost: float) -> None:
        """Pay; the next step carries it to the store."""
        super().settle(most, cost)
        self._new += cost

    def take(self, need: float) -> list[str | int]:
        """Return the next step: the last sum again if it was not confirmed, else all paid since."""
        if not self._sent:
            self.number += 1
            self._sent = self._new
            self._new = 0.0
        room = self._room()
        wanted = self.reserved + need + (0.0 if self.total == inf else self.total * _LOAN)
        # No more is put aside before the store has answered.
        keeps = max(min(room, wanted), self.reserved)
        self.lent = keeps + self._sent + self._new
        amounts = (self._sent, wanted, keeps, min(self.total, 1e300), self.stored)
        return [self.number, *map(repr, amounts), _LEASE, repr(self.reserved)]

    def confirm(self, spent: float, lent: float) -> None:
        """Take over what all servers spent, and the loan, after the store has counted the step."""
        if not (0 <= spent < inf and 0 <= lent < inf):
            raise ValueError("the store holds no sums of ours")
        self.stored = spent
        self._sent = 0.0
        self.lent = lent
        self.until = monotonic() + _LEASE / 1000
        self.spent = spent + self._new

    def _room(self) -> float:
        if self.total == inf:
            return inf
        if monotonic() >= self.until:  # the loan has expired
            return 0.0
        return self.lent * (1 + 1e-12) - self._sent - self._new


class Share:
    """Carry a router's budget and purse to Redis and back, for as long as ``async with`` lasts.

    The router gets a `SharedController` and a `SharedPurse`. Servers of the same router and model
    share the budget, those of the same model the total. Redis must answer at the start
    (`ShareError`); while it does not answer later, each server goes on alone.
    """

    def __init__(self, router: Router, url: str, model: str) -> None:
        old = router.controller
        self.controller = SharedController(
            old.budget, old.first_price, step=old.step, reach=old.reach
        )
        self.controller.low = old.low
        self.controller.high = old.high
        router.controller = self.controller
        self.purse = SharedPurse(router.purse)
        self.purse.ask = self._lend
        router.purse = self.purse
        about = f"{model} {router.cost!r} {old.budget!r} {old.first_price!r} {old.step!r}"
        self.sums_key = _key(about)
        self.purse_key = _key(f"purse {model}")
        self.server = uuid4().hex
        try:
            with Plain.from_url(
                url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE
            ) as first:
                first.ping()
            self._redis = Redis.from_url(
                url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE
            )
        except ValueError:
            raise ShareError(
                "the address of Redis must look like redis://127.0.0.1:6379/0"
            ) from None
        except (RedisError, OSError) as error:
            mend = "start it, or serve without --redis"
            raise ShareError(f"Redis does not answer ({type(error).__name__}); {mend}") from None
        self._step = self._redis.register_script(STEP)
        self._lending = self._redis.register_script(LEND)
        self._busy = asyncio.Lock()
        self._needed = 0.0  # dollars that the next loan is asked for
        self._next_loan: asyncio.Task | None = None  # not begun, so that more can be asked for
        self.reached = False

    async def __aenter__(self) -> Share:
        await self.synchronise()
        self._beat = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._beat.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._beat
        self.controller.opened = 0.0
        self.controller.open_now = 0
        await self.synchronise()
        await self.close()

    async def close(self) -> None:
        """Close the connection to Redis."""
        await self._redis.aclose()

    async def flush(self) -> None:
        """Wait until what was closed is in the store; return at once while it does not answer."""
        while self.reached and (self.controller.unsent or self.purse.unsent):
            await self.synchronise(if_unsent=True)

    async def _run(self) -> None:
        """Take a step every second, so that the store knows this server to be alive."""
        while True:
            await asyncio.sleep(_BEAT)
            try:
                await self.synchronise()
            except Exception as error:  # whatever it was, the next beat comes
                _LOG.error("%s while talking to Redis; please report it", type(error).__name__)

    async def synchronise(self, if_unsent: bool = False) -> None:
        """Take one step, one at a time; while Redis does not answer, keep it for later."""
        async with self._busy:
            # The step of another vote may have taken ours along.
            if if_unsent and not (self.controller.unsent or self.purse.unsent):
                return
            try:
                await self._send_sums()
                if self.purse.unsent or self.purse.total < inf or not self.reached:
                    await self._send_money(0.0)
            except _UNREACHED as error:
                self._reaches(False, type(error).__name__)
            else:
                self._reaches(True)

    async def _lend(self, need: float) -> None:
        """Be lent so much more money; nothing, where Redis does not answer.

        All questions that ask while Redis is busy share one loan, so that a slow Redis delays each
        of them once.
        """
        self._needed += need
        if self._next_loan is None:
            self._next_loan = asyncio.create_task(self._take_loan())
        await asyncio.shield(self._next_loan)

    async def _take_loan(self) -> None:
        """Ask Redis for the sum of all that is needed, once it is not busy."""
        async with self._busy:
            need = self._needed
            self._needed = 0.0
            self._next_loan = None
            with contextlib.suppress(*_UNREACHED):
                await self._send_money(need)

    async def _send_sums(self) -> None:
        """Send what was closed since the last step, and take over the sums of all servers."""
        controller = self.controller
        batch = controller.take()
        stored = controller.stored
        arguments: list[str | int] = [
            self.server,
            controller.number,
            batch.asked,
            repr(batch.spent),
            repr(batch.debt),
            repr(controller.floor),
            repr(controller.opened),
            controller.open_now,
            _LIFE,
            stored.asked,
            repr(stored.spent),
            repr(stored.debt),
            repr(controller.open_cost),
            controller.at_once,
        ]
        keys = [self.sums_key, f"{self.sums_key}:servers", f"{self.sums_key}:step:{self.server}"]
        asked, spent, debt, others, theirs, most = await self._step(keys, arguments)
        sums = _Sums(int(asked), float(spent), float(debt), float(others), int(theirs), int(most))
        if sums.asked < 0 or sums.spent < 0 or sums.theirs < 0 or not all(map(isfinite, sums)):
            raise ValueError("the store holds no sums of ours")
        controller.confirm(sums)

    async def _send_money(self, need: float) -> None:
        """Send what was paid since the last step, and be lent what is needed."""
        arguments = [self.server, *self.purse.take(need)]
        spent, lent = await self._lending([self.purse_key], arguments)
        self.purse.confirm(float(spent), float(lent))

    def _reaches(self, reached: bool, why: str = "") -> None:
        """Note whether Redis answers, and warn when that changes."""
        if self.reached != reached and self.controller.number > 1:
            if reached:
                _LOG.warning("Redis answers again")
            else:
                _LOG.warning("Redis does not answer (%s): each server goes on alone", why)
        self.reached = reached


def _key(about: str) -> str:
    """Return a key of Redis for a description; the braces keep related keys on one node."""
    return f"adalib:{{{hashlib.sha256(about.encode()).hexdigest()[:16]}}}"
