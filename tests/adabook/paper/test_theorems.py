"""Every statement of chapter 4, on 2,000 random cases and on tables that hypothesis makes up; what
is false, refuted.

What a statement measures is itself held against enumeration, plain Python and HiGHS, which share no
code with it.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adabook.paper import theorems
from adabook.paper.theorems import COUNTEREXAMPLES, STATEMENTS, Case
from adalib.solve.frontier import frontier
from adalib.solve.integer import integer_optimum
from adalib.solve.oracle import average_cost, dual, oracle_labels, subdifferential
from adalib.solve.reference import lp_solution, milp_solution
from adalib.table import UtilityTable

COUNT = 2000
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
# At least this share of the random cases refutes each false claim; the shares themselves are in the
# chapter.
LEAST_SHARE = {"Theorem 2, drawn": 0.003, "Theorem 3": 0.02, "Proposition 1": 0.02}
DRAWN = list(theorems.random_cases(COUNT, seed=4))


@functools.cache
def measured(name: str) -> list[theorems.Statement]:
    """A statement on all random cases; several tests look at the same measurements."""
    return [STATEMENTS[name](case) for case in DRAWN]


def check_truths(name: str, case: Case, statement: theorems.Statement) -> None:
    """Every claim of the statement that we say is true must be."""
    for version in ("printed", "corrected", "steps"):
        for number, claim in enumerate(getattr(statement, version)):
            assert claim.holds or (name, version, number) in FALSE, (claim, case)


def averages(case: Case, labels) -> tuple[float, float]:
    """Mean accuracy and cost of labels, in plain Python."""
    n, k = case.acc.shape
    cost = np.broadcast_to(case.cost, (n, k))
    return sum(case.acc[i, j] for i, j in enumerate(labels)) / n, sum(
        cost[i, j] for i, j in enumerate(labels)
    ) / n


# What is true, on all random cases; the keys are the names that chapter 4 knows the tests by.
TRUE = {
    "test_theorem_1_cost_never_rises": "Theorem 1",
    "test_a_label_changes_at_most_k_minus_1": "Switches",
    "test_the_price_0_takes_the_cheapest_best": "The price 0",
    "test_the_ledger_balances": "Ledger",
    "test_weak_duality": "Weak duality",
    "test_the_subgradient": "Subgradient",
    "test_zero_is_a_slope_at_the_optimal_price": "Optimal price",
    "test_a_vertex_splits_at_most_one": "Vertices",
    "test_gap_at_most_price_times_slack": "Proposition 1",
    "test_everett": "Everett",
    "test_theorem_2_both_bounds": "Theorem 2",
    "test_theorem_2_as_drawn": "Theorem 2, drawn",
    "test_corollary_1_is_an_identity": "Corollary 1",
    "test_theorem_3_with_the_price": "Theorem 3",
    "test_least_regret_is_the_distance": "Own cost",
}


@pytest.mark.parametrize("name", TRUE.values(), ids=TRUE)
def test_what_is_true(name):
    for case, statement in zip(DRAWN, measured(name), strict=True):
        check_truths(name, case, statement)


@st.composite
def made_up(draw) -> Case:
    """Tables on a coarse lattice, where ties and coincidences are the rule."""
    n, k = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    acc = (
        np.array(draw(st.lists(st.integers(0, 6), min_size=n * k, max_size=n * k))).reshape(n, k)
        / 6
    )
    rows = draw(st.sampled_from([1, n]))
    rises = np.array(
        draw(st.lists(st.integers(0, 3), min_size=rows * k, max_size=rows * k))
    ).reshape(rows, k)
    cost = rises.cumsum(axis=1) if rows > 1 else rises.cumsum(axis=1)[0]
    table = UtilityTable(acc, cost, budgets=range(k))
    path = frontier(acc, cost)
    budget = path.cost[0] + draw(st.integers(0, 12)) / 12 * (path.cost[-1] - path.cost[0] + 0.5)
    lam = path.at(budget).lam + draw(st.sampled_from([0.0, 0.0, 0.25]))
    labels = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    labels = labels if draw(st.booleans()) else oracle_labels(acc, cost, lam)
    return Case("made up", table, budget, lam, labels, other=draw(st.integers(0, 8)) / 6)


@settings(max_examples=300, deadline=None)
@given(made_up())
def test_all_statements_on_made_up_tables(case):
    for name, statement in STATEMENTS.items():
        check_truths(name, case, statement(case))


@settings(max_examples=200, deadline=None)
@given(made_up(), st.integers(0, 2**32 - 1))
def test_everett_with_any_maximisers(case, seed):
    for ties in ("dearest", "random"):
        labels = oracle_labels(case.acc, case.cost, case.other, ties, rng=seed)
        assert all(
            claim.holds
            for claim in theorems.everett(case.acc, case.cost, case.other, labels).corrected
        )


def test_values_equal_enumeration():
    for case in DRAWN[:400]:
        every = itertools.product(range(case.table.k), repeat=case.table.n)
        plans = [averages(case, labels) for labels in every]
        value, least = (
            STATEMENTS["Proposition 1"](case).printed[0].left,
            case.table.cost[..., 0].mean(),
        )
        afford = [accuracy for accuracy, cost in plans if cost <= case.budget * (1 + 1e-12)]
        assert value == pytest.approx(max(afford), abs=TINY)
        assert case.budget >= least * (1 - 1e-12)
        # G is the upper envelope of one line a policy: accuracy plus price times what the policy
        # leaves unspent.
        for lam in (0.0, case.lam, case.other):
            lines = [accuracy + lam * (case.budget - cost) for accuracy, cost in plans]
            assert dual(case.acc, case.cost, lam, case.budget) == pytest.approx(
                max(lines), abs=TINY
            )


def test_values_equal_the_solver():
    for case in DRAWN[400:600]:
        statement = STATEMENTS["Proposition 1"](case)
        lp = lp_solution(case.acc, case.cost, case.budget)
        assert statement.printed[0].right == pytest.approx(lp.value, abs=TINY)
        assert STATEMENTS["Weak duality"](case).corrected[0].left == pytest.approx(
            lp.value, abs=TINY
        )
        for claim in theorems.vertex(case.acc, case.cost, case.budget, lp.shares).corrected:
            assert claim.holds, (claim, case)
    for case in DRAWN[700:800]:
        best = milp_solution(case.acc, case.cost, case.budget)
        assert STATEMENTS["Proposition 1"](case).printed[0].left == pytest.approx(
            best.value, abs=TINY
        )


def test_theorem_3_with_solver_values():
    for case in DRAWN[820:1000]:
        recovery = STATEMENTS["Theorem 3"](case)
        more = recovery.printed[0].right
        accuracy, cost = averages(case, case.labels)
        assert recovery.printed[0].left == pytest.approx(cost, abs=TINY)
        best = lp_solution(case.acc, case.cost, more).value - accuracy
        assert recovery.corrected[0].left == pytest.approx(best, abs=1e-8)
        assert best <= recovery.corrected[0].right + 1e-8
        own = lp_solution(case.acc, case.cost, cost).value - accuracy
        assert STATEMENTS["Own cost"](case).corrected[0].left == pytest.approx(own, abs=1e-8)


def test_regret_in_plain_python():
    for case in DRAWN[1000:1400]:
        n, k = case.acc.shape
        cost = np.broadcast_to(case.cost, (n, k))
        oracle = oracle_labels(case.acc, case.cost, case.other)
        regret = weighted = differs = worst = total = 0.0
        for i in range(n):
            net = [case.acc[i, j] - case.other * cost[i, j] for j in range(k)]
            gap = max(net) - min(net)
            wrong = bool(oracle[i] != case.labels[i])
            regret += (max(net) - net[case.labels[i]]) / n
            weighted, differs = weighted + wrong * gap / n, differs + wrong / n
            worst, total = max(worst, gap), total + gap / n
        first, second = theorems.imitation(case.acc, case.cost, case.other, case.labels).printed
        assert (first.left, first.right) == pytest.approx((regret, weighted), abs=1e-11)
        assert second.right == pytest.approx(worst * differs, abs=1e-11)
        drawn = theorems.figure_bounds(case.acc, case.cost, case.other, case.labels)
        assert drawn.printed[1].right == pytest.approx(total * differs, abs=1e-11)
        assert drawn.corrected[1].right == pytest.approx(weighted, abs=1e-11)


def test_subdifferential_ends_are_slopes():
    for case in DRAWN[1400:1700]:
        lam, step = case.lam, 1e-7
        low, high = subdifferential(case.acc, case.cost, lam, case.budget)
        here, right = dual(case.acc, case.cost, [lam, lam + step], case.budget)
        assert (right - here) / step == pytest.approx(high, abs=1e-6)
        if lam > 1e-3:
            left = dual(case.acc, case.cost, lam - step, case.budget)
            assert (here - left) / step == pytest.approx(low, abs=1e-6)


def test_split_columns_are_neighbours():
    seen = 0
    for case in DRAWN:
        split = frontier(case.acc, case.cost).at(case.budget).split
        if split is None:
            continue
        seen += 1
        row, cost = case.acc[split.row], np.broadcast_to(case.cost, case.acc.shape)[split.row]
        # Strictly between the two costs no column reaches the line; beyond them none lies above it.
        slope = (row[split.high] - row[split.low]) / (cost[split.high] - cost[split.low])
        over = row - (row[split.low] + slope * (cost - cost[split.low]))
        between = (cost > cost[split.low]) & (cost < cost[split.high])
        assert (over <= 1e-11).all()
        assert (over[between] < 0).all() or case.name in ("ties", "free", "equal costs", "counted")
    assert seen > 500


def test_without_a_least_cost_no_price_is_best():
    # x uniform on (0, 1], Acc = (0, 1), C = (1, 1 + x), B = 1, cut into n questions: the best price
    # grows with n.
    for n in (5, 50, 500):
        x = (np.arange(n) + 0.5) / n
        acc, cost = np.tile([0.0, 1.0], (n, 1)), np.column_stack([np.ones(n), 1 + x])
        assert frontier(acc, cost).at(1).lam == pytest.approx(2 * n)
        assert dual(acc, cost, [1.0, n / 1.0], 1) == pytest.approx([0.5, 1 / (2 * n)], rel=0.02)


def test_without_atoms_there_is_no_gap():
    """Uniform x in [0, 1], Acc = (0, x), C = (1, 2): V(1 + t) = t - t^2/2 = min G; N questions come
    within 1/N."""
    for t in (0.1, 0.37, 0.5, 0.9):
        exact = t - t * t / 2
        lam = np.linspace(0, 1, 100_001)
        assert ((1 - lam) ** 2 / 2 + lam * t).min() == pytest.approx(exact, abs=1e-9)
        for n in (10, 100, 1000):
            x = (np.arange(n) + 0.5) / n
            claim = theorems.strong_duality(np.column_stack([0 * x, x]), [1, 2], 1 + t).printed[0]
            assert abs(claim.left - exact) <= 1 / n
            assert 0 <= claim.gap + 1e-12 <= 1 / n


@pytest.mark.parametrize(("name", "version", "number"), FALSE)
def test_each_false_claim_falls_to_its_counterexample(name, version, number, record_property):
    case = COUNTEREXAMPLES[FALSE[name, version, number]]
    assert not getattr(STATEMENTS[name](case), version)[number].holds
    check_truths(name, case, STATEMENTS[name](case))
    share = np.mean([not getattr(statement, version)[number].holds for statement in measured(name)])
    record_property("share", float(share))
    assert share > LEAST_SHARE.get(name, 0.1)


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


def test_step_1_fails_at_a_solvers_vertex():
    """The printed Step 1 says that a vertex splits no question; HiGHS returns one that does."""
    case = COUNTEREXAMPLES["gap"]
    shares = lp_solution(case.acc, case.cost, case.budget).shares
    assert shares == pytest.approx(np.array([[0.5, 0.5]]))
    assert not theorems.vertex(case.acc, case.cost, case.budget, shares).steps[0].holds
    # The two perturbations of the printed argument: one of them always breaks the budget.
    for delta in (0.1, -0.1):
        moved = shares + delta * np.array([[1, -1]])
        assert ((moved @ case.cost)[0] > case.budget) == (delta < 0)


def test_the_dual_bound_needs_its_budget():
    """The printed V(B') <= G(lam) with G at B: false; with G at B', that is G plus lam (B' - B),
    true."""
    broken = 0
    for case, recovery in zip(DRAWN, measured("Theorem 3"), strict=True):
        step, more = recovery.steps[0], recovery.printed[0].right
        broken += not step.holds
        shifted = step.right + case.lam * (more - case.budget)
        assert shifted == pytest.approx(dual(case.acc, case.cost, case.lam, more), abs=TINY)
        assert step.left <= shifted + TINY
    assert broken > COUNT / 100


def test_the_last_step_needs_a_spent_budget():
    """lam (B - cost) <= 0 fails exactly when money is left at a positive price."""
    broken = 0
    for case, recovery in zip(DRAWN, measured("Theorem 3"), strict=True):
        step = recovery.steps[1]
        cost = averages(case, case.labels)[1]
        broken += not step.holds
        assert step.holds == (case.lam * (case.budget - cost) <= 1e-9 * (1 + abs(step.left)))
    assert broken > COUNT / 100


def test_a_perfect_copy_can_break_theorem_3():
    """eps = 0 leaves no excuse: the printed bound is 0, and the corrected one is price times
    slack."""
    broken = 0
    for case in DRAWN:
        copy = oracle_labels(case.acc, case.cost, case.lam)
        recovery = theorems.recovery(case.acc, case.cost, case.lam, case.budget, copy)
        slack = case.budget - average_cost(case.acc, case.cost, case.lam)
        assert recovery.printed[1].right == 0
        assert recovery.corrected[0].right == pytest.approx(case.lam * slack, abs=TINY)
        broken += not recovery.printed[1].holds
    assert broken > 40


def test_surveys_of_random_cases():
    for case in DRAWN[:500]:
        assert average_cost(case.acc, case.cost, case.lam) <= case.budget * (1 + 1e-12)
    found = theorems.survey(STATEMENTS["Theorem 3"], DRAWN[:50])
    assert len(found) == 50 * 6
    printed = found[(found.version == "printed") & found.claim.str.startswith("(2)")]
    expected = [STATEMENTS["Theorem 3"](case).printed[1].holds for case in DRAWN[:50]]
    assert printed.holds.tolist() == expected
    assert np.allclose(found.gap, found.right - found.left)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theorems.cost_monotone([[0, 1]], [1, 2], 1.0, 1.0), "lower first"),
        (lambda: theorems.recovery([[0, 1]], [1, 2], 0.1, 1.5, [1]), "more than the budget"),
        (lambda: theorems.imitation([[0, 1]], [1, 2], 0.1, [2]), "column indices"),
        (lambda: theorems.imitation([[0, 1]], [1, 2], 0.1, [0.5]), "column indices"),
        (lambda: theorems.everett([[0, 1]], [1, 2], 0.1, [0]), "maximiser"),
        (lambda: theorems.strong_duality([[0, 2]], [1, 2], 1.5), "acc"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_every_statement_is_tested():
    assert set(TRUE.values()) == set(STATEMENTS)


def test_a_rule_that_randomises_between_best_buys_needs_the_relaxed_value():
    """Everett: a coin between two best buys lies on the relaxed value and above the whole one."""
    acc = np.array([[0.0, 1.0]])
    cost = np.array([1.0, 2.0])
    half = 1.5  # what a fair coin between the two best buys at the price 1 costs, and it scores 0.5
    assert frontier(acc, cost).at(half).bound == pytest.approx(0.5)
    assert integer_optimum(acc, cost, half).accuracy == 0


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


@pytest.mark.parametrize("last", [3, 5, 20, 61])
def test_the_oracle_beats_every_stopping_rule_on_half_hopeless_questions(last):
    bound = min(best_stopper(lam, last) + 2 * lam for lam in np.linspace(0, 0.2, 2001))
    assert bound == pytest.approx({3: 0.3396}.get(last, 0.3532), abs=1e-4)
    assert bound < 0.372
