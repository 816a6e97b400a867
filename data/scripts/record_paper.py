"""Train what the chapters on learning, results, patterns and the referee need.

The replication table needs it too. The result is data/recorded/paper.jsonl.

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
from adabook.paper.settings import BENCHMARKS, PAPER_WAY, REAL, TARGETS, answers, utility
from adalib import (
    CurvePolicy,
    LabelPolicy,
    PaidFeatures,
    PricedStopping,
    Protocol,
    Responses,
    best_mix,
    noise_features,
    text_features,
)
from adalib.datasets.folds import deal
from adalib.evaluate.crossfit import check_halves, with_class_numbers
from adalib.evaluate.heldout import add_learned, check_targets, oracles_at
from adalib.evaluate.learners import Fold, Half, Round, WithFeatures, run_folds, side_by_side
from adalib.evaluate.scores import HeldOutRow, Scores

Part = tuple[str, Callable[[], list[dict]]]

THREE = {
    "label": LabelPolicy(),
    "weighted label": LabelPolicy(weighted=True),
    "curve": CurvePolicy(),
}
CURVE = {"learners": {"curve": CurvePolicy()}, "noises": 0}
LABEL = {"learners": {"label": LabelPolicy()}, "noises": 0, "protocol": Protocol(folds=3)}
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


def held_out_along(
    responses: Responses, grid: Sequence[float] = paper.results.GRID
) -> list[HeldOutRow]:
    """Compute the curve policy and the baselines along a grid, label imitation at `TARGETS`.

    Label imitation has its noise control.

    The rows are those of `adalib.held_out`, which would train a classifier per budget, and two for
    noise; the curve policy is one model for all budgets."""
    along = sorted({float(budget) for budget in (*grid, *TARGETS)})
    rows = adalib.held_out(responses, along, **CURVE)
    labels = adalib.held_out(responses, TARGETS, learners={"label": LabelPolicy()}, noises=1)
    return rows + [row for row in labels if row.policy in ("label", "noise")]


def along(name: str) -> list[dict]:
    """Compute the rows of "Results", with every question's gain where its verdict needs it.

    Gains have six digits.
    """
    kept = ("oracle", "curve", "label", "noise")
    rows = [row for row in held_out_along(answers(name)) if row.policy in kept]
    return [plain(row, row.target in TARGETS and row.policy != "noise", digits=6) for row in rows]


def learning() -> Iterator[Part]:
    """Compute what "Learning" needs on word-fewshot."""
    word = answers("word-fewshot")
    first, rest = word.set_aside(0)
    marked, unmarked = word.split_samples(1)
    fifteen = adalib.text_features(word.questions)
    sixteen = adalib.text_features(word.questions, first.entropy[:, 0])
    key = paper.ablations.extra_features(word.questions, single_pass_acc=marked.values.mean(axis=1))
    whole = partial(held, word, (*THREE, "noise", "oracle"), THREE, learners=THREE)
    yield "word-fewshot by question", whole
    yield "word-fewshot by family", partial(whole, protocol=Protocol(groups=word.extras["family"]))
    yield "without the embedding", partial(held, word, gains=["curve"], features=fifteen, **CURVE)
    yield (
        "entropy not used",
        partial(held, rest, gains=["curve"], features=PaidFeatures(fifteen, first=first), **CURVE),
    )
    yield (
        "entropy counted",
        partial(held, rest, features=PaidFeatures(sixteen, overhead=1), **CURVE),
    )
    yield (
        "entropy reused",
        partial(held, rest, gains=["curve"], features=PaidFeatures(sixteen, first=first), **CURVE),
    )
    yield (
        "answer key leaked",
        partial(held, unmarked, features=pd.concat([fifteen, key], axis=1), **CURVE),
    )
    yield (
        "answer key not used",
        partial(held, unmarked, ("curve", "oracle"), features=fifteen, **CURVE),
    )


def results() -> Iterator[Part]:
    """Compute what "Results" needs."""
    for seed in (None, 1):
        yield f"main table, draw {seed}", partial(paper.results.main_rows, seed)
    for name in REAL:
        yield f"{name} along the grid", partial(along, name)
    word = answers("word-fewshot")
    yield "word-fewshot in-sample, text", partial(in_sample, "word-fewshot")
    for seed in range(1, 6):
        noise = adalib.noise_features(word.n, seed=seed)
        yield (
            f"noise {seed} held out",
            partial(held, word, ("label",), targets=[3.0], features=noise, **LABEL),
        )
        yield f"noise {seed} in-sample", partial(in_sample, "word-fewshot", noise, (3.0,))
    kept = ("oracle", "curve", "noise")
    apart = Protocol(groups=word.extras["family"])
    one = {"learners": {"curve": CurvePolicy()}, "noises": 1, "protocol": apart}
    yield "one noise by family", partial(held, word, kept, **one)


def benchmarks() -> Iterator[Part]:
    """Compute what "Learning" and "Results" need on the paper's benchmarks."""
    for name in BENCHMARKS:
        for kind in ("text", "noise"):
            yield f"{name} reconstructed, {kind}", partial(reconstructed, name, kind)
        yield f"{name} held out", partial(on_benchmark, name, (1.2, *TARGETS, 4.0), THREE, noises=2)
        yield (
            f"{name} along the grid",
            partial(on_benchmark, name, FRONT, {"curve": CurvePolicy()}, noises=0),
        )


