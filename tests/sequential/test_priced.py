"""Priced stopping on populations whose truth is known, and on real answers; every control."""

import json
from dataclasses import replace

import numpy as np
import pytest

from adalib import load, noise_features, text_features
from adalib.datasets.populations import Population, beta_population, flat_null
from adalib.datasets.sealed import seal
from adalib.sequential.peers import PEERS, TunedRules
from adalib.sequential.priced import PricedStopping, load_stopping, save_stopping
from adalib.sequential.signals import SIGNALS, USUAL
from adalib.sequential.streams import Money


@pytest.fixture(scope="module")
def real():
    answers = load("word-hot").take(range(0, 372, 2))
    teach, score = answers.split_samples(0)
    chosen = np.random.default_rng(0).permutation(answers.n)
    train, test = chosen[:130], chosen[130:]
    known = text_features(answers.questions).to_numpy(dtype=float)
    return teach.take(train), score.take(test), known[train], known[test]


def test_budgets_are_met_exactly_where_it_was_fitted(real):
    policy = PricedStopping().fit(real[0], real[2])
    for budget in (1.0, 1.5, 2.0, 5.0):
        mix = policy.mix(budget)
        assert (1 - mix.share) * policy.costs[mix.low] + mix.share * policy.costs[mix.high] == pytest.approx(budget)
    found = policy.replay(real[1], [1.5, 3.0], real[3])
    assert found.cost.mean(axis=0) == pytest.approx([1.5, 3.0], rel=0.15)  # 56 questions
    assert found.accuracy.shape == (56, 2)


def test_signals_add_up(real):
    teach, score, known, unknown = real
    accuracy = {}
    for name, signals in {"votes": (), "text": ("text",), "certainty": ("certainty",)}.items():
        accuracy[name] = PricedStopping(("votes", *signals)).fit(teach, known).replay(score, [3.0], unknown).accuracy
    assert accuracy["certainty"].mean() > accuracy["votes"].mean() + 0.05
    assert accuracy["text"].mean() > accuracy["votes"].mean() + 0.01


@pytest.mark.parametrize("signals", [USUAL, tuple(SIGNALS)])
def test_a_session_decides_as_the_replay(real, signals):
    teach, score, known, unknown = real
    policy = PricedStopping(signals).fit(teach, known)
    assert set(policy.heard) == set(signals)
    streams = policy._streams(score, 1, 2)
    said = {field: streams.read(field) for field in policy.reads}
    stops = policy._stops(policy.seen(streams, unknown), policy.members)
    rng = np.random.default_rng(0)
    for row in rng.choice(len(streams.question), 25, replace=False):
        for number in rng.choice(len(policy.members), 3, replace=False):
            budget = policy.costs[number]
            session = policy.start(budget, unknown[streams.question[row]])
            assert session._member == policy.members[number]
            for answer, *numbers in zip(streams.classes[row], *(field[row] for field in said.values()), strict=True):
                if not session.add("" if answer < 0 else int(answer), **dict(zip(said, numbers, strict=True))):
                    break
            assert session._n == policy.schedule[stops[row, number]]
            assert not session.goes_on
            assert len(session.leaders) <= 1


def test_what_a_session_needs(real):
    policy = PricedStopping().fit(real[0], real[2])
    with pytest.raises(ValueError, match="features"):
        policy.start(2.0)
    with pytest.raises(ValueError, match="logprob"):
        policy.start(2.0, real[3][0]).add("7")


@pytest.mark.parametrize("signals", [USUAL, tuple(SIGNALS)])
def test_saved_and_loaded(real, tmp_path, signals):
    policy = PricedStopping(signals).fit(real[0], real[2])
    save_stopping(policy, tmp_path / "policy.json")
    again = load_stopping(tmp_path / "policy.json")
    first, second = (p.replay(real[1], [1.5, 4.0], real[3]) for p in (policy, again))
    assert np.array_equal(first.accuracy, second.accuracy)
    assert np.array_equal(first.cost, second.cost)
    (bad,) = seal([{"format": "adalib stopping, version 3", "signals": ["votes"]}])
    (tmp_path / "bad.json").write_text(json.dumps(bad) + "\n")
    with pytest.raises(ValueError, match="sound policy"):
        load_stopping(tmp_path / "bad.json")


def test_a_price_list_is_saved_too(real, tmp_path):
    bill = Money(per_token=0.002, per_answer=0.1)
    policy = PricedStopping(("votes",), cost=bill, schedule=range(1, 9), repeats=4).fit(real[0])
    save_stopping(policy, tmp_path / "policy.json")
    again = load_stopping(tmp_path / "policy.json")
    assert again.cost == bill
    spend = 2 * bill(real[1]).mean()
    assert np.array_equal(policy.replay(real[1], [spend]).cost, again.replay(real[1], [spend]).cost)
    policy.cost = lambda responses: responses.tokens
    with pytest.raises(ValueError, match="cannot be saved"):
        save_stopping(policy, tmp_path / "other.json")


