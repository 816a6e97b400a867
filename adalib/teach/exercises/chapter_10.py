"""Exercises of chapter 10, "When to stop"."""

from __future__ import annotations

from functools import cache

from adalib.datasets.loading import load
from adalib.sequential.rules import Margin, stopping_points
from adalib.sequential.streams import make_streams
from adalib.teach.exercises import Exercise, checker
from adalib.teach.exercises.ladder_answers import STOPPING

_P = 0.7
_GAIN = _P**3 + 3 * _P**2 * (1 - _P) - _P


@cache
def _margin() -> float:
    streams = make_streams(load("word-hot"), 16, repeats=48)
    return float(stopping_points(Margin(2, 16), streams.votes()).mean() + 1)


check = checker(
    {
        "price": Exercise(
            lambda: _GAIN / (1 + 2 * _P * (1 - _P)),
            "divide what three answers gain over one by what is asked after the first: one, and a third if they differ",
            5e-4,
            more="two answers differ with chance 2 p (1 - p)",
            wrong={
                "that is what it gains; divide by what it asks": lambda: _GAIN,
                "the third answer is not always asked": lambda: _GAIN / 2,
                "a third is asked where the two differ, not where they agree": lambda: (
                    _GAIN / (1 + _P**2 + (1 - _P) ** 2)
                ),
                "that is the accuracy of three answers": lambda: _GAIN + _P,
            },
        ),
        "coin": Exercise(
            lambda: (2 - 1) / (2.48 - 1),
            "the costs 1 and 2.48 must average to 2",
            2e-3,
            more="s * 2.48 + (1 - s) * 1 = 2",
            wrong={
                "that is how often it chooses the first": lambda: (2.48 - 2) / (2.48 - 1),
                "that is a ratio of costs; measure both from 1": lambda: 2 / 2.48,
                "that is the accuracy of the coin; its share is asked for": lambda: 0.6 + 0.048 / 1.48,
            },
        ),
        "margin": Exercise(
            _margin,
            "stopping_points counts columns from 0, and answers from 1",
            5e-2,
            more="stopping_points(Margin(2, 16), streams.votes()).mean() + 1",
            wrong={
                "those are columns, counted from 0; the first answer is one answer": lambda: _margin() - 1,
                "that is the cap; many stop before it": lambda: 16,
                "that is the share of the cap; the number of answers is asked for": lambda: _margin() / 16,
            },
        ),
        "holds": Exercise(
            lambda: 1 - 1 / 2**5,
            "with a flat prior and four votes to none, the chance p has density 5 p ** 4; ask for p above one half",
            1e-3,
            more="the integral of 5 p ** 4 from 1/2 to 1 is 1 - (1/2) ** 5",
            wrong={
                "that is the chance that it loses": lambda: 1 / 2**5,
                "that is how a fair coin shows four in a row; a flat prior has one more": lambda: 1 - 1 / 2**4,
                "that is the mean of p, (4 + 1) / (4 + 2)": lambda: 5 / 6,
                "all four votes are for it, and still it is not certain": lambda: 1.0,
            },
        ),
        "stopping": STOPPING,
    }
)
