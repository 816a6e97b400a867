"""Claims to be proved line by line: the objects a line may name, both sides, typical mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adabook.exercises.behaviour import Proof
from adabook.exercises.build_tables import PLANTS
from adabook.exercises.cases import PRICED, TARGETED, TARGETED_AND_PRICED, Case, Inputs
from adalib.solve.frontier import frontier
from adalib.solve.oracle import chosen, dual, oracle_labels

EXERCISES: dict[tuple[str, str], Proof] = {}  # by chapter and name


def _mean(table: np.ndarray, plan: np.ndarray) -> float:
    """Mean of a plan's entries."""
    return float(chosen(table, plan).mean())


def _with_plan(inputs: Inputs, cap: Callable[..., float] = lambda **case: np.inf) -> Inputs:
    """Draw the same inputs with any plan, or with one that keeps to a budget.

    Rows that are too expensive fall back to the cheapest column.
    """

    def planned(rng: np.random.Generator, **case: Any) -> Case:
        n, k = case["acc"].shape
        plan = rng.integers(0, k, n)
        for row in range(n):
            if _mean(case["cost"], plan) > cap(**case):
                plan[row] = 0
        return {**case, "plan": plan}

    def valid(plan: np.ndarray, **case: Any) -> bool:
        fits = inputs.valid(**case) and plan.max() < len(case["cost"])
        return fits and _mean(case["cost"], plan) <= cap(**case)

    return inputs.turned(planned, {**inputs.axes, "plan": ("question",)}, valid=valid)


def _with_oracle(**case: Any) -> dict[str, Any]:
    """An input and the oracle's labels at its price."""
    return {**case, "oracle": oracle_labels(case["acc"], case["cost"], case["lam"])}


# The chapter "The oracle"


def _two_buys(acc: np.ndarray, cost: np.ndarray, low: float, high: float) -> dict[str, Any]:
    """Accuracy and cost of what one question buys at a low and at a high price."""
    bought: dict[str, Any] = {"low": low, "high": high}
    for name, price in (("low", low), ("high", high)):
        label = int(oracle_labels(acc, cost, price)[0])
        bought |= {f"a_{name}": float(acc[0, label]), f"c_{name}": float(cost[label])}
    return bought


EXERCISES["oracle", "monotone"] = Proof(
    inputs=PRICED.turned(
        lambda rng, acc, cost, lam: {
            "acc": acc[:1],
            "cost": cost,
            "low": lam,
            "high": lam + rng.integers(1, 9) / 64,
        },
        PRICED.axes,
        valid=lambda low, high, **case: PRICED.valid(lam=low, **case) and high > low,
    ),
    objects=_two_buys,
    first=lambda low: 0.0,
    last=lambda low, high, c_low, c_high: (high - low) * (c_low - c_high),
    jump="first use that, at one of the two prices, nothing beats what is bought there",
    hint="each buy is the best at its own price; write that down for both, and add",
    more=(
        "compare the net values of the two buys at the low price alone; then ask what the high "
        "price adds, and what cancels"
    ),
    mistakes={
        "the sides are swapped: at the low price its own buy is the better one": (
            lambda low, a_low, c_low, a_high, c_high: (
                (a_high - low * c_high) - (a_low - low * c_low)
            )
        ),
        "that line has the high price: there the other buy is the better one": (
            lambda high, a_low, c_low, a_high, c_high: (
                (a_low - high * c_low) - (a_high - high * c_high)
            )
        ),
        "accuracy alone is not what a buy maximises; the price is missing": (
            lambda a_low, a_high: a_low - a_high
        ),
    },
)

EXERCISES["oracle", "everett"] = Proof(
    inputs=_with_plan(PRICED, lambda **case: _mean(case["cost"], _with_oracle(**case)["oracle"])),
    objects=_with_oracle,
    first=lambda acc, plan: _mean(acc, plan),
    last=lambda acc, oracle: _mean(acc, oracle),
    jump="bring in the price times what the plan saves against the oracle",
    hint="the plan costs no more than the oracle, and no net value is above the oracle's",
    more=(
        "the plan saves money against the oracle; what is that worth at the price, and which of"
        " the two has the larger net value"
    ),
    mistakes={
        "the sign of the money is reversed: the plan spends less": (
            lambda acc, cost, lam, plan, oracle: (
                _mean(acc, plan) + lam * (_mean(cost, plan) - _mean(cost, oracle))
            )
        ),
        "that is the plan's net value, which lies below its accuracy": (
            lambda acc, cost, lam, plan: _mean(acc, plan) - lam * _mean(cost, plan)
        ),
        "money is not accuracy: multiply it by the price": (
            lambda acc, cost, plan, oracle: (
                _mean(acc, plan) + _mean(cost, oracle) - _mean(cost, plan)
            )
        ),
    },
)