def reconstructed(name: str, kind: str) -> list[dict]:
    """Run the paper's five methods by our reconstruction, from 48 answers per question."""
    half, _ = answers(name).split_samples(0)
    features = adalib.noise_features(half.n) if kind == "noise" else None
    return [asdict(row) for row in paper.reconstructed(half, TARGETS, features=features)]


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


def in_sample_gains(
    responses: Responses, features: ArrayLike | None = None, targets: Sequence[float] = TARGETS
) -> pd.DataFrame:
    """Compare our reconstruction of the learned policy with the best random mix at its cost."""
    table = responses.table(**PAPER_WAY)
    scored = pd.DataFrame(
        map(asdict, paper.reconstructed(responses, targets, features=features))
    ).set_index("method")
    rows = scored.loc[
        ["Ours"], ["target", "accuracy", "accuracy_std", "cost", "imitation"]
    ].reset_index(drop=True)
    rows["fixed"] = scored.loc[["Fixed"], "accuracy"].to_numpy()
    rows["mix"] = [
        best_mix(table.acc, table.cost, cost).expected(table.acc).mean() for cost in rows.cost
    ]
    return rows.assign(gain=rows.accuracy - rows["mix"], imitation=rows.imitation.astype(float))


def in_sample(
    name: str, features: ArrayLike | None = None, targets: Sequence[float] = TARGETS
) -> list[dict]:
    return in_sample_gains(answers(name), features, targets).to_dict("records")


def ablations() -> Iterator[Part]:
    """Compute what "Patterns and ablations" needs."""
    simulated = paper.ablations.simulated_pool()
    real = paper.ablations.real_pool()
    word = answers("word-fewshot")
    families = real.grouped(word.extras["family"])
    yield "simulated pool by row", partial(trials, simulated, "row")
    yield "simulated pool by question", partial(trials, simulated, "question")
    yield "real pool by question", partial(trials, real, "fold", 5, TREES)
    yield "real pool by family", partial(trials, families, "fold", 5, TREES)
    yield "deepseek-v3-math, growing shares", partial(shares, "deepseek-v3-math")
    yield (
        "word-fewshot, growing shares",
        partial(frame, held_out_curve, word, shares=(0.1, 0.3, 1.0)),
    )


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
    yield from results()
    yield from benchmarks()
    yield from ablations()
    yield from on_math()


if __name__ == "__main__":
    main(paper=parts())
