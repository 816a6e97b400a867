"""What several commands read: options, numbers written as text, and accuracies from whatever file the user has."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses
    from adalib.table import UtilityTable

__all__ = ["add_shared", "check_learning", "check_libraries", "parse_budgets", "parse_memory", "parse_numbers"]
__all__ += ["price", "read_answers", "read_table", "shown", "whole"]

_LIBRARIES = 500_000_000  # bytes of address space that pandas, scikit-learn and XGBoost take before they do anything
MAX_BUDGETS = 1_000  # on offer; the exact frontier compares every two of them

_SHARED: dict[str, dict[str, Any]] = {
    "--budgets": {"metavar": "LIST", "default": "1,2,4,8,16", "help": "budgets on offer (default 1,2,4,8,16)"},
    "--estimator": {"choices": ("subsets", "windows"), "default": "subsets", "help": "how accuracy is estimated"},
    "--ties": {"choices": ("share", "first"), "default": "share", "help": "what happens to tied votes"},
    "--cost": {"choices": ("samples", "tokens"), "help": "what a budget costs (default samples)"},
    "--prices": {
        "metavar": "LIST",
        "help": "prices of a token (or answer) for a file of several models, such as small=0.5,large=1.5",
    },
    "--scheduler": {
        "metavar": "ADDRESS",
        "help": "use the workers of this Dask scheduler, such as tcp://10.0.0.1:8786; they must see the same files",
    },
    "--json": {"action": "store_true", "help": "print one JSON object and nothing else"},
}


def add_shared(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare options that several commands take, by their names."""
    for name in names:
        parser.add_argument(name, **_SHARED[name])


def check_libraries(source: str) -> None:
    """Refuse where not even the libraries that learn have room: loaded by halves, some of them end the process."""
    from adalib.datasets.files import check_room

    check_room(source, "loading what learns", _LIBRARIES, "free some, or raise the limit")


def check_learning(responses: Responses | Menu, learn_from: int, work: str, mend: str, at_once: int | None = 1) -> int:
    """How many questions teach at most; refuse what would not fit, for so many that learn at once.

    Each takes a kernel between any two questions, all replays, and its libraries' own; thousands a question stay.
    """
    from adalib.datasets.files import check_room

    if learn_from < 2:
        raise ValueError(f"--learn-from is {learn_from}; give at least 2 questions")
    n, samples, taught = responses.n, responses.samples, min(learn_from, responses.n)
    one = 300e6 + 40 * taught**2 + 200 * taught * min(samples, 16) * min(samples, 40)
    need = (at_once or 1) * one + n * (2000 + 200 * samples)
    check_room(responses.source, work.format(taught=taught), need, mend)
    return taught


def shown(text: str) -> str:
    """Text from outside, fit for a terminal: one line, and what would move the cursor or turn the writing escaped.

    >>> print(shown("q1" + chr(27) + "[2J" + chr(0x202E) + "txt"))
    q1\\x1b[2J\\u202etxt
    """
    line = " ".join(text.splitlines())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def whole(text: str) -> int:
    """Read a whole number, also one written as 1e6."""
    number = float(text)  # a ValueError is argparse's to tell
    if not number.is_integer() or abs(number) > 1e15:
        raise ValueError(text)
    return int(text) if text.strip().lstrip("+-").isdigit() else int(number)


def price(text: str) -> float:
    """Read a number of dollars, 0 or more."""
    number = float(text)
    if not 0 <= number < math.inf:
        raise ValueError(text)
    return number


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
        if len(budgets) > MAX_BUDGETS or max(budgets) > 10**9:
            raise ValueError
    except ValueError:
        wanted = f"whole numbers with commas, such as 1,2,4,8,16 (at most {MAX_BUDGETS})"
        raise ValueError(f"--budgets is {text[:60]!r}; give {wanted}") from None
    if budgets[0] < 1 or any(a >= b for a, b in zip(budgets, budgets[1:], strict=False)):
        raise ValueError(f"--budgets is {text!r}; give numbers of at least 1, in increasing order")
    return budgets


def _parse_prices(text: str) -> dict[str, float]:
    try:
        return {name.strip(): float(price) for name, price in (part.rsplit("=", 1) for part in text.split(","))}
    except ValueError:
        raise ValueError(f"--prices is {text!r}; give model=price with commas, such as small=0.5,large=1.5") from None


def read_answers(file: str, prices: str | None = None, per: Any = None) -> Responses | Menu:
    """Sampled answers; those of several models at the prices given, or at the file's own."""
    from adalib.datasets.loading import load
    from adalib.datasets.menu import Menu

    answers = load(file)
    if isinstance(answers, Menu):
        return answers.priced(_parse_prices(prices) if prices else answers.prices or {}, per)
    if prices:
        raise ValueError(f"{file}: holds one model, so --prices has nothing to price; leave it out")
    return answers


def read_table(args: argparse.Namespace) -> UtilityTable:
    """Accuracies from a .csv file as they are; from sampled answers, of one model or several, by estimating them."""
    if Path(args.file).suffix.lower() == ".csv":
        from adalib.explorer import read_csv

        return read_csv(Path(args.file))
    from adalib.datasets.menu import Menu

    answers, budgets = read_answers(args.file, args.prices, args.cost), parse_budgets(args.budgets)
    if isinstance(answers, Menu):
        return answers.table(budgets, args.estimator, args.ties)
    return answers.table(budgets, args.estimator, args.ties, args.cost or "samples")
