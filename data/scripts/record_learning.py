"""What does learning cost? Regret against the best rule where it can be computed exactly.

It writes data/recorded/learning.jsonl. Every question has two answers; which one is right is not
known, nor how often it comes: with the chances in `PEOPLE`, each for a third of the questions. The
best rule at a price follows from dynamic programming over the counts. Regret is what a policy loses
of accuracy less price times cost, at the price at which the best rule spends the budget. A policy
is played every sequence of answers, each with its chance, so nothing is simulated but the answers
that teach it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

import numpy as np
from recording import main
from scipy.optimize import minimize_scalar

from adalib.datasets.populations import Population
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.replay import shares_of
from adalib.sequential.streams import Streams

PEOPLE = np.array([0.95, 0.7, 0.4])
LAST = 12
SIZES = (100, 300, 1000, 3000)
BUDGETS = (1.5, 2.0, 3.0)
SEEDS = range(8)


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its rows."""
    for size in SIZES:
        yield f"{size} questions", partial(regrets, size)


def world(n: int, samples: int, seed: int):
    """Answers to n questions."""
    chance = np.resize(PEOPLE, n)
    return Population(np.column_stack([chance, 1 - chance]), np.zeros(n, dtype=int)).sample(
        samples, seed
    )


def best_rule(price: float, people: np.ndarray = PEOPLE, last: int = LAST) -> float:
    """Return the best rule's accuracy less price times cost, by dynamic programming over counts.

    Counts go up to ``last``.
    """

    def mass(
        a: int, b: int
    ) -> tuple[float, float]:  # chance of one order of these counts, either answer being right
        return float((people**a * (1 - people) ** b).mean()), float(
            (people**b * (1 - people) ** a).mean()
        )

    @cache
    def best(a: int, b: int) -> float:
        first, second = mass(a, b)
        here = 0.5 if a == b else max((a > b) * first, (a < b) * second) / (first + second)
        if a + b == last:
            return here
        up = sum(mass(a + 1, b)) / (first + second)
        return max(here, up * best(a + 1, b) + (1 - up) * best(a, b + 1) - price)

    return best(1, 0) - price


def every_sequence() -> tuple[Streams, np.ndarray]:
    """All sequences of the two answers, of which 0 is right, and their chances."""
    classes = np.array(list(product((0, 1), repeat=LAST)))
    right = (classes == 0).sum(axis=1)[:, None]
    chances = (PEOPLE**right * (1 - PEOPLE) ** (LAST - right)).mean(axis=1)
    paid = np.tile(np.arange(1.0, LAST + 1), (len(classes), 1))
    return Streams(
        np.arange(len(classes)), classes, 1.0 - classes, paid, lambda field: None
    ), chances


def regrets(size: int) -> list[dict]:
    """Regret and cost of votes alone, learned from so many questions: a row per seed and budget."""
    rows = []
    streams, chances = every_sequence()
    for seed in SEEDS:
        policy = PricedStopping(("votes",), schedule=range(1, LAST + 1), repeats=8).fit(
            world(size, 24, seed)
        )
        used, shares = shares_of([policy.mix(budget) for budget in BUDGETS])
        stops, worth = policy.play([policy.members[number] for number in used], streams)
        costs = chances @ (stops + 1) @ shares.T
        values = chances @ worth @ shares.T
        for budget, cost, value in zip(BUDGETS, costs, values, strict=True):
            bound = minimize_scalar(
                lambda x, b=budget: best_rule(x) + b * x, bounds=(0, 0.3), method="bounded"
            )
            regret = bound.fun - bound.x * budget - (value - bound.x * cost)
            told = {"best": bound.fun, "price": bound.x, "regret": regret, "cost": cost}
            rows.append(
                {
                    "seed": seed,
                    "budget": budget,
                    **{name: round(float(x), 6) for name, x in told.items()},
                }
            )
    return rows


if __name__ == "__main__":
    main(learning=parts())
