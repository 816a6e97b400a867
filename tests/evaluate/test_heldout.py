"""The held-out protocol, against simulated truth and an independent reckoning; an answer that opens
the vote."""

from dataclasses import replace

import numpy as np
import pytest

import adalib
from adalib.datasets.files import DataError
from adalib.datasets.folds import deal, members
from adalib.datasets.populations import beta_population, flat_null, two_answer
from adalib.evaluate.crossfit import cross_fitted_oracle
from adalib.evaluate.heldout import PaidFeatures, Protocol, held_out
from adalib.evaluate.learners import BASELINES
from adalib.evaluate.scores import as_table
from adalib.evaluate.verdict import verdict
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy

TARGETS = (1.5, 3)
BUDGETS = (1, 4, 16)
NEAR = (1, 3, 5, 7, 16)  # planners near the numbers that everyone may get
TWO, THREE = Protocol(folds=2), Protocol(folds=3)


@pytest.fixture(scope="module")
def answers_by_word():
    """A word of the text decides the curve: votes help the ones, and nothing helps the others."""
    kind = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], 80))
    words = np.array(["calm", "wild", "dull"])[kind]
    responses = two_answer(np.array([0.98, 0.65, 0.03])[kind]).sample(64, seed=1)
    return replace(
        responses, questions=[f"Number {i}, of the {word} sort." for i, word in enumerate(words)]
    )


@pytest.fixture(scope="module")
def rows_by_word(answers_by_word):
    return held_out(answers_by_word, [3, 1.5, 3], NEAR, protocol=THREE)


class Clairvoyant:
    """A learner of the simplest kind: one feature is the column to take."""

    def fit(self, features, table, *, budget):
        self.budget = budget
        return self

    def predict(self, features):
        return features.iloc[:, 0].to_numpy(dtype=int)


def tried(responses, targets, budgets=BUDGETS, **options):
    """Held out in two folds and without noise, if nothing else is said."""
    return held_out(responses, targets, budgets, **{"noises": 0, "protocol": TWO} | options)


def with_columns(responses, targets, budgets=BUDGETS, columns=None, protocol=TWO):
    """Held out with nobody to teach, so at once: the columns are given, or all the cheapest."""
    columns = np.zeros(responses.n) if columns is None else columns
    told = {"learners": {"told": Clairvoyant()}, "features": columns[:, None]}
    return tried(responses, targets, budgets, protocol=protocol, **told)


def row(rows, policy, target):
    return next(one for one in rows if (one.policy, one.target) == (policy, target))


def test_one_row_per_policy_and_target(rows_by_word):
    policies = [*BASELINES, "label", "curve", "noise"]
    assert [(r.policy, r.target) for r in rows_by_word] == [
        (policy, target) for target in TARGETS for policy in policies
    ]
    assert (as_table(rows_by_word)["protocol"] == "held out").all()
    for r in rows_by_word:
        assert [r.gain, r.gain] == pytest.approx([r.accuracy - r.mix_accuracy, r.gains.mean()])
        assert r.low <= r.accuracy <= r.high
        assert (r.imitation is None) == (r.policy not in ("label", "noise"))


def test_a_text_that_tells_the_curve_pays(rows_by_word):
    assert verdict(rows_by_word).word == "pays"
    for target in TARGETS:
        curve = row(rows_by_word, "curve", target)
        assert curve.gain > 0
        assert row(rows_by_word, "noise", target).gain < 0.005
        assert curve.share == pytest.approx(curve.gain / row(rows_by_word, "oracle", target).gain)
    assert row(rows_by_word, "curve", 3).gain_low > 0
    # What a clairvoyant earns is known: at target 3, the third that votes help gets seven answers.
    helped = two_answer(0.65).acc((1, 7))[0]
    assert row(rows_by_word, "curve", 3).gain <= (helped[1] - helped[0]) / 3


def test_a_null_pays_nobody():
    """Six draws of a population that nothing helps.

    Sound intervals of 95% lie above zero once in forty, so three or more of six do with
    probability 0.0003. Of a method that claims a gain in three of four draws, three or more do with
    probability 0.96.
    """
    drawn = [tried(flat_null(60, s).sample(48, s), [3], noises=1) for s in range(6)]
    assert sum(verdict(rows).word == "pays" for rows in drawn) <= 1
    for policy in ("oracle", "label", "curve", "noise"):
        assert sum(row(rows, policy, 3).gain_low > 0 for rows in drawn) <= 2
    # What the same draws claim in-sample.
    assert min(row(rows, "oracle_in_sample", 3).gain for rows in drawn) > 0.01


def test_the_oracle_and_the_mix_are_those_of_the_other_modules():
    responses = beta_population(30, 0.5, 0.5).sample(33)  # an odd number: halves of 16 and 17
    rows = with_columns(responses, TARGETS, protocol=Protocol(seed=4, folds=2))
    crossed = cross_fitted_oracle(responses, TARGETS, BUDGETS, splits=1, seed=4)
    for t, target in enumerate(TARGETS):
        oracle, mix = row(rows, "oracle", target), row(rows, "mix", target)
        assert (oracle.accuracy, oracle.cost) == pytest.approx(
            (crossed.value.mean[t], crossed.cost[:, t].mean())
        )
        assert -0.02 < mix.gain <= 1e-12  # chosen on one half, and the bar on the other
        assert mix.cost <= target + 1e-12


