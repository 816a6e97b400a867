"""The oracle against loops written out, enumeration, and the HiGHS linear programme."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import allocations, tables

from adabook.highs import lp_solution
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average, average_cost, dual, oracle_labels, subdifferential

RULES = ["cheapest", "dearest", "random", "first"]

prices = st.one_of(st.just(0.0), st.floats(0, 3), st.integers(1, 24).map(lambda i: i / 12))


@given(tables(5, 4), prices)
def test_labels_follow_the_rule(table, lam):
    acc, cost = table
    wide, labels = np.broadcast_to(cost, acc.shape), oracle_labels(acc, cost, lam)
    for i, label in enumerate(labels):
        net = [acc[i, j] - lam * wide[i, j] for j in range(acc.shape[1])]
        tied = [j for j in range(len(net)) if net[j] >= max(net) - 1e-12]
        assert label == min(tied, key=lambda j: (wide[i, j], j))


@given(tables(5, 4), prices)
def test_labels_reach_the_linear_programme_at_their_cost(table, lam):
    acc, cost = table
    labels = oracle_labels(acc, cost, lam)
    reached = average(acc, labels)
    assert reached == pytest.approx(lp_solution(acc, cost, average(cost, labels)).value, abs=1e-8)


@given(
    st.integers(0, 47),
    st.integers(1, 48),
    st.integers(1, 30),
    st.integers(1, 30),
    st.sampled_from([1.0, 1e-6, 700.0]),
)
def test_ties_at_a_computed_breakpoint(low, gain, base, step, unit):
    acc = np.array([[low / 48, min(low + gain, 48) / 48]])
    cost = np.array([base, base + step]) * unit
    lam = (acc[0, 1] - acc[0, 0]) / (cost[1] - cost[0])
    assert oracle_labels(acc, cost, lam).tolist() == [0]
    assert oracle_labels(acc, cost, lam, ties="dearest").tolist() == [1]
    assert oracle_labels(acc, cost, lam * 1.001).tolist() == [0]
    assert oracle_labels(acc, cost, lam * 0.999).tolist() == [1]
    drawn = {int(oracle_labels(acc, cost, lam, ties="random", rng=seed)[0]) for seed in range(20)}
    assert drawn == {0, 1}


@given(tables(5, 4), st.lists(prices, min_size=2, max_size=6), st.sampled_from(RULES))
def test_average_cost_never_rises_with_the_price(table, lams, ties):
    # Two prices closer than the tolerance are one price, and may draw either way.
    lams = np.unique(np.round(lams, 6))
    costs = average_cost(*table, lams, ties=ties, rng=0)
    assert (np.diff(costs) <= 1e-12).all()


@given(tables(5, 4), st.lists(prices, min_size=1, max_size=4), st.floats(0, 6))
def test_the_dual_bounds_every_allocation(table, lams, budget):
    acc, cost = table
    wide = np.broadcast_to(cost, acc.shape)
    values = dual(acc, cost, lams, budget)
    by_hand = [
        np.mean([max(a - lam * c) for a, c in zip(acc, wide, strict=True)]) + lam * budget
        for lam in lams
    ]
    np.testing.assert_allclose(values, by_hand, atol=1e-12)
    assert dual(acc, cost, lams[0], budget) == values[0]
    costs, accuracies = allocations(acc, cost)
    within = accuracies[costs <= budget]
    if within.size:
        assert (values >= within.max() - 1e-12).all()
    middle = dual(acc, cost, (lams[0] + lams[-1]) / 2, budget)
    assert middle <= (values[0] + values[-1]) / 2 + 1e-12


@given(tables(5, 4), st.floats(0, 1))
def test_subdifferential_is_zero_at_the_optimal_price(table, share):
    acc, cost = table
    found = frontier(acc, cost)
    budget = found.cost[0] + share * (found.cost[-1] - found.cost[0])
    lam = found.at(budget).lam
    low, high = subdifferential(acc, cost, lam, budget)
    assert low <= 1e-9
    assert high >= -1e-9
    assert dual(acc, cost, lam, budget) == pytest.approx(found.at(budget).bound, abs=1e-11)
    # Every slope in the interval supports G: the line through (lam, G) lies below it.
    for other in (lam / 2, lam * 2 + 0.1):
        for slope in (low, high):
            if np.isfinite(slope):
                line = dual(acc, cost, lam, budget) + slope * (other - lam)
                assert dual(acc, cost, other, budget) >= line - 1e-9


def test_subdifferential_in_a_jump_or_at_zero():
    acc, cost = [[0.0, 1.0], [0.0, 1.0]], [1, 16]
    assert subdifferential(acc, cost, 1 / 15, 8.5) == (8.5 - 16, 8.5 - 1)
    assert subdifferential(acc, cost, 0.01, 8.5) == (-7.5, -7.5)
    assert subdifferential(acc, cost, 0, 20) == (-np.inf, 4)
    assert subdifferential(acc, cost, 0, 8.5) == (-np.inf, -7.5)


def test_bad_arguments_are_named():
    for call in (oracle_labels, average_cost):
        with pytest.raises(ValueError, match="-1"):
            call([[0.1, 0.2]], [1, 2], -1)
        with pytest.raises(ValueError, match="coin"):
            call([[0.1, 0.2]], [1, 2], 0.1, ties="coin")
