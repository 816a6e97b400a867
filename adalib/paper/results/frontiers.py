"""Accuracy against the average budget, claimed and true, simulated and real."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix, fixed, noise_features, random
from adalib.evaluate.crossfit import score_oracle
from adalib.evaluate.heldout import held_out
from adalib.evaluate.scores import HeldOutRow
from adalib.learn.label_policy import CurvePolicy, LabelPolicy
from adalib.paper.protocol import reconstructed
from adalib.paper.results.replica import TARGETS
from adalib.paper.settings import PAPER_WAY
from adalib.paper.stand_ins import paper_population, paper_setting
from adalib.solve.frontier import frontier
from adalib.table import check_table

__all__ = ["GRID", "held_out_along", "in_sample_gains", "mix_cost", "pareto"]

#: Average budgets along which frontiers are drawn.
GRID = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 14, 16)


def pareto(name: str, grid: Sequence[float] = GRID, seed: int | None = None) -> pd.DataFrame:
    """Accuracy against the average budget on a simulated setting, claimed and true.

    Explained in chapter 7, "Results".

    Parameters
    ----------
    name : one of `PAPER_SETTINGS`
    grid : sequence of float
        Average budgets.
    seed : int, optional
        Of the simulated answers; default as in `main_table`.

    Returns
    -------
    DataFrame
        A row a budget. ``claimed``: the in-sample oracle on 48 samples, disjoint windows, first-seen ties. ``worth``:
        the true accuracy of its labels. ``learned`` and ``learned_cost``: a classifier of noise features, in-sample,
        scored by our reconstruction (one split). True and exact: the best possible (``oracle``), the best random
        ``mix``, ``fixed`` and ``random``.
    """
    responses, truth = paper_setting(name, seed=seed), paper_population(name).table()
    estimate = responses.table(**PAPER_WAY)
    found, best = score_oracle(estimate, truth, grid), score_oracle(truth, truth, grid)
    # Beyond the cost of the most accurate allocation nothing changes: one classifier stands for all those budgets.
    most = float(frontier(estimate.acc, estimate.cost).cost[-1])
    capped = np.minimum(grid, max(most, min(grid)))
    learned = reconstructed(responses, capped, seeds=1, features=noise_features(responses.n))
    at = {row.target: row for row in learned if row.method == "Ours"}
    ours = [at[budget] for budget in capped.tolist()]
    plans = {
        "mix": [best_mix(truth.acc, truth.cost, budget) for budget in grid],
        "fixed": [fixed(truth.cost, budget, truth.n) for budget in grid],
        "random": [random(truth.cost, budget, truth.n) for budget in grid],
    }
    return pd.DataFrame(
        {
            "budget": np.asarray(grid, dtype=float),
            "claimed": found.claimed.mean(axis=0),
            "worth": found.accuracy.mean(axis=0),
            "learned": [row.accuracy for row in ours],
            "learned_cost": [row.cost for row in ours],
            "oracle": best.accuracy.mean(axis=0),
            **{plan: [p.expected(truth.acc).mean() for p in made] for plan, made in plans.items()},
        }
    )


def in_sample_gains(
    responses: Responses, features: ArrayLike | None = None, targets: Sequence[float] = TARGETS
) -> pd.DataFrame:
    """Our reconstruction of the learned policy's scores, held against the best random mix at the cost that it had.

    Explained in chapter 7, "Results".

    Parameters
    ----------
    responses : Responses
        All samples are used.
    features : DataFrame or array_like, shape (N, d), optional
        Default: `adalib.text_features` of the questions.
    targets : sequence of float
        Average budgets.

    Returns
    -------
    DataFrame
        A row a target: ``accuracy``, ``accuracy_std``, ``cost``, ``imitation``, the accuracy of Fixed, the ``mix`` at
        that cost on the same table, and the ``gain`` over it. In-sample, and therefore too good.
    """
    table = responses.table(**PAPER_WAY)
    rows = reconstructed(responses, targets, features=features)
    fixed_at = {row.target: row.accuracy for row in rows if row.method == "Fixed"}
    found = []
    for row in rows:
        if row.method != "Ours":
            continue
        mix = best_mix(table.acc, table.cost, row.cost).expected(table.acc).mean()
        cells = {name: getattr(row, name) for name in ("target", "accuracy", "accuracy_std", "cost", "imitation")}
        found.append({**cells, "fixed": fixed_at[row.target], "mix": mix, "gain": row.accuracy - mix})
    return pd.DataFrame(found)


def held_out_along(responses: Responses, grid: Sequence[float] = GRID) -> list[HeldOutRow]:
    """Held out: the curve policy and the baselines along a grid, label imitation and its noise control at `TARGETS`.

    The rows are those of `adalib.held_out`, which would train a classifier a budget, and two for noise; the curve
    policy is one model for all budgets. Explained in chapter 7, "Results".

    Parameters
    ----------
    responses : Responses
        As for `adalib.held_out`.
    grid : sequence of float
        Average budgets; `TARGETS` are added where they are missing.

    Returns
    -------
    list of HeldOutRow
    """
    along = sorted({float(budget) for budget in (*grid, *TARGETS)})
    rows = held_out(responses, along, learners={"curve": CurvePolicy()}, noises=0)
    labels = held_out(responses, TARGETS, learners={"label": LabelPolicy()}, noises=1)
    return rows + [row for row in labels if row.policy in ("label", "noise")]


def mix_cost(acc: ArrayLike, cost: ArrayLike, accuracy: float) -> float:
    """What the best random mix would have to spend for an accuracy; NaN where no mix reaches it.

    Explained in chapter 7, "Results".

    Parameters
    ----------
    acc, cost
        As for `adalib.best_mix`.
    accuracy : float

    Examples
    --------
    >>> round(mix_cost([[0.5, 0.5, 0.8]], cost=[1, 2, 4], accuracy=0.6), 6)
    2.0
    """
    acc, cost = check_table(acc, cost)
    hull = frontier(acc.mean(axis=0, keepdims=True), cost if cost.ndim == 1 else cost.mean(axis=0))
    if accuracy > hull.accuracy[-1] + 1e-12:
        return float("nan")
    return float(np.interp(accuracy, hull.accuracy, hull.cost))
