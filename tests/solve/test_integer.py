"""The integer optimum against enumeration, HiGHS and the textbook dynamic programme."""

import numpy as np
import pytest
from random_tables import KINDS, allocations, averages, budgets_for, random_table

from adalib.solve.frontier import frontier
from adalib.solve.integer import integer_optimum
from adalib.solve.reference import milp_solution
from adalib.table import UtilityTable


@pytest.mark.parametrize("kind", KINDS)
def test_equals_enumeration(kind):
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(100):
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


@pytest.mark.parametrize("kind", ["anything", "ties", "counted", "by row", "tokens"])
def test_equals_the_integer_programme(kind):
    rng = np.random.default_rng(200 + KINDS.index(kind))
    for n, k in [(12, 5), (40, 5), (80, 4)]:
        acc, cost = random_table(kind, n, k, rng)
        found = frontier(acc, cost)
        budget = rng.uniform(found.cost[0], found.cost[-1])
        exact, reference = integer_optimum(acc, cost, budget), milp_solution(acc, cost, budget)
        assert exact.accuracy == pytest.approx(reference.value, abs=1e-9)
        assert (
            0
            <= found.at(budget).bound - exact.accuracy
            <= found.at(budget).lam * found.at(budget).slack + 1e-11
        )


def test_equals_the_textbook_dynamic_programme():
    rng = np.random.default_rng(7)
    cost = np.array([1, 2, 4, 8, 16])
    for trial in range(6):
        acc = rng.integers(0, 49, (120, 5)) / 48 if trial % 2 else rng.random((120, 5))
        capacity = 120 * 3
        value = np.zeros(capacity + 1)
        for row in acc:
            shifted = [np.full(capacity + 1, -np.inf) for _ in cost]
            for j, c in enumerate(cost):
                shifted[j][c:] = value[:-c] + row[j]
            value = np.max(shifted, axis=0)
        assert integer_optimum(acc, cost, 3).accuracy == pytest.approx(value.max() / 120, abs=1e-12)


def test_a_table_goes_in_place_of_its_arrays():
    acc, cost = [[0.0, 0.9, 1.0], [0.0, 0.0, 0.8]], [0, 3, 4]
    assert integer_optimum(UtilityTable(acc, cost), 2).labels.tolist() == [2, 0]
