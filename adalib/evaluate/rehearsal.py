"""Rehearsals of the oracle where the truth is known: sample, choose, score, and start again.

On real questions the oracle's optimism can only be estimated. On a simulated population every budget's true accuracy
is known, so the labels chosen on R samples can be scored exactly, as often as one likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from adalib.datasets.populations import Population, draw
from adalib.evaluate.crossfit import OracleScore, score_oracle
from adalib.table import UtilityTable
from adalib.vote.estimators import ESTIMATORS, Ties

__all__ = ["rehearse_oracle"]


def rehearse_oracle(
    population: Population,
    R: int,
    targets: Sequence[float],
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    draws: int = 20,
    seed: int = 0,
    halves: bool = False,
    estimator: Literal["subsets", "windows"] = "subsets",
    ties: Ties = "share",
) -> OracleScore:
    """Let the oracle choose on R simulated samples a question, again and again, and score it on the known truth.

    Draw number d is what ``population.sample(R, seed + d)`` gives. Explained in chapter 5, "Estimation".

    Parameters
    ----------
    population : Population
    R : int
        Samples a question.
    targets : sequence of T float
        Average costs allowed.
    budgets : sequence of int
        Numbers of samples on offer, increasing.
    draws : int
        How often all samples are drawn anew.
    seed : int
        Of the first draw.
    halves : bool
        Score by cross-fitting instead, as if the truth were not known: the samples come in no order, so the first
        half and the second are one random split.
    estimator, ties
        As for `Responses.table`.

    Returns
    -------
    OracleScore
        One row a draw: means over the questions.

    Examples
    --------
    >>> from adalib import flat_null
    >>> nothing = rehearse_oracle(flat_null(200), 48, targets=[3])
    >>> nothing.value.mean.round(3), bool(nothing.optimism.low[0] > 0.01)
    (array([0.5]), True)
    """
    budgets, n = tuple(budgets), population.n
    uniforms = np.concatenate([np.random.default_rng(seed + d).random((n, R)) for d in range(draws)])
    classes = draw(np.tile(population.probs, (draws, 1)), uniforms)
    values = classes == np.tile(population.correct, draws)[:, None]
    if population.empty is not None:
        classes[classes == population.empty] = -1

    def estimated(samples: slice) -> list[UtilityTable]:
        # All draws in one call: equal situations are then counted once.
        acc = ESTIMATORS[estimator](classes[:, samples], values[:, samples], budgets, ties)
        return [UtilityTable(part, np.array(budgets, dtype=float), budgets) for part in acc.reshape(draws, n, -1)]

    if halves:
        first, second = estimated(slice(R // 2)), estimated(slice(R // 2, R))
        pairs = [*zip(first, second, strict=True), *zip(second, first, strict=True)]
    else:
        truth = UtilityTable(population.acc(budgets), np.array(budgets, dtype=float), budgets)
        pairs = [(table, truth) for table in estimated(slice(R))]
    scores = [score_oracle(*pair, targets) for pair in pairs]
    claimed, accuracy, cost = (
        np.array([getattr(score, name).mean(axis=0) for score in scores]).reshape(-1, draws, len(scores[0].targets))
        for name in ("claimed", "accuracy", "cost")
    )
    return OracleScore(scores[0].targets, claimed.mean(axis=0), accuracy.mean(axis=0), cost.mean(axis=0))