# The chapter "Budgets"


def _split(acc: np.ndarray, cost: np.ndarray, budget: float) -> dict[str, Any]:
    """The best allocation within a budget, and the question that it splits."""
    plan = frontier(acc, cost).at(budget)
    row, low, high, share = plan.split or (0, 0, 0, 0.0)
    return {
        "n": len(acc),
        "bound": plan.bound,
        "accuracy": plan.accuracy,
        "lam": plan.lam,
        "slack": plan.slack if plan.split else 0.0,
        "gain": float(acc[row, high] - acc[row, low]),
        "share": share,
    }


EXERCISES["budgets", "one split"] = Proof(
    inputs=TARGETED,
    objects=_split,
    first=lambda bound, accuracy: bound - accuracy,
    last=lambda n: 1 / n,
    jump=(
        "what is the slack worth at this price, and what would the whole "
        "step of the split question bring"
    ),
    hint=(
        "the split spends the slack at the price of its step; a whole step brings more than "
        "part of it, and never more than 1"
    ),
    more=(
        "write down what the slack would buy at this price, then what the whole step of one "
        "question in n brings"
    ),
    mistakes={
        "money is not accuracy: multiply the slack by the price": lambda slack: slack,
        "the slack is an average over questions already; do not divide by n again": (
            lambda lam, slack, n: lam * slack / n
        ),
        "only one question in n is split; divide by n": lambda share, gain: share * gain,
    },
)

# The chapter "Duality"

EXERCISES["duality", "weak duality"] = Proof(
    inputs=_with_plan(TARGETED_AND_PRICED, lambda budget, **_: budget),
    objects=dict,
    first=lambda acc, plan: _mean(acc, plan),
    last=dual,
    jump="what may be added because the plan stays within the budget",
    hint=(
        "the plan stays within the budget and the price is not negative, so you may add "
        "something that is not negative"
    ),
    more=(
        "charge the plan for what it spends and pay it for the budget; then let every question "
        "choose for itself"
    ),
    mistakes={
        "the sign is reversed: the plan costs the budget or less": (
            lambda acc, cost, lam, budget, plan: (
                _mean(acc, plan) + lam * (_mean(cost, plan) - budget)
            )
        ),
        "unspent money counts at its price; the price is missing": (
            lambda acc, cost, budget, plan: _mean(acc, plan) + budget - _mean(cost, plan)
        ),
        "that is the plan's net value, which lies below its accuracy": (
            lambda acc, cost, lam, plan: _mean(acc, plan) - lam * _mean(cost, plan)
        ),
    },
)


# The chapter "Is a gain real?"


_ESTIMATES = Inputs(
    draw=lambda rng: {"draws": rng.integers(0, 9, (rng.integers(2, 7), rng.integers(2, 5))) / 8},
    axes={"draws": ("draw", "budget")},
    valid=lambda draws: abs(draws - 0.5).max() <= 0.5,
)

EXERCISES["estimation", "bracket"] = Proof(
    inputs=_ESTIMATES,
    objects=lambda draws: {"draws": draws, "truth": draws.mean(axis=0)},
    first=lambda draws, truth: float(truth[draws.argmax(axis=1)].mean()),
    last=lambda draws: float(draws.max(axis=1).mean()),
    jump="what would you choose if you knew the truth",
    hint=(
        "choosing by noisy numbers never beats knowing the truth, and its mean claim is never "
        "below the true best"
    ),
    more=(
        "take the budget that is truly best; how does each draw's maximum compare with its "
        "entry there"
    ),
    mistakes={
        "the average budget is not the best one": lambda truth: float(truth.mean()),
        "that is the luckiest number of all; the claim is a mean of maxima": (
            lambda draws: float(draws.max())
        ),
        (
            "it takes the luckiest draw of every budget; the oracle takes the best budget of "
            "every draw"
        ): (lambda draws: float(draws.max(axis=0).mean())),
    },
)


# Appendices A and D


def _regret(acc: np.ndarray, cost: np.ndarray, lam: float, policy: np.ndarray) -> float:
    """Mean net value that a policy loses against the best."""
    net = acc - lam * cost
    return float((net.max(axis=1) - chosen(net, policy)).mean())


