"""What solving a table in files comes to: a point a budget, and where the labels are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adalib.solve.shards import ShardedAllocation

__all__ = ["FilesSolved", "as_values"]


@dataclass(frozen=True)
class FilesSolved:
    """What `solve_files` found.

    Attributes
    ----------
    points : list of ShardedAllocation
        One a budget; their labels are in the files.
    split_ids : list of str or None
        Id of the question to split at each budget, or its row number where the table has no ids.
    budgets : tuple of str
        Names of the columns.
    counts : list of list of int
        How many questions get each of them, for every budget.
    rows : int
    folder : str
        Where the labels are: Parquet files, in the order of the rows, with ``id`` (or ``row``) and a column ``at_B``
        for every average budget B.
    """

    points: list[ShardedAllocation]
    split_ids: list[str | None]
    budgets: tuple[str, ...]
    counts: list[list[int]]
    rows: int
    folder: str

    def as_json(self) -> dict[str, Any]:
        """What `_solution.json` holds and ``adalib solve --json`` prints: an object a budget under "points"."""
        names = as_values(self.budgets)
        points = []
        for point, name, counts in zip(self.points, self.split_ids, self.counts, strict=True):
            told = {key: getattr(point, key) for key in ("budget", "lam", "cost", "accuracy", "bound", "slack")}
            split = point.split and {
                "id": name,
                "low": names[point.split.low],
                "high": names[point.split.high],
                "share": point.split.share,
            }
            told |= {"labels": f"at_{point.budget:.12g}", "split": split, "rounds": point.rounds}
            points.append({**told, "counts": dict(zip(self.budgets, counts, strict=True))})
        return {"rows": self.rows, "folder": self.folder, "points": points}


def as_values(budgets: Sequence[str]) -> list:
    """Names of budgets as whole numbers where they all are, else as they stand."""
    try:
        return [int(budget) for budget in budgets]
    except ValueError:
        return list(budgets)