def test_rows_are_those_of_a_plain_loop(answers_by_word):
    """The loop of the chapter "The test", in held_out's folds and both ways round."""
    few = answers_by_word.take(range(90))
    phi = np.random.default_rng(1).normal(size=(few.n, 3))
    fold = deal(members(few, None), 3, 0)
    halves = [half.table(BUDGETS) for half in few.split_samples(0)]
    everyone = [half.table(range(1, 33)) for half in few.split_samples(0)]  # any number of answers
    right, spent, gain = np.zeros((3, 2, few.n))
    for side, (choose, score) in enumerate((halves, halves[::-1])):
        for out in range(3):
            train, new = np.flatnonzero(fold != out), np.flatnonzero(fold == out)
            policy = LabelPolicy().fit(phi[train], choose.acc[train], choose.cost, budget=3)
            labels = policy.predict(phi[new])
            right[side, new], spent[side, new] = score.acc[new, labels], score.cost[labels]
        bar = everyone[1 - side]
        mix = adalib.best_mix(bar.acc, bar.cost, spent[side].mean()).expected(bar.acc)
        gain[side] = right[side] - mix
    rows = tried(few, [3], learners={"label": LabelPolicy()}, features=phi, protocol=THREE)
    found, interval = row(rows, "label", 3), adalib.mean_interval(gain.mean(axis=0))
    assert (found.accuracy, found.cost) == pytest.approx((right.mean(), spent.mean()))
    assert (found.gain, found.gain_low, found.gain_high) == pytest.approx(
        (interval.mean, interval.low, interval.high)
    )


