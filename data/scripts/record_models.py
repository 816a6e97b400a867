"""Ask of every model what the text of a question is worth to it, on equal terms.

The result is data/recorded/models.jsonl, which `adabook.paper.models` reads. The sets are GSM8K and
MATH answered by our 1.5B model, GSM8K by GPT-4o-mini, and MATH by Qwen2.5-7B, of which only counts
of right answers are known: every figure there is computed twice, as if all wrong answers agreed and
as if all differed. All of them have the same features, folds, budgets and five deals. The kinds of
parts are

- "labels and curves", "ranked" and "words": policies that decide before asking, with noise beside
  them;
- "watching": stopping rules, paid in answers and in tokens;
- "taught N": some of these policies with at most N training questions;
- "explained": how much of the variance between questions the text explains, and by which features;
- "concentrated": how few questions hold the improvement;
- "levels": accuracy by level of MATH, next to what the paper prints.

Words need the texts of the questions, which are not bundled. Name files that have ``id`` and
``question``; the texts are found by their hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from recording import DEALS, FEW, main
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, SplineTransformer, StandardScaler

from adabook.paper.counts import bounded_votes, bounds
from adabook.paper.settings import TARGETS, benchmark
from adabook.recorded import figures
from adalib.datasets.files import read_lines
from adalib.datasets.folds import deal, subsample
from adalib.datasets.loading import load, text_hash
from adalib.datasets.responses import QuestionWithFeatures, Responses
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.heldout import TAUGHT, Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.learners import Learner, Planner, Questions, WithFeatures, planned
from adalib.evaluate.scores import HeldOutRow
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.priced_stopping import PricedStopping

#: Numbers of training questions on a common axis, as far as a set has them, besides TAUGHT.
LESSONS = (FEW, 500, 5000)
#: Six features that count what stands on the page, whatever it says.
SURFACE = (
    "prompt_length_chars",
    "prompt_length_words",
    "sentence_count",
    "numbers_count",
    "avg_word_length",
    "unique_word_ratio",
)
_PENALTIES = np.logspace(-1, 3, 9)  # of ridge regression, chosen by the training questions
_TOP = (0.05, 0.1, 0.2, 0.3, 0.5)  # shares of the questions, those that improve most first


@cache
def answers_of(name: str) -> Responses:
    """Return the answers of a set, by its name in the record."""
    if name in ("gsm8k-1.5b", "math-1.5b"):
        return benchmark(name.removesuffix("-1.5b"))
    if name == "gsm8k-gpt4omini":
        return load(name)
    counted = load("math-qwen7b")
    assert isinstance(counted, Responses)
    right = counted.extras["right_hot"] if "hot" in name else None
    return getattr(bounds(counted, right), name.rpartition("-")[2])


#: The sets whose votes are known, and the two ends of those whose votes are not.
VOTED = ("gsm8k-1.5b", "math-1.5b", "gsm8k-gpt4omini")
BOUNDED = ("math-7b-agree", "math-7b-differ", "math-7b-hot-agree", "math-7b-hot-differ")
SETS = (*VOTED, *BOUNDED)


def parts(texts: dict[str, str]) -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the name of a part, and a function that computes its rows."""
    for seed in DEALS:
        for name, family in product(SETS, FAMILIES):
            yield f"{name}, {family}, deal {seed}", partial(before, name, family, texts, seed)
        for name in VOTED:
            yield f"{name}, watching, deal {seed}", partial(watching, name, seed)
            yield f"{name}, watching in tokens, deal {seed}", partial(in_tokens, name, seed)
        for name, most in [(name, most) for name in SETS for most in LESSONS]:
            if "hot" not in name and most < 0.8 * answers_of(name).n:
                compute = partial(taught, name, texts, most, seed)
                yield f"{name}, taught {most}, deal {seed}", compute
    for name in SETS:
        yield f"{name}, explained", partial(explained, name, texts)
        yield f"{name}, concentrated", partial(concentrated, name)
    yield "levels", levels


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
    """Return the paper's classifier, curves by several features, and curves from noise."""
    curve = CurvePolicy(seed=seed)
    others = [column for column in paper.columns if column not in SURFACE]
    noise = noise_features(answers.n, seed=seed).astype("f4")
    return {
        "label": LabelPolicy(seed=seed),
        "curve": curve,
        "curve, surface": WithFeatures(curve, paper[list(SURFACE)]),
        "curve, others": WithFeatures(curve, paper[others]),
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
    """Return ridge regressions on what the text says, level and subject."""
    return dict(linear_learners(answers, texts))


#: Policies that decide before asking, in parts of about the same time.
FAMILIES = {"labels and curves": labels_and_curves, "ranked": ranked, "words": linear}


def linear_learners(answers: Responses, texts: dict[str, str]) -> dict[str, Described]:
    """Return ridge regressions on words, on what ships of the letters, and on levels."""
    words = partial(weighted_words, words_of(answers, texts))
    letters = partial(weighted_letters, answers)
    learners = {"words": Described([words]), "letters": Described([letters])}
    if answers.levels is not None:
        kinds = [
            f"{level} {kind}" for level, kind in zip(answers.levels, subjects(answers), strict=True)
        ]
        kind = partial(columns_of, pd.get_dummies(kinds).to_numpy(dtype=float))
        paper = partial(standardised, text_features(answers.questions).to_numpy())
        learners["level and subject"] = Described([kind])
        learners["all text"] = Described([words, kind, paper])
    return learners


def subjects(answers: Responses) -> list[str]:
    """Return the subject of every question of MATH."""
    return answers.extras["type"]


def words_of(answers: Responses, texts: dict[str, str]) -> np.ndarray:
    """Return the texts of the questions, found by their hash."""
    return np.array([texts[read["text"]] for read in answers.extras["read"]], dtype=object)


#: Turns rows that teach and rows that are scored into two arrays of features.
Describe = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def weighted_words(texts: np.ndarray, train: np.ndarray, test: np.ndarray):
    """Weigh words by TF-IDF, as the training texts have them."""
    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    return words.fit_transform(texts[train]).toarray(), words.transform(texts[test]).toarray()


def weighted_letters(answers: Responses, train: np.ndarray, test: np.ndarray):
    """Weigh the hashed counts of letters that ship with every question."""
    questions = [text for text in answers.questions if isinstance(text, QuestionWithFeatures)]
    counts = np.array([question.ngrams for question in questions])
    letters = TfidfTransformer(sublinear_tf=True)
    first = letters.fit_transform(counts[train]).toarray()
    return first, letters.transform(counts[test]).toarray()


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


def taught(name: str, texts: dict[str, str], most: int, seed: int) -> list[dict]:
    """Score policies that learned from at most so many questions."""
    answers = answers_of(name)
    linear = linear_learners(answers, texts)
    learners: dict[str, Learner | Planner] = {
        "ranked": LabelPolicy(spend="budget", seed=seed),
        "curve": CurvePolicy(seed=seed),
        "letters": linear["letters"],
    }
    if most < TAUGHT:  # a ridge on thousands of words takes time with the cube of the questions
        learners["words"] = linear["words"]
    features = text_features(answers.questions)
    protocol = Protocol(seed=seed, taught=most)
    rows = held_out(
        answers, [2.0], learners=learners, features=features, noises=0, protocol=protocol
    )
    return [row for row in beside_oracle(rows) if row["policy"] in learners]


def explained(name: str, texts: dict[str, str]) -> list[dict]:
    """Find how much of the variance between questions a description explains, held out.

    A prediction is multiplied with two halves of the answers, whose errors are independent. So the
    share is of the questions' true variance, and noise of the answers is in neither part.
    """
    answers = answers_of(name)
    halves = [half.table((1, 16)).acc for half in answers.split_samples(0)]
    fold = deal(np.arange(answers.n), 5)
    paper = text_features(answers.questions)
    smoothed: dict[str, Described] = {
        "fifteen features": Described([partial(columns_of, paper.to_numpy())]),
        "surface": Described([partial(columns_of, paper[list(SURFACE)].to_numpy())]),
        "other features": Described(
            [partial(columns_of, paper.drop(columns=list(SURFACE)).to_numpy())]
        ),
        **{
            column: Described([partial(columns_of, paper[[column]].to_numpy())])
            for column in paper.columns
        },
        "noise": Described([partial(columns_of, noise_features(answers.n).to_numpy())]),
    }
    linear = linear_learners(answers, texts)
    both = [np.column_stack([half[:, 0], half[:, 1] - half[:, 0]]) for half in halves]
    mean = (both[0] + both[1]) / 2
    rows = []
    for policy, description in (*smoothed.items(), *linear.items()):
        predicted = np.empty_like(mean)
        for out in range(5):
            train = subsample(np.flatnonzero(fold != out), TAUGHT, out)
            test = np.flatnonzero(fold == out)
            x, new = description.both(train, test)
            ridge = RidgeCV(_PENALTIES, alpha_per_target=True)
            model = ridge if policy in linear else make_pipeline(*smooth(), ridge)
            predicted[test] = model.fit(x, mean[train]).predict(new)
        for place, quantity in enumerate(("one answer", "improvement")):
            first, second, guess = (values[:, place] for values in (*both, predicted))
            rows.append({"policy": policy, "quantity": quantity} | _share(first, second, guess))
    return rows


def smooth() -> list[Any]:
    """Return the steps to a sum of smooth functions of features, which does not overfit."""
    return [QuantileTransformer(n_quantiles=100), SplineTransformer(n_knots=5, degree=2)]


def _share(first: np.ndarray, second: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return the explained share of the true variance, with an interval over questions."""
    center = (first.mean() + second.mean()) / 2
    variance = (first - center) * (second - center)
    missed = (first - predicted) * (second - predicted)
    share = 1 - missed.mean() / variance.mean()
    # The ratio's error to first order.
    error = (missed - (1 - share) * variance) / variance.mean()
    half = 1.96 * error.std(ddof=1) / np.sqrt(error.size)
    ends = {"explained": share, "low": share - half, "high": share + half}
    spread = {"deviation": np.sqrt(max(variance.mean(), 0.0))}
    return {name: round(float(value), 5) for name, value in (ends | spread).items()}


def concentrated(name: str) -> list[dict]:
    """Find how much of the improvement the questions hold that improve most, and how many can.

    Half of the answers says who improves most, and the other half how much.
    """
    answers = answers_of(name)
    halves = [half.table((1, 16)).acc for half in answers.split_samples(0)]
    gains = [half[:, 1] - half[:, 0] for half in halves]
    right = answers.values.mean(axis=1)
    undecided = float(np.mean((right > 0) & (right < 1)))
    rows = []
    for top in _TOP:
        most = round(top * answers.n)
        held = [
            other[np.argsort(-chosen, kind="stable")[:most]].sum() / other.sum()
            for chosen, other in (gains, gains[::-1])
        ]
        improvement = float(np.mean(gains))
        row = {"top": top, "share": float(np.mean(held)), "improvement": improvement}
        row |= {"undecided": undecided, "falling": float(np.mean(gains[0] < 0))}
        rows.append({key: round(value, 5) for key, value in row.items()})
    return rows


def levels() -> list[dict]:
    """Accuracy of one answer and of votes by level, at both ends; and real votes of eight."""
    counted = load("math-qwen7b")
    assert isinstance(counted, Responses)
    level = np.array(counted.levels)
    counts = {
        "Qwen2.5-7B, T 0.6": (counted.values.sum(axis=1), 50),
        "Qwen2.5-7B, T 1.0": (np.array(counted.extras["right_hot"]), 50),
        "Qwen2.5-Math-7B": (np.array(counted.extras["right_math"]), 50),
        "Qwen2.5-Math-7B, 8": (np.array(counted.extras["right_math_of_8"]), 8),
    }
    rows = []
    for model, (right, samples) in counts.items():
        budgets = [b for b in (1, 2, 4, 8, 16) if b <= samples]
        both = bounded_votes(right, samples, budgets)
        for end, accuracy in zip(("agree", "differ"), both, strict=True):
            rows += _by_level(model, end, level, budgets, accuracy)
    vote = np.array(counted.extras["vote_math_of_8"], dtype=float)[:, None]
    rows += _by_level("Qwen2.5-Math-7B, 8", "real vote", level, [8], vote)
    small = benchmark("math")
    table = small.table()
    assert small.levels is not None
    rows += _by_level("1.5B", "real vote", np.array(small.levels), table.budgets, table.acc)
    return rows


def _by_level(
    model: str, votes: str, level: np.ndarray, budgets: Sequence[int], accuracy: np.ndarray
) -> list[dict]:
    """Return the mean accuracy at every level and over all, with its interval."""
    groups = [(str(name), level == name) for name in sorted(set(level.tolist()))]
    groups.append(("all", np.ones(level.size, dtype=bool)))
    rows = []
    for name, chosen in groups:
        for place, budget in enumerate(budgets):
            found = mean_interval(accuracy[chosen, place])
            ends = {"accuracy": found.mean, "low": found.low, "high": found.high}
            told = {"model": model, "votes": votes, "level": name, "budget": budget}
            told |= {"questions": int(chosen.sum())}
            rows.append(told | {key: round(float(end), 5) for key, end in ends.items()})
    return rows


def read_texts(files: Sequence[str | Path]) -> dict[str, str]:
    """Return the texts of some files of questions, by their hash."""
    lines = [line for path in files for _, line in read_lines(path)]
    return {text_hash(line["question"]): line["question"] for line in lines}


if __name__ == "__main__":
    main(models=lambda files: parts(read_texts(files)))
