"""What several commands read: a table of accuracies from whatever file the user has."""

from __future__ import annotations

from pathlib import Path

from adalib.table import UtilityTable

__all__ = ["parse_budgets", "read_table"]


def parse_budgets(text: str) -> tuple[int, ...]:
    """Read "1,2,4" as budgets: whole numbers, at least 1, each larger than the one before."""
    try:
        budgets = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--budgets is {text!r}; give whole numbers with commas, such as 1,2,4,8,16") from None
    if budgets[0] < 1 or any(a >= b for a, b in zip(budgets, budgets[1:], strict=False)):
        raise ValueError(f"--budgets is {text!r}; give numbers of at least 1, in increasing order")
    return budgets


def read_table(file: str, budgets: str, **how: str) -> UtilityTable:
    """Accuracies from a .csv file as they are; from sampled answers by estimating them."""
    if Path(file).suffix.lower() == ".csv":
        from adalib.explorer import read_csv

        return read_csv(Path(file))
    from adalib.datasets.loading import load

    return load(file).table(budgets=parse_budgets(budgets), **how)
