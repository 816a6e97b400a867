"""The ladder of things to build, from a vote to a stopping rule: each rung is a brute force and its typical mistakes.

The chapters take their rungs from here. The mistakes are functions too, and the tests put them through the same check.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adalib.teach.exercises.build import Build, same
from adalib.teach.exercises.cases import Case, Inputs
from adalib.teach.exercises.tables import (
    PRICED,
    TARGETED,
    TARGETED_AND_PRICED,
    best_value,
    between,
    bill,
    cheapest_best,
    prices,
    sketch,
    spent,
)

__all__ = ["AVERAGE_COST", "BISECTION", "COIN", "DUAL", "ENVELOPE", "FRONTIER", "ORACLE", "SUBGRADIENT"]


def _net(acc: np.ndarray, cost: np.ndarray, lam: float) -> np.ndarray:
    return acc - lam * cost


def _dearest(acc: np.ndarray, cost: np.ndarray, lam: float) -> np.ndarray:
    return acc.shape[1] - 1 - _net(acc, cost, lam)[:, ::-1].argmax(axis=1)


ORACLE = Build(
    PRICED,
    cheapest_best,
    "every question takes the column where accuracy minus price times cost is largest",
    "net = acc - lam * cost is the whole table of net values; argmax along a row takes the first, hence the "
    "cheapest, of the largest",
    {
        "ties go to the dearer budget; they must go to the cheaper one": _dearest,
        "it takes the most accurate column and forgets the price": lambda acc, cost, lam: acc.argmax(axis=1),
        "it returns budgets; return columns, counted from 0": lambda acc, cost, lam: cost[
            cheapest_best(acc, cost, lam)
        ],
        "it multiplies the price with the column's number; multiply it with the column's cost": lambda acc, cost, lam: (
            acc - lam * np.arange(len(cost))
        ).argmax(1),
        "it divides accuracy by cost; subtract price times cost instead": lambda acc, cost, lam: (acc / cost).argmax(1),
    },
    picture=sketch,
)

AVERAGE_COST = Build(
    PRICED,
    bill,
    "add up what the labels of the oracle cost, and divide by the number of questions",
    "with labels = oracle(acc, cost, lam), cost[labels] is what each question pays",
    {
        "it averages columns, not costs": lambda acc, cost, lam: np.mean(cheapest_best(acc, cost, lam)),
        "it adds up; divide by the number of questions": lambda acc, cost, lam: bill(acc, cost, lam) * len(acc),
        "it averages accuracy, not cost": lambda acc, cost, lam: spent(acc, cheapest_best(acc, cost, lam)),
        "its ties go to the dearer budget": lambda acc, cost, lam: cost[_dearest(acc, cost, lam)].mean(),
    },
)


def _lowest_price(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
    return next(lam for lam, above in between(acc, cost) if bill(acc, cost, above) <= budget)


def _judge_price(got: Any, best: float, case: Case) -> str | None:
    got = float(np.asarray(got).item())
    if not 0 <= got < np.inf:
        return f"the price {got:g} is below 0 or no number"
    # A search ends a hair away from the step; which side it is on is a matter of the last digits.
    paid = bill(case["acc"], case["cost"], got + 1e-6)
    if paid > case["budget"] + 1e-9:
        return f"at the price {got:.6g} the oracle spends {paid:g}, more than the budget"
    return None if got <= best + 1e-4 else f"the price {got:.6g} is too high: {best:.6g} keeps the budget too"


def _halving(acc: np.ndarray, cost: np.ndarray, budget: float, steps: int = 60, turned: bool = False) -> float:
    low, high = 0.0, 5.0
    for _ in range(steps):
        middle = (low + high) / 2
        too_low = (bill(acc, cost, middle) > budget) != turned
        low, high = (middle, high) if too_low else (low, middle)
    return high


BISECTION = Build(
    TARGETED,
    _lowest_price,
    "halve the interval: where the bill is above the budget the price must rise, else it may fall",
    "keep a price that is too low and one that is high enough; try the middle, move one end, sixty times; return "
    "the high end",
    {
        "it moves the wrong end: a bill above the budget needs a higher price": lambda acc, cost, budget: _halving(
            acc, cost, budget, turned=True
        ),
        "it stops after a few steps; halve some fifty times": lambda acc, cost, budget: _halving(acc, cost, budget, 8),
        "it returns the bill, not the price": lambda acc, cost, budget: bill(acc, cost, _halving(acc, cost, budget)),
    },
    judge=_judge_price,
)


def _winners(acc: np.ndarray, cost: np.ndarray) -> list[int]:
    return sorted({cheapest_best(acc[None], cost, lam)[0] for _, lam in between(acc[None], cost)})


def _with_points_on_the_line(acc: np.ndarray, cost: np.ndarray) -> list[int]:
    tied = [acc - lam * cost >= (acc - lam * cost).max() - 1e-9 for lam in prices(acc[None], cost)]
    return np.flatnonzero(np.any(tied, axis=0)).tolist()


def _draw_curve(rng: np.random.Generator) -> Case:
    case = PRICED.draw(rng)
    return {"acc": case["acc"][0], "cost": case["cost"]}


ENVELOPE = Build(
    Inputs(
        _draw_curve,
        {"acc": ("budget",), "cost": ("budget",)},
        [
            {"acc": np.array([0.0, 0.25, 0.5, 1.0]), "cost": np.array([1.0, 2.0, 4.0, 8.0])},
            {"acc": np.array([0.5, 0.5, 0.25]), "cost": np.array([1.0, 2.0, 4.0])},
            {"acc": np.array([0.0, 0.25, 0.5]), "cost": np.array([1.0, 2.0, 3.0])},
        ],
        lambda case: PRICED.valid({**case, "acc": case["acc"][None]}),
    ),
    _winners,
    "a column is on the envelope if some price makes it the cheapest of the best; a point on or under the line "
    "between two others is not",
    "start at the first column; go to the column with the steepest slope from here, the farthest one if several are "
    "as steep; stop when no slope is positive",
    {
        "it keeps every point that beats those before; one under its neighbours' line must go": lambda acc, cost: [
            j for j in range(len(acc)) if j == 0 or acc[j] > acc[:j].max()
        ],
        "it keeps all columns": lambda acc, cost: list(range(len(acc))),
        "it keeps points on the line between two others, and ties; no price needs them": _with_points_on_the_line,
        "it jumps to the most accurate column at once": lambda acc, cost: sorted({0, int(acc.argmax())}),
    },
)


def _points(acc: np.ndarray, cost: np.ndarray) -> list[tuple[float, float]]:
    plans = [cheapest_best(acc, cost, lam) for _, lam in between(acc, cost)]
    return sorted({(round(spent(cost, plan), 9), round(spent(acc, plan), 9)) for plan in plans})


def _judge_points(got: Any, best: Any, case: Case) -> str | None:
    found = np.asarray(got, dtype=float)
    if found.ndim != 2 or 2 not in found.shape:
        return "it must return one pair (cost, accuracy) a point, from the cheapest to the dearest"
    return same(found, best)


def _mean_curve(acc: np.ndarray, cost: np.ndarray) -> list[tuple[float, float]]:
    mean = acc.mean(axis=0)
    return [(float(cost[j]), float(mean[j])) for j in _winners(mean, cost)]


FRONTIER = Build(
    Inputs(lambda rng: {k: v for k, v in PRICED.draw(rng).items() if k != "lam"}, PRICED.axes, valid=PRICED.valid),
    _points,
    "collect the steps of all envelopes, sort them by slope, and add up costs and gains from the steepest on; steps "
    "of equal slope make one point",
    "a step of one question moves the averages by its cost / N and its gain / N; start where everyone has the "
    "cheapest column",
    {
        "that is the envelope of the mean curve, which treats all questions alike": _mean_curve,
        "it adds up; averages are over all questions": lambda acc, cost: np.multiply(len(acc), _points(acc, cost)),
        "it leaves out the start, where everyone has the cheapest column": lambda acc, cost: _points(acc, cost)[1:],
        "it runs from the dearest to the cheapest; turn it round": lambda acc, cost: _points(acc, cost)[::-1],
    },
    judge=_judge_points,
)


def _one_coin(acc: np.ndarray, cost: np.ndarray, budget: float) -> np.ndarray:
    """The greedy plan: all envelope steps by slope, the first that does not fit is taken in part."""
    n, k = acc.shape
    steps = []
    for i, row in enumerate(acc):
        path = _winners(row, cost)
        for low, high in zip(path, path[1:], strict=False):
            steps.append(((row[high] - row[low]) / (cost[high] - cost[low]), -i, low, high))
    plan, left = np.eye(k)[np.zeros(n, dtype=int)], n * (budget - cost[0])
    for _, i, low, high in sorted(steps, key=lambda step: (-step[0], -step[1], step[2])):
        share = min(1.0, left / (cost[high] - cost[low]))
        plan[-i] = (1 - share) * np.eye(k)[low] + share * np.eye(k)[high]
        left -= share * (cost[high] - cost[low])
        if share < 1:
            break
    return plan


def _judge_coin(got: Any, best: Any, case: Case) -> str | None:
    plan = np.asarray(got, dtype=float)
    acc, cost, budget = case["acc"], case["cost"], case["budget"]
    if plan.shape != acc.shape:
        return f"it must return chances of shape {acc.shape}, a row a question and a column a budget"
    if plan.min() < -1e-9 or abs(plan.sum(axis=1) - 1).max() > 1e-9:
        return "the chances of a question must be 0 or more and sum to 1"
    paid, value = float((plan @ cost).mean()), float((plan * acc).sum(axis=1).mean())
    if paid > budget + 1e-9:
        return f"it spends {paid:.4g}, more than the budget"
    if (((plan > 1e-9) & (plan < 1 - 1e-9)).any(axis=1)).sum() > 1:
        return "more than one question tosses a coin"
    bound = best_value(acc, cost, budget)
    return None if value >= bound - 1e-9 else f"its mean accuracy is {value:.4f}, and {bound:.4f} can be had"


COIN = Build(
    TARGETED,
    _one_coin,
    "take the steps of all envelopes by slope while they fit, and let a coin decide on the first that does not",
    "the share of that step is the money left, N (B - bill), over the step's cost; every other question has one "
    "chance of 1",
    {
        "it leaves the slack unspent; toss a coin for the step that did not fit": lambda acc, cost, budget: (
            np.round(_one_coin(acc, cost, budget) - 1e-9)
            + np.where(
                np.arange(len(cost))[None] == (_one_coin(acc, cost, budget) > 0).argmax(1)[:, None],
                1 - np.round(_one_coin(acc, cost, budget) - 1e-9).sum(1, keepdims=True),
                0,
            )
        ),
        "every question tosses the same coin; one coin is enough": lambda acc, cost, budget: np.repeat(
            _one_coin(acc.mean(axis=0)[None], cost, budget), len(acc), axis=0
        ),
        "everyone gets the dearest column that the budget allows": lambda acc, cost, budget: np.eye(len(cost))[
            np.full(len(acc), np.searchsorted(cost, budget, side="right") - 1)
        ],
    },
    judge=_judge_coin,
)


def _dual(acc: np.ndarray, cost: np.ndarray, lam: float, budget: float) -> float:
    return float(np.mean([max(row - lam * cost) for row in acc]) + lam * budget)


DUAL = Build(
    TARGETED_AND_PRICED,
    _dual,
    "the mean over questions of the largest net value, plus price times budget",
    "(acc - lam * cost).max(axis=1).mean() + lam * budget",
    {
        "the price of the budget is missing: add lam * budget": lambda acc, cost, lam, budget: _dual(acc, cost, lam, 0),
        "take the largest of every row first, then the mean; not the other way round": lambda acc, cost, lam, budget: (
            (acc - lam * cost).mean(axis=0).max() + lam * budget
        ),
        "it adds up the questions; take their mean": lambda acc, cost, lam, budget: (
            (acc - lam * cost).max(axis=1).sum() + lam * budget
        ),
        "it subtracts the price of the budget; add it": lambda acc, cost, lam, budget: _dual(acc, cost, lam, -budget),
    },
)


def _judge_slope(got: Any, best: float, case: Case) -> str | None:
    slope = float(np.asarray(got).item())
    acc, cost, lam, budget = case["acc"], case["cost"], case["lam"], case["budget"]
    here = _dual(acc, cost, lam, budget)
    for other in (*prices(acc, cost), lam / 2, lam + 1e-3, lam + 2):
        line, there = here + slope * (other - lam), _dual(acc, cost, other, budget)
        if line > there + 1e-9:
            return f"with slope {slope:g} the line is at {line:.4f} at the price {other:.4g}, above G = {there:.4f}"
    return None


SUBGRADIENT = Build(
    TARGETED_AND_PRICED,
    lambda acc, cost, lam, budget: budget - bill(acc, cost, lam),
    "a subgradient is the slope of a line through G at this price that nowhere lies above G",
    "differentiate one row's largest net value: its slope in the price is minus the cost of the column that attains it",
    {
        "the sign is turned round: G falls where the bill is above the budget": lambda acc, cost, lam, budget: (
            bill(acc, cost, lam) - budget
        ),
        "the budget is missing": lambda acc, cost, lam, budget: -bill(acc, cost, lam),
        "that is the value of G, not its slope": _dual,
    },
    judge=_judge_slope,
)
