"""The verdict: held-out rows put into one sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adalib.evaluate.heldout import BASELINES, HeldOutRow

__all__ = ["verdict"]


def verdict(rows: Sequence[HeldOutRow]) -> str:
    """Say in one sentence whether adaptive allocation pays: at which target, and with which policy.

    It pays where a learned policy (``label``, ``curve`` or one given to `held_out`) beats the best random mix at equal
    cost, and chance is no explanation. Explained in chapter 7, "Results".

    Parameters
    ----------
    rows : sequence of HeldOutRow
        What `held_out` returned.
    """
    tried = [row for row in rows if row.policy not in (*BASELINES, "noise")]
    if not tried:
        raise ValueError("no row is of a policy that learns; give held_out at least one learner")
    oracles = [row for row in rows if row.policy == "oracle"]
    # Whoever looks at many 95% intervals will find one above zero where nothing is. Each look at a learned policy
    # therefore gets its share of the 5% (Bonferroni): the chance of any false claim stays about 5%.
    chance = _by_chance(np.column_stack([row.gains for row in tried + oracles]), 0.025 / len(tried))
    clear = [row.gain_low > 0 and not luck for row, luck in zip(tried + oracles, chance, strict=True)]
    paying = [row for row, sure in zip(tried, clear, strict=False) if sure]
    best = max(paying or tried, key=lambda row: row.gain)
    found = (
        f"{best.policy} at target {best.target:g} gains {best.gain:+.4f} accuracy over the best random mix at equal "
        f"cost {best.cost:.2f} (95% interval {best.gain_low:+.4f} to {best.gain_high:+.4f})"
    )
    if paying:
        share = "" if best.share is None else f", {best.share:.0%} of what the cross-fitted oracle gains there"
        return f"Adaptive allocation pays here: {found}{share}."
    oracle = max(oracles, key=lambda row: row.gain)
    could = (
        f"while the cross-fitted oracle, which reads the answer key, gains {oracle.gain:+.4f} at best (target "
        f"{oracle.target:g})"
        if any(clear[len(tried) :])
        else "and not even the cross-fitted oracle, which reads the answer key, has a gain that is clear of chance"
    )
    return f"Adaptive allocation does not pay here: no learned gain is clear of chance, at most {found}, {could}."


def _by_chance(gains: np.ndarray, level: float) -> np.ndarray:
    """Which columns have a mean that random signs reach with probability above ``level``.

    A policy that moves five questions, or is scored on five groups, may have luck with all of them, and resampling
    would never show the other side. Flipping signs does: five of five is one chance in 32.
    """
    rng, chunk = np.random.default_rng(0), 500
    chunks = int(np.ceil(20 / level / chunk))
    reached = np.ones(gains.shape[1])
    for _ in range(chunks):
        signs = rng.choice([-1.0, 1.0], size=(chunk, len(gains)))
        reached += (signs @ gains >= gains.sum(axis=0) - 1e-12).sum(axis=0)
    return reached / (1 + chunk * chunks) > level
