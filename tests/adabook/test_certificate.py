"""The certificate: evidence by quadrature, streams by its definition, and ties that deserve
none."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from adabook.certificate import certified, log_evidence

ALPHA = 0.05


@given(st.integers(0, 60), st.integers(0, 60))
def test_evidence_is_the_integral(a, r):
    whole, _ = quad(
        lambda theta: 2 * (2 * theta) ** a * (2 * (1 - theta)) ** r, 0.5, 1, epsabs=0, limit=200
    )
    assert np.exp(log_evidence(a, r)) == pytest.approx(whole, rel=1e-9)


@given(st.integers(0, 200), st.integers(0, 200), st.floats(0, 0.5))
def test_it_rises_on_average_for_no_class_that_is_not_ahead(a, r, share):
    ahead, behind = np.exp(log_evidence([a + 1, a], [r, r + 1]) - log_evidence(a, r))
    assert share * ahead + (1 - share) * behind <= 1 + 1e-9
    assert ahead + behind == pytest.approx(2)  # a tie: a martingale


def by_definition(stream):
    """When a class first has, against every rival and after its own first vote, the evidence that
    its place in the order of appearance asks for; and which class."""
    for n in range(1, len(stream) + 1):
        seen = list(dict.fromkeys(c for c in stream[:n] if c >= 0))
        for place, own in enumerate(seen, start=1):
            votes = Counter(stream[stream.index(own) + 1 : n])
            rival = max((votes[other] for other in seen if other != own), default=0)
            if log_evidence(votes[own], rival) >= np.log(place * (place + 1) / ALPHA):
                return n, own
    return len(stream) + 1, -1


@pytest.mark.parametrize(
    ("answers", "shares"),
    [(12, [0.1, 0.9]), (60, [0.3, 0.7]), (60, [0.1, 0.2, 0.7]), (60, [0.3, 0.1, 0.1, 0.5])],
)
def test_streams_by_the_definition(answers, shares):
    """The last class stands for answers that could not be read, where there are four."""
    drawn = np.random.default_rng(1).choice(len(shares), p=shares, size=(100, answers))
    classes = np.where(drawn == 3, -1, drawn)
    when, which = certified(classes, ALPHA)
    expected = [by_definition(stream) for stream in classes.tolist()]
    assert list(zip(when, which, strict=True)) == expected
    assert {-1} < {own for _, own in expected}  # some are certified, and some are not


@pytest.mark.parametrize("shares", [[0.5, 0.5], [1 / 3] * 3, [0.1] * 10, [0.3, 0.3, *[0.02] * 20]])
def test_ties_are_seldom_certified(shares):
    classes = np.random.default_rng(2).choice(len(shares), p=shares, size=(2000, 120))
    _, which = certified(classes, ALPHA)
    assert (which >= 0).mean() < ALPHA
