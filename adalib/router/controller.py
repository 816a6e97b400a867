r"""A budget that is held: the price moves with what was really spent.

A question that cost more than the budget raises the price and one that cost less lowers it, by a
step in its logarithm:

.. math:: \log \lambda_{t+1} = \log \lambda_t + \eta\,\frac{c_t - B}{B}

So the price is a function of the debt, the sum of all :math:`c_t - B`. From some price on every
question gets the cheapest rule, and only open questions can raise the debt, so it stays below
`BudgetController.bound`. A ledger keeps the debt, and with it the bound, over
restarts.
"""

from __future__ import annotations

from math import exp, inf, log
from typing import NamedTuple

from adalib.router.purse import Ledger

STEP = 0.2
# Budgets that may lie unspent; more is forgotten, or a quiet month would pay for a careless week.
CREDIT = 20


class Reach(NamedTuple):
    """What a price can do to the cost of a question: all that a bound on overspending needs.

    Attributes
    ----------
    high : float
        The price from which every question gets the cheapest rule.
    cheapest : float
        What a question costs by that rule, no more than the budget.
    most : float
        What no question passes.
    turn : float
        The most expensive round, where open questions begin none once the price is at ``high``.
    """

    high: float
    cheapest: float
    most: float
    turn: float = inf


class BudgetController:
    """Keep the average cost of a question at a budget by moving the price.

    An open question counts with what it should cost, or with what it has cost if that is more. With
    a ``reach``, questions that pass the budget by the cheapest rule raise the debt up to the
    `bound`; the rest is written off. Explained in the chapter "Deploy".

    Parameters
    ----------
    budget, price : float
        The average cost to hold, and the first price.
    step : float
        How far the logarithm of the price moves for a question of twice the budget.
    reach : Reach, optional
        What a price can do; without it there is no bound.

    Examples
    --------
    >>> controller = BudgetController(budget=4, price=0.02)
    >>> controller.open(4); controller.close(4, cost=8)
    >>> round(controller.price, 4), controller.average
    (0.0244, 8.0)
    """

    def __init__(
        self, budget: float, price: float, *, step: float = STEP, reach: Reach | None = None
    ) -> None:
        for name, value in (("budget", budget), ("price", price), ("step", step)):
            if not 0 < value < inf:
                raise ValueError(f"the {name} is {value}; give a positive number")
        self.budget = float(budget)
        self.first_price = float(price)
        self.step = float(step)
        self.reach = reach
        # The price stays between these; with a high below ``reach.high`` there is no bound.
        self.low = 0.0
        self.high = inf
        self.asked = 0  # questions that were closed
        self.spent = 0.0  # what they cost
        self.apart = 0  # questions that no price of ours decided
        self.apart_spent = 0.0
        # What questions cost above their budgets: closed ones, open ones, those open at other
        # servers.
        self.closed = 0.0
        self.opened = 0.0
        self.others = 0.0
        self.open_now = 0
        self.at_once = 0  # the most questions that were ever open at a time
        self.open_cost = 0.0  # what open questions have cost, or may with the answers under way
        self._ledger: Ledger | None = None

    def keep_in(self, ledger: Ledger, unit: str) -> None:
        """Go on from what a ledger remembers, and keep it there from now on."""
        ledger.use_unit(unit)
        self.asked = ledger.asked
        self.spent = ledger.cost
        self.closed = ledger.debt
        self.at_once = max(self.at_once, ledger.at_once)
        self._ledger = ledger
        self._keep()

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
        """Unspent budget that was forgotten, less debt that was written off."""
        return self.closed - (self.spent - self.asked * self.budget)

    @property
    def floor(self) -> float:
        """The lowest debt of closed questions: what may lie unspent, and what open ones cost."""
        return -CREDIT * self.budget - max(self.opened + self.others, 0.0)

    def bound(self, at_once: int | None = None) -> float:
        """Return the most by which costs can ever pass their budgets in sum.

        Parameters
        ----------
        at_once : int, optional
            The most questions open at a time; as many as there were so far by default.

        Returns
        -------
        float
            In the unit of the budget; infinite without a ``reach``.

        Examples
        --------
        >>> BudgetController(3, 0.02, reach=Reach(high=0.02, cheapest=1, most=40)).bound(16)
        622.0
        """
        if self.reach is None or self.high < self.reach.high:
            return inf
        at_once = at_once or max(self.at_once, 1)
        high, cheapest, most, turn = self.reach
        until_high = self.budget / self.step * log(max(high / self.first_price, 1.0))
        runs_on = (at_once - 1) * (most - cheapest) + max(most - self.budget, 0.0)
        return until_high + min(runs_on, at_once * max(turn, self.budget - cheapest))

    def open(self, expected: float) -> None:
        """Begin a question that should cost ``expected``."""
        self.opened += expected - self.budget
        self.open_now += 1
        self.at_once = max(self.at_once, self.open_now)
        self._keep()

    def rise(self, counted: float, cost: float) -> float:
        """Return what an open question counts with: ``counted`` so far, or its cost if more."""
        self.opened += max(cost - counted, 0.0)
        return max(cost, counted)

    def hold(self, cost: float) -> None:
        """Note that open questions may cost so much more than noted so far, or less."""
        self.open_cost = max(self.open_cost + cost, 0.0)
        self._keep()

    def close(self, counted: float, cost: float) -> None:
        """End a question that was counted with ``counted`` and cost ``cost``."""
        if not 0 <= cost < inf:
            raise ValueError(f"the cost is {cost}; give a number, 0 or more")
        self.drop(counted)
        more = cost - self.budget
        if self.reach is not None and counted <= self.reach.cheapest:
            # No price could have saved what it cost.
            more = min(more, max(self.bound() - self.closed, 0.0))
        self._settle(cost, more)
        self._keep()

    def drop(self, counted: float) -> None:
        """End a question that was counted with ``counted``, as if it had never come."""
        self.open_now -= 1
        self.opened = self.opened - (counted - self.budget) if self.open_now > 0 else 0.0

    def aside(self, cost: float) -> None:
        """Note a question whose cost something else than our price decided: it moves nothing."""
        self.apart += 1
        self.apart_spent += cost

    def _settle(self, cost: float, more: float) -> None:
        """Add a closed question to the sums; ``more`` is what it adds to the debt."""
        self.asked += 1
        self.spent += cost
        self.closed = max(self.closed + more, self.floor)

    def _keep(self) -> None:
        """Write the state to the ledger, so that a restart goes on from here."""
        ledger = self._ledger
        if ledger is not None:
            ledger.asked = self.asked
            ledger.cost = self.spent
            ledger.debt = self.closed
            ledger.open_cost = self.open_cost
            ledger.at_once = self.at_once
            ledger.write()
