"""Train what the chapters on the paper and the referee need.

The result is data/recorded/paper.jsonl.

Tests train a part of it again, which must agree. A line is a held-out row, a row of a table, or the
columns that a trained model chose, a digit each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    Responses,
    noise_features,
    text_features,
)
from adalib.datasets.folds import deal
from adalib.evaluate.crossfit import check_halves, with_class_numbers
from adalib.evaluate.heldout import add_learned, check_targets, oracles_at
from adalib.evaluate.learners import Fold, Half, Round, WithFeatures, run_folds, side_by_side
from adalib.evaluate.scores import Scores

Part = tuple[str, Callable[[], list[dict]]]

THREE = {
    "label": LabelPolicy(),
    "weighted label": LabelPolicy(weighted=True),
    "curve": CurvePolicy(),
}
CURVE = {"learners": {"curve": CurvePolicy()}, "noises": 0}
TREES = ("logistic", "forest", "gbm")
FRONT = (1, 1.5, 2, 3, 4, 6, 8, 12)


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
    """Compute what "Learning" needs on word-fewshot."""
    word = answers("word-fewshot")
    whole = partial(held, word, (*THREE, "noise", "oracle"), THREE, learners=THREE)
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
    """Compute what "Learning" and "Results" need on the paper's benchmarks."""
    for name in BENCHMARKS:
        yield f"{name} reconstructed, noise", partial(reconstructed, name)
        yield f"{name} held out", partial(on_benchmark, name, (1.2, *TARGETS, 4.0), THREE, noises=2)
        yield (
            f"{name} along the grid",
            partial(on_benchmark, name, FRONT, {"curve": CurvePolicy()}, noises=0),
        )


def reconstructed(name: str) -> list[dict]:
    """Run the paper's five methods by our reconstruction, on noise, with 48 answers each."""
    half, _ = answers(name).split_samples(0)
    rows = paper.reconstructed(half, TARGETS, features=adalib.noise_features(half.n))
    return [asdict(row) for row in rows]


def on_benchmark(name: str, targets: Sequence[float], learners: dict, noises: int) -> list[dict]:
    """Return held-out rows with priced stopping among the learners; gains have six digits."""
    rows = adalib.held_out(
        answers(name),
        targets,
        learners=learners | {"priced": PricedStopping(exact=True)},
        noises=noises,
    )
    return [
        plain(row, row.policy in (*learners, "oracle", "priced") and noises > 0, digits=6)
        for row in rows
    ]


def ablations() -> Iterator[Part]:
    """Compute what "Patterns and ablations" needs."""
    simulated = paper.ablations.simulated_pool()
    yield "simulated pool by row", partial(trials, simulated, "row")
    yield "simulated pool by question", partial(trials, simulated, "question")
    yield "deepseek-v3-math, growing shares", partial(shares, "deepseek-v3-math")


MATH = ("math-qwen15", "math-qwen05")


