"""Numbers on their way from a cell to the text."""

from __future__ import annotations

import sys

import myst_nb
import numpy as np
import pytest

import adalib
from adabook.prose import give, glue, points


@pytest.fixture
def glued(monkeypatch):
    found = {}
    monkeypatch.setattr(myst_nb, "glue", lambda name, value, display: found.update({name: value}))
    return found


def test_numbers_are_given_under_their_prefix(glued):
    give("budgets_", over=np.int64(6), share=np.float32(0.5), name="word-hot", **{"deepseek-v3": 7})
    assert glued == {
        "budgets_over": 6,
        "budgets_share": 0.5,
        "budgets_name": "word-hot",
        "budgets_deepseek-v3": 7,
    }
    assert [type(value) for value in glued.values()] == [int, float, str, int]
    glued.clear()
    interval = adalib.mean_interval([0.0, 1.0, 1.0])
    give(gain=interval)
    assert glued == {f"gain_{part}": getattr(interval, part) for part in ("mean", "low", "high")}


def test_outside_the_book_a_number_is_given_to_nobody(monkeypatch):
    """A notebook that was downloaded runs with the package alone."""
    monkeypatch.setitem(sys.modules, "myst_nb", None)
    give("budgets_", over=6)
    glue("budgets_price", 0.02, display=False)


def test_a_gain_is_printed_in_points_with_its_interval():
    gain = adalib.mean_interval([0.0, 0.01, 0.02])
    ends = f"[{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"
    assert points(gain) == points((gain.mean, gain.low, gain.high)) == f"+1.0 {ends}"
    assert points((-0.00001, -0.0121, 0.03456), digits=2) == "+0.00 [-1.21, +3.46]"
