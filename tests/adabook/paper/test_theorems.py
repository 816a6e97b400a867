"""Every statement of chapter 4, on random cases and on tables that hypothesis makes up; what
is false, refuted.

What a statement measures is itself held against enumeration, plain Python and HiGHS, which share no
code with it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import allocations, averages, tables

from adabook.highs import lp_solution
from adabook.paper import theorems
from adabook.paper.theorems import COUNTEREXAMPLES, STATEMENTS, Case
from adalib.solve.frontier import frontier
from adalib.solve.oracle import dual, oracle_labels, subdifferential
from adalib.table import UtilityTable

TINY = 1e-9

# The claims of the paper that do not hold in general, and what refutes each: (function, version,
# number) -> name.
FALSE = {
    ("The price 0", "printed", 0): "free",
    ("Optimal price", "printed", 0): "gap",
    ("Vertices", "steps", 0): "gap",
    ("Proposition 1", "printed", 0): "gap",
    ("Proposition 1", "printed", 1): "perfect copy",
    ("Theorem 2, drawn", "printed", 0): "accuracy",
    ("Theorem 2, drawn", "printed", 1): "mean gap",
    ("Theorem 3", "printed", 1): "thrift",
    ("Theorem 3", "steps", 0): "wrong bound",
    ("Theorem 3", "steps", 1): "perfect copy",
}
DRAWN = list(theorems.random_cases(700, seed=4))


def check_truths(name: str, case: Case) -> None:
    """Every claim of the statement that we say is true must be."""
    statement = STATEMENTS[name](case)
    for version in ("printed", "corrected", "steps"):
        for number, claim in enumerate(getattr(statement, version)):
            assert claim.holds or (name, version, number) in FALSE, (claim, case)


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_is_true(name):
    for case in DRAWN:
        check_truths(name, case)


@st.composite
def made_up(draw) -> Case:
    """A table of any kind with a budget, a price and a policy."""
    acc, cost = draw(tables(4, 4))
    n, k = acc.shape
    path = frontier(acc, cost)
    budget = path.cost[0] + draw(st.integers(0, 12)) / 12 * (path.cost[-1] - path.cost[0] + 0.5)
    lam = path.at(budget).lam + draw(st.sampled_from([0.0, 0.25]))
    labels = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    labels = labels if draw(st.booleans()) else oracle_labels(acc, cost, lam)
    table = UtilityTable(acc, cost, budgets=range(k))
    return Case(table, budget, lam, labels, other=draw(st.integers(0, 8)) / 6)


@settings(max_examples=150)
@given(made_up())
def test_all_statements_on_made_up_tables(case):
    for name in STATEMENTS:
        check_truths(name, case)


@given(made_up(), st.integers(0, 2**32 - 1))
def test_everett_with_any_maximisers(case, seed):
    for ties in ("dearest", "random"):
        labels = oracle_labels(case.acc, case.cost, case.lam, ties, rng=seed)
        assert all(claim.holds for claim in theorems.everett(case, labels).corrected)


def test_values_equal_enumeration():
    for case in DRAWN[:140]:
        costs, accuracies = allocations(case.acc, case.cost)
        afford = accuracies[costs <= case.budget * (1 + 1e-12)]
        value = STATEMENTS["Proposition 1"](case).printed[0].left
        assert value == pytest.approx(afford.max(), abs=TINY)


def test_values_equal_the_solver():
    for case in DRAWN[140:280]:
        statement = STATEMENTS["Proposition 1"](case)
        lp = lp_solution(case.acc, case.cost, case.budget)
        assert statement.printed[0].right == pytest.approx(lp.value, abs=TINY)
        assert STATEMENTS["Weak duality"](case).corrected[0].left == pytest.approx(
            lp.value, abs=TINY
        )
        for claim in theorems.vertex(case, lp.shares).corrected:
            assert claim.holds, (claim, case)


def test_theorem_3_with_solver_values():
    for case in DRAWN[350:490]:
        recovery = STATEMENTS["Theorem 3"](case)
        more = recovery.printed[0].right
        cost, accuracy = averages(case.acc, case.cost, case.labels)
        assert recovery.printed[0].left == pytest.approx(cost, abs=TINY)
        best = lp_solution(case.acc, case.cost, more).value - accuracy
        assert recovery.corrected[0].left == pytest.approx(best, abs=1e-8)
        assert best <= recovery.corrected[0].right + 1e-8
        own = lp_solution(case.acc, case.cost, cost).value - accuracy
        assert STATEMENTS["Own cost"](case).corrected[0].left == pytest.approx(own, abs=1e-8)


def test_regret_by_rows():
    for drawn in DRAWN[490:630]:
        case = replace(drawn, lam=drawn.other)
        net = case.acc - case.lam * case.cost
        gaps = np.ptp(net, axis=1)
        wrong = oracle_labels(case.acc, case.cost, case.lam) != case.labels
        regret = (net.max(axis=1) - net[np.arange(len(net)), case.labels]).mean()
        first, second = theorems.imitation(case).printed
        weighted = gaps[wrong].sum() / len(net)
        assert (first.left, first.right) == pytest.approx((regret, weighted), abs=1e-11)
        assert second.right == pytest.approx(gaps.max() * wrong.mean(), abs=1e-11)
        figure = theorems.figure_bounds(case)
        assert figure.printed[1].right == pytest.approx(gaps.mean() * wrong.mean(), abs=1e-11)
        assert figure.corrected[1].right == pytest.approx(weighted, abs=1e-11)


def test_the_price_is_a_supergradient_of_the_solvers_value():
    """The sensitivity theorem: more budget adds at most its price, and less takes at least it."""
    for case in DRAWN[280:350]:
        path = frontier(case.acc, case.cost)
        best = path.at(case.budget)
        for budget in (path.cost[0], (path.cost[0] + case.budget) / 2, case.budget + 0.5):
            value = lp_solution(case.acc, case.cost, budget).value
            assert value <= best.bound + best.lam * (budget - case.budget) + 1e-8


def test_ends_of_the_subdifferential_are_slopes_of_the_bound():
    step = 1e-7
    for case in DRAWN[630:]:
        low, high = subdifferential(case.acc, case.cost, case.lam, case.budget)
        here, right = dual(case.acc, case.cost, [case.lam, case.lam + step], case.budget)
        assert (right - here) / step == pytest.approx(high, abs=1e-6)
        if case.lam > 1e-3:
            left = dual(case.acc, case.cost, case.lam - step, case.budget)
            assert (here - left) / step == pytest.approx(low, abs=1e-6)


def best_stopper(price: float, last: int) -> float:
    """Net value of the best stopping rule in the half hopeless world, by backward induction.

    Only right answers repeat, so after a pair the vote is right and stays right. Until then all
    answers differ: the question is hopeless, or none or one of them is right.
    """

    def all_different(n: int, hopeless: float, none_right: float, one_right: float) -> float:
        chance = hopeless + none_right + one_right
        stop = one_right / n - price * n * chance  # a tie of n
        if n == last:
            return stop
        pair = 0.6 * one_right * (1 - price * (n + 1))
        after = (hopeless, 0.4 * none_right, 0.4 * one_right + 0.6 * none_right)
        return max(stop, pair + all_different(n + 1, *after))

    return all_different(1, 0.5, 0.2, 0.3)


def test_the_oracle_beats_every_stopping_rule_on_half_hopeless_questions():
    """The oracle scores 0.372 at cost 2; the least bound over prices is what a rule can reach."""
    bound = min(best_stopper(lam, 61) + 2 * lam for lam in np.linspace(0, 0.2, 2001))
    assert bound == pytest.approx(0.3532, abs=1e-4)


def test_without_atoms_there_is_no_gap():
    """Uniform x in [0, 1], Acc = (0, x), C = (1, 2): V(1 + t) = t - t^2/2 = min G; N questions come
    within 1/N."""
    for t in (0.1, 0.37, 0.5, 0.9):
        exact = t - t * t / 2
        for n in (10, 100, 1000):
            x = (np.arange(n) + 0.5) / n
            table = UtilityTable(np.column_stack([0 * x, x]), [1, 2])
            claim = theorems.strong_duality(Case(table, 1 + t)).printed[0]
            assert abs(claim.left - exact) <= 1 / n
            assert 0 <= claim.gap + 1e-12 <= 1 / n


@pytest.mark.parametrize(("name", "version", "number"), FALSE)
def test_each_false_claim_falls_to_its_counterexample(name, version, number):
    case = COUNTEREXAMPLES[FALSE[name, version, number]]
    assert not getattr(STATEMENTS[name](case), version)[number].holds
    check_truths(name, case)


@pytest.mark.parametrize(
    ("name", "function", "version", "number", "left", "right"),
    [
        ("gap", "Proposition 1", "printed", 0, 0, 1 / 2),
        ("gap", "Optimal price", "printed", 0, 1, 3 / 2),
        ("gap", "Vertices", "steps", 0, 1, 0),
        ("perfect copy", "Theorem 3", "printed", 1, 1 / 2, 0),
        ("perfect copy", "Theorem 3", "corrected", 0, 1 / 2, 1 / 2),
        ("perfect copy", "Theorem 3", "steps", 1, 1 / 2, 0),
        ("perfect copy", "Proposition 1", "printed", 0, 1 / 2, 1 / 2),
        ("thrift", "Theorem 3", "printed", 1, 1 / 2, 3 / 8),
        ("thrift", "Theorem 3", "corrected", 0, 1 / 2, 1 / 8 + 0.05 * 15),
        ("thrift", "Theorem 2", "printed", 0, 1 / 8, 1 / 8),
        ("wrong bound", "Theorem 3", "steps", 0, 1, 0),
        ("accuracy", "Theorem 2, drawn", "printed", 0, 1, 1 / 2),
        ("accuracy", "Theorem 2", "printed", 0, 1 / 2, 1 / 2),
        ("mean gap", "Theorem 2, drawn", "printed", 1, 1 / 4, 1 / 8),
        ("free", "The price 0", "printed", 0, 1, 2),
    ],
)
def test_counterexamples_by_hand(name, function, version, number, left, right):
    """The two sides as computed on paper."""
    case = COUNTEREXAMPLES[name]
    claim = getattr(STATEMENTS[function](case), version)[number]
    assert (claim.left, claim.right) == pytest.approx((left, right), abs=1e-12)


def test_surveys_of_random_cases():
    found = theorems.survey(STATEMENTS["Theorem 3"], DRAWN[:50])
    printed = found[(found.version == "printed") & found.claim.str.startswith("(2)")]
    expected = [STATEMENTS["Theorem 3"](case).printed[1].holds for case in DRAWN[:50]]
    assert printed.holds.tolist() == expected
    assert np.allclose(found.gap, found.right - found.left)


@pytest.mark.parametrize(
    ("statement", "lam", "labels", "words"),
    [
        ("Theorem 3", 0.1, [1], "more than the budget"),
        ("Theorem 2", 0.1, [2], "column indices"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(statement, lam, labels, words):
    case = Case(UtilityTable([[0, 1]], [1, 2]), 1.5, lam, labels)
    with pytest.raises(ValueError, match=words):
        STATEMENTS[statement](case)
    with pytest.raises(ValueError, match="maximiser"):
        theorems.everett(case, [0])
