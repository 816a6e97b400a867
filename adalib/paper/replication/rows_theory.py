"""Rows of sections 2 to 4 of the paper and of its proofs: the program, the price, the theorems."""

from __future__ import annotations

from itertools import product

import numpy as np

from adalib.paper.printed import PAPER, PAPER_CLAIMS, PAPER_SETTINGS
from adalib.paper.replication.cells import Cell, Found, found
from adalib.paper.replication.measures import SHOWN, failures, printed_misses
from adalib.paper.replication.register import row
from adalib.paper.settings import REAL, path, utility
from adalib.paper.theorems import COUNTEREXAMPLES, Case, random_cases, strong_duality, vertex
from adalib.solve.frontier import frontier
from adalib.solve.integer import integer_optimum
from adalib.solve.oracle import average_cost, dual, oracle_labels
from adalib.solve.reference import lp_solution, lp_value


def _small(count: int = 40) -> list[Case]:
    return list(random_cases(count, seed=2, questions=4))


def _plans(table: np.ndarray) -> list[tuple[int, ...]]:
    return list(product(range(table.shape[1]), repeat=len(table)))


def _chosen(table: np.ndarray, plan: tuple[int, ...]) -> float:
    return float(np.mean([row[column] for row, column in zip(table, plan, strict=True)]))


def _ours(statement: str) -> int:
    """In how many cases what we put in a printed statement's place fails."""
    fared = failures(statement)
    return int(fared.failures[fared.version == "ours"].sum())


@row("Eq1/2/3", "by definition", "ch01-program")
def _program() -> Found:
    """The constrained program, and its version on N questions.

    No number printed: its optimum by trying every plan, and by our solver.
    """
    worst = 0.0
    for case in _small():
        acc, cost = case.acc, np.broadcast_to(case.cost, case.acc.shape)
        best = max(_chosen(acc, plan) for plan in _plans(acc) if _chosen(cost, plan) <= case.budget + 1e-12)
        worst = max(worst, abs(best - integer_optimum(acc, cost, case.budget).accuracy))
    return found(Cell("largest difference, 40 small tables", 0.0, worst), digits=1)


@row("Eq4, Def1, Eq5", "by definition", "ch02-symbols")
def _oracle() -> Found:
    """The Lagrangian and the oracle's budget.

    No number printed: our oracle against trying every budget and every plan.
    """
    labels = values = 0.0
    for case in _small():
        acc, cost = case.acc, np.broadcast_to(case.cost, case.acc.shape)
        net, rows = acc - case.lam * cost, np.arange(len(acc))
        # The cheapest of the best, by looking at every budget.
        least = np.where(net >= net.max(axis=1, keepdims=True) - 1e-12, cost, np.inf).min(axis=1)
        labels += float((least != cost[rows, oracle_labels(acc, case.cost, case.lam)]).sum())
        whole = max(_chosen(net, plan) for plan in _plans(acc)) + case.lam * case.budget
        values = max(values, abs(whole - dual(acc, case.cost, case.lam, case.budget)))
    return found(
        Cell("labels that are not the cheapest maximiser", 0.0, labels),
        Cell("largest Lagrangian over all plans, minus ours", 0.0, values),
        digits=1,
    )


@row("Eq6", "by definition", "ch02-staircase")
def _staircase() -> Found:
    """Average cost of the oracle at a price.

    No number printed: the cost at random prices, and the staircase of the frontier.
    """
    worst, rng = 0.0, np.random.default_rng(0)
    for name in (*REAL, *PAPER_SETTINGS):
        table, stairs = utility(name), path(name)
        for lam in rng.uniform(0, stairs.lam[0] * 1.1, 50):
            worst = max(worst, abs(average_cost(table.acc, table.cost, lam) - stairs.cost[stairs.lam <= lam][0]))
    note = f"The staircase of the simulated DeepSeek-V3 on MATH has {len(path(SHOWN).lam) - 1} steps."
    return found(Cell("largest difference, 8 settings, 50 prices each", 0.0, worst), note=note, digits=1)


@row("Thm1", "reproduced", "ch04-theorem-1")
def _monotone() -> Found:
    """A higher price never costs more.

    Failures, printed: none.
    """
    printed, ours = failures("Theorem 1").failures
    rises = 0
    for name in (*REAL, *PAPER_SETTINGS):
        table, prices = utility(name), path(name).lam[::-1]
        for rule in ("cheapest", "dearest", "random", "first"):
            cost = average_cost(table.acc, table.cost, prices, ties=rule, rng=0)
            rises += int((np.diff(cost) > 1e-12).sum())
    return found(
        Cell("failures in 700 random cases, ties to the cheaper", 0, printed),
        Cell("the same, worst tie rule", 0, ours),
        Cell("rises of the cost in 8 settings, 4 tie rules", 0, rises),
        note="No tie rule is needed, so the theorem is a little stronger than printed.",
    )


