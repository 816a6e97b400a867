"""Two ways to score the same policies: as in the paper, and held out.

As in the paper: labels are made from all samples of all questions, a classifier learns four questions in five, and it
is scored on all of them with the samples that made the labels. It is here to reproduce the printed tables.

Held out (`adalib.heldout`): what is scored was not seen. `verdict` puts its rows into one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib import baselines
from adalib.baselines import from_labels
from adalib.datasets import Responses
from adalib.features import text_features
from adalib.heldout import BASELINES, HeldOutRow, check_targets, held_out
from adalib.oracle import bisect
from adalib.policy import LabelPolicy

__all__ = ["HeldOutRow", "PaperRow", "as_in_paper", "as_table", "held_out", "mostly_seen", "verdict"]


@dataclass(frozen=True)
class PaperRow:
    """One method at one target by the paper's protocol: mean and standard deviation over the seeds.

    ``imitation`` is the share of all questions that get the oracle's label, where a method imitates it.
    """

    protocol: str = field(init=False, default="as in the paper")
    method: str
    target: float
    accuracy: float
    accuracy_std: float
    cost: float
    cost_std: float
    imitation: float | None = None


def as_table(rows: Sequence[PaperRow] | Sequence[HeldOutRow]) -> pd.DataFrame:
    """Return rows as a table whose first column names the protocol. Explained in chapter 7, "Results"."""
    names = [f.name for f in fields(rows[0]) if f.name != "gains"]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)


def as_in_paper(
    responses: Responses,
    targets: Sequence[float],
    seeds: int = 3,
    features: ArrayLike | None = None,
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
) -> list[PaperRow]:
    """Score the paper's five methods by the paper's protocol: in-sample, and therefore too good.

    Disjoint windows and first-seen ties, labels by bisection from all questions, a classifier of four fifths of the
    questions, scores on all questions with the samples that made the labels. Explained in chapter 7, "Results".

    Parameters
    ----------
    responses : Responses
    targets : sequence of float
        Average costs to aim for.
    seeds : int
        Random splits into training and other questions.
    features : DataFrame or array_like, shape (N, d), optional
        Default: `text_features` of the questions.
    budgets : sequence of int
        Numbers of samples on offer, increasing.

    Returns
    -------
    list of PaperRow
        Methods Fixed, Random, Heuristic, Ours and Oracle, a row each and target.
    """
    if seeds < 1:
        raise ValueError(f"seeds is {seeds}; give at least 1")
    table = responses.table(budgets, estimator="windows", ties="first")
    targets = check_targets(targets, table.cost)
    inputs = pd.DataFrame(text_features(responses.questions) if features is None else features)
    n, k = table.acc.shape
    rows = []
    for target in targets:
        oracle = bisect(table.acc, table.cost, target).labels
        chance = baselines.random(table.cost, target, n)
        found: dict[str, list[np.ndarray]] = {
            "Fixed": [baselines.fixed(table.cost, target, n).weights.argmax(axis=1)],
            "Random": [chance.draw(seed) for seed in range(seeds)],
            "Heuristic": [baselines.length(responses.questions, table.cost, target).weights.argmax(axis=1)],
            "Ours": [mostly_seen(inputs, oracle, seed) for seed in range(seeds)],
            "Oracle": [oracle],
        }
        for method, drawn in found.items():
            plans = [from_labels(labels, k) for labels in drawn]
            accuracy, cost = ([plan.expected(part).mean() for plan in plans] for part in (table.acc, table.cost))
            same = float(np.mean([labels == oracle for labels in drawn])) if method == "Ours" else None
            spread = [float(value) for part in (accuracy, cost) for value in (np.mean(part), np.std(part))]
            rows.append(PaperRow(method, target, *spread, same))
    return rows


def mostly_seen(features: ArrayLike, labels: ArrayLike, seed: int = 0) -> np.ndarray:
    """Labels that a policy gives to all questions after it learned four in five of them, as in the paper.

    In-sample, and therefore too good; `adalib.out_of_fold` is the honest one. Explained in chapter 8, "Patterns".

    Parameters
    ----------
    features : DataFrame or array_like, shape (N, d)
    labels : array_like of int, shape (N,)
        Columns to learn.
    seed : int
        Draws the four fifths.

    Returns
    -------
    ndarray of int, shape (N,)
        Columns.
    """
    inputs, labels = pd.DataFrame(features), np.asarray(labels)
    train = np.random.default_rng(seed).permutation(labels.size)[: round(0.8 * labels.size)]
    return LabelPolicy(seed=seed).fit_labels(inputs.iloc[train], labels[train]).predict(inputs)


def verdict(rows: Sequence[HeldOutRow]) -> str:
    """Say in one sentence whether adaptive allocation pays: at which target, and with which policy.

    It pays where a learned policy (``label``, ``curve`` or one given to `held_out`) beats the best random mix at equal
    cost, and chance is no explanation. Explained in chapter 7, "Results".

    Parameters
    ----------
    rows : sequence of HeldOutRow
        What `held_out` returned.
    """
    tried = [row for row in rows if row.policy not in (*BASELINES, "noise")]
    if not tried:
        raise ValueError("no row is of a policy that learns; give held_out at least one learner")
    oracles = [row for row in rows if row.policy == "oracle"]
    # Whoever looks at many 95% intervals will find one above zero where nothing is. Each look at a learned policy
    # therefore gets its share of the 5% (Bonferroni): the chance of any false claim stays about 5%.
    chance = _by_chance(np.column_stack([row.gains for row in tried + oracles]), 0.025 / len(tried))
    clear = [row.gain_low > 0 and not luck for row, luck in zip(tried + oracles, chance, strict=True)]
    paying = [row for row, sure in zip(tried, clear, strict=False) if sure]
    best = max(paying or tried, key=lambda row: row.gain)
    found = (
        f"{best.policy} at target {best.target:g} gains {best.gain:+.4f} accuracy over the best random mix at equal "
        f"cost {best.cost:.2f} (95% interval {best.gain_low:+.4f} to {best.gain_high:+.4f})"
    )
    if paying:
        share = "" if best.share is None else f", {best.share:.0%} of what the cross-fitted oracle gains there"
        return f"Adaptive allocation pays here: {found}{share}."
    oracle = max(oracles, key=lambda row: row.gain)
    could = (
        f"while the cross-fitted oracle, which reads the answer key, gains {oracle.gain:+.4f} at best (target "
        f"{oracle.target:g})"
        if any(clear[len(tried) :])
        else "and not even the cross-fitted oracle, which reads the answer key, has a gain that is clear of chance"
    )
    return f"Adaptive allocation does not pay here: no learned gain is clear of chance, at most {found}, {could}."


def _by_chance(gains: np.ndarray, level: float) -> np.ndarray:
    """Which columns have a mean that random signs reach with probability above ``level``.

    A policy that moves five questions, or is scored on five groups, may have luck with all of them, and resampling
    would never show the other side. Flipping signs does: five of five is one chance in 32.
    """
    rng, chunk = np.random.default_rng(0), 500
    chunks = int(np.ceil(20 / level / chunk))
    reached = np.ones(gains.shape[1])
    for _ in range(chunks):
        signs = rng.choice([-1.0, 1.0], size=(chunk, len(gains)))
        reached += (signs @ gains >= gains.sum(axis=0) - 1e-12).sum(axis=0)
    return reached / (1 + chunk * chunks) > level
