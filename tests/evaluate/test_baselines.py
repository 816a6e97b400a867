"""Baselines: against linear programs, brute force and the paper's printed table."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from adabook.paper.settings import PAPER, PAPER_SETTINGS
from adalib.datasets.populations import beta_population
from adalib.evaluate import baselines
from adalib.evaluate.baselines import Plan, waiting_times
from adalib.evaluate.heldout import Protocol, held_out
from adalib.sequential.priced_stopping import PricedStopping

COST = np.array([1.0, 2, 4, 8, 16])
ACC = hnp.arrays(
    float,
    st.tuples(st.integers(1, 6), st.just(5)),
    elements=st.integers(0, 48).map(lambda c: c / 48),
)


@given(ACC, st.floats(1, 20))
def test_best_mix_is_the_linear_program_over_uniform_budgets(acc, budget):
    plan = baselines.best_mix(acc, COST, budget)
    solved = linprog(
        -acc.mean(axis=0), A_ub=[COST], b_ub=[budget], A_eq=[np.ones(5)], b_eq=[1], bounds=(0, 1)
    )
    assert plan.expected(acc).mean() == pytest.approx(-solved.fun, abs=1e-9)
    assert plan.expected(COST).mean() <= budget + 1e-9
    assert (plan.weights == plan.weights[0]).all()


@given(st.floats(1, 20))
def test_random_and_fixed_keep_to_the_budget(budget):
    assert baselines.random(COST, budget, 3).expected(COST) == pytest.approx(
        np.full(3, min(budget, 16))
    )
    whole = 2.0 ** int(min(budget, 5) - 1)  # a budget of the table, where both are the same
    np.testing.assert_array_equal(
        *(plan(COST, whole, 2).weights for plan in (baselines.random, baselines.fixed))
    )
    assert baselines.fixed(COST, budget, 1).expected(COST)[0] == max(c for c in COST if c <= budget)


@pytest.mark.parametrize("name", PAPER_SETTINGS)
def test_length_costs_what_the_paper_prints(name):
    plans = [baselines.length(np.arange(200), COST, budget) for budget in (1.5, 2.0, 3.0)]
    printed = PAPER[name]["main"]["Heuristic"]["cost"]
    assert [plan.expected(COST).mean() for plan in plans] == pytest.approx(printed, abs=0.005)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.floats(1, 16))
def test_length_takes_the_fewest_longest_that_reach_the_budget(lengths, budget):
    weights = baselines.length(lengths, COST, budget).weights
    dear = weights[:, 4] == 1
    assert (weights[:, 0] == ~dear).all()
    assert (
        not dear.any()
        or dear.all()
        or np.array(lengths)[dear].min() >= np.array(lengths)[~dear].max()
    )
    cost = weights @ COST
    assert cost.mean() >= budget - 1e-9
    assert not dear.any() or (cost.sum() - 15) / cost.size < budget


def test_costs_by_question_count_with_their_mean():
    plan = baselines.length(["aaaa", "bb", "cccccc"], [[1, 3], [1, 9], [2, 4]], budget=2)
    assert plan.weights.argmax(axis=1).tolist() == [0, 0, 1]  # (1 + 1 + 4) / 3 reaches it
    cost = np.array([[1.0, 2.0], [3.0, 6.0]])
    plan = baselines.best_mix([[0.2, 0.4], [0.4, 0.8]], cost, budget=3)
    assert plan.weights == pytest.approx(np.full((2, 2), 0.5))
    assert plan.expected(cost).mean() == pytest.approx(3)
    assert baselines.fixed(cost, 3.9, 2).weights[0].tolist() == [1, 0]


def test_a_plan_draws_what_it_expects():
    plan = Plan([[0.2, 0.0, 0.8]] * 20_000)
    assert np.bincount(plan.draw(rng=3), minlength=3) / 20_000 == pytest.approx(
        [0.2, 0, 0.8], abs=0.02
    )
    labels = baselines.from_labels([2, 0, 1], 3)
    assert labels.draw(rng=1).tolist() == [2, 0, 1]
    assert labels.expected(np.arange(9).reshape(3, 3)).tolist() == [2, 3, 7]


def test_noise_is_gaussian():
    noise = baselines.noise_features(5000, seed=4)
    assert noise.shape == (5000, 16)
    assert np.abs(noise.mean()).max() < 0.06
    assert np.abs(np.cov(noise.T) - np.eye(16)).max() < 0.1
    np.testing.assert_array_equal(noise, baselines.noise_features(5000, seed=4))
    assert not np.allclose(noise, baselines.noise_features(5000, seed=5))


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: Plan([[0.5, 0.6]]), "row 0 of weights"),
        (lambda: Plan([[1.5, -0.5]]), "row 0 of weights"),
        (lambda: Plan([0.5, 0.5]), "one row per question"),
        (lambda: Plan([[1, 0]]).expected([1, 2, 3]), "shapes"),
        (lambda: baselines.from_labels([0, 3], 3), "from 0 to 2"),
        (lambda: baselines.fixed(COST, 0.5, 2), "at least the cheapest"),
        (lambda: baselines.random(COST, np.nan, 2), "give a finite number"),
        (lambda: baselines.best_mix([[0.5, 2]], [1, 2], 2), r"acc\[0, 1\]"),
    ],
)
def test_what_is_refused(action, message):
    with pytest.raises(ValueError, match=message):
        action()


# Waiting for answers that run side by side, against all subsets.


@pytest.fixture(scope="module")
def timed():
    sampled = beta_population(30, 1, 1).sample(8)
    return replace(sampled, tokens=np.random.default_rng(0).integers(1, 90, (30, 8)).astype(float))


def test_the_longest_of_all_subsets(timed):
    found = waiting_times(timed, (1, 2, 3, 5, 8))
    for column, budget in enumerate((1, 2, 3, 5, 8)):
        for row in range(timed.n):
            longest = [max(some) for some in combinations(timed.tokens[row], budget)]
            assert found[row, column] == pytest.approx(np.mean(longest) / timed.tokens.mean())


def test_without_tokens_all_take_the_same_time(timed):
    assert (waiting_times(replace(timed, tokens=None), (1, 4)) == 1).all()


def test_rows_have_the_waiting_of_their_policy(timed):
    learners = {"stopping": PricedStopping(("votes",), schedule=range(1, 5), repeats=2)}
    protocol = Protocol(folds=2)
    rows = held_out(timed, [2.0], (1, 2, 4), learners=learners, noises=0, protocol=protocol)
    waiting = {row.policy: row.waiting for row in rows}
    halves = timed.split_samples(0)
    two = [waiting_times(half, [2]).mean() for half in halves]
    assert waiting["fixed"] == pytest.approx(np.mean(two))
    (stopping,) = (row for row in rows if row.policy == "stopping")
    assert stopping.waiting == pytest.approx(stopping.cost)
