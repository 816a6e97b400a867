"""Train what the chapters on the paper and the referee need.

The result is data/recorded/paper.jsonl.

Tests train a part of it again, which must agree. A line is a held-out row, a row of a table, or the
columns that a trained model chose, a digit each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from recording import main

import adalib
from adabook import paper
from adabook.paper.settings import BENCHMARKS, TARGETS, answers, utility
from adalib import (
    CurvePolicy,
    LabelPolicy,
    PaidFeatures,
    PricedStopping,
    noise_features,
)
from adalib.evaluate.learners import side_by_side
from adalib.table import PAPER_MENU

Part = tuple[str, Callable[[], list[dict]]]

THREE = {
    "label": LabelPolicy(),
    "weighted label": LabelPolicy(weighted=True),
    "curve": CurvePolicy(),
}
CURVE = {"learners": {"curve": CurvePolicy()}, "noises": 0, "budgets": PAPER_MENU}


def held(responses, policies=("curve",), gains=(), targets=TARGETS, **options) -> list[dict]:
    """Return rows of `adalib.held_out`; every question's gain only for those in ``gains``."""
    rows = adalib.held_out(responses, targets, **options)
    return [plain(row, row.policy in gains) for row in rows if row.policy in policies]


def plain(row, gains: bool, digits: int | None = None) -> dict:
    """A held-out row as numbers."""
    cells = asdict(row)
    every = cells.pop("gains").tolist() if gains else []
    return cells | {"gains": every if digits is None else [round(value, digits) for value in every]}


def learning() -> Iterator[Part]:
    """Compute what paying for a feature needs on word-fewshot."""
    word = answers("word-fewshot")
    whole = partial(
        held, word, (*THREE, "noise", "oracle"), THREE, learners=THREE, budgets=PAPER_MENU
    )
    yield "word-fewshot by question", whole
    first, rest = word.set_aside(0)
    fifteen = adalib.text_features(word.questions)
    sixteen = adalib.text_features(word.questions, first.entropy[:, 0])
    marked, unmarked = word.split_samples(1)
    key = paper.ablations.extra_features(word.questions, single_pass_acc=marked.values.mean(axis=1))
    for part, answered, features in (
        ("entropy not used", rest, PaidFeatures(fifteen, first=first)),
        ("entropy counted", rest, PaidFeatures(sixteen, overhead=1)),
        ("entropy reused", rest, PaidFeatures(sixteen, first=first)),
        ("answer key leaked", unmarked, pd.concat([fifteen, key], axis=1)),
    ):
        yield part, partial(held, answered, features=features, **CURVE)


def benchmarks() -> Iterator[Part]:
    """Compute the reconstruction and the held-out rows on the paper's benchmarks."""
    for name in BENCHMARKS:
        yield f"{name} reconstructed, noise", partial(reconstructed, name)
        yield f"{name} held out", partial(on_benchmark, name)


def reconstructed(name: str) -> list[dict]:
    """Run the paper's five methods by our reconstruction, on noise, with 48 answers each."""
    half, _ = answers(name).split_samples(0)
    rows = paper.reconstructed(half, TARGETS, features=adalib.noise_features(half.n))
    return [asdict(row) for row in rows]


def on_benchmark(name: str) -> list[dict]:
    """Return held-out rows with priced stopping among the learners; gains have six digits."""
    learners = THREE | {"priced": PricedStopping(exact=True)}
    targets = (1.2, *TARGETS, 4.0)
    rows = adalib.held_out(answers(name), targets, PAPER_MENU, learners=learners, noises=2)
    return [plain(row, row.policy in ("oracle", *learners), digits=6) for row in rows]


def ablations() -> Iterator[Part]:
    """Compute what the table of classifiers and the verdict on importances need."""
    yield "simulated pool by row", trials
    math, table = answers("math-qwen15"), utility("math-qwen15")
    known = adalib.text_features(math.questions, math.entropy[:, 0])
    labels = adalib.frontier(table.acc, table.cost).at(2).labels
    yield "importances on MATH", lambda: importances(known, labels).to_dict("records")


def importances(
    features: pd.DataFrame,
    labels: ArrayLike,
    draws: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """Return each feature's share in the gain of the paper's trees, and two references of noise."""
    labels = np.asarray(labels)
    rng = np.random.default_rng(seed)
    mixed = [rng.permutation(labels) for _ in range(draws)]
    blind = [
        noise_features(len(labels), features.shape[1], seed=seed + draw) for draw in range(draws)
    ]
    jobs = [
        (features, labels),
        *((features, other) for other in mixed),
        *((noise, labels) for noise in blind),
    ]
    shares = list(
        side_by_side(
            lambda job: LabelPolicy(seed=seed).fit_labels(*job).importance().to_numpy(), jobs
        )
    )
    shuffled = np.array(shares[1 : 1 + draws])
    noise = np.array(shares[1 + draws :])
    low, high = np.quantile(shuffled, [0.025, 0.975], axis=0)
    table = pd.DataFrame(
        {
            "feature": list(features.columns),
            "importance": shares[0],
            "shuffled_low": low,
            "shuffled_high": high,
            "noise_low": noise.min(axis=1).mean(),
            "noise_high": noise.max(axis=1).mean(),
        }
    )
    return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)


def trials() -> list[dict]:
    """What every classifier predicted for the rows that its split held out, a digit each."""
    pooled = paper.ablations.simulated_pool()
    jobs = [(name, n) for name, most in paper.ablations.TRIES.items() for n in range(most)]
    found = side_by_side(lambda job: paper.ablations.predictions(pooled, *job), jobs)
    return [
        {"classifier": name, "number": number, "predicted": "".join(map(str, columns))}
        for (name, number), columns in zip(jobs, found, strict=True)
    ]


def parts() -> Iterator[Part]:
    """Yield a name, and a function that computes its rows."""
    yield from learning()
    yield "main table", paper.results.main_rows
    yield from benchmarks()
    yield from ablations()


if __name__ == "__main__":
    main(paper=parts())
