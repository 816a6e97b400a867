"""The integer optimum against enumeration and HiGHS."""

import numpy as np
import pytest
from random_tables import KINDS, allocations, averages, budgets_for, random_table
from scipy.optimize import LinearConstraint, milp

from adalib.solve.frontier import frontier
from adalib.solve.integer import integer_optimum


@pytest.mark.parametrize("kind", KINDS)
def test_equals_enumeration(kind):
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(40):
        acc, cost = random_table(kind, int(rng.integers(1, 6)), int(rng.integers(1, 5)), rng)
        costs, accuracies = allocations(acc, cost)
        found = frontier(acc, cost)
        for budget in [*budgets_for(found, rng, 2), rng.choice(costs)]:
            exact = integer_optimum(acc, cost, budget)
            assert exact.accuracy == pytest.approx(
                accuracies[costs <= budget + 1e-12 * budget].max(), abs=1e-11
            )
            assert averages(acc, cost, exact.labels) == (exact.cost, exact.accuracy)
            assert exact.cost <= budget * (1 + 1e-12)
            assert exact.bound >= exact.accuracy - 1e-12
            assert exact.accuracy >= found.at(budget).accuracy - 1e-12
        # Everett: an allocation that a price produces is the integer optimum of its own cost.
        for spent, accuracy in zip(found.cost, found.accuracy, strict=True):
            assert accuracy == pytest.approx(
                accuracies[costs <= spent * (1 + 1e-12)].max(), abs=1e-11
            )


def by_highs(acc, cost, budget):
    """The best accuracy of the integer program: one budget per question."""
    n, k = acc.shape
    within = LinearConstraint(np.broadcast_to(cost, acc.shape).reshape(1, -1), ub=n * budget)
    one_each = LinearConstraint(np.kron(np.eye(n), np.ones(k)), 1, 1)
    found = milp(
        -acc.ravel(),
        integrality=1,
        bounds=(0, 1),
        constraints=[within, one_each],
        options={"mip_rel_gap": 0.0},
    )
    return averages(acc, cost, found.x.reshape(n, k).argmax(axis=1))[1]


@pytest.mark.parametrize("kind", ["anything", "ties", "counted", "by row", "tokens"])
def test_equals_the_integer_programme(kind):
    rng = np.random.default_rng(200 + KINDS.index(kind))
    for n, k in [(12, 5), (40, 5), (80, 4)]:
        acc, cost = random_table(kind, n, k, rng)
        found = frontier(acc, cost)
        budget = rng.uniform(found.cost[0], found.cost[-1])
        exact = integer_optimum(acc, cost, budget)
        assert exact.accuracy == pytest.approx(by_highs(acc, cost, budget), abs=1e-9)
        assert (
            0
            <= found.at(budget).bound - exact.accuracy
            <= found.at(budget).lam * found.at(budget).slack + 1e-11
        )


def test_questions_are_opened_until_the_gap_is_closed():
    """On the frontier none is; half-way to the next point, the two that may trade."""
    acc, cost = [[0, 0.5], [0, 0.25], [0, 0.25], [0.25, 0.25]], [0, 1]
    assert [integer_optimum(acc, cost, b).open_rows for b in (0.25, 0.5, 0.625)] == [0, 0, 2]
