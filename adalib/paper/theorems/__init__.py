"""Every theorem as a measurement: both sides of each claim, on any table, as printed and as corrected.

A function a statement. It takes a table (accuracy and cost, as everywhere), a price, a budget or a policy where the
statement speaks of one, and returns a `Statement`: the claims as the paper prints them, what we put in their place
or add to them, and the steps of the printed proof that do not hold in general. A claim knows its two sides, the gap
between them, and whether it holds. The proofs are in chapter 4, "Duality".

Statements about prices and budgets are in `prices`, those about policies in `policies`; `cases` holds the smallest
counterexamples by name, and draws random cases for a survey. The questions of the table, all equally likely, are the
distribution: expectations are averages over the rows.
"""

from adalib.paper.theorems.by_name import STATEMENTS
from adalib.paper.theorems.cases import COUNTEREXAMPLES, Case, random_cases, survey
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
from adalib.paper.theorems.statement import Claim, Statement

__all__ = [
    "COUNTEREXAMPLES",
    "STATEMENTS",
    "Case",
    "Claim",
    "Statement",
    "cost_monotone",
    "decomposition",
    "everett",
    "figure_bounds",
    "free_compute",
    "imitation",
    "ledger",
    "optimal_price",
    "own_cost",
    "random_cases",
    "recovery",
    "strong_duality",
    "subgradient",
    "survey",
    "switches",
    "vertex",
    "weak_duality",
]