def _lost_accuracy(acc: np.ndarray, policy: np.ndarray, oracle: np.ndarray) -> float:
    """Mean accuracy that a policy loses against the oracle."""
    return _mean(acc, oracle) - _mean(acc, policy)


def _policy(plan: np.ndarray, **case: Any) -> dict[str, Any]:
    """A case with its plan called policy, and the oracle's labels."""
    return _with_oracle(**case, policy=plan)


def _stakes(acc: np.ndarray, cost: np.ndarray, lam: float) -> np.ndarray:
    """The largest minus the smallest net value of each question."""
    net = acc - lam * cost
    return net.max(axis=1) - net.min(axis=1)


def _unspent(cost: np.ndarray, lam: float, budget: float, policy: np.ndarray) -> float:
    """The price of what a policy leaves of its budget."""
    return lam * (budget - _mean(cost, policy))


EXERCISES["a_duality", "recovery"] = Proof(
    inputs=_with_plan(TARGETED_AND_PRICED),
    objects=lambda **case: {
        **_policy(**case),
        "best": frontier(case["acc"], case["cost"]).at(case["budget"]).bound,
    },
    first=lambda acc, policy, best: best - _mean(acc, policy),
    last=lambda acc, cost, lam, budget, policy, oracle: (
        float((_stakes(acc, cost, lam) * (policy != oracle)).mean())
        + _unspent(cost, lam, budget, policy)
    ),
    jump="which bound lies above the best value",
    hint=(
        "replace the best value by the bound at this price, which the oracle's net value reaches; "
        "what the policy loses against it is at stake only where the two differ"
    ),
    more=(
        "write the bound at this price with the oracle's net value, and subtract the policy's "
        "accuracy; that is its regret plus the price of what it left"
    ),
    mistakes={
        (
            "that is the loss against the oracle, which may spend more or less than the budget"
        ): _lost_accuracy,
        "unspent money is missing: a policy without regret may still have money left": _regret,
        "the regret is missing": _unspent,
    },
)

EXERCISES["a_duality", "regret"] = Proof(
    inputs=_with_plan(PRICED),
    objects=_policy,
    first=_regret,
    last=lambda acc, cost, lam, policy, oracle: float(
        _stakes(acc, cost, lam).max() * (policy != oracle).mean()
    ),
    jump="what is at stake on the questions where the policy errs",
    hint=(
        "where policy and oracle agree nothing is lost; elsewhere at most the largest minus the"
        " smallest net value"
    ),
    more=(
        "split the mean into rows where the two agree and rows where they differ; what can a "
        "row lose at most"
    ),
    mistakes={
        (
            "the mean of M times the share of errors is not a bound: errors may occur where M "
            "is large"
        ): (
            lambda acc, cost, lam, policy, oracle: float(
                _stakes(acc, cost, lam).mean() * (policy != oracle).mean()
            )
        ),
        "regret is lost net value; that is lost accuracy": _lost_accuracy,
        "the share of errors alone does not say what they cost": (
            lambda policy, oracle: float((policy != oracle).mean())
        ),
    },
)


def _running(rng: np.random.Generator, capacity: np.ndarray, fuel: np.ndarray) -> Case:
    """Draw what each plant runs, and a price."""
    run = np.round(8 * rng.random(len(fuel)) * capacity) / 8
    return {"capacity": capacity, "fuel": fuel, "run": run, "price": float(rng.integers(0, 11))}


EXERCISES["markets", "floor"] = Proof(
    inputs=PLANTS.turned(
        _running,
        {**PLANTS.axes, "run": ("plant",)},
        valid=lambda run, capacity, **_: (run >= 0).all() and (run <= capacity).all(),
    ),
    objects=lambda **case: {**case, "demand": float(case["run"].sum())},
    first=lambda capacity, fuel, demand, price: (
        price * demand - (capacity * np.maximum(price - fuel, 0)).sum()
    ),
    last=lambda fuel, run: run @ fuel,
    jump="what would the plants earn from what they run, if none ran at a loss",
    hint="no plant runs above its capacity, and a plant that stays off earns 0",
    more=(
        "first compare the capacity with what each plant runs; then ask what happens to a plant"
        " that runs at a loss"
    ),
    mistakes={
        "subtract what the plants earn; do not add it": (
            lambda capacity, fuel, demand, price: (
                price * demand + (capacity * np.maximum(price - fuel, 0)).sum()
            )
        ),
        "that lets plants run at a loss; at a price below its fuel a plant stays off and earns 0": (
            lambda capacity, fuel, demand, price: price * demand - (capacity * (price - fuel)).sum()
        ),
        "the price is paid for the demand, not for all that could run": (
            lambda capacity, fuel, run, price: (
                price * capacity.sum() - (run * np.maximum(price - fuel, 0)).sum()
            )
        ),
    },
)

