"""Compute what the chapter on checked answers quotes: caps held out, and the paper's recipe.

The result is data/recorded/checked.jsonl. A part is a set with its questions held out, every policy
at every target; the part "recipe" plans numbers of attempts to MATH with Qwen2.5-7B as the paper
does, at three on average, from the fifteen features, with the level, and from random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from recording import main

import adalib
from adalib.datasets.folds import deal
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.checked import checked_rows
from adalib.evaluate.intervals import mean_interval
from adalib.learn.features import text_values
from adalib.learn.trees import regressor
from adalib.solve.frontier import frontier

#: The sets by their parts, and the attempts on average that are aimed for.
SETS = {
    "codecontests": (("codecontests",), (10, 100)),
    "game24-cot": (("game24-cot",), (10,)),
    "math-qwen7b": (("math-qwen7b",), (1.5, 4)),
    "gsm8k-gpt4omini": (("gsm8k-gpt4omini",), (1.2, 2)),
    "gsm8k-qwen15": (("gsm8k-qwen15", "gsm8k-more-qwen15"), (1.5, 2, 4)),
    "math-qwen15": (("math-qwen15", "math-more-qwen15"), (1.5, 2, 4)),
}
BUDGET = 3
MOST = 24  # attempts that may be planned for one question
_FOLDS = 5


def together(names: tuple[str, ...]) -> adalib.Passes:
    """The questions of several sets of one model."""
    parts = [adalib.load_passes(name) for name in names]
    texts = [part.questions for part in parts]
    return adalib.Passes(
        np.concatenate([part.passed for part in parts]),
        np.concatenate([part.attempts for part in parts]),
        None if None in texts else [one for part in texts for one in part or ()],
        [name for part in parts for name in part.ids or ()],
        source=names[0],
    )


def held_out(names: tuple[str, ...], targets: tuple[float, ...]) -> Iterator[dict]:
    """The rows of one set."""
    passes = together(names)
    for row in checked_rows(passes, targets):
        figures = ("cost", "accuracy", "low", "high", "mix_accuracy", "gain", "gain_low")
        kept = {name: round(float(getattr(row, name)), 5) for name in (*figures, "gain_high")}
        yield {"policy": row.policy, "target": row.target, "questions": passes.n, **kept}


def recipe() -> Iterator[dict]:
    """Numbers of attempts planned from predicted curves, with no stopping, against any number."""
    answers = adalib.load("math-qwen7b")
    passes = adalib.Passes.of(answers)
    text = text_values(answers.questions)
    level = np.array(answers.levels, dtype=float)[:, None]
    known = {
        "features": text,
        "features and level": np.hstack([text, level]),
        "random numbers": noise_features(passes.n).to_numpy(),
    }
    budgets = np.arange(MOST + 1)
    rng = np.random.default_rng(0)
    knows, scores = passes.halves(rng)
    outcomes = {"oracle": _planned(knows.solved(budgets), scores.solved(budgets))}
    acc = passes.solved(budgets)
    fold = deal(np.arange(passes.n), _FOLDS, 0)
    for name, features in known.items():
        curves = np.empty_like(acc)
        for out in range(_FOLDS):
            model = regressor(0).fit(features[fold != out], acc[fold != out])
            curves[fold == out] = model.predict(features[fold == out]).clip(0, 1)
        outcomes[name] = _planned(curves, acc)
    for name, (cost, solved) in outcomes.items():
        bar = _same_for_all(acc, cost.mean())
        gain = mean_interval(solved - bar)
        figures = {"gain": gain.mean, "gain_low": gain.low, "gain_high": gain.high}
        figures |= {"cost": cost.mean(), "accuracy": solved.mean()}
        kept = {key: round(float(value), 5) for key, value in figures.items()}
        yield {"policy": name, "target": BUDGET, **kept}


def _planned(curves: np.ndarray, acc: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What numbers planned on some curves cost, and what they solve by others."""
    labels = frontier(curves, np.arange(curves.shape[1]) + 1e-9).at(BUDGET).labels
    return labels.astype(float), acc[np.arange(len(acc)), labels]


def _same_for_all(acc: np.ndarray, cost: float) -> np.ndarray:
    """The same number for all questions, two neighbours by lot, at this cost."""
    low = int(cost)
    return (low + 1 - cost) * acc[:, low] + (cost - low) * acc[:, low + 1]


if __name__ == "__main__":
    held = [(name, partial(held_out, *what)) for name, what in SETS.items()]
    main(checked=[("recipe", recipe), *held])
