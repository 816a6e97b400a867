"""The verdict on made-up rows: what it claims, what it denies, and how often it is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from adalib.evaluate.heldout import HeldOutRow, verdict

LOOKS = [(policy, target) for target in (1.5, 3.0) for policy in ("oracle", "label", "curve", "noise")]


def rows(gains, low=0.01, high=0.1, looks=LOOKS):
    """A row a look, all with the same gains or each with its own."""
    each = gains if callable(gains) else lambda: gains
    figures = {"cost": 2.0, "accuracy": 0.5, "low": 0.4, "high": 0.6, "mix_accuracy": 0.5, "gain": 0.0}
    rest = {"gain_low": low, "gain_high": high, "share": None, "imitation": None, "majority": None}
    return [HeldOutRow(policy=policy, target=target, gains=each(), **figures, **rest) for policy, target in looks]


@pytest.mark.parametrize("n", [50, 10_050])  # so many that signs are drawn in parts, eight of a byte
@pytest.mark.parametrize(("units", "claimed"), [(4, False), (6, False), (7, True)])
def test_luck_with_a_handful_is_no_evidence(units, claimed, n):
    """All of k units gain: one chance in 2^k, and four looks share 5%, so that six are too few and seven enough."""
    gains = np.zeros(n)
    gains[:units] = 0.2
    assert ("allocation pays" in verdict(rows(gains))) == claimed


@pytest.mark.parametrize(
    ("high", "says"), [(0.02, "is not shown to pay here"), (0.0099, "does not pay here"), (0.009, "does not pay here")]
)
def test_nothing_is_denied_that_the_interval_allows(high, says):
    """No gain is clear of chance. Whether one that matters is excluded decides between the two words."""
    flat = rows(np.tile([0.01, -0.01], 25), -high, high)
    assert says in verdict(flat)
    assert "is not shown to pay" in verdict(flat, matters=high / 2)


def test_false_claims_are_as_rare_as_the_text_says():
    """Symmetric gains, so nobody gains: of 400 made-up evaluations with two looks at most about 5% claim one."""
    rng = np.random.default_rng(0)
    two = [("oracle", 1.5), ("label", 1.5), ("curve", 1.5)]
    drawn = [rows(lambda: rng.normal(0, 0.1, 60), low=1.0, looks=two) for _ in range(400)]
    assert 0.02 * 400 < sum("allocation pays" in verdict(one) for one in drawn) < 0.075 * 400


def test_a_verdict_needs_somebody_who_learns():
    with pytest.raises(ValueError, match="at least one learner"):
        verdict(rows(np.zeros(10), looks=[("oracle", 2.0), ("noise", 2.0)]))
