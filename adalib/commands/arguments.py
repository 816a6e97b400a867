"""What several commands read: a table of accuracies from whatever file the user has."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adalib.table import UtilityTable

__all__ = ["add_estimate", "add_scheduler", "parse_budgets", "parse_memory", "parse_numbers", "read_table"]


def add_estimate(parser: argparse.ArgumentParser) -> None:
    """Declare how accuracies are estimated from answers."""
    add = parser.add_argument
    add("--budgets", metavar="LIST", default="1,2,4,8,16", help="budgets on offer (default 1,2,4,8,16)")
    add("--estimator", choices=("subsets", "windows"), default="subsets", help="how accuracy is estimated")
    add("--ties", choices=("share", "first"), default="share", help="what happens to tied votes")
    add("--cost", choices=("samples", "tokens"), default="samples", help="what a budget costs")


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    """Declare the scheduler of many machines."""
    told = "use the workers of this Dask scheduler, such as tcp://10.0.0.1:8786; all must see the same files"
    parser.add_argument("--scheduler", metavar="ADDRESS", help=told)


def parse_memory(text: str) -> int:
    """Read "1GB" or "800MB" as bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([MG])i?B?", text.strip(), re.IGNORECASE)
    if not match:
        raise ValueError(f"--memory is {text!r}; give a size such as 800MB or 2GB")
    return int(float(match[1]) * {"M": 10**6, "G": 10**9}[match[2].upper()])


def parse_numbers(text: str, name: str) -> list[float]:
    """Read "1.5,2,3" as numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} is {text!r}; give numbers with commas, such as 1.5,2,3") from None


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
