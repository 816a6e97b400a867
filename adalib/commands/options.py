"""Options that several commands take, and the readers of what users write there.

A command declares a shared option by its name (`add_shared`). The readers turn a text into a plain
value or raise a ValueError with one line that says what to write instead.
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise
from typing import Any

from adalib.datasets.files import check_room

KINDS = (
    "what an answer is: auto, number, choice, yesno, label:a,b, json:field, regex:..., "
    "python:module:function"
)
MAX_BUDGETS = 1_000  # on offer; the exact frontier compares every two of them
# Bytes of address space that pandas, scikit-learn and XGBoost take before they do anything
_LIBRARIES = 500_000_000


def price(text: str) -> float:
    """Read a number of dollars, 0 or more."""
    if not 0 <= float(text) < math.inf:
        raise ValueError(text)
    return float(text)


_PRICES = "prices of a token (or answer) for a file of several models, such as small=0.5,large=1.5"
_SHARED: dict[str, dict[str, Any]] = {
    "--budgets": {
        "metavar": "LIST",
        "default": "1,2,4,8,16",
        "help": "budgets on offer (default 1,2,4,8,16)",
    },
    "--estimator": {
        "choices": ("subsets", "windows"),
        "default": "subsets",
        "help": "how accuracy is estimated",
    },
    "--ties": {
        "choices": ("share", "first"),
        "default": "share",
        "help": "what happens to tied votes",
    },
    "--cost": {"choices": ("samples", "tokens"), "help": "what a budget costs (default samples)"},
    "--prices": {"metavar": "LIST", "help": _PRICES},
    "--json": {"action": "store_true", "help": "print one JSON object and nothing else"},
    "--price-in": {
        "type": price,
        "default": 0.0,
        "metavar": "$",
        "help": "dollars per million tokens read",
    },
    "--price-out": {
        "type": price,
        "default": 0.0,
        "metavar": "$",
        "help": "dollars per million tokens written",
    },
    "--key-env": {
        "default": "OPENAI_API_KEY",
        "metavar": "NAME",
        "help": "variable with the key (default OPENAI_API_KEY)",
    },
}


def add_shared(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare options that several commands take, by their names."""
    for name in names:
        parser.add_argument(name, **_SHARED[name])


def check_libraries(source: str) -> None:
    """Fail early without memory to import what learns; a partial import can end the process."""
    check_room(source, "loading what learns", _LIBRARIES, "free some, or raise the limit")


def check_learn_from(given: int) -> int:
    """Return the largest number of training questions; refuse one that teaches nothing."""
    if given < 2:
        raise ValueError(f"--learn-from is {given}; give at least 2 questions")
    return given


def whole(text: str) -> int:
    """Read a whole number, also one written as 1e6."""
    number = float(text)  # argparse turns a ValueError into its own message
    if not number.is_integer() or abs(number) > 1e15:
        raise ValueError(text)
    return int(text) if text.strip().lstrip("+-").isdigit() else int(number)


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
    if budgets[0] < 1 or any(low >= high for low, high in pairwise(budgets)):
        raise ValueError(f"--budgets is {text!r}; give numbers of at least 1, in increasing order")
    return budgets


def parse_prices(text: str) -> dict[str, float]:
    """Read "small=0.5,large=1.5" as prices by model."""
    prices = {}
    try:
        for pair in text.split(","):
            model, price_text = pair.rsplit("=", 1)
            prices[model.strip()] = float(price_text)
    except ValueError:
        raise ValueError(
            f"--prices is {text!r}; give model=price with commas, such as small=0.5,large=1.5"
        ) from None
    return prices
