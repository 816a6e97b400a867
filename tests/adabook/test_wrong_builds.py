"""Mutants of right functions: each reads less of its input than there is, and none is accepted."""

from __future__ import annotations

import numpy as np
import pytest

import adalib
from adabook.exercises import JUDGED, Checker
from adabook.exercises.behaviour import Build
from adabook.exercises.cases import apply

BUILDS = {place: one for place, one in JUDGED.items() if isinstance(one, Build)}


def whole(value):
    """A number cut to a whole one."""
    return float(int(value)) if isinstance(value, float) else value


def rounded(digits):
    def mutant(value):
        is_float = np.asarray(value).dtype.kind == "f"
        return np.round(value, digits) if is_float else value

    return mutant


def seven(value):
    """Whatever the right answer is called, it is 7."""
    return "7" if isinstance(value, str) else value


def first(count):
    """What has a length, up to so many places of its first axis."""

    def mutant(value):
        return value[:count] if isinstance(value, (list, np.ndarray)) and np.ndim(value) else value

    return mutant


def two_columns(value):
    """Tables of two columns: states, features or budgets."""
    return value[..., :2] if isinstance(value, np.ndarray) else value


MUTANTS = {
    "whole": whole,
    "one digit": rounded(1),
    "three digits": rounded(3),
    "seven": seven,
    "first seven": first(7),
    "first two": first(2),
    "two columns": two_columns,
}
#: What is accepted on purpose: a slope as exact as a finite difference.
AS_GOOD = {("three digits", ("duality", "subgradient"))}


def changes(build, mutate):
    """Whether a mutant changes what the brute force finds in a case that is tried."""
    for case in build.inputs.cases(200):
        try:
            right = apply(build.brute_force, case)
            other = apply(build.brute_force, {name: mutate(one) for name, one in case.items()})
        except Exception:
            return True
        if not np.array_equal(np.asarray(right, dtype=object), np.asarray(other, dtype=object)):
            return True
    return False


@pytest.mark.nightly
@pytest.mark.parametrize("name", MUTANTS)
@pytest.mark.parametrize("place", BUILDS, ids="-".join)
def test_who_reads_less_than_there_is_is_refused(place, name):
    build, mutate = BUILDS[place], MUTANTS[name]

    def mutant(*values):
        return build.brute_force(*map(mutate, values))

    if (name, place) not in AS_GOOD and changes(build, mutate):
        assert Checker({"e": build})("e", mutant).right is False


#: Functions that were accepted once.
ACCEPTED = {
    ("data", "vote"): [
        lambda answers, gold: _vote(answers, "7"),
        lambda answers, gold: _vote(answers[:7], gold),
    ],
    ("motivation", "subsets"): [
        lambda answers, gold, b: BUILDS["motivation", "subsets"].brute_force(answers, "7", b),
        lambda answers, gold, b: BUILDS["motivation", "subsets"].brute_force(answers[:7], gold, b),
    ],
    ("oracle", "oracle"): [
        lambda acc, cost, lam: np.round(acc - lam * cost, 3).argmax(axis=1),
        lambda acc, cost, lam: np.round(acc - lam * cost, 4).argmax(axis=1),
    ],
    ("stopping", "induct"): [
        lambda worth, moves, lam: _induct(worth[:, :2], moves[:, :2, :2], lam),
    ],
    ("learning", "label policy"): [
        lambda known, acc, cost, lam, new: BUILDS["learning", "label policy"].brute_force(
            known[:, :2], acc, cost, lam, new[:, :2]
        ),
    ],
    ("markets", "dispatch"): [
        lambda capacity, fuel, demand: _dispatch(capacity, fuel, int(demand)),
        lambda capacity, fuel, demand: _dispatch(capacity, fuel.round(), demand),
    ],
}


def _vote(answers, gold):
    return BUILDS["data", "vote"].brute_force(answers, gold)


def _induct(worth, moves, lam):
    value = worth[-1]
    for n in reversed(range(len(moves))):
        value = np.maximum(worth[n], moves[n] @ value - lam)
    return value


def _dispatch(capacity, fuel, demand):
    run = np.zeros(len(capacity))
    for plant in np.argsort(fuel):
        run[plant] = min(capacity[plant], demand - run.sum())
    return run


def refused(place, answer):
    return Checker({"e": JUDGED[place]})("e", answer).right is False


@pytest.mark.parametrize("place", ACCEPTED, ids="-".join)
def test_what_was_accepted_once_is_refused(place):
    assert all(refused(place, function) for function in ACCEPTED[place])


def test_the_right_ones_beside_them_are_right():
    for place, function in (
        (("stopping", "induct"), _induct),
        (("markets", "dispatch"), _dispatch),
    ):
        assert Checker({"e": JUDGED[place]})("e", function).right


@pytest.mark.parametrize(
    "pair",
    [
        ("What is 12 plus 34?", "What is 12 with 34?"),
        ("Tell me what 12 and 34 make?", "Told you what 12 and 34 make?"),
        ("What is a dozen plus 34?", "What is 12 and about 34?"),
    ],
)
def test_one_sum_in_two_wordings_is_no_pair_of_sums(pair):
    hint = Checker({"e": JUDGED["learning", "blind"]})("e", pair).hint
    assert "same sum" in hint


def test_slips_of_the_keyboard_get_a_sentence():
    checked = Checker({"e": BUILDS["oracle", "oracle"]})
    turned = checked("e", lambda acc, cost, lam: (acc - lam * cost).argmax(axis=0))
    assert "axis=1" in turned.hint
    table = adalib.load("word-fewshot").table()
    with pytest.raises(ValueError, match="without quotes"):
        adalib.frontier(table).at("2")
    # Answers in place of their table are no slip any more.
    read = adalib.frontier(adalib.load("word-fewshot")).at(2)
    assert read.bound == adalib.frontier(table).at(2).bound
