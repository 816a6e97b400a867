"""Every exercise has a road besides its solution's: it is right, and a near miss is not."""

from __future__ import annotations

from functools import cache

import pytest
from roads import ROADS

from adabook.exercises import JUDGED, checks, recorded

VALUES = [(chapter, name) for chapter, kept in recorded().items() for name in kept]
NUMBERS = [place for place in VALUES if "step" in recorded()[place[0]][place[1]]["key"]]


@cache
def answer(place):
    return ROADS[place]()


def test_every_exercise_has_one():
    assert ROADS.keys() == {*JUDGED, *VALUES}


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
