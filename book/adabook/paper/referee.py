"""The referee's file: every printed number and every claim of the paper next to what we measured.

What the paper has, where, and what we say of it is ``data/simulated/paper_register.jsonl``, one
line per item or claim, in the order of the paper. What we measured is
``data/recorded/referee.jsonl``, which ``record_referee.py`` writes. Explained in the chapter "What
we know".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import NamedTuple

import pandas as pd

from adabook.recorded import recorded
from adalib.datasets.files import read_lines
from adalib.datasets.loading import data_folder

#: What may be said of a claim, best first. *Falls* is for what is contradicted; what may still be
#: true is *not supported*.
VERDICTS = ("stands", "true after correction", "not supported", "falls", "open")

_ROUNDING = 1e-9


class Cell(NamedTuple):
    """One number of the paper next to ours, a value ("=") or a bound ("<=", ">=").

    >>> Cell("x", 0.5, 0.52, 0.03).agrees, Cell("x", 0.5, 0.4, 0.03, ">=").agrees
    (True, False)
    """

    name: str
    paper: float
    ours: float
    tolerance: float = 0.0
    relation: str = "="

    @property
    def agrees(self) -> bool:
        """Whether the two agree, to the tolerance."""
        room, over = self.tolerance + _ROUNDING, self.ours - self.paper
        if self.relation == "=":
            return abs(over) <= room
        return over <= room if self.relation == "<=" else over >= -room


class Evidence(NamedTuple):
    """The number that decides on a claim, what it says, and whether it bears the verdict out."""

    value: float
    number: str
    holds: bool


@cache
def _record() -> dict[str, list[dict]]:
    """Return what was measured, by the id of an item or the name of a claim."""
    return recorded("referee")


@dataclass(frozen=True)
class Item:
    """A table of the paper, or what its text reads off a figure; ``by`` measured it."""

    id: str
    what: str
    compared: str
    by: str

    @property
    def cells(self) -> list[Cell]:
        """Its numbers next to ours."""
        return [Cell(*(line[name] for name in Cell._fields)) for line in _record()[self.id]]


@dataclass(frozen=True)
class Claim:
    """What the paper ``says`` and in which ``place``, our ``verdict``, and its ``reason``.

    ``see`` is the section that explains it, ``by`` the function that decided. ``inferred``: the
    verdict rests on arithmetic with printed tables, or on our reconstruction of a protocol, without
    the authors' code or data. ``changed`` says what answers of the paper's own models changed.
    """

    name: str
    says: str
    place: str
    verdict: str
    reason: str
    see: str
    by: str
    inferred: bool = False
    changed: str = ""

    @property
    def evidence(self) -> Evidence:
        """The number behind the verdict."""
        (line,) = _record()[self.name]
        return Evidence(*(line[name] for name in Evidence._fields))


_LINES = [line for _, line in read_lines(data_folder() / "simulated" / "paper_register.jsonl")]

#: Every item and every claim, in the order of the paper.
ITEMS = [Item(**line) for line in _LINES if "id" in line]
CLAIMS = [Claim(**line) for line in _LINES if "name" in line]


def cell_table() -> pd.DataFrame:
    """Tabulate every number that we compared, one row each.

    Returns
    -------
    DataFrame
        The ``item`` of the paper, ``what`` it is and how it was ``compared``; the number's
        ``name``, the ``paper``'s value, ``ours``, the ``tolerance``, the ``relation``, and whether
        the two ``agree``.
    """
    rows = [
        {"item": item.id, "what": item.what, "compared": item.compared}
        | cell._asdict()
        | {"agrees": cell.agrees}
        for item in ITEMS
        for cell in item.cells
    ]
    return pd.DataFrame(rows)


def claim_table() -> pd.DataFrame:
    """Put the claims in a table with their numbers.

    Returns
    -------
    DataFrame
        One row per claim: what it says and where, the verdict and its reason, the ``value``
        measured, the ``number`` in words, and whether it ``holds``.
    """
    return pd.DataFrame([asdict(claim) | claim.evidence._asdict() for claim in CLAIMS])
