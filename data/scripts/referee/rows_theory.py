"""The rows of the replication table on the paper's theory.

Definitions are compared with a search through every plan of small tables, theorems with random
cases and counterexamples. ``data/simulated/paper_register.jsonl`` lists all rows, says what each
compares, and names the function that measures it. The docstring of such a function begins with the
item of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

from adabook.highs import lp_solution, lp_value
from adabook.paper.settings import PAPER, PAPER_CLAIMS, PAPER_SETTINGS, REAL, path, utility
from adabook.paper.theorems import COUNTEREXAMPLES, Case, random_cases, strong_duality, vertex
from adalib.solve.frontier import frontier
from adalib.solve.integer import integer_optimum
from adalib.solve.oracle import average_cost, dual, oracle_labels
from referee import measures
from referee.measures import SHOWN
from referee.wording import Cell, Outcome, check, outcome

_ALL_SETTINGS = (*REAL, *PAPER_SETTINGS)
_TIE_RULES = ("cheapest", "dearest", "random", "first")


# The program and the oracle, next to a search through every plan.


def _small_cases(count: int = 40) -> list[Case]:
    """Random cases that are small enough to try every plan."""
    return list(random_cases(count, seed=2, questions=4))


def _plan_means(*tables: np.ndarray) -> Iterator[tuple[float, ...]]:
    """Return, for every plan, the mean of the entries that it chooses in each of the tables.

    A plan chooses a column for each row; the tables have one shape.
    """
    questions, columns = tables[0].shape
    for plan in product(range(columns), repeat=questions):
        yield tuple(_plan_mean(table, plan) for table in tables)


def _plan_mean(table: np.ndarray, plan: tuple[int, ...]) -> float:
    """The mean of a plan's entries."""
    return float(np.mean([row[column] for row, column in zip(table, plan, strict=True)]))


def _cost_table(case: Case) -> np.ndarray:
    """The costs of a case, one row per question."""
    return np.broadcast_to(case.cost, case.acc.shape)


def program() -> Outcome:
    """Eq1/2/3: the constrained program, and its version on N questions."""
    largest = 0.0
    for case in _small_cases():
        cost = _cost_table(case)
        affordable = [
            accuracy
            for accuracy, spent in _plan_means(case.acc, cost)
            if spent <= case.budget + 1e-12
        ]
        solved = integer_optimum(case.acc, cost, case.budget).accuracy
        largest = max(largest, abs(max(affordable) - solved))
    return outcome(Cell("largest difference, 40 small tables", 0.0, largest))


@cache
def oracle() -> Outcome:
    """Eq4, Def1, Eq5: the Lagrangian and the oracle's budget."""
    wrong_labels = 0.0
    largest = 0.0
    for case in _small_cases():
        cost = _cost_table(case)
        net = case.acc - case.lam * cost
        # The cheapest of the best, by looking at every budget.
        is_best = net >= net.max(axis=1, keepdims=True) - 1e-12
        cheapest_best = np.where(is_best, cost, np.inf).min(axis=1)
        labels = oracle_labels(case.acc, case.cost, case.lam)
        bought = cost[np.arange(len(cost)), labels]
        wrong_labels += float((cheapest_best != bought).sum())

        best_plan = max(mean for (mean,) in _plan_means(net))
        lagrangian = best_plan + case.lam * case.budget
        ours = float(dual(case.acc, case.cost, case.lam, case.budget))
        largest = max(largest, abs(lagrangian - ours))
    return outcome(
        Cell("labels that are not the cheapest maximiser", 0.0, wrong_labels),
        Cell("largest Lagrangian over all policies, minus ours", 0.0, largest),
    )


# What a price costs.


def staircase() -> Outcome:
    """Eq6: average cost of the oracle at a price."""
    largest = 0.0
    rng = np.random.default_rng(0)
    for name in _ALL_SETTINGS:
        table = utility(name)
        stairs = path(name)
        for lam in rng.uniform(0, stairs.lam[0] * 1.1, 50):
            # Prices fall along the frontier: the first one at or below λ is the step that λ is on.
            on_stairs = stairs.cost[stairs.lam <= lam][0]
            cost = average_cost(table.acc, table.cost, lam)
            largest = max(largest, abs(cost - on_stairs))
    steps = len(path(SHOWN).lam) - 1
    return outcome(
        Cell("largest difference, 8 settings, 50 prices each", 0.0, largest),
        note=f"The staircase of the simulated DeepSeek-V3 on MATH has {steps} steps.",
    )


def monotone() -> Outcome:
    """Thm1: A higher price never costs more."""
    printed, ours = measures.failures("Theorem 1").failures
    rises = 0
    for name in _ALL_SETTINGS:
        table = utility(name)
        rising_prices = path(name).lam[::-1]
        for rule in _TIE_RULES:
            cost = average_cost(table.acc, table.cost, rising_prices, ties=rule, rng=0)
            rises += int((np.diff(cost) > 1e-12).sum())
    return outcome(
        Cell("failures in 700 random cases, ties to the cheaper", 0, printed),
        Cell("the same, worst tie rule", 0, ours),
        Cell("rises of the cost in 8 settings, 4 tie rules", 0, rises),
        note="No tie rule is needed, so the theorem is a little stronger than printed.",
    )


