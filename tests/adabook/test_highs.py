"""The reference solver against enumeration, and where there is nothing to find."""

import numpy as np
import pytest
from random_tables import KINDS, allocations, random_table

from adabook.highs import lp_solution
from adalib.table import UtilityTable


@pytest.mark.parametrize("kind", KINDS)
def test_it_mixes_allocations_and_none_is_better(kind):
    rng = np.random.default_rng(300 + KINDS.index(kind))
    acc, cost = random_table(kind, 4, 3, rng)
    costs, accuracies = allocations(acc, cost)
    budget = rng.uniform(costs.min(), costs.max())
    relaxed = lp_solution(UtilityTable(acc, cost), budget)
    assert relaxed.value >= accuracies[costs <= budget * (1 + 1e-12)].max() - 1e-9
    np.testing.assert_allclose(relaxed.shares.sum(axis=1), 1, atol=1e-9)
    assert (relaxed.shares * acc).sum() / 4 == pytest.approx(relaxed.value, abs=1e-9)
    assert (relaxed.shares * cost).sum() / 4 <= budget + 1e-8


def test_a_budget_below_the_cheapest_is_named():
    with pytest.raises(ValueError, match=r"0\.5"):
        lp_solution([[0.2, 0.8]], [1, 2], 0.5)
