"""The eight settings of the book, each voted on in one way: four real sets of answers, and four simulated stand-ins.

The chapters and the replication table start from the same tables, so that they cannot disagree about a number.
"""

from __future__ import annotations

from functools import cache

from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.paper.printed import PAPER_SETTINGS
from adalib.paper.stand_ins import paper_setting
from adalib.solve.frontier import Frontier, frontier
from adalib.table import UtilityTable

__all__ = ["PAPER_WAY", "REAL", "SETTINGS", "TARGETS", "answers", "kind", "path", "utility"]

#: The real sets, and all eight settings, real ones first.
REAL = ("word-fewshot", "word-hot", "word-zeroshot", "drill-fewshot")
SETTINGS = (*REAL, *PAPER_SETTINGS)

#: How we reconstruct the paper's estimates. Disjoint windows are its words; of ties it says nothing. They cannot have
#: been shared (with no unread answers two would then be worth one to the last digit, and it prints .495 and .491);
#: that they go to the answer seen first is our choice.
PAPER_WAY = {"estimator": "windows", "ties": "first"}

#: The average budgets of its tables.
TARGETS = (1.5, 2.0, 3.0)


def kind(name: str) -> str:
    """Whether a setting is "real" or "simulated".

    Examples
    --------
    >>> kind("word-hot"), kind("deepseek-v3-math")
    ('real', 'simulated')
    """
    return "real" if name in REAL else "simulated"


@cache
def answers(name: str) -> Responses:
    """The answers of a setting, real or simulated. Explained in chapter 0, "One question, many answers"."""
    return paper_setting(name) if name in PAPER_SETTINGS else load(name)


@cache
def utility(name: str) -> UtilityTable:
    """The table of a setting: the real ones from all subsets with shared ties, the simulated ones by `PAPER_WAY`.

    Explained in chapter 2, "The oracle".
    """
    return answers(name).table(**({} if name in REAL else PAPER_WAY))


@cache
def path(name: str) -> Frontier:
    """The frontier of `utility`. Explained in chapter 3, "Budgets"."""
    table = utility(name)
    return frontier(table.acc, table.cost)
