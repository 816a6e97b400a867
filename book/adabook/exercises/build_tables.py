"""What the reader builds on tables: the oracle, its bill, the frontier, the dual, mixes, menus.

Each exercise is a brute force and its typical mistakes, which are functions too. The last one,
merit order, is of the chapter on other markets.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from adabook.exercises.behaviour import Build, same
from adabook.exercises.cases import (
    PRICED,
    TARGETED,
    TARGETED_AND_PRICED,
    Case,
    Inputs,
    best_value,
    between,
    bill,
    by_hand,
    oracle,
    prices,
    sketch,
    spent,
)

EXERCISES: dict[tuple[str, str], Build] = {}  # by chapter and name


def _dearest(acc: np.ndarray, cost: np.ndarray, lam: float) -> np.ndarray:
    """A mistake: ties go to the most expensive column."""
    return acc.shape[1] - 1 - (acc - lam * cost)[:, ::-1].argmax(axis=1)


def _first_stop(acc: np.ndarray, cost: np.ndarray, lam: float) -> list[int]:
    """A mistake: go on while the next step pays, and look no further."""
    pays = np.diff(acc) > lam * np.diff(cost)
    return [int(np.append(row, False).argmin()) for row in pays]


EXERCISES["oracle", "oracle"] = Build(
    inputs=PRICED,
    brute_force=oracle,
    hint="every question takes the column where accuracy minus price times cost is largest",
    more=(
        "compute the whole table of net values at once; if several entries of a row are "
        "largest, numpy finds the first, which is the cheapest"
    ),
    mistakes={
        "ties go to the more expensive budget; they must go to the cheaper one": _dearest,
        "it takes the most accurate column and forgets the price": (
            lambda acc, *_: acc.argmax(axis=1)
        ),
        "it returns budgets; return columns, counted from 0": (
            lambda acc, cost, lam: cost[oracle(acc, cost, lam)]
        ),
        "it multiplies the price by the column's number; multiply it by the column's cost": (
            lambda acc, _, lam: (acc - lam * np.arange(acc.shape[1])).argmax(axis=1)
        ),
        "it divides accuracy by cost; subtract price times cost instead": (
            lambda acc, cost, _: (acc / cost).argmax(1)
        ),
        "it takes the smallest net value; take the largest": (
            lambda acc, cost, lam: (acc - lam * cost).argmin(axis=1)
        ),
        "the sign of the price is wrong: what is spent is subtracted": (
            lambda acc, cost, lam: (acc + lam * cost).argmax(axis=1)
        ),
        "it counts columns from 1; count from 0": (
            lambda acc, cost, lam: np.add(oracle(acc, cost, lam), 1)
        ),
        "it stops at the first step that does not pay; a later one may pay for both": _first_stop,
        "it takes the best question of every column; take the best column of every question, "
        "which is axis=1": lambda acc, cost, lam: (acc - lam * cost).argmax(axis=0),
    },
    picture=sketch,
)


def _judge_price(
    got: Any, best: float, acc: np.ndarray, cost: np.ndarray, budget: float
) -> str | None:
    """Accept the lowest price at which the oracle keeps the budget, within 1e-4."""
    got = float(np.asarray(got).item())
    if not 0 <= got < np.inf:
        return f"the price {got:g} is below 0 or not a number"
    # The best price is a ratio: unless it is a short binary number its last digits are rounded, and
    # may differ.
    least = best if best * 2**20 % 1 == 0 else best - 16 * np.spacing(best)
    paid = bill(acc, cost, got)
    if got < least and paid > budget + 1e-9:
        near = (
            "; give the high end, or round up (for adalib.average_cost 1e-12 is a tie)"
            if got > best - 1e-4
            else ""
        )
        return f"at the price {got!r} the oracle spends {paid:g}, more than the budget{near}"
    return (
        None
        if got <= best + 1e-4
        else f"the price {got:.6g} is too high: {best:.6g} stays within the budget too"
    )


def _halving(
    acc: np.ndarray, cost: np.ndarray, budget: float, steps: int = 60, turned: bool = False
) -> float:
    """Bisection; with ``turned`` it moves the wrong end."""
    low = 0.0
    high = 5.0
    for _ in range(steps):
        middle = (low + high) / 2
        too_low = (bill(acc, cost, middle) > budget) != turned
        low, high = (middle, high) if too_low else (low, middle)
    return high


EXERCISES["budgets", "bisection"] = Build(
    inputs=TARGETED,
    brute_force=lambda acc, cost, budget: next(
        lam for lam, above in between(acc, cost) if bill(acc, cost, above) <= budget
    ),
    hint=(
        "halve the interval: if the cost is above the budget the price must rise, otherwise it "
        "may fall"
    ),
    more=(
        "keep a price that is too low and one that is high enough, and move one of them to the "
        "middle until they meet; which of the two stays within the budget"
    ),
    mistakes={
        "it moves the wrong end: a cost above the budget needs a higher price": partial(
            _halving, turned=True
        ),
        "it stops after a few steps; halve about fifty times": partial(_halving, steps=8),
        "it returns the cost, not the price": (
            lambda acc, cost, budget: bill(acc, cost, _halving(acc, cost, budget))
        ),
    },
    judge=_judge_price,
)


def _winners(acc: np.ndarray, cost: np.ndarray) -> list[int]:
    """The columns of one curve that some price makes the cheapest of the best."""
    return sorted({oracle(acc[None], cost, lam)[0] for _, lam in between(acc[None], cost)})


def _with_points_on_the_line(acc: np.ndarray, cost: np.ndarray) -> list[int]:
    """The columns that tie with the best at some price."""
    tied = [acc - lam * cost >= (acc - lam * cost).max() - 1e-9 for lam in prices(acc[None], cost)]
    return np.flatnonzero(np.any(tied, axis=0)).tolist()


def _judge_corners(got: Any, best: Any, acc: np.ndarray, cost: np.ndarray) -> str | None:
    """Accept all corners, with or without points on the line between two of them."""
    columns = np.asarray(got).ravel().tolist()
    on_the_line = _with_points_on_the_line(acc, cost)
    # More expensive columns that tie with the last one gain nothing, so none is worth a price.
    last = best[-1]
    allowed = set(best) | {j for j in on_the_line if j < last}
    return (
        None
        if set(best) <= set(columns) <= allowed and columns == sorted(columns)
        else "its result is not the envelope here"
    )


EXERCISES["budgets", "envelope"] = Build(
    inputs=PRICED.turned(
        lambda rng, acc, cost, lam: {"acc": acc[0], "cost": cost},
        {"acc": ("budget",), "cost": ("budget",)},
        [
            by_hand(acc=[0.0, 0.25, 0.5, 1.0], cost=[1.0, 2.0, 4.0, 8.0]),
            by_hand(acc=[0.5, 0.5, 0.25], cost=[1.0, 2.0, 4.0]),
            by_hand(acc=[0.0, 0.25, 0.5], cost=[1.0, 2.0, 3.0]),
        ],
    ),
    brute_force=_winners,
    hint=(
        "a column is on the envelope if some price makes it the cheapest of the best; a point "
        "under the line between two others is not"
    ),
    more=(
        "start at the first column and look at the slopes to all more expensive ones; where do "
        "you go next, and when do you stop"
    ),
    mistakes={
        (
            "it keeps every point that beats those before it; a point under its neighbours' "
            "line must go"
        ): (lambda acc, _: [j for j in range(len(acc)) if j == 0 or acc[j] > acc[:j].max()]),
        "it keeps all columns": lambda acc, _: list(range(len(acc))),
        "it jumps straight to the most accurate column": (
            lambda acc, _: sorted({0, int(acc.argmax())})
        ),
    },
    judge=_judge_corners,
)


def _points(acc: np.ndarray, cost: np.ndarray) -> list[tuple[float, float]]:
    """The (cost, accuracy) pairs of the frontier, from the cheapest."""
    plans = [oracle(acc, cost, lam) for _, lam in between(acc, cost)]
    return sorted({(round(spent(cost, plan), 9), round(spent(acc, plan), 9)) for plan in plans})


def _judge_points(got: Any, best: Any, **_: Any) -> str | None:
    """Accept the points of the frontier as pairs, in their order."""
    points = np.asarray(got, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:
        return (
            "it must return one pair (cost, accuracy) per point, from the cheapest to the most "
            "expensive"
        )
    return same(points, best)


def _mean_curve(acc: np.ndarray, cost: np.ndarray) -> list[tuple[float, float]]:
    """A mistake: the envelope of the mean curve."""
    mean = acc.mean(axis=0)
    return [(float(cost[j]), float(mean[j])) for j in _winners(mean, cost)]


EXERCISES["budgets", "frontier"] = Build(
    inputs=PRICED.turned(lambda rng, acc, cost, lam: {"acc": acc, "cost": cost}, PRICED.axes),
    brute_force=_points,
    hint=(
        "collect the steps of all envelopes, sort them by slope, and add up costs and gains, "
        "the steepest first; steps of equal slope make one point"
    ),
    more=(
        "start where every question has the cheapest column; how far does one step of one "
        "question move the two averages over N questions"
    ),
    mistakes={
        "that is the envelope of the mean curve, which treats all questions alike": _mean_curve,
        "it returns sums; return averages over questions": (
            lambda acc, cost: np.multiply(len(acc), _points(acc, cost))
        ),
        "costs and accuracies are two rows; return one pair per point": (
            lambda *case: np.transpose(_points(*case))
        ),
        "it leaves out the start, where every question has the cheapest column": (
            lambda *case: _points(*case)[1:]
        ),
        "it runs from the most expensive to the cheapest; reverse it": (
            lambda *case: _points(*case)[::-1]
        ),
    },
    judge=_judge_points,
)


def _one_coin(acc: np.ndarray, cost: np.ndarray, budget: float, toss: bool = True) -> np.ndarray:
    """Return the greedy plan: steps by slope; the first that does not fit is taken in part."""
    n, k = acc.shape
    steps = []
    for i, row in enumerate(acc):
        for low, high in pairwise(_winners(row, cost)):
            steps.append(((row[low] - row[high]) / (cost[high] - cost[low]), i, low, high))
    plan = np.eye(k)[np.zeros(n, dtype=int)]
    left = n * (budget - cost[0])
    for _, i, low, high in sorted(steps):
        share = min(1.0, left / (cost[high] - cost[low]))
        if share == 1 or toss:
            plan[i] = (1 - share) * np.eye(k)[low] + share * np.eye(k)[high]
        left -= share * (cost[high] - cost[low])
        if share < 1:
            break
    return plan


#: A plan may be rounded to six digits, which costs up to sixteen answers times half a millionth.
_ROUGH = 1e-5


def _judge_coin(
    got: Any, best: Any, acc: np.ndarray, cost: np.ndarray, budget: float
) -> str | None:
    """Accept any plan within the budget that splits at most one question and reaches the bound."""
    plan = np.asarray(got, dtype=float)
    if plan.shape != acc.shape:
        return (
            f"it must return chances of shape {acc.shape}, one row per question and one "
            "column per budget"
        )
    if plan.min() < -_ROUGH or abs(plan.sum(axis=1) - 1).max() > _ROUGH:
        return "the chances of a question must be 0 or more and sum to 1"
    paid = float((plan @ cost).mean())
    value = float((plan * acc).sum(axis=1).mean())
    if paid > budget + _ROUGH:
        return f"it spends {paid:.6g}, more than the budget"
    if (((plan > _ROUGH) & (plan < 1 - _ROUGH)).any(axis=1)).sum() > 1:
        return "more than one question is randomised"
    bound = best_value(acc, cost, budget)
    return (
        None
        if value >= bound - _ROUGH
        else f"its mean accuracy is {value:.6f}, but {bound:.6f} is possible"
    )


EXERCISES["budgets", "coin"] = Build(
    inputs=TARGETED,
    brute_force=_one_coin,
    hint=(
        "take the steps of all envelopes by slope while they fit, and part of the first that "
        "does not"
    ),
    more=(
        "how much money is left before the step that does not fit, and what share of that step "
        "does it pay for; every other question gets one budget with probability 1"
    ),
    mistakes={
        "it leaves the slack unspent; take part of the step that did not fit": partial(
            _one_coin, toss=False
        ),
        "every question is randomised; one is enough": (
            lambda acc, cost, budget: np.repeat(
                _one_coin(acc.mean(axis=0)[None], cost, budget), len(acc), axis=0
            )
        ),
        "every question gets the most expensive column that the budget allows": (
            lambda acc, cost, budget: np.eye(len(cost))[
                np.full(len(acc), np.searchsorted(cost, budget, side="right") - 1)
            ]
        ),
    },
    judge=_judge_coin,
)


def _dual(acc: np.ndarray, cost: np.ndarray, lam: float, budget: float) -> float:
    """The dual function at a price."""
    return float(np.mean([max(row - lam * cost) for row in acc]) + lam * budget)


#: How far above the bound a line may lie: a finite difference over 1e-4 that meets a kink is off by
#: so much.
_DIFFERENCE = 2e-3


def _judge_slope(
    got: Any, best: float, acc: np.ndarray, cost: np.ndarray, lam: float, budget: float
) -> str | None:
    """Accept the slope of any line through G that nowhere lies above G."""
    slope = float(np.asarray(got).item())
    here = _dual(acc, cost, lam, budget)
    for other in (*prices(acc, cost), lam / 2, lam + 2):
        line = here + slope * (other - lam)
        there = _dual(acc, cost, other, budget)
        if line > there + _DIFFERENCE:
            where = f"with slope {slope:g} the line is at {line:.4f} at the price {other:.4g}"
            return f"{where}, above G = {there:.4f}"
    return None


EXERCISES["duality", "subgradient"] = Build(
    inputs=TARGETED_AND_PRICED,
    brute_force=lambda acc, cost, lam, budget: budget - bill(acc, cost, lam),
    hint="a subgradient is the slope of a line through G at this price that nowhere lies above G",
    more="look at one row: how fast does its largest net value fall when the price rises a little",
    mistakes={
        "the sign is reversed: G falls where the cost is above the budget": (
            lambda *case: bill(*case[:3]) - case[3]
        ),
        "the budget is missing": lambda *case: -bill(*case[:3]),
        "that is the value of G, not its slope": _dual,
    },
    judge=_judge_slope,
)

EXERCISES["test", "best mix"] = Build(
    inputs=TARGETED.turned(
        lambda rng, acc, cost, budget: {"means": acc[0], "cost": cost, "budget": budget},
        {"means": ("budget",), "cost": ("budget",)},
        [
            by_hand(means=[0.25, 0.25, 1.0], cost=[1.0, 2.0, 4.0], budget=2.0),
            by_hand(means=[0.5, 0.25], cost=[1.0, 2.0], budget=2.0),
        ],
        valid=lambda means, **case: TARGETED.valid(means, **case),
    ),
    brute_force=lambda means, cost, budget: best_value(means[None], cost, budget),
    hint=(
        "mix any two budgets at random so that the average cost is at most B, and take the best"
        " such mix"
    ),
    more=(
        "one of the two budgets costs B or less and the other more; draw the line between their"
        " accuracies and read it at B; a single budget that fits is allowed too"
    ),
    mistakes={
        "it mixes neighbours only; a mix of 1 and 4 may beat them": (
            lambda means, cost, budget: float(np.interp(budget, cost, means))
        ),
        "that is the largest budget that fits, without a mix": (
            lambda means, cost, budget: means[cost <= budget][-1]
        ),
        "that is the best single budget that fits; a mix may do better": (
            lambda means, cost, budget: float(means[cost <= budget].max())
        ),
        "it mixes only the cheapest with the most expensive": (
            lambda means, cost, budget: float(np.interp(budget, cost[[0, -1]], means[[0, -1]]))
        ),
    },
)


def _draw_models(rng: np.random.Generator) -> Case:
    """Draw the accuracies and costs of two models, no two costs equal."""
    n = rng.integers(1, 4)
    few = rng.integers(1, 4)
    many = rng.integers(1, 4)
    prices = rng.choice(np.arange(1.0, 33.0), size=few + many, replace=False)
    return {
        "small": rng.integers(0, 9, (n, few)) / 8,
        "small_cost": np.sort(prices[:few]),
        "large": rng.integers(0, 9, (n, many)) / 8,
        "large_cost": np.sort(prices[few:]),
    }


def _side_by_side(
    small: np.ndarray, small_cost: np.ndarray, large: np.ndarray, large_cost: np.ndarray
) -> np.ndarray:
    """Both models in one table, costs first, in no order."""
    return np.vstack([np.append(small_cost, large_cost), np.hstack([small, large])])


def _costs_alone_sorted(*case: np.ndarray) -> np.ndarray:
    """A mistake: costs are sorted, and accuracies stay where they were."""
    costs, *accuracies = _side_by_side(*case)
    return np.array([np.sort(costs), *accuracies])


EXERCISES["models", "joined"] = Build(
    inputs=Inputs(
        draw=_draw_models,
        axes={
            "small": ("question", "few"),
            "small_cost": ("few",),
            "large": ("question", "many"),
            "large_cost": ("many",),
        },
        valid=lambda small_cost, large_cost, **_: np.diff(
            np.sort(np.append(small_cost, large_cost))
        ).all(),
    ),
    brute_force=lambda *case: np.array(sorted(_side_by_side(*case).T.tolist())).T,
    hint=(
        "put the columns of both models side by side and order them by cost; accuracies move "
        "with their costs"
    ),
    more=(
        "numpy.argsort gives the order of the costs; put the columns of both models in that "
        "order, and stack the costs above the accuracies"
    ),
    mistakes={
        "the columns are not ordered by cost": _side_by_side,
        "the costs are ordered, but the accuracies did not move": _costs_alone_sorted,
        "it sorts each row separately; whole columns must move": (
            lambda *case: np.sort(_side_by_side(*case), axis=1)
        ),
    },
)


def _draw_timings(rng: np.random.Generator) -> Case:
    """Draw seconds for some numbers of answers side by side."""
    runs = rng.integers(2, 6)
    count = np.sort(rng.choice(np.arange(1.0, 17.0), size=runs, replace=False))
    return {"count": count, "seconds": rng.integers(1, 9, runs) / 4 + count * rng.uniform(0, 2)}


EXERCISES["costs", "fitted"] = Build(
    inputs=Inputs(
        draw=_draw_timings,
        axes={"count": ("run",), "seconds": ("run",)},
        valid=lambda count, **_: np.unique(count).size > 1,
    ),
    brute_force=lambda count, seconds: np.linalg.lstsq(
        np.column_stack([np.ones(len(count)), count]), np.asarray(seconds), rcond=None
    )[0],
    hint="this is a regression of the seconds on the number of answers; p is its constant",
    more="numpy.polyfit with degree 1 gives the slope first, then the constant",
    mistakes={
        "the two numbers are swapped: p comes first": (
            lambda count, seconds: np.polyfit(count, seconds, 1)
        ),
        "that line goes through the first and the last point, not closest to all": (
            lambda count, seconds: [
                seconds[0] - count[0] * (seconds[-1] - seconds[0]) / (count[-1] - count[0]),
                (seconds[-1] - seconds[0]) / (count[-1] - count[0]),
            ]
        ),
        "that line goes through zero; a first answer may pay for the machine": (
            lambda count, seconds: [0.0, np.dot(count, seconds) / np.dot(count, count)]
        ),
    },
)


def _draw_plants(rng: np.random.Generator) -> Case:
    """Draw a few power plants."""
    n = rng.integers(1, 6)
    return {
        "capacity": rng.integers(2, 26, n) / 2,
        "fuel": rng.integers(4, 40, n) / 4,
    }


#: A few power plants: what each can run, and what its fuel costs.
PLANTS = Inputs(draw=_draw_plants, axes={"capacity": ("plant",), "fuel": ("plant",)})


def _least_bill(capacity: np.ndarray, fuel: np.ndarray, demand: float) -> np.ndarray:
    """Brute force: every plant off or at full power, but one, which takes what is left."""
    best = capacity
    least = np.inf
    for part in range(len(capacity)):
        for full in product((0.0, 1.0), repeat=len(capacity)):
            run = np.array(full) * capacity
            run[part] = 0
            run[part] = demand - run.sum()
            if 0 <= run[part] <= capacity[part] and run @ fuel < least:
                best = run
                least = run @ fuel
    return best


def _in_turn(capacity: np.ndarray, demand: float, order: Iterable[int]) -> np.ndarray:
    """Plants at full power in an order, until the demand is met."""
    run = np.zeros(len(capacity))
    for plant in order:
        run[plant] = min(capacity[plant], demand - run.sum())
    return run


def _judge_run(
    got: Any, best: np.ndarray, capacity: np.ndarray, fuel: np.ndarray, demand: float
) -> str | None:
    """Any plan of the least bill is right: two plants with the same fuel may share as they like."""
    run = np.asarray(got, dtype=float)
    if run.shape != capacity.shape:
        return f"it returned {run.size} numbers for {capacity.size} plants"
    if (run < -1e-9).any() or (run > capacity + 1e-9).any():
        return "a plant runs below 0 or above its capacity"
    if abs(run.sum() - demand) > 1e-9:
        return f"the plants produce {run.sum():g}, but the demand is {demand:g}"
    burnt = run @ fuel
    least = best @ fuel
    return None if burnt <= least + 1e-9 else f"it burns fuel for {burnt:g}; {least:g} is enough"


EXERCISES["markets", "dispatch"] = Build(
    inputs=PLANTS.turned(
        lambda rng, capacity, fuel: {
            "capacity": capacity,
            "fuel": fuel,
            "demand": float(rng.integers(0, 8 * int(capacity.sum()) + 1) / 8),
        },
        PLANTS.axes,
        [
            by_hand(capacity=[4.0, 4.0], fuel=[9.0, 1.0], demand=5.0),
            by_hand(capacity=[2.0, 3.0, 2.0], fuel=[5.0, 5.0, 1.0], demand=2.0),
            by_hand(capacity=[3.0], fuel=[2.0], demand=0.0),
        ],
        valid=lambda capacity, demand, **_: (capacity > 0).all() and 0 <= demand <= capacity.sum(),
    ),
    brute_force=_least_bill,
    hint="use the cheapest fuel first, each plant up to its capacity, and the last one in part",
    more=(
        "go through the plants in the order of their fuel, and keep track of what is left of "
        "the demand"
    ),
    mistakes={
        "it runs the plants in the order listed; begin with the cheapest fuel": (
            lambda capacity, fuel, demand: _in_turn(capacity, demand, range(len(capacity)))
        ),
        "it begins with the most expensive fuel": (
            lambda capacity, fuel, demand: _in_turn(capacity, demand, (-fuel).argsort())
        ),
        "it returns the cheapest plant first; keep the order given": (
            lambda capacity, fuel, demand: _in_turn(capacity, demand, fuel.argsort())[
                fuel.argsort()
            ]
        ),
        "its last plant runs at full power; it should only meet what is left of the demand": (
            lambda capacity, fuel, demand: np.where(
                _in_turn(capacity, demand, fuel.argsort()) > 0, capacity, 0
            )
        ),
        "it splits the demand by capacity; expensive plants run while cheap ones are idle": (
            lambda capacity, fuel, demand: capacity * demand / capacity.sum()
        ),
    },
    judge=_judge_run,
)