# The chapter "When to stop" and the chapter "Deploy"


def _one_step(rng: np.random.Generator) -> Case:
    """Draw one step of stopping: values now and later, chances, and a price."""
    chances = rng.multinomial(8, [1 / 3] * 3) / 8
    later = np.sort(rng.integers(0, 9, (2, 3)) / 8, axis=0)
    drawn = {
        "v": rng.integers(0, 9) / 8,
        "lam": rng.integers(0, 9) / 32,
        "q": rng.integers(0, 9) / 8,
    }
    return {
        **{name: float(value) for name, value in drawn.items()},
        "chances": chances,
        "W": later[0],
        "V": later[1],
    }


def _tossed(v: float, lam: float, q: float, chances: np.ndarray, later: np.ndarray) -> float:
    """The value of a rule that goes on with chance q."""
    return q * (chances @ later - lam) + (1 - q) * v


EXERCISES["stopping", "induction"] = Proof(
    inputs=Inputs(
        draw=_one_step,
        axes={},
        valid=lambda chances, W, V, q, **_: chances.sum() == 1 and (W <= V).all() and 0 <= q <= 1,
    ),
    objects=dict,
    first=lambda v, lam, q, chances, W: _tossed(v, lam, q, chances, W),
    last=lambda v, lam, chances, V: max(v, chances @ V - lam),
    jump="first use what is known about the next states",
    hint=(
        "at every next state W is at most V, and an average of two numbers is at most the "
        "larger of them"
    ),
    more="which of the two values of the next states may replace the one in the first line",
    mistakes={
        "the price of the next answer is missing": (
            lambda v, q, chances, V: q * (chances @ V) + (1 - q) * v
        ),
        "a rule does not see which state comes; average over the chances": (
            lambda v, lam, q, V: q * (V.min() - lam) + (1 - q) * v
        ),
        "the chances are swapped: with chance q the rule goes on": (
            lambda v, lam, q, chances, V: _tossed(v, lam, 1 - q, chances, V)
        ),
    },
)


def _steered(rng: np.random.Generator) -> Case:
    """Draw costs that an adversary sets wherever the price allows an expensive rule.

    The cheapest rule costs 1.
    """
    budget = float(rng.integers(2, 6))
    first = 1.0
    high = float(rng.integers(2, 9))
    debt = 0.0
    last = 0
    costs = []
    for t in range(int(rng.integers(3, 30))):
        price = first * np.exp(0.5 * debt / budget)
        may_be_expensive = price < high
        costs.append(float(rng.choice([1, 8, 16])) if may_be_expensive else 1.0)
        last = t if may_be_expensive else last
        debt = debt + costs[-1] - budget
    return {
        "costs": np.array(costs),
        "last": last,
        "budget": budget,
        "first": first,
        "high": high,
        "most": 16.0,
    }


EXERCISES["deploy", "overspending"] = Proof(
    inputs=Inputs(draw=_steered, axes={}, valid=lambda **_: False),
    objects=lambda **case: {**case, "step": 0.5},
    first=lambda costs, budget: float((costs - budget).sum()),
    last=lambda budget, step, first, high, most: float(
        budget / step * np.log(high / first) + most - budget
    ),
    jump="what can the last question with a more expensive rule and those before it have added",
    hint=(
        "after the last question with a more expensive rule every cost is at most the budget; "
        "before it the price was below high"
    ),
    more=(
        "split the sum at the last question with a more expensive rule; the price just before "
        "it says how large the first part is"
    ),
    mistakes={
        "the last question with a more expensive rule is itself missing: it may cost the most": (
            lambda costs, last, budget: float((costs[:last] - budget).sum())
        ),
        "the budget of the last question with a more expensive rule is missing": (
            lambda costs, last, budget, most: float((costs[:last] - budget).sum() + most)
        ),
        "the sum counts what is above the budget, not all spending": (
            lambda costs, last: float(costs[:last].sum())
        ),
    },
)
