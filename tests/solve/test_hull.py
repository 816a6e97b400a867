"""Hulls against scipy's, against each other, and against the frontier of one question."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from adalib.solve.hull import concave_hull, hull_steps, mix_cost

CURVES = st.lists(st.integers(0, 60), min_size=3, max_size=9)


@pytest.mark.parametrize("seed", range(20))
def test_corners_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    cost = rng.random(30)
    accuracy = rng.random(30)
    # Two points far below make the lower half of the hull a plain base line.
    below = [[cost.min(), -1.0], [cost.max(), -1.0]]
    whole = ConvexHull(np.vstack([np.column_stack([cost, accuracy]), below]))
    upper = [i for i in whole.vertices if i < 30 and cost[i] <= cost[accuracy.argmax()]]
    assert concave_hull(cost, accuracy) == sorted(upper, key=lambda i: cost[i])


@given(st.lists(CURVES.map(lambda row: (row * 3)[:9]), min_size=1, max_size=5))
def test_many_curves_at_once(rows):
    accuracy = np.array(rows) / 60
    cost = np.arange(1.0, 10.0)
    steps = hull_steps(accuracy, cost)
    code = steps.codes.read(steps.keys)
    for row, curve in enumerate(accuracy):
        own = code[steps.rows == row]
        found = [int(steps.start[row]), *steps.codes.high[own].tolist()]
        assert steps.codes.low[own].tolist() == found[:-1]
        strict = concave_hull(cost, curve)
        assert set(strict) <= set(found)
        on_the_line = np.interp(cost[found], cost[strict], curve[strict])
        assert curve[found] == pytest.approx(on_the_line)
        slopes = np.diff(curve[found]) / np.diff(cost[found])
        assert -steps.keys[steps.rows == row] == pytest.approx(slopes, rel=1e-12)


def test_what_a_mix_costs():
    costs = [mix_cost([1, 2, 4], [0.4, 0.4, 0.6], target) for target in (0.3, 0.4, 0.5, 0.6)]
    assert costs == pytest.approx([1, 1, 2.5, 4])
    assert mix_cost([1, 2, 4], [0.4, 0.4, 0.6], 0.61) == np.inf
