"""Another road to an exercise than its solution's is right, and a near miss is not."""

from __future__ import annotations

from functools import cache

import pytest
from roads import ROADS

from adabook.exercises import JUDGED, checks, recorded

VALUES = [(chapter, name) for chapter, kept in recorded().items() for name in kept]
NUMBERS = [
    (chapter, name)
    for chapter, name in VALUES
    if (chapter, name) in ROADS and not isinstance(recorded()[chapter][name]["answer"], str)
]


@cache
def answer(place):
    return ROADS[place]()


def test_no_road_is_left_of_an_exercise_that_is_gone():
    assert ROADS.keys() <= {*JUDGED, *VALUES}


@pytest.mark.parametrize("place", ROADS, ids="-".join)
def test_it_is_right(place):
    chapter, name = place
    checked = checks(chapter)[0](name, answer(place))
    assert checked.right, checked.hint


@pytest.mark.parametrize("place", NUMBERS, ids="-".join)
def test_a_near_miss_is_not(place):
    chapter, name = place
    check = checks(chapter)[0]
    miss = 3 * (check.exercises[name].tolerance or 1e-6)
    assert not check(name, answer(place) + miss).right
    assert not check(name, answer(place) - miss).right
