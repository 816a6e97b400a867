r"""A budget that is held: the price moves with what was really spent.

Questions come one by one, and from tomorrow's mix. The slope of the dual of chapter 4 still says which way to go: a
question that cost more than the budget raises the price and one that cost less lowers it, by a step in its logarithm:

.. math:: \log \lambda_{t+1} = \log \lambda_t + \eta\,\frac{c_t - B}{B}

Added up over T questions, all prices between cancel, so the average is off by as much as the price had to move:

.. math:: \frac{\bar c_T}{B} - 1 = \frac{\log(\lambda_T / \lambda_0)}{\eta\,T}

A larger step forgets the past sooner, and lets the price shake more with every question.
"""

from __future__ import annotations

from collections import deque
from math import exp, inf, log
from typing import NamedTuple

__all__ = ["BudgetController", "Moment", "Purse"]

STEP = 0.2
_MEMORY = 100  # budgets that may lie unspent: more is let go, or a quiet month would pay for a careless week
_PATH = 2000  # moments kept for a picture; a server runs for ever, its memory must not grow


class Moment(NamedTuple):
    """Where the controller stood after a question."""

    asked: int
    price: float
    average: float


class BudgetController:
    """Keep the average cost of a question at a budget by moving the price.

    While a question is open it counts with what it is expected to cost, so that sixty questions at a time do not all
    run at a price that knows of none of them. ``price`` is where to begin: what meets the budget on training questions.
    A question that costs twice the budget moves it by a factor of e^step. Explained in chapter 11, "Deploy".

    >>> controller = BudgetController(budget=4, price=0.02)
    >>> controller.open(4); controller.close(4, cost=8)
    >>> round(controller.price, 4), controller.average
    (0.0244, 8.0)
    """

    def __init__(self, budget: float, price: float, *, step: float = STEP) -> None:
        for name, value in (("budget", budget), ("price", price), ("step", step)):
            if not 0 < value < inf:
                raise ValueError(f"the {name} is {value}; give a positive number")
        self.budget, self.first_price, self.step = float(budget), float(price), float(step)
        self.asked, self.spent = 0, 0.0  # questions that were closed, and what they cost
        self.debt = 0.0  # what was spent above the budget, open questions as expected
        self.floor = -_MEMORY * self.budget  # the most that may lie unspent
        self.path: deque[Moment] = deque(maxlen=_PATH)

    @property
    def price(self) -> float:
        """What the next unit of cost must bring, in accuracy."""
        # The exponent is bounded only to stay a float: no price beyond e^600 decides anything.
        return exp(min(log(self.first_price) + self.step * self.debt / self.budget, 600.0))

    @property
    def average(self) -> float | None:
        """Cost of a question so far; None before the first."""
        return self.spent / self.asked if self.asked else None

    def open(self, expected: float) -> None:
        """Begin a question that should cost ``expected``."""
        self._owe(expected - self.budget)

    def close(self, expected: float, cost: float) -> None:
        """End a question that was opened with ``expected`` and cost ``cost``."""
        if not 0 <= cost < inf:
            raise ValueError(f"the cost is {cost}; give a number, 0 or more")
        self._count(cost)
        self._owe(cost - expected)
        self.path.append(Moment(self.asked, self.price, self.spent / self.asked))

    def drop(self, expected: float) -> None:
        """End a question that was opened with ``expected`` and of which nothing was asked: as if it never came."""
        self._owe(self.budget - expected)

    def resume(self, asked: int, spent: float) -> None:
        """Go on where an earlier run ended."""
        self.asked, self.spent, self.debt = asked, spent, 0.0
        self._owe(spent - asked * self.budget)

    def _count(self, cost: float) -> None:
        self.asked, self.spent = self.asked + 1, self.spent + cost

    def _owe(self, more: float) -> None:
        self.debt = max(self.debt + more, self.floor)


class Purse:
    """A sum of money that is never passed: what an answer can cost at most is put aside before it is asked.

    >>> purse = Purse(1.0)
    >>> purse.reserve(0.7), purse.reserve(0.7)
    (True, False)
    >>> purse.settle(0.7, 0.2)
    >>> purse.reserve(0.7), purse.spent
    (True, 0.2)
    """

    def __init__(self, total: float = inf) -> None:
        if not total > 0:
            raise ValueError(f"the total is {total}; give a positive sum")
        self.total, self.spent, self.reserved = float(total), 0.0, 0.0

    def __str__(self) -> str:
        return f"${self.spent:.4f} of ${self.total:.4f}"

    def reserve(self, most: float) -> bool:
        """Put ``most`` aside; False, and nothing is put aside, where that could pass the total."""
        if self.spent + self.reserved + most > self.total * (1 + 1e-12):
            return False
        self.reserved += most
        return True

    def settle(self, most: float, cost: float) -> None:
        """Pay ``cost`` for what ``most`` was put aside for, and free the rest."""
        self.reserved = max(self.reserved - most, 0.0)
        self.spent += cost
