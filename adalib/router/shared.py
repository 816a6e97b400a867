"""One budget for several servers: what was overspent by all of them is one number, kept in Redis.

The price depends on nothing but that number (`adalib.router.controller`). Each server adds what its
questions cost, in one atomic step, and reads the sum over all. A step carries a number, so that one that
was sent twice counts once. What a server has open is kept under its own name: if the server dies, what
its open questions had cost is added to the debt when the entry expires. The largest number of questions
that were ever open is kept too, so the bound survives restarts of all servers.

While Redis does not answer, each server goes on by itself from what it last knew, and hands in what it
did when Redis is back. A total in money is lent out in small parts, so that all servers together never
pass it; requests for a loan that come while one is under way wait for the same next one.
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
from adalib.router.router import Router

__all__ = ["Share", "ShareError", "SharedController", "SharedPurse"]

_BEAT = 1.0  # seconds between two steps of a server that has nothing to tell
_LIFE = 10_000  # milliseconds after which what a silent server had open is forgotten
_PATIENCE = 1.0  # seconds for one step
_LOAN = 0.02  # of the total: what a server is lent beyond its need, to go on with while Redis does not answer
_LEASE = 60_000  # milliseconds after which a loan expires that was not renewed
_UNREACHED = (RedisError, OSError, TimeoutError, ValueError, TypeError, OverflowError)
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads

# What is read from the store is not believed: a value that can be none is what this server last knew.
_SOUND = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
for k = 1, 2 do
  if KEYS[k] and redis.call('TYPE', KEYS[k]).ok ~= 'hash' then redis.call('DEL', KEYS[k]) end
end
local function sound(text, low)
  local value = tonumber(text or '')
  return value and value == value and value >= low and value < 1e300 and value
end
local function read(field, low, known)
  local text = redis.call('HGET', KEYS[1], field)
  return text and (sound(text, low) or tonumber(known)) or 0
end
"""

# KEYS: the sums, the servers, the number of this server's last step.
# ARGV: this server, its step's number, questions and cost since the last step, the change of the debt, the debt's
# floor, what it has open (cost above the budgets, questions), milliseconds until that expires, what it
# knows (three sums), what its open questions have cost, the most questions that it knows to have been open.
_STEP = (
    _SOUND
    + """
local asked, spent, debt = read('asked', 0, ARGV[10]), read('spent', 0, ARGV[11]), read('debt', -1e300, ARGV[12])
if (sound(redis.call('GET', KEYS[3]), 0) or 0) < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[3], ARGV[2], 'PX', 86400000)
  asked, spent = asked + ARGV[3], spent + ARGV[4]
  debt = math.max(debt + ARGV[5], tonumber(ARGV[6]))
end
local exact = '%.17g'
redis.call('HSET', KEYS[1], 'asked', string.format('%d', asked), 'spent', exact:format(spent))
redis.call('HSET', KEYS[1], 'debt', exact:format(debt))
local entry = ARGV[7] .. ' ' .. ARGV[8] .. ' ' .. string.format('%d', now + ARGV[9]) .. ' ' .. ARGV[13]
redis.call('HSET', KEYS[2], ARGV[1], entry)
local others, theirs, servers = 0, 0, redis.call('HGETALL', KEYS[2])
for k = 1, #servers, 2 do
  local opened, open, expires, cost = string.match(servers[k + 1], '(%S+) (%S+) (%S+) (%S+)')
  opened, open, cost = sound(opened, -1e300), sound(open, 0), sound(cost, 0)
  if not (opened and open and cost and sound(expires, now)) then
    redis.call('HDEL', KEYS[2], servers[k])
    if cost and cost > 0 then
      spent, debt = spent + cost, debt + cost
      redis.call('HSET', KEYS[1], 'spent', exact:format(spent), 'debt', exact:format(debt))
    end
  elseif servers[k] ~= ARGV[1] then others, theirs = others + opened, theirs + open end
end
local most = math.max(read('at_once', 0, ARGV[14]), tonumber(ARGV[14]), theirs + tonumber(ARGV[8]))
redis.call('HSET', KEYS[1], 'at_once', string.format('%d', most))
return {string.format('%d', asked), exact:format(spent), exact:format(debt), exact:format(others), theirs,
  string.format('%d', most)}
"""
)

