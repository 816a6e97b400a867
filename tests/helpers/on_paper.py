"""The allocation problem as one solves it on paper: fractions, loops, and everything tried.

It shares no code with the package or the book: prices are the slopes between any two points of a
question, the bound is the least value of the dual, and whole plans are listed.
"""

from __future__ import annotations

import itertools
from fractions import Fraction


def mean(values):
    values = list(values)
    return sum(values, Fraction(0)) / len(values)


def oracle(acc, cost, lam):
    """The column of every question: a more expensive one must be better, not as good."""
    labels = []
    for row in acc:
        best = 0
        for column in range(1, len(cost)):
            if row[column] - lam * cost[column] > row[best] - lam * cost[best]:
                best = column
        labels.append(best)
    return labels


def spent(acc, cost, lam):
    return mean(cost[column] for column in oracle(acc, cost, lam))


def slopes(acc, cost):
    """Every price at which two columns of a question are worth the same, and 0; from below."""
    pairs = list(itertools.combinations(range(len(cost)), 2))
    found = {(row[j] - row[i]) / Fraction(cost[j] - cost[i]) for row in acc for i, j in pairs}
    return sorted({Fraction(0), *(slope for slope in found if slope > 0)})


def dual(acc, cost, lam, budget):
    return (
        mean(max(a - lam * c for a, c in zip(row, cost, strict=True)) for row in acc) + lam * budget
    )


def best_price(acc, cost, budget):
    """The lowest price at which the oracle keeps the budget: the cost only falls at a slope."""
    return min(lam for lam in slopes(acc, cost) if spent(acc, cost, lam) <= budget)


def bound(acc, cost, budget):
    return min(dual(acc, cost, lam, budget) for lam in slopes(acc, cost))


def whole(acc, cost, total):
    """What the best of all plans that cost no more reaches in all, and those plans."""
    plans = [
        plan
        for plan in itertools.product(range(len(cost)), repeat=len(acc))
        if sum(cost[column] for column in plan) <= total
    ]
    worth = [sum(row[column] for row, column in zip(acc, plan, strict=True)) for plan in plans]
    return max(worth), [plan for plan, one in zip(plans, worth, strict=True) if one == max(worth)]


def changes(acc, cost):
    """The prices at which a question changes its budget, from above."""
    kinks = slopes(acc, cost)
    below = [(low + high) / 2 for low, high in itertools.pairwise(kinks)]
    return [
        price
        for price, lower in zip(reversed(kinks[1:]), reversed(below), strict=True)
        if oracle(acc, cost, price) != oracle(acc, cost, lower)
    ]
