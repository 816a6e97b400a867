"""Whatever learns is put on trial alike: policies that plan, rules that watch the answers come in,
and odd ones."""

import threading
from types import SimpleNamespace as Namespace

import numpy as np
import pytest

import adalib
from adalib.datasets.populations import beta_population, flat_null
from adalib.evaluate import learners
from adalib.evaluate.compare import stopping_policies
from adalib.evaluate.heldout import PaidFeatures, Protocol, held_out
from adalib.evaluate.learners import planning_policies
from adalib.evaluate.verdict import judgements, reasons, verdict
from adalib.sequential.published_rules import PEERS, TunedRules

BUDGETS = (1, 4, 16)
TWO = Protocol(folds=2)


class UntilTwoAgree:
    """A rule that names no budget: it takes answers one by one until one of them has come twice."""

    def __init__(self):
        self.seen = []

    def trial(self, train, test, targets):
        self.seen.append((train, test))
        cost, accuracy = np.empty((2, len(test.groups)))
        for i, classes in enumerate(test.answers.classes.tolist()):
            twice = (j for j, answer in enumerate(classes) if answer >= 0 and answer in classes[:j])
            last = next(twice, len(classes) - 1)
            cost[i], accuracy[i] = last + 1, test.answers.values[i, last]
        return [(cost, accuracy) for _ in targets]


def test_a_planner_that_sees_other_features_still_plans():
    other = learners.WithFeatures(Namespace(), Namespace())
    assert learners.kind_of("control", other, 2.0) == "plans"
    assert learners.kind_of("rule", UntilTwoAgree(), 2.0) == "watches"


@pytest.fixture(scope="module")
def few():
    return adalib.load("word-fewshot").take(range(0, 372, 12))


def tried(responses, targets, budgets=BUDGETS, features=None, **protocol):
    """The rule, and its rows of two folds."""
    rule = UntilTwoAgree()
    about = {"learners": {"agree": rule}, "features": features}
    two = Protocol(folds=2, **protocol)
    rows = held_out(responses, targets, budgets, noises=0, protocol=two, **about)
    return rule, {row.target: row for row in rows if row.policy == "agree"}


def test_a_rule_that_watches_the_answers_is_scored_like_a_plan(few):
    """By brute force over both halves: every question once a half, on the answers of the half that
    did not teach."""
    rule, rows = tried(few, [3, 6])
    halves = few.split_samples(0)
    whole = [
        rule.trial(None, Namespace(answers=half, groups=range(few.n)), [3])[0] for half in halves
    ]
    tables = [half.table(range(1, 49)) for half in halves]  # for everyone any number
    pairs = zip(tables, whole, strict=True)
    bars = [
        adalib.best_mix(half.acc, half.cost, cost.mean()).expected(half.acc).mean()
        for half, (cost, _) in pairs
    ]
    expected = *np.mean(whole, axis=(0, 2)), np.mean(bars)
    for row in rows.values():
        assert (row.cost, row.accuracy, row.mix_accuracy) == pytest.approx(expected)
        assert row.imitation is None


def test_teaching_and_scoring_answers_are_apart(few):
    rule, _ = tried(few, [3], groups=few.extras["family"])
    halves = few.split_samples(0)
    assert len(rule.seen) == 4
    taught = []
    for train, test in rule.seen:  # in the order in which the threads came to them
        rows = [list(few.ids).index(name) for name in train.answers.ids]
        fits = [np.array_equal(train.answers.tokens, half.tokens[rows]) for half in halves]
        assert sorted(fits) == [False, True]
        taught.append(fits.index(True))
        assert set(train.groups).isdisjoint(test.groups)
        assert sorted([*train.answers.ids, *test.answers.ids]) == sorted(few.ids)
        for part, half in ((train, halves[taught[-1]]), (test, halves[1 - taught[-1]])):
            whole = half.take([list(few.ids).index(name) for name in part.answers.ids])
            assert part.table.ids == tuple(part.answers.ids)
            assert len(part.features) == len(part.groups) == part.answers.n
            for field in ("classes", "values", "tokens", "logprob"):
                np.testing.assert_array_equal(getattr(part.answers, field), getattr(whole, field))
            np.testing.assert_allclose(part.table.acc, whole.table(BUDGETS).acc)
    assert sorted(taught) == [0, 0, 1, 1]


