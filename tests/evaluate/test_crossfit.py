"""The honest oracle, against closed forms, loops over samples, and a population that nothing
helps."""

from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import adalib
from adalib.datasets.files import DataError
from adalib.datasets.populations import Population, flat_null, two_answer
from adalib.evaluate.crossfit import cross_fitted_oracle, rehearse_oracle, score_oracle
from adalib.table import UtilityTable
from adalib.vote.estimators import acc_subsets
from adalib.vote.iid import acc_iid

PAIRS = hnp.arrays(
    int, st.tuples(st.just(2), st.integers(2, 5), st.integers(1, 4)), elements=st.integers(0, 12)
)


@settings(deadline=None, max_examples=100)
@given(PAIRS, st.floats(1, 6))
def test_labels_are_looked_up_in_the_other_table(pair, target):
    cost = np.arange(1, pair.shape[2] + 1.0)
    choose, score = (UtilityTable(acc / 12, cost) for acc in pair)
    best = adalib.frontier(choose.acc, cost).at(target)
    found = score_oracle(choose, score, [target])
    assert (found.claimed.mean(), found.cost.mean()) == pytest.approx((best.accuracy, best.cost))
    assert found.cost.mean() <= target + 1e-12
    assert found.accuracy[:, 0].tolist() == score.acc[np.arange(score.n), best.labels].tolist()
    assert score_oracle(choose, choose, [target]).optimism.mean.tolist() == [0]


def every_sample(p, R, budgets):
    """All tables that R answers to two-answer questions can give, with their probabilities."""
    for counts in product(range(R + 1), repeat=len(p)):
        chances = [comb(R, k) * q**k * (1 - q) ** (R - k) for k, q in zip(counts, p, strict=True)]
        classes = np.array([[0] * k + [1] * (R - k) for k in counts])
        acc = acc_subsets(classes, classes == 0, budgets)
        yield np.prod(chances), UtilityTable(acc, budgets)


@pytest.mark.parametrize("target", [1.0, 2.0, 3.0])
def test_the_truth_lies_between_cross_fitted_and_in_sample(target):
    """By exact sums: every sample of three answers to two questions, and every pair of samples."""
    budgets, p = (1, 3), (0.7, 0.4)
    truth = UtilityTable(two_answer(p).acc(budgets), budgets)
    samples = list(every_sample(p, 3, budgets))
    best = adalib.frontier(truth).at(target).accuracy
    claimed = labelled = crossed = 0.0
    for chance, one in samples:
        found = score_oracle(one, truth, [target])
        claimed += chance * found.claimed.mean()
        labelled += chance * found.accuracy.mean()
        for other_chance, other in samples:
            scored = score_oracle(one, other, [target]).accuracy.mean()
            crossed += chance * other_chance * scored
    assert crossed == pytest.approx(labelled)  # scoring on fresh samples is unbiased
    assert labelled - 1e-12 <= best <= claimed + 1e-12


@pytest.mark.parametrize("trials", [1, 8, 16])
def test_optimism_of_two_flat_budgets_is_a_binomial_coefficient(trials):
    """The larger of two means of R fair coins exceeds 1/2 by C(2R, R) / (2 * 4^R) on average."""
    n = 40_000
    estimate = np.random.default_rng(trials).binomial(trials, 0.5, (n, 2)) / trials
    found = score_oracle(
        UtilityTable(estimate, [1, 1]), UtilityTable(np.full((n, 2), 0.5), [1, 1]), [1]
    )
    optimism = found.claimed - found.accuracy
    chance = 4 * optimism.std() / np.sqrt(n)
    expected = comb(2 * trials, trials) / (2 * 4**trials)
    assert optimism.mean() == pytest.approx(expected, abs=chance)


@pytest.mark.parametrize("options", [{}, {"estimator": "windows", "ties": "first"}])
def test_a_rehearsal_is_a_loop_over_samples(options):
    probs = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.4, 0.6, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    population = Population(probs, np.zeros(4, dtype=int), empty=2)
    budgets, targets = (1, 2, 4), (1.5, 2.5)
    truth = population.table(budgets)
    assert truth.acc == pytest.approx(acc_iid(probs, 0, budgets, empty=2))
    found, crossed = (
        rehearse_oracle(population, 10, targets, budgets, draws=3, seed=5, halves=halves, **options)
        for halves in (False, True)
    )
    for d in range(3):
        sample = population.sample(10, 5 + d)
        one = score_oracle(sample.table(budgets, **options), truth, targets)
        halves = [
            replace(sample, answers=[row[part] for row in sample.answers]).table(budgets, **options)
            for part in (slice(5), slice(5, 10))
        ]
        there, back = score_oracle(*halves, targets), score_oracle(*halves[::-1], targets)
        for name in ("claimed", "accuracy", "cost"):
            assert getattr(found, name)[d] == pytest.approx(getattr(one, name).mean(axis=0))
            both = getattr(there, name) + getattr(back, name)
            assert getattr(crossed, name)[d] == pytest.approx(both.mean(axis=0) / 2)


def test_cross_fitting_is_both_directions_averaged():
    responses = adalib.load("word-fewshot").take(range(0, 372, 12))
    halves = [half.table() for half in responses.split_samples(3)]
    there, back = score_oracle(*halves, [2]), score_oracle(*halves[::-1], [2])
    found = cross_fitted_oracle(responses, [2], splits=1, seed=3)
    for name in ("claimed", "accuracy", "cost"):
        assert getattr(found, name) == pytest.approx(
            (getattr(there, name) + getattr(back, name)) / 2
        )
    tokens = responses.tokens.mean()  # the other half's are paid
    found = cross_fitted_oracle(responses, [2 * tokens], (1, 2, 4), splits=2, cost="tokens")
    assert found.cost.mean() == pytest.approx(2 * tokens, rel=0.15)


def test_a_null_is_unmasked_by_cross_fitting():
    null = flat_null(300).sample(96)
    for options in ({}, {"estimator": "windows", "ties": "first"}):
        found = cross_fitted_oracle(null, [3], **options)
        assert found.optimism.low[0] > 0.005
        assert found.value.low[0] < 0.5 < found.value.high[0]


def test_what_cannot_be_crossed_is_refused():
    few = flat_null(10).sample(24)
    with pytest.raises(DataError, match=r"\b12\b.*\b16\b.*\b32\b"):
        cross_fitted_oracle(few, [2])
    with pytest.raises(ValueError, match="at least 1"):
        cross_fitted_oracle(few, [2], budgets=(1, 4), splits=0)
    one, two = UtilityTable([[0.5]], [1]), UtilityTable([[0.5]], [1], ids=["other"])
    with pytest.raises(ValueError, match="different questions or budgets"):
        score_oracle(one, two, [1])
