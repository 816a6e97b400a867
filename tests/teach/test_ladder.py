"""What the reader builds: brute force and package pass, and every known mistake is called by its name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import adalib
import adalib.solve.reference
from adalib.teach.exercises import checker, dispatch, ladder, ladder_answers, ladder_rest
from adalib.teach.exercises.build import Build
from adalib.teach.exercises.tables import TARGETED, best_value

RUNGS = {
    name: rung
    for module in (ladder, ladder_answers, ladder_rest, dispatch)
    for name, rung in vars(module).items()
    if isinstance(rung, Build)
}
PACKAGE = {
    "ORACLE": adalib.oracle_labels,
    "AVERAGE_COST": adalib.average_cost,
    "BISECTION": lambda acc, cost, budget: adalib.frontier(acc, cost).at(budget).lam,
    "FRONTIER": lambda acc, cost: [
        *zip(*(getattr(adalib.frontier(acc, cost), x) for x in ("cost", "accuracy")), strict=True)
    ],
    "DUAL": adalib.dual,
    "SUBGRADIENT": lambda acc, cost, lam, budget: adalib.subdifferential(acc, cost, lam, budget)[1],
    "VOTE": lambda answers, gold: adalib.majority(answers).get(gold, 0.0),
    "SUBSETS": lambda answers, gold, b: adalib.acc_subsets(
        [adalib.answer_classes(answers)], [[float(a == gold) for a in answers]], [b]
    ),
}


@pytest.mark.parametrize("name", RUNGS)
def test_the_brute_force_passes_and_every_mistake_is_named(name):
    check = checker({name: RUNGS[name]})
    assert check(name, RUNGS[name].best).right
    assert len(RUNGS[name].mistakes) >= 3
    for said, mistake in RUNGS[name].mistakes.items():
        found = check(name, mistake)
        assert (found.right, found.hint) == (False, said)
        assert found.picture
        assert found.more


@pytest.mark.parametrize("name", PACKAGE)
def test_the_package_passes(name):
    assert checker({name: RUNGS[name]})(name, PACKAGE[name]).right


def test_a_coin_from_the_package_passes():
    def coin(acc, cost, budget):
        found = adalib.frontier(acc, cost).at(budget)
        plan = np.eye(len(cost))[found.labels]
        if found.split:
            row, low, high, share = found.split
            plan[row] = (1 - share) * np.eye(len(cost))[low] + share * np.eye(len(cost))[high]
        return plan

    assert checker({"coin": ladder.COIN})("coin", coin).right


def test_the_best_value_is_the_linear_program():
    for case in TARGETED.cases(30):
        assert best_value(**case) == pytest.approx(adalib.solve.reference.lp_value(**case), abs=1e-7)


def test_plants_of_equal_fuel_may_share_as_they_like():
    """Merit order with turned ties, and by the linear program."""

    def solved(capacity, fuel, demand):
        bounds = [(0, most) for most in capacity]
        return linprog(fuel, A_eq=[np.ones(len(fuel))], b_eq=[demand], bounds=bounds).x.round(9)

    def turned(capacity, fuel, demand):
        run = np.zeros(len(fuel))
        for plant in sorted(range(len(fuel)), key=lambda i: (fuel[i], -i)):
            run[plant] = min(capacity[plant], demand - run.sum())
        return run

    check = checker({"dispatch": dispatch.DISPATCH})
    assert check("dispatch", solved).right
    assert check("dispatch", turned).right
    assert "above its capacity" in check("dispatch", lambda capacity, fuel, demand: 0 * fuel + demand).hint
    assert "the demand is" in check("dispatch", lambda capacity, fuel, demand: 0 * fuel).hint


def test_the_failing_table_is_small():
    """What is wrong shows with one question and two budgets, and the check finds that it does."""
    found = checker({"oracle": ladder.ORACLE})("oracle", lambda acc, cost, lam: (acc > lam * cost).argmax(axis=1))
    assert "question 0" in found.picture
    assert "question 1" not in found.picture
    assert len(found.picture.splitlines()[1].split()) == 3  # "cost" and two budgets
    assert "<pre>" in found._repr_html_()


class TestAnythingAReaderMayHandIn:
    check = staticmethod(checker({"oracle": ladder.ORACLE, "coin": ladder.COIN}))

    def test_the_empty_function_is_no_answer(self):
        found = self.check("oracle", lambda acc, cost, lam: None)
        assert found.right is None
        assert "returns nothing" in repr(found)

    @pytest.mark.parametrize("answer", [3, "oracle", [1, 2], np.zeros(3)])
    def test_what_is_no_function(self, answer):
        assert "the function itself" in self.check("oracle", answer).hint

    @pytest.mark.parametrize(
        ("function", "said"),
        [
            (lambda acc, cost, lam: 1 / 0, "it raised ZeroDivisionError"),
            (lambda acc: acc, "it raised TypeError"),
            (lambda acc, cost, lam: cost[99], "it raised IndexError"),
            (lambda acc, cost, lam: "column 2", "it returned 'column 2'"),
            (lambda acc, cost, lam: [0], "instead of"),
            (lambda acc, cost, lam: {}, "it returned {}"),
            (lambda acc, cost, lam: [float("nan")] * len(acc), "not the best"),
            (lambda acc, cost, lam: [None] * len(acc), ""),
            (lambda acc, cost, lam: (acc - lam * cost).argmax(axis=1) if lam else None, "returned nothing"),
        ],
    )
    def test_an_error_is_a_hint_with_its_input(self, function, said):
        found = self.check("oracle", function)
        assert found.right is False
        assert said in found.hint
        assert "acc" in found.picture or "price" in found.picture

    def test_a_function_that_spoils_its_input_spoils_nothing(self):
        def spoils(acc, cost, lam):
            labels = (acc - lam * cost).argmax(axis=1)
            acc[:] = 0
            return labels

        assert self.check("oracle", spoils).right

    def test_a_loop_without_end_is_stopped(self, monkeypatch):
        monkeypatch.setattr("adalib.teach.exercises.build._SECONDS", 0.3)

        def endless(acc, cost, lam):
            while True:
                try:
                    lam += 1
                except Exception:
                    lam = 0

        found = self.check("oracle", endless)
        assert "does its loop end" in found.hint
        assert "lam" in found.picture

    def test_a_plan_that_overspends_is_told_so(self):
        assert (
            "more than the budget"
            in self.check("coin", lambda acc, cost, budget: np.eye(len(cost))[-np.ones(len(acc), int)]).hint
        )
