"""The auction: find the price at which runs on many machines spend a budget, exactly.

The auctioneer announces a price, every run answers with one number, what it would spend, and the
sum shows whether the price was too low. A float has 64 bits, so a few dozen rounds of halving find
the one price at which the budget is crossed, to the last bit. Questions that tie at that price are
served in the order of the rows; the first one that no longer fits is the one that a mixed
allocation splits. Costs are added exactly, so neither the number of runs nor their order changes a
digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from adalib.scale.runs import Run
from adalib.solve.envelope import Cut
from adalib.solve.exact import DIGITS, exact_mean, most_within

# A budget this close below the cheapest allocation is the cheapest allocation, rounded.
_SAME = 10.0**-DIGITS


class Market:
    """All runs of a table, in the order of the rows."""

    #: Prices announced in a round for each budget; more save rounds where an answer travels far.
    prices_per_round = 1

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = sorted(runs, key=lambda run: run.first)

    def ask(self, method: Literal["spent", "tied"], prices: list[float]) -> list[list[Any]]:
        """Return, for each price, what this method of `Run` returns for every run."""
        return [[getattr(run, method)(price) for run in self.runs] for price in prices]


class Clearing(NamedTuple):
    """Where the market clears for one budget; costs are exact, in units."""

    budget: float
    price: float  # at which the budget is crossed; 0 if everything fits
    cuts: tuple[Cut, ...]  # for `labels_after`, one per run in the order of the rows
    spent: int  # cost of the allocation
    split_run: int  # which run holds the question to split; -1 if there is none
    split_cost: int  # cost of that question's step
    rounds: int  # how often prices were announced


def clear(market: Market, budgets: Sequence[float]) -> list[Clearing]:
    """Find the price at which each budget is crossed, and who is served at that price."""
    rows = sum(run.rows for run in market.runs)
    start = sum(run.start for run in market.runs)
    limits = [_limit(budget, start, rows) for budget in budgets]
    prices, rounds = _clearing_prices(market, limits)
    spent_by_run = market.ask("spent", prices)
    tied_by_run = market.ask("tied", prices)
    clearings = []
    for number, budget in enumerate(budgets):
        price = prices[number]
        spent = sum(spent_by_run[number])
        counts = []
        split_run = -1
        split_cost = 0
        # The tied steps get what is left, run by run; the first that does not fit is to be split.
        for place, (run, (count, cost)) in enumerate(
            zip(market.runs, tied_by_run[number], strict=True)
        ):
            room = limits[number] - spent
            if split_run >= 0:
                count = cost = 0
            elif cost > room:
                split_run = place
                count, cost, split_cost = run.fill(price, room)
            spent += cost
            counts.append(count)
        cuts = tuple((-price, count) for count in counts)
        clearings.append(
            Clearing(float(budget), price, cuts, start + spent, split_run, split_cost, rounds)
        )
    return clearings


def _limit(budget: float, start: int, rows: int) -> int:
    """Exact cost that the steps may have, after the cheapest columns are paid."""
    if not np.isfinite(budget):
        raise ValueError(f"the budget is {budget}; give a finite number")
    least = exact_mean(start, rows)
    if budget < least * (1 - _SAME):
        raise ValueError(
            f"the budget is {budget!r}; the cheapest allocation costs {least!r}, give at least that"
        )
    return max(most_within(float(budget), rows) - start, 0)


def _clearing_prices(market: Market, limits: list[int]) -> tuple[list[float], int]:
    """Return the lowest price whose spending is within each limit, and the number of rounds.

    Positive floats are ordered as their bits are, read as integers: bisect those integers.
    """
    ranges = [run.price_range for run in market.runs if run.price_range]
    total = sum(run.total for run in market.runs)
    within = []  # bits of a price that spends at most the limit
    beyond = []  # bits of a price that spends more
    for limit in limits:
        if total > limit:
            within.append(_as_bits(max(highest for highest, _ in ranges)))
            beyond.append(_as_bits(min(lowest for _, lowest in ranges)) - 1)
        else:
            within.append(0)
            beyond.append(-1)
    rounds = 0
    while True:
        announced = [
            (number, bits)
            for number in range(len(limits))
            for bits in _between(beyond[number], within[number], market.prices_per_round)
        ]
        if not announced:
            return [_as_price(bits) for bits in within], rounds
        rounds += 1
        answers = market.ask("spent", [_as_price(bits) for _, bits in announced])
        for (number, bits), spent_by_run in zip(announced, answers, strict=True):
            if sum(spent_by_run) <= limits[number]:
                within[number] = min(within[number], bits)
            else:
                beyond[number] = max(beyond[number], bits)


def _between(low: int, high: int, count: int) -> list[int]:
    """At most ``count`` integers strictly between two others, evenly spaced."""
    candidates = {low + (high - low) * part // (count + 1) for part in range(1, count + 1)}
    return sorted(bits for bits in candidates if low < bits < high)


def _as_bits(price: float) -> int:
    """Read the 64 bits of a price as an integer."""
    return int(np.float64(price).view(np.int64))


def _as_price(bits: int) -> float:
    """Read 64 bits as a price."""
    return float(np.int64(bits).view(np.float64))
