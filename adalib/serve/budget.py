r"""A budget that is held: the price rises with every question that cost more than its budget.

Questions come one by one and never end, so no frontier can be computed in advance. The controller
moves the price instead. A question that cost more than the budget raises it and one that cost less
lowers it:

.. math:: \log \lambda_{t+1} = \log \lambda_t + \eta\,\frac{c_t - B}{B}

So the price is a function of the debt, the sum of all :math:`c_t - B`, and a debt that would grow
without bound meets a price at which every question gets the cheapest rule. Each of several
controllers holds its own average, and so the average over all of them holds as well.

A question that is cut short adds its whole cost to the debt, and no budget.
"""

from __future__ import annotations

import os
from math import exp, inf, log
from typing import Any

from adalib.datasets.files import DataError, number, reading, whole
from adalib.serve.debt import DebtFile

STEP = 0.2
CREDIT = 20  # unspent budgets that are remembered; a quiet month must not pay for a careless week


class BudgetController:
    r"""Keep the average cost of a question at a budget by moving the price.

    An open question counts with what such questions cost in training, and with its own cost once
    it is closed. Explained in the chapter "Deploy".

    Parameters
    ----------
    budget, price : float
        The average cost to hold, and the first price.
    step : float
        How far the logarithm of the price moves for a question of twice the budget.
    low : float
        A price below which the controller never goes: what gains less is not asked.

    Attributes
    ----------
    asked : int
        Questions that were closed.
    cuts : int
        Questions that were cut short after something was paid for them.
    spent : float
        What all of them cost.
    closed, opened : float
        What closed and open questions cost above their budgets.

    Examples
    --------
    >>> controller = BudgetController(budget=4, price=0.02)
    >>> controller.open(4)
    >>> controller.close(4, cost=8)
    >>> round(controller.price, 4), controller.average
    (0.0244, 8.0)
    """

    def __init__(
        self, budget: float, price: float, *, step: float = STEP, low: float = 0.0
    ) -> None:
        for name, value in (("budget", budget), ("price", price), ("step", step)):
            if not 0 < value < inf:
                raise ValueError(f"the {name} is {value}; give a positive number")
        self.budget = float(budget)
        self.first_price = float(price)
        self.step = float(step)
        self.low = float(low)
        self.asked = 0
        self.cuts = 0
        self.spent = 0.0
        self.closed = 0.0
        self.opened = 0.0
        self._open_now = 0
        self._file: DebtFile | None = None

    @property
    def debt(self) -> float:
        """What was spent above the budget, open questions as they count."""
        return self.closed + self.opened

    @property
    def price(self) -> float:
        """What the next unit of cost must bring, in accuracy."""
        # The exponent is bounded only to stay a float: no price beyond e^600 decides anything.
        price = exp(min(log(self.first_price) + self.step * self.debt / self.budget, 600.0))
        return max(price, self.low)

    @property
    def average(self) -> float | None:
        """What was spent per question closed so far, on cut ones too; None before the first."""
        return self.spent / self.asked if self.asked else None

    def open(self, expected: float) -> None:
        """Begin a question that should cost ``expected``."""
        self._open_now += 1
        self.opened += expected - self.budget

    def drop(self, expected: float) -> None:
        """End a question that was opened with ``expected``, as if it had never come."""
        self._open_now -= 1
        # Exactly zero when none is open, whatever the rounding of the sums.
        self.opened = self.opened - (expected - self.budget) if self._open_now else 0.0

    def close(self, expected: float, cost: float, *, saves: bool = True) -> None:
        """End a question that was opened with ``expected`` and cost ``cost``.

        With ``saves=False``, what it leaves of its budget is forgotten.
        """
        self._book(expected, cost, self.budget if saves else min(cost, self.budget))
        self.asked += 1
        self._note()

    def cut(self, expected: float, cost: float) -> None:
        """End a question that was cut short: its cost counts, and no budget comes with it.

        So nobody saves by hanging up.
        """
        self._book(expected, cost, 0.0)
        self.cuts += cost > 0
        self._note()

    def _book(self, expected: float, cost: float, allowance: float) -> None:
        """Add a cost to the sums, less what the question was allowed."""
        if not 0 <= cost < inf:
            raise ValueError(f"the cost is {cost}; give a number, 0 or more")
        self.drop(expected)
        self.spent += cost
        floor = -CREDIT * self.budget - max(self.opened, 0.0)
        self.closed = max(self.closed + cost - allowance, floor)

    def _note(self) -> None:
        """Let the file remember the sums."""
        if self._file is not None:
            self._file.note(self._record())

    def bound(self, at_once: int, *, high: float, cheapest: float, most: float) -> float:
        """Return the most by which costs can ever pass their budgets in sum.

        A question that was cut short is one of them. The controller gave it no budget, and so its
        debt can be larger by a budget for each.

        Parameters
        ----------
        at_once : int
            The most questions that are open at a time.
        high : float
            The price from which every question gets the cheapest rule.
        cheapest, most : float
            What a question costs by that rule, at most the budget, and what no question passes.

        Returns
        -------
        float
            In the unit of the budget.

        Examples
        --------
        >>> BudgetController(3, 0.02).bound(16, high=0.02, cheapest=1, most=40)
        622.0
        """
        until_high = self.budget / self.step * log(max(high / self.first_price, 1.0))
        return until_high + (at_once - 1) * (most - cheapest) + max(most - self.budget, 0.0)

    def keep_in(self, path: str | os.PathLike) -> None:
        """Go on from the debt that a small file remembers, and keep it there from now on.

        The file is written by a thread of its own, so that no question waits for a disk, and one
        that is full stops nothing. Questions that are open when a program is killed are not in it.

        Parameters
        ----------
        path : str or path
            The file; if there is none yet, the debt begins at 0.

        Raises
        ------
        DataError
            If the file is damaged, cannot be written, or another program keeps its debt there.
        """
        self.let_go()
        file = DebtFile(path)
        try:
            saved = file.read()
            if saved is not None:
                self._go_on_from(saved, path)
            file.write(self._record())
        except DataError:
            file.close()
            raise
        self._file = file

    def _go_on_from(self, saved: dict[str, Any], path: str | os.PathLike) -> None:
        """Take the sums of a file's record; DataError if it is damaged."""
        try:
            with reading(saved, "debt", 1):
                self.asked = whole(saved["asked"], "asked", 0, 10**15)
                self.cuts = whole(saved.get("cuts", 0), "cuts", 0, 10**15)
                self.spent = number(saved["spent"], "spent", 0)
                self.closed = number(saved["debt"], "debt")
        except DataError as error:
            raise DataError(f"{path}: {error}, or remove the file") from None

    def let_go(self) -> None:
        """Write the debt a last time, and leave its file to another program."""
        if self._file is not None:
            self._note()
            self._file.close()
            self._file = None

    @property
    def fault(self) -> str:
        """Why the debt's file could not be written the last time; "" if it was."""
        return self._file.fault if self._file is not None else ""

    def _record(self) -> dict[str, Any]:
        """What the file holds."""
        sums = {"asked": self.asked, "cuts": self.cuts, "spent": self.spent, "debt": self.closed}
        return {"kind": "debt", "version": 1, **sums}
