"""Tables that are expensive to compute, recorded once by the scripts ``data/scripts/record_*.py``.

A script computes a table part by part and saves it in ``data/recorded/``, and the chapters read it
from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adalib.datasets.files import read_lines
from adalib.datasets.loading import data_folder

if TYPE_CHECKING:
    from adalib.evaluate.scores import HeldOutRow

_KEPT = ("cost", "accuracy", "low", "high", "gain", "gain_low", "gain_high", "mix_cost")


def recorded(name: str) -> dict[str, list[dict]]:
    """Read the rows of a record by part."""
    parts: dict[str, list[dict]] = {}
    for _, row in read_lines(data_folder() / "recorded" / f"{name}.jsonl"):
        parts.setdefault(row["part"], []).append(row)
    return parts


def recorded_cells(name: str = "stopping") -> dict[str, dict[tuple[str, float], dict]]:
    """Read a recorded table, "stopping" or "menus", by part, policy and target."""
    return {
        part: {(row["policy"], row["target"]): row for row in rows}
        for part, rows in recorded(name).items()
    }


def figures(row: HeldOutRow) -> dict:
    """Return what is recorded of a row: its policy, its target and its figures to five digits."""
    kept: dict = {"policy": row.policy, "target": row.target}
    for name in _KEPT:
        value = getattr(row, name)
        kept[name] = None if value is None else round(float(value), 5)
    return kept
