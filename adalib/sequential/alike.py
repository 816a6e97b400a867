"""The same for everyone: what plans cost and score that cannot tell two questions apart.

Such a plan gives every question the same number of answers, or draws between two numbers by lot.
Where tokens or dollars are paid, it can also give every question the same allowance: ask again
while less than so much is spent. It looks at no answer and at no question, so whatever it gains
over another such plan is no gain of allocation. The best of them, at the cost that a policy really
had, is the bar that the policy has to beat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from adalib.datasets.responses import Cost, Responses
from adalib.sequential.replay import Mix, in_pieces, mix_for, orders_and_size
from adalib.sequential.streams import Streams, make_streams
from adalib.solve.hull import mix_cost
from adalib.table import UtilityTable

#: Allowances tried, in average answers, up to the most answers on offer: so close to one another
#: that the lot between two of them misses nothing that can be seen.
_LEAST_ALLOWANCE = 0.2
_STEP = 1.02


@dataclass(frozen=True, eq=False)
class Alike:
    """Plans that treat all questions alike, one column each.

    Parameters
    ----------
    cost, accuracy : ndarray, shape (N, P)
        What each question costs by each plan, and its accuracy, both in expectation.

    Examples
    --------
    >>> plans = Alike(np.array([[1.0, 2.0, 3.0]]), np.array([[0.5, 0.5, 0.7]]))
    >>> plans.at(2.0), plans.cost_of(0.7)
    (array([0.6]), 3.0)
    """

    cost: np.ndarray
    accuracy: np.ndarray

    @classmethod
    def of_tables(cls, tables: Sequence[UtilityTable]) -> Self:
        """Return every column of some tables as a plan: a table for each model of a menu."""
        costs = [np.broadcast_to(table.cost, table.acc.shape) for table in tables]
        return cls(np.hstack(costs), np.hstack([table.acc for table in tables]))

    def joined(self, other: Alike | None) -> Alike:
        """Return these plans and those of another, if there is one."""
        if other is None:
            return self
        return Alike(np.hstack([self.cost, other.cost]), np.hstack([self.accuracy, other.accuracy]))

    @cached_property
    def _means(self) -> tuple[np.ndarray, np.ndarray]:
        return self.cost.mean(axis=0), self.accuracy.mean(axis=0)

    def lot(self, budget: float) -> Mix:
        """Return the two plans, and the chance of the second, that are best at an average cost.

        Nothing is cheaper than the cheapest plan, which stands for every smaller budget.
        """
        cost, accuracy = self._means
        return mix_for(cost, accuracy, max(budget, float(cost.min())))

    def at(self, budget: float) -> np.ndarray:
        """Return the accuracy of every question by the best lot at an average cost, shape (N,)."""
        return drawn(self.accuracy, self.lot(budget))

    def cost_of(self, accuracy: float) -> float:
        """Return what the cheapest lot of this average accuracy costs; infinite if none has it."""
        return mix_cost(*self._means, accuracy)


def drawn(values: np.ndarray, lot: Mix) -> np.ndarray:
    """Return the expected value of every question, from a column a plan, by a lot of two plans."""
    return (1 - lot.share) * values[:, lot.low] + lot.share * values[:, lot.high]


def allowances(responses: Responses, most: int, cost: Cost) -> np.ndarray:
    """Return the allowances to try; none where answers are paid, which all cost the same."""
    if cost == "samples":
        return np.empty(0)
    steps = int(np.ceil(np.log(most / _LEAST_ALLOWANCE) / np.log(_STEP)))
    unit = float(np.mean(responses.answer_costs(cost)))
    return unit * np.geomspace(_LEAST_ALLOWANCE, most, steps + 1)


def played_alike(
    responses: Responses,
    most: int,
    allowed: np.ndarray,
    cost: Cost = "samples",
    value: Callable[[Streams], np.ndarray] | None = None,
    seed: int = 1,
) -> Alike:
    """Play answers back to plans that treat all questions alike.

    With a ``value``, the plans are every number of answers up to ``most`` and every allowance, and
    ``value`` is the accuracy of a vote of one's own after each answer of some streams. Without it,
    they are the allowances alone, by the plain vote, whose numbers a table has exactly.
    """
    orders, size = orders_and_size(responses)

    def outcome(piece: Responses, _: object, begin: int) -> list[np.ndarray]:
        streams = make_streams(piece, most, repeats=orders, seed=seed + begin, cost=cost)
        values = streams.votes().value if value is None else value(streams)
        plans = plans_of(streams, values, allowed, numbers=value is not None)
        return [plans.cost, plans.accuracy]

    return Alike(*in_pieces(responses, None, size, outcome))


def plans_of(
    streams: Streams, value: np.ndarray, allowed: np.ndarray, *, numbers: bool = True
) -> Alike:
    """Return every number of answers and every allowance as a plan, from streams and their votes.

    ``value`` is the accuracy of the vote after each answer, of shape (M, T) as ``streams.cost`` is.
    """
    costs = [streams.mean(streams.cost)] if numbers else []
    values = [streams.mean(value)] if numbers else []
    if len(allowed):
        last = streams.cost.shape[1] - 1
        # Ask again while less than the allowance is spent, or until the answers end.
        spent = [np.minimum((streams.cost < one).sum(axis=1), last) for one in allowed]
        stops = np.column_stack(spent)
        costs.append(streams.mean(np.take_along_axis(streams.cost, stops, axis=1)))
        values.append(streams.mean(np.take_along_axis(value, stops, axis=1)))
    return Alike(np.hstack(costs), np.hstack(values))
