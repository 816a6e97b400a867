"""`CheckedStopping`, against the closed form of a Beta prior and simulated questions."""

import json

import numpy as np
import pytest

from adalib import CheckedStopping, Passes
from adalib.sequential.checked import CheckedSession


def drawn(n, attempts, seed, a=0.5, b=0.8):
    rng = np.random.default_rng(seed)
    p = rng.beta(a, b, size=n)
    return p, Passes(rng.binomial(attempts, p), attempts)


def test_the_chance_falls_as_a_beta_priors_does():
    _, passes = drawn(4000, 40, 0)
    vote = CheckedStopping().fit(passes).start(5.0)
    for failures in range(8):
        assert vote.chance == pytest.approx(0.5 / (1.3 + failures), abs=0.012)
        vote.add(passed=False)


@pytest.mark.parametrize("budget", [0.3, 1.0, 1.7, 4.0])
def test_a_budget_is_met_on_new_questions(budget):
    _, passes = drawn(3000, 30, 1)
    policy = CheckedStopping().fit(passes)
    low, high, share = policy.mix(budget)
    assert (1 - share) * policy.costs[low] + share * policy.costs[high] == pytest.approx(budget)
    caps = [policy.caps(number)[0] for number in (low, high)]
    assert caps[1] == caps[0] + 1  # a lot between adjacent caps
    rng = np.random.default_rng(2)
    chances, _ = drawn(6000, 30, 3)
    made = 0
    for p in chances:
        vote = policy.start(budget, rng=rng)
        while vote.goes_on:
            made += 1
            vote.add(passed=bool(rng.random() < p))
    assert made / chances.size == pytest.approx(budget, rel=0.08)


def test_features_that_know_reach_what_knowing_is_worth_and_noise_does_not():
    p, passes = drawn(800, 60, 4, 0.3, 0.7)
    noise = np.random.default_rng(5).normal(size=(800, 3))
    new_p, _ = drawn(800, 60, 6, 0.3, 0.7)
    found = {}
    for name, old, new in (
        ("knows", p[:, None], new_p[:, None]),
        ("noise", noise, noise[::-1]),
        ("one cap", None, None),
    ):
        policy = CheckedStopping(30).fit(passes, old)
        low, high, share = policy.mix(1.5)
        solved, cost = np.zeros(2), np.zeros(2)
        for side, member in enumerate((low, high)):
            caps = policy.caps(member, new, n=800)
            solved[side] = (1 - (1 - new_p) ** caps).mean()
            cost[side] = ((1 - (1 - new_p) ** caps) / new_p).mean()
        assert np.interp(share, [0, 1], cost) == pytest.approx(1.5, abs=0.15)
        found[name] = np.interp(share, [0, 1], solved)
    order = np.argsort(-new_p)
    knowing = np.interp(1.5, np.cumsum(1 / new_p[order]) / 800, np.arange(1, 801) / 800)
    assert found["knows"] > knowing - 0.03
    assert found["noise"] == pytest.approx(found["one cap"], abs=0.01)


def test_a_saved_policy_decides_alike():
    _, passes = drawn(100, 20, 7)
    policy = CheckedStopping().fit(passes)
    again = CheckedStopping.from_dict(json.loads(json.dumps(policy.to_dict())))
    assert [again.caps(m)[0] for m in range(again.costs.size)] == [
        policy.caps(m)[0] for m in range(policy.costs.size)
    ]
    assert again.mix(2.2) == policy.mix(2.2)


@pytest.mark.parametrize("damage", [{"p": [2.0]}, {"prices": []}, {"paid": [1]}, {"kind": "x"}])
def test_a_damaged_policy_is_refused(damage):
    _, passes = drawn(30, 10, 8)
    with pytest.raises(ValueError, match=r"\w"):
        CheckedStopping.from_dict(CheckedStopping().fit(passes).to_dict() | damage)


def test_a_price_of_an_attempt_counts_what_failures_cost():
    """Where a failed attempt costs three times a passed one, caps are those of the best curve."""
    paid = np.tile([3.0, 1.0], (500, 1))
    rng = np.random.default_rng(9)
    passed = rng.binomial(20, rng.beta(0.5, 0.5, size=500))
    policy = CheckedStopping().fit(Passes(passed, 20, paid=paid))
    priced = Passes(passed, 20, paid=paid)
    for member in range(0, policy.costs.size, 4):
        cap = policy.caps(member)[0]
        assert policy.costs[member] == pytest.approx(priced.cost([cap]).mean())
    assert (np.diff(policy.costs) > 0).all()
    assert (np.diff(policy.accuracies) > 0).all()


def test_a_session_ends_at_a_pass_and_stays_ended():
    vote = CheckedSession(np.array([0.5, 0.3, 0.2]), cap=2)
    assert vote.asks == 1
    assert vote.add(passed=True) is False
    assert vote.add(passed=False) is False
    assert (vote.passed, vote.goes_on, vote.asks) == (True, False, 0)


@pytest.mark.parametrize("said", [None, "yes", 1, float("nan")])
def test_a_check_must_say_true_or_false(said):
    with pytest.raises(ValueError, match="True or False"):
        CheckedSession(np.array([0.5]), cap=1).add(passed=said)


def test_nothing_passes_or_everything():
    hopeless = CheckedStopping().fit(Passes([0] * 20, 10))
    assert hopeless.start(3.0).chance < 0.01
    sure = CheckedStopping().fit(Passes([10] * 20, 10))
    vote = sure.start(1.0)
    assert vote.goes_on
    assert vote.chance > 0.98
    with pytest.raises(ValueError, match="budget"):
        sure.start(-1.0)
    with pytest.raises(ValueError, match="fit"):
        CheckedStopping().start(1.0)
