"""Claims that the paper proves."""

from __future__ import annotations

from adalib.paper.replication.cells import Link
from adalib.paper.replication.measures import (
    failures,
)
from adalib.paper.replication.own_rows import perfect_copies
from adalib.paper.replication.table_rows import compared
from adalib.paper.replication.verdict import Claim, Evidence

__all__ = ["CLAIMS"]

_THEOREMS = "theorems"
_DUALITY = "04_duality"
_THEOREM_1 = Link(_DUALITY, "The paper's Theorem 1: a higher price never costs more")
_THEOREM_2 = Link(_DUALITY, "The paper's Theorem 2: a policy that imitates")
_THEOREM_3 = Link(_DUALITY, "The paper's Theorem 3: back to the budget")
_PROPOSITION = Link(_DUALITY, "The paper's Proposition 1: does the ceiling touch?")


def _never_fails(statement: str, claim: int | None = None):
    def measure() -> Evidence:
        found = failures(statement)
        found = found[found.version == "printed"] if claim is None else found.iloc[[claim]]
        broken = int(found.failures.sum())
        return Evidence(broken, f"{broken} failures in {found.cases.iloc[0]} random cases", broken == 0)

    return measure


def _fails(statement: str, claim: int = 0, what: str = "fails in"):
    def measure() -> Evidence:
        found = failures(statement)
        broken, ours = int(found.failures[claim]), int(found.failures[found.version == "ours"].sum())
        says = f"{what} {broken} of {found.cases[claim]} random cases; what we put in its place in {ours}"
        return Evidence(broken, says, broken > 0 and ours == 0)

    return measure


def _vanishes() -> Evidence:
    broken, tried = perfect_copies()
    return Evidence(broken, f"a perfect copy breaks the bound in {broken} of {tried} random cases", broken > 0)


def _drawn() -> Evidence:
    found = failures("Theorem 2, drawn").failures
    return Evidence(
        found[0] + found[1], f"the two lines fail in {found[0]} and {found[1]} of 700 random cases", found[1] > 0
    )


def _proportional() -> Evidence:
    runs = compared("row").runs
    tight = float((runs.regret / runs.largest).mean())
    return Evidence(
        tight, f"regret is {tight:.0%} of its bound on average (simulated pool, split by rows)", tight < 0.5
    )


def _exact() -> Evidence:
    found = failures("Proposition 1")
    missed, everett = int(found.failures[1]), int(failures("Everett").failures.sum())
    says = f"misses the best plan for B in {missed} of 700 random cases, that for its own cost in {everett}"
    return Evidence(missed, says, missed > 0 and everett == 0)


CLAIMS = (
    Claim(
        "Theorem 1",
        _THEOREMS,
        "The oracle's average cost never rises with the price.",
        "§3.2 (Thm. 1), App. B.1",
        "stands",
        "It needs no tie rule, so it is a little stronger than printed.",
        _THEOREM_1,
        _never_fails("Theorem 1"),
    ),
    Claim(
        "weak duality",
        _THEOREMS,
        "The dual function bounds what a budget can buy.",
        "§3.3, App. C.2",
        "stands",
        "It bounds random plans as well.",
        Link(_DUALITY, "The ledger"),
        _never_fails("Weak duality"),
    ),
    Claim(
        "relaxation",
        _THEOREMS,
        "With random plans allowed the problem is a linear program whose value is the least dual value.",
        "App. C.1, C.4 (step 2)",
        "stands",
        "And at most one question has to be split.",
        Link(_DUALITY, "What is true"),
        _never_fails("Proposition 1", claim=2),
    ),
    Claim(
        "Proposition 1",
        _THEOREMS,
        "Strong duality: the gap is zero.",
        "§3.3 (Prop. 1), App. C.4",
        "stands corrected",
        "Zero for random plans; without coins at most the price times the slack, and at most 1/N.",
        _PROPOSITION,
        _fails("Proposition 1"),
    ),
    Claim(
        "exact solution",
        _THEOREMS,
        "The plan found by binary search solves the constrained problem exactly.",
        "§3.3",
        "stands corrected",
        "It is exact for the budget that it spends, which need not be the one asked for.",
        Link(_DUALITY, "Everett: exact, for another budget"),
        _exact,
    ),
    Claim(
        "optimality condition",
        _THEOREMS,
        "At the best price the oracle costs exactly B.",
        "App. C.3",
        "stands corrected",
        "Zero is one of the slopes there; the budget may lie inside a jump.",
        Link(_DUALITY, "The slope of the ceiling"),
        _fails("Optimal price"),
    ),
    Claim(
        "Theorem 2",
        _THEOREMS,
        "Regret is at most the largest gap times the imitation error.",
        "abstract, §4.4 (Thm. 2, Eq. 9), App. B.2",
        "stands",
        "Both inequalities are right as printed.",
        _THEOREM_2,
        _never_fails("Theorem 2"),
    ),
    Claim(
        "Corollary 1",
        _THEOREMS,
        "Accuracy lost is regret plus the price of the cost saved.",
        "App. B.3 (Cor. 1)",
        "stands",
        "An identity.",
        _THEOREM_2,
        _never_fails("Corollary 1"),
    ),
    Claim(
        "proportional",
        _THEOREMS,
        "Every point of imitation lowers regret in proportion; the bound is tight.",
        "§4.4, App. H.1",
        "stands corrected",
        "Only the bound is proportional, and it is far from tight.",
        Link("09_ablations", "A bound, and what is drawn under it"),
        _proportional,
    ),
    Claim(
        "figure of Theorem 2",
        _THEOREMS,
        "The regret scatter verifies Theorem 2.",
        "App. H.1, Fig. ablation_clf (b)",
        "falls",
        "It draws accuracy lost, not regret, under a line made from the mean gap: neither is the theorem.",
        Link("09_ablations", "A bound, and what is drawn under it"),
        _drawn,
    ),
    Claim(
        "Theorem 3 (1)",
        _THEOREMS,
        "A near copy of an affordable oracle is nearly affordable.",
        "§4.4 (Thm. 3), App. B.4",
        "stands",
        "Given an oracle within the budget, which half of the printed ones are not.",
        _THEOREM_3,
        _never_fails("Theorem 3", claim=0),
    ),
    Claim(
        "Theorem 3 (2)",
        _THEOREMS,
        "A near copy of the oracle is nearly optimal for the widened budget.",
        "§4.4 (Thm. 3), App. B.4",
        "stands corrected",
        "Unspent money must be added, at its price.",
        Link(_DUALITY, "The steps that break"),
        _fails("Theorem 3", claim=1),
    ),
    Claim(
        "vanishing gap",
        _THEOREMS,
        "As the imitation error goes to 0 the optimality gap vanishes.",
        "§4.4",
        "falls",
        "What the oracle itself leaves unspent remains.",
        Link(_DUALITY, "The steps that break"),
        _vanishes,
    ),
)
