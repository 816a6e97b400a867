"""Exercises of chapter 10, "When to stop"."""

from __future__ import annotations

from adalib.datasets.loading import load
from adalib.sequential.rules import Margin, stopping_points
from adalib.sequential.streams import make_streams
from adalib.teach.exercises import Exercise, checker


def _price() -> float:
    p = 0.7
    gain = p**3 + 3 * p**2 * (1 - p) - p
    return gain / (1 + 2 * p * (1 - p))


def _margin() -> float:
    streams = make_streams(load("word-hot"), 16, repeats=48)
    return float(stopping_points(Margin(2, 16), streams.votes()).mean() + 1)


check = checker(
    {
        "price": Exercise(
            _price,
            "divide what three answers gain over one by what is asked after the first: one, and a third if they differ",
            tolerance=5e-4,
        ),
        "coin": Exercise(lambda: (2 - 1) / (2.48 - 1), "the costs 1 and 2.48 must average to 2", tolerance=2e-3),
        "margin": Exercise(_margin, "stopping_points counts columns from 0, and answers from 1", tolerance=5e-2),
    }
)