# A server may spend what it was lent, also while Redis does not answer, until the loan expires. What it had put aside
# counts as spent if it is never heard of again.
# KEYS: the purse. ARGV: this server, its step's number, dollars since the last step, what it would be lent, what of its
# loan it keeps, the total, what it knows to be spent, milliseconds until the loan expires, what it has put aside.
_LEND = (
    _SOUND
    + """
local spent = math.max(read('spent', 0, ARGV[7]), tonumber(ARGV[7]))
if read('step ' .. ARGV[1], 0, '0') < tonumber(ARGV[2]) then spent = spent + ARGV[3] end
local others, all = 0, redis.call('HGETALL', KEYS[1])
for k = 1, #all, 2 do
  local server = string.match(all[k], '^loan (%S+)$')
  if server and server ~= ARGV[1] then
    local lent, aside, expires = string.match(all[k + 1], '(%S+) (%S+) (%S+)')
    lent, aside, expires = sound(lent, 0), sound(aside, 0), sound(expires, now)
    if lent and aside and expires then others = others + lent
    else
      spent = spent + (aside or 0)
      redis.call('HDEL', KEYS[1], all[k], 'step ' .. server)
    end
  end
end
local lent = math.max(math.min(tonumber(ARGV[4]), ARGV[6] - spent - others), tonumber(ARGV[5]))
redis.call('HSET', KEYS[1], 'spent', string.format('%.17g', spent), 'step ' .. ARGV[1], ARGV[2])
redis.call('HSET', KEYS[1], 'loan ' .. ARGV[1], string.format('%.17g %s %d', lent, ARGV[9], now + ARGV[8]))
return {string.format('%.17g', spent), string.format('%.17g', lent)}
"""
)


class ShareError(ValueError):
    """The store cannot be reached at the start; the message is one line without secrets."""


class _Sums(NamedTuple):
    """Questions that were closed, their cost and debt; of all servers also what the others have open."""

    asked: int = 0
    spent: float = 0.0
    debt: float = 0.0
    others: float = 0.0
    theirs: int = 0
    at_once: int = 0


class SharedController(BudgetController):
    """A `BudgetController` whose sums are those of all servers; `Share` carries them to the store and back."""

    def __init__(self, budget: float, price: float, **how: Any) -> None:
        super().__init__(budget, price, **how)
        self.number = 0  # of the last step
        self._all, self._sent, self._new = (
            _Sums(),
            _Sums(),
            _Sums(),
        )  # known there, perhaps on its way, closed since

    @property
    def known(self) -> _Sums:
        """The sums as the store last told them."""
        return self._all

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
        self.at_once = max(self.at_once, self.open_now + sums.theirs, sums.at_once)
        self._add_up()

    def _settle(self, cost: float, more: float) -> None:
        self._new = _Sums(self._new.asked + 1, self._new.spent + cost, self._new.debt + more)
        self._add_up()

    def _add_up(self) -> None:
        sums = self._all, self._sent, self._new
        self.asked, self.spent = sum(one.asked for one in sums), sum(one.spent for one in sums)
        self.closed = max(sum(one.debt for one in sums), self.floor)


class SharedPurse(Purse):
    """A `Purse` for several servers together: each spends what it was lent, `Share` carries it there and back."""

    def __init__(self, old: Purse) -> None:
        self.__dict__ |= vars(old)  # its file, and what that knows
        self.number, self.lent, self.until = 0, 0.0, 0.0
        self.known, self._sent, self._new = old.spent, 0.0, 0.0
        self.ask: Callable[[float], Awaitable[None]] | None = None

    @property
    def unsent(self) -> bool:
        """Whether something was paid that the store does not know."""
        return self._sent + self._new > 0

    async def more(self, most: float) -> None:
        """Be lent more, if there is."""
        if self.ask is not None and self.total < inf:
            await self.ask(most)

    def settle(self, most: float, cost: float) -> None:
        """Pay, and tell the others later."""
        super().settle(most, cost)
        self._new += cost

    def take(self, need: float) -> list[str | int]:
        """What to tell the store: the sum that was not confirmed once more, else all that was paid since."""
        if not self._sent:
            self.number += 1
            self._sent, self._new = self._new, 0.0
        room = self._room()
        wanted = self.reserved + need + (0.0 if self.total == inf else self.total * _LOAN)
        keeps = max(
            min(room, wanted), self.reserved
        )  # no more is put aside before the store has answered
        self.lent = keeps + self._sent + self._new
        amounts = (self._sent, wanted, keeps, min(self.total, 1e300), self.known)
        return [
            self.number,
            *map(repr, amounts),
            _LEASE,
            repr(self.reserved),
        ]

    def told(self, spent: float, lent: float) -> None:
        """The store has counted the step."""
        if not (0 <= spent < inf and 0 <= lent < inf):
            raise ValueError("the store holds no sums of ours")
        self.known, self._sent, self.lent, self.until = (
            spent,
            0.0,
            lent,
            monotonic() + _LEASE / 1000,
        )
        self.spent = spent + self._new

    def _room(self) -> float:
        if self.total == inf:
            return inf
        return self.lent * (1 + 1e-12) - self._sent - self._new if monotonic() < self.until else 0.0


