"""Flaws and the nulls on which they show."""

from __future__ import annotations

import pytest

from adabook import find_the_flaw
from adabook.flaws import NULLS, SINS, Flaw


@pytest.mark.parametrize("sin", SINS)
def test_every_sin_is_shown_by_a_null(sin):
    flaw = Flaw(SINS[sin], sin, 1)
    null = "shuffled" if sin == "overspent" else "flat"
    gain = flaw.run(null)["gain"].max()
    assert flaw.check(sin, null, gain).right
    assert not flaw.check(sin, null, gain + 0.01).right
    other = "leak" if sin == "in-sample" else "in-sample"
    assert "not the flaw" in flaw.check(other, null, gain).hint


def test_an_honest_experiment_shows_nothing_on_either_null():
    honest = Flaw("", "none", 1)
    assert max(honest.run("flat")["gain"].max(), honest.run("shuffled")["gain"].max()) < 0.008
    assert honest.table["gain"].max() > 0.02


@pytest.mark.parametrize("seed", [5, 12, 70])
def test_what_hides_its_sin_is_drawn_again(seed):
    flaw = find_the_flaw(seed)
    gain, null = max((flaw.run(null)["gain"].max(), null) for null in NULLS)
    (sin,) = (sin for sin, methods in SINS.items() if methods == flaw.methods)
    assert flaw.check(sin, null, gain).right


def test_seeds_reach_every_sin():
    missing = set(SINS.values())
    seed = 0
    while missing and seed < 40:
        missing.discard(find_the_flaw(seed).methods)
        seed += 1
    assert missing == set()
    assert "the sins are" in find_the_flaw(0).check("sloth", "flat", 0).hint
    assert "the nulls are" in find_the_flaw(0).check("leak", "void", 0).hint
    assert "almost no gain" in Flaw("", "in-sample", 1).check("in-sample", "shuffled", 0).hint