def on_math() -> Iterator[Part]:
    """Compute "Patterns and ablations" on MATH: two models pooled, growing shares, importances."""
    math = answers(MATH[0])
    blind = adalib.noise_features(answers(MATH[0]).n, 15)
    for kind, pooled in (
        ("text", paper.ablations.real_pool(MATH)),
        ("noise", paper.ablations.real_pool(MATH, blind)),
    ):
        for split in ("row", "question"):
            yield f"MATH, {kind} by {split}", partial(trials, pooled, split)
        yield f"MATH, {kind} in folds", partial(trials, pooled, "fold", 5, TREES)
    yield "math-qwen15, growing shares", partial(shares, MATH[0])
    for name in BENCHMARKS:
        yield (
            f"{name}, held-out shares",
            partial(frame, held_out_curve, answers(name), shares=(0.1, 0.3, 1.0)),
        )
    table = utility(MATH[0])
    known = adalib.text_features(math.questions, math.entropy[:, 0])
    labels = adalib.frontier(table.acc, table.cost).at(2).labels
    yield "importances on MATH", partial(frame, importances, known, labels)


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
    """Compute held-out learning curves of the label and the curve policy, with a noise control.

    The questions are dealt into folds, the answers into halves. Policies learn a share of the
    questions of the other folds, from one half of the answers; every question is scored once a
    half, on the other answers."""
    check_halves(responses, budgets, 1)
    n = responses.n
    alone = np.arange(responses.n)
    inputs = pd.DataFrame(
        text_features(responses.questions) if features is None else features
    ).reset_index(drop=True)
    order = np.random.default_rng(seed).permutation(n)
    fold = deal(alone, folds, seed)
    halves = [
        Half(half, half.table(budgets))
        for half in with_class_numbers(responses).split_samples(seed)
    ]
    targets = check_targets(targets, halves[0].table.cost)
    learners = {"label": LabelPolicy(seed=seed), "curve": CurvePolicy(seed=seed)}
    names = [*learners, "noise"]
    rows = []
    columns = ["policy", "target", "share", "questions", "cost", "accuracy", "gain", "low", "high"]
    for share in shares:
        parts = []
        for out in np.unique(fold):
            others = order[fold[order] != out]
            parts.append(
                Fold(
                    others[: max(round(share * others.size), 2)],
                    np.flatnonzero(fold == out),
                    inputs,
                )
            )
        scores = Scores(names)
        for number, (teach, score) in enumerate((halves, halves[::-1])):
            noise = noise_features(n, inputs.shape[1], seed=1000 * seed + number)
            tried = [*learners.items(), ("noise", WithFeatures(LabelPolicy(seed=seed), noise))]
            [found] = run_folds([Round(teach, score, tried)], targets, parts, alone)
            add_learned(scores, names, found, oracles_at(teach.table, targets), score.table)
        size = float(np.mean([part.train.size for part in parts]))
        for row in sorted(scores.rows(alone), key=lambda row: names.index(row.policy)):
            at = row.cost, row.accuracy, row.gain, row.gain_low, row.gain_high
            rows.append((row.policy, row.target, share, size, *at))
    return pd.DataFrame(rows, columns=columns)


def frame(make: Callable[..., pd.DataFrame], *arguments, **options) -> list[dict]:
    return make(*arguments, **options).to_dict("records")


def digits(columns) -> str:
    return "".join(map(str, np.asarray(columns)))


def trials(pooled, split: str, splits: int = 10, models=paper.ablations.TRIES) -> list[dict]:
    """What every classifier predicted for the rows that its split held out."""
    made = paper.ablations.classifiers(pooled, split, splits, models).split_runs
    return [
        {"classifier": t.classifier, "number": t.number, "predicted": digits(t.predicted)}
        for t in made
    ]


def shares(name: str) -> list[dict]:
    """What the trees predicted for all questions, by share of them that was trained on."""
    table = utility(name)
    noise = adalib.noise_features(utility(name).n)
    rows = []
    for target, seeds in [(3.0, 8), (1.5, 4), (2.0, 4)]:
        labels = adalib.bisect(table.acc, table.cost, target).labels
        for share in paper.ablations.SHARES:
            for seed in range(seeds):
                train = np.random.default_rng(seed).permutation(table.n)[: round(share * table.n)]
                policy = LabelPolicy(seed=seed).fit_labels(noise.iloc[train], labels[train])
                rows.append(
                    {
                        "target": target,
                        "share": share,
                        "seed": seed,
                        "predicted": digits(policy.predict(noise)),
                    }
                )
    return rows


def parts() -> Iterator[Part]:
    """Yield a name, and a function that computes its rows."""
    yield from learning()
    yield "main table, draw None", paper.results.main_rows
    yield from benchmarks()
    yield from ablations()
    yield from on_math()


if __name__ == "__main__":
    main(paper=parts())
