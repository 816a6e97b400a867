"""Exercises of chapter 5, "Estimation"."""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np

from adalib.datasets.populations import Population
from adalib.evaluate.crossfit import OracleScore, rehearse_oracle
from adalib.paper.settings import answers, paper_population, utility
from adalib.teach.exercises import Construction, Exercise, checker
from adalib.teach.exercises.ladder_answers import CROSS_FIT
from adalib.teach.exercises.proofs_duality import BRACKET, NOISE


def _second_answer(name: str) -> float:
    hot = answers(name)
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


@cache
def _rehearsed(samples: int) -> OracleScore:
    return rehearse_oracle(paper_population("deepseek-v3-math"), samples, [3])


check = checker(
    {
        "second": Exercise(
            lambda: _second_answer("word-hot"),
            "the theorem gives each question's gain as Acc(x, 1) times its empty answers over R - 1; average that",
            1e-4,
            more="hot.values.mean(axis=1) * (hot.classes < 0).sum(axis=1) / (hot.samples - 1), averaged over the "
            "questions",
            wrong={
                "that is the share of empty answers; weigh it with each question's accuracy": lambda: float(
                    (answers("word-hot").classes < 0).mean()
                ),
                "the mean of a product is not the product of the means; multiply question by question": lambda: float(
                    answers("word-hot").values.mean() * (answers("word-hot").classes < 0).mean()
                ),
                "that is word-fewshot; the hot answers are asked for": lambda: _second_answer("word-fewshot"),
                "that is the accuracy of two answers; the gain is asked for": lambda: float(
                    utility("word-hot").acc[:, 1].mean()
                ),
            },
        ),
        "single": Exercise(
            lambda: 7 / 8,
            "one trial shows 0 or 1; the oracle is disappointed only if all three show 0",
            1e-3,
            more="all three show 0 with chance (1/2) ** 3",
            wrong={
                "that is the truth; the claim is asked for": lambda: 1 / 2,
                "that is the chance that all three fail": lambda: 1 / 8,
                "that is what the claim is too high by": lambda: 3 / 8,
            },
        ),
        "trials": Exercise(
            _trials,
            "it is close to 1 / (2 sqrt(pi t)) for t trials; set that to 0.01 first, then try the neighbours exactly",
            more="exactly, the excess is comb(2 t, t) / (2 * 4 ** t)",
            wrong={
                "at that number the excess is still 0.01 or more": lambda: _trials() - 1,
                "those are the trials of both budgets; the trials of each are asked for": lambda: 2 * _trials(),
                "the root is missing: the excess falls with the root of the trials": lambda: 28,
            },
        ),
        "sixteen": Exercise(
            lambda: float(_rehearsed(16).optimism.mean[0]),
            "rehearse_oracle(population, 16, [3]).optimism holds the mean and its interval",
            2e-3,
            more="optimism.mean[0]; it is the claim minus the truth",
            wrong={
                "that is what the oracle claims; subtract what its labels are truly worth": lambda: float(
                    _rehearsed(16).claimed.mean()
                ),
                "that is what its labels are truly worth; subtract it from the claim": lambda: float(
                    _rehearsed(16).accuracy.mean()
                ),
                "that is the optimism with 48 samples": lambda: float(_rehearsed(48).optimism.mean[0]),
            },
        ),
        "null": Construction(
            _null_fault, "three answers with chance 1/3 each are flat too: no vote makes any of them likelier"
        ),
        "cross-fit": CROSS_FIT,
        "bracket": BRACKET,
        "noise": NOISE,
    }
)
