"""What a row of the replication table is made of: pairs of numbers, the paper's and ours, and what they add up to.

A row says beforehand how it will come out. Its function measures, and only the numbers decide whether it did: a row
that comes out otherwise says so instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import pandas as pd

__all__ = ["STATUSES", "Cell", "Found", "Link", "Row"]

#: How a row may be meant to come out.
STATUSES = ("reproduced", "corrected", "refuted", "by definition")

_ROUNDING = 1e-9


class Link(NamedTuple):
    """A section of a chapter: the notebook's name without suffix, and the heading."""

    chapter: str
    heading: str = ""

    @property
    def name(self) -> str:
        """What to call it: "chapter 5", or the page's own name."""
        number = self.chapter.split("_")[0]
        return f"chapter {int(number)}" if number.isdigit() else self.chapter

    @property
    def href(self) -> str:
        """Where it is, seen from another chapter of the built book."""
        return f"{self.chapter}.html" + (f"#{slug(self.heading)}" if self.heading else "")


def slug(heading: str) -> str:
    """The anchor that the book gives a heading.

    Examples
    --------
    >>> slug("The paper's Theorem 1: a higher price")
    'the-paper-s-theorem-1-a-higher-price'
    """
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


class Cell(NamedTuple):
    """One number of the paper beside ours.

    Attributes
    ----------
    name : str
    paper : float
        Printed, or what the claim amounts to (a theorem: 0 failures).
    ours : float
    tolerance : float
        How far apart they may lie and still agree.
    relation : {"=", "<=", ">="}
        Whether the paper's number is a value, or a bound from above or below.
    unit : str
        What is counted, where a row holds several kinds of number.
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


@dataclass(frozen=True)
class Found:
    """What a row measured.

    Attributes
    ----------
    cells : tuple of Cell
    note : str
        A sentence with what else was measured.
    holds : bool
        Whether what the note and the status claim besides the cells is so.
    digits : int
        Digits after the point, for reading.
    """

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
        rows = [(c.name, _bound(c, self.digits), _number(c.ours, self.digits), c.difference) for c in self.cells]
        frame = pd.DataFrame(rows, columns=["cell", "paper", "ours", "difference"])
        frame["difference"] = [_signed(value, self.digits) for value in frame["difference"]]
        frame["outside"] = ["" if cell.agrees else "outside" for cell in self.cells]
        return frame if self.outside else frame.drop(columns="outside")

    def paper(self) -> str:
        """The paper's numbers in one line."""
        return _line([_bound(cell, self.digits) for cell in self.cells], [cell.paper for cell in self.cells], self)

    def ours(self) -> str:
        """Our numbers in one line."""
        numbers = [cell.ours for cell in self.cells]
        return _line([_number(number, self.digits) for number in numbers], numbers, self)


@dataclass(frozen=True)
class Row:
    """One row of the table: an item of the paper, and a function that measures it.

    Attributes
    ----------
    id, what : str
        Its name in the paper, and what it says.
    compared : str
        Which numbers stand side by side; where the paper prints none, what is compared instead.
    meant : one of `STATUSES`
    link : Link
        The chapter that explains it.
    measure : callable
        Returns a `Found`.
    timed : bool
        Whether a number depends on how fast the machine is.
    """

    id: str
    what: str
    compared: str
    meant: str
    link: Link
    measure: Callable[[], Found]
    timed: bool = False

    @property
    def found(self) -> Found:
        """What the function measured; it is called once."""
        return _measured(self.measure)

    @property
    def confirmed(self) -> bool:
        """Whether the row came out as it was meant to."""
        found = self.found
        differs = self.meant in ("corrected", "refuted")
        return found.holds and bool(found.outside) == differs

    @property
    def status(self) -> str:
        """How the row came out, in a word or two."""
        if self.confirmed:
            return self.meant
        if self.meant in ("corrected", "refuted") or not self.found.holds:
            return f"not {self.meant}"
        return f"{self.meant}, but for {len(self.found.outside)}"


@cache
def _measured(measure: Callable[[], Found]) -> Found:
    return measure()


def _number(value: float, digits: int) -> str:
    if abs(value) < 1e-12:  # rounding
        return "0"
    if value < 0:
        return "−" + _number(-value, digits)
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    text = _number(abs(value), digits)
    return "0" if not text.strip("0.") else ("+" if value > 0 else "−") + text


def _bound(cell: Cell, digits: int) -> str:
    return {"=": "", "<=": "≤ ", ">=": "≥ "}[cell.relation] + _number(cell.paper, digits)


def _line(texts: Sequence[str], numbers: Sequence[float], found: Found) -> str:
    if len(texts) <= 4:
        return " / ".join(texts)
    low, high = (_number(pick(numbers), found.digits) for pick in (min, max))
    return f"{len(texts)} numbers, {low} to {high}"
