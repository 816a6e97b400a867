"""Exercises of chapter 4, "Duality": counterexamples, each judged by what it does, and proofs line by line."""

from __future__ import annotations

import numpy as np

from adalib.paper.theorems import figure_bounds, recovery, strong_duality
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import check_table
from adalib.teach.exercises import Construction, checker
from adalib.teach.exercises.ladder import DUAL, SUBGRADIENT
from adalib.teach.exercises.proofs_duality import RECOVERY, REGRET, WEAK_DUALITY
from adalib.teach.exercises.reading import as_number

#: The table of the exercise "exact": three questions, each with its own curve.
THREE = [[0.1, 0.5, 0.6], [0.2, 0.3, 0.9], [0.4, 0.4, 0.5]], [1, 2, 4]


def _gap(answer: tuple) -> str | None:
    acc, cost, budget = answer
    acc, cost = check_table(acc, cost)
    if len(acc) < 2:
        return "take two questions or more; one question is the chapter's own example"
    gap = strong_duality(acc, cost, budget).printed[0].gap
    if gap >= 0.1:
        return None
    return f"the gap is {gap:.3f}; make one step dear and worth much, and the budget a little too small for it"


def _exact(answer: float) -> str | None:
    acc, cost = THREE
    answer = as_number(answer)
    if np.isnan(answer):
        return "give one number, a budget"
    if not 1 < answer < 4:
        return "the budget must lie strictly between 1, the cheapest plan, and 4, the dearest"
    if strong_duality(acc, cost, answer).printed[0].holds:
        return None
    return "there is a gap at that budget; think of a budget that the oracle spends to the last penny"


def _perfect(answer: tuple) -> str | None:
    acc, cost, budget = answer
    acc, cost = check_table(acc, cost)
    if len(np.unique(acc, axis=0)) < len(acc):
        return "no two questions may have the same curve; copies are the chapter's own example"
    lam = frontier(acc, cost).at(budget).lam
    second = recovery(acc, cost, lam, budget, oracle_labels(acc, cost, lam)).printed[1]
    if not second.holds:
        return None
    return "the oracle loses nothing at that budget; let its next step not fit, and a smaller, less steep one fit"


def _mean_gap(answer: tuple) -> str | None:
    acc, cost, lam, labels = answer
    drawn = figure_bounds(acc, cost, lam, labels).printed[1]
    if drawn.left >= 3 * drawn.right > 0:
        return None
    sides = f"the regret is {drawn.left:.3f} and the mean gap times eps {drawn.right:.3f}"
    return f"{sides}; err on few of many questions, and only where the gap is large"


check = checker(
    {
        "gap": Construction(_gap, "with C = (1, 2) and Acc = (0, 1) for everyone, think of a budget between two plans"),
        "exact": Construction(_exact, "adalib.frontier(*THREE).cost lists the budgets that a price spends in full"),
        "perfect": Construction(
            _perfect, "two questions are enough: one with a steep dear step, one with a flat cheap step"
        ),
        "mean gap": Construction(_mean_gap, "let more answers ruin one question of ten, and let the policy err there"),
        "dual": DUAL,
        "subgradient": SUBGRADIENT,
        "weak duality": WEAK_DUALITY,
        "recovery": RECOVERY,
        "regret": REGRET,
    }
)
