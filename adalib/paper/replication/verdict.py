"""What a claim of the paper is, with a verdict and the evidence for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from adalib.paper.replication.cells import Link

__all__ = ["PARTS", "VERDICTS", "Claim", "Evidence"]

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


class Evidence(NamedTuple):
    """A number, what it says, and whether it bears the verdict out."""

    value: float
    says: str
    holds: bool


@dataclass(frozen=True)
class Claim:
    """One claim of the paper.

    Explained in chapter 12, "The referee".

    Attributes
    ----------
    name : str
        A short name of our own, unique.
    part : one of `PARTS`
    says : str
        The claim in our words.
    place : str
        Where the paper makes it.
    verdict : one of `VERDICTS`
    reason : str
        One sentence.
    link : Link
        Where the evidence is.
    measure : callable
        Returns the `Evidence`; it is called once.
    inferred : bool
        Whether the verdict rests on arithmetic with printed tables, without the authors' code or data.
    """

    name: str
    part: str
    says: str
    place: str
    verdict: str
    reason: str
    link: Link
    measure: Callable[[], Evidence]
    inferred: bool = False

    @property
    def evidence(self) -> Evidence:
        """The number behind the verdict."""
        return _measured(self.measure)


@cache
def _measured(measure: Callable[[], Evidence]) -> Evidence:
    value, says, holds = measure()
    return Evidence(float(value), says, bool(holds))
