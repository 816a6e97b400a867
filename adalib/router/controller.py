r"""A budget that is held: the price moves with what was really spent.

A question that cost more than the budget raises the price and one that cost less lowers it, by a step in its logarithm:

.. math:: \log \lambda_{t+1} = \log \lambda_t + \eta\,\frac{c_t - B}{B}

So the price is a function of the debt, the sum of all :math:`c_t - B`. From some price on every question gets the
cheapest rule, and only open questions can raise the debt, so it stays below `BudgetController.bound` (chapter 10).
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import exp, inf, log
from pathlib import Path
from typing import NamedTuple

__all__ = ["BudgetController", "Purse", "Reach", "Tally"]

STEP = 0.2
_PERIODS = {"": "", "hour": "%Y-%m-%d %H", "day": "%Y-%m-%d", "month": "%Y-%m"}
_LINE = 256  # bytes of the line in which a purse is kept
_MEMORY = 20  # budgets that may lie unspent: more is let go, or a quiet month would pay for a careless week


class Reach(NamedTuple):
    """What a price can do to the cost of a question: all that a bound on overspending needs."""

    high: float  # price from which every question gets the cheapest rule
    cheapest: float  # what a question costs by that rule, no more than the budget
    most: float  # what no question passes
    turn: float = inf  # the dearest round, where open questions begin none once the price is at ``high``


class BudgetController:
    """Keep the average cost of a question at a budget by moving the price. Explained in chapter 10, "Deploy".

    An open question counts with what it should cost, or with what it has cost if that is more. With a ``reach``,
    questions that pass the budget by the cheapest rule raise the debt up to the `bound`; the rest is written off.

    >>> controller = BudgetController(budget=4, price=0.02)
    >>> controller.open(4); controller.close(4, cost=8)
    >>> round(controller.price, 4), controller.average
    (0.0244, 8.0)
    """

    def __init__(self, budget: float, price: float, *, step: float = STEP, reach: Reach | None = None) -> None:
        for name, value in (("budget", budget), ("price", price), ("step", step)):
            if not 0 < value < inf:
                raise ValueError(f"the {name} is {value}; give a positive number")
        self.budget, self.first_price, self.step, self.reach = float(budget), float(price), float(step), reach
        self.low, self.high = 0.0, inf  # the price stays between them; below ``reach.high``, there is no bound
        self.asked, self.spent = 0, 0.0  # questions that were closed, and what they cost
        self.apart, self.apart_spent = 0, 0.0  # the same of questions that no price of ours decided
        # What questions cost above their budgets: those closed, those open, those that other servers have open.
        self.closed = self.opened = self.others = 0.0
        self.open_now, self.at_once = 0, 0  # questions open now, and at most so far

    @property
    def debt(self) -> float:
        """What was spent above the budget, open questions as they count."""
        return self.closed + self.opened + self.others

    @property
    def price(self) -> float:
        """What the next unit of cost must bring, in accuracy."""
        # The exponent is bounded only to stay a float: no price beyond e^600 decides anything.
        price = exp(min(log(self.first_price) + self.step * self.debt / self.budget, 600.0))
        return min(max(price, self.low), self.high)

    @property
    def brakes(self) -> bool:
        """Whether no further round of an open question is worth the price."""
        return self.reach is not None and self.price >= self.reach.high

    @property
    def average(self) -> float | None:
        """Cost of a question so far; None before the first."""
        return self.spent / self.asked if self.asked else None

    @property
    def let_go(self) -> float:
        """Unspent budget that was forgotten, less debt that was written off: costs less budgets are closed - let_go."""
        return self.closed - (self.spent - self.asked * self.budget)

    def bound(self, at_once: int | None = None) -> float:
        """The most by which costs can ever pass their budgets in sum, with ``at_once`` open (as many as were so far).

        >>> BudgetController(3, 0.02, reach=Reach(high=0.02, cheapest=1, most=40)).bound(16)
        622.0
        """
        if self.reach is None or self.high < self.reach.high:
            return inf
        at_once = at_once or max(self.at_once, 1)
        high, cheapest, most, turn = self.reach
        rises = self.budget / self.step * log(max(high / self.first_price, 1.0))
        runs_on = (at_once - 1) * (most - cheapest) + max(most - self.budget, 0.0)
        return rises + min(runs_on, at_once * max(turn, self.budget - cheapest))

    def open(self, expected: float) -> None:
        """Begin a question that should cost ``expected``."""
        self.opened += expected - self.budget
        self.open_now += 1
        self.at_once = max(self.at_once, self.open_now)

    def rise(self, counted: float, cost: float) -> float:
        """What an open question counts with that was counted with ``counted`` and has cost ``cost`` by now."""
        self.opened += max(cost - counted, 0.0)
        return max(cost, counted)

    def close(self, counted: float, cost: float) -> None:
        """End a question that was counted with ``counted`` and cost ``cost``."""
        if not 0 <= cost < inf:
            raise ValueError(f"the cost is {cost}; give a number, 0 or more")
        self.drop(counted)
        more = cost - self.budget
        if self.reach is not None and counted <= self.reach.cheapest:  # no price could have saved what it cost
            more = min(more, max(self.bound() - self.closed, 0.0))
        self._settle(cost, more)

    def drop(self, counted: float) -> None:
        """End a question that was counted with ``counted`` and does not count: as if it never came."""
        self.open_now -= 1
        self.opened = self.opened - (counted - self.budget) if self.open_now > 0 else 0.0

    def aside(self, cost: float) -> None:
        """Note a question apart whose cost something else than our price decided: it moves nothing."""
        self.apart, self.apart_spent = self.apart + 1, self.apart_spent + cost

    def resume(self, asked: int, spent: float) -> None:
        """Go on where an earlier run ended."""
        self.asked, self.spent = asked, spent
        self.closed = min(max(spent - asked * self.budget, self.floor), self.bound())

    @property
    def floor(self) -> float:
        """The lowest debt of closed questions: the most that may lie unspent, and what open ones will cost."""
        return -_MEMORY * self.budget - max(self.opened + self.others, 0.0)

    def _settle(self, cost: float, more: float) -> None:
        self.asked, self.spent = self.asked + 1, self.spent + cost
        self.closed = max(self.closed + more, self.floor)


@dataclass
class Tally:
    """All that was asked since the start, whatever became of it: what the metrics tell, and what the bill will say."""

    samples: int = 0
    cost: float = 0.0
    money: float = 0.0
    tokens: int = 0
    prompt_tokens: int = 0


class Purse:
    """A sum of money that is never passed: what an answer can cost at most is put aside before it is asked.

    With a ``period`` ("hour", "day" or "month", by UTC) the sum is there anew in each. With a ``file`` what was spent
    outlives the server; what was put aside when it died counts as spent, for it may be on the bill.
    """

    def __init__(self, total: float = inf, period: str = "", file: str | os.PathLike | None = None) -> None:
        if not total > 0:
            raise ValueError(f"the total is {total}; give a positive sum")
        if period not in _PERIODS:
            raise ValueError(f"the total's period is {period!r}; choose {', '.join(filter(None, _PERIODS))} or none")
        self.total, self.period, self.spent, self.reserved = float(total), period, 0.0, 0.0
        self.now = self._current()
        self._file = None if file is None else self._opened(Path(file))
        self._write()  # while one may still be refused

    def __str__(self) -> str:
        return f"${self.spent:.4f} of ${self.total:.4f}" + (f" this {self.period}" if self.period else "")

    @property
    def renews_in(self) -> float | None:
        """Seconds until the sum is there anew, None where it never is."""
        if not self.period:
            return None
        now = datetime.now(UTC)
        begun = now.replace(hour=now.hour if self.period == "hour" else 0, minute=0, second=0, microsecond=0)
        if self.period == "month":
            return ((begun.replace(day=28) + timedelta(days=4)).replace(day=1) - now).total_seconds()
        return (begun + timedelta(hours=1 if self.period == "hour" else 24) - now).total_seconds()

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        self._turn()
        return self.spent >= self.total * (1 - 1e-12)

    def reserve(self, most: float) -> bool:
        """Put ``most`` aside; False, and nothing is put aside, where that could pass the total."""
        self._turn()
        if self.reserved + most > self._room():
            return False
        self.reserved += most
        self._write()
        return True

    async def more(self, most: float) -> None:
        """Ask for more room, where others share the sum."""

    def settle(self, most: float, cost: float) -> None:
        """Pay ``cost`` for what ``most`` was put aside for, and free the rest."""
        self._turn()
        self.reserved = max(self.reserved - most, 0.0)
        self.spent += cost
        self._write()

    def _room(self) -> float:
        return self.total * (1 + 1e-12) - self.spent

    def _current(self) -> str:
        return datetime.now(UTC).strftime(_PERIODS[self.period])

    def _turn(self) -> None:
        """Begin a new period when it is time."""
        if self.period and (now := self._current()) != self.now:
            self.now, self.spent = now, 0.0

    def _opened(self, path: Path) -> int:
        """Read what earlier servers spent, and keep others out of the file."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            with contextlib.suppress(ModuleNotFoundError):  # not every system has such locks
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            mend = "give each its own file, and share by Redis"
            raise ValueError(f"{path}: another server writes here; {mend}") from None
        except OSError as error:
            raise ValueError(f"{path}: cannot be written ({error.strerror}); name another file") from None
        text = os.pread(file, _LINE, 0)
        if text.strip():
            try:
                kept = json.loads(text)
                spent = float(kept["spent"]) + float(kept["held"])
                if not 0 <= spent < inf:
                    raise ValueError
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"{path}: is not what adalib writes; mend or remove it") from None
            self.spent = spent if kept.get("period") == self.now else 0.0
        return file

    def _write(self) -> None:
        """One line, always as long, in one write: a server that is killed leaves the old one or the new."""
        if self._file is not None:
            line = json.dumps({"period": self.now, "spent": self.spent, "held": self.reserved})
            os.pwrite(self._file, line.ljust(_LINE - 1).encode() + b"\n", 0)
