"""Homework that asks for a function or a proof: a few variants, each with a number of its own.

A function finds the best plan under a rule that the book does not treat, and is tried against all
plans. A proof is a chain of lines for a claim that the book does not print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adabook.exact import all_plans
from adabook.exercises.behaviour import Build, Proof
from adabook.exercises.cases import TARGETED, Case, Inputs, best_value
from adalib.solve.frontier import frontier
from adalib.solve.oracle import chosen, oracle_labels

_FUNCTION = (
    "Write a function of acc (one row per question, one column per budget), cost (what each column "
    "costs, the cheapest first) and budget. It returns the best mean accuracy of all plans that "
    "give every question one column, without randomising, and cost no more than the budget on "
    "average. {rule} The function is tried on small tables, up to five questions and five columns."
)
_PROOF = (
    "Prove the claim by a list of lines, each a function of the objects that it names, each no "
    "larger than the next. The first line is the left side, the last line the right side. {claim}"
)


class Task(NamedTuple):
    """A question whose answer is a function or a proof: its text, and which variant it is."""

    text: str
    variant: str
    number: float

    def key(self) -> dict[str, Any]:
        """What a grader needs to judge an answer."""
        return {"variant": self.variant, "number": self.number}

    @property
    def points(self) -> int:
        """What a right answer is worth."""
        return judged(**self.key()).points


def judged(variant: str, number: float) -> Build | Proof:
    """The exercise that judges the answers to a task."""
    return FUNCTIONS[variant](number) if variant in FUNCTIONS else PROOFS[variant]


def function_task(rng: np.random.Generator) -> Task:
    """Draw a rule and its number."""
    variant = str(rng.choice(list(FUNCTIONS)))
    number = float(rng.choice(_NUMBERS[variant]))
    return Task(_FUNCTION.format(rule=_RULES[variant].format(number)), variant, number)


def proof_task(rng: np.random.Generator) -> Task:
    """Draw a claim."""
    variant = str(rng.choice(list(PROOFS)))
    return Task(_PROOF.format(claim=_CLAIMS[variant]), variant, 0.0)


_RULES = {
    "seats": "At most {:g} of the questions may get more than the cheapest column.",
    "charge": "A question that gets more than the cheapest column pays {:g} on top of its cost.",
    "weights": (
        "Questions are asked with different frequencies: the first counts once, and each later one "
        "{:g} more than the one before, both in the mean accuracy and in the mean cost."
    ),
}
_NUMBERS: dict[str, list[float]] = {
    "seats": [1, 2],
    "charge": [0.5, 1, 1.5, 2, 3],
    "weights": [0.5, 1, 2, 3],
}


def _best(acc: np.ndarray, budget: float, bills: np.ndarray, fits: Any = True) -> float:
    """The best mean accuracy of the plans, one row each, that fit and whose bill does."""
    within = (bills <= budget + 1e-9) & fits
    return float(acc[np.arange(len(acc)), all_plans(acc)].mean(axis=1)[within].max())


def _without_rule(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
    """The best plan of all."""
    return _best(acc, budget, cost[all_plans(acc)].mean(axis=1))


def _seats(number: float) -> Build:
    """At most so many questions get more than the cheapest column."""

    def best(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
        plans = all_plans(acc)
        return _best(acc, budget, cost[plans].mean(axis=1), (plans > 0).sum(axis=1) <= number)

    def counts_the_last(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
        plans = all_plans(acc)
        is_last = plans == acc.shape[1] - 1
        return _best(acc, budget, cost[plans].mean(axis=1), is_last.sum(axis=1) <= number)

    rule = f"at most {number:g} of the questions may get more than the cheapest column"
    return _build(
        best, rule, {f"it counts the most expensive column alone; {rule}": counts_the_last}
    )


def _charge(number: float) -> Build:
    """Whatever is more than the cheapest column costs so much on top."""

    def best(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
        plans = all_plans(acc)
        return _best(acc, budget, (cost[plans] + number * (plans > 0)).mean(axis=1))

    def charges_once(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
        plans = all_plans(acc)
        any_more = (plans > 0).any(axis=1)
        return _best(acc, budget, cost[plans].mean(axis=1) + number * any_more / len(acc))

    rule = f"every question that gets more than the cheapest column pays {number:g} on top"
    return _build(best, rule, {f"it charges once for all questions; {rule}": charges_once})


def _weights(number: float) -> Build:
    """Later questions count for more."""

    def weighted(acc: np.ndarray, values: np.ndarray) -> np.ndarray:
        weights = 1 + number * np.arange(len(acc))
        return values @ (weights / weights.sum())

    def best(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
        plans = all_plans(acc)
        within = weighted(acc, cost[plans]) <= budget + 1e-9
        return float(weighted(acc, acc[np.arange(len(acc)), plans])[within].max())

    def only_accuracy(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
        plans = all_plans(acc)
        within = cost[plans].mean(axis=1) <= budget + 1e-9
        return float(weighted(acc, acc[np.arange(len(acc)), plans])[within].max())

    rule = f"each question counts {number:g} more than the one before, in accuracy and in cost"
    return _build(best, rule, {f"it weights the accuracy and not the cost; {rule}": only_accuracy})


def _build(
    best: Callable[..., float], rule: str, mistakes: dict[str, Callable[..., float]]
) -> Build:
    """The exercise whose function is tried against all plans under a rule."""
    return Build(
        inputs=TARGETED,
        brute_force=best,
        hint="no plan within the rule and the budget may be better, and yours has to keep both",
        more=f"try all plans with itertools.product, without those that break the rule: {rule}",
        mistakes={
            f"it forgets the rule: {rule}": _without_rule,
            "it randomises; every question gets one column for certain": best_value,
            **mistakes,
        },
    )


#: The functions by the name of their rule.
FUNCTIONS: dict[str, Callable[[float], Build]] = {
    "seats": _seats,
    "charge": _charge,
    "weights": _weights,
}

_CLAIMS = {
    "mixture": (
        "Objects: acc, cost; two budgets low and high; share, a number between 0 and 1; value_low, "
        "value_high and value_mix, the best mean accuracies of policies that may randomise within "
        "the budgets low, high and share * low + (1 - share) * high; lam, a price that solves the "
        "dual for the last of the three. Claim: share * value_low + (1 - share) * value_high is "
        "at most value_mix. Do not use that the frontier is concave, which is what you prove."
    ),
    "estimates": (
        "Objects: acc, the true accuracies; guess, estimates of them, each within error of the "
        "truth; cost; lam; plan, for each question the column with the largest net value by the "
        "estimates. Claim: the mean over the questions of the largest true net value, less "
        "2 * error, is at most the mean true net value of plan."
    ),
    "classes": (
        "Objects: left and right, the accuracies of two classes, with the same cost; their budgets "
        "low and high; share, the share of all questions that are in left; value_left and "
        "value_right, the best mean accuracy of each class within its own budget, and value_both, "
        "that of all questions within the budget share * low + (1 - share) * high (policies may "
        "randomise); lam, a price that solves the dual for all questions. "
        "Claim: share * value_left + (1 - share) * value_right is at most value_both. Argue with "
        "the price."
    ),
}


def _net(acc: np.ndarray, cost: np.ndarray, lam: float) -> float:
    """The mean over the questions of the largest net value."""
    return float((acc - lam * cost).max(axis=1).mean())


def _with_another_budget(rng: np.random.Generator, acc: np.ndarray, **case: Any) -> Case:
    """A table with two budgets, and a share of the first."""
    cost, budget = case["cost"], case["budget"]
    other = float(np.round(8 * rng.uniform(cost[0], cost[-1])) / 8)
    low, high = sorted((budget, other))
    return {"acc": acc, "cost": cost, "low": low, "high": high, "share": rng.integers(1, 8) / 8}


_TWO_BUDGETS = TARGETED.turned(
    _with_another_budget,
    TARGETED.axes,
    valid=lambda acc, cost, low, high, share: (
        TARGETED.valid(acc, cost, budget=low) and low <= high and 0 <= share <= 1
    ),
)


def _mixture_objects(low: float, high: float, share: float, **case: Any) -> dict[str, Any]:
    """Two budgets and the one between, their best values, and the price of the last."""
    path = frontier(case["acc"], case["cost"])
    mixed = path.at(share * low + (1 - share) * high)
    values = {"value_low": path.at(low).bound, "value_high": path.at(high).bound}
    asked = {"low": low, "high": high, "share": share}
    return {**case, **asked, **values, "value_mix": mixed.bound, "lam": mixed.lam}


def _classes_objects(
    acc: np.ndarray, cost: np.ndarray, low: float, high: float, **_: Any
) -> dict[str, Any]:
    """Two classes with a budget each, their best values, and the price of both together."""
    left, right = acc, acc[::-1, ::-1][: max(len(acc) // 2, 1)]
    share = len(left) / (len(left) + len(right))
    both = frontier(np.vstack([left, right]), cost).at(share * low + (1 - share) * high)
    return {
        "left": left,
        "right": right,
        "cost": cost,
        "low": low,
        "high": high,
        "share": share,
        "value_left": frontier(left, cost).at(low).bound,
        "value_right": frontier(right, cost).at(high).bound,
        "value_both": both.bound,
        "lam": both.lam,
    }


def _estimated(rng: np.random.Generator) -> Case:
    """A table, estimates of it, and a price."""
    n, k = rng.integers(1, 6), rng.integers(2, 6)
    acc = rng.integers(0, 9, (n, k)) / 8
    error = float(rng.integers(1, 5) / 16)
    return {
        "acc": acc,
        "guess": np.clip(acc + error * rng.integers(-2, 3, (n, k)) / 2, 0, 1),
        "cost": np.sort(rng.choice(np.arange(1.0, 17.0), size=k, replace=False)),
        "lam": float(rng.integers(0, 17) / 64),
        "error": error,
    }


#: The proofs by the name of their claim.
PROOFS: dict[str, Proof] = {
    "mixture": Proof(
        inputs=_TWO_BUDGETS,
        objects=_mixture_objects,
        first=lambda share, value_low, value_high: share * value_low + (1 - share) * value_high,
        last=lambda value_mix: value_mix,
        jump="which bound lies above both best values, at the same price",
        hint="at any one price the dual function bounds the best value of each budget",
        more="write the dual function at lam for low and for high, and mix the two",
        mistakes={
            "each budget has a dual value of its own; mix them as the budgets are mixed": (
                lambda acc, cost, lam, low, high: _net(acc, cost, lam) + lam * (low + high) / 2
            ),
            "the price of the budget is missing": lambda acc, cost, lam: _net(acc, cost, lam),
            "the shares are swapped: share belongs to low": (
                lambda share, value_low, value_high: share * value_high + (1 - share) * value_low
            ),
        },
    ),
    "estimates": Proof(
        inputs=Inputs(
            _estimated,
            {
                "acc": ("question", "budget"),
                "guess": ("question", "budget"),
                "cost": ("budget",),
            },
            valid=lambda acc, guess, cost, lam, error: (
                np.abs(acc - guess).max() <= error and (np.diff(cost) > 0).all() and lam >= 0
            ),
        ),
        objects=lambda **case: {
            **case,
            "plan": oracle_labels(case["guess"], case["cost"], case["lam"]),
        },
        first=lambda acc, cost, lam, error: _net(acc, cost, lam) - 2 * error,
        last=lambda acc, cost, lam, plan: float(chosen(acc - lam * cost, plan).mean()),
        jump="bring in the largest net value by the estimates",
        hint="truth and estimate differ by at most error, when you choose and when you score",
        more="compare the truly best column with the chosen one, by the estimates and by the truth",
        mistakes={
            "the estimates may be too low for the best column: subtract the error": (
                lambda guess, cost, lam: _net(guess, cost, lam)
            ),
            "one error is spent on choosing and one on scoring; that subtracts both at once": (
                lambda guess, cost, lam, error: _net(guess, cost, lam) - 2 * error
            ),
            "the price is missing: the plan maximises net value, not accuracy": (
                lambda guess, error: float(guess.max(axis=1).mean()) - error
            ),
        },
    ),
    "classes": Proof(
        inputs=_TWO_BUDGETS,
        objects=_classes_objects,
        first=lambda share, value_left, value_right: share * value_left + (1 - share) * value_right,
        last=lambda value_both: value_both,
        jump="which bound lies above both best values, at the same price",
        hint="at any one price each class has a dual function, which bounds its best value",
        more="write the dual function of each class at lam for its own budget, and mix the two",
        mistakes={
            "the price of the budgets is missing": (
                lambda left, right, cost, lam, share: (
                    share * _net(left, cost, lam) + (1 - share) * _net(right, cost, lam)
                )
            ),
            "the classes may differ in size; mix them by share": (
                lambda left, right, cost, lam, low, high: (
                    (_net(left, cost, lam) + _net(right, cost, lam) + lam * (low + high)) / 2
                )
            ),
            "the shares are swapped: share belongs to left": (
                lambda share, value_left, value_right: (
                    share * value_right + (1 - share) * value_left
                )
            ),
        },
    ),
}
