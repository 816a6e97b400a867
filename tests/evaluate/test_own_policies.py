"""Policies of one's own: the two interfaces, what they are shown, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from adalib.datasets.menu import Menu
from adalib.datasets.populations import beta_population
from adalib.datasets.responses import Responses
from adalib.evaluate.compare import compare
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.verdict import judgements
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.replay import REPLAYS
from adalib.sequential.rules import Confidence, leader_holds, stopping_points
from adalib.sequential.streams import make_streams
from adalib.sequential.watching import watch

BUDGETS = (1, 2, 4)
TWO = Protocol(folds=2)


class Planned:
    """Gives the questions above the median of the first feature the second column."""

    def fit(self, features, table):
        self.middle = np.median(features.iloc[:, 0])
        self.columns = table.k

    def predict(self, features):
        return (features.iloc[:, 0] > self.middle).to_numpy(dtype=int)


class Certain:
    """Adaptive-Consistency, as anybody would write it."""

    def fit(self, answers):
        pass

    def more(self, seen):
        texts = [one.answer for one in seen if one.answer]
        first, second, *_ = *sorted(map(texts.count, set(texts)), reverse=True), 0, 0
        return leader_holds(first, second) < 0.9 and len(seen) < 6


class Follows(Certain):
    """Names the last answer that it saw, and stops at two."""

    def more(self, seen):
        return len(seen) < 2

    def answer(self, seen):
        return seen[-1].answer


@pytest.fixture(scope="module")
def answers():
    sampled = beta_population(30, 2, 1).sample(16, seed=3)
    tokens = np.random.default_rng(1).integers(20, 200, (30, 16))
    return replace(sampled, tokens=tokens)


def rows_of(answers, protocol=TWO, targets=(2,), **policies):
    rows = held_out(answers, targets, BUDGETS, learners=policies, noises=0, protocol=protocol)
    return [row for row in rows if row.policy in policies]


class Inside:
    """Adaptive-Consistency as the package plays its own rules: all streams at a time."""

    def trial(self, train, test, targets):
        most = min(train.answers.samples, test.answers.samples)
        streams = make_streams(test.answers, most, repeats=REPLAYS, seed=1, cost=test.cost)
        votes = streams.votes()
        stops = stopping_points(Confidence(0.9, 6), votes)
        rows = np.arange(len(stops))
        figures = streams.cost[rows, stops], votes.value[rows, stops]
        return [tuple(map(streams.mean, figures))] * len(targets)


@pytest.mark.parametrize("cost", ["samples", "tokens"])
def test_a_rule_written_outside_has_the_row_of_the_one_inside(answers, cost):
    target = 2 if cost == "samples" else 2 * answers.tokens.mean()
    protocol = Protocol(folds=2, cost=cost)
    inside, outside = rows_of(answers, protocol, [target], inside=Inside(), outside=Certain())
    assert inside.gains.any()
    for name, figure in vars(outside).items():
        if name != "policy":
            np.testing.assert_array_equal(figure, getattr(inside, name), err_msg=name)


def test_what_is_seen_is_what_was_paid_for():
    """Every call shows one answer more, and none that comes later."""
    row = ["1/2", "3", "0.5", "", "3.0", "7"]
    one = Responses(
        ["a", "b"], ["?", "?"], ["0.5"] * 2, [row] * 2, tokens=[range(6)] * 2, logprob=None
    )
    calls = []

    class Nosy(Certain):
        def more(self, seen):
            calls.append(seen)
            return len(calls) % 4 != 0

    assert set(watch(Nosy(), one, 6).cost) == {4.0}
    assert len(calls) == 4 * 2 * len(row)
    equal = [0, 1, 0, 3, 1, 5]
    for number, seen in enumerate(calls):
        assert len(seen) == number % 4 + 1
        places = [int(one.tokens) for one in seen]
        assert len(set(places)) == len(places)
        for earlier, place in zip(seen, places, strict=True):
            assert earlier.logprob is None
            assert earlier.answer in [
                row[other] for other in places if equal[other] == equal[place]
            ]
        if number % 4:
            assert seen[:-1] == calls[number - 1]
    with pytest.raises(AttributeError):
        calls[0][0].answer = "7"


def test_a_policy_that_remembers_does_not_know_how_a_question_goes_on(answers):
    """Every order is shown to a copy that has met no answer of it before."""
    met = []

    class Remembers(Certain):
        def __init__(self):
            self.before = set()

        def more(self, seen):
            if len(seen) == 1:
                met.append(seen[0] in self.before)
            self.before |= set(seen)
            return len(seen) < 8

    lengths = np.random.default_rng(0).permutation(30 * 16).reshape(30, 16)  # each its own
    watch(Remembers(), replace(answers, tokens=lengths), 8)
    assert len(met) == 30 * 16
    assert not any(met)


def test_the_answer_a_policy_names_takes_the_place_of_the_vote(answers):
    paid, right, *_ = watch(Follows(), answers, 8)
    assert set(paid) == {2.0}
    np.testing.assert_allclose(right, answers.values.mean(axis=1))


def test_rows_say_how_their_policies_decide(answers):
    rows = rows_of(answers, text=Planned, votes=Certain())
    assert {row.policy: row.kind for row in rows} == {"text": "plans", "votes": "watches"}
    main, before = judgements([replace(row, policy="mine") for row in rows])
    assert {row.kind for row in before.rows} == {"plans"}


def test_own_policies_learn_from_other_questions_and_answers(answers):
    taught = []

    class Listens(Certain):
        def fit(self, answers):
            taught.append(answers)

    rows_of(answers, votes=Listens)
    halves = answers.split_samples(0)
    assert len(taught) == 4
    for one in taught:
        assert one.n == 15
        rows = [list(answers.ids).index(name) for name in one.ids]
        assert any(
            [list(row) for row in one.answers] == [list(half.answers[row]) for row in rows]
            for half in halves
        )


def test_a_class_is_made_for_every_budget_if_it_asks_for_one(answers):
    class Fixed(Certain):
        def __init__(self, budget):
            self.budget = budget

        def more(self, seen):
            return len(seen) < self.budget

    class Told(Planned):
        def fit(self, features, table, budget):
            self.column = table.budgets.index(budget)

        def predict(self, features):
            return np.full(len(features), self.column)

    rows = rows_of(answers, targets=(2, 4), always=Fixed, told=Told())
    assert [(row.policy, row.cost) for row in rows] == [
        ("always", 2.0),
        ("told", 2.0),
        ("always", 4.0),
        ("told", 4.0),
    ]


def test_a_rule_is_told_its_budget_in_answers_whatever_is_paid(answers):
    tokens = []

    class Told(Certain):
        def __init__(self, budget):
            self.budget = budget

        def fit(self, answers):
            tokens.append(self.budget * answers.tokens.mean())

    rows_of(answers, Protocol(folds=2, cost="tokens"), (200, 300), told=Told)
    assert sorted(tokens) == pytest.approx([200] * 4 + [300] * 4)


def test_the_policies_of_the_package_take_a_table_too(answers):
    table = answers.table(BUDGETS)
    features = np.random.default_rng(0).random((30, 2))
    two = LabelPolicy().fit(features, table, budget=2).predict(features)
    np.testing.assert_array_equal(
        two, LabelPolicy().fit(features, table.acc, table.cost, budget=2).predict(features)
    )
    with pytest.raises(ValueError, match="no costs"):
        LabelPolicy().fit(features, table.acc, budget=2)


class NoFit:
    def more(self, seen):
        return False


class Half(Certain):
    def more(self, seen):
        return 0.5


class Guesses(Follows):
    def answer(self, seen):
        return "42"


class Outside(Planned):
    def predict(self, features):
        return np.full(len(features), 3)


class Short(Planned):
    def predict(self, features):
        return [0]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (NoFit, r"'odd' has more; give it fit\("),
        (object(), "'odd' has neither"),
        (type("Both", (Planned, Certain), {}), "'odd' has fit, predict, more"),
        (Half, r"policy Half: more\(seen\) returned 0.5"),
        (Guesses, r"policy Guesses: answer\(seen\) returned '42'"),
        (Outside, r"policy Outside: predict.*15 whole numbers from 0 to 2"),
        (Short, r"policy Short: predict.*15 whole"),
    ],
)
def test_what_is_no_policy_is_refused_in_a_sentence(answers, policy, message):
    with pytest.raises(ValueError, match=message):
        rows_of(answers, odd=policy)


def test_names_of_the_package_and_menus_are_refused(answers):
    with pytest.raises(ValueError, match="'esc' is a policy of the package"):
        compare(answers, [2], BUDGETS, policies={"esc": Certain})
    with pytest.raises(ValueError, match="several"):
        rows_of(Menu({"a": answers, "b": answers}), targets=(200,), votes=Certain)
