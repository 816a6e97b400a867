"""Bisection and mixing against their definition, enumeration and the linear programme."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import allocations, tables

from adabook.highs import lp_solution
from adalib.solve.bisection import bisect, mix
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost, oracle_labels
from adalib.tolerances import TIE


@given(tables(5, 4), st.floats(0, 1.2))
def test_bisection_halves_its_bracket(table, share):
    acc, cost = table
    lowest = average_cost(acc, cost, 5.0, ties="first")
    budget = lowest + share * (average_cost(acc, cost, 0, ties="first") - lowest)
    found = bisect(acc, cost, budget)
    path = found.path
    assert len(path) == 50
    np.testing.assert_array_equal(path["mid"], (path["lo"] + path["hi"]) / 2)
    np.testing.assert_allclose(path["hi"] - path["lo"], 5.0 / 2.0 ** np.arange(50), rtol=1e-6)
    np.testing.assert_array_equal(
        path["cost_mid"], average_cost(acc, cost, path["mid"], ties="first")
    )
    assert (path["cost_hi"] <= budget * (1 + TIE)).all()  # the budget itself is rounded
    assert found.feasible.cost <= budget * (1 + TIE)
    assert found.error == abs(found.cost - budget)
    assert found.error <= abs(found.feasible.cost - budget)
    # Everett: an allocation that some price produces is the best one of its cost.
    costs, accuracies = allocations(acc, cost)
    for point in (found, found.feasible, found.above):
        assert point.accuracy >= accuracies[costs <= point.cost + 1e-12].max() - 1e-11


@pytest.mark.parametrize(
    ("acc", "cost", "budget", "ends", "lam"),
    [
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
    unit = (found.lam[0] * 2 + 1) / 5  # in which all prices are among those considered
    budget = found.cost[0] + share * (found.cost[-1] - found.cost[0])
    both = mix(acc, unit * cost, unit * budget, iterations=80)
    assert 0 <= both.share <= 1
    assert both.cost / unit == pytest.approx(min(budget, found.cost[-1]), abs=1e-9)
    assert both.accuracy == pytest.approx(
        lp_solution(acc, cost, max(budget, found.cost[0])).value, abs=1e-9
    )


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


def test_a_budget_that_no_price_reaches_is_named():
    with pytest.raises(ValueError, match=r"0\.15;.* 0\.1\b"):
        bisect([[0, 1]], [0.1, 0.2], 0.15)


@pytest.mark.parametrize("budget", [np.nan, np.inf, -np.inf])
def test_a_budget_that_is_no_number_is_refused(budget):
    for search in (bisect, mix):
        with pytest.raises(ValueError, match="give a finite number"):
            search([[0, 1]], [1, 2], budget)
