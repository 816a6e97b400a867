"""What shares imply: against all mixes and all counts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adabook.paper import patterns


@given(
    st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=1, max_size=3),
    st.data(),
)
def test_the_nearest_mix_against_all_mixes(by_level, data):
    n, by_level = 6, np.array(by_level) / 20
    overall = np.array([data.draw(st.integers(0, 20)) / 20 for _ in by_level])
    counts, error = patterns.nearest_mix(by_level, overall, n)
    assert sum(counts) == n
    assert min(counts) >= 0
    assert error == pytest.approx(np.abs(by_level @ counts / n - overall).max())
    assert error <= min(
        np.abs(by_level @ c / n - overall).max() + 1e-12
        for c in product(range(n + 1), repeat=3)
        if sum(c) == n
    )


def test_whole_counts_against_all_counts():
    shares, cost = (0.5, 0.3, 0.2), 2.0
    every = [c for c in product(range(11), repeat=3) if sum(c) == 10 and np.dot(c, (1, 2, 4)) == 20]
    wanted = [c for c in every if np.abs(np.divide(c, 10) - shares).max() < 0.1 + 1e-6]
    assert patterns.whole_counts(shares, cost, (1, 2, 4), n=10, half_digit=0.1) == wanted
    assert patterns.whole_counts((0.5, 0.5), 3.0, (1, 2), n=10) == []
