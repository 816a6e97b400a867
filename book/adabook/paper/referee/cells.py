"""A row of the replication table: the paper's numbers next to ours, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

ROUNDING = 1e-9

#: In place of the paper's number, where it prints none: then there is nothing to compare ours with.
NOT_PRINTED = float("nan")


class Cell(NamedTuple):
    """One number of the paper next to ours; a theorem's number is 0 failures.

    ``relation`` says whether it is a value ("=") or a bound ("<=", ">="), ``unit`` what is counted.
    """

    name: str
    paper: float
    ours: float
    tolerance: float = ROUNDING
    relation: str = "="
    unit: str = ""

    @property
    def printed(self) -> bool:
        """Whether the paper has a number here."""
        return not np.isnan(self.paper)

    @property
    def difference(self) -> float:
        """Ours minus the paper's."""
        return self.ours - self.paper

    @property
    def agrees(self) -> bool:
        """Whether the two agree, to the tolerance; what is not printed contradicts nothing."""
        room = self.tolerance + ROUNDING
        if not self.printed:
            return True
        if self.relation == "<=":
            return self.difference <= room
        if self.relation == ">=":
            return self.difference >= -room
        return abs(self.difference) <= room


class Outcome(NamedTuple):
    """What a row measured: its cells, a note, and whether what note and status say is so."""

    cells: tuple[Cell, ...]
    note: str = ""
    holds: bool = True
    digits: int = 3

    @property
    def outside(self) -> tuple[Cell, ...]:
        """The cells that do not agree."""
        return tuple(cell for cell in self.cells if not cell.agrees)

    def difference(self) -> str:
        """The largest difference in one line, by unit; of bounds only what breaks them counts."""
        printed = [cell for cell in self.cells if cell.printed]
        worst: dict[str, float] = {}
        for cell in printed:
            if cell.relation != "=" and cell.agrees:
                continue
            if abs(cell.difference) >= abs(worst.get(cell.unit, 0.0)):
                worst[cell.unit] = cell.difference
        if not worst:
            return "within" if printed else "–"
        return "; ".join(
            f"{unit} {_signed(value, self.digits)}".strip() for unit, value in worst.items()
        )

    def frame(self) -> pd.DataFrame:
        """One row per cell; a column says which are outside, if some are."""
        rows = []
        for cell in self.cells:
            difference = _signed(cell.difference, self.digits) if cell.printed else "–"
            row = {
                "cell": cell.name,
                "paper": self._printed(cell),
                "ours": _number(cell.ours, self.digits),
                "difference": difference,
                "outside": "" if cell.agrees else "outside",
            }
            rows.append(row)
        frame = pd.DataFrame(rows)
        return frame if self.outside else frame.drop(columns="outside")

    def paper(self) -> str:
        """The paper's numbers in one line."""
        cells = [cell for cell in self.cells if cell.printed]
        line = self._line([cell.paper for cell in cells], [self._printed(cell) for cell in cells])
        return line or "not printed"

    def ours(self) -> str:
        """Our numbers in one line."""
        values = [cell.ours for cell in self.cells]
        return self._line(values, [_number(value, self.digits) for value in values])

    def _printed(self, cell: Cell) -> str:
        """The paper's number, after a sign if it is a bound."""
        if not cell.printed:
            return "–"
        return {"=": "", "<=": "≤ ", ">=": "≥ "}[cell.relation] + _number(cell.paper, self.digits)

    def _line(self, values: list[float], texts: list[str]) -> str:
        """A few numbers one after the other; of many, how many they are and their range."""
        if len(values) <= 4:
            return " / ".join(texts)
        low, high = (_number(end, self.digits) for end in (min(values), max(values)))
        return f"{len(values)} numbers, {low} to {high}"


def outcome(*cells: Cell, note: str = "", holds: bool | np.bool = True, digits: int = 3) -> Outcome:
    """What a row measured, its cells one after the other."""
    return Outcome(cells, note, bool(holds), digits)


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


def _number(value: float, digits: int) -> str:
    """A number to so many digits, a whole one without any, and no minus before zero.

    >>> _number(0.1256, 3), _number(1234.0, 3), _number(-0.00001, 3)
    ('0.126', '1,234', '0.000')
    """
    if abs(value) < 1e-12:  # rounding
        return "0"
    if value < 0:
        sign = "−" if round(value, digits) else ""
        return sign + _number(-value, digits)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    """A difference with its sign; "0" if all its digits are zeros."""
    text = _number(abs(value), digits)
    if not text.strip("0."):
        return "0"
    return ("+" if value > 0 else "−") + text
