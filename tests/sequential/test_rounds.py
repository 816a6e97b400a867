"""A price on waiting: against dynamic programming in a world of two answers, and played live."""

from functools import cache

import numpy as np
import pytest

from adalib.datasets.populations import beta_population
from adalib.sequential.files import load_stopping, save_stopping
from adalib.sequential.policy import PricedStopping
from adalib.sequential.rounds import SIZES, PricedRounds, rounds_induction, walked
from adalib.sequential.votes import count_votes

PEOPLE, LAST = (
    np.array([0.9, 0.6, 0.35]),
    7,
)  # how often the right one of two answers comes, in equal thirds


def best_rule(price, wait):
    """What the best rule gains at two prices, by dynamic programming over the counts of the two
    answers."""

    def mass(a, b):
        """The chance of one order of these counts if answer 0 is right, and if answer 1 is."""
        return (PEOPLE**a * (1 - PEOPLE) ** b).mean(), (PEOPLE**b * (1 - PEOPLE) ** a).mean()

    def after(a, b, more):  # counts after so many more answers, with their chances
        states = {(a, b): 1.0}
        for _ in range(more):
            grown = {}
            for (x, y), chance in states.items():
                up = sum(mass(x + 1, y)) / sum(mass(x, y))
                for state, share in (((x + 1, y), up), ((x, y + 1), 1 - up)):
                    grown[state] = grown.get(state, 0.0) + chance * share
            states = grown
        return states

    @cache
    def best(a, b):
        zero, one = mass(a, b)
        here = (
            -np.inf
            if not a + b
            else 0.5
            if a == b
            else max((a > b) * zero, (a < b) * one) / (zero + one)
        )
        ways = [here]
        for more in SIZES:
            if a + b + more <= LAST:
                onwards = sum(chance * best(*state) for state, chance in after(a, b, more).items())
                ways.append(onwards - price * more - wait)
        return max(ways)

    return best(0, 0)


@pytest.mark.parametrize(
    ("price", "wait"), [(0.0, 0.0), (0.005, 0.002), (0.01, 0.02), (0.03, 0.0), (0.002, 0.2)]
)
def test_induction_against_dynamic_programming(price, wait):
    rng, m = np.random.default_rng(0), 60_000
    right = rng.random((m, LAST)) < PEOPLE[rng.integers(0, 3, m)][:, None]
    votes = count_votes(np.where(right, 0, 1), right.astype(float))
    value = np.hstack([np.zeros((m, 1)), votes.value])
    cost = np.tile(np.arange(LAST + 1.0), (m, 1))
    # One indicator a state: then the regression is a table.
    states = [
        np.array([votes.leader[:, n] == k for k in range(1, LAST)], dtype=float)
        for n in range(LAST - 1)
    ]
    _, chosen = rounds_induction(
        [np.zeros((0, m)), *states], value, cost, np.array([price]), wait, rng.integers(0, 5, m)
    )
    answers, rounds = walked(chosen.__getitem__, LAST, (m, 1))
    gained = (
        np.take_along_axis(value, answers, axis=1).mean()
        - price * answers.mean()
        - wait * rounds.mean()
    )
    assert gained == pytest.approx(best_rule(price, wait), abs=0.004)


@pytest.fixture(scope="module")
def halves():
    return beta_population(300, 1.5, 1.5, seed=2).sample(64).split_samples(0)


def test_half_the_rounds_for_the_same_accuracy(halves):
    teach, score = halves
    one = (
        PricedStopping(("votes",), schedule=range(1, 25), exact=True)
        .fit(teach)
        .replay(score, [6.0])
    )
    some = PricedRounds(0.003, ("votes",), exact=True).fit(teach).replay(score, [6.0])
    assert some.rounds.mean() < 0.5 * one.rounds.mean()
    assert some.answers.mean() == pytest.approx(one.answers.mean(), rel=0.05)
    assert some.accuracy.mean() > one.accuracy.mean() - 0.01
    dear = PricedRounds(1.0, ("votes",), exact=True).fit(teach).replay(score, [6.0])
    assert (
        dear.rounds.max() == 1
    )  # nobody waits twice where a round costs as much as a right answer brings


def test_a_session_asks_as_the_replay(halves, tmp_path):
    teach, score = halves
    policy = PricedRounds(0.003, ("votes",), most=12, repeats=4).fit(teach)
    save_stopping(policy, tmp_path / "policy.json")
    policy = load_stopping(tmp_path / "policy.json", PricedRounds)
    streams = policy.streams(score, 1, 1)
    stops, _, rounds = policy.walk(policy.members, streams)
    for row in range(0, len(stops), 25):
        for number in range(len(policy.members)):
            session = policy.begin(number)
            came = streams.classes[row].tolist()
            asked = 0
            waited = 0
            while session.goes_on:
                waited += 1
                for _ in range(session.asks):
                    session.add(came[asked])
                    asked += 1
            assert (asked, waited) == (stops[row, number] + 1, rounds[row, number])
    with pytest.raises(ValueError, match="adalib stopping, version 3"):
        load_stopping(tmp_path / "policy.json")
    with pytest.raises(ValueError, match="round_price is -1"):
        PricedRounds(-1)
