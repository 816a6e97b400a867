"""How many labelled questions a policy needs: trained on a growing share, scored on all parts.

In the paper's figure accuracy is drawn on all questions, where two things grow at once: what the
model can generalise from, and how much of the test it has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adabook.paper.results import recorded_part
from adabook.paper.settings import TARGETS, utility
from adalib.evaluate import baselines
from adalib.evaluate.baselines import best_mix, from_labels
from adalib.evaluate.learners import side_by_side
from adalib.learn.label_policy import LabelPolicy
from adalib.solve.bisection import bisect
from adalib.table import UtilityTable

#: The shares of the training data that the paper's figure shows.
SHARES = (0.1, 0.2, 0.25, 0.4, 0.6, 0.8, 1.0)

Job = tuple[float, float, int]  # target, share and seed


def learning_curve(
    table: UtilityTable,
    features: ArrayLike,
    targets: Sequence[float] = TARGETS,
    shares: Sequence[float] = SHARES,
    seeds: int = 4,
) -> pd.DataFrame:
    """Train the label policy on a growing share of the questions; score it on seen and unseen ones.

    One row per target, share, seed and part of the questions: "seen", "unseen" and "all".
    """
    inputs = pd.DataFrame(features)
    labels = {target: bisect(table.acc, table.cost, target).labels for target in targets}

    def train(job: Job) -> np.ndarray:
        target, share, seed = job
        seen = _seen(table, share, seed)
        policy = LabelPolicy(seed=seed).fit_labels(inputs.iloc[seen], labels[target][seen])
        return policy.predict(inputs)

    jobs = list(product(targets, shares, range(seeds)))
    return _scored(table, jobs, side_by_side(train, jobs))


def recorded_curve(
    name: str, targets: Sequence[float] = TARGETS, shares: Sequence[float] = SHARES, seeds: int = 8
) -> pd.DataFrame:
    """Return a `learning_curve` on noise by models that ``record_paper.py`` trained."""
    runs = {
        (run["target"], run["share"], run["seed"]): np.array(list(run["predicted"]), dtype=int)
        for run in recorded_part(f"{name}, growing shares")
    }
    jobs = [job for job in product(targets, shares, range(seeds)) if job in runs]
    return _scored(utility(name), jobs, [runs[job] for job in jobs])


def _seen(table: UtilityTable, share: float, seed: int) -> np.ndarray:
    """The questions that a share trains on."""
    return np.random.default_rng(seed).permutation(table.n)[: round(share * table.n)]


def _scored(
    table: UtilityTable, jobs: Sequence[Job], predicted: Iterable[np.ndarray]
) -> pd.DataFrame:
    """Score a learning curve's predictions on seen, unseen and all questions."""
    every = np.arange(table.n)
    rows = []
    for (target, share, seed), columns in zip(jobs, predicted, strict=True):
        labels = bisect(table.acc, table.cost, target).labels
        fixed = baselines.fixed(table.cost, target, table.n).expected(table.acc)
        seen = _seen(table, share, seed)
        parts = {"seen": seen, "unseen": np.setdiff1d(every, seen), "all": every}
        for part, questions in parts.items():
            if not questions.size:
                continue
            run = {"target": target, "share": share, "seed": seed, "part": part}
            scores = _scores(table, columns, labels, fixed, questions)
            rows.append(run | {"questions": questions.size} | scores)
    return pd.DataFrame(rows)


def _scores(
    table: UtilityTable,
    columns: np.ndarray,
    labels: np.ndarray,
    fixed: np.ndarray,
    questions: np.ndarray,
) -> dict[str, float]:
    """Score the predicted columns on some questions, next to the oracle's labels and Fixed."""
    acc = table.acc[questions]
    cost = np.broadcast_to(table.cost, table.acc.shape)[questions]
    plan = from_labels(columns[questions], table.k)
    mean_cost = plan.expected(cost).mean()
    accuracy = plan.expected(acc)
    gain = accuracy - best_mix(acc, cost, mean_cost).expected(acc)
    return {
        "accuracy": accuracy.mean(),
        "cost": mean_cost,
        "imitation": (columns == labels)[questions].mean(),
        "fixed": fixed[questions].mean(),
        "mix": accuracy.mean() - gain.mean(),
        "oracle": acc[np.arange(questions.size), labels[questions]].mean(),
    }