def test_copies_and_groups_stay_together(answers_by_word):
    texts = [f"question {i // 3}" for i in range(answers_by_word.n)]
    thrice = replace(answers_by_word, questions=texts)
    assert members(thrice, None).tolist() == [i // 3 for i in range(answers_by_word.n)]
    near = [text.upper() if i % 3 == 1 else f" {text}  " for i, text in enumerate(texts)]
    assert members(replace(thrice, questions=near), None).tolist() == members(thrice, None).tolist()
    kinds = replace(answers_by_word, questions=["easy", "hard"] * 120)  # kinds, not copies
    assert members(kinds, None).tolist() == list(range(answers_by_word.n))
    family = np.arange(answers_by_word.n) % 7
    assert members(answers_by_word, family).tolist() == family.tolist()


def test_copies_do_not_narrow_the_interval():
    """Three copies of every question are no more evidence than one; as questions of their own they
    would seem so."""
    once = beta_population(40, 0.5, 0.5).sample(8)
    fields = ("questions", "golds", "answers")
    copies = {name: np.repeat(getattr(once, name), 3, axis=0).tolist() for name in fields}
    thrice = replace(once, ids=[str(i) for i in range(120)], **copies)

    def fixed(responses, groups):
        protocol = Protocol(folds=2, groups=groups)
        return row(with_columns(responses, [1], (1, 4), protocol=protocol), "fixed", 1)

    one, three, apart = fixed(once, None), fixed(thrice, None), fixed(thrice, range(120))
    assert (three.accuracy, three.low, three.high) == pytest.approx(
        (one.accuracy, one.low, one.high)
    )
    assert apart.high - apart.low < 0.7 * (one.high - one.low)


def test_a_family_that_was_never_seen_teaches_nothing():
    """Which of the families is helped cannot be told from the others, so by family the gain is
    gone."""
    family = np.arange(360) % 12
    responses = two_answer(np.tile([0.98, 0.65, 0.02], 4)[family]).sample(32, seed=2)
    seen, unseen = (
        tried(responses, [6], features=np.eye(12)[family], protocol=protocol)
        for protocol in (THREE, Protocol(folds=3, groups=family))
    )
    assert verdict(seen).word == "pays"
    assert verdict(unseen).word != "pays"
    assert unseen[0].gains.shape == (12,)
    assert row(seen, "oracle", 6).accuracy == pytest.approx(row(unseen, "oracle", 6).accuracy)


def test_any_learner_can_be_scored(answers_by_word, rows_by_word):
    """Named learners stand where label and curve stand, and are not disturbed by others beside
    them."""
    learners = {
        "weighted": LabelPolicy(weighted=True),
        "curve": CurvePolicy(),
        "label": LabelPolicy(),
    }
    rows = held_out(answers_by_word, [3], NEAR, learners=learners, protocol=THREE)
    assert [r.policy for r in rows] == [*BASELINES, *learners, "noise"]
    for policy in ("label", "curve", "noise", "oracle"):
        assert row(rows, policy, 3).gains.tolist() == row(rows_by_word, policy, 3).gains.tolist()
    assert row(rows, "weighted", 3).imitation is not None
    assert not any(hasattr(learner, "lam_") for learner in learners.values())  # copies were fitted


def test_a_learner_that_is_told_the_column_gets_it(answers_by_word):
    column = np.arange(answers_by_word.n) % 3
    rows = with_columns(answers_by_word, [8], columns=column)
    assert row(rows, "told", 8).cost == pytest.approx(np.asarray(BUDGETS)[column].mean())
    halves = (half.table(BUDGETS) for half in answers_by_word.split_samples(0))
    oracles = [adalib.frontier(half.acc, half.cost).at(8).labels for half in halves]
    assert row(rows, "told", 8).imitation == pytest.approx(
        np.mean([column == best for best in oracles])
    )
    assert all(r.policy != "noise" for r in rows)
    assert "told at target 8" in str(verdict(rows))


def test_another_table_is_another_vote_or_another_cost():
    def by_tokens(half, budgets):
        return half.table(budgets, cost="tokens")

    few = adalib.load("word-fewshot").take(range(0, 372, 12))
    target = 2 * few.tokens.mean()
    oracle = row(
        with_columns(few, [target], protocol=Protocol(folds=2, table=by_tokens)), "oracle", target
    )
    crossed = cross_fitted_oracle(few, [target], BUDGETS, splits=1, cost="tokens")
    assert (oracle.accuracy, oracle.cost) == pytest.approx(
        (crossed.accuracy.mean(), crossed.cost.mean())
    )
    with pytest.raises(ValueError, match="first or table"):
        held_out(
            few,
            [target],
            features=PaidFeatures(first=few.set_aside(0)[0]),
            protocol=Protocol(table=by_tokens),
        )


def test_curves_of_unseen_questions(answers_by_word):
    """The word tells the curve: a model of the other questions knows it, and one of other words
    does not."""
    kind = np.array([question.split()[-2] for question in answers_by_word.questions])
    chance = {"calm": 0.98, "wild": 0.65, "dull": 0.03}
    truth = two_answer([chance[word] for word in kind]).acc(BUDGETS)
    assert (
        np.abs(adalib.unseen_curves(answers_by_word, BUDGETS, protocol=THREE) - truth).mean(axis=0)
        < 0.1
    ).all()
    apart = adalib.unseen_curves(answers_by_word, BUDGETS, protocol=Protocol(groups=kind))
    assert (np.abs(apart - truth).mean(axis=0) > 0.3).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learners": {"mix": LabelPolicy()}}, "'mix' is a built-in baseline"),
        ({"learners": {}}, "learners is empty"),
        ({"targets": [0.5]}, "target 0.5 cannot be met"),
        ({"targets": [np.nan]}, "target nan cannot be met"),
        ({"targets": []}, "no target"),
        ({"protocol": Protocol(folds=1)}, "folds is 1"),
        ({"protocol": Protocol(groups=["one"] * 20)}, "one group"),
        ({"protocol": Protocol(groups=["one"])}, "groups has 1 entries for 20"),
        ({"responses": flat_null(20).sample(31)}, "a half of 15 cannot hold a vote of 16"),
        ({"responses": flat_null(9).sample(32)}, "has 9 questions; give at least 10"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(change, message):
    with pytest.raises((ValueError, DataError), match=message):
        held_out(
            **{"responses": flat_null(20).sample(32), "targets": [2], "budgets": BUDGETS, **change}
        )


@pytest.fixture(scope="module")
def doubtful():
    """Questions that are all alike, and an answer whose signal knows whether it is right."""
    return two_answer(np.full(60, 0.7)).sample(33, seed=3).set_aside(0)


def curve(rest, signal, target=2.0, **options):
    asked = {"features": PaidFeatures(signal, **options), "learners": {"curve": CurvePolicy()}}
    return row(tried(rest, [target], (1, 8), protocol=THREE, **asked), "curve", target)


def test_the_answer_that_was_looked_at_is_in_the_vote_that_is_scored(doubtful):
    """Whoever buys one answer has the first one where it opens the vote, and an average one where
    it does not."""
    first, rest = doubtful
    opened = curve(rest, first.values, target=1.0, first=first)
    assert (opened.cost, opened.accuracy) == (1.0, pytest.approx(first.values.mean()))
    assert curve(rest, first.values, target=1.0).accuracy == pytest.approx(rest.values.mean())


def test_an_answer_that_is_thrown_away_is_paid_for_by_who_looked_at_it(doubtful):
    signal, rest = doubtful[0].values, doubtful[1]
    plain, counted = (
        tried(rest, [2], (1, 8), features=PaidFeatures(signal, overhead=extra), noises=1)
        for extra in (0, 1)
    )
    for one, other in zip(plain, counted, strict=True):
        paid = 1.0 if one.policy in ("label", "curve") else 0.0
        assert other.cost - one.cost == pytest.approx(paid)
        assert other.accuracy == one.accuracy
        assert (other.mix_accuracy > one.mix_accuracy) == (paid > 0)
