"""Votes from counts lie between two bounds, which have closed forms."""

import itertools

import numpy as np
import pytest

from adabook.paper.counts import bounded_votes, bounds
from adabook.paper.settings import answers as cached_answers
from adalib import pass_at
from adalib.datasets.responses import Responses
from adalib.vote.estimators import acc_subsets

BUDGETS = (1, 2, 3, 4, 5)


def vote_by_hand(classes: tuple[int, ...]) -> float:
    """The chance that class 0 wins a vote, tied classes sharing."""
    votes = np.bincount(classes)
    leaders = np.flatnonzero(votes == votes.max())
    return float(0 in leaders) / leaders.size


def average_vote(classes: list[int], budget: int) -> float:
    return float(np.mean([vote_by_hand(some) for some in itertools.combinations(classes, budget)]))


@pytest.fixture(scope="module")
def counted() -> Responses:
    """Seven answers to eight questions, of which 0 to 7 are right."""
    values = np.arange(7) < np.arange(8)[:, None]
    answers = np.where(values, "0", "1").tolist()
    ids = [f"q{i}" for i in range(8)]
    return Responses(ids, ids, ["0"] * 8, answers)


def test_both_bounds_are_those_of_all_subsets_counted_by_hand():
    closed = bounded_votes(np.arange(8), 7, BUDGETS)
    for right in range(8):
        agree = [0] * right + [1] * (7 - right)
        differ = [0] * right + list(range(1, 8 - right))
        for number, classes in enumerate((agree, differ)):
            by_hand = [average_vote(classes, b) for b in BUDGETS]
            np.testing.assert_allclose(closed[number, right], by_hand, atol=1e-12)


def test_answers_of_both_kinds_give_the_closed_forms(counted):
    kinds = bounds(counted)
    closed = bounded_votes(np.arange(8), 7, BUDGETS)
    for answers, expected in zip(kinds, closed, strict=True):
        np.testing.assert_allclose(answers.table(BUDGETS).acc, expected, atol=1e-12)


def test_every_vote_with_as_many_right_answers_lies_between_the_bounds():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 5, (300, 7))
    values = (classes == 0).astype(float)
    low, high = bounded_votes(values.sum(axis=1), 7, BUDGETS)
    real = acc_subsets(classes, values, BUDGETS)
    assert (low - 1e-12 <= real).all()
    assert (real <= high + 1e-12).all()


def test_real_votes_of_eight_lie_between_the_bounds_of_their_counts():
    """Question by question, as far as a vote of all eight has no ties to share."""
    answers = cached_answers("math-qwen7b")
    right = np.array(answers.extras["right_math_of_8"])
    low, high = bounded_votes(right, 8, (8,))[..., 0]
    vote = np.array(answers.extras["vote_math_of_8"])
    assert (vote[low == 1] == 1).mean() > 0.995
    assert (vote[high == 0] == 0).all()
    assert low.mean() < vote.mean() < high.mean()


def test_with_a_verifier_counts_are_exact():
    answers = cached_answers("math-qwen7b").take(range(50))
    by_hand = [
        1 - np.prod([(50 - right - i) / (50 - i) for i in range(4)])
        for right in answers.values.sum(axis=1)
    ]
    np.testing.assert_allclose(pass_at(answers.values, (4,))[:, 0], by_hand, atol=1e-12)
