"""Priors of a chance, against the distributions that the passes were drawn from."""

import numpy as np
import pytest
from scipy.stats import betabinom

from adalib.sequential.prior import beta_by_moments, free_form, grid_for, likelihood


def test_moments_of_exact_passes_give_the_beta_back():
    a, b, attempts = 0.6, 1.7, 12
    share = betabinom.pmf(np.arange(attempts + 1), attempts, a, b)
    passed = np.repeat(np.arange(attempts + 1), np.round(share * 200_000).astype(int))
    assert beta_by_moments(passed, attempts) == pytest.approx((a, b), rel=0.01)


def test_alike_questions_have_an_even_prior():
    rng = np.random.default_rng(0)
    a, b = beta_by_moments(rng.binomial(20, 0.3, size=50) * 0 + 6, 20)
    assert a / (a + b + 10) == pytest.approx(0.3, abs=1e-4)


def test_free_form_never_makes_the_passes_less_likely():
    rng = np.random.default_rng(1)
    passed = rng.binomial(15, rng.beta(0.5, 1, size=80))
    p = grid_for(15, 30)
    like = likelihood(p, passed, np.full(80, 15))
    found = [np.log(like @ free_form(passed, 15, p, rounds)[1]).sum() for rounds in range(1, 40)]
    assert (np.diff(found) >= -1e-9).all()


def test_free_form_is_the_likeliest():
    """At the maximum no chance on the grid would add to the likelihood (Lindsay's gradient)."""
    rng = np.random.default_rng(2)
    passed = rng.binomial(10, rng.choice([0.0, 0.5], size=200))
    p = np.linspace(0, 1, 11)
    _, weights, own = free_form(passed, 10, p, rounds=3000)
    like = likelihood(p, passed, np.full(200, 10))
    assert (like / (like @ weights)[:, None]).mean(axis=0).max() < 1 + 1e-3
    assert weights[0] == pytest.approx(np.mean(passed == 0), abs=0.03)
    assert own.sum(axis=1) == pytest.approx(1)


def test_likelihood_at_the_ends_is_sound():
    like = likelihood(np.array([0.0, 0.5, 1.0]), [0, 3, 1], [3, 3, 3])
    assert like[0] == pytest.approx([1.0, 0.125, 0.0])
    assert like[1] == pytest.approx([0.0, 0.125, 1.0])
    assert like[2].tolist() == [0.0, 1.0, 0.0]
