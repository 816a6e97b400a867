"""What the reader builds, proves and finds: brute force and package pass, and every known mistake
has its name."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
import roads

import adalib
from adabook.exercises import JUDGED, Checker
from adabook.exercises.behaviour import HOLDS, Build, Proof
from adabook.exercises.cases import TARGETED, best_value
from adabook.highs import lp_solution
from adalib.solve.oracle import chosen

BUILDS, PROOFS = (
    {place: one for place, one in JUDGED.items() if isinstance(one, kind)}
    for kind in (Build, Proof)
)


def verdict(place, answer):
    """The verdict on an answer to the exercise at a place: chapter and name."""
    return Checker({"e": JUDGED[place]})("e", answer)


@pytest.mark.parametrize("place", BUILDS, ids="-".join)
def test_every_mistake_is_named(place):
    assert verdict(place, BUILDS[place].brute_force).right
    for name, mistake in BUILDS[place].mistakes.items():
        checked = verdict(place, mistake)
        assert (checked.right, checked.hint) == (False, name)
        assert checked.picture
        assert checked.more


def _halved(acc, cost, budget, end, steps=60):
    ends = [0.0, 5.0]
    for _ in range(steps):
        middle = sum(ends) / 2
        ends[int(adalib.average_cost(acc, cost, middle, ties="first") <= budget)] = middle
    return ends[end]


def test_a_price_that_keeps_the_budget_is_right_and_one_below_is_not():
    assert verdict(("budgets", "bisection"), lambda *case: _halved(*case, 1)).right
    assert verdict(
        ("budgets", "bisection"), lambda *case: np.ceil(_halved(*case, 1) * 1e4 - 1e-6) / 1e4
    ).right  # four digits
    ends = [lambda *case, n=steps: _halved(*case, 0, n) for steps in (25, 60)]
    for wrong in (*ends, lambda *case: adalib.bisect(*case).lam):
        assert "round up" in verdict(("budgets", "bisection"), wrong).hint


def test_the_best_value_is_the_linear_program():
    for case in TARGETED.cases(30):
        assert best_value(**case) == pytest.approx(lp_solution(**case).value, abs=1e-7)


def test_plants_of_equal_fuel_may_share_as_they_like():
    """Merit order with turned ties; the linear program is one of the other roads."""

    def turned(capacity, fuel, demand):
        run = np.zeros(len(fuel))
        for plant in sorted(range(len(fuel)), key=lambda i: (fuel[i], -i)):
            run[plant] = min(capacity[plant], demand - run.sum())
        return run

    place = "markets", "dispatch"
    assert verdict(place, turned).right
    assert (
        "above its capacity"
        in verdict(place, lambda capacity, fuel, demand: 0 * fuel + demand).hint
    )
    assert "the demand is" in verdict(place, lambda capacity, fuel, demand: 0 * fuel).hint


def test_the_failing_table_is_small():
    """What is wrong shows with one question and two budgets, and the check finds that it does."""
    checked = verdict(
        ("oracle", "oracle"), lambda acc, cost, lam: (acc > lam * cost).argmax(axis=1)
    )
    assert "question 0" in checked.picture
    assert "question 1" not in checked.picture
    assert len(checked.picture.splitlines()[1].split()) == 3  # "cost" and two budgets
    assert "<pre>" in checked._repr_html_()


def swallows_everything(acc, cost, lam):
    while True:
        try:
            lam += 1
        except:  # noqa: E722
            lam = 0


def sleeps(acc, cost, lam):
    while True:
        time.sleep(60)


class TestAnyFunction:
    place = "oracle", "oracle"

    def test_a_function_that_returns_nothing_is_no_answer(self):
        assert "no answer yet" in repr(verdict(self.place, lambda acc, cost, lam: None))

    def test_a_function_that_spoils_its_input_is_judged_all_the_same(self):
        def spoils(acc, cost, lam):
            labels = (acc - lam * cost).argmax(axis=1)
            acc[:] = 0
            return labels

        assert verdict(self.place, spoils).right

    @pytest.mark.parametrize("answer", [3, "oracle", [1, 2], np.zeros(3)])
    def test_what_is_no_function(self, answer):
        assert "the function itself" in verdict(self.place, answer).hint

    @pytest.mark.parametrize(
        ("function", "hint"),
        [
            (lambda acc, cost, lam: 1 / 0, "it raised ZeroDivisionError"),
            (lambda acc: acc, "it raised TypeError"),
            (lambda acc, cost, lam: cost[99], "it raised IndexError"),
            (lambda acc, cost, lam: "column 2", "it returned 'column 2'"),
            (lambda acc, cost, lam: [0], "instead of"),
            (lambda acc, cost, lam: {}, "it returned {}"),
            (lambda acc, cost, lam: [float("nan")] * len(acc), "not the best"),
            (lambda acc, cost, lam: [None] * len(acc), ""),
            (
                lambda acc, cost, lam: (acc - lam * cost).argmax(axis=1) if lam else None,
                "returned nothing",
            ),
        ],
    )
    def test_an_error_is_a_hint_with_its_input(self, function, hint):
        checked = verdict(self.place, function)
        assert checked.right is False
        assert hint in checked.hint
        assert "acc" in checked.picture or "price" in checked.picture

    def test_a_plan_that_overspends_gets_that_hint(self):
        dearest = verdict(
            ("budgets", "coin"),
            lambda acc, cost, budget: np.eye(len(cost))[-np.ones(len(acc), int)],
        )
        assert "more than the budget" in dearest.hint

    @pytest.mark.parametrize("endless", [swallows_everything, sleeps])
    def test_a_loop_without_end_is_stopped_at_its_first_call(self, endless, monkeypatch):
        """A second call would take the named seconds once more."""
        calls = []

        def counted(acc, cost, lam):
            calls.append(lam)
            return endless(acc, cost, lam)

        monkeypatch.setattr("adabook.exercises.behaviour.SECONDS", 0.1)
        checked = verdict(self.place, counted)
        assert "0.1 seconds" in checked.hint
        assert "lam" in checked.picture
        assert len(calls) == 1


def lines(place):
    """The lines of a proof that holds, without the sentences between them."""
    return list(filter(callable, roads.chain(place)))


@pytest.mark.parametrize("place", PROOFS, ids="-".join)
def test_a_proof_is_commented_on(place, monkeypatch):
    """Every road that holds is let through; a person reads whether it is argued."""
    monkeypatch.setattr("adabook.exercises.behaviour.PROOF_CASES", 200)  # a false step shows soon
    first, *between, last = lines(place)
    whole = verdict(place, roads.chain(place))
    assert whole.right
    assert whole.hint == HOLDS
    assert "right" not in repr(whole)
    bare = verdict(place, [first, last])
    assert bare.right
    assert PROOFS[place].jump in bare.hint
    for name, mistake in PROOFS[place].mistakes.items():
        checked = verdict(place, [first, mistake, *between[1:], last])
        assert not checked.right
        assert "fails" in checked.hint
        assert name in checked.hint
        assert checked.picture
        assert checked.more


class TestAnyChain:
    place = "duality", "weak duality"
    lines = lines(place)

    @pytest.mark.parametrize(
        ("chain", "hint"),
        [
            ("weak duality", "a list of lines"),
            ([1, 2], "a list of lines"),
            ([lambda acc: 0.0], "a list of lines"),
            (
                [lambda accuracy: 0] * 2,
                "line 1 names accuracy; the objects are acc, budget, cost, lam, plan",
            ),
            (
                [lambda acc: 1 / 0, lambda acc: 1],
                "line 1 has no value: it raised ZeroDivisionError",
            ),
            ([lambda acc: acc, lambda acc: 1], "line 1 has no value: it is array"),
            (
                [lambda acc: 0.0, *lines[1:]],
                "the first line is 0 here, but that side of the claim is",
            ),
            ([*lines[:2], lambda acc: 9], "the last line is 9 here"),
        ],
    )
    def test_it_gets_a_hint(self, chain, hint):
        checked = verdict(self.place, chain)
        assert checked.right is False
        assert hint in checked.hint

    def test_the_counterexample_is_small(self):
        def turned(acc, cost, lam, budget, plan):
            return chosen(acc, plan).mean() + lam * (chosen(cost, plan).mean() - budget)

        first, _, last = self.lines
        picture = verdict(self.place, [first, turned, last]).picture
        assert picture.splitlines()[0].split() == ["acc", "=", "[[0.", "0.]]"]
        assert picture.splitlines()[1].split()[0] == "cost"  # so there was one question


# Objects that miss the property, in three ways or more.
MISSES = {
    ("duality", "gap"): [
        ([[0, 1]], [1, 2], 1.5),
        ([[0, 1], [0, 1]], [1, 2], 1.5),
        ([[0, 2], [0, 1]], [1, 2], 1.25),
        ([[0, 1], [0, 1]], [1, 2], "much"),
    ],
    ("duality", "exact"): [4, 1, 1.5, "many"],
    ("a_duality", "perfect"): [
        ([[0, 1], [0, 1]], [1, 2], 1.5),
        ([[0, 1], [0.5, 0.5]], [1, 2], 1.5),
        ([[0, 2]], [1, 2], 1),
        (1, 2),
    ],
    ("a_duality", "mean gap"): [
        ([[1, 0], [1, 0]], [1, 2], 0.01, [1, 0]),
        ([[1, 0]], [1, 2], -1, [0]),
        7,
    ],
    ("estimation", "null"): [
        0.5,
        adalib.flat_null(10),
        adalib.flat_null(60),
        adalib.beta_population(60, 0.5, 0.5),
        adalib.two_answer(np.arange(60) % 2),
    ],
    ("learning", "blind"): [
        ("What is 12 plus 34?", "What is 12 plus 34?"),
        ("what is two plus three?", "three plus two is what?"),
        ("what is 12 plus 34", "what is 12 over 34"),
        ("What does the cat eat?", "What does the dog eat?"),
        ("What is 12 plus 34?", "What is 12 times 34?"),
        ("Why?", "How?"),
        "one text",
    ],
    ("b_replication", "thin"): [
        "twenty questions",
        adalib.UtilityTable(np.zeros((19, 5)), roads.BUDGETS),
        roads.thin([0.5] * 5, [0.1, 0.1, 0.9, 0.9, 0.9]),
        roads.thin([0.1, 0.1, 0.9, 0.9, 0.9], [0.5] * 5),
        roads.thin([0.4, 0.4, 0.4, 0.4, 0.4001], [0.5] * 5),
    ],
    ("deploy", "controller"): [
        "a price",
        lambda costs, budget, first, step: first,
        lambda costs, budget, first, step: np.full(len(costs), first),
    ],
}


@pytest.mark.parametrize("place", MISSES, ids="-".join)
def test_objects_without_the_property_get_hints(place):
    checked = [verdict(place, answer) for answer in MISSES[place]]
    assert not any(one.right for one in checked)
    assert all(one.hint for one in checked)


def test_every_budget_without_a_gap_is_exact_and_no_other_is():
    """By brute force: 27 policies, and the bound at every price where two budgets tie."""
    acc = np.array([[0.9, 0.9, 0.9], [0.2, 0.6, 0.8], [0.3, 0.3, 0.75]])
    cost = np.array([1, 2, 4])
    policies = list(product(range(3), repeat=3))
    ties = {0.0, 0.4, 0.15, 0.1, 0.2, 0.225}
    for budget in np.linspace(1.05, 3.95, 59):
        fitting = [list(one) for one in policies if cost[list(one)].mean() <= budget + 1e-12]
        best = max(acc[range(3), one].mean() for one in fitting)
        least = min((acc - lam * cost).max(axis=1).mean() + lam * budget for lam in ties)
        has_no_gap = least - best < 1e-9
        assert verdict(("duality", "exact"), budget).right == has_no_gap, budget
    assert verdict(("duality", "exact"), 7 / 3).right


@pytest.mark.parametrize(
    "pair",
    [
        ("What is twelve plus five?", "What is twelve plus nine?"),  # numbers as words
        ("What is 12 + 34?", "What is 12 - 34?"),  # the same words, another sign
    ],
)
def test_two_sums_that_no_feature_tells_apart_are_right(pair):
    assert verdict(("learning", "blind"), pair).right
