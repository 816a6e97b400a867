"""Intervals of a mean: against closed forms and a general solver, mirrored, and covering what is rare."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, minimize

import adalib
from adalib.evaluate.intervals import mean_interval, question_interval

gains = st.lists(st.floats(-1, 1), min_size=2, max_size=12)


def ends(interval):
    return np.array([interval.low, interval.high])


@pytest.mark.parametrize(("ones", "n"), [(7, 40), (0, 40), (40, 40), (1, 372)])
def test_zeros_and_ones_are_a_binomial_likelihood(ones, n):
    """The likelihood ratio of a share, with half a success more for the upper end and half a failure for the lower."""

    def upper(k):
        right, wrong = k + 0.5, n - k
        if not wrong:
            return 1.0
        best = right / (n + 0.5)

        def excess(p):
            return 2 * (right * np.log(best / p) + wrong * np.log((1 - best) / (1 - p))) - critical

        return brentq(excess, best, 1 - 1e-12)

    critical = stats.t.ppf(0.975, n - 1) ** 2
    found = question_interval([1.0] * ones + [0.0] * (n - ones), bounds=(0, 1))
    assert ends(found) == pytest.approx([1 - upper(n - ones), upper(ones)], abs=1e-7)


def test_the_upper_end_is_the_largest_mean_that_weights_explain():
    """By a general solver: maximise the mean over weights whose likelihood is high enough."""
    values = np.random.default_rng(3).uniform(-0.4, 0.7, 9)
    x, w = np.append(values, 1.0), np.append(np.ones(9), 0.5)
    least = -(stats.t.ppf(0.975, 8) ** 2) / 2
    rules = [
        {"type": "eq", "fun": lambda q: w @ np.exp(q) - 1},
        {"type": "ineq", "fun": lambda q: w @ (q + np.log(9.5)) - least},
    ]
    start = np.full(10, -np.log(9.5))
    solved = minimize(lambda q: -(w @ (np.exp(q) * x)), start, constraints=rules, options={"ftol": 1e-12})
    assert question_interval(values).high == pytest.approx(-solved.fun, abs=1e-5)


def test_for_many_questions_it_is_the_normal_interval():
    values = np.random.default_rng(0).normal(0.1, 0.2, 100_000).clip(-1, 1)
    half = 1.96 * values.std() / np.sqrt(values.size)
    assert ends(question_interval(values)) - values.mean() == pytest.approx([-half, half], abs=0.03 * half)


@given(gains)
def test_what_is_mirrored_has_the_mirrored_interval(values):
    """Exactly, for both rules; and an accuracy that is counted from the other end has the interval seen from there."""
    for rule in (question_interval, mean_interval):
        one, other = rule(values), rule([-v for v in values])
        assert (one.mean, one.low, one.high) == (-other.mean, -other.high, -other.low)
        assert one.low <= one.mean <= one.high
    found = question_interval(values)
    assert found.low >= -1
    assert found.high <= 1
    shares = np.abs(values)
    right, wrong = question_interval(shares, bounds=(0, 1)), question_interval(1 - shares, bounds=(0, 1))
    assert ends(right) == pytest.approx(1 - ends(wrong)[::-1], abs=1e-6)


@given(gains, gains)
def test_with_the_arguments_swapped_a_comparison_says_the_opposite(ours, theirs):
    n = min(len(ours), len(theirs))
    ours, theirs = np.array(ours[:n]) / 2, np.array(theirs[:n]) / 2
    ahead, behind = question_interval(ours - theirs), question_interval(theirs - ours)
    assert (ahead.low > 0) == (behind.high < 0)
    assert (ahead.high < 0) == (behind.low > 0)


def test_every_column_has_its_own_interval_and_may_have_its_own_bounds():
    values = np.random.default_rng(1).uniform(-0.3, 0.3, (50, 3))
    found = question_interval(values, bounds=([-1, -0.5, -0.3], [1, 0.5, 0.3]))
    for j, bound in enumerate((1, 0.5, 0.3)):
        alone = question_interval(values[:, j], bounds=(-bound, bound))
        assert [found.low[j], found.high[j]] == pytest.approx([alone.low, alone.high], abs=1e-9)


def test_a_question_that_came_three_times_counts_three_times():
    values = np.random.default_rng(2).uniform(-0.5, 0.9, 20)
    assert ends(question_interval(values, times=3)) == pytest.approx(ends(question_interval(np.tile(values, 3))))
    wide, narrow = (np.ptp(ends(mean_interval(values, times=times))) for times in (1, 4))
    assert narrow == pytest.approx(wide / 2 * stats.t.ppf(0.975, 79) / stats.t.ppf(0.975, 19))


def test_few_means_have_students_interval():
    values = [0.02, 0.025, 0.024, 0.021]
    law = stats.t(3, np.mean(values), stats.sem(values))
    assert ends(mean_interval(values)) == pytest.approx(law.interval(0.95))
    drawn = adalib.rehearse_oracle(adalib.flat_null(50), 32, [3], draws=5)
    assert ends(drawn.optimism).ravel() == pytest.approx(ends(mean_interval(drawn.claimed - drawn.accuracy)).ravel())


@pytest.mark.parametrize("n", [5000, 100_000])
def test_memory_stays_a_few_megabytes_beyond_the_input(n):
    values = np.random.default_rng(0).random(n)
    tracemalloc.start()
    question_interval(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


# Coverage, on worlds that the record of chapter 7 does not have.
WORLDS = {
    "rare gains": (lambda rng, s: np.where(rng.random(s) < 0.03, rng.uniform(0.4, 1, s), 0.0), 0.021),
    "rare losses": (lambda rng, s: -np.where(rng.random(s) < 0.03, rng.uniform(0.4, 1, s), 0.0), -0.021),
    "all or nothing": (lambda rng, s: -(rng.random(s) < 0.06).astype(float), -0.06),
    "paid for by rare losses": (lambda rng, s: np.where(rng.random(s) < 0.04, -0.72, 0.03), 0.0),
    "everyday gains": (lambda rng, s: rng.normal(0.02, 0.1, s).clip(-1, 1), 0.02),
}


@pytest.mark.parametrize("n", [40, 120, 372])
@pytest.mark.parametrize("name", WORLDS)
def test_it_covers_at_least_93_percent_and_is_wrong_on_either_side_in_at_most_4(name, n):
    draw, truth = WORLDS[name]
    found = question_interval(draw(np.random.default_rng([n, len(name)]), (n, 1000)))
    assert np.mean((found.low <= truth) & (truth <= found.high)) >= 0.93
    assert max(np.mean(found.low > truth), np.mean(found.high < truth)) <= 0.04


@pytest.mark.parametrize(
    ("values", "level", "said"),
    [
        *(([], 0.95, "one row per"), ([1.0, np.nan], 0.95, "one row"), (np.ones((2, 2, 2)), 0.95, "one row")),
        *(([0, 1], level, "between 0 and 1") for level in (0, 1, 95)),
        ([0.5, 1.5], 0.95, "outside the bounds"),
    ],
)
def test_what_cannot_be_averaged_is_refused(values, level, said):
    with pytest.raises(ValueError, match=said):
        question_interval(values, level)
    with pytest.raises(ValueError, match="at least two"):
        mean_interval([1.0])
