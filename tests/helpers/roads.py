"""Another road to every function, object and proof that the exercises ask for: one that the
chapter's solution does not take. Some come as an iterator, in single precision or rounded to six
digits, as answers of students do.

Functions and objects are judged in `tests/adabook/test_roads.py`, proofs in `test_behaviour.py`.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

import adalib
from adabook.exercises import JUDGED
from adalib.solve.oracle import chosen

BUDGETS = (1, 2, 4, 8, 16)

#: A function without arguments that makes the answer, by chapter and name of the exercise.
ROADS = {}


def answered_by(chapter, name):
    """Register a function that is itself the answer, or a list of lines in between for a proof."""

    def register_answer(function):
        ROADS[chapter, name] = lambda: function
        return function

    return register_answer


# Functions


@answered_by("data", "vote")
def vote(answers, gold):
    return adalib.majority(answers).get(gold, 0.0)


@answered_by("motivation", "subsets")
def subsets(answers, gold, b):
    right = [float(answer == gold) for answer in answers]
    return adalib.acc_subsets([adalib.answer_classes(answers)], [right], [b])


ROADS["oracle", "oracle"] = lambda: adalib.oracle_labels


@answered_by("budgets", "bisection")
def bisection(acc, cost, budget):
    return adalib.frontier(acc, cost).at(budget).lam


@answered_by("budgets", "envelope")
def walked(acc, cost):
    """Chapter 3's walk: of several as steep it takes the nearest, so points on a line are stops."""
    here = [0]
    while here[-1] < len(cost) - 1:
        slopes = (acc[here[-1] + 1 :] - acc[here[-1]]) / (cost[here[-1] + 1 :] - cost[here[-1]])
        if slopes.max() <= 0:
            break
        here.append(here[-1] + 1 + int(slopes.argmax()))
    return here


@answered_by("budgets", "frontier")
def frontier(acc, cost):
    path = adalib.frontier(acc, cost)
    return zip(path.cost.round(6), path.accuracy.round(6), strict=True)


@answered_by("budgets", "coin")
def coin(acc, cost, budget):
    best = adalib.frontier(acc, cost).at(budget)
    plan = np.eye(len(cost))[best.labels]
    if best.split:
        row, low, high, share = best.split
        plan[row] = (1 - share) * np.eye(len(cost))[low] + share * np.eye(len(cost))[high]
    return (list(row) for row in plan.astype(np.float32))


@answered_by("duality", "subgradient")
def subgradient(acc, cost, lam, budget):
    return adalib.subdifferential(acc, cost, lam, budget)[1]


@answered_by("test", "best mix")
def best_mix(means, cost, budget):
    return adalib.best_mix(means[None], cost, budget).weights[0] @ means


@answered_by("models", "joined")
def joined(small, small_cost, large, large_cost):
    columns = [*zip(small_cost, *small, strict=True), *zip(large_cost, *large, strict=True)]
    return np.array(sorted(columns)).T


@answered_by("costs", "fitted")
def fitted(count, seconds):
    slope = np.cov(count, seconds)[0, 1] / np.var(count, ddof=1)
    return {"p": seconds.mean() - slope * count.mean(), "a": slope}.values()


@answered_by("markets", "dispatch")
def dispatch(capacity, fuel, demand):
    bounds = [(0, most) for most in capacity]
    return linprog(fuel, A_eq=[0 * fuel + 1], b_eq=[demand], bounds=bounds).x.round(9)


@answered_by("learning", "label policy")
def label_policy(known, acc, cost, lam, new):
    labels = adalib.oracle_labels(acc, cost, lam)
    distances = np.linalg.norm(new[:, None] - known, axis=2).round(9)
    return labels[distances.argmin(axis=1)]


@answered_by("stopping", "induct")
def induct(worth, moves, lam):
    """From the first answer on, by recursion over the states."""

    def value(n, state):
        if n == len(moves):
            return worth[n, state]
        further = sum(chance * value(n + 1, at) for at, chance in enumerate(moves[n, state]))
        return max(worth[n, state], further - lam)

    return [value(0, state) for state in range(worth.shape[1])]


@answered_by("estimation", "cross-fit")
def cross_fit(first, second, cost, lam):
    halves = ((first, second), (second, first))
    means = [
        chosen(scores, adalib.oracle_labels(choices, cost, lam)).mean()
        for choices, scores in halves
    ]
    return np.mean(means)


