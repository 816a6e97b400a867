"""An answer that opens the vote, against a plain enumeration."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adalib
from adalib.datasets.files import DataError
from adalib.evaluate.first_vote import first_vote_table, joined
from adalib.vote.estimators import majority


def answered(rows):
    return adalib.Responses(
        [str(i) for i, _ in enumerate(rows)], ["?"] * len(rows), ["7"] * len(rows), rows
    )


ANSWERS = st.sampled_from(["7", "8", "9", ""])


@given(st.lists(ANSWERS, min_size=4, max_size=7))
def test_every_vote_that_the_first_answer_opens(answers):
    """Brute force: all choices of b - 1 among the others."""
    acc = first_vote_table(*answered([answers]).set_aside(0), budgets=[1, 2, 3]).acc[0]
    for b, value in zip([1, 2, 3], acc, strict=True):
        votes = [
            majority([answers[0], *rest]).get("7", 0.0) for rest in combinations(answers[1:], b - 1)
        ]
        assert value == pytest.approx(np.mean(votes), abs=1e-9)


@given(st.lists(st.lists(ANSWERS, min_size=6, max_size=6), min_size=1, max_size=4))
def test_averaged_over_who_is_first_it_is_the_ordinary_estimate(rows):
    """Every subset of b answers has b first ones."""
    all_of_them, budgets = answered(rows), [1, 2, 4, 5]
    opened = [first_vote_table(*all_of_them.set_aside(j), budgets).acc for j in range(6)]
    assert np.mean(opened, axis=0) == pytest.approx(all_of_them.table(budgets).acc, abs=1e-9)


def test_what_is_set_aside_can_be_joined_again():
    real = adalib.load("word-fewshot").take(range(3))
    again = joined(*real.set_aside(0))
    assert again.answers == real.answers
    for name in ("values", "tokens", "logprob", "entropy"):
        np.testing.assert_array_equal(getattr(again, name), getattr(real, name))


def test_first_answers_must_fit():
    for answers, sample in ((["7", "8", "9"], -1), (["7", "8"], 2), (["7"], 0)):
        with pytest.raises(
            DataError, match="at least two" if len(answers) == 1 else "give a place from 0"
        ):
            answered([answers]).set_aside(sample)
    first, rest = answered([["7", "8"]]).set_aside(0)
    for change in ({"ids": ["another"]}, {"answers": [["7", "8"]]}):
        with pytest.raises(ValueError, match="one per question"):
            joined(replace(first, **change), rest)
