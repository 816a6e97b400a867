"""The two lists of this folder: rows of the replication table, and claims of the paper.

A row or a claim is a function that measures. Its decorator says how it will come out and puts it on the list; its
docstring is what the page shows. Only the numbers decide whether it did come out so: what comes out otherwise says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import pandas as pd

__all__ = [
    "CLAIMS",
    "Cell",
    "Claim",
    "Evidence",
    "Found",
    "PARTS",
    "ROWS",
    "Row",
    "STATUSES",
    "VERDICTS",
    "beside_print",
    "between",
    "chapter",
    "claim_table",
    "claims_about",
    "found",
    "replication_table",
    "row",
    "row_of",
    "verdict_counts",
]


#: How a row may be meant to come out.
STATUSES = ("reproduced", "corrected", "refuted", "by definition")

#: What may be said of a claim, best first.
VERDICTS = ("stands", "stands corrected", "falls", "open")

#: The parts of the paper.
PARTS = (
    "problem and price",
    "theorems",
    "setup and data",
    "main results",
    "patterns",
    "ablations",
    "novelty and scope",
)

#: Every row and every claim, in the order of the paper.
ROWS: list[Row] = []
CLAIMS: list[Claim] = []


@dataclass(frozen=True)
class Row:
    """An item of the paper, and the function that measures it.

    ``compared`` says which numbers stand side by side, ``meant`` (one of `STATUSES`) how it will come out, ``see`` is
    the label of the section that explains it, and ``timed`` says that a number depends on how fast the machine is.
    """

    id: str
    what: str
    compared: str
    meant: str
    see: str
    measure: Callable[[], Found]
    timed: bool = False

    @property
    def found(self) -> Found:
        """What the function measured; it is called once."""
        return _once(self.measure)

    @property
    def confirmed(self) -> bool:
        """Whether the row came out as it was meant to."""
        return self.found.holds and bool(self.found.outside) == (self.meant in ("corrected", "refuted"))

    @property
    def status(self) -> str:
        """How the row came out, in a word or two."""
        if self.confirmed:
            return self.meant
        if self.meant in ("corrected", "refuted") or not self.found.holds:
            return f"not {self.meant}"
        return f"{self.meant}, but for {len(self.found.outside)}"


class Evidence(NamedTuple):
    """A number, what it says, and whether it bears the verdict out."""

    value: float
    says: str
    holds: bool


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, and the function that measures it. Explained in chapter 12, "The referee".

    ``says`` are the paper's own words and ``place`` is where it has them; ``verdict`` is one of `VERDICTS`, with one or
    two sentences for its ``reason``; ``see`` is the label of the section with the evidence. ``measure`` returns a
    number, a sentence about it, and whether it bears the verdict out; its arguments are what it looks at, so that a
    test can show it something else. ``inferred``: the verdict rests on arithmetic with printed tables, or on our
    reconstruction of a protocol, without the authors' code or data.
    """

    name: str
    part: str
    says: str
    place: str
    verdict: str
    reason: str
    see: str
    measure: Callable[..., tuple[float, str, bool]]
    inferred: bool = False

    @property
    def evidence(self) -> Evidence:
        """The number behind the verdict; it is measured once."""
        return self.judged(_once(self.measure))

    @staticmethod
    def judged(measured: tuple[float, str, bool]) -> Evidence:
        """What a function measured, as evidence."""
        value, says, holds = measured
        return Evidence(float(value), says, bool(holds))


@cache
def _once(measure: Callable[[], Any]) -> Any:
    return measure()


def _paragraphs(measure: Callable) -> list[str]:
    return [" ".join(text.split()) for text in inspect.getdoc(measure).split("\n\n")]


def row(id: str, meant: str, see: str, timed: bool = False) -> Callable:
    """Put a function on the list of rows; its docstring says what the row is, then what is compared."""

    def listed(measure: Callable[[], Found]) -> Callable:
        what, compared = _paragraphs(measure)
        ROWS.append(Row(id, what, compared, meant, see, measure, timed))
        return measure

    return listed


def _claim(part: str, name: str, verdict: str, place: str, see: str, inferred: bool = False) -> Callable:
    def listed(measure: Callable) -> Callable:
        says, reason = _paragraphs(measure)
        CLAIMS.append(Claim(name, part, says, place, verdict, reason, see, measure, inferred))
        return measure

    return listed


def claims_about(part: str) -> Callable:
    """Return the decorator of the claims of one part: their docstrings quote the paper, then give our reason."""
    return partial(_claim, part)


def row_of(id: str) -> Row:
    """Return the row of an item of the paper, by its id."""
    return next(row for row in ROWS if row.id == id)


def chapter(label: str) -> str:
    """What to call the page of a label.

    Examples
    --------
    >>> chapter("ch05-windows")
    'chapter 5'
    """
    return f"chapter {int(label[2:4])}"


def replication_table() -> pd.DataFrame:
    """Measure every row and put them in one table: the fields of `Row`, what came out, and how many cells agree.

    Explained in the replication page.
    """
    table = pd.DataFrame(
        [(row.id, row.what, row.compared, row.status, row.see, row.found.note) for row in ROWS],
        columns=["id", "what", "compared", "status", "see", "note"],
    )
    found = [row.found for row in ROWS]
    table["cells"], table["outside"] = ([len(getattr(f, part)) for f in found] for part in ("cells", "outside"))
    for part in ("paper", "ours", "difference"):
        table[part] = [getattr(f, part)() for f in found]
    return table


def claim_table(verdict: str | None = None) -> pd.DataFrame:
    """Measure the claims, or those with one verdict, and put them in a table: the fields of `Claim` and of `Evidence`.

    Explained in chapter 12, "The referee".
    """
    asked = [claim for claim in CLAIMS if verdict in (None, claim.verdict)]
    columns = ("name", "part", "says", "place", "verdict", "reason", "inferred", "see")
    table = pd.DataFrame([[getattr(claim, name) for name in columns] for claim in asked], columns=columns)
    evidence = pd.DataFrame([claim.evidence for claim in asked], columns=["value", "number", "holds"])
    return table.join(evidence)


def verdict_counts() -> pd.DataFrame:
    """Count the claims by part of the paper (rows) and verdict (columns). Explained in chapter 12, "The referee"."""
    counts = pd.crosstab([claim.part for claim in CLAIMS], [claim.verdict for claim in CLAIMS])
    return counts.reindex(index=PARTS, columns=VERDICTS, fill_value=0)


# What a row of the replication table measures: pairs of numbers, the paper's and ours, and what they add up to.


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
