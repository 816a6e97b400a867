"""Every statement by its name, as a function of a case: what chapter 4 surveys, and the replication table after it."""

from __future__ import annotations

from collections.abc import Callable

from adalib.paper.theorems.cases import Case
from adalib.paper.theorems.policies import decomposition, figure_bounds, imitation, ledger, own_cost, recovery
from adalib.paper.theorems.prices import (
    cost_monotone,
    everett,
    free_compute,
    optimal_price,
    strong_duality,
    subgradient,
    switches,
    vertex,
    weak_duality,
)
from adalib.paper.theorems.statement import Statement

__all__ = ["STATEMENTS"]


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
