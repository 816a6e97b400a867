"""The certificate: evidence by quadrature, chance of error by dynamic programming, and a policy
that waits for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from adalib.sequential.certificate import (
    certified,
    log_evidence,
)

ALPHA = 0.05


@given(st.integers(0, 60), st.integers(0, 60))
def test_evidence_is_the_integral(a, r):
    whole, _ = quad(
        lambda theta: 2 * (2 * theta) ** a * (2 * (1 - theta)) ** r, 0.5, 1, epsabs=0, limit=200
    )
    assert np.exp(log_evidence(a, r)) == pytest.approx(whole, rel=1e-9)
    assert np.exp(log_evidence(a, 0)) == pytest.approx((2.0 ** (a + 1) - 1) / (a + 1))


@given(st.integers(0, 200), st.integers(0, 200), st.floats(0, 0.5))
def test_it_rises_on_average_for_no_class_that_is_not_ahead(a, r, share):
    ahead, behind = np.exp(log_evidence([a + 1, a], [r, r + 1]) - log_evidence(a, r))
    assert share * ahead + (1 - share) * behind <= 1 + 1e-9
    assert ahead + behind == pytest.approx(2)  # a tie: a martingale


def chance_of(p, answers, alpha=ALPHA):
    """The chance that each of two classes, p and 1 - p, is certified first within so many answers:
    exact."""
    found = np.zeros(2)
    x, x0 = np.indices(
        (answers, answers)
    )  # votes after the first class's first, and of these before the second came
    for first, (own, other) in enumerate(((p, 1 - p), (1 - p, p))):
        alone, states = own, np.zeros((answers, answers))
        for n in range(1, answers + 1):
            if n > 1:
                new = np.zeros_like(states)
                new[1:] += own * states[:-1]
                new += other * states
                new[n - 2, n - 2] += (
                    alone * other
                )  # the second class comes after n - 2 further votes of the first
                alone, states = alone * own, new
            if log_evidence(n - 1, 0) >= np.log(2 / alpha):
                found[first] += alone
                alone = 0.0
            y = n - 1 - x  # votes of the second class
            there = (y >= 1) & (x0 <= x)
            against = there & (log_evidence(x, np.where(there, y, 0)) >= np.log(2 / alpha))
            late = log_evidence(np.where(there, y - 1, 0), np.where(there, x - x0, 0)) >= np.log(
                6 / alpha
            )
            late &= there & ~against
            found[first] += states[against].sum()
            found[1 - first] += states[late].sum()
            states[against | late] = 0.0
    return found


@pytest.mark.parametrize("p", [0.5, 0.499, 0.48, 0.4, 0.1])
def test_the_chance_of_error_is_within_alpha_by_dynamic_programming(p):
    wrong, right = chance_of(p, 150)
    assert (
        wrong + (right if p == 0.5 else 0.0) < ALPHA / 2
    )  # at a tie whatever is certified is wrong
    assert chance_of(p, 40)[1] <= right


def test_dynamic_programming_and_simulation_agree():
    for p, answers in ((0.5, 100), (0.8, 40)):
        classes = (np.random.default_rng(1).random((4000, answers)) >= p).astype(int)
        _, which = certified(classes, ALPHA)
        found = np.bincount(which + 1, minlength=3)[1:] / 4000
        exact = chance_of(p, answers)
        assert found == pytest.approx(
            exact, abs=4 * np.sqrt(exact.max() * (1 - exact.max()) / 4000)
        )


@pytest.mark.parametrize(
    "shares", [[1 / 3] * 3, [0.4, 0.4, 0.2], [0.1] * 10, [0.3, 0.3, *[0.02] * 20]]
)
def test_ties_among_many_are_seldom_certified(shares):
    classes = np.random.default_rng(2).choice(len(shares), p=shares, size=(2000, 120))
    _, which = certified(classes, ALPHA)
    assert (which >= 0).mean() < ALPHA


def test_certainty_is_dear():
    classes = (np.random.default_rng(3).random((2000, 100)) >= 0.8).astype(int)
    when, which = certified(classes, ALPHA)
    assert np.median(when) == 23  # where a Beta threshold of 0.95 takes 7
    assert (which == 0).mean() > 0.99
