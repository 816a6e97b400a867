"""Why does a text help? How much of an improvement a text explains, and by way of what.

The record is data/recorded/texts.jsonl, a row per set of answers. The improvement of a question is
what four more answers add to one. On questions that were not learned from, its variance is
explained by a curve of the difficulty that was predicted from the text, and then by the rest of the
text as well. Beside it stands what predicted accuracy curves gain at three answers per question,
over the same number for everyone.

Questions of one template are held out together. Name files of answers of your own to add them; they
need the texts of their questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from recording import main
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import QuantileTransformer, SplineTransformer

from adabook.headline import over_deals
from adabook.paper.counts import bounds
from adabook.protocol import BOUNDED, VOTED, answers_of
from adabook.protocol import DEALS as RECORDED
from adabook.recorded import recorded
from adalib.datasets.folds import deal, members, subsample
from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import TAUGHT, Protocol, held_out
from adalib.evaluate.intervals import Interval
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.features import text_features, text_values
from adalib.table import NUMBERS

FEW, MANY = 1, 5  # what four more answers add to one
BUDGET = 3.0
DEALS = range(3)  # ways of dealing questions into folds, where no record has more
_COUNTED = 2000  # questions of a set of counts
_FOLDS = 5
_PENALTIES = np.logspace(-1, 4, 11)
#: Whether a rule is made on a set or tried on it: answers of our own models, and of others'.
MADE, TRIED = "made", "tried"


#: Sets by the questions that they answer, with the names that pages give them. Of twins there is
#: one, and no drills, which come from three templates: too few to hold some out.
NAMES = {
    "word": {
        "word-fewshot": "135M, word problems",
        "word-qwen05": "0.5B, word problems",
        "word-qwen15": "1.5B, word problems",
    },
    "story": {"story-qwen05": "0.5B, stories", "story-qwen15": "1.5B, stories"},
    "GSM8K": {
        "gsm8k-qwen05": "0.5B, GSM8K",
        "gsm8k-1.5b": "1.5B, GSM8K",
        "gsm8k-gpt4omini": "GPT-4o-mini, GSM8K",
    },
    "MATH": {
        "math-qwen05": "0.5B, MATH",
        "math-1.5b": "1.5B, MATH",
        "math-7b-agree": "Qwen2.5-7B, MATH, agree",
        "math-7b-differ": "Qwen2.5-7B, MATH, differ",
        "right_hot-agree": "Qwen2.5-7B, hotter, MATH, agree",
        "right_hot-differ": "Qwen2.5-7B, hotter, MATH, differ",
        "right_math-agree": "Qwen2.5-Math-7B, MATH, agree",
        "right_math-differ": "Qwen2.5-Math-7B, MATH, differ",
    },
}


@dataclass(frozen=True)
class Set:
    """A set of answers: its name, its title, whose ``questions`` they are to, and the ``use``."""

    name: str
    title: str
    questions: str
    use: str
    answers: Callable[[], Responses]

    @property
    def groups(self) -> Sequence | None:
        """The template of every question, where questions have one."""
        return self.answers().extras.get("family")


def sets(files: Sequence[str] = ()) -> Iterator[Set]:
    """Yield all sets, and files as further ones that a rule is tried on."""
    for questions, names in NAMES.items():
        for name, title in names.items():
            others = name == "gsm8k-gpt4omini" or name in BOUNDED or name.startswith("right_")
            yield Set(name, title, questions, TRIED if others else MADE, partial(read, name))
    for file in files:
        name = Path(file).name.partition(".")[0]
        yield Set(name, name, name, TRIED, partial(load, file))


def read(name: str) -> Responses:
    """Return the answers of a set; those that only counts are known of have names of their own."""
    counts, _, end = name.partition("-")
    return from_counts(counts, end) if counts.startswith("right_") else answers_of(name)


@cache
def from_counts(name: str, end: str) -> Responses:
    """Return answers with these counts of right ones; the wrong ones all agree, or differ."""
    counted = load("math-qwen7b")
    assert isinstance(counted, Responses)
    counted = counted.take(subsample(np.arange(counted.n), _COUNTED, 0))
    right = np.arange(counted.samples) < np.array(counted.extras[name])[:, None]
    shuffled = np.random.default_rng(0).permuted(right, axis=1).astype(float)
    return getattr(bounds(replace(counted, correct=shuffled)), end)


def measured(one: Set, deals: Sequence[int] = DEALS) -> list[dict]:
    """Return the row of a set."""
    answers = one.answers()
    parts = [explained(answers, one.groups, seed) for seed in deals]
    row = {
        "title": one.title,
        "questions": one.questions,
        "use": one.use,
        "n": answers.n,
        "spread": spread(answers),
    }
    row["told"] = float(np.mean([part["told"] for part in parts]))
    for what in ("difficulty", "text"):
        row[what] = in_points(float(np.mean([part[what] for part in parts])))
    gain, chance = learned(one, deals)
    row |= {"gain": 100 * gain.mean, "gain_low": 100 * gain.low, "gain_high": 100 * gain.high}
    row["chance"] = 100 * chance
    return [{key: round(x, 4) if isinstance(x, float) else x for key, x in row.items()}]


def spread(answers: Responses) -> float:
    """Return the standard deviation of the improvement in points, without the luck of a sample."""
    first, second = (half.table((FEW, MANY)).acc for half in answers.split_samples(0))
    both = [acc[:, 1] - acc[:, 0] for acc in (first, second)]
    return in_points(float(np.cov(*both)[0, 1]))


def in_points(variance: float) -> float:
    """Return a variance of accuracy as points, with the sign that luck may have given it."""
    return float(100 * np.sign(variance) * np.sqrt(abs(variance)))


def explained(answers: Responses, groups: Sequence | None, seed: int = 0) -> dict[str, float]:
    """Return what a text explains of each question's improvement, in the folds of a seed.

    ``told`` is the share of the difficulty's variance. ``difficulty`` and ``text`` are variances of
    the improvement, explained by the difficulty that was predicted, and by that and the rest of the
    text. No prediction saw the question or its template.
    """
    phi = text_values(answers.questions)
    acc = answers.table((FEW, MANY)).acc
    hard, rise = 1 - acc[:, 0], acc[:, 1] - acc[:, 0]
    member = members(answers, groups)
    fold = deal(member, _FOLDS, seed)
    says_hard, by_difficulty, by_text, constant = (np.empty(answers.n) for _ in range(4))
    for out in np.unique(fold):
        test, train = fold == out, subsample(np.flatnonzero(fold != out), TAUGHT, seed)
        says_hard[test] = splines(5).fit(phi[train], hard[train]).predict(phi[test])
        known = unseen(phi[train], hard[train], deal(member[train], _FOLDS, seed))
        # The curve: what the improvement is, where a text looks as hard as this.
        curve = splines(4).fit(known[:, None], rise[train])
        by_difficulty[test] = curve.predict(says_hard[test, None])
        rest = splines(5).fit(phi[train], rise[train] - curve.predict(known[:, None]))
        by_text[test] = by_difficulty[test] + rest.predict(phi[test])
        constant[test] = rise[train].mean()
    # The square that a prediction saves on new questions, against the mean of the old ones.
    saved = {
        what: float(np.mean((rise - constant) ** 2 - (rise - told) ** 2))
        for what, told in (("difficulty", by_difficulty), ("text", by_text))
    }
    return saved | {"told": 1 - float(np.mean((says_hard - hard) ** 2)) / float(hard.var())}


def splines(knots: int) -> Pipeline:
    """Return a regression by one smooth curve per feature, the penalty chosen by its data."""
    curves = SplineTransformer(n_knots=knots, degree=2)
    return make_pipeline(QuantileTransformer(n_quantiles=50), curves, RidgeCV(_PENALTIES))


def unseen(phi: np.ndarray, values: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Predict every question's value by the questions of the other folds."""
    told = np.empty(len(phi))
    for out in np.unique(fold):  # with few templates a fold may be empty
        here = fold == out
        told[here] = splines(5).fit(phi[~here], values[~here]).predict(phi[here])
    return told


