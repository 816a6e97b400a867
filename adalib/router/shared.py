"""One budget for several servers: what was overspent by all of them is one number, and it lives in Redis.

The price depends on nothing but that number (`adalib.router.controller`). Each server adds what its questions cost, in
one atomic step, and reads the sum over all. A step carries a number, so that one that was sent twice counts once. What
a server has open is kept under its own name and expires: a server that dies takes nothing with it. While Redis does not
answer, each server goes on by itself from what it last knew, and hands in what it did when Redis is back. The bound
holds for all together if a question counts as open until the others know that it was closed, without Redis for each.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from typing import Any, NamedTuple
from uuid import uuid4

from redis import Redis as Plain
from redis.asyncio import Redis
from redis.exceptions import RedisError

from adalib.router.controller import BudgetController
from adalib.router.router import Router

__all__ = ["Share", "ShareError", "SharedController"]

_BEAT = 1.0  # seconds between two steps of a server that has nothing to tell
_LIFE = 10_000  # milliseconds after which what a silent server had open is forgotten
_PATIENCE = 1.0  # seconds for one step

# KEYS: the sums, the servers, the number of this server's last step.
# ARGV: this server, its step's number, questions and cost since the last step, the change of the debt, the debt's
# floor, what it has open (cost above the budgets, questions), milliseconds until that expires.
_STEP = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
if tonumber(redis.call('GET', KEYS[3]) or '0') < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[3], ARGV[2], 'PX', 86400000)
  redis.call('HINCRBY', KEYS[1], 'asked', ARGV[3])
  redis.call('HINCRBYFLOAT', KEYS[1], 'spent', ARGV[4])
  local debt = tonumber(redis.call('HGET', KEYS[1], 'debt') or '0') + tonumber(ARGV[5])
  redis.call('HSET', KEYS[1], 'debt', string.format('%.17g', math.max(debt, tonumber(ARGV[6]))))
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[7] .. ' ' .. ARGV[8] .. ' ' .. string.format('%d', now + ARGV[9]))
local others, theirs, servers = 0, 0, redis.call('HGETALL', KEYS[2])
for k = 1, #servers, 2 do
  local opened, open, expires = string.match(servers[k + 1], '(%S+) (%S+) (%S+)')
  if not expires or tonumber(expires) < now then redis.call('HDEL', KEYS[2], servers[k])
  elseif servers[k] ~= ARGV[1] then others, theirs = others + tonumber(opened), theirs + tonumber(open) end
end
local sums = redis.call('HMGET', KEYS[1], 'asked', 'spent', 'debt')
return {sums[1] or '0', sums[2] or '0', sums[3] or '0', string.format('%.17g', others), theirs}
"""


class ShareError(ValueError):
    """The store cannot be reached at the start; the message is one line without secrets."""


class _Sums(NamedTuple):
    """Questions that were closed, their cost and debt; of all servers also what the others have open."""

    asked: int = 0
    spent: float = 0.0
    debt: float = 0.0
    others: float = 0.0
    theirs: int = 0


class SharedController(BudgetController):
    """A `BudgetController` whose sums are those of all servers; `Share` carries them to the store and back."""

    def __init__(self, budget: float, price: float, **how: Any) -> None:
        super().__init__(budget, price, **how)
        self.number = 0  # of the last step
        self._all, self._sent, self._new = _Sums(), _Sums(), _Sums()  # known there, perhaps on its way, closed since

    @property
    def unsent(self) -> bool:
        """Whether something was closed that the store does not know."""
        return self._new.asked + self._sent.asked > 0

    def take(self) -> _Sums:
        """What to tell the store: the step that was not confirmed once more, else all that was closed since."""
        if not self._sent.asked:
            self.number += 1
            self._sent, self._new = self._new, _Sums()
        return self._sent

    def told(self, sums: _Sums) -> None:
        """The store has counted the step; these are the sums over all servers."""
        self._all, self._sent, self.others = sums, _Sums(), sums.others
        self.at_once = max(self.at_once, self.open_now + sums.theirs)
        self._add_up()

    def _settle(self, cost: float, more: float) -> None:
        self._new = _Sums(self._new.asked + 1, self._new.spent + cost, self._new.debt + more)
        self._add_up()

    def _add_up(self) -> None:
        sums = self._all, self._sent, self._new
        self.asked, self.spent = sum(one.asked for one in sums), sum(one.spent for one in sums)
        self.closed = max(sum(one.debt for one in sums), self.floor)


class Share:
    """Carries a `SharedController`, the router's from now on, to Redis and back, for as long as ``async with`` lasts.

    Servers of the same router and model share. Redis must answer at the start (`ShareError`); later that is borne."""

    def __init__(self, router: Router, url: str, model: str) -> None:
        old = router.controller
        self.controller = SharedController(old.budget, old.first_price, step=old.step, reach=old.reach)
        router.controller = self.controller
        about = f"{model} {router.cost!r} {old.budget!r} {old.first_price!r} {old.step!r}"
        self.name = f"adalib:{{{hashlib.sha256(about.encode()).hexdigest()[:16]}}}"
        self.server = uuid4().hex
        try:
            with Plain.from_url(url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE) as first:
                first.ping()
            self._redis = Redis.from_url(url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE)
        except ValueError:
            raise ShareError("the address of Redis must look like redis://127.0.0.1:6379/0") from None
        except (RedisError, OSError) as error:
            mend = "start it, or serve without --redis"
            raise ShareError(f"Redis does not answer ({type(error).__name__}); {mend}") from None
        self._step = self._redis.register_script(_STEP)
        self._busy = asyncio.Lock()
        self.reached = False

    async def __aenter__(self) -> Share:
        await self._told()
        self._beat = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._beat.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._beat
        self.controller.opened, self.controller.open_now = 0.0, 0
        await self._told()
        await self._redis.aclose()

    async def flush(self) -> None:
        """Wait until the store knows what was closed; at once where it does not answer."""
        while self.reached and self.controller.unsent:
            await self._told(if_unsent=True)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_BEAT)
            await self._told()

    async def _told(self, if_unsent: bool = False) -> None:
        """One step, one at a time; where Redis does not answer, it is kept for later."""
        async with self._busy:
            if if_unsent and not self.controller.unsent:  # another's step took ours along
                return
            controller, batch = self.controller, self.controller.take()
            amounts = map(repr, (batch.spent, batch.debt, controller.floor, controller.opened))
            told: list[str | int] = [self.server, controller.number, batch.asked, *amounts, controller.open_now, _LIFE]
            keys = [self.name, f"{self.name}:servers", f"{self.name}:step:{self.server}"]
            try:
                asked, spent, debt, others, theirs = await self._step(keys, told)
            except (RedisError, OSError, TimeoutError):
                self.reached = False
                return
            controller.told(_Sums(int(asked), float(spent), float(debt), float(others), int(theirs)))
            self.reached = True
