"""What several commands read: a table of accuracies from whatever file the user has."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses
    from adalib.table import UtilityTable

__all__ = ["add_estimate", "add_prices", "add_scheduler", "parse_budgets", "parse_memory", "parse_numbers"]
__all__ += ["parse_prices", "read_answers", "read_table"]


def add_estimate(parser: argparse.ArgumentParser) -> None:
    """Declare how accuracies are estimated from answers."""
    add = parser.add_argument
    add("--budgets", metavar="LIST", default="1,2,4,8,16", help="budgets on offer (default 1,2,4,8,16)")
    add("--estimator", choices=("subsets", "windows"), default="subsets", help="how accuracy is estimated")
    add("--ties", choices=("share", "first"), default="share", help="what happens to tied votes")
    add("--cost", choices=("samples", "tokens"), help="what a budget costs (default samples)")


def add_prices(parser: argparse.ArgumentParser) -> None:
    """Declare what the models of a menu cost."""
    told = "prices of a token (or answer) for a file of several models, such as small=0.5,large=1.5"
    parser.add_argument("--prices", metavar="LIST", help=told)


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


def parse_prices(text: str) -> dict[str, float]:
    """Read "small=0.5,large=1.5" as prices."""
    try:
        return {name.strip(): float(price) for name, price in (part.rsplit("=", 1) for part in text.split(","))}
    except ValueError:
        raise ValueError(f"--prices is {text!r}; give model=price with commas, such as small=0.5,large=1.5") from None


def read_answers(file: str, prices: str | None = None, per: str | None = None) -> Responses | Menu:
    """Sampled answers; those of several models at the prices given, or at the file's own."""
    from adalib.datasets.loading import load
    from adalib.datasets.menu import Menu

    found = load(file)
    if isinstance(found, Menu):
        return found.priced(parse_prices(prices) if prices else found.prices, per)
    if prices:
        raise ValueError(f"{file}: holds one model, so --prices has nothing to price; leave it out")
    return found


def read_table(
    file: str, budgets: str, *, cost: str | None = None, prices: str | None = None, **how: str
) -> UtilityTable:
    """Accuracies from a .csv file as they are; from sampled answers, of one model or several, by estimating them."""
    if Path(file).suffix.lower() == ".csv":
        from adalib.explorer import read_csv

        return read_csv(Path(file))
    from adalib.datasets.menu import Menu

    answers = read_answers(file, prices, cost)
    if isinstance(answers, Menu):
        return answers.table(parse_budgets(budgets), **how)
    return answers.table(parse_budgets(budgets), cost=cost or "samples", **how)