def fall() -> Outcome:
    """Fig2 monotone: the staircases of the four settings."""
    high_price = PAPER_CLAIMS["transition"][1]
    cost_beyond = PAPER_CLAIMS["cost_beyond_transition"]
    when_free = [
        _cost_at(name, 0, PAPER[name]["unconstrained_cost"], 0.3) for name in PAPER_SETTINGS
    ]
    beyond = [_cost_at(name, high_price, cost_beyond, 0.1) for name in PAPER_SETTINGS[:3]]
    return outcome(
        *when_free,
        *beyond,
        note="Simulated settings. At the price 0 some questions take fewer than 16 answers.",
    )


def _cost_at(name: str, price: float, printed: float, tolerance: float) -> Cell:
    """Compare a setting's average cost at a price."""
    table = utility(name)
    ours = float(average_cost(table.acc, table.cost, price))
    return Cell(f"{name}: cost at the price {price:g}", printed, ours, tolerance)


# The statements, printed and corrected.


def _our_failures(statement: str) -> int:
    """In how many cases what we put in a printed statement's place fails."""
    fared = measures.failures(statement)
    return int(fared.failures[fared.version == "ours"].sum())


def duality() -> Outcome:
    """Prop1: strong duality: no gap."""
    case = COUNTEREXAMPLES["gap"]
    one_question = strong_duality(case.acc, case.cost, case.budget).printed[0]
    gaps = _random_gaps(tables=20, questions=200)
    fared = measures.failures("Proposition 1")
    ours = _our_failures("Proposition 1")
    mean_gap = float(np.mean(gaps))
    return outcome(
        Cell("gap of one question, Acc = (0, 1), B = 1.5", 0.0, one_question.gap),
        Cell("mean gap of 20 random tables of 200 questions", 0.0, mean_gap, 1e-9),
        note=(
            f"Fails in {fared.failures[0]} of {fared.cases[0]} random cases. "
            f"Gap ≤ λ* × slack ≤ 1/N: {ours} failures."
        ),
        checks=[
            check("failures of our statement", ours, "=", 0),
            check("widest gap of the 20 tables", max(gaps), "<=", 1 / 200),
        ],
    )


def _random_gaps(tables: int, questions: int) -> list[float]:
    """Draw tables of accuracies, each with a random budget, and return their duality gaps."""
    rng = np.random.default_rng(0)
    cost = np.array([1, 2, 4, 8, 16])
    gaps = []
    for _ in range(tables):
        acc = rng.integers(0, 49, (questions, len(cost))) / 48
        least, most = np.ceil(frontier(acc, cost).cost[[0, -1]] * questions)
        best = integer_optimum(acc, cost, rng.integers(least, most) / questions)
        gaps.append(best.bound - best.accuracy)
    return gaps


def relaxation() -> Outcome:
    """App C Eqs: linear program, weak duality, subgradient, vertices."""
    most_split = 0
    largest = 0.0
    for case in _small_cases(30):
        shares = lp_solution(case.acc, case.cost, case.budget).shares
        split = vertex(case.acc, case.cost, case.budget, shares).steps[0].left
        most_split = max(most_split, int(split))
        bound = frontier(case.acc, case.cost).at(case.budget).bound
        largest = max(largest, abs(bound - lp_value(case.acc, case.cost, case.budget)))
    ours = sum(map(_our_failures, ("Weak duality", "Subgradient", "Vertices", "Optimal price")))
    weak_duality = measures.failures("Weak duality").failures[0]
    subgradient = measures.failures("Subgradient").failures[0]
    best_price = measures.failures("Optimal price").failures[0]
    return outcome(
        Cell("weak duality: failures", 0, weak_duality),
        Cell("subgradient: failures", 0, subgradient),
        Cell("most questions split at a solver's vertex (printed proof: 0)", 0, most_split),
        Cell("cases where no best price costs B (printed: 0)", 0, best_price),
        note=(
            f"The frontier is the value of the linear program within {largest:.0e}. "
            f"Our statements fail {ours} times."
        ),
        checks=[
            check("failures of our statements", ours, "=", 0),
            check("frontier minus linear program", largest, "<", 1e-9),
            check("most questions split at a vertex", most_split, "=", 1),
        ],
    )


def regret() -> Outcome:
    """Thm2, Eq9: regret is bounded by the imitation error."""
    fared = measures.failures("Theorem 2")
    printed = fared[fared.version == "printed"]
    return outcome(*(Cell(row.claim, 0, row.failures) for row in printed.itertuples()))


def identity() -> Outcome:
    """Cor1: accuracy lost is regret plus the price of cost saved."""
    widest = measures.failures("Corollary 1").widest.max()
    return outcome(Cell("largest |difference| of the two sides, 700 cases", 0.0, widest, 1e-12))


def feasibility() -> Outcome:
    """Thm3(1): A near copy of the oracle nearly keeps the budget."""
    misses = measures.printed_misses()
    over = sum(miss > 0 for miss in misses)
    return outcome(
        Cell("failures in 700 random cases", 0, measures.failures("Theorem 3").failures[0]),
        note=(
            f"It presupposes an oracle within the budget; {over} of the {len(misses)} printed "
            "oracles are not."
        ),
    )


def recovery() -> Outcome:
    """Thm3(2): A near copy of the oracle is nearly optimal."""
    fared = measures.failures("Theorem 3")
    ours = _our_failures("Theorem 3")
    return outcome(
        Cell(f"failures in {fared.cases[1]} random cases", 0, fared.failures[1]),
        note=f"Corrected (add λ × unspent money): {ours} failures.",
        checks=[check("failures of the corrected statement", ours, "=", 0)],
    )
