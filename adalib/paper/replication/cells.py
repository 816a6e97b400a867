"""What a row of the replication table measures: pairs of numbers, the paper's and ours, and what they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import pandas as pd

__all__ = ["Cell", "Found", "beside_print", "between", "found"]

_ROUNDING = 1e-9


class Cell(NamedTuple):
    """One number of the paper beside ours.

    ``paper`` is printed, or what a claim amounts to (a theorem: 0 failures); ``tolerance`` how far apart the two may
    lie and still agree; ``relation`` whether the paper's number is a value ("=") or a bound ("<=", ">="); ``unit`` what
    is counted, where a row holds several kinds of number.
    """

    name: str
    paper: float
    ours: float
    tolerance: float = _ROUNDING
    relation: str = "="
    unit: str = ""

    @property
    def difference(self) -> float:
        """Ours minus the paper's."""
        return self.ours - self.paper

    @property
    def agrees(self) -> bool:
        """Whether the two agree, to the tolerance."""
        room = self.tolerance + _ROUNDING
        if self.relation == "<=":
            return self.difference <= room
        return self.difference >= -room if self.relation == ">=" else abs(self.difference) <= room


class Found(NamedTuple):
    """What a row measured: cells, a note on what else was, and whether what the note and the status add is so."""

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
        worst: dict[str, float] = {}
        for cell in self.cells:
            if (cell.relation == "=" or not cell.agrees) and abs(cell.difference) >= abs(worst.get(cell.unit, 0.0)):
                worst[cell.unit] = cell.difference
        if not worst:
            return "within"
        return "; ".join(f"{unit} {_signed(value, self.digits)}".strip() for unit, value in worst.items())

    def frame(self) -> pd.DataFrame:
        """Every cell, a row each."""
        frame = pd.DataFrame(
            {
                "cell": [cell.name for cell in self.cells],
                "paper": [self._printed(cell) for cell in self.cells],
                "ours": [_number(cell.ours, self.digits) for cell in self.cells],
                "difference": [_signed(cell.difference, self.digits) for cell in self.cells],
                "outside": ["" if cell.agrees else "outside" for cell in self.cells],
            }
        )
        return frame if self.outside else frame.drop(columns="outside")

    def paper(self) -> str:
        """The paper's numbers in one line."""
        return self._line(lambda cell: cell.paper, self._printed)

    def ours(self) -> str:
        """Our numbers in one line."""
        return self._line(lambda cell: cell.ours, lambda cell: _number(cell.ours, self.digits))

    def _printed(self, cell: Cell) -> str:
        return {"=": "", "<=": "≤ ", ">=": "≥ "}[cell.relation] + _number(cell.paper, self.digits)

    def _line(self, number: Callable[[Cell], float], text: Callable[[Cell], str]) -> str:
        if len(self.cells) <= 4:
            return " / ".join(map(text, self.cells))
        low, high = (_number(pick(map(number, self.cells)), self.digits) for pick in (min, max))
        return f"{len(self.cells)} numbers, {low} to {high}"


def found(*cells: Cell, note: str = "", holds: bool = True, digits: int = 3) -> Found:
    """What a row measured, its cells one after the other."""
    return Found(cells, note, bool(holds), digits)


def between(name: str, low: float, ours: float, high: float, room: float = 0.0) -> tuple[Cell, Cell]:
    """A number that the paper puts into a range: a cell for each end."""
    return Cell(f"{name}, from below", low, ours, room, ">="), Cell(f"{name}, from above", high, ours, room, "<=")


def beside_print(rows: pd.DataFrame, name: str, rooms: Mapping[str, float]) -> Iterable[Cell]:
    """The cells of a table that has a column ``printed_X`` for each column X of ``rooms``, which are the tolerances.

    ``name`` is what a row is called, with its columns in braces.
    """
    for row in rows.to_dict("records"):
        for part, room in rooms.items():
            yield Cell(f"{name.format(**row)}: {part}", row[f"printed_{part}"], row[part], room, unit=part)


def _number(value: float, digits: int) -> str:
    if abs(value) < 1e-12:  # rounding
        return "0"
    if value < 0:
        return "−" + _number(-value, digits)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    text = _number(abs(value), digits)
    return "0" if not text.strip("0.") else ("+" if value > 0 else "−") + text
