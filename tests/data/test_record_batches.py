"""The record of the batches: a part of it by other code, and what must hold between its rows."""

import numpy as np
import pytest
from record_batches import reached

import adalib
from adabook.recorded import recorded
from adabook.scoreboard import BATCH_PRICE


def won(right, count):
    """How often the gold answer wins a vote of so many, drawn from many: Monte Carlo."""
    rng = np.random.default_rng(count)
    total = 0.0
    for classes, values in right:
        draw = classes[rng.permuted(np.tile(np.arange(len(classes)), (60, 1)), axis=1)[:, :count]]
        worth = {int(c): v for c, v in zip(classes, values, strict=True)}
        for row in draw:
            votes = np.bincount(row[row >= 0]) if (row >= 0).any() else np.zeros(1)
            leaders = np.flatnonzero(votes == votes.max()) if votes.max() else []
            total += np.mean([worth[int(c)] for c in leaders]) if len(leaders) else 0.0
    return total / (60 * len(right))


def test_the_same_for_everyone_is_as_right_as_watching_by_votes_that_are_drawn():
    """The number that the record says, by drawing answers, within what drawing leaves open."""
    way = {row["policy"]: row for row in recorded("batches")["gsm8k-gpt4omini"]}
    answers = adalib.load("gsm8k-gpt4omini")
    right = list(zip(answers.classes, answers.values, strict=True))
    needed = way["same"]["answers"]
    low = int(needed)
    share = needed - low
    found = (1 - share) * won(right, low) + share * won(right, low + 1)
    assert found == pytest.approx(way["watching"]["right"], abs=0.004)


@pytest.mark.parametrize("name", ["gsm8k-gpt4omini", "gsm8k", "math"])
def test_rounds_need_more_answers_and_cost_less(name):
    way = {row["policy"]: row for row in recorded("batches")[name]}
    one, rounds, same = (way[policy] for policy in ("watching", "2, 5, 16", "same"))
    assert one["answers"] == pytest.approx(3, abs=0.1)
    assert rounds["low"] <= rounds["answers"] <= rounds["high"]
    assert BATCH_PRICE * rounds["high"] < one["answers"]
    assert rounds["answers"] < same["answers"]
    assert 1 <= rounds["waits"] <= 3


def test_the_cost_is_read_off_the_envelope():
    cost = np.array([1.0, 2.0, 3.0, 5.0])
    right = np.array([0.5, 0.5, 0.8, 0.9])  # two are never worth it: a lot of one and three is
    assert reached(cost, right, 0.65) == pytest.approx(2.0)
    assert reached(cost, right, 0.9) == pytest.approx(5.0)
    assert reached(cost, right, 0.91) == np.inf
    assert reached(cost, right, 0.5) == pytest.approx(1.0)
