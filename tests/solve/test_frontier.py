"""The frontier against HiGHS, enumeration, the oracle, and its own laws.

Also on values of any scale, and on tables of very many columns.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import KINDS, averages, budgets_for, random_table, showing, tables

from adabook.highs import lp_solution
from adalib.datasets.loading import load
from adalib.solve import hull
from adalib.solve.bisection import bisect, mix
from adalib.solve.frontier import frontier
from adalib.solve.integer import integer_optimum
from adalib.solve.oracle import average_cost, dual, oracle_labels, subdifferential
from adalib.table import UtilityTable

SHAPES = [(1, 1), (1, 5), (6, 1), (2, 2), (5, 4), (9, 6), (3, 50)]


def within(budget, cost, labels):
    """Whether the labels' exact average cost is within the budget, to twelve digits."""
    paid = np.broadcast_to(cost, (labels.size, cost.shape[-1]))[np.arange(labels.size), labels]
    return sum(map(Fraction, paid.tolist())) / labels.size <= Fraction(budget) * (
        1 + Fraction(1, 10**12)
    )


def check_allocation(acc, cost, best):
    """All that an allocation promises, recomputed from its labels."""
    spent, accuracy = averages(acc, cost, best.labels)
    assert best.cost <= best.budget
    assert within(best.budget, cost, best.labels)
    assert spent == pytest.approx(best.cost, abs=1e-12 * max(1, best.cost))
    assert accuracy == pytest.approx(best.accuracy, abs=1e-11)
    assert best.slack == best.budget - best.cost
    assert -1e-12 <= best.bound - accuracy <= best.lam * best.slack + 1e-11
    if best.split is None:
        assert best.slack == 0 or best.lam == 0
        return
    row, low, high, share = best.split
    assert best.labels[row] == low < high
    assert 0 < share <= 1
    wide = np.broadcast_to(cost, acc.shape)
    expected_cost = spent + share * (wide[row, high] - wide[row, low]) / len(acc)
    expected_accuracy = accuracy + share * (acc[row, high] - acc[row, low]) / len(acc)
    assert expected_cost == pytest.approx(best.budget, abs=1e-11 * max(1, best.budget))
    assert expected_accuracy == pytest.approx(best.bound, abs=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_linear_programme(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for trial in range(4 * len(SHAPES)):
        acc, cost = random_table(kind, *SHAPES[trial % len(SHAPES)], rng)
        found = frontier(acc, cost)
        for budget in budgets_for(found, rng, 1)[trial % 2 :: 2]:
            with showing(acc=acc, cost=cost, budget=budget):
                best = found.at(budget)
                check_allocation(acc, cost, best)
                reference = lp_solution(acc, cost, budget)
                assert best.bound == pytest.approx(reference.value, abs=1e-9)
                assert np.interp(budget, found.cost, found.accuracy) == pytest.approx(
                    reference.value, abs=1e-9
                )
                # A vertex splits at most one question, over two columns.
                fractional = (np.abs(reference.shares - reference.shares.round()) > 1e-7).sum(
                    axis=1
                )
                assert (fractional > 0).sum() <= 1
                assert fractional.max() <= 2


def plain_frontier(acc, cost):
    """The frontier as chapter "Budgets" writes it out: every envelope's steps, steepest first.

    Returns falling slopes, and the average cost and accuracy before each step and after the last.
    """
    wide = np.broadcast_to(cost, acc.shape)
    steps = []
    for acc_i, cost_i in zip(acc, wide, strict=True):  # one question at a time
        here = 0
        while here < acc.shape[1] - 1:
            gains = acc_i[here + 1 :] - acc_i[here]
            rises = cost_i[here + 1 :] - cost_i[here]
            slopes = np.where(rises > 0, gains / np.where(rises > 0, rises, 1.0), -np.inf)
            best = slopes.argmax()
            if slopes[best] <= 0:
                break  # no larger budget is better
            steps.append((slopes[best], rises[best], gains[best]))
            here += 1 + best
    steps.sort(key=lambda step: -step[0])  # the best value for money first
    slope, rise, gain = np.array(steps).reshape(-1, 3).T
    spent = wide[:, 0].mean() + np.append(0.0, rise.cumsum()) / len(acc)
    right = acc[:, 0].mean() + np.append(0.0, gain.cumsum()) / len(acc)
    return slope, spent, right


@pytest.mark.parametrize("own_costs", [False, True])
def test_equals_the_frontier_that_chapter_3_writes_out(own_costs):
    rng = np.random.default_rng(3)
    for n, k in [(1, 2), (7, 5), (40, 5), (300, 8)]:
        acc = rng.random((n, k))
        steps = rng.integers(1, 5, (n, k)) if own_costs else rng.integers(1, 5, k)
        cost = steps.cumsum(axis=-1).astype(float)
        slope, spent, right = plain_frontier(acc, cost)
        found = frontier(acc, cost)
        np.testing.assert_allclose(np.interp(spent, found.cost, found.accuracy), right, atol=1e-12)
        assert (found.cost[0], found.cost[-1]) == pytest.approx((spent[0], spent[-1]))
        for budget in rng.uniform(spent[0], spent[-1], 20):
            after = min(int(np.searchsorted(spent, budget, side="right")) - 1, slope.size - 1)
            assert found.at(budget).lam == pytest.approx(slope[after], rel=1e-9)


def test_real_answers_equal_the_linear_programme():
    real = load("math-qwen15").table()
    for budget in (1.5, 2, 3):
        expected = lp_solution(real, budget).value
        assert frontier(real).at(budget).bound == pytest.approx(expected, abs=1e-9)


@given(tables(), st.floats(0, 1.2))
def test_laws_of_the_frontier(table, share):
    acc, cost = table
    found = frontier(acc, cost)
    assert (np.diff(found.lam) < 0).all()
    assert found.lam[-1] == 0
    assert (np.diff(found.cost) > 0).all()
    assert (np.diff(found.accuracy) > 0).all()
    slopes = np.diff(found.accuracy) / np.diff(found.cost)
    np.testing.assert_allclose(slopes, found.lam[:-1], rtol=1e-7, atol=1e-9)
    assert found.cost[0] == pytest.approx(cost[..., 0].mean(), rel=1e-12)
    assert found.accuracy[-1] == pytest.approx(acc.max(axis=1).mean(), abs=1e-11)
    budget = found.cost[0] + share * (found.cost[-1] - found.cost[0])
    best = found.at(budget)
    check_allocation(acc, cost, best)
    prices = np.append(found.lam, best.lam)
    assert best.bound == pytest.approx(dual(acc, cost, prices, budget).min(), abs=1e-11)


@given(tables(), st.floats(0, 1))
def test_points_are_the_oracle_at_their_price(table, share):
    acc, cost = table
    found = frontier(acc, cost)
    again = average_cost(acc, cost, found.lam)
    np.testing.assert_allclose(again, found.cost, rtol=1e-11)
    for lam, spent, other, accuracy in zip(
        found.lam, found.cost, again, found.accuracy, strict=True
    ):
        np.testing.assert_array_equal(
            found.at(spent * (1 + 1e-11)).labels, oracle_labels(acc, cost, lam)
        )
        for budget in (spent, other):  # however the cost was added up
            assert found.at(budget).accuracy == pytest.approx(accuracy, abs=1e-9)
    # Between breakpoints the labels lie between the cheapest and the dearest choice at the price.
    best = found.at(found.cost[0] + share * (found.cost[-1] - found.cost[0]))
    assert (oracle_labels(acc, cost, best.lam) <= best.labels).all()
    assert (best.labels <= oracle_labels(acc, cost, best.lam, ties="dearest")).all()


@given(tables(), st.integers(0, 4), st.floats(0, 1))
def test_how_the_frontier_is_computed_changes_nothing(table, size, share):
    acc, cost = table
    whole, each = frontier(acc, cost), frontier(acc, np.broadcast_to(cost, acc.shape))
    budget = whole.cost[0] + share * (whole.cost[-1] - whole.cost[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hull, "_BLOCK", size * acc.shape[1])
        for other, rtol in ((frontier(acc, cost), 1e-12), (each, 1e-11)):
            for name in ("lam", "cost", "accuracy"):
                np.testing.assert_allclose(getattr(other, name), getattr(whole, name), rtol=rtol)
            np.testing.assert_array_equal(other.at(budget).labels, whole.at(budget).labels)


def test_a_budget_on_a_step_is_met_to_twelve_digits():
    rng = np.random.default_rng(3)
    acc, cost = rng.random((300, 5)), np.array([0.1, 0.2, 0.3, 0.7, 1.3])
    found = frontier(acc, cost)
    for spent in rng.choice(found.cost, 60):
        for budget in (spent, np.nextafter(spent, 0), np.nextafter(spent, 9), spent * (1 - 1e-11)):
            best = found.at(max(budget, found.cost[0]))
            assert best.cost <= best.budget
            assert within(best.budget, cost, best.labels)
    assert found.at(0.1).labels.tolist() == [0] * 300


def test_ties_are_filled_one_question_at_a_time():
    found = frontier(np.tile([0.0, 1.0], (10, 1)), [1, 16])
    assert found.lam == pytest.approx([1 / 15, 0])
    assert found.cost.tolist() == [1, 16]
    best = found.at(8.0)
    assert best.labels.tolist() == [1] * 4 + [0] * 6
    assert best.cost == 7.0
    assert best.split == (4, 0, 1, pytest.approx(10 / 15))
    noisy = 0.1 + 0.2  # one digit above 0.3: rounding noise buys nothing
    found = frontier([[0.3, noisy, noisy]], [1, 2, 4])
    assert (found.lam.tolist(), found.cost.tolist()) == ([0.0], [1.0])


def test_budgets_below_the_frontier():
    found = frontier([[0.2, 0.8, 0.7], [0.5, 0.5, 0.9]], [1, 2, 4])
    with pytest.raises(ValueError, match=r"0\.5.*1\.0"):
        found.at(0.5)
    with pytest.raises(ValueError, match="nan"):
        found.at(float("nan"))


@pytest.mark.parametrize(
    ("solve", "more"),
    [
        (frontier, {}),
        (integer_optimum, {"budget": 2}),
        (bisect, {"budget": 2}),
        (mix, {"budget": 2}),
        (oracle_labels, {"lam": 0.1}),
        (average_cost, {"lam": 0.1}),
        (dual, {"lam": 0.1, "budget": 2}),
        (subdifferential, {"lam": 0.1, "budget": 2}),
    ],
)
def test_a_table_goes_in_place_of_its_arrays_and_bad_arrays_are_named(solve, more):
    acc, cost = [[0.1, 0.9], [0.2, 0.6]], [1, 3]
    assert repr(solve(UtilityTable(acc, cost), **more)) == repr(solve(acc, cost, **more))
    with pytest.raises(ValueError, match=r"acc\[1, 0\] is nan"):
        solve([[0.1, 0.2], [np.nan, 0.3]], cost, **more)


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 64), min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from([2.0**-10, 1.0, 2.0**20]),
    st.sampled_from([-512.0, 0.0, 64.0]),
)
def test_units_change_prices_alone(rows, unit, shift):
    """Another unit and another zero: the same allocations at prices in the new unit."""
    acc, cost = np.array(rows) / 64, [1, 2, 4]
    plain, other = frontier(acc, cost), frontier(unit * (acc + shift), cost, any_scale=True)
    assert other.cost == pytest.approx(plain.cost)
    assert other.lam == pytest.approx(unit * plain.lam)
    assert other.accuracy == pytest.approx(unit * (plain.accuracy + shift))
    for budget in (1, 1.7, 3, 4):
        one, two = plain.at(budget), other.at(budget)
        assert one.labels.tolist() == two.labels.tolist()
        assert two.bound == pytest.approx(unit * (one.bound + shift))


def test_thousands_of_columns():
    acc = np.round(np.sort(np.random.default_rng(0).random((5, 3000)), axis=1), 3)
    cost = np.arange(1.0, 3001)
    found = frontier(acc, cost)
    # At a price between two breakpoints there are no ties: the labels are each row's own best.
    for place, price in enumerate((found.lam[1:] + found.lam[:-1]) / 2):
        assert cost[oracle_labels(acc, cost, price)].mean() == pytest.approx(found.cost[place + 1])
