"""A chapter's own numbers beside the package's."""

from __future__ import annotations

import numpy as np
import pytest

from adabook import agrees


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (0.1 + 0.2, 0.3),
        (np.float32(0.5), 0.5),
        ([1, 2], np.array([1.0, 2.0])),
        ([True, False], np.array([1, 0])),
        ({"a": 0.5, "b": 0.5}, {"b": 0.5, "a": 0.5}),
        (np.array(["easy", "hard"]), ["easy", "hard"]),
        ("40", "40"),
    ],
)
def test_equal_values_agree(ours, theirs):
    assert agrees(ours, theirs) is None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (0.5, 0.5001),
        (0.5, [0.5, 0.5]),  # equal only if one number stands for two
        (np.nan, np.nan),
        ({"a": 1}, {"a": 0.5, "b": 0.5}),
        (["easy"], ["hard"]),
        ("1", 1),
    ],
)
def test_other_values_are_both_named(ours, theirs):
    with pytest.raises(AssertionError, match="and XGBoost has") as raised:
        agrees(ours, theirs, "XGBoost")
    assert "leave this line out" in str(raised.value)


def test_a_tolerance_is_what_two_numbers_may_differ_by():
    agrees(0.0, 1e-4, tolerance=1e-3)
    with pytest.raises(AssertionError):
        agrees(0.0, 1e-4)
