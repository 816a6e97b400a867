"""The bar: what looks at nothing gains nothing, on every bundled set and in worlds drawn anew."""

import random
from dataclasses import replace

import numpy as np
import pytest

from adalib.datasets.loading import bundled, load
from adalib.datasets.menu import Menu
from adalib.datasets.populations import beta_population, two_answer
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.verdict import judgements
from adalib.sequential.alike import Alike, allowances, played_alike
from adalib.sequential.replay import Tried

TWO = Protocol(folds=2)
SETS = [name for name in bundled() if not isinstance(load(name), Menu)]


class Everyone:
    """So many answers for everyone, or a lot between two numbers, scored in expectation."""

    def __init__(self, low, high, share):
        self.numbers, self.shares = (low, high), np.array([1 - share, share])

    def trial(self, train, test, targets):
        acc = np.hstack([test.answers.table([number]).acc for number in self.numbers])
        cost = np.full(len(acc), self.shares @ self.numbers)
        return [Tried(cost, acc @ self.shares) for _ in targets]


class Rule:
    def fit(self, answers):
        self.worth = None if answers.tokens is None else 2.2 * float(np.mean(answers.tokens))
        return self


class Three(Rule):
    def more(self, seen):
        return len(seen) < 3


class Five(Rule):
    def more(self, seen):
        return len(seen) < 5


class Coin(Rule):
    """One or five, by lot for each question."""

    def __init__(self):
        self.lot = random.Random(1)

    def more(self, seen):
        if len(seen) == 1:
            self.most = self.lot.choice((1, 5))
        return len(seen) < self.most


class Allowance(Rule):
    """Another answer while less than 2.2 average answers is spent."""

    def more(self, seen):
        return len(seen) < 8 and sum(one.tokens for one in seen) < self.worth


class FirstInTheFile(Rule):
    """Five answers to the first questions that it meets, one to the others."""

    def __init__(self):
        self.met = 0

    def more(self, seen):
        self.met += len(seen) == 1
        return len(seen) < (5 if self.met <= 90 else 1)  # a half of a fold of two


class Peeks:
    """Stops at the first right answer: a cheat that holds the correct ones."""

    def trial(self, train, test, targets):
        right = test.answers.values > 0
        first = np.where(right.any(axis=1), right.argmax(axis=1), right.shape[1] - 1)
        solved = right.any(axis=1).astype(float)
        return [Tried(np.minimum(first + 1.0, 4.0), solved) for _ in targets]


def rows_of(answers, targets=(3,), protocol=TWO, **learners):
    blank = np.zeros((answers.n, 1))
    rows = held_out(
        answers, targets, (1, 3), learners=learners, features=blank, noises=0, protocol=protocol
    )
    return [row for row in rows if row.policy in learners]


def words(rows):
    return {found.word for found in judgements(rows)}


@pytest.mark.parametrize("name", SETS)
def test_no_number_and_no_lot_of_two_gains(name):
    """In expectation, so that chance excuses nothing; a bar that may not give three is red here."""
    answers = load(name)
    half = answers.samples // 2
    lots = random.Random(0)
    plans = {f"{number}": Everyone(number, number, 0) for number in range(1, min(half, 9) + 1)}
    for _ in range(4):
        low, high = sorted(lots.sample(range(1, half + 1), 2))
        plans[f"{low} or {high}"] = Everyone(low, high, lots.random())
    for row in rows_of(answers, **plans):
        assert row.gain <= 1e-12, row.policy


@pytest.mark.parametrize("name", [name for name in SETS if load(name).tokens is not None])
def test_no_allowance_gains_where_tokens_are_paid(name):
    """Any allowance, also one between those that are tried, by the same play of the answers."""
    half = load(name).split_samples(0)[0]
    most = min(half.samples, 16)
    unit = float(half.tokens.mean())
    numbers = Alike.of_tables([half.table(range(1, most + 1), cost="tokens")])
    tried = played_alike(half, most, allowances(half, most, "tokens"), "tokens")
    bar = numbers.joined(tried)
    some = unit * np.random.default_rng(0).uniform(0.3, 6, 12)
    found = played_alike(half, most, some, "tokens")
    for cost, accuracy in zip(found.cost.mean(axis=0), found.accuracy.mean(axis=0), strict=True):
        assert accuracy <= bar.at(cost).mean() + 2e-4


def test_an_allowance_alone_can_beat_every_number():
    """Where hopeless questions have long answers, the same tokens are no numbers of answers."""
    answers = two_answer(np.repeat([0.7, 0.02], 100)).sample(24)
    tokens = np.repeat([50, 450], 100)[:, None] + np.zeros((200, 24))
    answers = replace(answers, tokens=tokens)
    numbers = Alike.of_tables([answers.table(range(1, 13), cost="tokens")])
    allowed = played_alike(answers, 12, allowances(answers, 12, "tokens"), "tokens")
    at = 2 * tokens.mean()
    assert allowed.at(at).mean() > numbers.at(at).mean() + 0.01


def test_rules_that_look_at_nothing_are_not_told_to_pay():
    """A hundred worlds; a level of 2.5 in a hundred would be passed by five with chance 0.11."""
    told = 0
    for world in range(100):
        answers = beta_population(30, 1.2, 0.8, seed=world).sample(16, seed=world)
        tokens = np.random.default_rng(world).integers(20, 90, (30, 16)) * (2 - answers.values)
        answers = replace(answers, tokens=tokens)
        cost = "tokens" if world % 2 else "samples"
        at = [3 * tokens.mean()] if world % 2 else [3]
        rules = {"three": Three(), "five": Five(), "coin": Coin, "allowance": Allowance()}
        rows = rows_of(answers, at, Protocol(folds=2, cost=cost), **rules)
        told += sum(words([row]) == {"pays"} for row in rows)
    assert told <= 5


def test_a_rule_that_holds_the_correct_answers_is_told_to_pay():
    answers = beta_population(120, 1.2, 0.8).sample(24)
    assert "pays" in words(rows_of(answers, peeks=Peeks()))


def test_the_place_in_the_file_tells_nothing():
    """The questions of this file become harder; in its order the rule would gain 1.8 points."""
    (row,) = rows_of(load("word-fewshot"), place=FirstInTheFile())
    assert row.gain < 0.004


def test_a_planner_does_not_see_the_place_in_the_file():
    indices = []

    class Planner:
        def fit(self, features, table):
            indices.append(features.index)

        def predict(self, features):
            indices.append(features.index)
            return np.zeros(len(features), dtype=int)

    rows_of(beta_population(20, 1, 1).sample(8), planner=Planner())
    assert all(list(index) == list(range(len(index))) for index in indices)


class Surest(Rule):
    """Always four answers, of which it names the one that the model was surest of."""

    def more(self, seen):
        return len(seen) < 4

    def answer(self, seen):
        return max(seen, key=lambda one: one.logprob).answer


def test_a_better_vote_for_everyone_is_no_gain():
    """Whoever names the answer itself meets a bar that names it likewise."""
    answers = beta_population(60, 1.2, 0.8).sample(16)
    logprob = answers.values - 2 + np.random.default_rng(0).normal(0, 0.3, answers.values.shape)
    answers = replace(answers, logprob=np.minimum(logprob, 0))
    (row,) = rows_of(answers, surest=Surest())
    plain = answers.table([4]).acc.mean()
    assert row.accuracy > plain + 0.05
    assert row.gain <= 1e-9
