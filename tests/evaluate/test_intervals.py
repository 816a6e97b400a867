"""Intervals of a mean: against closed forms, and covering where gains are rare."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from adalib.evaluate.intervals import bootstrap_mean

shares = st.lists(st.floats(-1, 1), min_size=1, max_size=12)


def test_interval_of_a_mean_is_the_normal_one_for_many_questions():
    values = np.random.default_rng(0).random(2000)
    found = bootstrap_mean(values, draws=4000)
    half = 1.96 * values.std() / np.sqrt(values.size)
    assert found.mean == pytest.approx(values.mean())
    assert [found.high - found.mean, found.mean - found.low] == pytest.approx([half, half], rel=0.08)


def test_an_interval_of_zeros_and_ones_is_a_beta_law():
    """Weights of questions that are all 0 or 1 add up to one, with the imaginary half on its side."""
    found = bootstrap_mean([1.0] * 7 + [0.0] * 33, draws=40_000, bounds=(0, 1))
    assert found.low == pytest.approx(beta.ppf(0.025, 7, 33.5), abs=0.003)
    assert found.high == pytest.approx(beta.ppf(0.975, 7.5, 33), abs=0.003)


@given(shares)
def test_what_is_mirrored_has_the_mirrored_interval(values):
    """In the long run: the weights of both ends have one law, so 4000 draws agree to their noise."""
    one, other = (bootstrap_mean(side, draws=4000, bounds=(-1, 1)) for side in (values, [-v for v in values]))
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=0.12)
    assert -1 <= one.low <= one.mean + 1e-12
    assert one.mean - 1e-12 <= one.high <= 1


def test_columns_are_weighed_together():
    found = bootstrap_mean(np.repeat(np.random.default_rng(1).random((50, 1)), 2, axis=1))
    assert (found.low[0], found.high[0]) == (found.low[1], found.high[1])


def test_a_value_beyond_the_bounds_moves_them_and_a_loss_that_nobody_showed_is_not_imagined_unless_asked():
    assert bootstrap_mean([3.0] * 9).high == pytest.approx(3)
    assert bootstrap_mean([3.0] * 9, bounds=(2, 5)).high > 3
    assert bootstrap_mean([0.0] * 40).low == 0
    assert bootstrap_mean([0.0] * 40, bounds=(-1, 1)).low < -0.03


def test_many_questions_are_weighed_as_few_are():
    """Skewed values just below and just above the number from which on weighings are taken as normal."""
    values = np.random.default_rng(0).random((5001, 2)) ** 8
    many, few = bootstrap_mean(values, draws=8000), bootstrap_mean(values[:5000], draws=8000)
    from_mean = [np.array([one.low, one.high]) - one.mean for one in (many, few)]
    assert from_mean[0] == pytest.approx(from_mean[1], abs=0.05 * (few.high - few.low).max())


@pytest.mark.parametrize("n", [5000, 100_000])
def test_memory_stays_a_few_megabytes_beyond_the_input(n):
    values = np.random.default_rng(0).random(n)
    tracemalloc.start()
    bootstrap_mean(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6e6


# Coverage: the three populations that chapter 7 shows, with fewer draws.
POPULATIONS = {
    "rare gains": (lambda rng, n: np.where(rng.random(n) < 0.05, rng.uniform(0.2, 1, n), 0.0), 0.03),
    "no gain": (lambda rng, n: np.where(rng.random(n) < 0.1, rng.uniform(-0.8, 0.8, n), 0.0), 0.0),
    "everyday gains": (lambda rng, n: rng.normal(0.03, 0.15, n).clip(-1, 1), 0.03),
}


@pytest.mark.parametrize("n", [40, 120, 372])
@pytest.mark.parametrize("name", POPULATIONS)
def test_it_covers_at_least_93_percent(name, n):
    """Of 400 samples; a coverage of .95 would show as .93 or less in 4 runs of 100, so the bar is two errors lower."""
    draw, truth = POPULATIONS[name]
    rng = np.random.default_rng([n, len(name)])
    found = [bootstrap_mean(draw(rng, n), draws=400) for _ in range(400)]
    assert np.mean([interval.low <= truth <= interval.high for interval in found]) > 0.93 - 2 * 0.0127


@pytest.mark.parametrize(
    ("values", "level", "said"),
    [
        *(([], 0.95, "one row a question"), ([1.0, np.nan], 0.95, "one row"), (np.ones((2, 2, 2)), 0.95, "one row")),
        *(([0, 1], level, "between 0 and 1") for level in (0, 1, 95)),
    ],
)
def test_what_cannot_be_averaged_is_refused(values, level, said):
    with pytest.raises(ValueError, match=said):
        bootstrap_mean(values, level)
