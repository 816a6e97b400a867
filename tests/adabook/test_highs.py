"""The reference solvers against enumeration, and where there is nothing to find."""

import numpy as np
import pytest
from random_tables import KINDS, allocations, averages, random_table

from adabook.highs import lp_solution, lp_value, milp_solution
from adalib.table import UtilityTable


@pytest.mark.parametrize("kind", KINDS)
def test_bound_and_best_of_all_allocations(kind):
    rng = np.random.default_rng(300 + KINDS.index(kind))
    acc, cost = random_table(kind, 4, 3, rng)
    costs, accuracies = allocations(acc, cost)
    budget = rng.uniform(costs.min(), costs.max())
    best = accuracies[costs <= budget * (1 + 1e-12)].max()
    found = milp_solution(acc, cost, budget)
    assert found.value == pytest.approx(best, abs=1e-9)
    assert averages(acc, cost, found.labels) == (found.cost, found.value)
    relaxed = lp_solution(UtilityTable(acc, cost), budget)
    assert relaxed.value >= best - 1e-9
    np.testing.assert_allclose(relaxed.shares.sum(axis=1), 1, atol=1e-9)
    assert (relaxed.shares * acc).sum() / 4 == pytest.approx(relaxed.value, abs=1e-9)
    assert (relaxed.shares * cost).sum() / 4 <= budget + 1e-8


@pytest.mark.parametrize("solve", [lp_value, lp_solution, milp_solution])
def test_a_budget_below_the_cheapest_is_named(solve):
    with pytest.raises(ValueError, match=r"0\.5"):
        solve([[0.2, 0.8]], [1, 2], 0.5)
