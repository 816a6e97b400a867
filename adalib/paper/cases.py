"""Cases to try a statement on: the smallest counterexamples, by name, and random ones without end.

The named cases have at most two questions and two budgets, so that a reader can check every number by hand. The random
ones are small too, and on purpose half of them are awkward: ties, flat curves, free or equal budgets, one
question, one budget, costs that differ by question, a budget exactly on a breakpoint, a policy without error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from adalib.paper.theorems import (
    COLUMNS,
    Statement,
    cost_monotone,
    decomposition,
    everett,
    figure_bounds,
    free_compute,
    imitation,
    ledger,
    optimal_price,
    own_cost,
    recovery,
    strong_duality,
    subgradient,
    switches,
    vertex,
    weak_duality,
)
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import UtilityTable

__all__ = ["COUNTEREXAMPLES", "Case", "KINDS", "STATEMENTS", "random_cases", "survey"]


@dataclass(frozen=True, eq=False)
class Case:
    """A table with a budget, a price and a policy.

    Explained in chapter 4, "Duality".

    Attributes
    ----------
    name : str
        What the case refutes, or how it was drawn.
    table : UtilityTable
    budget : float
        An average cost that can be kept.
    lam : float
        A price; in a random case, one at which the oracle keeps the budget.
    labels : ndarray of int, shape (N,)
        A policy.
    other : float
        Another price, any.
    """

    name: str
    table: UtilityTable
    budget: float
    lam: float
    labels: np.ndarray
    other: float = 0.0

    @property
    def acc(self) -> np.ndarray:
        """Accuracies, shape (N, K)."""
        return self.table.acc

    @property
    def cost(self) -> np.ndarray:
        """Costs, shape (K,) or (N, K)."""
        return self.table.cost

    def frame(self) -> pd.DataFrame:
        """The case to read: the accuracies, the budget the oracle takes at the price, and the one the policy takes."""
        names = np.array(self.table.budgets)
        columns = {f"Acc({b})": self.acc[:, j] for j, b in enumerate(names)}
        oracle = oracle_labels(self.acc, self.cost, self.lam)
        return pd.DataFrame(
            {"question": self.table.ids, **columns, "oracle": names[oracle], "policy": names[self.labels]}
        )


def _named(name: str, acc: list, cost: list, budget: float, lam: float, labels: list) -> Case:
    return Case(name, UtilityTable(acc, cost), budget, lam, np.array(labels))


#: The smallest cases known to us that break a printed claim, by the name the chapter uses.
COUNTEREXAMPLES = {
    # One question that money helps, and half the money: the least dual value is 1/2, the best accuracy 0.
    "gap": _named("Proposition 1; C(λ*) = B; Step 1", [[0, 1]], [1, 2], 1.5, 1.0, [0]),
    # Two such questions. The perfect copy of the oracle (eps = 0) spends 1 of 1.5 and misses 1/2.
    "perfect copy": _named("Theorem 3 (2), last step", [[0, 1], [0, 1]], [1, 2], 1.5, 1.0, [0, 0]),
    # The oracle spends the whole budget, the policy saves it: accuracy lost 1/2, largest gap times eps 3/8.
    "thrift": _named("Theorem 3 (2) without slack", [[0, 1], [1, 1]], [1, 16], 8.5, 0.05, [0, 0]),
    # A dear price, a small budget, and a policy that spends beyond it: B' = 2 buys 1, the dual bound at B = 1 is 0.
    "wrong bound": _named("V(B') ≤ G(λ), with G at B", [[0, 1]], [1, 2], 1.0, 2.0, [1]),
    # Accuracy lost 1, largest gap times eps 1/2; the regret, 1/2, keeps the bound.
    "accuracy": _named("accuracy lost ≤ max M × ε", [[0, 1]], [1, 2], 2.0, 0.5, [0]),
    # The one error falls where the gap is; the second question ties, its gap is 0 and halves the mean.
    "mean gap": _named("Reg ≤ mean M × ε", [[0, 1], [0, 0.5]], [1, 2], 1.5, 0.5, [0, 0]),
    # Right at once: the price 0 does not buy the largest budget.
    "free": _named("the price 0 buys the largest budget", [[1, 1]], [1, 2], 2.0, 0.0, [0]),
}

KINDS = ("plain", "counted", "ties", "flat", "equal costs", "free", "by row")


def random_cases(count: int, seed: int = 0, questions: int = 5, budgets: int = 4) -> Iterator[Case]:
    """Draw random cases, the kinds in turn.

    Explained in chapter 4, "Duality".

    Parameters
    ----------
    count, seed : int
    questions, budgets : int
        The largest N and K; smaller ones, down to 1, are drawn too.

    Yields
    ------
    Case
        The oracle at ``lam`` keeps the budget; the policy is the oracle there with a random share of labels redrawn.
    """
    rng = np.random.default_rng(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        table = _table(kind, int(rng.integers(1, questions + 1)), int(rng.integers(1, budgets + 1)), rng)
        path = frontier(table.acc, table.cost)
        # On a breakpoint, anywhere between the ends, or beyond what is useful.
        places = rng.choice(path.cost), rng.uniform(path.cost[0], path.cost[-1]), path.cost[-1] * 1.2
        budget = float(max(places[rng.choice(3, p=[0.15, 0.75, 0.1])], path.cost[0]))
        lam, top = path.at(budget).lam, path.lam[0]
        if rng.random() < 0.3:
            lam += top * rng.random()
        oracle = oracle_labels(table.acc, table.cost, lam)
        redrawn = rng.random(table.n) < rng.choice([0.0, 0.2, 0.5, 1.0])
        labels = np.where(redrawn, rng.integers(table.k, size=table.n), oracle)
        yield Case(kind, table, budget, lam, labels, other=rng.uniform(0, 1.3 * top + 0.1))


def _table(kind: str, n: int, k: int, rng: np.random.Generator) -> UtilityTable:
    acc, cost = rng.random((n, k)), np.cumsum(rng.uniform(0.1, 2, k))
    if kind == "counted":  # as estimated from 48 answers
        acc, cost = rng.integers(0, 49, (n, k)) / 48, 2.0 ** np.arange(k)
    elif kind == "ties":
        acc, cost = rng.integers(0, 5, (n, k)) / 4, np.cumsum(rng.integers(1, 3, k))
    elif kind == "flat":
        acc[rng.random(n) < 0.6] = rng.random()
    elif kind == "equal costs":
        cost = np.sort(rng.integers(1, 4, k))
    elif kind == "free":
        cost = np.cumsum(rng.integers(0, 2, k))
    elif kind == "by row":
        cost = np.cumsum(rng.uniform(0, 2, (n, k)), axis=1)
    return UtilityTable(acc, cost, budgets=range(1, k + 1))


def survey(check: Callable[[Case], Statement], cases: Iterable[Case]) -> pd.DataFrame:
    """Measure a statement on many cases.

    Explained in chapter 4, "Duality".

    Parameters
    ----------
    check : callable
        Takes a `Case`, returns a `Statement`.
    cases : iterable of Case
        Say `random_cases(1000)`.

    Returns
    -------
    DataFrame
        One row a case and claim: the case's number, then the columns of `Statement.frame`.

    Examples
    --------
    >>> from adalib.paper.theorems import strong_duality
    >>> found = survey(lambda case: strong_duality(case.acc, case.cost, case.budget), random_cases(70))
    >>> found.groupby("version").holds.all().to_dict()
    {'ours': True, 'printed': False}
    """
    rows = [(number, *row) for number, case in enumerate(cases) for row in check(case).rows()]
    return pd.DataFrame(rows, columns=["case", *COLUMNS])


# Every statement by its name, as a function of a case: what chapter 4 surveys, and the replication table after it.


def _two_prices(case: Case) -> tuple[float, float]:
    low, high = sorted((case.lam, case.other))
    return low, high + 1e-3


STATEMENTS: dict[str, Callable[[Case], Statement]] = {
    "Ledger": lambda c: ledger(c.acc, c.cost, c.other, c.budget, c.labels),
    "Weak duality": lambda c: weak_duality(c.acc, c.cost, c.other, c.budget),
    "Theorem 1": lambda c: cost_monotone(c.acc, c.cost, *_two_prices(c)),
    "Switches": lambda c: switches(c.acc, c.cost),
    "The price 0": lambda c: free_compute(c.acc, c.cost),
    "Subgradient": lambda c: subgradient(c.acc, c.cost, c.lam, c.other, c.budget),
    "Optimal price": lambda c: optimal_price(c.acc, c.cost, c.budget),
    "Vertices": lambda c: vertex(c.acc, c.cost, c.budget),
    "Proposition 1": lambda c: strong_duality(c.acc, c.cost, c.budget),
    "Everett": lambda c: everett(c.acc, c.cost, c.lam),
    "Theorem 2": lambda c: imitation(c.acc, c.cost, c.lam, c.labels),
    "Corollary 1": lambda c: decomposition(c.acc, c.cost, c.lam, c.labels),
    "Theorem 2, drawn": lambda c: figure_bounds(c.acc, c.cost, c.lam, c.labels),
    "Theorem 3": lambda c: recovery(c.acc, c.cost, c.lam, c.budget, c.labels),
    "Own cost": lambda c: own_cost(c.acc, c.cost, c.other, c.labels),
}
