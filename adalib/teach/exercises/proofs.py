"""Claims of chapters 2 and 3 to be proved line by line (`prove`): the objects, the two sides, the ideas on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from adalib.solve.frontier import frontier
from adalib.solve.oracle import chosen, dual, oracle_labels
from adalib.teach.exercises.cases import Case, Inputs
from adalib.teach.exercises.prove import Proof
from adalib.teach.exercises.tables import PRICED, TARGETED

__all__ = ["EVERETT", "MONOTONE", "ONE_SPLIT", "PRICE_OF_MORE", "mean", "with_oracle", "with_plan"]


def mean(table: np.ndarray, plan: np.ndarray) -> float:
    """Mean of a plan's entries."""
    return float(chosen(table, plan).mean())


def with_plan(inputs: Inputs, cap: Any = None) -> Inputs:
    """The same inputs with any plan, or with one that keeps to a budget: rows too dear fall back to the cheapest."""

    def draw(rng: np.random.Generator) -> Case:
        case = inputs.draw(rng)
        n, k = case["acc"].shape
        plan = rng.integers(0, k, n)
        if cap is not None:
            for row in range(n):
                if mean(case["cost"], plan) > cap(case):
                    plan[row] = 0
        return {**case, "plan": plan}

    def valid(case: Case) -> bool:
        fits = inputs.valid(case) and case["plan"].max() < len(case["cost"])
        return bool(fits and (cap is None or mean(case["cost"], case["plan"]) <= cap(case)))

    return Inputs(draw, {**inputs.axes, "plan": ("question",)}, valid=valid)


def _oracle_cost(case: Case) -> float:
    return mean(case["cost"], oracle_labels(case["acc"], case["cost"], case["lam"]))


def with_oracle(case: Case) -> dict[str, Any]:
    """An input and the oracle's labels at its price."""
    return {**case, "oracle": oracle_labels(case["acc"], case["cost"], case["lam"])}


# Chapter 2


def _two_prices(rng: np.random.Generator) -> Case:
    case = PRICED.draw(rng)
    return {
        "acc": case["acc"][:1],
        "cost": case["cost"],
        "low": case["lam"],
        "high": case["lam"] + rng.integers(1, 9) / 64,
    }


def _two_buys(case: Case) -> dict[str, Any]:
    found: dict[str, Any] = {"low": case["low"], "high": case["high"]}
    for name in ("low", "high"):
        label = int(oracle_labels(case["acc"], case["cost"], case[name])[0])
        found |= {f"a_{name}": float(case["acc"][0, label]), f"c_{name}": float(case["cost"][label])}
    return found


MONOTONE = Proof(
    Inputs(
        _two_prices,
        {"acc": ("question", "budget"), "cost": ("budget",)},
        valid=lambda case: PRICED.valid({**case, "lam": case["low"]}) and case["high"] > case["low"],
    ),
    _two_buys,
    lambda low: 0.0,
    lambda low, high, c_low, c_high: (high - low) * (c_low - c_high),
    {
        "the chain jumps: use first that at the low price nothing beats what is bought there": (
            lambda low, a_low, c_low, a_high, c_high: (a_low - low * c_low) - (a_high - low * c_high)
        )
    },
    "each buy is the best at its own price; write that down for both, and add",
    "line 2 is the net value of the low price's buy minus that of the other buy, at the low price; line 3 adds the "
    "same at the high price, where the accuracies cancel",
    {
        "the sides are exchanged: at the low price its own buy is the better one": (
            lambda low, a_low, c_low, a_high, c_high: (a_high - low * c_high) - (a_low - low * c_low)
        ),
        "that line has the high price: there the other buy is the better one": (
            lambda high, a_low, c_low, a_high, c_high: (a_low - high * c_low) - (a_high - high * c_high)
        ),
        "accuracy alone is not what a buy maximises; the price is missing": lambda a_low, a_high: a_low - a_high,
    },
)

