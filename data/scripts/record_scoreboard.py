"""Score the eight policies of the book's scoreboard; the result is data/recorded/scoreboard.jsonl.

GPT-4o-mini on GSM8K at three answers per question, in five deals. Policies, deals and gains are
those of ``record_models.py``. Beside them stand the tokens of the answers that a policy takes:
those of as many average answers to a question if it decides before it asks, and those of the
answers that it read if it watches. ``held`` is the policy ``watching`` as a server runs it: the
questions of a fold come four times each, in random order, and the price moves with what they cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from recording import DEALS, Part, main

from adabook.recorded import figures
from adabook.scoreboard import BUDGET, ROWS, SET
from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix, from_labels, noise_features
from adalib.evaluate.crossfit import with_class_numbers
from adalib.evaluate.heldout import Protocol, held_out, oracles_at
from adalib.evaluate.learners import Policy, Questions, WithFeatures, outcomes
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.priced import LEAST
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.replay import REPLAYS
from adalib.serve.budget import BudgetController

_VISITS = 4  # of each question to its fold's server, which so meets about a thousand


def parts() -> Iterator[Part]:
    """Yield the name of a deal, and a function that computes its rows."""
    for seed in DEALS:
        yield f"deal {seed}", partial(rows_of, seed)


def rows_of(seed: int, names: Sequence[str] = tuple(ROWS)) -> list[dict]:
    """Score the policies of these names in one deal."""
    answers = with_class_numbers(load(SET))
    learners = {name: one for name, one in all_learners(answers, seed).items() if name in names}
    rows = held_out(
        answers,
        [BUDGET],
        # Names of their own, since `held_out` has a noise of its own.
        learners={f"learner {name}": one for name, one in learners.items()},
        features=text_features(answers.questions),
        noises=0,
        protocol=Protocol(seed=seed),
    )
    kept = {row.policy.removeprefix("learner "): figures(row) for row in rows}
    tokens = tokens_of_plans(answers, seed)
    tokens |= {name: np.concatenate(one.tokens).mean() for name, one in learners.items()}
    return [
        {**kept[name], "policy": name, "tokens": round(float(tokens[name]), 3)} for name in names
    ]


def all_learners(answers: Responses, seed: int) -> dict[str, Any]:
    """Return what `held_out` does not bring with it: each keeps the ``tokens`` of every trial."""
    trees = LabelPolicy(seed=seed)
    return {
        "one": Before(OneEach()),
        "recipe": Before(trees),
        "noise": Before(Noise(trees, answers, seed)),
        "curves": Before(CurvePolicy(seed=seed)),
        "watching": Watching(by_the_mix),
        "held": Watching(partial(by_the_debt, seed)),
    }


def tokens_of_plans(answers: Responses, seed: int) -> dict[str, float]:
    """Return the tokens per question of the oracle and the mix, chosen on one half of the answers.

    They are those of the other half, both ways round.
    """
    found: dict[str, list[np.ndarray]] = {"oracle": [], "mix": []}
    for teach, score in permutations(answers.split_samples(seed)):
        table = teach.table()
        ((_, labels),) = oracles_at(table, [BUDGET])
        plans = {
            "oracle": from_labels(labels, table.k),
            "mix": best_mix(table.acc, table.cost, BUDGET),
        }
        for name, plan in plans.items():
            found[name].append(plan.expected(table.cost) * score.tokens.mean(axis=1))
    return {name: float(np.mean(halves)) for name, halves in found.items()}


class OneEach:
    """A plan of one answer to every question."""

    def fit(self, features: pd.DataFrame, table: Any) -> OneEach:
        """Learn nothing."""
        return self

    def predict(self, features: pd.DataFrame) -> np.ndarray:
        """Return the first column for every question."""
        return np.zeros(len(features), dtype=int)


class Noise:
    """Random numbers in place of the text, other ones for each half, as `held_out` draws them."""

    def __init__(self, policy: LabelPolicy, answers: Responses, seed: int) -> None:
        self.first, _ = answers.split_samples(seed)
        self.policies = [
            WithFeatures(policy, noise_features(answers.n, seed=1000 * seed + number).astype("f4"))
            for number in range(2)
        ]

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, ...]]:
        """Learn from the noise of the half that teaches."""
        rows = train.features.index.to_numpy()
        first_teaches = np.array_equal(train.answers.tokens, self.first.tokens[rows])
        return self.policies[0 if first_teaches else 1].trial(train, test, targets)


class Before:
    """A policy that decides before it asks, and the tokens of that many average answers."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.tokens: list[np.ndarray] = []

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, ...]]:
        """Try the policy at a single target."""
        (cost,), (accuracy,), *_ = outcomes("planned", self.policy, train, test, targets)
        self.tokens.append(cost * test.answers.tokens.mean(axis=1))
        return [(cost, accuracy)]


#: Turns a policy, a budget and what each of its members takes and scores, an array (figures,
#: questions, orders, members), into those figures of every question.
Decide = Callable[[PricedStopping, float, np.ndarray], np.ndarray]


class Watching:
    """Stopping by votes, and the tokens of the answers that it read."""

    def __init__(self, decide: Decide) -> None:
        self.decide = decide
        self.tokens: list[np.ndarray] = []

    def trial(
        self, train: Questions, test: Questions, targets: Sequence[float]
    ) -> list[tuple[np.ndarray, ...]]:
        """Learn from ``train``, and play the answers of ``test`` back by every member."""
        (target,) = targets
        policy = PricedStopping(("votes",)).fit(train.answers, train.features, train.groups)
        streams = policy.streams(test.answers, 1, REPLAYS)
        stops, right = policy.play(policy.members, streams)
        answers = policy.schedule[stops]
        spent = np.asarray(streams.read("tokens")).cumsum(axis=1)
        tokens = np.take_along_axis(spent, answers - 1, axis=1)
        played = np.stack([answers, right, tokens])
        by_question = played.reshape(3, test.answers.n, -1, len(policy.members))
        cost, accuracy, tokens = self.decide(policy, target, by_question)
        self.tokens.append(tokens)
        return [(cost, accuracy)]


def by_the_mix(policy: PricedStopping, budget: float, played: np.ndarray) -> np.ndarray:
    """Let the policy's mix of two members decide, in all orders."""
    mix = policy.mix(budget)
    low, high = played[..., mix.low], played[..., mix.high]
    return ((1 - mix.share) * low + mix.share * high).mean(axis=-1)


def by_the_debt(seed: int, policy: PricedStopping, budget: float, played: np.ndarray) -> np.ndarray:
    """Let a price that moves decide, while questions come one by one, each in a random order."""
    _, n, orders, _ = played.shape
    rng = np.random.default_rng(seed)
    questions = rng.permutation(np.repeat(np.arange(n), _VISITS))
    controller = BudgetController(budget, policy.price(budget), low=LEAST / policy.unit)
    met = np.zeros((len(played), n))
    for question, order in zip(questions, rng.integers(orders, size=questions.size), strict=True):
        member = policy.at_price(controller.price)
        taken = played[:, question, order, member]
        controller.open(policy.costs[member])
        controller.close(policy.costs[member], taken[0])
        met[:, question] += taken
    return met / _VISITS


if __name__ == "__main__":
    main(scoreboard=parts())
