"""How measurements are handed over: rows as cells with checks, claims as a number with checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from adabook.paper.referee import Cell, Check, Evidence, Outcome
from adalib.evaluate.intervals import Interval, in_points
from adalib.evaluate.scores import HeldOutRow

#: In place of the paper's number, where it prints none: then there is nothing to compare ours with.
NOT_PRINTED = float("nan")

BOTH = "on GSM8K and MATH"


def check(name: str, value: float, relation: str, bound: float) -> Check:
    """A number that must compare so with a bound."""
    return Check(name, float(value), relation, float(bound))


def finding(value: float, number: str, *checks: Check) -> Evidence:
    """A claim's number, the sentence that holds it, and what must be so for the verdict."""
    return Evidence(float(value), number, checks)


def outcome(*cells: Cell, note: str = "", checks: Iterable[Check] = ()) -> Outcome:
    """What a row measured, its cells one after the other."""
    return Outcome(cells, note, tuple(checks))


def with_interval(gain: Interval | HeldOutRow, digits: int = 1) -> str:
    """Return a gain in points with its interval; ``gain`` is an `Interval` or a held-out row."""
    names = ("gain", "gain_low", "gain_high") if hasattr(gain, "gain") else ("mean", "low", "high")
    mean, low, high = (in_points(getattr(gain, name), digits) for name in names)
    return f"{mean} points [{low}, {high}]"


def at_most(name: str, paper: float, ours: float, tolerance: float = 0.0) -> Cell:
    """A number that the paper bounds from above."""
    return Cell(name, paper, ours, tolerance, "<=")


def at_least(name: str, paper: float, ours: float, tolerance: float = 0.0) -> Cell:
    """A number that the paper bounds from below."""
    return Cell(name, paper, ours, tolerance, ">=")


def between(
    name: str, low: float, ours: float, high: float, tolerance: float = 0.0
) -> tuple[Cell, Cell]:
    """A number that the paper puts into a range: a cell for each end."""
    return (
        at_least(f"{name}, from below", low, ours, tolerance),
        at_most(f"{name}, from above", high, ours, tolerance),
    )


def beside_print(rows: pd.DataFrame, name: str, tolerances: Mapping[str, float]) -> Iterable[Cell]:
    """Return the cells of a table that holds a column X of ours and ``printed_X`` of the paper.

    A cell is called ``name``, formatted with its row, and ``tolerances`` names the columns.
    """
    for row in rows.to_dict("records"):
        for column, tolerance in tolerances.items():
            yield Cell(
                f"{name.format(**row)}: {column}",
                row[f"printed_{column}"],
                row[column],
                tolerance,
                unit=column,
            )
