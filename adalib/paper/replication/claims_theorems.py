"""Claims that the paper proves."""

from __future__ import annotations

import pandas as pd

from adalib.paper.replication.measures import failures, perfect_copies
from adalib.paper.replication.measures_learned import compared
from adalib.paper.replication.register import claims_about

claim = claims_about("theorems")


def _holds(fared: pd.DataFrame) -> tuple[int, str, bool]:
    """Of a statement that is right as printed: it fails nowhere."""
    broken = int(fared.failures.sum())
    return broken, f"{broken} failures in {fared.cases.iloc[0]} random cases", broken == 0


def _fails(fared: pd.DataFrame, claim: int = 0) -> tuple[int, str, bool]:
    """Of a statement that is not: it fails, and what we put in its place does not."""
    broken, ours = int(fared.failures[claim]), int(fared.failures[fared.version == "ours"].sum())
    says = f"fails in {broken} of {fared.cases[claim]} random cases; what we put in its place in {ours}"
    return broken, says, broken > 0 and ours == 0


def _printed(fared: pd.DataFrame) -> pd.DataFrame:
    return fared[fared.version == "printed"]


@claim("Theorem 1", "stands", "§3.2 (Thm. 1), App. B.1", "ch04-theorem-1")
def _theorem_1():
    """The oracle's average cost never rises with the price.

    It needs no tie rule, so it is a little stronger than printed.
    """
    return _holds(_printed(failures("Theorem 1")))


@claim("weak duality", "stands", "§3.3, App. C.2", "ch04-ledger")
def _weak_duality():
    """The dual function bounds what a budget can buy.

    It bounds random plans as well.
    """
    return _holds(_printed(failures("Weak duality")))


@claim("relaxation", "stands", "App. C.1, C.4 (step 2)", "ch04-what-is-true")
def _relaxation():
    """With random plans allowed the problem is a linear program whose value is the least dual value.

    And at most one question has to be split.
    """
    return _holds(failures("Proposition 1").iloc[[2]])


@claim("Proposition 1", "stands corrected", "§3.3 (Prop. 1), App. C.4", "ch04-proposition-1")
def _proposition_1():
    """Strong duality: the gap is zero.

    Zero for random plans; without coins at most the price times the slack, and at most 1/N.
    """
    return _fails(failures("Proposition 1"))


@claim("exact solution", "stands corrected", "§3.3", "ch04-everett")
def _exact():
    """The plan found by binary search solves the constrained problem exactly.

    It is exact for the budget that it spends, which need not be the one asked for.
    """
    found = failures("Proposition 1")
    missed, everett = int(found.failures[1]), int(failures("Everett").failures.sum())
    says = f"misses the best plan for B in {missed} of 700 random cases, that for its own cost in {everett}"
    return missed, says, missed > 0 and everett == 0


@claim("optimality condition", "stands corrected", "App. C.3", "ch04-slope")
def _optimality_condition():
    """At the best price the oracle costs exactly B.

    Zero is one of the slopes there; the budget may lie inside a jump.
    """
    return _fails(failures("Optimal price"))


@claim("Theorem 2", "stands", "abstract, §4.4 (Thm. 2, Eq. 9), App. B.2", "ch04-theorem-2")
def _theorem_2():
    """Regret is at most the largest gap times the imitation error.

    Both inequalities are right as printed.
    """
    return _holds(_printed(failures("Theorem 2")))


@claim("Corollary 1", "stands", "App. B.3 (Cor. 1)", "ch04-theorem-2")
def _corollary_1():
    """Accuracy lost is regret plus the price of the cost saved.

    An identity.
    """
    return _holds(_printed(failures("Corollary 1")))


@claim("proportional", "stands corrected", "§4.4, App. H.1", "ch09-bound")
def _proportional():
    """Every point of imitation lowers regret in proportion; the bound is tight.

    Only the bound is proportional, and it is far from tight.
    """
    runs = compared("row").runs
    tight = float((runs.regret / runs.largest).mean())
    return tight, f"regret is {tight:.0%} of its bound on average (simulated pool, split by rows)", tight < 0.5


@claim("figure of Theorem 2", "falls", "App. H.1, Fig. ablation_clf (b)", "ch09-bound")
def _drawn():
    """The regret scatter verifies Theorem 2.

    It draws accuracy lost, not regret, under a line made from the mean gap: neither is the theorem.
    """
    found = failures("Theorem 2, drawn").failures
    return found[0] + found[1], f"the two lines fail in {found[0]} and {found[1]} of 700 random cases", found[1] > 0


@claim("Theorem 3 (1)", "stands", "§4.4 (Thm. 3), App. B.4", "ch04-theorem-3")
def _theorem_3_1():
    """A near copy of an affordable oracle is nearly affordable.

    Given an oracle within the budget, which half of the printed ones are not.
    """
    return _holds(failures("Theorem 3").iloc[[0]])


@claim("Theorem 3 (2)", "stands corrected", "§4.4 (Thm. 3), App. B.4", "ch04-broken-steps")
def _theorem_3_2():
    """A near copy of the oracle is nearly optimal for the widened budget.

    Unspent money must be added, at its price.
    """
    return _fails(failures("Theorem 3"), claim=1)


@claim("vanishing gap", "falls", "§4.4", "ch04-broken-steps")
def _vanishes():
    """As the imitation error goes to 0 the optimality gap vanishes.

    What the oracle itself leaves unspent remains.
    """
    broken, tried = perfect_copies()
    return broken, f"a perfect copy breaks the bound in {broken} of {tried} random cases", broken > 0
