"""Exercises of chapter 5, "Estimation"."""

from __future__ import annotations

from math import comb

import numpy as np

from adalib.datasets.loading import load
from adalib.datasets.populations import Population
from adalib.evaluate.rehearsal import rehearse_oracle
from adalib.paper.stand_ins import paper_population
from adalib.teach.exercises import Construction, Exercise, checker


def _second_answer() -> float:
    hot = load("word-hot")
    empty = (hot.classes < 0).sum(axis=1)
    return float((hot.values.mean(axis=1) * empty / (hot.samples - 1)).mean())


def _trials() -> int:
    trials = 1
    while comb(2 * trials, trials) / (2 * 4**trials) >= 0.01:
        trials += 1
    return trials


def _null_fault(population: object) -> str | None:
    if not isinstance(population, Population) or population.n < 50:
        return "give an adalib.Population of at least 50 questions"
    acc = population.acc()
    moved = np.abs(acc - acc[:, :1]).max(axis=1)
    if moved.max() > 1e-9:
        return f"question {moved.argmax()} gains or loses with some budget; make its answers equally likely, or certain"
    if np.isclose(acc[:, 0], 0.5).any():
        return f"question {np.isclose(acc[:, 0], 0.5).argmax()} is a fair coin; find another way to be flat"
    if rehearse_oracle(population, 48, [2]).optimism.low[0] <= 0:
        return "the oracle claims nothing here, because no answer is uncertain; let some be"
    return None


check = checker(
    {
        "second": Exercise(
            _second_answer,
            "the theorem gives each question's gain as Acc(x, 1) times its empty answers over R - 1; average that",
            tolerance=1e-4,
        ),
        "single": Exercise(
            lambda: 7 / 8, "one trial shows 0 or 1; the oracle is disappointed only if all three show 0", tolerance=1e-3
        ),
        "trials": Exercise(
            _trials,
            "it is close to 1 / (2 sqrt(pi t)) for t trials; set that to 0.01 first, then try the neighbours exactly",
        ),
        "sixteen": Exercise(
            lambda: float(rehearse_oracle(paper_population("deepseek-v3-math"), 16, [3]).optimism.mean[0]),
            "rehearse_oracle(population, 16, [3]).optimism holds the mean and its interval",
            tolerance=2e-3,
        ),
        "null": Construction(_null_fault),
    }
)
