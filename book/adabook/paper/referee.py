"""The referee's file: every item and every claim of the paper next to what we measured.

What the paper has, where, and how it comes out in our hands is
``data/simulated/paper_register.jsonl``, one line per item or claim, in the order of the paper.
What we measured is ``data/recorded/referee.jsonl``, which ``record_referee.py`` writes. A
status or a verdict is decided here, from the recorded numbers and the bounds beside them.
Explained in the chapter "What we know".
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from typing import NamedTuple

import pandas as pd

from adabook.recorded import recorded
from adalib.datasets.files import read_lines
from adalib.datasets.loading import data_folder

#: How a row may be meant to come out.
STATUSES = ("reproduced", "by definition", "corrected", "not supported", "ours alone")

#: What may be said of a claim, best first. *Falls* is for what is contradicted; what may still be
#: true is *not supported*.
VERDICTS = ("stands", "true after correction", "not supported", "falls", "open")

#: How a measured number may have to compare with a bound.
RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}

_ROUNDING = 1e-9


class Check(NamedTuple):
    """A measured number, and how it must compare with a bound.

    >>> Check("failures", 0, "=", 0).holds, Check("seconds", 2.5, "<", 1).holds
    (True, False)
    """

    name: str
    value: float
    relation: str
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the number is on the side that it must be on."""
        return RELATIONS[self.relation](self.value, self.bound)


class Cell(NamedTuple):
    """One number of the paper next to ours; a theorem's number is 0 failures.

    ``relation`` says whether it is a value ("=") or a bound ("<=", ">="), ``unit`` what is counted.
    ``paper`` is not a number where the paper prints none.
    """

    name: str
    paper: float
    ours: float
    tolerance: float = _ROUNDING
    relation: str = "="
    unit: str = ""

    @property
    def printed(self) -> bool:
        """Whether the paper has a number here."""
        return not math.isnan(self.paper)

    @property
    def difference(self) -> float:
        """Ours minus the paper's."""
        return self.ours - self.paper

    @property
    def agrees(self) -> bool:
        """Whether the two agree, to the tolerance; what is not printed contradicts nothing."""
        room = self.tolerance + _ROUNDING
        if not self.printed:
            return True
        if self.relation == "=":
            return abs(self.difference) <= room
        return self.difference <= room if self.relation == "<=" else self.difference >= -room


class Outcome(NamedTuple):
    """What a row measured: its cells, a note, and what must be so for the note to be true."""

    cells: tuple[Cell, ...]
    note: str = ""
    checks: tuple[Check, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether what the note says is so."""
        return all(check.holds for check in self.checks)

    @property
    def outside(self) -> tuple[Cell, ...]:
        """The cells that do not agree."""
        return tuple(cell for cell in self.cells if not cell.agrees)


@cache
def _record() -> dict[str, dict]:
    """Return what was measured, by the id of a row or the name of a claim."""
    return {part: line for part, (line,) in recorded("referee").items()}


def _checks(line: dict) -> tuple[Check, ...]:
    """The checks of a recorded line."""
    return tuple(Check(*check) for check in line["checks"])


@dataclass(frozen=True)
class Row:
    """An item of the paper: ``what`` it is, what is ``compared``, how it is ``meant`` to come out.

    ``see`` is the section that explains it, ``by`` the function that measured it; ``timed``: by the
    machine's clock.
    """

    id: str
    what: str
    compared: str
    meant: str
    see: str
    by: str
    timed: bool = False

    @property
    def outcome(self) -> Outcome:
        """What was measured."""
        line = _record()[self.id]
        cells = (
            Cell(name, math.nan if paper is None else paper, *rest)
            for name, paper, *rest in line["cells"]
        )
        return Outcome(tuple(cells), line["note"], _checks(line))

    @property
    def confirmed(self) -> bool:
        """Whether the row came out as it was meant to."""
        return self.outcome.holds and bool(self.outcome.outside) == (self.meant == "corrected")

    @property
    def status(self) -> str:
        """How the row came out, in a word or two."""
        if self.confirmed:
            return self.meant
        if self.meant == "corrected" or not self.outcome.holds:
            return f"not {self.meant}"
        return f"{self.meant}, but for {len(self.outcome.outside)}"


class Evidence(NamedTuple):
    """A number, what it says, and what must be so for it to bear the verdict out."""

    value: float
    number: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether the number bears the verdict out: a verdict that cannot fail is none."""
        return all(check.holds for check in self.checks)


@dataclass(frozen=True)
class Claim:
    """What the paper ``says`` and in which ``place``, our ``verdict``, and its ``reason``.

    ``see`` is the section that explains it.

    ``on`` says what its number was measured on, ``by`` which function did. ``inferred``: the
    verdict rests on arithmetic with printed tables, or on our reconstruction of a protocol, without
    the authors' code or data. ``changed`` says what answers of the paper's own models changed.
    """

    name: str
    part: str
    says: str
    place: str
    verdict: str
    reason: str
    see: str
    on: str
    by: str
    inferred: bool = False
    changed: str = ""

    @property
    def evidence(self) -> Evidence:
        """The number behind the verdict."""
        line = _record()[self.name]
        return Evidence(line["value"], line["says"], _checks(line))


_LINES = [line for _, line in read_lines(data_folder() / "simulated" / "paper_register.jsonl")]

#: Every row and every claim, in the order of the paper, and its parts.
ROWS = [Row(**line) for line in _LINES if "id" in line]
CLAIMS = [Claim(**line) for line in _LINES if "name" in line]
PARTS = tuple(dict.fromkeys(claim.part for claim in CLAIMS))


def cell_table() -> pd.DataFrame:
    """Tabulate every number that we compared, one row each.

    Returns
    -------
    DataFrame
        The ``item`` of the paper, ``what`` it is, how it was ``meant`` to come out and its
        ``status``; the number's ``name``, the ``paper``'s value, missing where it prints none,
        ``ours``, the ``tolerance``, the ``relation``, the ``unit``, whether the two ``agree``, and
        the item's ``note``.
    """
    rows = []
    for row in ROWS:
        about = {"item": row.id, "what": row.what, "meant": row.meant, "status": row.status}
        outcome = row.outcome
        for cell in outcome.cells:
            rows.append({**about, **cell._asdict(), "agrees": cell.agrees, "note": outcome.note})
    return pd.DataFrame(rows)


def claim_table(verdict: str | None = None) -> pd.DataFrame:
    """Put the claims, or those with one verdict, in a table with their numbers.

    Parameters
    ----------
    verdict : one of `VERDICTS`, optional

    Returns
    -------
    DataFrame
        One row per claim: what it says and where, the verdict, its reason and what it was decided
        ``on``; the ``value`` measured, the ``number`` in words, and whether it ``holds``.
    """
    rows = []
    for claim in CLAIMS:
        if verdict in (None, claim.verdict):
            evidence = claim.evidence
            measured = {"value": evidence.value, "number": evidence.number, "holds": evidence.holds}
            rows.append(asdict(claim) | measured)
    return pd.DataFrame(rows)
