"""Statements about a policy beside the oracle: the ledger, regret and imitation, primal recovery.

A policy is given by its labels, one column index a question.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from adalib.paper.theorems.prices import check_labels, chosen
from adalib.paper.theorems.statement import Statement, at_most, equal
from adalib.solve.frontier import frontier
from adalib.solve.integer import integer_optimum
from adalib.solve.oracle import TIE, dual, oracle_labels
from adalib.table import check_table

__all__ = ["decomposition", "figure_bounds", "imitation", "ledger", "own_cost", "recovery"]


def ledger(acc: ArrayLike, cost: ArrayLike, lam: float, budget: float, labels: ArrayLike) -> Statement:
    """The identity behind the chapter: what is missing to the bound is regret plus the price of the money unspent.

    Explained in chapter 4, "Duality".

    Parameters
    ----------
    acc, cost : array_like
        A table, as for `adalib.oracle_labels`.
    lam, budget : float
        Any price, any budget.
    labels : array_like of int, shape (N,)
        Any policy.
    """
    policy = _Policy(acc, cost, lam, labels)
    missing, unspent = dual(acc, cost, lam, budget) - policy.accuracy, budget - policy.cost
    return Statement(
        "Ledger", corrected=(equal("G(λ) − Acc = Reg + λ (B − cost)", missing, policy.regret + lam * unspent),)
    )


def decomposition(acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> Statement:
    """Corollary 1: regret is the accuracy lost minus the price of the cost saved.

    Explained in chapter 4, "Duality".

    Parameters
    ----------
    acc, cost, lam, labels
        As for `ledger`.
    """
    policy = _Policy(acc, cost, lam, labels)
    net = policy.lost - lam * policy.saved
    return Statement("Corollary 1", (equal("Reg = accuracy lost − λ × cost saved", policy.regret, net),))


def imitation(acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> Statement:
    """Theorem 2: regret is at most the gap of the questions that differ, at most the largest gap times their share.

    Explained in chapter 4, "Duality".

    Parameters
    ----------
    acc, cost, lam, labels
        As for `ledger`.
    """
    policy = _Policy(acc, cost, lam, labels)
    return Statement(
        "Theorem 2",
        (
            at_most("Reg ≤ E[M 1(differs)]", policy.regret, policy.weighted),
            at_most("E[M 1(differs)] ≤ max M × ε", policy.weighted, policy.worst * policy.eps),
        ),
    )


def figure_bounds(acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> Statement:
    """What the paper's figure draws for Theorem 2: accuracy lost not regret, the mean gap not the largest.

    Explained in chapter 4, "Duality".

    Parameters
    ----------
    acc, cost, lam, labels
        As for `ledger`.
    """
    policy = _Policy(acc, cost, lam, labels)
    largest, mean = policy.worst * policy.eps, policy.gaps.mean() * policy.eps
    covariance = ((policy.gaps - policy.gaps.mean()) * (policy.differs - policy.eps)).mean()
    return Statement(
        "Theorem 2, drawn",
        (
            at_most("accuracy lost ≤ max M × ε", policy.lost, largest),
            at_most("Reg ≤ mean M × ε", policy.regret, mean),
        ),
        (
            at_most("accuracy lost ≤ max M × ε + λ × cost saved", policy.lost, largest + lam * policy.saved),
            at_most("Reg ≤ mean M × ε + Cov(M, differs)", policy.regret, mean + covariance),
        ),
    )


def recovery(acc: ArrayLike, cost: ArrayLike, lam: float, budget: float, labels: ArrayLike) -> Statement:
    """Theorem 3: a near copy of an affordable oracle is nearly affordable (1); how near to optimal is priced (2).

    The corrected bound is proved for mixtures, hence for V(B') too. Explained in chapter 4, "Duality".

    Parameters
    ----------
    acc, cost, lam, budget, labels
        As for `ledger`, with a price at which the oracle keeps the budget.

    Raises
    ------
    ValueError
        If the oracle at ``lam`` costs more than ``budget``: the theorem does not speak of it.

    Examples
    --------
    >>> statement = recovery([[0.0, 1.0], [0.0, 1.0]], cost=[1, 2], lam=1.0, budget=1.5, labels=[0, 0])
    >>> [claim.holds for claim in statement.printed], [claim.holds for claim in statement.corrected]
    ([True, False], [True, True])
    """
    policy = _Policy(acc, cost, lam, labels)
    slack = budget - policy.oracle_cost
    if slack < -TIE * budget:
        raise ValueError(
            f"at price {lam:g} the oracle costs {policy.oracle_cost:g}, more than the budget {budget:g}; raise either"
        )
    more = budget + policy.eps * policy.spread
    best = integer_optimum(acc, cost, more)
    bound = policy.weighted + lam * (more - policy.cost)
    simple = policy.worst * policy.eps + lam * (slack + 2 * policy.eps * policy.spread)
    return Statement(
        "Theorem 3",
        (
            at_most("(1) cost ≤ B'", policy.cost, more),
            at_most("(2) V(B') − Acc ≤ max M × ε", best.accuracy - policy.accuracy, policy.worst * policy.eps),
        ),
        (
            at_most(
                "(2) V_LP(B') − Acc ≤ E[M 1(differs)] + λ (B' − cost)",
                best.bound - policy.accuracy,
                bound,
            ),
            at_most("that bound ≤ max M × ε + λ (s + 2 ε ΔC)", bound, simple),
        ),
        (
            at_most("V(B') ≤ G(λ), with G at B", best.accuracy, dual(acc, cost, lam, budget)),
            at_most("λ (B − cost) ≤ 0", lam * (budget - policy.cost), 0.0),
        ),
    )


def own_cost(acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> Statement:
    """Against the best of its own cost, a policy loses at most its regret, at any price; at the best price just that.

    Explained in chapter 4, "Duality".

    Parameters
    ----------
    acc, cost, lam, labels
        As for `ledger`.
    """
    policy = _Policy(acc, cost, lam, labels)
    best = frontier(acc, cost).at(policy.cost)
    behind = best.bound - policy.accuracy
    return Statement(
        "Own cost",
        corrected=(
            at_most("V_LP(cost) − Acc ≤ Reg", behind, policy.regret),
            equal("V_LP(cost) − Acc = least Reg", behind, _Policy(acc, cost, best.lam, labels).regret),
        ),
    )


class _Policy:
    """A policy beside the oracle at a price: every quantity that the statements speak of."""

    def __init__(self, acc: ArrayLike, cost: ArrayLike, lam: float, labels: ArrayLike) -> None:
        acc, cost = check_table(acc, cost)
        labels = check_labels(labels, acc.shape)
        oracle, wide = oracle_labels(acc, cost, lam), np.broadcast_to(cost, acc.shape)
        net = acc - lam * wide
        self.accuracy, self.cost = chosen(acc, labels).mean(), chosen(wide, labels).mean()
        self.oracle_cost = chosen(wide, oracle).mean()
        self.lost = chosen(acc, oracle).mean() - self.accuracy
        self.saved = self.oracle_cost - self.cost
        self.regret = (chosen(net, oracle) - chosen(net, labels)).mean()
        self.differs = labels != oracle
        self.gaps = chosen(net, oracle) - net.min(axis=1)
        self.eps, self.worst = self.differs.mean(), self.gaps.max()
        self.weighted = (self.gaps * self.differs).mean()
        self.spread = (wide[:, -1] - wide[:, 0]).max()
