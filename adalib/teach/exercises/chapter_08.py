"""Exercises of chapter 8, "Patterns"."""

from __future__ import annotations

from functools import cache
from math import sqrt

import numpy as np
import pandas as pd

from adalib.datasets.loading import load
from adalib.datasets.populations import flat_null
from adalib.paper.patterns import by_difficulty, difficulty_bins, gain_by
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable
from adalib.teach.exercises import Construction, Exercise, checker


@cache
def _fifths() -> pd.DataFrame:
    table = flat_null(1000).sample(48).table()
    labels = frontier(table.acc, table.cost).at(3).labels
    return by_difficulty(table.acc[:, 0], labels, table.budgets)


@cache
def _gains() -> pd.DataFrame:
    return gain_by(load("word-zeroshot"), 3, lambda table: difficulty_bins(table.acc[:, 0]), 5)


def _part(fifth: int) -> float:
    parts = _gains()["share"] * _gains()["gain"]
    return float(parts[fifth] / parts.sum())


def _thin_fault(table: object) -> str | None:
    if not isinstance(table, UtilityTable) or table.acc.shape != (20, 5) or table.budgets != (1, 2, 4, 8, 16):
        return "give an adalib.UtilityTable of 20 questions with cost [1, 2, 4, 8, 16]"
    gain = table.acc[:, -1] - table.acc[:, 0]
    one, other = gain[:10].mean(), gain[10:].mean()
    if one <= other + 1e-9:
        return f"the first ten gain {one:.3f} on average and the last ten {other:.3f}; let the first ten gain more"
    labels = frontier(table.acc, table.cost).at(1.5).labels
    if labels[:10].any():
        row = np.flatnonzero(labels[:10])[0]
        return f"the oracle buys more for row {row}, one of the first ten; spread their gain thinner"
    if not labels[10:].any():
        return "the oracle buys nothing for the last ten either; let one of them gain much from a small budget"
    return None


def _extra(fifth: int) -> float:
    extra = _fifths()["budget"] - 1
    return float(extra[fifth] / extra.sum())


check = checker(
    {
        "middle": Exercise(
            lambda: float(_fifths()["budget"][2]),
            "make the table with the default estimator, take the frontier's labels at 3, and read by_difficulty",
            0.05,
            more='paper.by_difficulty(table.acc[:, 0], labels, table.budgets)["budget"][2]',
            wrong={
                "that is an end; the middle is the third of five": lambda: float(_fifths()["budget"][0]),
                "that is the fourth fifth; rows count from 0": lambda: float(_fifths()["budget"][3]),
                "that is the average over all questions": lambda: 3.0,
            },
        ),
        "extra": Exercise(
            lambda: _extra(2),
            "everyone has one answer; what a fifth gets beyond that, over what all fifths get beyond that",
            0.01,
            more='extra = fifths["budget"] - 1; extra[2] / extra.sum()',
            wrong={
                "that counts the first answer too, which everyone has": lambda: float(
                    _fifths()["budget"][2] / _fifths()["budget"].sum()
                ),
                "that would be its share if nothing rose in the middle": lambda: 0.2,
                "that is its mean budget; the share is asked for": lambda: float(_fifths()["budget"][2]),
                "that is the lowest fifth": lambda: _extra(0),
            },
        ),
        "highest": Exercise(
            lambda: _part(4),
            "gain_by with difficulty_bins gives share and gain of each fifth; weigh the gains by the shares",
            0.01,
            more='parts = found["share"] * found["gain"]; parts[4] / parts.sum()',
            wrong={
                "that is the lowest fifth": lambda: _part(0),
                "that is the gain of the fifth; its part of the whole is asked for": lambda: float(_gains()["gain"][4]),
                "that would be a fifth's part if all gained alike": lambda: 0.2,
            },
        ),
        "wobble": Exercise(
            lambda: sqrt(0.25 / 48),
            "one answer is right with chance p, so its variance is p (1 - p); the mean of 48 has a 48th of it",
            1e-3,
            more="p = 1/2 makes p (1 - p) largest, 1/4; the root of 1/4 over 48",
            wrong={
                "that is the variance; its root is asked for": lambda: 0.25 / 48,
                "that is the spread of one answer; the mean of 48 wobbles less": lambda: 0.5,
                "divide by the root of 48, not by 48": lambda: 0.5 / 48,
            },
        ),
        "thin": Construction(
            _thin_fault, "ten small gains that no price reaches, and one large gain from a small budget"
        ),
    }
)
