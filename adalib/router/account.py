"""What one open question costs, in money and in the policy's unit, booked once per request.

Before an answer is asked for, the most that it can cost is put aside. When it is there, what it did
cost is booked, and the rest is free again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adalib.llm.reply import Answer
from adalib.router.asking import Allocator, Asking

_TURN = 16  # tokens that a turn's own marks may cost, on top of its text


class Account:
    """The sums of one question.

    Parameters
    ----------
    by : Allocator
        Whose purse pays, and whose controller holds the budget.
    messages : sequence of dict
        What is sent with every request.
    asking : Asking
        The limits and the prices.

    Attributes
    ----------
    most_read, most_money, most_cost : int, float, float
        The most that one answer can read (in tokens), and can cost.
    cost, money : float
        Booked so far, in the policy's unit and in dollars.
    tokens, prompt_tokens : int
        Tokens written and read.
    bill : list of float
        Dollars for each answer that came in.
    cancelled, cancelled_tokens : int
        Answers that were cancelled, and what they had written.
    """

    def __init__(self, by: Allocator, messages: Sequence[dict[str, Any]], asking: Asking) -> None:
        self.by = by
        self.asking = asking
        # No text has more tokens than bytes, and all that is sent may count.
        sent = json.dumps([messages, asking.extra], ensure_ascii=False).encode()
        self.most_read = len(sent) + _TURN * len(messages)
        self.most_money = asking.prices.most(self.most_read, asking.max_tokens)
        self.most_cost = by.cost_of(asking.max_tokens)
        self.cost = 0.0
        self.money = 0.0
        self.tokens = 0
        self.prompt_tokens = 0
        self.bill: list[float] = []
        self.cancelled = 0
        self.cancelled_tokens = 0
        self._held_cost = 0.0  # what is booked, and the most for each request under way

    def room(self) -> int:
        """Return how many further answers the question's cap allows, with those under way."""
        left = self.asking.cap - self._held_cost
        return int(min(left / self.most_cost * (1 + 1e-9), 1e9))

    async def put_aside(self, wanted: int) -> int:
        """Put money aside for as many of the wanted answers as there is, and return how many."""
        purse = self.by.purse
        held = sum(purse.reserve(self.most_money) for _ in range(wanted))
        if held < wanted:
            await purse.more(self.most_money * (wanted - held))
            held += sum(purse.reserve(self.most_money) for _ in range(wanted - held))
        return held

    def begin(self) -> None:
        """Note that a request is under way, for which money was put aside."""
        self._hold(self.most_cost)

    def take_in(self, answer: Answer) -> None:
        """Book an answer that came in, as the endpoint reports it."""
        asking = self.asking
        written = asking.max_tokens if answer.tokens is None else answer.tokens
        read = self.most_read if answer.prompt_tokens is None else answer.prompt_tokens
        dollars = asking.prices.of(answer, self.most_read, asking.max_tokens)
        self.bill.append(dollars)
        self._count(written, read)
        self.by.tally.samples += 1
        # What an endpoint wrote beyond its limit no price could have saved.
        self._settle(dollars, self.by.cost_of(min(written, asking.max_tokens)))

    def cancel(self, written: int, read: int) -> None:
        """Book an answer that was cancelled after it had written so many tokens."""
        asking = self.asking
        partial = Answer("", "cancelled", written, read)
        self._count(written, read)
        self.cancelled += 1
        self.cancelled_tokens += written
        tally = self.by.tally
        tally.cancelled += 1
        tally.cancelled_tokens += written
        dollars = asking.prices.of(partial, self.most_read, asking.max_tokens)
        self._settle(dollars, self.by.cost_of(written))

    def book_most(self) -> None:
        """Book the most for a request that may be on the bill."""
        self._settle(self.most_money, self.most_cost)

    def book_nothing(self) -> None:
        """Free what was put aside for a request that was refused or never sent."""
        self._settle(0.0, 0.0)

    def close(self) -> None:
        """Let go of what the ledger still holds for this question."""
        self._hold(-self._held_cost)

    def _count(self, written: int, read: int) -> None:
        """Add tokens to the sums of the question and of the server."""
        self.tokens += written
        self.prompt_tokens += read
        self.by.tally.tokens += written
        self.by.tally.prompt_tokens += read

    def _settle(self, dollars: float, cost: float) -> None:
        """Book one request, for which the most was put aside."""
        self.by.purse.settle(self.most_money, dollars)
        self.money += dollars
        self.by.tally.money += dollars
        self.cost += cost
        self.by.tally.cost += cost
        # Booked costs stay with the ledger as well, until the question is closed.
        self._hold(cost - self.most_cost)

    def _hold(self, cost: float) -> None:
        """Change what the ledger holds for this question."""
        self._held_cost += cost
        self.by.controller.hold(cost)