@row("Fig2 monotone", "reproduced", "ch02-staircase")
def _fall() -> Found:
    """The staircases of the four settings.

    Cost where compute is free, and where it is dear (tolerances 0.3 and 0.1; the text says about).
    """

    def at(name: str, price: float, printed: float, room: float) -> Cell:
        ours = average_cost(utility(name).acc, utility(name).cost, price)
        return Cell(f"{name}: cost at the price {price:g}", printed, ours, room)

    high, end = PAPER_CLAIMS["transition"][1], PAPER_CLAIMS["cost_beyond_transition"]
    return found(
        *(at(name, 0, PAPER[name]["unconstrained_cost"], 0.3) for name in PAPER_SETTINGS),
        *(at(name, high, end, 0.1) for name in PAPER_SETTINGS[:3]),
        note="Simulated settings. At the price 0 nobody needs to take 16: see chapter 2.",
    )


@row("Prop1", "corrected", "ch04-proposition-1")
def _duality() -> Found:
    """Strong duality: no gap.

    The duality gap, printed: zero.
    """
    case = COUNTEREXAMPLES["gap"]
    claim = strong_duality(case.acc, case.cost, case.budget).printed[0]
    rng, gaps = np.random.default_rng(0), []
    for _ in range(20):
        acc, cost = rng.integers(0, 49, (200, 5)) / 48, np.array([1, 2, 4, 8, 16])
        ends = frontier(acc, cost).cost[[0, -1]] * 200
        best = integer_optimum(acc, cost, rng.integers(*np.ceil(ends)) / 200)
        gaps.append(best.bound - best.accuracy)
    fared, ours = failures("Proposition 1"), _ours("Proposition 1")
    return found(
        Cell("gap of one question, Acc = (0, 1), B = 1.5", 0.0, claim.gap),
        Cell("mean gap of 20 random tables of 200 questions", 0.0, float(np.mean(gaps)), 1e-9),
        note=f"Fails in {fared.failures[0]} of {fared.cases[0]} random cases. Gap ≤ λ* × slack ≤ 1/N: {ours} failures.",
        holds=ours == 0 and max(gaps) <= 1 / 200,
        digits=5,
    )


@row("App C Eqs", "corrected", "ch04-slope")
def _relaxation() -> Found:
    """Linear program, weak duality, subgradient, vertices.

    Failures of each printed step, by an independent solver where it matters.
    """
    split, off = 0, 0.0
    for case in _small(30):
        shares = lp_solution(case.acc, case.cost, case.budget).shares
        split = max(split, int(vertex(case.acc, case.cost, case.budget, shares).steps[0].left))
        bound = frontier(case.acc, case.cost).at(case.budget).bound
        off = max(off, abs(bound - lp_value(case.acc, case.cost, case.budget)))
    ours = sum(map(_ours, ("Weak duality", "Subgradient", "Vertices", "Optimal price")))
    return found(
        Cell("weak duality: failures", 0, failures("Weak duality").failures[0]),
        Cell("subgradient: failures", 0, failures("Subgradient").failures[0]),
        Cell("most questions split at a solver's vertex (printed proof: 0)", 0, split),
        Cell("cases where no best price costs B (printed: 0)", 0, failures("Optimal price").failures[0]),
        note=f"The frontier is the value of the linear program within {off:.0e}. Our statements fail {ours} times.",
        holds=ours == 0 and off < 1e-9 and split == 1,
    )


@row("Thm2, Eq9", "reproduced", "ch04-theorem-2")
def _regret() -> Found:
    """Regret is bounded by the imitation error.

    Failures of both inequalities, printed: none.
    """
    fared = failures("Theorem 2")
    return found(*(Cell(c.claim, 0, c.failures) for c in fared[fared.version == "printed"].itertuples()))


@row("Cor1", "reproduced", "ch04-theorem-2")
def _identity() -> Found:
    """Accuracy lost is regret plus the price of cost saved.

    The two sides of the identity.
    """
    widest = failures("Corollary 1").widest.max()
    return found(Cell("largest |difference| of the two sides, 700 cases", 0.0, widest, 1e-12), digits=1)


@row("Thm3(1)", "reproduced", "ch04-theorem-3")
def _feasibility() -> Found:
    """A near copy of the oracle nearly keeps the budget.

    Failures, printed: none.
    """
    misses = printed_misses()
    over = sum(miss > 0 for miss in misses)
    return found(
        Cell("failures in 700 random cases", 0, failures("Theorem 3").failures[0]),
        note=f"It presupposes an oracle within the budget; {over} of the {len(misses)} printed oracles are not.",
    )


@row("Thm3(2)", "corrected", "ch04-theorem-3")
def _recovery() -> Found:
    """A near copy of the oracle is nearly optimal.

    Failures, printed: none.
    """
    fared, ours = failures("Theorem 3"), _ours("Theorem 3")
    return found(
        Cell(f"failures in {fared.cases[1]} random cases", 0, fared.failures[1]),
        note=f"Corrected (add λ × unspent money): {ours} failures.",
        holds=ours == 0,
    )
