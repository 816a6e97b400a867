"""Ask of every model what the text of a question is worth to it, on equal terms.

The result is data/recorded/models.jsonl, which `adabook.paper.models` reads. The sets are GSM8K and
MATH answered by our 1.5B model, GSM8K by GPT-4o-mini, and MATH by Qwen2.5-7B, of which only counts
of right answers are known: every figure there is computed twice, as if all wrong answers agreed and
as if all differed. All of them have the same features, folds, budgets and five deals. The kinds of
parts are

- "labels and curves", "ranked" and "words": policies that decide before asking, with noise beside
  them;
- "watching": stopping rules, paid in answers and in tokens;
- "taught 5000": predicted curves with five times as many training questions.

Words need the texts of the questions, which are not bundled. Name files that have ``id`` and
``question``; the texts are found by their hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from recording import DEALS, main
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adabook.paper.counts import bounds
from adabook.paper.settings import TARGETS, benchmark
from adabook.recorded import figures
from adalib.datasets.files import read_lines
from adalib.datasets.loading import load, text_hash
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.learners import Learner, Planner, Questions, WithFeatures, planned
from adalib.evaluate.scores import HeldOutRow
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.priced_stopping import PricedStopping

_MANY = 5000  # training questions, where a set has them
_PENALTIES = np.logspace(-1, 3, 9)  # of ridge regression, chosen by the training questions


@cache
def answers_of(name: str) -> Responses:
    """Return the answers of a set, by its name in the record."""
    if name in ("gsm8k-1.5b", "math-1.5b"):
        return benchmark(name.removesuffix("-1.5b"))
    if name == "gsm8k-gpt4omini":
        return load(name)
    counted = load("math-qwen7b")
    assert isinstance(counted, Responses)
    return getattr(bounds(counted), name.rpartition("-")[2])


#: The sets whose votes are known, and the two ends of those whose votes are not.
VOTED = ("gsm8k-1.5b", "math-1.5b", "gsm8k-gpt4omini")
BOUNDED = ("math-7b-agree", "math-7b-differ")
SETS = (*VOTED, *BOUNDED)


def parts(texts: dict[str, str]) -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the name of a part, and a function that computes its rows."""
    for seed in DEALS:
        for name, family in product(SETS, FAMILIES):
            yield f"{name}, {family}, deal {seed}", partial(before, name, family, texts, seed)
        for name in VOTED:
            yield f"{name}, watching, deal {seed}", partial(watching, name, seed)
            yield f"{name}, watching in tokens, deal {seed}", partial(in_tokens, name, seed)
        for name in BOUNDED:
            yield f"{name}, taught {_MANY}, deal {seed}", partial(taught, name, seed)


def before(name: str, family: str, texts: dict[str, str], seed: int) -> list[dict]:
    """Score a family of policies that decide before asking, at every budget."""
    answers = answers_of(name)
    features = text_features(answers.questions)
    learners = FAMILIES[family](answers, features, texts, seed)
    noises = int(family == "labels and curves")
    protocol = Protocol(seed=seed)
    rows = held_out(
        answers, TARGETS, learners=learners, features=features, noises=noises, protocol=protocol
    )
    kept = beside_oracle(rows)
    return kept if noises else [row for row in kept if row["policy"] in learners]


def labels_and_curves(
    answers: Responses, paper: pd.DataFrame, texts: dict[str, str], seed: int
) -> dict[str, Learner | Planner]:
    """Return the paper's classifier, predicted curves, and curves from noise."""
    curve = CurvePolicy(seed=seed)
    noise = noise_features(answers.n, seed=seed).astype("f4")
    return {
        "label": LabelPolicy(seed=seed),
        "curve": curve,
        "curve, noise": WithFeatures(curve, noise),
    }


def ranked(
    answers: Responses, paper: pd.DataFrame, texts: dict[str, str], seed: int
) -> dict[str, Learner | Planner]:
    """Return classifiers that are made to spend their budget, trees and a logistic regression."""
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    trees = LabelPolicy(spend="budget", seed=seed)
    noise = noise_features(answers.n, seed=seed).astype("f4")
    return {
        "ranked": trees,
        "logistic": LabelPolicy(logistic, spend="budget", seed=seed),
        "logistic, noise": WithFeatures(LabelPolicy(logistic, spend="budget", seed=seed), noise),
    }


def linear(
    answers: Responses, paper: pd.DataFrame, texts: dict[str, str], seed: int
) -> dict[str, Learner | Planner]:
    """Return ridge regressions on words and, where they are known, on level and subject."""
    words = partial(weighted_words, words_of(answers, texts))
    learners: dict[str, Learner | Planner] = {"words": Described([words])}
    if answers.levels is not None:
        kinds = [
            f"{level} {kind}"
            for level, kind in zip(answers.levels, answers.extras["type"], strict=True)
        ]
        kind = partial(columns_of, pd.get_dummies(kinds).to_numpy(dtype=float))
        learners["level and subject"] = Described([kind])
        learners["all text"] = Described([words, kind, partial(standardised, paper.to_numpy())])
    return learners


#: Policies that decide before asking, in parts of about the same time.
FAMILIES = {"labels and curves": labels_and_curves, "ranked": ranked, "words": linear}


def words_of(answers: Responses, texts: dict[str, str]) -> np.ndarray:
    """Return the texts of the questions, found by their hash."""
    return np.array([texts[read["text"]] for read in answers.extras["read"]], dtype=object)


#: Turns rows that teach and rows that are scored into two arrays of features.
Describe = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def weighted_words(texts: np.ndarray, train: np.ndarray, test: np.ndarray):
    """Weigh words by TF-IDF, as the training texts have them."""
    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    return words.fit_transform(texts[train]).toarray(), words.transform(texts[test]).toarray()


