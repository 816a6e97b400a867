"""The best two or three rounds: how often to ask at once where answers come in batches.

A batch costs less and takes up to a day, so one would stop after two or three rounds at most. Every
schedule of usual sizes is fitted to the same training answers, by votes alone, and the one is taken
that spends least to be right as often as deciding after every answer is at the budget. What it
loses is said as a discount: the least at which the rounds are cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import inf
from typing import NamedTuple

import numpy as np
from tqdm.auto import tqdm

from adalib.datasets.responses import Cost, Responses
from adalib.sequential.priced_stopping import PricedStopping

_SIZES = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24)  # answers that a question may have after a round
_GROWTH = 2  # at least, from one round to the next
_ORDERS = 8  # in which a question is played back: half of the usual, since there are many fits


class Rounds(NamedTuple):
    """A schedule of rounds, and what it does at a budget in training.

    Attributes
    ----------
    schedule : tuple of int
        Numbers of answers at which one may stop.
    accuracy, one_by_one : float
        How often it is right at the budget, and how often deciding after every answer is.
    as_right : float
        What it must spend to be right as often as that; inf if it never is.
    pays_from : float
        The discount of a batch from which it is cheaper and as right.
    """

    schedule: tuple[int, ...]
    accuracy: float
    one_by_one: float
    as_right: float
    pays_from: float


def best_rounds(
    responses: Responses,
    budget: float,
    rounds: int = 3,
    *,
    cost: Cost = "samples",
    groups: Sequence | None = None,
) -> Rounds:
    """Return the best schedule of at most so many rounds at a budget.

    Parameters
    ----------
    responses : Responses
        Answers to the training questions.
    budget : float
        What a question may cost on average, at the price of one answer by itself.
    rounds : int
        At most so many, 2 or more. A batch may take a day.
    cost : {"samples", "tokens"} or Prices
        What an answer costs.
    groups : sequence, optional
        Questions of one group are left out together.

    Returns
    -------
    Rounds

    Examples
    --------
    >>> from adalib import beta_population
    >>> answers = beta_population(60, 1.5, 1.5).sample(8)
    >>> found = best_rounds(answers, 3.0, rounds=2)
    >>> len(found.schedule), found.accuracy < found.one_by_one
    (2, True)
    """
    if rounds < 2:
        raise ValueError(f"rounds is {rounds}; give 2 or more, since nobody is watched in one")
    schedules = list(_schedules(rounds, responses.samples))
    if not schedules:
        raise ValueError(
            f"{responses.source}: has {responses.samples} answers per question, too few for rounds"
        )

    def fitted(schedule: Sequence[int] | None) -> PricedStopping:
        policy = PricedStopping(("votes",), cost=cost, schedule=schedule, repeats=_ORDERS)
        return policy.fit(responses, groups=groups)

    free = fitted(None)
    target = at_cost(free, budget)
    tried = [
        (schedule, fitted(schedule))
        for schedule in tqdm(schedules, desc="trying rounds", unit=" schedules", disable=None)
    ]
    affordable = [(s, policy) for s, policy in tried if policy.costs[0] <= budget]
    if not affordable:
        raise ValueError(f"the budget is {budget:g}, less than one round costs; give more")
    schedule, best = min(
        affordable, key=lambda one: (cost_of(one[1], target), -at_cost(one[1], budget))
    )
    needed = cost_of(best, target)
    pays_from = max(1 - budget / needed, 0.0)
    return Rounds(schedule, at_cost(best, budget), target, needed, pays_from)


def at_cost(policy: PricedStopping, cost: float) -> float:
    """Return how often a policy is right in training at this cost."""
    return float(np.interp(cost, policy.costs, np.maximum.accumulate(policy.accuracies)))


def cost_of(policy: PricedStopping, accuracy: float) -> float:
    """Return what a policy spends in training to be right this often; inf if it never is."""
    reached = np.maximum.accumulate(policy.accuracies)
    if accuracy > reached[-1]:
        return inf
    first = int(np.searchsorted(reached, accuracy))  # of a flat stretch the cheapest end
    last = max(first - 1, 0)
    return float(np.interp(accuracy, reached[[last, first]], policy.costs[[last, first]]))


def _schedules(rounds: int, samples: int) -> Iterator[tuple[int, ...]]:
    """Yield the schedules to try: sizes that grow, and that the answers can fill."""
    sizes = [size for size in _SIZES if size <= samples]
    for count in range(2, rounds + 1):
        for schedule in combinations(sizes, count):
            if all(b >= _GROWTH * a for a, b in zip(schedule, schedule[1:], strict=False)):
                yield schedule
