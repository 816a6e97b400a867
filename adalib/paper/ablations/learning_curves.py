"""How many labelled questions does a policy need? The same trees, scored on what they saw and on what they did not.

In the paper's figure the share of the training data grows and accuracy is drawn on all questions. Then two things grow
at once: what the model can generalise from, and how much of the test it has seen. `learning_curve` keeps them apart;
`held_out_curve` asks the question again on real answers, by the held-out protocol.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adalib.datasets.folds import deal
from adalib.datasets.responses import Responses
from adalib.evaluate import baselines
from adalib.evaluate.baselines import Plan, best_mix, from_labels, noise_features
from adalib.evaluate.crossfit import check_halves, compared
from adalib.evaluate.heldout import check_targets, oracles_at
from adalib.evaluate.scores import Tally
from adalib.evaluate.trials import Fold, Half, learned
from adalib.learn.features import text_features
from adalib.learn.label_policy import CurvePolicy, LabelPolicy
from adalib.learn.threads import side_by_side
from adalib.paper.settings import TARGETS
from adalib.solve.bisection import bisect
from adalib.table import UtilityTable

__all__ = ["SHARES", "held_out_curve", "learning_curve"]

#: The shares of the training data that the paper's figure shows.
SHARES = (0.1, 0.2, 0.25, 0.4, 0.6, 0.8, 1.0)

_COLUMNS = ["policy", "target", "share", "questions", "cost", "accuracy", "gain", "low", "high"]
_PARTS = {"our reconstruction": ("all",), "held out": ("unseen",), None: ("seen", "unseen", "all")}


def learning_curve(
    table: UtilityTable,
    features: ArrayLike,
    targets: Sequence[float] = TARGETS,
    shares: Sequence[float] = SHARES,
    seeds: int = 4,
    protocol: str | None = "our reconstruction",
) -> pd.DataFrame:
    """Train the label policy on a growing share of the questions.

    Labels come from the whole table by bisection, as the paper makes them. Explained in chapter 9, "Ablations".

    Parameters
    ----------
    table : UtilityTable
        Makes the labels and scores them.
    features : DataFrame or array_like, shape (N, d)
    targets : sequence of float
        Average costs.
    shares : sequence of float
        Shares of the questions to train on, in (0, 1].
    seeds : int
        Random orders of the questions; the paper has 4. A larger share holds the smaller ones.
    protocol : {"our reconstruction", "held out", None}
        Score on all questions, or only on those that were not trained on; None: both, and the trained ones too.

    Returns
    -------
    DataFrame
        Columns ``target``, ``share``, ``seed``, ``part`` ("seen", "unseen" or "all"), ``questions`` (how many were
        scored), ``accuracy``, ``cost``, ``imitation``, and on the same questions ``fixed`` (the paper's Fixed-b),
        ``mix`` (the best random mix at the realised cost) and ``oracle`` (in-sample). Nothing is unseen at a share of
        1, and there is no such row.
    """
    if protocol not in _PARTS:
        raise ValueError(f'protocol is {protocol!r}; choose "our reconstruction", "held out" or None')
    n, acc, paid = table.n, table.acc, np.broadcast_to(table.cost, table.acc.shape)
    sizes = {share: round(share * n) for share in shares}
    if not sizes or min(sizes.values()) < 1 or max(sizes.values()) > n:
        raise ValueError(f"shares are {tuple(shares)}; give numbers up to 1, each worth at least one question of {n}")
    inputs = pd.DataFrame(features)
    best = {target: bisect(table.acc, table.cost, target).labels for target in targets}
    same = {target: baselines.fixed(table.cost, target, n).expected(table.acc) for target in targets}
    jobs = [(target, share, seed) for target in targets for share in sizes for seed in range(seeds)]

    def run(job: tuple[float, float, int]) -> list[dict]:
        target, share, seed = job
        train = np.random.default_rng(seed).permutation(n)[: sizes[share]]
        labels = best[target]
        predicted = LabelPolicy(seed=seed).fit_labels(inputs.iloc[train], labels[train]).predict(inputs)
        parts = {"seen": train, "unseen": np.setdiff1d(np.arange(n), train), "all": np.arange(n)}
        found = []
        for part in _PARTS[protocol]:
            rows = parts[part]
            if not rows.size:
                continue
            cost, accuracy, over = _scored(from_labels(predicted[rows], table.k), acc[rows], paid[rows])
            found.append(
                {
                    "target": target,
                    "share": share,
                    "seed": seed,
                    "part": part,
                    "questions": rows.size,
                    "accuracy": accuracy,
                    "cost": cost,
                    "imitation": (predicted == labels)[rows].mean(),
                    "fixed": same[target][rows].mean(),
                    "mix": accuracy - over.mean(),
                    "oracle": acc[rows, labels[rows]].mean(),
                }
            )
        return found

    return pd.DataFrame([row for rows in side_by_side(run, jobs) for row in rows])


def held_out_curve(
    responses: Responses,
    targets: Sequence[float] = (2.0,),
    shares: Sequence[float] = (0.1, 0.25, 0.5, 1.0),
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    features: ArrayLike | None = None,
    folds: int = 5,
    seed: int = 0,
) -> pd.DataFrame:
    """Learning curves of the label and the curve policy by the held-out protocol, with a noise control.

    The questions are dealt into folds, the answers into halves. Policies learn a share of the questions of the other
    folds, from one half of the answers; every question is scored once a half, on the other answers. Explained in
    chapter 9, "Ablations".

    Parameters
    ----------
    responses : Responses
        With at least twice as many answers a question as the largest budget.
    targets : sequence of float
        Average costs to aim for.
    shares : sequence of float
        Shares of the training questions to learn from, in (0, 1].
    budgets : sequence of int
        Numbers of answers on offer.
    features : DataFrame or array_like, shape (N, d), optional
        Default: `adalib.text_features`.
    folds : int
    seed : int
        Deals questions and answers.

    Returns
    -------
    DataFrame
        Columns ``policy`` ("label", "curve", "noise": the label policy on noise), ``target``, ``share``, ``questions``
        (trained on, in the mean), ``cost``, ``accuracy``, and ``gain``, ``low``, ``high``: over the best random mix at
        the realised cost, with a 95% interval over questions.
    """
    check_halves(responses, budgets, 1)
    n, alone = responses.n, np.arange(responses.n)
    inputs = pd.DataFrame(text_features(responses.questions) if features is None else features).reset_index(drop=True)
    order, fold = np.random.default_rng(seed).permutation(n), deal(alone, folds, seed)
    halves = [Half(half, half.table(budgets)) for half in compared(responses).split_samples(seed)]
    targets = check_targets(targets, halves[0].table.cost)
    learners = {"label": LabelPolicy(seed=seed), "curve": CurvePolicy(seed=seed)}
    names, rows = [*learners, "noise"], []
    for share in shares:
        parts = []
        for out in np.unique(fold):
            others = order[fold[order] != out]
            parts.append(Fold(others[: max(round(share * others.size), 2)], np.flatnonzero(fold == out), inputs))
        tally = Tally(names)
        for number, (teach, score) in enumerate((halves, halves[::-1])):
            noise = noise_features(n, inputs.shape[1], seed=1000 * seed + number)
            found = learned(teach, score, targets, parts, alone, learners, [(LabelPolicy(seed=seed), noise)])
            tally.add_learned(found, oracles_at(teach.table, targets), score.table)
        size = float(np.mean([part.train.size for part in parts]))
        for row in sorted(tally.rows(alone), key=lambda row: names.index(row.policy)):
            at = row.cost, row.accuracy, row.gain, row.gain_low, row.gain_high
            rows.append((row.policy, row.target, share, size, *at))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _scored(plan: Plan, acc: np.ndarray, paid: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Cost, accuracy, and each question's gain over the best mix at that cost."""
    cost, value = plan.expected(paid).mean(), plan.expected(acc)
    return cost, value.mean(), value - best_mix(acc, paid, cost).expected(acc)