def test_the_answer_that_opens_a_vote_is_the_first_that_comes(few):
    first, rest = few.set_aside(0)
    rule, _ = tried(rest, [3], features=PaidFeatures(first=first))
    for _, test in rule.seen:
        assert test.answers.samples in (1 + 95 // 2, 1 + 95 - 95 // 2)
        rows = [list(few.ids).index(name) for name in test.answers.ids]
        np.testing.assert_array_equal(test.answers.logprob[:, 0], few.logprob[rows, 0])


def test_many_questions_are_learned_from_a_sample(few):
    rule, rows = tried(few, [2], (1, 2), taught=7)
    assert [(len(train.groups), len(train.features)) for train, _ in rule.seen] == [(7, 7)] * 4
    assert sum(len(test.groups) for _, test in rule.seen) == 2 * few.n
    assert len(rows[2].gains) == few.n


def test_numbers_that_would_change_the_scores_unseen_are_refused(few):
    for options, message in (
        ({"protocol": Protocol(taught=1)}, "taught is 1; give at least 2"),
        ({"noises": -1}, "noises is -1"),
        ({"features": PaidFeatures(overhead=-1.0)}, "overhead -1.0; give 0 or more"),
        ({"features": PaidFeatures(overhead=np.nan)}, "overhead nan; give 0 or more"),
    ):
        with pytest.raises(ValueError, match=message):
            held_out(few, [2], (1, 2), **options)


ONES = np.ones(10)


@pytest.mark.parametrize(
    "result", [[], [(ONES[:3],) * 2], [(ONES,)], [(ONES, 2 * ONES)], [(np.nan * ONES, ONES)]]
)
def test_a_learner_that_does_not_say_what_each_question_cost_is_refused(result):
    odd = {"odd": Namespace(trial=lambda *_: result)}
    with pytest.raises(ValueError, match=r"'odd'.*\b1\b.*\b10\b"):
        held_out(flat_null(20).sample(32), [2], BUDGETS, learners=odd, noises=0, protocol=TWO)


def test_answers_are_played_back_in_parts(few, monkeypatch):
    rule = TunedRules(PEERS["margin"], limit=few.samples).fit(few)
    whole = rule.replay(few, [1.5, 2])
    monkeypatch.setattr("adalib.sequential.replay.WHOLE", 5)
    monkeypatch.setattr("adalib.sequential.replay._CELLS", 5 * min(48, few.samples) * few.samples)
    assert rule.replay(few, [1.5, 2]).accuracy.mean() == pytest.approx(
        whole.accuracy.mean(), abs=0.1
    )
    monkeypatch.setattr("adalib.sequential.replay._FEWEST", 48)  # all orders, as for few questions
    parts = rule.replay(few, [1.5, 2])
    # Other orders of the same answers: the same but for their chance.
    assert parts.accuracy.mean() == pytest.approx(whole.accuracy.mean(), abs=0.05)
    assert np.array_equal(rule.replay(few.take(range(5)), [1.5, 2]).cost, parts.cost[:5])


# The rows that watch the answers come in, and what the verdict says of them.


def test_stopping_policies_meet_their_targets():
    answers = beta_population(300, 1.5, 1.0).sample(32)
    learners = planning_policies() | stopping_policies()
    rows = held_out(answers, [2, 4], BUDGETS, learners=learners, noises=0, protocol=TWO)
    by_name = {(row.policy, row.target): row for row in rows}
    # Votes say much about questions of which the text says nothing.
    assert by_name["priced_votes", 4].gain > by_name["curve", 4].gain + 0.01
    for (name, target), row in by_name.items():
        if name in stopping_policies():
            assert row.cost == pytest.approx(target, rel=0.06)
    main, before = judgements(rows)
    assert (main.word, before.word) == ("pays", "cannot tell")
    assert "Deciding before asking" in reasons(verdict(rows))
    alone = [row for row in rows if row.policy not in stopping_policies()]
    assert "Deciding before asking" not in reasons(verdict(alone))


def test_where_votes_say_nothing_nothing_pays():
    answers, learners = flat_null(60).sample(32), stopping_policies()
    flat = held_out(answers, [3], BUDGETS, learners=learners, noises=0, protocol=TWO)
    assert judgements(flat)[0].word != "pays"
    assert np.abs([row.gain for row in flat if row.policy in stopping_policies()]).max() < 0.03


def test_who_interrupts_does_not_wait_for_the_folds_that_have_begun(monkeypatch):
    monkeypatch.setattr(learners, "cores", lambda: 2)
    released = threading.Event()
    begun = []

    def work(job):
        begun.append(job)
        if job > 0:
            released.wait()
        return job

    results = learners.side_by_side(work, range(9))
    assert next(results) == 0
    results.close()  # hangs here if it waits for job 1
    released.set()
    assert set(begun) <= {0, 1, 2}