# Objects


def thin(first, best):
    """Twenty questions: ten alike, one to buy for, and nine that are flat."""
    acc = np.full((20, 5), 0.5)
    acc[:10] = first
    acc[10] = best
    return adalib.UtilityTable(acc, BUDGETS)


OBJECTS = {
    ("duality", "gap"): ([[0, 1], [0, 1]], [1, 2], 1.25),
    ("duality", "exact"): "2.333333",
    ("a_duality", "perfect"): ([[0, 0, 0.9], [0, 0.2, 0.2]], [1, 2, 4], 1.75),
    ("a_duality", "mean gap"): (
        [[1, 0]] + [[0.5, 0.5]] * 9,
        [1, 2],
        0.01,
        (float(at == 0) for at in range(10)),
    ),
    ("estimation", "null"): adalib.Population(np.full((60, 3), 1 / 3), np.zeros(60, dtype=int)),
    ("learning", "blind"): ("What is 12 plus 34?", "What is 12 over 34?"),
    ("b_replication", "thin"): thin([0.4, 0.4, 0.41, 0.43, 0.5], [0.1, 0.1, 0.9, 0.9, 0.9]),
    ("deploy", "controller"): lambda costs, budget, first, step: (
        price for price in first * np.cumprod(np.exp(step * (costs / budget - 1), dtype=np.float32))
    ),
}
for place, right_object in OBJECTS.items():
    ROADS[place] = lambda right_object=right_object: right_object


# Proofs: the lines between the two sides of the claim


def other_gap(high, a_low, c_low, a_high, c_high):
    """What the buy of the high price is ahead by, at that price."""
    return (a_high - high * c_high) - (a_low - high * c_low)


def net_value_back(acc, cost, lam, plan, oracle):
    """Net values first, and then the oracle's bill is added back."""
    net = chosen(acc - lam * cost, plan).mean()
    return net + lam * chosen(np.broadcast_to(cost, acc.shape), oracle).mean()


def over_differing_rows(acc, cost, lam, policy, oracle):
    """The regret, summed over the rows in which policy and oracle differ."""
    net = acc - lam * cost
    lost = chosen(net, oracle) - chosen(net, policy)
    return lost[policy != oracle].sum() / len(policy)


def best_net_value_of_the_plan(acc, cost, lam, budget, plan):
    """The plan's own net value with the price of the whole budget."""
    return chosen(acc - lam * cost, plan).mean() + lam * budget


def bound_by_the_oracle(acc, cost, lam, budget, policy, oracle):
    """The bound at this price, with the oracle's net value, less what the policy scores."""
    return chosen(acc - lam * cost, oracle).mean() + lam * budget - chosen(acc, policy).mean()


def bound_in_a_loop(acc, cost, lam, budget, policy):
    """The bound at this price, row by row, less what the policy scores."""
    bound = np.mean([max(row - lam * cost) for row in acc]) + lam * budget
    return bound - chosen(acc, policy).mean()


def entry_of_the_best(draws, truth):
    """The draws of the truly best budget, on average."""
    return draws[:, truth.argmax()].mean()


def profits_that_run(fuel, run, demand, price):
    """What the plants that run would earn at the price, taken from its bill."""
    return price * demand - sum(r * max(price - f, 0) for r, f in zip(run, fuel, strict=True))


PROOFS = {
    ("oracle", "monotone"): [other_gap],
    ("oracle", "everett"): [net_value_back],
    ("duality", "weak duality"): [best_net_value_of_the_plan],
    ("estimation", "bracket"): [entry_of_the_best],
    ("a_duality", "recovery"): [bound_in_a_loop, bound_by_the_oracle],
    ("a_duality", "regret"): [over_differing_rows],
    ("budgets", "one split"): [lambda lam, slack: lam * slack, lambda share, n: share / n],
    ("markets", "floor"): [profits_that_run],
    ("stopping", "induction"): [
        lambda v, lam, q, chances, V: q * max(v, chances @ V - lam) + (1 - q) * v
    ],
    ("deploy", "overspending"): [lambda costs, last, budget: (costs[: last + 1] - budget).sum()],
}


def chain(place):
    """A whole proof: both sides of the claim, the lines between, and a sentence for every step."""
    proof = JUDGED[place]
    lines = [proof.first, *PROOFS[place], proof.last]
    return [part for line in lines for part in ("it is so", line)][1:]
