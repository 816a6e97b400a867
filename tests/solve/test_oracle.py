"""The oracle against loops written out, enumeration, and the HiGHS linear programme."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import allocations, tables
from scipy.optimize import linprog

from adalib.evaluate.baselines import from_labels
from adalib.solve.bisection import bisect, mix
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost, dual, oracle_labels, subdifferential
from adalib.solve.reference import lp_value

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
    # Each unit bought beyond a cheaper budget brings at least the price, on average; up to a dearer
    # one, at most.
    gain, extra = (np.take_along_axis(of, labels[:, None], axis=1) - of for of in (acc, wide))
    assert (gain >= lam * extra - 1e-11).all()


@given(tables(5, 4), prices)
def test_labels_reach_the_linear_programme_at_their_cost(table, lam):
    acc, cost = table
    (n, k), wide = acc.shape, np.broadcast_to(cost, acc.shape)
    plan = from_labels(oracle_labels(acc, cost, lam), k)
    one_each, paid = np.kron(np.eye(n), np.ones(k)), plan.expected(wide).sum()
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        -acc.ravel(),
        A_ub=[wide.ravel()],
        b_ub=[paid],
        A_eq=one_each,
        b_eq=np.ones(n),
        options=exact,
    )
    assert plan.expected(acc).mean() == pytest.approx(-found.fun / n, abs=1e-9)


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


def test_three_choices_by_hand():
    # The second answer brings nothing at all, and is bought on the way to the fourth.
    assert oracle_labels([[0.2, 0.2, 0.8]], cost=[1, 2, 4], lam=0.03).tolist() == [2]
    # A price of zero gives the cheapest best column, not the dearest.
    acc = [[0.2, 0.7, 0.7, 0.1], [1.0, 1.0, 1.0, 1.0], [0.1, 0.2, 0.3, 0.4]]
    assert oracle_labels(acc, [1, 2, 4, 8], 0).tolist() == [1, 0, 3]
    assert average_cost(acc, [1, 2, 4, 8], 0) == (2 + 1 + 8) / 3


@given(tables(5, 4), st.lists(prices, min_size=2, max_size=6), st.sampled_from(RULES))
def test_average_cost_never_rises_with_the_price(table, lams, ties):
    lams = np.unique(
        np.round(lams, 6)
    )  # two prices closer than the tolerance are one price, and may draw either way
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


@given(tables(5, 4), st.floats(0, 1.2))
def test_bisection_halves_its_bracket(table, share):
    acc, cost = table
    lowest = average_cost(acc, cost, 50.0, ties="first")
    budget = lowest + share * (average_cost(acc, cost, 0, ties="first") - lowest)
    found = bisect(acc, cost, budget, bracket=(0.0, 50.0))
    path = found.path
    assert len(path) == 50
    np.testing.assert_array_equal(path["mid"], (path["lo"] + path["hi"]) / 2)
    np.testing.assert_allclose(path["hi"] - path["lo"], 50.0 / 2.0 ** np.arange(50), rtol=1e-6)
    np.testing.assert_array_equal(
        path["cost_mid"], average_cost(acc, cost, path["mid"], ties="first")
    )
    assert (path["cost_hi"] <= budget).all()
    assert found.feasible.cost <= budget
    assert found.error == abs(found.cost - budget)
    assert found.error <= abs(found.feasible.cost - budget)
    # Everett: an allocation that some price produces is the best one of its cost.
    costs, accuracies = allocations(acc, cost)
    for point in (found, found.feasible, found.above):
        assert point.accuracy >= accuracies[costs <= point.cost + 1e-12].max() - 1e-11


@pytest.mark.parametrize(
    ("acc", "cost", "budget", "ends", "lam"),
    [
        (
            [[0.0, 1.0], [0.0, 1.0]],
            [1, 16],
            8.5,
            (1.0, 16.0, 7.5),
            1 / 15,
        ),  # a budget inside a jump
        # Both gain 1/48 a unit of cost, one in a step of 1 and one in a step of 12: no price lies
        # between them.
        (
            [[1 / 48, 2 / 48, 2 / 48], [3 / 48, 3 / 48, 15 / 48]],
            [1, 2, 13],
            4,
            (1.0, 7.5, 3.0),
            1 / 48,
        ),
        ([[0.2, 0.9, 0.9], [1.0, 1.0, 1.0]], [1, 2, 4], 3, (1.5, 1.5, 1.5), 0),  # budget to spare
    ],
)
def test_bisection_where_no_price_meets_the_budget(acc, cost, budget, ends, lam):
    found = bisect(acc, cost, budget)
    assert (found.feasible.cost, found.above.cost, found.error) == ends
    assert found.feasible.lam == pytest.approx(lam)
    assert found.feasible.labels.tolist() == oracle_labels(acc, cost, lam).tolist()


@given(tables(5, 4), st.floats(0, 1.1))
def test_mixing_attains_the_relaxed_optimum(table, share):
    acc, cost = table
    found = frontier(acc, cost)
    top = found.lam[0] * 2 + 1
    budget = found.cost[0] + share * (found.cost[-1] - found.cost[0])
    both = mix(acc, cost, budget, iterations=80, bracket=(0.0, top))
    assert 0 <= both.share <= 1
    assert both.cost == pytest.approx(min(budget, found.cost[-1]), abs=1e-9)
    assert both.accuracy == pytest.approx(lp_value(acc, cost, max(budget, found.cost[0])), abs=1e-9)


def test_a_draw_mixes_question_by_question():
    acc = np.tile([0.1, 0.9], (20_000, 1))
    both = mix(acc, [1, 16], 5.0)
    assert both.cost == 5.0
    drawn = both.draw(rng=1)
    # 4/15 of the questions on average; five standard deviations of a binomial share.
    assert drawn.mean() == pytest.approx(4 / 15, abs=5 * np.sqrt(4 / 15 * 11 / 15 / 20_000))
    np.testing.assert_array_equal(drawn, both.draw(rng=1))
    # A budget that is rounded down to just below a point is no negative chance.
    both = mix([[0.1, 0.9], [0.2, 0.6]], [1, 2], np.nextafter(1.5, 0))
    assert (both.cheap.cost, both.dear.cost, both.share) == (1.5, 2.0, 0.0)


def test_bad_arguments_are_named():
    for call in (oracle_labels, average_cost):
        with pytest.raises(ValueError, match="the price is -1"):
            call([[0.1, 0.2]], [1, 2], -1)
        with pytest.raises(ValueError, match="ties is 'coin'"):
            call([[0.1, 0.2]], [1, 2], 0.1, ties="coin")
    with pytest.raises(
        ValueError, match=r"price 0\.5 still costs 2 .* budget 1\.5; raise the bracket.*at least 1$"
    ):
        bisect([[0, 1]], [1, 2], 1.5, bracket=(0.0, 0.5))