def test_no_gain_where_votes_say_nothing():
    # Every answer is right or wrong by a fair coin: no vote, however long, is better than one answer.
    teach, score = flat_null(240).sample(96).split_samples(0)
    policy = PricedStopping().fit(teach)
    found = policy.replay(score, [4.0])
    assert found.accuracy.mean() == pytest.approx(0.5, abs=0.02)


def test_noise_for_a_text_adds_nothing(real):
    teach, score, _, _ = real
    votes = PricedStopping(("votes",)).fit(teach).replay(score, [2.0, 4.0])
    noise = noise_features(teach.n + score.n, seed=3).to_numpy()
    blind = PricedStopping(("votes", "text")).fit(teach, noise[: teach.n]).replay(score, [2.0, 4.0], noise[teach.n :])
    assert (blind.accuracy.mean(axis=0) - votes.accuracy.mean(axis=0) < 0.01).all()


def test_shuffled_certainty_adds_nothing(real):
    def shuffled(answers):
        flat = np.random.default_rng(5).permutation(answers.logprob.ravel())
        return replace(answers, logprob=flat.reshape(answers.logprob.shape))

    teach, score, _, _ = real
    votes = PricedStopping(("votes",)).fit(teach).replay(score, [2.0, 4.0])
    blind = PricedStopping(("votes", "certainty")).fit(shuffled(teach)).replay(shuffled(score), [2.0, 4.0])
    assert (blind.accuracy.mean(axis=0) - votes.accuracy.mean(axis=0) < 0.01).all()


def test_at_least_as_good_as_leads_and_beta_thresholds():
    teach, score = beta_population(400, 1.5, 1.5, seed=1).sample(96).split_samples(0)
    policy = PricedStopping().fit(teach)
    for name in ("margin", "adaptive_consistency", "esc"):
        peer = TunedRules(PEERS[name]).fit(teach)
        for budget in (1.5, 3.0, 6.0):
            ours, theirs = (p.replay(score, [budget]).accuracy.mean() for p in (policy, peer))
            assert ours > theirs - 0.006, (name, budget)


def test_in_rounds_it_waits_less():
    teach, score = beta_population(200, 1.5, 1.5, seed=2).sample(64).split_samples(0)
    one = PricedStopping().fit(teach).replay(score, [6.0])
    four = PricedStopping(schedule=range(4, 33, 4)).fit(teach).replay(score, [6.0])
    assert four.rounds.mean() < 0.5 * one.rounds.mean()
    assert four.cost.mean() == pytest.approx(6, rel=0.1)
    assert four.answers == pytest.approx(four.cost)


def test_costs_in_tokens_and_money(real):
    teach, score, known, unknown = real
    mean = teach.tokens.mean()
    tokens = PricedStopping(cost="tokens").fit(teach, known)
    found = tokens.replay(score, [2 * mean], unknown)
    assert found.cost.mean() == pytest.approx(2 * mean, rel=0.2)
    # A price list that only rescales the tokens changes nothing.
    money = PricedStopping(cost=Money(per_token=0.001)).fit(teach, known).replay(score, [2 * mean / 1000], unknown)
    assert np.allclose(money.accuracy, found.accuracy)


def test_sixteen_answers_are_enough_and_correct_may_be_given():
    answers = Population(np.tile([0.55, 0.45], (60, 1)), np.zeros(60, dtype=int)).sample(16)
    given = replace(answers, golds=["?"] * 60, correct=answers.values)
    teach, score = given.split_samples(0)
    found = PricedStopping().fit(teach).replay(score, [1.0, 3.0])
    assert found.cost.mean(axis=0) == pytest.approx([1.0, 3.0], rel=0.05)


def test_bad_arguments():
    with pytest.raises(ValueError, match="no signal"):
        PricedStopping(("votes", "mood"))
    with pytest.raises(ValueError, match="schedule"):
        PricedStopping(schedule=[4, 2])


def test_a_text_that_says_nothing_is_not_listened_to(real):
    teach, score, known, _ = real
    noise = noise_features(teach.n + score.n).to_numpy()
    deaf = PricedStopping().fit(teach, noise[: teach.n])
    assert "text" not in deaf.heard
    assert PricedStopping().fit(teach, known).heard["text"].prior.explained > 0.15
    votes = PricedStopping(("votes", "certainty")).fit(teach)
    assert np.array_equal(deaf.replay(score, [2.0], noise[teach.n :]).cost, votes.replay(score, [2.0]).cost)
