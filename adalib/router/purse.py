"""Money for votes: what tokens cost, a total that is never passed, and the file that remembers it.

Before an answer is asked for, the most that it can cost is put aside; when it is there, what it did
cost is booked and the rest is free again. So what is spent and what is under way never exceed the
total together. A `Ledger` keeps these sums, and those of the budget, over restarts.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from math import inf
from pathlib import Path

from adalib.llm.reply import Answer

_ROUNDING = 1e-12  # relative: sums of prices are floats
_LINE = 512  # bytes of a ledger, always as many


@dataclass(frozen=True)
class Prices:
    """Dollars per million tokens.

    Attributes
    ----------
    read, written : float
        For tokens of the prompt and of the answer.
    cached : float or None
        For tokens of the prompt that the endpoint has in its cache; None: as for others.
    """

    read: float = 0.0
    written: float = 0.0
    cached: float | None = None

    def __post_init__(self) -> None:
        for name in ("read", "written", "cached"):
            price = getattr(self, name)
            if price is not None and not 0 <= price < inf:
                raise ValueError(f"the price of a token {name} is {price}; give dollars, 0 or more")

    @property
    def any(self) -> bool:
        """Whether anything costs."""
        return bool(self.read or self.written or self.cached)

    def most(self, read: int, written: int) -> float:
        """What so many tokens can cost at most."""
        return (read * max(self.read, self.cached or 0.0) + written * self.written) / 1e6

    def of(self, answer: Answer, most_read: int, most_written: int) -> float:
        """What an answer cost: as the endpoint reports it, else by its tokens, else at most."""
        if answer.cost is not None:
            return answer.cost
        read = most_read if answer.prompt_tokens is None else answer.prompt_tokens
        written = most_written if answer.tokens is None else answer.tokens
        cached = answer.cached_tokens
        cached_price = self.read if self.cached is None else self.cached
        new = read - cached
        return (new * self.read + cached * cached_price + written * self.written) / 1e6


@dataclass
class Tally:
    """All that was asked since the start, whatever became of it."""

    samples: int = 0
    cost: float = 0.0
    money: float = 0.0
    tokens: int = 0
    prompt_tokens: int = 0
    cancelled: int = 0
    cancelled_tokens: int = 0


@dataclass
class Ledger:
    """A file of one line that keeps the sums of a server or of a routed folder over restarts.

    It is opened by one process at a time. What was under way when a process died counts as spent
    when the file is opened again, money and cost alike, for it may be on the bill.

    Attributes
    ----------
    spent, reserved : float
        Dollars booked, and dollars put aside for answers under way.
    unit : str
        The unit of the costs below, "" before the first.
    asked, cost, debt : int, float, float
        Questions that were closed, their cost, and what the budget is owed for them.
    open_cost : float
        What the questions under way have cost, or may.
    at_once : int
        The most questions that were ever open at a time.
    """

    path: str | os.PathLike
    spent: float = 0.0
    reserved: float = 0.0
    unit: str = ""
    asked: int = 0
    cost: float = 0.0
    debt: float = 0.0
    open_cost: float = 0.0
    at_once: int = 0

    def __post_init__(self) -> None:
        self._file = self._opened()
        try:
            text = os.pread(self._file, _LINE, 0)
            if text.strip():
                self._read(text)
        except ValueError:
            self.close()
            raise
        self.write()  # while a mistake can still be told to the user

    def write(self) -> None:
        """Write one line of fixed length: a killed process leaves the old line or the new."""
        figures = {name: getattr(self, name) for name in _FIGURES}
        os.pwrite(self._file, json.dumps(figures).ljust(_LINE - 1).encode() + b"\n", 0)

    def close(self) -> None:
        """Let another process open the file."""
        os.close(self._file)

    def use_unit(self, unit: str) -> None:
        """Count costs in a unit; refuse one that is not the ledger's."""
        if self.unit not in ("", unit):
            raise ValueError(
                f"{self.path}: counts {self.unit}, and this router {unit}; give it another ledger"
            )
        self.unit = unit

    def _opened(self) -> int:
        """Open and lock the ledger's file; raise ValueError if another server has it."""
        path = Path(self.path)
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
            why = f"cannot be written ({error.strerror})"
            raise ValueError(f"{path}: {why}; name another file") from None
        return file

    def _read(self, text: bytes) -> None:
        """Read the figures of the last run; what was under way counts as spent."""
        try:
            figures = json.loads(text)
            if "held" in figures:  # as versions before 0.3 called it
                figures["reserved"] = figures.pop("held")
            numbers = {name: float(figures.get(name, 0)) for name in _FIGURES if name != "unit"}
            if not all(-inf < number < inf for number in numbers.values()):
                raise ValueError
            if any(number < 0 for name, number in numbers.items() if name != "debt"):
                raise ValueError
        except (ValueError, TypeError, AttributeError):
            raise ValueError(f"{self.path}: is not what adalib writes; mend or remove it") from None
        self.unit = str(figures.get("unit", ""))
        self.asked = int(numbers["asked"])
        self.at_once = int(numbers["at_once"])
        # What was under way when the last process ended may be on the bill.
        self.spent = numbers["spent"] + numbers["reserved"]
        self.cost = numbers["cost"] + numbers["open_cost"]
        self.debt = numbers["debt"] + numbers["open_cost"]


_FIGURES = ("spent", "reserved", "unit", "asked", "cost", "debt", "open_cost", "at_once")


class Purse:
    """A sum of money that is never passed.

    Parameters
    ----------
    total : float
        Dollars that may be spent, infinite by default.
    ledger : Ledger, optional
        Where what is spent is kept over restarts.

    Examples
    --------
    >>> purse = Purse(1.0)
    >>> purse.reserve(0.7), purse.reserve(0.7)
    (True, False)
    >>> purse.settle(0.7, 0.2)
    >>> purse.spent, purse.reserve(0.7)
    (0.2, True)
    """

    def __init__(self, total: float = inf, ledger: Ledger | None = None) -> None:
        if not total > 0:
            raise ValueError(f"the total is {total}; give a positive number of dollars")
        self.total = float(total)
        self.spent = 0.0 if ledger is None else ledger.spent
        self.reserved = 0.0
        self._ledger = ledger

    def __str__(self) -> str:
        return f"${self.spent:.4f} of ${self.total:.4f}"

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self.total * (1 - _ROUNDING)

    def reserve(self, most: float) -> bool:
        """Put ``most`` aside; False, and nothing is put aside, if that could pass the total."""
        if self.reserved + most > self._room():
            return False
        self.reserved += most
        self._keep()
        return True

    async def more(self, most: float) -> None:
        """Ask for more room, where several servers share the sum."""

    def settle(self, most: float, cost: float) -> None:
        """Book ``cost`` for what ``most`` was put aside for, and free the rest."""
        self.reserved = max(self.reserved - most, 0.0)
        self.spent += cost
        self._keep()

    def _room(self) -> float:
        """What may be put aside in all."""
        return self.total * (1 + _ROUNDING) - self.spent

    def _keep(self) -> None:
        """Write the sums to the ledger."""
        if self._ledger is not None:
            self._ledger.spent = self.spent
            self._ledger.reserved = self.reserved
            self._ledger.write()
