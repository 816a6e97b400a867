"""What asking may cost: a bound before anything is sent, and a ceiling that is held.

A request is bounded by what it may read and write: the bytes of its prompt, since no token is
shorter than a byte, and ``max_tokens``. It is booked at that bound before it is sent, and at what
the endpoint reports once the answer is there. An answer that never came stays booked whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf, sqrt
from typing import Annotated, Any

import cyclopts

from adalib.datasets.responses import Prices

_PER_TURN = 16  # tokens that a chat template may add to a turn, at most
_PER_PROMPT = 64  # and to a prompt, such as a system prompt of its own
_USUAL_BYTES = 4  # of a token, for what is expected
_NORMAL = 1.96  # standard deviations of a 95% range


def _pair(type_: Any, tokens: Sequence[cyclopts.Token]) -> tuple[float, ...]:
    """Read "0.15,0.60" on a command line."""
    return tuple(float(word) for word in tokens[0].value.split(","))


#: Dollars for a million tokens read and written, as ``--prices 0.15,0.60`` gives them.
PricePair = Annotated[tuple[float, ...], cyclopts.Parameter(converter=_pair, n_tokens=1)]


class CeilingError(ValueError):
    """The next request could cost more than the ceiling leaves; the message is one line."""


@dataclass(frozen=True)
class Bill:
    """Answers, and the tokens that are read and written for them.

    Examples
    --------
    >>> (2 * Bill(1, 100, 50)).dollars(Prices(0.15, 0.60))
    9e-05
    """

    answers: float = 0.0
    read: float = 0.0
    written: float = 0.0

    def __add__(self, other: Bill) -> Bill:
        return Bill(
            self.answers + other.answers, self.read + other.read, self.written + other.written
        )

    def __rmul__(self, times: float) -> Bill:
        return Bill(times * self.answers, times * self.read, times * self.written)

    def dollars(self, prices: Prices) -> float:
        """Return what it costs at these prices."""
        return (self.read * prices.input + self.written * prices.output) / 1e6


def total(bills: Iterable[Bill]) -> Bill:
    """Add bills up."""
    return sum(bills, Bill())


def at_most(messages: Sequence[Mapping[str, str]], max_tokens: int) -> Bill:
    """Return the most that one answer to these messages can take.

    >>> at_most([{"role": "user", "content": "3 + 4?"}], 50).written
    50.0
    """
    turns = sum(len(turn["content"].encode()) + _PER_TURN for turn in messages)
    return Bill(1.0, float(turns + _PER_PROMPT), float(max_tokens))


def usual_read(messages: Sequence[Mapping[str, str]]) -> float:
    """Return about how many tokens these messages have."""
    return sum(len(turn["content"].encode()) for turn in messages) / _USUAL_BYTES


def billed(answer: Mapping[str, Any] | Any, most: Bill) -> Bill:
    """Return what an answer took; the most that it could where the endpoint does not report it."""
    read, written = (
        answer.get(name) if isinstance(answer, Mapping) else getattr(answer, name)
        for name in ("prompt_tokens", "tokens")
    )
    return Bill(
        1.0, most.read if read is None else read, most.written if written is None else written
    )


def checked_prices(prices: tuple[float, ...] | None, most_dollars: float | None) -> Prices | None:
    """Return the prices; ValueError where a ceiling has none, or is no amount."""
    if most_dollars is not None and not 0 < most_dollars < inf:
        raise ValueError(f"most_dollars is {most_dollars}; give dollars, more than 0")
    if most_dollars is not None and prices is None:
        raise ValueError(
            "a ceiling in dollars needs prices: --prices INPUT,OUTPUT, in dollars for a million "
            "tokens of the prompt and of the answer, such as 0.15,0.60"
        )
    if prices is not None and len(prices) != 2:
        raise ValueError(f"the prices are {prices}; give those of the prompt and of the answer")
    return None if prices is None else Prices(*prices)


def spread(sd: float, count: float, learned_from: float = inf) -> float:
    """Return half of the 95% range of a sum of so many draws.

    Their mean is known from ``learned_from`` earlier ones.

    >>> round(spread(2.0, 100), 1)
    39.2
    """
    return _NORMAL * sd * sqrt(count * (1 + count / learned_from))


def table(rows: Mapping[str, Bill], prices: Prices | None) -> str:
    """Return a small table of bills, in answers, tokens and dollars."""
    lines = [f"{'':10}{'answers':>12}{'tokens read':>14}{'written':>14}{'dollars':>12}"]
    for name, bill in rows.items():
        cost = f"{bill.dollars(prices):>12.4g}" if prices else f"{'–':>12}"
        line = f"{name:10}{bill.answers:>12,.0f}{bill.read:>14,.0f}{bill.written:>14,.0f}"
        lines.append(line + cost)
    return "\n".join(lines)


class Purse:
    """Dollars for requests in flight: none is sent that could pass the ceiling.

    Examples
    --------
    >>> purse = Purse(1.0, Prices(0, 1e6))
    >>> async def ask():
    ...     async with purse.reserved(Bill(1, 0, 1)) as settle:
    ...         settle(Bill(1, 0, 0.25))
    ...     return purse.left
    >>> asyncio.run(ask())
    0.75
    """

    def __init__(self, most: float, prices: Prices | None) -> None:
        self.left = most
        self.is_limited = most < inf
        self._prices = prices
        self._in_flight = 0
        self._settled = asyncio.Condition()

    @asynccontextmanager
    async def reserved(self, bill: Bill) -> AsyncIterator[Callable[[Bill], None]]:
        """Hold what a request can cost until it is settled; wait for others where it must.

        Raises CeilingError if nothing is in flight that could leave enough.
        """
        dollars = 0.0 if self._prices is None else bill.dollars(self._prices)
        async with self._settled:
            while dollars > self.left:
                if not self._in_flight:
                    raise CeilingError(
                        f"the next answer can cost ${dollars:.4g}, and ${self.left:.4g} of the "
                        "ceiling is left; raise --most-dollars to go on"
                    )
                await self._settled.wait()
            self.left -= dollars
            self._in_flight += 1

        def settle(actual: Bill) -> None:
            if self._prices is not None:
                self.left += dollars - actual.dollars(self._prices)

        try:
            yield settle
        finally:
            self._in_flight -= 1
            async with self._settled:
                self._settled.notify_all()
