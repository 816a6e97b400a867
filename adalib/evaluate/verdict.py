"""The verdict: held-out rows put into a few sentences on one line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adalib.evaluate.heldout import HeldOutRow
from adalib.evaluate.intervals import in_points
from adalib.evaluate.trials import BASELINES, STOPPING

__all__ = ["verdict"]

#: The chance of saying "pays" of any policy where none does.
_CHANCE = 0.05

_PART = 10_000  # questions whose signs are drawn at a time: tens of megabytes


def verdict(rows: Sequence[HeldOutRow], matters: float = 0.01) -> str:
    """Say whether adaptive allocation pays: at which target, with which policy, and what it saves.

    It *pays* where a policy (``label``, ``curve``, a stopping rule or one given to `held_out`) beats the best random
    mix at equal cost, and chance is no explanation: a one-sided test of random signs, at 5% divided by the number of
    looks, so that the chance of any false claim is at most about 5%. It *does not pay* where the 95% interval of every
    gain ends below a gain that matters. Otherwise it is *not shown to pay*: too few questions to tell. Where stopping
    rules were tried, what can be decided before asking is said separately. Explained in chapter 7, "Results", and
    chapter 10, "When to stop".

    Parameters
    ----------
    rows : sequence of HeldOutRow
        What `held_out` returned.
    matters : float
        The smallest gain in accuracy that would be worth having.
    """
    tried = [row for row in rows if row.policy not in (*BASELINES, "noise")]
    if not tried:
        raise ValueError("no row is of a policy that learns; give held_out at least one learner")
    oracles = [row for row in rows if row.policy == "oracle"]
    # Whoever looks often enough will find a gain where nothing is: each look gets its share of the chance (Bonferroni).
    chance = _by_chance(np.column_stack([row.gains for row in tried + oracles]), _CHANCE / len(tried))
    # The interval of a gain that is claimed must not hold 0 either, or the sentence would contradict itself.
    clear = [row.gain_low > 0 and not luck for row, luck in zip(tried + oracles, chance, strict=True)]
    paying = [row for row, sure in zip(tried, clear, strict=False) if sure]
    said = _sentence(tried, paying, oracles, any(clear[len(tried) :]), matters)
    planned = [row for row in tried if row.policy not in STOPPING]
    if len(planned) in (0, len(tried)):
        return said
    early = [row for row in paying if row.policy not in STOPPING]
    best = max(early or planned, key=lambda row: row.gain)
    before = "it pays too" if early else "no gain is clear of chance"
    return f"{said} Decided before asking, {before}: {'' if early else 'at most '}{_gain(best)}."


def _sentence(
    tried: Sequence[HeldOutRow], paying: Sequence[HeldOutRow], oracles: list[HeldOutRow], could: bool, matters: float
) -> str:
    """The main sentence."""
    best = max(paying or tried, key=lambda row: row.gain)
    if paying:
        share = "" if best.share is None else f", {best.share:.0%} of what the cross-fitted oracle gains there"
        return f"Adaptive allocation pays here: {_gain(best)}{share}.{_by_target(paying)}"
    oracle = max(oracles, key=lambda row: row.gain)
    possible = (
        f"while the cross-fitted oracle, which reads the answer key, gains {in_points(oracle.gain, 2)} points at best "
        f"(target {oracle.target:g})"
        if could
        else "and not even the cross-fitted oracle, which reads the answer key, has a gain that is clear of chance"
    )
    if max(row.gain_high for row in tried) < matters:
        how = f"does not pay here: every learned gain is below {100 * matters:g} points"
    else:
        large = f"one of {100 * matters:g} points is not excluded"
        how = f"is not shown to pay here: no learned gain is clear of chance, and {large}"
    return f"Adaptive allocation {how}; at most {_gain(best)}, {possible}."


def _gain(row: HeldOutRow) -> str:
    gain, low, high = (in_points(value, 2) for value in (row.gain, row.gain_low, row.gain_high))
    return (
        f"{row.policy} at target {row.target:g} gains {gain} points over the best random mix at equal cost "
        f"{row.cost:.2f} (95% interval {low} to {high})"
    )


def _by_target(paying: Sequence[HeldOutRow]) -> str:
    """Where stopping rules were tried: which policy to use at which target, and what it saves."""
    if not any(row.policy in STOPPING for row in paying):
        return ""
    best = {row.target: row for row in sorted(paying, key=lambda row: (row.target, row.gain))}
    parts = []
    for target, row in best.items():
        spent = "more than any mix has" if row.mix_cost is None else f"what a mix has for {row.mix_cost:.2f}"
        parts.append(f"at target {target:g} {row.policy} ({row.accuracy:.4f} for {row.cost:.2f}, {spent})")
    return f" Use {', '.join(parts)}."


def _by_chance(gains: np.ndarray, level: float) -> np.ndarray:
    """Which columns have a mean that random signs reach with probability above ``level``.

    A policy that moves five questions, or is scored on five groups, may have luck with all of them, and resampling
    would never show the other side. Flipping signs does: five of five is one chance in 32.
    """
    rng, chunk = np.random.default_rng(0), 500
    chunks = int(np.ceil(20 / level / chunk))
    reached, parts = np.ones(gains.shape[1]), np.split(gains, range(_PART, len(gains), _PART))
    for _ in range(chunks):
        flipped = sum(_signs(rng, chunk, len(part), many=len(parts) > 1) @ part for part in parts)
        reached += (flipped >= gains.sum(axis=0) - 1e-12).sum(axis=0)
    return reached / (1 + chunk * chunks) > level


def _signs(rng: np.random.Generator, rows: int, columns: int, many: bool) -> np.ndarray:
    """Random signs; of a random byte eight where many are needed, for a hundred thousand questions a billion."""
    if not many:
        return rng.choice([-1.0, 1.0], size=(rows, columns))
    bits = np.unpackbits(rng.integers(256, size=(rows, -(-columns // 8)), dtype=np.uint8), axis=1, count=columns)
    return bits * 2.0 - 1.0
