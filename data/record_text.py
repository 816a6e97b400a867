"""Score the policies that read a question's text on both benchmarks, over five deals.

The result is data/recorded/text.jsonl, which the chapter "Results and ablations" and the first page
show. Every part is one benchmark, one description of the text and one deal of the questions into
folds and of the answers into halves:

- "fifteen": the paper's features that need no answer; "embedded": with our embedding added;
- "counted" and "reused": all sixteen, the last from one answer, which is either paid for on top
  or opens the vote;
- "weighted": fifteen features and votes weighted by the model's certainty, for the first page, on
  the 300 questions with 96 answers;
- "all questions": our reconstruction of the paper's protocol, with the text and with noise.

Run ``python data/record_text.py`` (about half an hour on two cores; what is there already is kept,
and ``--anew`` begins anew).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from record_headline import DEALS
from record_stopping import weighted_tables

from adabook.paper.results import reconstructed
from adabook.paper.settings import TARGETS, benchmark
from adabook.recorded import STOPS, figures, record
from adalib.datasets.folds import deal
from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix, noise_features
from adalib.evaluate.heldout import PaidFeatures, Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy

BENCHMARKS = ("gsm8k", "math")
BUDGET = 3.0


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the name of a part, and a function that computes its rows."""
    for name in BENCHMARKS:
        answers = benchmark(name)
        noise = noise_features(answers.n)
        yield f"{name}, all questions, text", partial(on_all_questions, answers)
        yield f"{name}, all questions, noise", partial(on_all_questions, answers, noise)
    for seed in DEALS:
        for name in BENCHMARKS:
            answers = benchmark(name)
            few = load(f"{name}-qwen15")
            yield f"{name}, fifteen, deal {seed}", partial(fifteen, answers, seed)
            yield f"{name}, embedded, deal {seed}", partial(embedded, answers, seed)
            yield f"{name}, weighted, deal {seed}", partial(weighted, few, seed)
    for seed in DEALS[:2]:  # two deals show that one answer more is not worth its cost
        for name in BENCHMARKS:
            answers = benchmark(name)
            yield f"{name}, counted, deal {seed}", partial(sixteen, answers, seed, False)
            yield f"{name}, reused, deal {seed}", partial(sixteen, answers, seed, True)


def on_all_questions(answers: Responses, features=None) -> list[dict]:
    """Score the paper's methods by our reconstruction of its protocol."""
    rows = reconstructed(answers, TARGETS, features=features)
    return [
        {"policy": row.method, "target": row.target, "cost": row.cost, "accuracy": row.accuracy}
        for row in rows
    ]


def fifteen(answers: Responses, seed: int) -> list[dict]:
    """Score the paper's classifier, the same one made to spend its budget, and noise."""
    learners = {"label": LabelPolicy(), "ranked": LabelPolicy(spend="budget")}
    features = text_features(answers.questions)
    protocol = Protocol(seed=seed)
    rows = held_out(
        answers, TARGETS, learners=learners, features=features, noises=1, protocol=protocol
    )
    noise = held_out(
        answers,
        [BUDGET],
        learners={"ranked, noise": LabelPolicy(spend="budget")},
        features=noise_features(answers.n, seed=seed),
        noises=0,
        protocol=protocol,
    )
    return [figures(row) for row in (*rows, noise[-1])]


def embedded(answers: Responses, seed: int) -> list[dict]:
    """Score the policies that read the fifteen features and our embedding of the text."""
    learners = {
        "label, embedding": LabelPolicy(),
        "ranked, embedding": LabelPolicy(spend="budget"),
        "curve": CurvePolicy(),
    }
    rows = held_out(answers, [BUDGET], learners=learners, noises=0, protocol=Protocol(seed=seed))
    return [figures(row) for row in rows if row.policy in learners]


def sixteen(answers: Responses, seed: int, reused: bool) -> list[dict]:
    """Score the classifier with all sixteen features, whose last needs one answer.

    That answer is paid for on top of the budget, or opens the vote.
    """
    first, rest = answers.set_aside(0)
    assert first.entropy is not None
    features = text_features(answers.questions, first.entropy[:, 0])
    paid = PaidFeatures(features, first=first) if reused else PaidFeatures(features, overhead=1.0)
    learners = {"label": LabelPolicy(), "ranked": LabelPolicy(spend="budget")}
    rows = held_out(
        rest, [BUDGET], learners=learners, features=paid, noises=0, protocol=Protocol(seed=seed)
    )
    return [figures(row) for row in rows if row.policy in learners]


def weighted(answers: Responses, seed: int) -> list[dict]:
    """Score the ranked classifier with votes weighted by certainty, over the mix of such votes.

    The policy gives 1, 2, 4, 8 or 16 answers, and the mix may give any number up to 40.
    """
    fine_menu = [stop for stop in STOPS if 2 * stop <= answers.samples]
    features = text_features(answers.questions).to_numpy()
    fold = deal(np.arange(answers.n), 5, seed)
    gains = np.zeros(answers.n)
    cost = 0.0
    few = weighted_tables(answers, (1, 2, 4, 8, 16), seed)
    many = weighted_tables(answers, fine_menu, seed)
    for (choose, score, _), (_, fine, _) in zip(few, many, strict=True):
        columns = np.empty(answers.n, dtype=int)
        for out in np.unique(fold):
            train = fold != out
            policy = LabelPolicy(spend="budget")
            policy.fit(features[train], choose.acc[train], choose.cost, budget=BUDGET)
            columns[~train] = policy.predict(features[~train])
        right = score.acc[np.arange(answers.n), columns]
        spent = float(score.cost[columns].mean())
        mix = best_mix(fine.acc, fine.cost, spent).expected(fine.acc)
        gains += (right - mix) / 2
        cost += spent / 2
    found = mean_interval(gains)
    ends = {"gain": found.mean, "gain_low": found.low, "gain_high": found.high, "cost": cost}
    return [
        {"policy": "ranked", "target": BUDGET}
        | {name: round(float(value), 5) for name, value in ends.items()}
    ]


if __name__ == "__main__":
    record("text", parts(), anew="--anew" in sys.argv)
