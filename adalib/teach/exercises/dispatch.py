"""What the appendix's reader builds and proves: merit order, and the floor that every price puts under the bill."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from adalib.teach.exercises.build import Build
from adalib.teach.exercises.cases import Case, Inputs
from adalib.teach.exercises.prove import Proof

__all__ = ["DISPATCH", "FLOOR"]

_AXES = {"capacity": ("plant",), "fuel": ("plant",)}


def _plants(rng: np.random.Generator) -> Case:
    n = rng.integers(1, 6)
    return {"capacity": rng.integers(1, 13, n).astype(float), "fuel": rng.integers(1, 10, n).astype(float)}


def _asked(rng: np.random.Generator) -> Case:
    case = _plants(rng)
    return {**case, "demand": float(rng.integers(0, int(case["capacity"].sum()) + 1))}


def _least_bill(capacity: np.ndarray, fuel: np.ndarray, demand: float) -> np.ndarray:
    """Brute force: every plant off or at full power, but one, which takes what is left."""
    best, least = None, np.inf
    for part in range(len(capacity)):
        for full in product((0.0, 1.0), repeat=len(capacity)):
            run = np.array(full) * capacity
            run[part] = 0
            run[part] = demand - run.sum()
            if 0 <= run[part] <= capacity[part] and run @ fuel < least:
                best, least = run, run @ fuel
    return best


def _in_turn(capacity: np.ndarray, demand: float, order: Sequence[int]) -> np.ndarray:
    """Plants at full power in an order, until the demand is met."""
    run = np.zeros(len(capacity))
    for plant in order:
        run[plant] = min(capacity[plant], demand - run.sum())
    return run


def _judge(got: Any, best: np.ndarray, case: Case) -> str | None:
    """Any plan of the least bill is right: two plants with the same fuel may share as they like."""
    run, capacity, fuel, demand = np.asarray(got, dtype=float), case["capacity"], case["fuel"], case["demand"]
    if run.shape != capacity.shape:
        return f"it returned {run.size} numbers for {capacity.size} plants"
    if (run < -1e-9).any() or (run > capacity + 1e-9).any():
        return "a plant runs below 0 or above its capacity"
    if abs(run.sum() - demand) > 1e-9:
        return f"the plants make {run.sum():g}, and the demand is {demand:g}"
    return (
        None if run @ fuel <= best @ fuel + 1e-9 else f"fuel for {run @ fuel:g} is burnt, and {best @ fuel:g} will do"
    )


def _whole(capacity: np.ndarray, fuel: np.ndarray, demand: float) -> np.ndarray:
    return np.where(_in_turn(capacity, demand, fuel.argsort()) > 0, capacity, 0)


DISPATCH = Build(
    Inputs(
        _asked,
        _AXES,
        [
            {"capacity": np.array([4.0, 4.0]), "fuel": np.array([9.0, 1.0]), "demand": 5.0},
            {"capacity": np.array([2.0, 3.0, 2.0]), "fuel": np.array([5.0, 5.0, 1.0]), "demand": 2.0},
            {"capacity": np.array([3.0]), "fuel": np.array([2.0]), "demand": 0.0},
        ],
        lambda case: bool((case["capacity"] > 0).all() and 0 <= case["demand"] <= case["capacity"].sum()),
    ),
    _least_bill,
    "the cheapest fuel first, each plant up to its capacity, the last one in part",
    "for plant in fuel.argsort(): run[plant] = min(capacity[plant], what is left of the demand)",
    {
        "it runs the plants as they are listed; begin with the cheapest fuel": lambda capacity, fuel, demand: _in_turn(
            capacity, demand, range(len(capacity))
        ),
        "it begins with the dearest fuel": lambda capacity, fuel, demand: _in_turn(capacity, demand, (-fuel).argsort()),
        "it returns the cheapest plant first; leave every plant at its own place": lambda capacity, fuel, demand: (
            _in_turn(capacity, demand, fuel.argsort())[fuel.argsort()]
        ),
        "its last plant runs at full power; it should make what is left of the demand": _whole,
        "it shares the demand by capacity; dear plants run while cheap ones rest": lambda capacity, fuel, demand: (
            capacity * demand / capacity.sum()
        ),
    },
    judge=_judge,
)


def _running(rng: np.random.Generator) -> Case:
    case = _plants(rng)
    run = np.round(8 * rng.random(len(case["fuel"])) * case["capacity"]) / 8
    return {**case, "run": run, "price": float(rng.integers(0, 11))}


FLOOR = Proof(
    Inputs(
        _running,
        {**_AXES, "run": ("plant",)},
        valid=lambda case: bool((case["run"] >= 0).all() and (case["run"] <= case["capacity"]).all()),
    ),
    lambda case: {**case, "demand": float(case["run"].sum())},
    lambda capacity, fuel, demand, price: price * demand - (capacity * np.maximum(price - fuel, 0)).sum(),
    lambda fuel, run: run @ fuel,
    {
        "the chain jumps: what would the plants earn by what they run, if none ran at a loss": (
            lambda fuel, run, demand, price: price * demand - (run * np.maximum(price - fuel, 0)).sum()
        )
    },
    "no plant runs above its capacity, and none earns less than nothing by staying off",
    "line 2 is line 1 with run for capacity: less is taken off; without the maximum still less would be, and what is "
    "left then is the fuel",
    {
        "what the plants earn is taken off, not added": (
            lambda capacity, fuel, demand, price: price * demand + (capacity * np.maximum(price - fuel, 0)).sum()
        ),
        "that lets plants run at a loss; at a price below its fuel a plant stays off and earns 0": (
            lambda capacity, fuel, demand, price: price * demand - (capacity * (price - fuel)).sum()
        ),
        "the price is paid for the demand, not for all that could run": (
            lambda capacity, fuel, run, price: price * capacity.sum() - (run * np.maximum(price - fuel, 0)).sum()
        ),
    },
)
