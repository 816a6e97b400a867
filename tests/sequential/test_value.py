"""Backward induction finds the optimum where it is known; the envelope over rules is chapter 3's."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adalib.sequential.priced import backward_induction, follow
from adalib.sequential.signals import Prior
from adalib.sequential.streams import corners, count_votes, mix_for
from adalib.solve.frontier import frontier

PEOPLE = np.array([0.9, 0.6, 0.35])  # how often the right one of two answers comes, in equal thirds
LAST = 7


def exact(price: float) -> tuple[float, float]:
    """Accuracy and answers of the best rule at a price, by dynamic programming over the counts of the two answers."""

    @cache
    def best(a: int, b: int) -> tuple[float, float]:
        here = _right(a, b)
        if a + b == LAST:
            return here, 0.0
        up = _next(a, b)
        first, second = best(a + 1, b), best(a, b + 1)
        onwards = up * first[0] + (1 - up) * second[0]
        asked = 1 + up * first[1] + (1 - up) * second[1]
        return (onwards, asked) if onwards - price * asked > here else (here, 0.0)

    def _mass(a: int, b: int) -> tuple[float, float]:
        """Chance of these counts when answer 0 is right, and when answer 1 is: which one is not known."""
        return float((PEOPLE**a * (1 - PEOPLE) ** b).mean()), float((PEOPLE**b * (1 - PEOPLE) ** a).mean())

    def _right(a: int, b: int) -> float:
        zero, one = _mass(a, b)
        return 0.5 if a == b else (zero if a > b else one) / (zero + one)

    def _next(a: int, b: int) -> float:
        return sum(_mass(a + 1, b)) / sum(_mass(a, b))

    first = best(1, 0)
    return first[0], first[1] + 1


@pytest.mark.parametrize("price", [0.002, 0.01, 0.03])
def test_against_dynamic_programming(price):
    rng = np.random.default_rng(0)
    m = 60_000
    right = rng.random((m, LAST)) < PEOPLE[rng.integers(0, 3, m)][:, None]
    classes = np.where(right, 0, 1)
    votes = count_votes(classes, right.astype(float))
    features = []
    for n in range(LAST - 1):
        # One indicator a state: then the regression is a table.
        features.append(np.array([votes.leader[:, n] == k for k in range(1, LAST)], dtype=float))
    cost = np.broadcast_to(np.arange(1.0, LAST + 1), votes.value.shape)
    fold = rng.integers(0, 5, m)
    _, stop = backward_induction(features, votes.value, cost, np.array([price]), fold, ridge=1e-9)
    accuracy = np.take_along_axis(votes.value, stop, axis=1).mean()
    best, asked = exact(price)
    assert accuracy - price * (stop.mean() + 1) == pytest.approx(best - price * asked, abs=0.004)


def test_a_price_of_nothing_goes_on_and_a_high_one_stops():
    rng = np.random.default_rng(1)
    value = np.sort(rng.random((400, 4)), axis=1)
    known = [np.ones((1, 400))] * 3
    cost = np.broadcast_to(np.arange(1.0, 5), value.shape)
    _, stop = backward_induction(known, value, cost, np.array([0.0, 10.0]), rng.integers(0, 4, 400))
    assert (stop[:, 0] == 3).all()
    assert (stop[:, 1] == 0).all()


def test_the_prior_left_out_is_a_fit_without():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    y = np.column_stack([x[:, 0] > 0, x[:, 1] > 0]).astype(float)
    fold = np.arange(40) % 4
    prior = Prior().fit(x, y, fold)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    kernel = np.exp(-((z[:, None] - z) ** 2).sum(axis=2) / (2 * prior.width**2 * 3))
    errors = []
    for ridge in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0):
        found = np.empty_like(y)
        for f in range(4):
            out, others = fold == f, fold != f
            fitted = np.linalg.solve(kernel[np.ix_(others, others)] + ridge * np.eye(30), (y - y.mean(axis=0))[others])
            found[out] = y.mean(axis=0) + kernel[np.ix_(out, others)] @ fitted
        errors.append(np.abs(found.clip(0, 1) - prior.left_out).max())
    assert min(errors) < 1e-9
    with pytest.raises(ValueError, match="finite"):
        Prior().fit([[np.nan]], [[0.0]], [0])


def test_follow_stops_at_the_first_that_is_not_worth_it():
    features = [np.array([[1.0, -1.0, 1.0]]), np.array([[1.0, 1.0, -1.0]])]
    fitted = np.array([[[0.0], [1.0]], [[0.0], [1.0]]])  # go on where the feature is positive
    assert follow(fitted, features).ravel().tolist() == [2, 0, 1]


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 20)), min_size=1, max_size=12), st.floats(0, 1))
def test_the_envelope_is_the_frontier_of_one_question(points, place):
    cost, accuracy = (np.array(part, dtype=float) for part in zip(*points, strict=True))
    accuracy /= 20
    order = np.lexsort((-accuracy, cost))
    budget = cost.min() + place * (cost.max() - cost.min())
    best = frontier(accuracy[None, order], cost[order]).at(budget)
    mix = mix_for(cost, accuracy, budget)
    paid = (1 - mix.share) * cost[mix.low] + mix.share * cost[mix.high]
    right = (1 - mix.share) * accuracy[mix.low] + mix.share * accuracy[mix.high]
    assert right == pytest.approx(best.bound, abs=1e-9)
    assert paid <= budget + 1e-9
    if mix.share:
        assert paid == pytest.approx(budget)


def test_corners_are_concave():
    rng = np.random.default_rng(0)
    cost, accuracy = rng.random((2, 200))
    best = corners(cost, accuracy)
    slopes = np.diff(accuracy[best]) / np.diff(cost[best])
    assert (slopes > 0).all()
    assert (np.diff(slopes) < 0).all()


def test_a_budget_below_the_cheapest_rule():
    with pytest.raises(ValueError, match="cheapest rule costs 2"):
        mix_for([2, 3], [0.5, 0.6], budget=1)
