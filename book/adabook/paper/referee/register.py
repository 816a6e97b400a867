"""The two tables of the chapter "The referee": items next to our numbers, verdicts on claims.

What the paper has, where, and how it comes out in our hands is
``data/simulated/paper_register.jsonl``, a line each in the order of the paper. Whether it does come
out so only the measured numbers decide: what comes out otherwise says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from adabook.paper.referee import (
    claims_method,
    claims_results,
    rows_experiments,
    rows_method,
    rows_patterns,
    rows_results,
    rows_theory,
)
from adabook.paper.referee.cells import Outcome
from adalib.datasets.files import read_lines
from adalib.datasets.loading import data_folder

# Where the functions are that measure rows, and those that decide on claims.
_ROW_MODULES = (rows_theory, rows_method, rows_results, rows_patterns, rows_experiments)
_CLAIM_MODULES = (claims_method, claims_results)

#: How a row may be meant to come out.
STATUSES = ("reproduced", "corrected", "by definition", "ours alone")

#: What may be said of a claim, best first. *Falls* is for what is contradicted; what may still be
#: true is *not supported*.
VERDICTS = ("stands", "true after correction", "not supported", "falls", "open")

#: What a claim may have been decided on. Four verdicts on estimation use draws from a population
#: like MATH.
GROUNDS = (
    "cases and counterexamples",
    "the paper's own numbers",
    "GSM8K and MATH",
    "our own questions and machine",
)


@cache
def _once(measure: Callable[[], Any]) -> Any:
    """Measure once, and remember the outcome."""
    return measure()


def _function(name: str, *modules: ModuleType) -> Callable[..., Any]:
    """Return the function of this name from the module that has it; raise if several have."""
    (module,) = (module for module in modules if hasattr(module, name))
    return getattr(module, name)


@dataclass(frozen=True)
class Row:
    """An item of the paper: ``what`` it is, what is ``compared``, how it is ``meant`` to come out.

    ``see`` is the section that explains it, ``by`` the function that measures it; ``timed``: by the
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
    def measure(self) -> Callable[[], Outcome]:
        """The function that measures the row."""
        return _function(self.by, *_ROW_MODULES)

    @property
    def outcome(self) -> Outcome:
        """What was measured, once."""
        return _once(self.measure)

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
    """A number, what it says, and whether it bears the verdict out."""

    value: float
    says: str
    holds: bool


@dataclass(frozen=True)
class Claim:
    """What the paper ``says`` and in which ``place``, our ``verdict``, and its ``reason``.

    ``see`` is the section that explains it.

    ``on`` says what its number was measured on, ``by`` which function decides. ``inferred``: the
    verdict rests on arithmetic with printed tables, or on our reconstruction of a protocol, without
    the authors' code or data.
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

    @property
    def evidence(self) -> Evidence:
        """The number behind the verdict, measured once."""
        return _once(self.shown)

    def shown(self, **instead: object) -> Evidence:
        """The evidence if it had looked at something else: a verdict that cannot fail is none."""
        value, says, holds = _function(self.by, *_CLAIM_MODULES)(**instead)
        return Evidence(float(value), says, bool(holds))


_LINES = [line for _, line in read_lines(data_folder() / "simulated" / "paper_register.jsonl")]

#: Every row and every claim, in the order of the paper, and its parts.
ROWS = [Row(**line) for line in _LINES if "id" in line]
CLAIMS = [Claim(**line) for line in _LINES if "name" in line]
PARTS = tuple(dict.fromkeys(claim.part for claim in CLAIMS))


def row_of(id: str) -> Row:
    """Return the row of an item of the paper, by its id."""
    return next(row for row in ROWS if row.id == id)


def replication_table() -> pd.DataFrame:
    """Measure every row and tabulate how each came out, in numbers and in cells that agree.

    Returns
    -------
    DataFrame
        One row per item of the paper: ``id``, ``what``, ``compared``, ``status``, ``see``,
        ``note``, how many ``cells`` it compares and how many of them lie ``outside``; the numbers
        of the ``paper``, ``ours``, and their ``difference``.
    """
    fields = ("id", "what", "compared", "status", "see")
    table = pd.DataFrame(
        [[getattr(row, field) for field in fields] for row in ROWS], columns=fields
    )
    outcomes = [row.outcome for row in ROWS]
    table["note"] = [outcome.note for outcome in outcomes]
    table["cells"] = [sum(cell.printed for cell in outcome.cells) for outcome in outcomes]
    table["outside"] = [len(outcome.outside) for outcome in outcomes]
    for part in ("paper", "ours", "difference"):
        table[part] = [getattr(outcome, part)() for outcome in outcomes]
    return table


def claim_table(verdict: str | None = None) -> pd.DataFrame:
    """Measure the claims, or those with one verdict, and put them in a table.

    Parameters
    ----------
    verdict : one of `VERDICTS`, optional

    Returns
    -------
    DataFrame
        One row per claim: what it says and where, the verdict, its reason and what it was decided
        ``on``; the ``value`` measured, the ``number`` in words, and whether it ``holds``.
    """
    asked = [claim for claim in CLAIMS if verdict in (None, claim.verdict)]
    evidence = pd.DataFrame([claim.evidence for claim in asked]).rename(columns={"says": "number"})
    return pd.DataFrame(asked).join(evidence)


def verdict_counts() -> pd.DataFrame:
    """Count the claims by part of the paper (rows) and verdict (columns)."""
    counts = pd.crosstab([claim.part for claim in CLAIMS], [claim.verdict for claim in CLAIMS])
    return counts.reindex(index=PARTS, columns=VERDICTS, fill_value=0)
