"""Exercises of chapter 13, "Three minds"."""

from __future__ import annotations

from functools import cache

import numpy as np

from adalib.datasets.loading import load
from adalib.datasets.menu import Menu
from adalib.solve.frontier import frontier
from adalib.teach.exercises import Exercise, checker
from adalib.teach.exercises.ladder_rest import MENU


@cache
def _sent_to_the_large(budget: float) -> float:
    models = {"0.5B": load("story-qwen05"), "1.5B": load("story-qwen15")}
    table = Menu(models, {"0.5B": 1, "1.5B": 10}).priced({"0.5B": 1, "1.5B": 10}, per="samples").table()
    large = np.array([arm.startswith("1.5B") for arm in table.budgets])
    return float(large[frontier(table.acc, table.cost).at(budget).labels].mean())


check = checker(
    {
        "unit": Exercise(
            lambda: 4 * 50 * 1.5,
            "an arm costs its answers times the tokens of one times the price of a token",
            1e-9,
            more="4 * 50 * 1.5",
            wrong={
                "that is one answer; the arm has four": lambda: 50 * 1.5,
                "those are tokens; each costs 1.5": lambda: 4 * 50,
                "those are answers times the price; an answer has 50 tokens": lambda: 4 * 1.5,
            },
        ),
        "sent": Exercise(
            lambda: _sent_to_the_large(5),
            'make the table with menu.priced({"0.5B": 1, "1.5B": 10}, per="samples").table(), take the labels of its '
            "frontier at 5, and count the columns whose name starts with 1.5B",
            5e-3,
            more='numpy.array([arm.startswith("1.5B") for arm in table.budgets])[labels].mean()',
            wrong={
                "those stay with the smaller model": lambda: 1 - _sent_to_the_large(5),
                "that is at an average cost of 10": lambda: _sent_to_the_large(10),
                "that would be the share if the small model were free: 5 of 10": lambda: 0.5,
            },
        ),
        "cascade": Exercise(
            lambda: 2 + 0.3 * 10,
            "the two small answers are always paid; the large one only where they differ",
            1e-6,
            more="2 + 0.3 * 10",
            wrong={
                "the small answers are paid too": lambda: 0.3 * 10,
                "it goes up where they differ, three times in ten": lambda: 2 + 0.7 * 10,
                "where they agree the two small answers are paid as well": lambda: 0.7 * 2 + 0.3 * 10,
                "it does not always go up": lambda: 2 + 10,
            },
        ),
        "ratio": Exercise(
            lambda: 2 / 0.7,
            "the cascade costs 2 + 0.3 r and the large model r; when are they equal",
            5e-3,
            more="2 = 0.7 r",
            wrong={
                "that divides by how often it goes up; divide by how often it does not": lambda: 2 / 0.3,
                "at 2 the small answers alone cost as much as the large one": lambda: 2,
                "that is what the cascade costs when r is 10": lambda: 5,
            },
        ),
        "joined": MENU,
    }
)
