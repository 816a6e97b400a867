"""An answer that opens the vote: against a plain enumeration, and in the held-out protocol."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adalib
from adalib.datasets.files import DataError
from adalib.datasets.populations import two_answer
from adalib.evaluate.heldout import Known, first_vote_table, held_out, joined
from adalib.learn.label_policy import CurvePolicy
from adalib.vote.estimators import majority


def responses(rows):
    n = len(rows)
    return adalib.Responses([str(i) for i in range(n)], ["?"] * n, ["7"] * n, rows)


@given(st.lists(st.sampled_from(["7", "8", "9", ""]), min_size=4, max_size=7))
def test_every_vote_that_the_first_answer_opens(answers):
    """Brute force: all choices of b - 1 among the others."""
    found = first_vote_table(*responses([answers]).set_aside(0), budgets=[1, 2, 3]).acc[0]
    for b, value in zip([1, 2, 3], found, strict=True):
        votes = [majority([answers[0], *rest]).get("7", 0.0) for rest in combinations(answers[1:], b - 1)]
        assert value == pytest.approx(np.mean(votes), abs=1e-9)


@given(st.lists(st.lists(st.sampled_from(["7", "8", "9", ""]), min_size=6, max_size=6), min_size=1, max_size=4))
def test_averaged_over_who_is_first_it_is_the_ordinary_estimate(rows):
    """Every subset of b answers has b first ones."""
    all_of_them, budgets = responses(rows), [1, 2, 4, 5]
    opened = [first_vote_table(*all_of_them.set_aside(j), budgets).acc for j in range(6)]
    assert np.mean(opened, axis=0) == pytest.approx(all_of_them.table(budgets).acc, abs=1e-9)


def test_a_sample_is_set_aside_with_all_that_belongs_to_it():
    real = adalib.load("word-fewshot").take(range(3))
    first, rest = real.set_aside(5)
    for q in range(3):
        assert first.extras["entropy"][q] == [real.extras["entropy"][q][5]]
        assert rest.answers[q] == [*real.answers[q][:5], *real.answers[q][6:]]
        assert first.extras["family"][q] == real.extras["family"][q]
    assert (first.samples, rest.samples) == (1, 95)
    assert joined(*real.set_aside(0)).answers == real.answers


@pytest.mark.parametrize("sample", [-1, 3])
def test_a_sample_that_is_not_there_is_refused(sample):
    with pytest.raises(DataError, match="give a place from 0"):
        responses([["7", "8", "9"]]).set_aside(sample)


def test_the_only_sample_cannot_be_set_aside():
    with pytest.raises(DataError, match="at least two"):
        responses([["7"]]).set_aside(0)


def test_first_answers_must_fit():
    first, rest = responses([["7", "8"]]).set_aside(0)
    with pytest.raises(ValueError, match="one a question"):
        joined(replace(first, ids=["another"]), rest)
    with pytest.raises(ValueError, match="one a question"):
        joined(replace(first, answers=[["7", "8"]]), rest)


@pytest.fixture(scope="module")
def doubtful():
    """Questions that are all alike, and a signal that knows whether its own answer is right."""
    first, rest = two_answer(np.full(60, 0.7)).sample(33, seed=3).set_aside(0)
    return first, rest, first.values


def curve(rest, signal, target=2.0, **how):
    learners = {"curve": CurvePolicy()}
    rows = held_out(rest, [target], (1, 8), features=Known(signal, **how), learners=learners, noises=0)
    return next(row for row in rows if row.policy == "curve")


def test_an_answer_that_is_thrown_away_is_paid_for(doubtful):
    _, rest, signal = doubtful
    free, counted = (curve(rest, signal, overhead=extra) for extra in (0.0, 1.0))
    assert counted.cost == pytest.approx(free.cost + 1)
    assert counted.accuracy == free.accuracy
    assert counted.mix_accuracy > free.mix_accuracy


def test_the_answer_that_was_looked_at_is_in_the_vote_that_is_scored(doubtful):
    """Whoever buys one answer has the first one where it opens the vote, and an average one where it does not."""
    first, rest, signal = doubtful
    opened = curve(rest, signal, target=1.0, first=first)
    assert (opened.cost, opened.accuracy) == (1.0, pytest.approx(first.values.mean()))
    assert curve(rest, signal, target=1.0).accuracy == pytest.approx(rest.values.mean())


def test_the_reference_rows_do_not_pay_for_the_signal(doubtful):
    _, rest, signal = doubtful
    plain = held_out(rest, [2], (1, 8), features=signal)
    counted = held_out(rest, [2], (1, 8), features=Known(signal, overhead=1.0))
    for one, other in zip(plain, counted, strict=True):
        assert other.cost - one.cost == pytest.approx(1.0 if one.policy in ("label", "curve") else 0.0)
