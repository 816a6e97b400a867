"""The envelope over rules is chapter 3's, and the coin meets the budget."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib.sequential.replay import corners, mix_for
from adalib.solve.frontier import frontier

points = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 20)), min_size=1, max_size=12)


@given(points, st.floats(0, 1))
def test_the_envelope_is_the_frontier_of_one_question(found, place):
    cost, accuracy = (np.array(part, dtype=float) for part in zip(*found, strict=True))
    accuracy /= 20
    order = np.lexsort((-accuracy, cost))
    budget = cost.min() + place * (cost.max() - cost.min())
    best = frontier(accuracy[None, order], cost[order]).at(budget)
    mix = mix_for(cost, accuracy, budget)
    paid = (1 - mix.share) * cost[mix.low] + mix.share * cost[mix.high]
    right = (1 - mix.share) * accuracy[mix.low] + mix.share * accuracy[mix.high]
    assert right == pytest.approx(best.bound, abs=1e-9)
    assert paid <= budget + 1e-9
    if mix.share:
        assert paid == pytest.approx(budget)


def test_corners_are_concave():
    rng = np.random.default_rng(0)
    cost, accuracy = rng.random((2, 200))
    best = corners(cost, accuracy)
    slopes = np.diff(accuracy[best]) / np.diff(cost[best])
    assert (slopes > 0).all()
    assert (np.diff(slopes) < 0).all()


def test_a_budget_below_the_cheapest_rule():
    with pytest.raises(ValueError, match="cheapest rule costs 2"):
        mix_for([2, 3], [0.5, 0.6], budget=1)