def columns_of(values: np.ndarray, train: np.ndarray, test: np.ndarray):
    """Take some rows of a table as they are."""
    return values[train], values[test]


def standardised(values: np.ndarray, train: np.ndarray, test: np.ndarray):
    """Give every column mean 0 and a small spread, so that it does not outweigh words."""
    scale = StandardScaler().fit(values[train])
    return scale.transform(values[train]) / 4, scale.transform(values[test]) / 4


class Described:
    """Ridge regression of the accuracy curve on descriptions that are learned fold by fold."""

    def __init__(self, descriptions: Sequence[Describe]) -> None:
        self.descriptions = descriptions

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, ...]]:
        """Describe the questions, predict their curves, and let the price decide."""
        rows = train.features.index.to_numpy(), test.features.index.to_numpy()
        first, second = self.both(*rows)
        policy = CurvePolicy(RidgeCV(_PENALTIES))
        return planned(policy, _with(train, first), _with(test, second), targets)

    def both(self, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of rows that teach and of rows that are scored."""
        pairs = [describe(train, test) for describe in self.descriptions]
        first, second = (np.hstack(arrays) for arrays in zip(*pairs, strict=True))
        return first, second


def _with(questions: Questions, values: np.ndarray) -> Questions:
    """Return questions with other features."""
    features = pd.DataFrame(values, index=questions.features.index)
    features.columns = features.columns.astype(str)
    return Questions(features, questions.answers, questions.table, questions.groups)


def beside_oracle(rows: Sequence[HeldOutRow]) -> list[dict]:
    """Return what is recorded of rows: their figures, and their lead over the static oracle."""
    oracle = {row.target: row.gains for row in rows if row.policy == "oracle"}
    kept = []
    for row in rows:
        lead = mean_interval(row.gains - oracle[row.target])
        ends = [round(float(end), 5) for end in (lead.mean, lead.low, lead.high)]
        kept.append({**figures(row), "over_oracle": ends})
    return kept


def watching(name: str, seed: int) -> list[dict]:
    """Score rules that stop while answers come in, on votes alone and on all that the file has."""
    answers = answers_of(name)
    learners = {"votes": PricedStopping(("votes",)), "all signals": PricedStopping()}
    features = text_features(answers.questions)
    protocol = Protocol(seed=seed)
    rows = held_out(
        answers, TARGETS, learners=learners, features=features, noises=0, protocol=protocol
    )
    return [row for row in beside_oracle(rows) if row["policy"] in learners]


def in_tokens(name: str, seed: int) -> list[dict]:
    """Score the same rules where tokens are paid, counted in average answers."""
    answers = answers_of(name)
    assert answers.tokens is not None
    unit = float(answers.tokens.mean())
    learners = {
        "votes": PricedStopping(("votes",), cost="tokens"),
        "all signals": PricedStopping(cost="tokens"),
        # What the rules that count answers really take.
        "votes, paid in answers": InAnswers(PricedStopping(("votes",)), unit),
        "all signals, paid in answers": InAnswers(PricedStopping(), unit),
    }
    features = text_features(answers.questions)
    protocol = Protocol(seed=seed, table=partial(Responses.table, cost="tokens"))
    targets = [target * unit for target in TARGETS]
    rows = held_out(
        answers, targets, learners=learners, features=features, noises=0, protocol=protocol
    )
    kept = [row for row in beside_oracle(rows) if row["policy"] in (*learners, "oracle", "mix")]
    for row in kept:
        row["target"] = round(row["target"] / unit, 6)
        for figure in ("cost", "mix_cost"):
            row[figure] = row[figure] and round(row[figure] / unit, 5)
    return kept


class InAnswers:
    """A stopping rule that counts answers and pays their tokens."""

    def __init__(self, policy: PricedStopping, unit: float) -> None:
        self.policy = policy
        self.unit = unit

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, ...]]:
        """Fit and play the rule in answers, and add up the tokens of those that it took."""
        policy = self.policy
        longest = min(train.answers.samples, test.answers.samples)
        policy = PricedStopping(
            policy.signals, schedule=policy.schedule[policy.schedule <= longest]
        )
        policy.fit(train.answers, train.features, train.groups)
        played = []
        for target in targets:
            budget = max(target / self.unit, float(policy.costs.min()))
            mix = policy.mix(budget)
            shares = np.array([1 - mix.share, mix.share])
            members = [policy.members[mix.low], policy.members[mix.high]]
            streams = policy.streams(test.answers, 1, 48)
            stops, accuracy = policy.play(members, streams, test.features)
            tokens = np.asarray(streams.read("tokens")).cumsum(axis=1)
            paid = np.take_along_axis(tokens, policy.schedule[stops] - 1, axis=1)
            played.append((streams.mean(paid @ shares), streams.mean(accuracy @ shares)))
        return played


def taught(name: str, seed: int) -> list[dict]:
    """Score predicted curves that learned from many questions, at two answers each."""
    answers = answers_of(name)
    learners = {"curve": CurvePolicy(seed=seed)}
    protocol = Protocol(seed=seed, taught=_MANY)
    features = text_features(answers.questions)
    rows = held_out(
        answers, [2.0], learners=learners, features=features, noises=0, protocol=protocol
    )
    return [row for row in beside_oracle(rows) if row["policy"] in learners]


def read_texts(files: Sequence[str | Path]) -> dict[str, str]:
    """Return the texts of some files of questions, by their hash."""
    lines = [line for path in files for _, line in read_lines(path)]
    return {text_hash(line["question"]): line["question"] for line in lines}


if __name__ == "__main__":
    main(models=lambda files: parts(read_texts(files)))
