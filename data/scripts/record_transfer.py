"""Does last month's router still hold? A policy fitted on one set of answers and used on another.

It writes data/recorded/transfer.jsonl. Priced stopping moves to another benchmark, another model or
another temperature, and is used as it is, or fitted again on a hundred questions from there. At
home it learns from two thirds of the new questions. Every question is scored by policies that never
saw it, neither there nor at the old place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from recording import main

import adalib
from adabook.recorded import figures
from adalib.datasets.folds import deal
from adalib.datasets.responses import SAMPLED, Responses
from adalib.evaluate.learners import Fold, Half, Round, run_folds
from adalib.evaluate.scores import Outcome, Scores
from adalib.sequential.alike import Alike
from adalib.sequential.priced_stopping import PricedStopping

MOVES = {
    "gsm8k-qwen15": ("math-qwen15", "gsm8k-qwen05"),
    "math-qwen15": ("gsm8k-qwen15", "math-qwen05"),
    "gsm8k-qwen05": ("gsm8k-qwen15",),
    "math-qwen05": ("math-qwen15",),
    "word-fewshot": ("word-hot",),
    "word-hot": ("word-fewshot",),
}
TARGET = 4
REFIT = 100  # questions from the new place
WAYS = ("as it is", "refit", "home")


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    for old, places in MOVES.items():
        for new in places:
            yield f"{old} to {new}", partial(moved, adalib.load(old), adalib.load(new))


def moved(old: Responses, new: Responses, ways: Sequence[str] = WAYS) -> list[dict]:
    """Score the policy on the new answers, a row per way, with the share of the budget missed."""
    answers = stacked(old, new)
    table = answers.table()
    everyone = Alike.of_tables([answers.table(range(1, answers.samples + 1))])
    both = Half(answers, table, "samples", table, everyone)
    half = new.samples // 2
    rows = []
    for way in ways:
        folds = list(ways_to_learn(old, new, answers.questions, way))
        tried = Round(both, both, [("priced", PricedStopping(exact=True))])
        [found] = run_folds([tried], [TARGET], folds, np.arange(answers.n))
        scores = Scores(["priced"])
        alike = Alike(everyone.cost[old.n :, :half], everyone.accuracy[old.n :, :half])
        outcome = Outcome(found.cost[0, 0, old.n :], found.accuracy[0, 0, old.n :])
        scores.add("priced", TARGET, outcome, alike)
        (row,) = scores.rows(np.arange(new.n))
        rows.append({"way": way, **figures(row), "missed": round(row.cost - row.target, 5)})
    return rows


def ways_to_learn(old: Responses, new: Responses, texts: Sequence[str], way: str) -> Iterator[Fold]:
    """Return three folds of the new questions; row numbers count the old questions first."""
    fold = deal(np.arange(new.n), 3)
    known = adalib.text_features(texts)
    for out in range(3):
        test = np.flatnonzero(fold == out)
        scored = {new.ids[i] for i in test.tolist()}
        before = np.array([i for i, name in enumerate(old.ids) if name not in scored])
        there = np.random.default_rng(out).permutation(np.flatnonzero(fold != out))
        some = old.n + np.sort(there[:REFIT])
        most = old.n + np.sort(there)
        train = {"as it is": before, "refit": some, "home": most}[way]
        embedding = adalib.TextEmbedding(4).fit([texts[i] for i in train])
        yield Fold(train, old.n + test, pd.concat([known, embedding.transform(texts)], axis=1))


def stacked(old: Responses, new: Responses) -> Responses:
    """Both sets of answers as one, the old questions first; answers are class numbers."""
    pair = old, new
    return Responses(
        ids=[f"{place}:{name}" for place, one in enumerate(pair) for name in one.ids],
        questions=[text for one in pair for text in one.questions],
        golds=[gold for one in pair for gold in one.golds],
        answers=[
            ["" if c < 0 else str(c) for c in row] for one in pair for row in one.classes.tolist()
        ],
        correct=np.vstack([one.values for one in pair]),
        **{name: np.vstack([getattr(one, name) for one in pair]) for name in SAMPLED[1:]},
    )


if __name__ == "__main__":
    main(transfer=parts())
