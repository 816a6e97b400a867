"""Random and nasty utility tables, and what is best on them by brute force: plain loops, no code of `solve`.

Half of the tables hold eighths and whole costs, so that ties are exact and frequent; the others hold any numbers, so
that ties do not occur.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from adalib.teach.exercises.cases import Case, Inputs

__all__ = ["PRICED", "TARGETED", "TARGETED_AND_PRICED", "best_value", "between", "bill", "cheapest_best", "prices"]
__all__ += ["sketch", "spent"]

_AXES = {"acc": ("question", "budget"), "cost": ("budget",)}


def cheapest_best(acc: np.ndarray, cost: np.ndarray, lam: float) -> list[int]:
    """The oracle in two loops: a dearer column must be better, not as good."""
    labels = []
    for row in acc:
        best = 0
        for column in range(1, len(cost)):
            if row[column] - lam * cost[column] > row[best] - lam * cost[best]:
                best = column
        labels.append(best)
    return labels


def spent(table: np.ndarray, labels: Sequence[int]) -> float:
    """Mean of the labelled entries, of a row of costs or of a table."""
    rows = np.broadcast_to(table, (len(labels), np.shape(table)[-1]))
    return float(np.mean([rows[i][j] for i, j in enumerate(labels)]))


def bill(acc: np.ndarray, cost: np.ndarray, lam: float) -> float:
    """What the oracle spends on average."""
    return spent(cost, cheapest_best(acc, cost, lam))


def prices(acc: np.ndarray, cost: np.ndarray) -> list[float]:
    """Every price at which some question could change its mind: 0, and all slopes between two of its points."""
    k = len(cost)
    slopes = {
        (row[j] - row[i]) / (cost[j] - cost[i]) for row in acc for i in range(k) for j in range(i) if cost[i] != cost[j]
    }
    return sorted({0.0} | {round(float(slope), 12) for slope in slopes if slope > 1e-12})


def between(acc: np.ndarray, cost: np.ndarray) -> list[tuple[float, float]]:
    """Every such price with one between it and the next, where nobody is undecided and nothing hangs on a digit."""
    kinks = prices(acc, cost)
    return [(low, (low + high) / 2) for low, high in zip(kinks, [*kinks[1:], kinks[-1] + 2], strict=True)]


def best_value(acc: np.ndarray, cost: np.ndarray, budget: float) -> float:
    """The best mean accuracy within a budget, one coin allowed: the smallest value of the dual function."""
    return min(float(np.mean((acc - lam * cost).max(axis=1)) + lam * budget) for lam in prices(acc, cost))


def _table(rng: np.random.Generator) -> Case:
    n, k = rng.integers(1, 6), rng.integers(2, 6)
    cost = np.sort(rng.choice(np.arange(1.0, 17.0), size=k, replace=False))
    exact = rng.integers(0, 9, (n, k)) / 8
    return {"acc": exact if rng.random() < 0.5 else rng.random((n, k)), "cost": cost}


def _draw(priced: bool, targeted: bool) -> Callable[[np.random.Generator], Case]:
    """Draws a table, with a price, with a budget, or with both."""

    def draw(rng: np.random.Generator) -> Case:
        case = _table(rng)
        if priced:
            exact = (case["acc"] * 8 % 1 == 0).all()
            case["lam"] = float(rng.integers(0, 17) / 64) if exact else float(rng.random() / 4)
        if targeted:
            case["budget"] = float(np.round(8 * rng.uniform(case["cost"][0], case["cost"][-1])) / 8)
        return case

    return draw


_FLAT = {"acc": np.full((2, 3), 0.5), "cost": np.array([1.0, 2.0, 4.0])}
_TIED = {"acc": np.array([[0.25, 0.5, 1.0], [0.0, 0.25, 0.25]]), "cost": np.array([1.0, 2.0, 4.0])}
_DIPS = {"acc": np.array([[0.75, 0.25, 0.5], [0.5, 0.25, 1.0]]), "cost": np.array([1.0, 4.0, 16.0])}
_TWINS = {"acc": np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]), "cost": np.array([1.0, 16.0])}


def _sound(case: Case) -> bool:
    return bool(
        (np.diff(case["cost"]) > 0).all()
        and ((case["acc"] >= 0) & (case["acc"] <= 1)).all()
        and case["cost"][0] >= 1
        and case.get("lam", 0) >= 0
        and case.get("budget", np.inf) >= case["cost"][0]
    )


#: A table and a price.
PRICED = Inputs(
    _draw(priced=True, targeted=False),
    _AXES,
    [{**_TIED, "lam": 0.25}, {**_FLAT, "lam": 0.0}, {**_DIPS, "lam": 0.0}, {**_TWINS, "lam": 1 / 16}],
    _sound,
)

#: A table and a budget.
TARGETED = Inputs(
    _draw(priced=False, targeted=True),
    _AXES,
    [{**_TWINS, "budget": 8.5}, {**_FLAT, "budget": 4.0}, {**_DIPS, "budget": 1.0}, {**_TIED, "budget": 2.5}],
    _sound,
)

#: A table, a price and a budget.
TARGETED_AND_PRICED = Inputs(
    _draw(priced=True, targeted=True),
    _AXES,
    [
        {**_TWINS, "lam": 0.0, "budget": 8.5},
        {**_TIED, "lam": 0.25, "budget": 1.0},
        {**_FLAT, "lam": 0.5, "budget": 4.0},
    ],
    _sound,
)


def sketch(got: Sequence[int], best: Sequence[int], case: Case) -> str:
    """Draw the net values of every question: a column a budget, with yours and the best marked."""
    acc, cost, lam = case["acc"], case["cost"], case["lam"]
    got, best = np.ravel(got).tolist(), list(best)
    lines = [f"price {lam:g}; net values (accuracy - price * cost):"]
    lines.append("cost       " + "".join(f"{c:>9g} " for c in cost))
    for i, row in enumerate(acc):
        yours = got[i] if i < len(got) else None
        cells = ""
        for j, value in enumerate(row - lam * cost):
            cells += f"{'<' if j == yours else ' '}{value:8.4f}{'>' if j == best[i] else ' '}"
        note = "" if yours == best[i] or yours in range(len(cost)) else f"  you returned {yours!r}"
        lines.append(f"question {i:<2}{cells}{note}")
    return "\n".join([*lines, "< yours   > best   <> both"])
