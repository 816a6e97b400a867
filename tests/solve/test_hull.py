"""Hulls against scipy's, and what a mix of points costs."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from adalib.solve.hull import concave_hull, mix_cost


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


def test_what_a_mix_costs():
    costs = [mix_cost([1, 2, 4], [0.4, 0.4, 0.6], target) for target in (0.3, 0.4, 0.5, 0.6)]
    assert costs == pytest.approx([1, 1, 2.5, 4])
    assert mix_cost([1, 2, 4], [0.4, 0.4, 0.6], 0.61) == np.inf
