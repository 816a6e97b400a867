"""Values of any scale: the frontier of money is the frontier of accuracies, in other units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adalib
from adalib.solve.reference import lp_value

COST = np.array([1.0, 2.0, 4.0])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 64), min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from([2.0**-10, 1.0, 2.0**20]),
    st.sampled_from([-512.0, 0.0, 64.0]),
)
def test_units_change_prices_and_nothing_else(rows, unit, shift):
    """Another unit and another zero: the same plans at prices in the new unit."""
    acc = np.array(rows) / 64
    plain, other = adalib.frontier(acc, COST), adalib.frontier(unit * (acc + shift), COST, any_scale=True)
    assert other.cost == pytest.approx(plain.cost)
    assert other.lam == pytest.approx(unit * plain.lam)
    assert other.accuracy == pytest.approx(unit * (plain.accuracy + shift))
    for budget in (1, 1.7, 3, 4):
        one, two = plain.at(budget), other.at(budget)
        assert one.labels.tolist() == two.labels.tolist()
        assert two.bound == pytest.approx(unit * (one.bound + shift))
        assert one.bound == pytest.approx(lp_value(acc, COST, budget), abs=1e-8)


def test_accuracies_are_still_checked_and_so_are_values():
    with pytest.raises(ValueError, match="give a number from 0 to 1"):
        adalib.frontier([[0, 5.0]], [1, 2])
    with pytest.raises(ValueError, match=r"the value at \[0, 1\] is nan"):
        adalib.frontier([[0, np.nan]], [1, 2], any_scale=True)
