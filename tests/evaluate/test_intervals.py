"""Intervals and bounds of a mean: closed forms, a general solver, mirrors, and what is rare."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, minimize

from adalib.evaluate.intervals import (
    cautious_bound,
    guarded_bound,
    hidden_loss,
    mean_interval,
)

gains = st.lists(st.floats(-1, 1), min_size=2, max_size=12)


def ends(interval):
    return np.array([interval.low, interval.high])


# The ordinary interval.


def test_student():
    values = [0.02, 0.025, 0.024, 0.021]
    law = stats.t(3, np.mean(values), stats.sem(values))
    assert ends(mean_interval(values)) == pytest.approx(law.interval(0.95))
    assert ends(mean_interval(values, 0.8)) == pytest.approx(law.interval(0.8))


@given(gains)
def test_mirror(values):
    one, other = mean_interval(values), mean_interval([-v for v in values])
    assert (one.mean, one.low, one.high) == (-other.mean, -other.high, -other.low)
    assert one.low <= one.mean <= one.high


DRAWN = np.random.default_rng(1).uniform(-0.3, 0.3, (50, 3))


@pytest.mark.parametrize("column", range(3))
def test_every_column_is_taken_alone(column):
    alone = DRAWN[:, column]
    assert ends(mean_interval(DRAWN))[:, column] == pytest.approx(ends(mean_interval(alone)))
    assert cautious_bound(DRAWN)[column] == pytest.approx(cautious_bound(alone))


def test_many_columns_keep_their_order():
    """More of them than are worked on at a time, each with a higher gain than the one before."""
    columns = np.random.default_rng(2).uniform(-0.3, 0.3, (1000, 1)) + np.arange(300) / 1000
    bounds = cautious_bound(columns)
    assert (np.diff(bounds) > 0).all()
    assert bounds[-1] == pytest.approx(cautious_bound(columns[:, -1]))


def test_times_repeats_the_questions():
    values = DRAWN[:, 0]
    assert cautious_bound(values, times=3) == pytest.approx(cautious_bound(np.tile(values, 3)))


# The cautious bound.


@pytest.mark.parametrize(("losses", "n"), [(7, 40), (0, 40), (1, 372), (0, 31)])
def test_lost_or_not_is_a_binomial_likelihood(losses, n):
    """The likelihood ratio of a share, with two thirds of a loss more than there were."""
    lost, kept = losses + 2 / 3, n - losses
    best = lost / (n + 2 / 3)

    def excess(p):
        ratio = lost * np.log(best / p) + kept * np.log((1 - best) / (1 - p))
        return 2 * ratio - stats.t.ppf(0.95, n - 1) ** 2

    found = cautious_bound([-1.0] * losses + [0.0] * (n - losses))
    assert found == pytest.approx(-brentq(excess, best, 1 - 1e-12), abs=1e-7)


@pytest.mark.parametrize("losses", [0, 1, 3, 7])
@pytest.mark.parametrize("wrong", [0.05, 0.01])
def test_it_is_nearly_clopper_and_pearson(losses, wrong):
    """The exact bound of a share; ours is never more than 1% below it, and 5% above at most."""
    n = 2000
    exact = stats.beta.ppf(1 - wrong, losses + 1, n - losses)
    found = -cautious_bound([-1.0] * losses + [0.0] * (n - losses), wrong)
    assert 0.99 * exact <= found <= 1.05 * exact


@pytest.mark.parametrize("n", [40, 120, 285])
def test_false_claims_stay_below_five_percent_for_every_share_that_loses(n):
    """A share loses everything and the others gain what makes the mean 0: computed exactly."""
    for share in np.linspace(2.5, 12, 30) / n:
        losses = np.arange(int(share * n))
        drawn = np.where(np.arange(n)[:, None] < losses, share - 1, share)
        claims = losses[cautious_bound(drawn, 0.05) > 0]
        if claims.size:
            assert stats.binom.cdf(claims.max(), n, share) <= 0.05


def test_it_is_the_smallest_mean_that_weights_explain():
    """By a general solver: minimise the mean over weights whose likelihood is high enough."""
    values = np.random.default_rng(3).uniform(-0.4, 0.7, 9)
    x, w = np.append(values, -1.0), np.append(np.ones(9), 2 / 3)
    least = -(stats.t.ppf(0.95, 8) ** 2) / 2
    rules = [
        {"type": "eq", "fun": lambda q: w @ np.exp(q) - 1},
        {"type": "ineq", "fun": lambda q: w @ (q + np.log(w.sum())) - least},
    ]
    start = np.full(10, -np.log(w.sum()))
    solved = minimize(
        lambda q: w @ (np.exp(q) * x), start, constraints=rules, options={"ftol": 1e-12}
    )
    assert cautious_bound(values) == pytest.approx(solved.fun, abs=1e-5)


def test_for_many_questions_it_is_students_bound():
    values = np.random.default_rng(0).normal(0.1, 0.2, 100_000).clip(-1, 1)
    half = 1.645 * values.std() / np.sqrt(values.size)
    assert values.mean() - cautious_bound(values) == pytest.approx(half, rel=0.03)


@given(gains, st.floats(1, 3))
def test_it_is_cautious(values, most):
    """Below the mean, below the bound of a smaller loss, and never below the largest loss."""
    found = cautious_bound(values, most=most)
    assert -most - 1e-9 <= found <= np.mean(values) + 1e-9
    assert found <= cautious_bound(values) + 1e-9
    assert cautious_bound(values, wrong=0.01) <= cautious_bound(values) + 1e-9


@given(gains, st.floats(0, 0.5))
def test_who_gains_more_has_a_higher_bound(values, more):
    assert cautious_bound(np.array(values) + more) >= cautious_bound(values) - 1e-9


def test_a_loss_beyond_the_bound_counts_as_seen():
    values = [-1.7, 0.2, 0.3, 0.1]
    assert cautious_bound(values, most=1.0) == pytest.approx(cautious_bound(values, most=1.7))


# The guarded bound: one precaution at a time.


@given(gains, st.floats(0, 3))
def test_it_takes_the_larger_of_two_margins(values, most):
    """Of the losses that may be unseen, and of chance with the losses that were seen."""
    found, mean = guarded_bound(values, most=most), np.mean(values)
    losses = -np.maximum(-np.array(values), 0)
    assert found == pytest.approx(
        mean
        - max(
            mean - cautious_bound(values, most=0), losses.mean() - cautious_bound(losses, most=most)
        )
    )
    assert found >= cautious_bound(values, most=most) - 1e-9
    assert found <= mean + 1e-9


def test_where_no_loss_is_seen_the_share_that_may_be_hidden_counts_and_where_many_are_chance():
    """Gains of two points each lose 3 / N; those that vary a lot are left as Student has them."""
    assert guarded_bound([0.02] * 300) == pytest.approx(0.02 - hidden_loss(300), abs=2e-4)
    values = np.random.default_rng(0).normal(0.02, 0.2, 20_000).clip(-1, 1)
    student = mean_interval(values, 0.9).low
    assert values.mean() - guarded_bound(values) == pytest.approx(values.mean() - student, rel=0.02)


@pytest.mark.parametrize("swing", [0.0, 0.05, 0.1])
@pytest.mark.parametrize("n", [120, 300])
def test_false_claims_stay_below_five_percent_where_all_move_and_few_lose_all(n, swing):
    """Half of the questions move up and half down, some lose everything: computed exactly."""
    for expected in (1.5, 2.8, 4.0, 6.0):
        share = expected / n
        false = 0.0
        for lost in range(12):
            ups = np.arange(n - lost + 1)
            drawn = np.full((n, ups.size), share / (1 - share) - swing)
            drawn[:lost] = -1.0
            drawn[lost:][np.arange(n - lost)[:, None] < ups] += 2 * swing
            chances = stats.binom.pmf(ups, n - lost, 0.5)
            claims = chances[guarded_bound(drawn, 0.04) > 1e-9].sum()
            false += stats.binom.pmf(lost, n, share) * claims
        assert false <= 0.05


# Coverage, on worlds that the record of chapter 7 does not have.
RARE = {
    "rare gains": (
        lambda rng, s: np.where(rng.random(s) < 0.03, rng.uniform(0.4, 1, s), 0.0),
        0.021,
    ),
    "rare losses": (
        lambda rng, s: -np.where(rng.random(s) < 0.03, rng.uniform(0.4, 1, s), 0.0),
        -0.021,
    ),
    "all or nothing": (lambda rng, s: -(rng.random(s) < 0.06).astype(float), -0.06),
    "paid for by rare losses": (lambda rng, s: np.where(rng.random(s) < 0.04, -0.72, 0.03), 0.0),
    "everyday gains": (lambda rng, s: rng.normal(0.02, 0.1, s).clip(-1, 1), 0.02),
}


@pytest.mark.parametrize("name", RARE)
def test_bounds_hold_in_95_percent_of_samples(name):
    """From below and from above; a thousand samples leave 1.5 points to chance."""
    draw, truth = RARE[name]
    values = draw(np.random.default_rng(len(name)), (120, 1000))
    assert np.mean(cautious_bound(values) > truth) <= 0.065
    assert np.mean(-cautious_bound(-values) < truth) <= 0.065
    assert np.mean(guarded_bound(values, 0.04) > truth) <= 0.065
    assert np.mean(-guarded_bound(-values, 0.04) < truth) <= 0.065
    if name == "everyday gains":
        found = mean_interval(values)
        assert np.mean((found.low <= truth) & (truth <= found.high)) == pytest.approx(
            0.95, abs=0.02
        )


@pytest.mark.parametrize("n", [1, 31, 300])
def test_hidden_losses(n):
    assert (1 - hidden_loss(n)) ** n == pytest.approx(0.05)


@pytest.mark.parametrize("values", [[], [1.0, np.nan], np.ones((2, 2, 2))])
@pytest.mark.parametrize("rule", [mean_interval, cautious_bound, guarded_bound])
def test_what_has_no_mean_is_refused(values, rule):
    with pytest.raises(ValueError, match="one row per"):
        rule(values)


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(ValueError, match="at least two"):
        mean_interval([1.0])
    for level in (0, 95):
        with pytest.raises(ValueError, match="between 0 and 1"):
            mean_interval([0.0, 1.0], level)
        with pytest.raises(ValueError, match="between 0 and 1/2"):
            cautious_bound([0.0, 1.0], wrong=level)
    with pytest.raises(ValueError, match="from 0"):
        cautious_bound([0.0, 1.0], most=-1.0)
    with pytest.raises(ValueError, match="at least one question"):
        hidden_loss(0)