class Share:
    """Carries a `SharedController` and a `SharedPurse`, the router's from now on, to Redis and back, for as long as
    ``async with`` lasts.

    Servers of the same router and model share the budget, those of the same model the total. Redis
    must answer at the start (`ShareError`); later that is borne."""

    def __init__(self, router: Router, url: str, model: str) -> None:
        old = router.controller
        self.controller = SharedController(
            old.budget, old.first_price, step=old.step, reach=old.reach
        )
        self.controller.low, self.controller.high, router.controller = (
            old.low,
            old.high,
            self.controller,
        )
        self.purse = router.purse = SharedPurse(router.purse)
        self.purse.ask = self._lend
        about = f"{model} {router.cost!r} {old.budget!r} {old.first_price!r} {old.step!r}"
        self.name, self.money = (_named(told) for told in (about, f"purse {model}"))
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
        self._step, self._lending = map(self._redis.register_script, (_STEP, _LEND))
        self._busy = asyncio.Lock()
        self._needed = 0.0  # dollars that the next loan is asked for
        self._next_loan: asyncio.Task | None = None  # not begun, so that more can be asked for
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
        while self.reached and (self.controller.unsent or self.purse.unsent):
            await self._told(if_unsent=True)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_BEAT)
            try:
                await self._told()
            except Exception as error:  # whatever it was, the next beat comes
                _LOG.error("%s while Redis was told; please report it", type(error).__name__)

    async def _told(self, if_unsent: bool = False) -> None:
        """One step, one at a time; where Redis does not answer, it is kept for later."""
        async with self._busy:
            if if_unsent and not (
                self.controller.unsent or self.purse.unsent
            ):  # another's step took ours along
                return
            try:
                await self._tell_sums()
                if self.purse.unsent or self.purse.total < inf or not self.reached:
                    await self._tell_money(0.0)
            except _UNREACHED as error:
                self._reaches(False, type(error).__name__)
            else:
                self._reaches(True)

    async def _lend(self, need: float) -> None:
        """Be lent so much more money; nothing, where Redis does not answer.

        All who ask while Redis is busy share one loan, so that a slow Redis delays nobody twice.
        """
        self._needed += need
        if self._next_loan is None:
            self._next_loan = asyncio.create_task(self._take_loan())
        await asyncio.shield(self._next_loan)

    async def _take_loan(self) -> None:
        async with self._busy:
            need = self._needed
            self._needed = 0.0
            self._next_loan = None
            with contextlib.suppress(*_UNREACHED):
                await self._tell_money(need)

    async def _tell_sums(self) -> None:
        controller, batch = self.controller, self.controller.take()
        amounts = map(repr, (batch.spent, batch.debt, controller.floor, controller.opened))
        told: list[str | int] = [
            self.server,
            controller.number,
            batch.asked,
            *amounts,
            controller.open_now,
            _LIFE,
        ]
        known = controller.known
        told += [known.asked, repr(known.spent), repr(known.debt)]
        told += [repr(controller.open_cost), controller.at_once]
        keys = [self.name, f"{self.name}:servers", f"{self.name}:step:{self.server}"]
        asked, spent, debt, others, theirs, most = await self._step(keys, told)
        sums = _Sums(int(asked), float(spent), float(debt), float(others), int(theirs), int(most))
        if sums.asked < 0 or sums.spent < 0 or sums.theirs < 0 or not all(map(isfinite, sums)):
            raise ValueError("the store holds no sums of ours")
        controller.told(sums)

    async def _tell_money(self, need: float) -> None:
        told = self.purse.take(need)
        spent, lent = await self._lending([f"{self.money}"], [self.server, *told])
        self.purse.told(float(spent), float(lent))

    def _reaches(self, reached: bool, why: str = "") -> None:
        if self.reached != reached and self.controller.number > 1:
            told = (
                "Redis answers again"
                if reached
                else f"Redis does not answer ({why}): each server goes on alone"
            )
            _LOG.warning(told)
        self.reached = reached


def _named(told: str) -> str:
    return f"adalib:{{{hashlib.sha256(told.encode()).hexdigest()[:16]}}}"
