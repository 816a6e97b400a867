"""Rows from what policies did on two halves: means, intervals and shares, by hand."""

import numpy as np
import pytest

from adalib.evaluate.baselines import best_mix
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.scores import Outcome, Scores
from adalib.sequential.alike import Alike
from adalib.table import UtilityTable

N = 12
RNG = np.random.default_rng(0)
HALVES = [UtilityTable(np.sort(RNG.random((N, 2)), axis=1), [1, 3]) for _ in range(2)]
RISE = sum(table.acc[:, 1] - table.acc[:, 0] for table in HALVES)
COLUMNS = (np.median(RISE) < RISE).astype(int)  # more for the half that gains most


def scored(member, families=False):
    """The oracle, which gives half of the questions more, and the mix, on both halves."""
    scores = Scores(["oracle", "mix"])
    for table in HALVES:
        chosen = Outcome(table.cost[COLUMNS], table.acc[np.arange(N), COLUMNS])
        scores.add("oracle", 2.0, chosen, Alike.of_tables([table]))
        plan = best_mix(table.acc, table.cost, 2.0)
        scores.add(
            "mix", 2.0, Outcome(*plan.outcome(table)), Alike.of_tables([table]), imitation=0.25
        )
    return scores.rows(member, families)


def test_halves_are_averaged_question_by_question():
    oracle, mix = scored(np.arange(N))
    accuracy = np.mean([table.acc[np.arange(N), COLUMNS] for table in HALVES], axis=0)
    at_two = np.mean([table.acc.mean(axis=1) for table in HALVES], axis=0)  # halfway from 1 to 3
    gain = mean_interval(accuracy - at_two)
    assert (oracle.cost, oracle.accuracy) == pytest.approx((2.0, accuracy.mean()))
    assert (oracle.gain, oracle.gain_low, oracle.gain_high) == pytest.approx(
        (gain.mean, gain.low, gain.high)
    )
    assert oracle.mix_accuracy == pytest.approx(at_two.mean())
    assert (oracle.imitation, mix.imitation) == (None, 0.25)


def test_the_mix_gains_nothing_and_has_no_interval():
    _, mix = scored(np.arange(N))
    assert mix.gain == pytest.approx(0.0, abs=1e-15)
    assert (mix.gain_low, mix.gain_high) == (None, None)
    assert mix.mix_cost == pytest.approx(2.0)


def test_groups_keep_the_mean_and_have_their_own_spread():
    member = np.repeat([0, 1, 2], [6, 4, 2])
    alone, _ = scored(np.arange(N))
    grouped, _ = scored(member, families=True)
    assert grouped.gain == pytest.approx(alone.gain)
    assert grouped.gains.shape == (3,)
    assert grouped.gains.mean() == pytest.approx(alone.gain)
    assert (grouped.families, grouped.largest) == (True, 6 / 4)


def test_a_share_is_of_the_oracles_gain():
    oracle, mix = scored(np.arange(N))
    assert oracle.gain > 0
    assert oracle.share == 1.0
    assert mix.share == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("right", [True, False])
def test_intervals_end_where_no_mean_can_lie(right):
    """Three questions, nearly all right or all wrong, beside a mix that is right on all."""
    accuracy = np.array([1, 1, 0.9]) if right else np.array([0, 0, 0.4])
    scores = Scores(["all"])
    scores.add("all", 1.0, Outcome(np.ones(3), accuracy), Alike(np.ones((3, 1)), np.ones((3, 1))))
    (row,) = scores.rows(np.arange(3))
    free = mean_interval(accuracy)
    if right:
        assert (row.low, row.high) == (free.low, 1.0)
        assert free.high > 1
    else:
        assert (row.low, row.high) == (0.0, free.high)
        assert (row.gain_low, row.gain_high) == pytest.approx((-1.0, free.high - 1))
        assert free.low < 0


def test_whoever_is_cheaper_than_the_cheapest_budget_is_compared_with_that():
    table = UtilityTable([[0.3, 0.6], [0.5, 0.8]], [2, 4])
    mix = Alike.of_tables([table]).at(1.25)
    np.testing.assert_array_equal(mix, [0.3, 0.5])
