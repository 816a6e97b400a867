"""The two protocols, against simulated truth, an independent reckoning and the paper's printed table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace as Namespace

import numpy as np
import pytest

import adalib
import adalib.paper
from adalib.datasets.files import DataError
from adalib.datasets.folds import deal, members
from adalib.datasets.populations import beta_population, flat_null, two_answer
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.crossfit import cross_fitted_oracle
from adalib.evaluate.heldout import Known, Protocol, as_table, held_out, unseen_curves
from adalib.evaluate.trials import BASELINES, POLICIES, STOPPING
from adalib.evaluate.verdict import verdict
from adalib.learn.label_policy import CurvePolicy, LabelPolicy
from adalib.paper.results import reconstructed
from adalib.sequential.peers import PEERS, TunedRules
from adalib.solve.frontier import frontier

TARGETS = (1.5, 3)
BUDGETS = (1, 4, 16)


@pytest.fixture(scope="module")
def told():
    """A word of the text decides the curve: votes help the ones, and nothing helps the others."""
    kind = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], 40))
    words = np.array(["calm", "wild", "dull"])[kind]
    responses = two_answer(np.array([0.98, 0.65, 0.03])[kind]).sample(64, seed=1)
    return replace(responses, questions=[f"Number {i}, of the {word} sort." for i, word in enumerate(words)])


@pytest.fixture(scope="module")
def told_rows(told):
    return held_out(told, TARGETS, BUDGETS)


@pytest.fixture(scope="module")
def real():
    return held_out(adalib.load("word-fewshot").take(range(0, 372, 2)), [2], BUDGETS)


def row(rows, policy, target):
    return next(found for found in rows if (found.policy, found.target) == (policy, target))


def test_a_row_a_policy_and_target_in_order(told):
    rows = held_out(told, [3, 1.5, 3], BUDGETS, protocol=Protocol(folds=2))
    assert [(r.policy, r.target) for r in rows] == [
        (policy, target) for target in TARGETS for policy in POLICIES if policy not in STOPPING
    ]
    table = as_table(rows)
    assert (table["protocol"] == "held out").all()
    for r in rows:
        assert r.gain == pytest.approx(r.accuracy - r.mix_accuracy)
        assert r.gain == pytest.approx(r.gains.mean())
        assert r.low <= r.accuracy <= r.high
        assert (r.imitation is None) == (r.policy not in ("label", "noise"))


def test_a_text_that_tells_pays_and_noise_does_not(told_rows):
    rows = told_rows
    said = verdict(rows)
    assert said.startswith("Adaptive allocation pays here: ")
    for target in TARGETS:
        assert row(rows, "curve", target).gain_low > 0
        assert row(rows, "noise", target).gain < 0.005
        assert row(rows, "curve", target).share == pytest.approx(
            row(rows, "curve", target).gain / row(rows, "oracle", target).gain
        )
    # What a clairvoyant earns is known: 2 questions in 15 of the helpful third buy 15 more samples at target 3.
    helped = two_answer(0.65).acc(BUDGETS)[0]
    most = (3 - 1) / 15 * (helped[2] - helped[0])
    assert row(rows, "curve", 3).gain <= most


def test_features_that_know_nothing_claim_nothing(told):
    blind = held_out(told, TARGETS, BUDGETS, features=noise_features(told.n, 5, seed=9))
    assert "allocation pays" not in verdict(blind)
    for r in blind:
        if r.policy in ("label", "curve", "noise"):
            assert r.gain_low <= 0


def test_a_null_pays_nobody():
    """Twenty draws of a population that nothing helps; a false claim in twenty is allowed, and they are rarer."""
    drawn = [
        held_out(flat_null(80, seed).sample(48, seed), [3], BUDGETS, protocol=Protocol(folds=3)) for seed in range(20)
    ]
    assert sum("allocation pays" in verdict(rows) for rows in drawn) <= 1
    for policy in ("oracle", "label", "curve", "noise"):
        claims = [row(rows, policy, 3).gain_low > 0 for rows in drawn]
        assert sum(claims) <= 2  # of twenty 95% intervals, one side
    assert min(row(rows, "oracle_in_sample", 3).gain for rows in drawn) > 0.01  # what the same draws claim in-sample


def test_no_policy_beats_the_cross_fitted_oracle(real):
    best = row(real, "oracle", 2)
    for r in real:
        if r.policy != "oracle_in_sample":
            assert r.accuracy <= best.high
            assert r.gain <= best.gain_high
    assert row(real, "noise", 2).gain_low <= 0
    assert row(real, "oracle_in_sample", 2).accuracy > best.accuracy


def test_the_oracle_and_the_mix_are_those_of_the_other_modules():
    responses = beta_population(30, 0.5, 0.5).sample(33)  # an odd number: halves of 16 and 17
    rows = held_out(responses, TARGETS, BUDGETS, protocol=Protocol(splits=2, seed=4, folds=2))
    crossed = cross_fitted_oracle(responses, TARGETS, BUDGETS, splits=2, seed=4)
    for t, target in enumerate(TARGETS):
        oracle, mix = row(rows, "oracle", target), row(rows, "mix", target)
        assert oracle.accuracy == pytest.approx(crossed.value.mean[t])
        assert oracle.cost == pytest.approx(crossed.cost[:, t].mean())
        assert -0.02 < mix.gain <= 1e-12  # chosen on one half, and the bar on the other
        assert mix.cost <= target + 1e-12


def test_the_mix_is_the_hull_at_the_realised_cost():
    """By hand: the line between the uniform budgets 1 and 16 of two-answer questions, halves apart."""
    responses = two_answer(np.full(20, 0.7)).sample(64)
    rows = held_out(responses, [2], (1, 16), protocol=Protocol(folds=2))
    uniform = np.mean([half.table((1, 16)).acc.mean(axis=0) for half in responses.split_samples(0)], axis=0)
    for r in rows:
        if r.policy in ("mix", "random", "length"):
            assert r.mix_accuracy == pytest.approx(uniform[0] + (r.cost - 1) / 15 * (uniform[1] - uniform[0]))
    assert row(rows, "random", 2).gain == pytest.approx(0)


def folds(responses, groups=None):
    return deal(members(responses, groups), 5, seed=0)


def test_copies_and_groups_stay_in_one_fold(told):
    thrice = folds(replace(told, questions=[f"question {i // 3}" for i in range(told.n)]))
    assert all(len(set(thrice[i : i + 3])) == 1 for i in range(0, told.n, 3))
    assert set(Counter(thrice.tolist()).values()) == {24}
    family = np.arange(told.n) % 7
    by_family = folds(told, family)
    assert all(len(set(by_family[family == f])) == 1 for f in range(7))
    kinds = folds(replace(told, questions=["easy", "hard"] * 60))  # kinds, not copies
    assert sorted(Counter(kinds.tolist()).values()) == [24] * 5
    assert len(set(folds(told, family % 3))) == 3


def test_copies_do_not_narrow_the_interval():
    """Three copies of every question are no more evidence than one; as questions of their own they would seem so."""
    once = beta_population(40, 0.5, 0.5).sample(8)
    columns = ("questions", "golds", "answers")
    copies = {name: [value for value in getattr(once, name) for _ in range(3)] for name in columns}
    thrice = replace(once, ids=[str(i) for i in range(120)], **copies)
    one, three, apart = (
        row(held_out(responses, [1], (1, 4), protocol=Protocol(folds=2, groups=groups)), "fixed", 1)
        for responses, groups in ((once, None), (thrice, None), (thrice, range(120)))
    )
    assert (three.accuracy, three.low, three.high) == pytest.approx((one.accuracy, one.low, one.high))
    assert apart.high - apart.low < 0.7 * (one.high - one.low)


def test_a_family_that_was_never_seen_teaches_nothing():
    """Which of the families is helped cannot be told from the others, so by family the gain is gone."""
    family = np.arange(120) % 12
    responses = two_answer(np.tile([0.98, 0.65, 0.02], 4)[family]).sample(32, seed=2)
    known = np.eye(12)[family]
    seen = held_out(responses, [3], BUDGETS, features=known)
    unseen = held_out(responses, [3], BUDGETS, features=known, protocol=Protocol(groups=family))
    assert "allocation pays" in verdict(seen)
    assert "allocation pays" not in verdict(unseen)
    assert unseen[0].gains.shape == (12,)
    assert row(seen, "oracle", 3).accuracy == row(unseen, "oracle", 3).accuracy


@pytest.mark.parametrize("n", [50, 10_050])  # so many that signs are drawn in parts, eight of a byte
@pytest.mark.parametrize(("units", "claimed"), [(4, False), (6, False), (7, True)])
def test_luck_with_a_handful_is_no_evidence(told_rows, units, claimed, n):
    """All of k units gain: one chance in 2^k, and four looks share 5%, so that six are too few and seven enough."""
    gains = np.zeros(n)
    gains[:units] = 0.2
    rows = [replace(r, gains=gains, gain_low=0.01) for r in told_rows]
    assert ("allocation pays" in verdict(rows)) == claimed


@pytest.mark.parametrize(
    ("high", "says"), [(0.02, "is not shown to pay here"), (0.0099, "does not pay here"), (0.009, "does not pay here")]
)
def test_nothing_is_denied_that_the_interval_allows(told_rows, high, says):
    """No gain is clear of chance. Whether one that matters is excluded decides between the two words."""
    flat = [replace(r, gains=np.tile([0.01, -0.01], 25), gain=0.0, gain_low=-high, gain_high=high) for r in told_rows]
    assert says in verdict(flat)
    assert "is not shown to pay" in verdict(flat, matters=high / 2)


def test_false_claims_are_as_rare_as_the_text_says(told_rows):
    """Symmetric gains, so nobody gains: of 400 made-up evaluations with two looks at most about 5% claim one."""
    rng = np.random.default_rng(0)
    two = [r for r in told_rows if r.target == TARGETS[0] and r.policy in ("oracle", "label", "curve")]
    claims = 0
    for _ in range(400):
        drawn = [replace(r, gains=rng.normal(0, 0.1, 60), gain_low=1.0) for r in two]
        claims += "allocation pays" in verdict(drawn)
    assert 0.02 * 400 < claims < 0.075 * 400


class Clairvoyant:
    """A learner of the simplest kind: one feature is the column to take."""

    def fit(self, features, acc, cost, *, budget):
        self.budget = budget
        return self

    def predict(self, features):
        return features.iloc[:, 0].to_numpy(dtype=int)


def test_anything_that_fits_and_predicts_can_be_scored(told, told_rows):
    """Named learners stand where label and curve stand, and are not disturbed by others beside them."""
    learners = {"weighted": LabelPolicy(weighted=True), "curve": CurvePolicy(), "label": LabelPolicy()}
    rows = held_out(told, TARGETS, BUDGETS, learners=learners)
    assert [r.policy for r in rows if r.target == 3] == [*BASELINES, *learners, "noise"]
    for target in TARGETS:
        for policy in ("label", "curve", "noise", "oracle"):
            assert row(rows, policy, target).gains.tolist() == row(told_rows, policy, target).gains.tolist()
        assert row(rows, "weighted", target).imitation is not None
    assert not any(hasattr(learner, "lam_") for learner in learners.values())  # copies were fitted


def test_a_learner_that_is_told_the_column_gets_it(told):
    column = np.arange(told.n) % 3
    rows = held_out(told, [8], BUDGETS, features=column[:, None], learners={"told": Clairvoyant()}, noises=0)
    assert row(rows, "told", 8).cost == pytest.approx(np.asarray(BUDGETS)[column].mean())
    halves = [half.table(BUDGETS) for half in told.split_samples(0)]
    oracles = [frontier(half.acc, half.cost).at(8).labels for half in halves]
    assert row(rows, "told", 8).imitation == pytest.approx(np.mean([column == best for best in oracles]))
    assert all(r.policy != "noise" for r in rows)
    assert "told at target 8" in verdict(rows)


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


@pytest.fixture(scope="module")
def few():
    return adalib.load("word-fewshot").take(range(0, 372, 12))


def test_a_rule_that_watches_the_answers_is_scored_like_a_plan(few):
    """By brute force over both halves: every question once a half, on the answers of the half that did not teach."""
    rule = UntilTwoAgree()
    rows = held_out(few, [3, 6], BUDGETS, learners={"agree": rule}, noises=0, protocol=Protocol(folds=2))
    whole = [rule.trial(None, Namespace(answers=half, groups=range(few.n)), [3])[0] for half in few.split_samples(0)]
    for target in (3, 6):
        found = row(rows, "agree", target)
        assert found.cost == pytest.approx(np.mean([cost for cost, _ in whole]))
        assert found.accuracy == pytest.approx(np.mean([accuracy for _, accuracy in whole]))
        assert found.imitation is None
        tables = [half.table(BUDGETS) for half in few.split_samples(0)]
        bars = [
            adalib.best_mix(table.acc, table.cost, cost.mean()).expected(table.acc).mean()
            for table, (cost, _) in zip(tables, whole, strict=True)
        ]
        assert found.mix_accuracy == pytest.approx(np.mean(bars))


def test_a_learner_is_handed_apart_what_teaches_and_what_scores(few):
    rule, families = UntilTwoAgree(), few.extras["family"]
    held_out(few, [3], BUDGETS, learners={"agree": rule}, noises=0, protocol=Protocol(folds=2, groups=families))
    halves = few.split_samples(0)
    assert len(rule.seen) == 4
    for turn, (train, test) in enumerate(rule.seen):
        assert set(train.groups).isdisjoint(test.groups)
        assert sorted([*train.answers.ids, *test.answers.ids]) == sorted(few.ids)
        for part, half in ((train, halves[turn // 2]), (test, halves[1 - turn // 2])):
            whole = half.take([list(few.ids).index(name) for name in part.answers.ids])
            assert part.table.ids == tuple(part.answers.ids)
            assert len(part.features) == len(part.groups) == part.answers.n
            for field in ("classes", "values", "tokens", "logprob"):
                np.testing.assert_array_equal(getattr(part.answers, field), getattr(whole, field))
            np.testing.assert_allclose(part.table.acc, whole.table(BUDGETS).acc)


def test_the_answer_that_opens_a_vote_is_the_first_that_comes(few):
    rule = UntilTwoAgree()
    first, rest = few.set_aside(0)
    held_out(
        rest, [3], BUDGETS, learners={"agree": rule}, noises=0, features=Known(first=first), protocol=Protocol(folds=2)
    )
    for _, test in rule.seen:
        assert test.answers.samples == 1 + 95 // 2 or test.answers.samples == 1 + 95 - 95 // 2
        rows = [list(few.ids).index(name) for name in test.answers.ids]
        np.testing.assert_array_equal(test.answers.logprob[:, 0], few.logprob[rows, 0])


@pytest.mark.parametrize(
    "told",
    [
        [],
        [(np.ones(3), np.ones(3))],
        [(np.ones(10),)],
        [(np.ones(10), 2 * np.ones(10))],
        [(np.full(10, np.nan), np.ones(10))],
        [(np.ones(10), np.ones(10))] * 2,
    ],
)
def test_a_learner_that_does_not_say_what_each_question_cost_is_refused(told):
    answers = flat_null(20).sample(32)
    with pytest.raises(ValueError, match="learner 'odd' must return, for each of the 1 targets, 10 finite costs"):
        held_out(
            answers,
            [2],
            BUDGETS,
            learners={"odd": Namespace(trial=lambda *_: told)},
            noises=0,
            protocol=Protocol(folds=2),
        )


def test_another_table_is_another_vote_or_another_cost(few):
    def by_tokens(half, budgets):
        return half.table(budgets, cost="tokens")

    unit = few.tokens.mean()
    rows = held_out(
        few,
        [2 * unit],
        BUDGETS,
        learners={"curve": CurvePolicy()},
        noises=0,
        protocol=Protocol(folds=2, table=by_tokens),
    )
    oracle = row(rows, "oracle", 2 * unit)
    crossed = cross_fitted_oracle(few, [2 * unit], BUDGETS, splits=1, cost="tokens")
    assert oracle.cost == pytest.approx(crossed.cost.mean())
    assert oracle.accuracy == pytest.approx(crossed.accuracy.mean())
    with pytest.raises(ValueError, match="give first or table, not both"):
        held_out(
            few, [2 * unit], BUDGETS, features=Known(first=few.set_aside(0)[0]), protocol=Protocol(table=by_tokens)
        )


def test_a_verdict_needs_somebody_who_learns(told_rows):
    with pytest.raises(ValueError, match="at least one learner"):
        verdict([r for r in told_rows if r.policy in ("oracle", "noise")])


def test_curves_of_unseen_questions(told):
    """The word tells the curve: a model of the other questions knows it, and one of other words does not."""
    curves, kind = unseen_curves(told, BUDGETS), np.array([question.split()[-2] for question in told.questions])
    truth = {word: two_answer(p).acc(BUDGETS)[0] for word, p in (("calm", 0.98), ("wild", 0.65), ("dull", 0.03))}
    errors = np.abs(curves - np.array([truth[word] for word in kind])).mean(axis=0)
    assert (errors < 0.1).all()
    apart = unseen_curves(told, BUDGETS, protocol=Protocol(groups=kind))
    assert (np.abs(apart - np.array([truth[word] for word in kind])).mean(axis=0) > 0.3).all()


@pytest.mark.parametrize(
    ("change", "how", "said"),
    [
        ({}, lambda: {"learners": {"mix": LabelPolicy()}}, "called 'mix'"),
        ({}, lambda: {"learners": {}}, "learners is empty"),
        ({}, lambda: {"noises": -1}, "noises is -1"),
        ({}, lambda: {"features": Known(overhead=np.inf)}, "overhead is inf"),
        ({}, lambda: {"targets": [0.5]}, "target 0.5 cannot be met"),
        ({}, lambda: {"targets": [np.nan]}, "target nan cannot be met"),
        ({}, lambda: {"targets": []}, "no target"),
        ({}, lambda: {"protocol": Protocol(folds=1)}, "folds is 1"),
        ({}, lambda: {"protocol": Protocol(splits=0)}, "splits is 0"),
        ({}, lambda: {"protocol": Protocol(groups=["one"] * 20)}, "one group"),
        ({}, lambda: {"protocol": Protocol(groups=["one"])}, "groups has 1 entries for 20"),
        ({"R": 31}, lambda: {}, "a half of 15 cannot hold a vote of 16"),
        ({"n": 9}, lambda: {}, "has 9 questions; give at least 10"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(change, how, said):
    shape = {"n": 20, "R": 32, **change}
    responses = flat_null(shape["n"]).sample(shape["R"])
    with pytest.raises((ValueError, DataError), match=said):
        held_out(responses, **{"targets": [2], "budgets": BUDGETS, **how()})


@pytest.fixture(scope="module")
def paper():
    responses = adalib.paper.paper_setting("deepseek-v3-math")
    return reconstructed(responses, [1.5, 2, 3], features=noise_features(responses.n))


def test_noise_reproduces_the_paper_s_table_by_its_protocol(paper):
    """No feature knows anything, and still every cell is the printed one: the protocol made it."""
    printed = adalib.paper.PAPER["deepseek-v3-math"]["main"]
    for method in ("Fixed", "Random", "Ours", "Oracle"):
        rows = [r for r in paper if r.method == method]
        assert [r.accuracy for r in rows] == pytest.approx(printed[method]["accuracy"], abs=0.02)
        assert [r.cost for r in rows] == pytest.approx(printed[method]["cost"], abs=0.3)


def test_the_paper_s_rows_are_in_sample(paper):
    table = as_table(paper).set_index(["method", "target"])
    assert (table["protocol"] == "our reconstruction").all()
    assert list(dict.fromkeys(r.method for r in paper)) == ["Fixed", "Random", "Heuristic", "Ours", "Oracle"]
    assert (table.loc["Oracle", "accuracy"] >= table.loc["Ours", "accuracy"]).all()
    assert (table.loc["Ours", "imitation"] > 0.85).all()
    assert table.loc["Oracle", "imitation"].isna().all()
    assert (table.loc[["Fixed", "Oracle"], ["accuracy_std", "cost_std"]] == 0).all(axis=None)
    # Printed costs of the length heuristic, which depend on nothing but the number of questions.
    assert table.loc["Heuristic", "cost"].tolist() == [1.525, 2.05, 3.025]


def test_ours_repeats_its_training_labels():
    """Scored on all questions, four fifths of the imitation is memory; text that is all alike leaves only the rest."""
    responses = adalib.paper.paper_setting("qwen2.5-7b-math")
    alike = reconstructed(responses, [2], seeds=2, features=np.zeros((responses.n, 1)))
    found = next(r for r in alike if r.method == "Ours")
    assert (found.cost, found.cost_std) == (1, 0)
    assert found.imitation == pytest.approx(0.76, abs=0.05)  # the printed majority rate


def test_at_least_one_seed():
    with pytest.raises(ValueError, match="seeds is 0"):
        reconstructed(flat_null(10).sample(16), [2], seeds=0)


def test_many_questions_are_learned_from_a_stated_sample_and_all_are_scored(few):
    seen = []

    class Watching:
        def trial(self, train, test, targets):
            seen.append((len(train.groups), len(test.groups), len(train.features)))
            return [(np.ones(len(test.groups)), np.zeros(len(test.groups)))] * len(targets)

    rows = held_out(few, [2], (1, 2), learners={"mine": Watching()}, noises=0, protocol=Protocol(folds=2, taught=7))
    assert [train for train, _, _ in seen] == [7] * 4
    assert [known for _, _, known in seen] == [7] * 4
    assert sum(test for _, test, _ in seen) == 2 * few.n
    assert all(len(row.gains) == few.n for row in rows)
    with pytest.raises(ValueError, match="taught is 1"):
        held_out(few, [2], (1, 2), protocol=Protocol(taught=1))


def test_answers_are_played_back_in_parts(few, monkeypatch):
    rule = TunedRules(PEERS["margin"], limit=few.samples).fit(few)
    whole = rule.replay(few, [1.5, 2])
    monkeypatch.setattr("adalib.sequential.replay.WHOLE", 5)
    monkeypatch.setattr("adalib.sequential.replay._CELLS", 5 * min(48, few.samples) * few.samples)
    fewer = rule.replay(few, [1.5, 2])
    assert fewer.accuracy.mean() == pytest.approx(whole.accuracy.mean(), abs=0.1)
    monkeypatch.setattr("adalib.sequential.replay._FEWEST", 48)  # all orders, as for few questions
    parts = rule.replay(few, [1.5, 2])
    assert parts.cost.shape == whole.cost.shape
    assert not np.array_equal(parts.cost, fewer.cost)
    # Other orders of the same answers: the same but for their chance.
    assert parts.accuracy.mean() == pytest.approx(whole.accuracy.mean(), abs=0.05)
    assert np.array_equal(rule.replay(few.take(range(5)), [1.5, 2]).cost, parts.cost[:5])
