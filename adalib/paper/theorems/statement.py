"""A claim with its two sides measured, and a statement: the claims of a theorem, as printed and as corrected."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

__all__ = ["Claim", "Statement", "at_most", "equal"]

_ROUNDING = 1e-9  # sides that differ by less, relative to 1 plus their size, are equal

COLUMNS = ["version", "claim", "left", "is", "right", "gap", "holds"]


@dataclass(frozen=True)
class Claim:
    """One inequality or equality, measured.

    Explained in chapter 4, "Duality".

    Attributes
    ----------
    text : str
        The claim in words and symbols.
    left : float
    relation : {"<=", "="}
    right : float

    Examples
    --------
    >>> claim = Claim("V(B) = min G", 0.0, "=", 0.5)
    >>> claim.gap, claim.holds
    (0.5, False)
    """

    text: str
    left: float
    relation: str
    right: float

    @property
    def gap(self) -> float:
        """``right - left``: the room an inequality has, negative where it fails; 0 where an equality holds."""
        return self.right - self.left

    @property
    def holds(self) -> bool:
        """Whether the claim is true of these two numbers, up to rounding."""
        room = _ROUNDING * (1 + abs(self.left) + abs(self.right))
        return bool(abs(self.gap) <= room or (self.relation == "<=" and self.gap > 0))


@dataclass(frozen=True)
class Statement:
    """What a theorem says about one table.

    Explained in chapter 4, "Duality".

    Attributes
    ----------
    name : str
    printed : tuple of Claim
        As in the paper; empty where the statement is ours.
    corrected : tuple of Claim
        What we say instead, or in addition.
    steps : tuple of Claim
        Steps of the printed proof that do not hold in general.
    """

    name: str
    printed: tuple[Claim, ...] = ()
    corrected: tuple[Claim, ...] = ()
    steps: tuple[Claim, ...] = ()

    def rows(self) -> list[tuple]:
        """One tuple a claim: version ("printed", "step" or "ours"), text, both sides, the gap, and whether it holds."""
        versions = [("printed", self.printed), ("step", self.steps), ("ours", self.corrected)]
        return [(v, c.text, c.left, c.relation, c.right, c.gap, c.holds) for v, claims in versions for c in claims]

    def frame(self) -> pd.DataFrame:
        """The `rows` as a table."""
        return pd.DataFrame(self.rows(), columns=COLUMNS)


def at_most(text: str, left: float, right: float) -> Claim:
    """The claim that ``left <= right``."""
    return Claim(text, float(left), "<=", float(right))


def equal(text: str, left: float, right: float) -> Claim:
    """The claim that ``left = right``."""
    return Claim(text, float(left), "=", float(right))
