"""Claims of chapters 4 and 5 to be proved line by line (`prove`): the objects, the two sides, the ideas on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from adalib.solve.frontier import frontier
from adalib.solve.oracle import chosen, dual
from adalib.teach.exercises.cases import Case, Inputs
from adalib.teach.exercises.proofs import mean, with_oracle, with_plan
from adalib.teach.exercises.prove import Proof
from adalib.teach.exercises.tables import PRICED, TARGETED_AND_PRICED

__all__ = ["BRACKET", "NOISE", "RECOVERY", "REGRET", "WEAK_DUALITY"]

# Chapter 4

WEAK_DUALITY = Proof(
    with_plan(TARGETED_AND_PRICED, lambda case: case["budget"]),
    dict,
    lambda acc, plan: mean(acc, plan),
    lambda acc, cost, lam, budget: dual(acc, cost, lam, budget),
    {
        "the chain jumps: what may be added because the plan keeps the budget": (
            lambda acc, cost, lam, budget, plan: mean(acc, plan) + lam * (budget - mean(cost, plan))
        )
    },
    "the plan keeps the budget and the price is not negative, so something that is not negative may be added",
    "line 2 is accuracy + lam * (budget - cost) of the plan; then let every question choose its best net value",
    {
        "the sign is turned round: the plan costs the budget or less": (
            lambda acc, cost, lam, budget, plan: mean(acc, plan) + lam * (mean(cost, plan) - budget)
        ),
        "unspent money counts at its price; the price is missing": (
            lambda acc, cost, budget, plan: mean(acc, plan) + budget - mean(cost, plan)
        ),
        "that is the plan's net value, which lies below its accuracy": (
            lambda acc, cost, lam, plan: mean(acc, plan) - lam * mean(cost, plan)
        ),
    },
)


def _regret(acc: np.ndarray, cost: np.ndarray, lam: float, policy: np.ndarray) -> float:
    net = acc - lam * cost
    return float((net.max(axis=1) - chosen(net, policy)).mean())


def _policy(case: Case) -> dict[str, Any]:
    objects = {name: value for name, value in case.items() if name != "plan"}
    return with_oracle({**objects, "policy": case["plan"]})


def _policy_and_best(case: Case) -> dict[str, Any]:
    return {**_policy(case), "best": frontier(case["acc"], case["cost"]).at(case["budget"]).bound}


RECOVERY = Proof(
    with_plan(TARGETED_AND_PRICED),
    _policy_and_best,
    lambda acc, policy, best: best - mean(acc, policy),
    lambda acc, cost, lam, budget, policy: _regret(acc, cost, lam, policy) + lam * (budget - mean(cost, policy)),
    {
        "the chain jumps: which ceiling lies above the best value": (
            lambda acc, cost, lam, budget, policy: dual(acc, cost, lam, budget) - mean(acc, policy)
        )
    },
    "put the ceiling at this price in place of the best value; the rest is an identity",
    "ceiling - accuracy = regret + lam * (budget - cost of the policy): write the ceiling with the oracle's net value",
    {
        "that is lost against the oracle, which may spend more or less than the budget": (
            lambda acc, policy, oracle: mean(acc, oracle) - mean(acc, policy)
        ),
        "unspent money is missing: a policy without regret may still have saved": (
            lambda acc, cost, lam, policy: _regret(acc, cost, lam, policy)
        ),
        "the regret is missing": lambda cost, lam, budget, policy: lam * (budget - mean(cost, policy)),
    },
)


def _stakes(acc: np.ndarray, cost: np.ndarray, lam: float) -> np.ndarray:
    net = acc - lam * cost
    return net.max(axis=1) - net.min(axis=1)


REGRET = Proof(
    with_plan(PRICED),
    _policy,
    lambda acc, cost, lam, policy: _regret(acc, cost, lam, policy),
    lambda acc, cost, lam, policy, oracle: float(_stakes(acc, cost, lam).max() * (policy != oracle).mean()),
    {
        "the chain jumps: what is at stake on the questions where the policy errs": (
            lambda acc, cost, lam, policy, oracle: float((_stakes(acc, cost, lam) * (policy != oracle)).mean())
        )
    },
    "where policy and oracle agree nothing is lost; elsewhere at most the largest less the smallest net value",
    "line 2 is the mean of M times 1 where the two differ, M the largest minus the smallest net value of a question",
    {
        "the mean of M times the share of errors is no bound: errors may sit where M is large": (
            lambda acc, cost, lam, policy, oracle: float(_stakes(acc, cost, lam).mean() * (policy != oracle).mean())
        ),
        "regret is lost net value; that is lost accuracy": (
            lambda acc, policy, oracle: mean(acc, oracle) - mean(acc, policy)
        ),
        "the share of errors alone does not say what they cost": lambda policy, oracle: float(
            (policy != oracle).mean()
        ),
    },
)

# Chapter 5


def _draw_estimates(rng: np.random.Generator) -> Case:
    return {"draws": rng.integers(0, 9, (rng.integers(2, 7), rng.integers(2, 5))) / 8}


def _with_truth(case: Case) -> dict[str, Any]:
    return {**case, "truth": case["draws"].mean(axis=0)}


_ESTIMATES = Inputs(
    _draw_estimates, {"draws": ("draw", "budget")}, valid=lambda case: abs(case["draws"] - 0.5).max() <= 0.5
)

BRACKET = Proof(
    _ESTIMATES,
    _with_truth,
    lambda draws, truth: float(truth[draws.argmax(axis=1)].mean()),
    lambda draws: float(draws.max(axis=1).mean()),
    {"the chain jumps: what would one who knows the truth choose": lambda truth: float(truth.max())},
    "nobody who chooses by noisy numbers does better than one who knows the truth, and nobody claims less than him",
    "line 2 is truth.max(); for the second step, every draw's maximum is at least its entry at the truly best budget",
    {
        "the average budget is not the best one": lambda truth: float(truth.mean()),
        "that is the luckiest number of all; the claim is a mean of maxima": lambda draws: float(draws.max()),
        "it takes the luckiest draw of every budget; the oracle takes the best budget of every draw": (
            lambda draws: float(draws.max(axis=0).mean())
        ),
    },
)

NOISE = Proof(
    _ESTIMATES,
    _with_truth,
    lambda draws, truth: float(draws.max(axis=1).mean() - truth.max()),
    lambda draws, truth: float(np.sqrt(((draws - truth) ** 2).mean(axis=0).sum())),
    {
        "the chain jumps: take the errors out of the maximum": lambda draws, truth: float(
            (draws - truth).max(axis=1).mean()
        ),
        "the chain jumps: a largest entry is at most the length of its vector": (
            lambda draws, truth: float(np.linalg.norm(draws - truth, axis=1).mean())
        ),
    },
    "an estimate is truth plus error; a maximum of sums is at most the sum of the maxima",
    "then: the largest error is at most the length of the vector of errors, and a mean of lengths at most the root of "
    "the mean of their squares",
    {
        "that is the noise of the worst single budget; the largest of several errors is worse": (
            lambda draws, truth: float(np.sqrt(((draws - truth) ** 2).mean(axis=0)).max())
        ),
        "that is the mean size of an error; the oracle picks the largest": (
            lambda draws, truth: float(np.abs(draws - truth).mean())
        ),
        "unbiased estimates do not make an unbiased maximum": lambda truth: 0.0,
    },
)
