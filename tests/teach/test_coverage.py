"""The coverage table of chapter 7: what it says of the package's own interval is so, by another road."""

from __future__ import annotations

import numpy as np

from adalib.evaluate.intervals import bootstrap_mean
from adalib.teach.figures.evidence import POPULATIONS, coverage


def test_only_ours_covers_everywhere():
    found = coverage(samples=500, draws=300)
    assert (found["ours"] > 0.93).all()
    assert (found[["percentile", "studentised", "BCa", "sign flips"]].min() < 0.93).all()
    assert found["percentile"][0] < 0.9
    # A sample of 40 holds no question of a rare kind with probability .95^40: no resampling covers more than the rest.
    assert found[["percentile", "BCa", "sign flips"]].iloc[0].max() <= 1 - 0.95**40 + 0.03


def test_the_interval_shown_is_the_packages():
    """One population sampled and interval'd by `bootstrap_mean` itself covers as the table says."""
    draw, truth = POPULATIONS["rare: one question in 20 gains"]
    rng = np.random.default_rng(5)
    found = [bootstrap_mean(draw(rng, (120,)), draws=300) for _ in range(300)]
    share = np.mean([interval.low <= truth <= interval.high for interval in found])
    assert abs(share - coverage(sizes=(120,), samples=500, draws=300)["ours"][0]) < 0.035


def test_true_means_are_the_means():
    rng = np.random.default_rng(0)
    for draw, truth in POPULATIONS.values():
        assert abs(draw(rng, (400_000,)).mean() - truth) < 0.001