def learned(one: Set, deals: Sequence[int]) -> tuple[Interval, float]:
    """Return the gain of predicted curves at three answers, and its deviation over questions.

    Where ``policies.jsonl`` has the gain, it is that one.
    """
    if one.name in (*VOTED, *BOUNDED):
        record = recorded("policies")
        found = [gain_of(record[f"{one.name}, answers, plans, deal {k}"]) for k in RECORDED]
    else:
        found = [held(one, k) for k in deals]
    gain = over_deals(found)
    halves = [(interval.high - interval.low) / 2 for interval in found]
    return gain, float(np.mean(halves)) / 1.96 * np.sqrt(one.answers().n)


def gain_of(rows: Sequence[dict]) -> Interval:
    """Return the recorded gain of predicted curves."""
    (row,) = (row for row in rows if (row["policy"], row["target"]) == ("curve", BUDGET))
    return Interval(row["gain"], row["gain_low"], row["gain_high"])


def held(one: Set, seed: int) -> Interval:
    """Hold predicted curves out."""
    answers = one.answers()
    rows = held_out(
        answers,
        [BUDGET],
        [number for number in NUMBERS if number <= answers.samples // 2],
        learners={"curve": CurvePolicy(seed=seed)},
        features=text_features(answers.questions),
        noises=0,
        protocol=Protocol(seed=seed, groups=one.groups),
    )
    (row,) = (row for row in rows if row.policy == "curve")
    return Interval(row.gain, row.gain_low, row.gain_high)


def parts(files: Sequence[str]) -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the name of a set, and a function that computes its row."""
    for one in sets(files):
        yield one.name, partial(measured, one)


if __name__ == "__main__":
    main(texts=parts)