EVERETT = Proof(
    with_plan(PRICED, _oracle_cost),
    with_oracle,
    lambda acc, plan: mean(acc, plan),
    lambda acc, oracle: mean(acc, oracle),
    {
        "the chain jumps: let the price in, where the plan costs no more than the oracle": (
            lambda acc, cost, lam, plan, oracle: mean(acc, plan) + lam * (mean(cost, oracle) - mean(cost, plan))
        )
    },
    "the plan costs no more than the oracle, and no net value is above the oracle's",
    "line 2 is the plan's accuracy plus the price times what it spends less than the oracle; that is the oracle's "
    "accuracy or less, because its net value is",
    {
        "the sign of the money is turned round: the plan spends less": (
            lambda acc, cost, lam, plan, oracle: mean(acc, plan) + lam * (mean(cost, plan) - mean(cost, oracle))
        ),
        "that is the plan's net value, which lies below its accuracy": (
            lambda acc, cost, lam, plan: mean(acc, plan) - lam * mean(cost, plan)
        ),
        "money is not accuracy: multiply it with the price": (
            lambda acc, cost, plan, oracle: mean(acc, plan) + mean(cost, oracle) - mean(cost, plan)
        ),
    },
)

# Chapter 3


def _two_budgets(rng: np.random.Generator) -> Case:
    case = TARGETED.draw(rng)
    return {
        "acc": case["acc"],
        "cost": case["cost"],
        "small": case["budget"],
        "large": case["budget"] + rng.integers(1, 33) / 8,
    }


def _two_values(case: Case) -> dict[str, Any]:
    path = frontier(case["acc"], case["cost"])
    one, other = path.at(case["small"]), path.at(case["large"])
    return {**case, "lam": one.lam, "v_small": one.bound, "v_large": other.bound}


PRICE_OF_MORE = Proof(
    Inputs(
        _two_budgets,
        TARGETED.axes,
        valid=lambda case: PRICED.valid({**case, "budget": case["small"]}) and case["large"] > case["small"],
    ),
    _two_values,
    lambda v_large: v_large,
    lambda v_small, lam, small, large: v_small + lam * (large - small),
    {
        "the chain jumps: which ceiling holds for the large budget at this price": (
            lambda acc, cost, lam, large: dual(acc, cost, lam, large)
        )
    },
    "every price gives a ceiling for every budget; take the small budget's price and the large budget's ceiling",
    "line 2 is mean(max(acc - lam cost)) + lam * large; it differs from the same with small by lam * (large - small)",
    {
        "that is the ceiling of the small budget; the large one can do better": (
            lambda acc, cost, lam, small: dual(acc, cost, lam, small)
        ),
        "it prices the whole large budget instead of the difference": lambda v_small, lam, large: v_small + lam * large,
        "money is not accuracy: multiply the difference with the price": (
            lambda v_small, small, large: v_small + large - small
        ),
    },
)


def _split(case: Case) -> dict[str, Any]:
    found = frontier(case["acc"], case["cost"]).at(case["budget"])
    row, low, high, share = found.split or (0, 0, 0, 0.0)
    return {
        "n": len(case["acc"]),
        "bound": found.bound,
        "accuracy": found.accuracy,
        "lam": found.lam,
        "slack": found.slack if found.split else 0.0,
        "gain": float(case["acc"][row, high] - case["acc"][row, low]),
        "share": share,
    }


ONE_SPLIT = Proof(
    TARGETED,
    _split,
    lambda bound, accuracy: bound - accuracy,
    lambda n: 1 / n,
    {
        "the chain jumps: what is the slack worth at this price": lambda lam, slack: lam * slack,
        "the chain jumps: what would the whole step of the split question bring": lambda gain, n: gain / n,
    },
    "the coin spends the slack at the price of its step; a whole step brings more than a part, and none more than 1",
    "lines: bound - accuracy, lam * slack, gain / n, 1 / n",
    {
        "money is not accuracy: multiply the slack with the price": lambda slack: slack,
        "the slack is an average over questions already; do not divide by n again": lambda lam, slack, n: (
            lam * slack / n
        ),
        "the coin is tossed for one question of n; divide by n": lambda share, gain: share * gain,
    },
)
