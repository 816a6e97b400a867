"""Go on, or go up: against brute force, against populations where the best rule is known, and on a
menu of one."""

import sys

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from adalib import Menu, Responses

sys.path.insert(0, str(ROOT / "data"))
from escalation import PricedEscalation, settle


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_with_true_guesses_every_stream_takes_its_best_way(steps, streams, seed):
    rng = np.random.default_rng(seed)
    prices = np.sort(rng.random(3)) / 3
    value, unit = rng.random((streams, steps + 1)), rng.random() + 0.1
    up = rng.random((streams, 3)) * 4, rng.random((streams, 3))
    paid, worth = settle(
        [np.zeros((0, streams))] * (steps + 1), value, up, unit, prices, lambda step, state, y: y
    )
    for m in range(streams):
        for j, price in enumerate(prices):
            kept = [value[m, s] - price * s * unit for s in range(steps + 1)]
            gone = [up[1][m, j] - price * (up[0][m, j] + s * unit) for s in range(steps + 1)]
            assert worth[m, j] - price * paid[m, j] == pytest.approx(max(kept + gone))


def two_models(n=120, hard=0.4, dear_right=True):
    """The cheap model knows the easy questions and guesses at the others; the dear one knows all,
    or nothing."""
    rows = [f"q{i}" for i in range(n)]
    easy = np.arange(n) >= hard * n
    cheap = [["7"] * 16 if solvable else [str(100 + j) for j in range(16)] for solvable in easy]
    dear = [["7" if dear_right else "8"] * 16 for _ in rows]
    models = {
        name: Responses(rows, rows, ["7"] * n, replies)
        for name, replies in (("cheap", cheap), ("dear", dear))
    }
    return Menu(models, prices={"cheap": 1, "dear": 10})


def played(menu, budget):
    """Cost and accuracy of every other question, by a policy of the others."""
    ((paid, worth),) = (
        PricedEscalation()
        .fit(menu.take(range(0, 120, 2)))
        .replay(menu.take(range(1, 120, 2)), [budget])
    )
    return paid, worth


def test_answers_that_differ_go_up():
    paid, worth = played(two_models(), 2 + 0.4 * 10)
    assert worth.mean() > 0.99
    assert paid.mean() == pytest.approx(6, abs=0.2)
    assert set(np.round(paid)) == {2, 12}  # the one rule that is right for all at that cost


def test_no_question_goes_up_to_a_model_that_is_always_wrong():
    paid, worth = played(two_models(dear_right=False), 8.0)
    assert paid.max() <= 8
    assert worth.mean() == pytest.approx(0.6)
    one = Menu({"cheap": two_models().models["cheap"]}, prices={"cheap": 1})
    with pytest.raises(ValueError, match="the menu has 1 models"):
        PricedEscalation().fit(one)
