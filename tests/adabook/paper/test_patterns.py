"""Patterns: against hand-made tables, plain loops, other libraries and the paper's printed
numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adalib
from adabook.paper import patterns
from adalib.evaluate.intervals import mean_interval

COST = np.array([1.0, 2, 4, 8, 16])


def random_table(n=60, seed=0):
    return adalib.UtilityTable(np.random.default_rng(seed).random((n, 5)), COST)


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 3)), min_size=1, max_size=30))
def test_group_means_against_pandas(pairs):
    values, groups = map(list, zip(*pairs, strict=True))
    found = patterns.group_means(values, groups, 4)
    wanted = pd.Series(values).groupby(groups).mean().reindex(range(4))
    np.testing.assert_allclose(found.mean, wanted, atol=1e-12)
    if len(pairs) > 1:
        assert (found.low[wanted.notna()] <= wanted.dropna() + 1e-9).all()
        assert (found.high[wanted.notna()] >= wanted.dropna() - 1e-9).all()


def test_the_interval_of_a_group_is_that_of_its_questions():
    rng = np.random.default_rng(0)
    values, groups = rng.uniform(-1, 1, 900), rng.integers(0, 3, 900)
    found = patterns.group_means(values, groups, 3)
    for g in range(3):
        alone = mean_interval(values[groups == g])
        assert [found.low[g], found.high[g]] == pytest.approx([alone.low, alone.high], abs=0.002)
    thrice = patterns.group_means(np.tile(values, (3, 1)), np.tile(groups, (3, 1)), 3)
    for part in ("mean", "low", "high"):
        assert getattr(found, part) == pytest.approx(getattr(thrice, part))


@pytest.mark.parametrize("groups", [[0, 4], [0], [0.0, 1.0], [-1, 0]])
def test_groups_that_do_not_fit_are_refused(groups):
    with pytest.raises(ValueError, match=r"\b2 values"):
        patterns.group_means([0.1, 0.2], groups, 3)


def test_levels_against_pandas():
    table, levels = random_table(), np.random.default_rng(1).integers(1, 5, 60)
    found = patterns.by_level(table, levels.tolist())
    frame = pd.DataFrame({"first": table.acc[:, 0], "last": table.acc[:, 4]})
    wanted = frame.assign(gain=frame["last"] - frame["first"]).groupby(levels).mean()
    assert found["level"].tolist() == wanted.index.tolist()
    np.testing.assert_allclose(found[["first", "last", "gain"]], wanted)
    # Levels may be names, and must be there.
    table = random_table(4)
    assert patterns.by_level(table, ["b", "a", "b", "a"])["level"].tolist() == ["a", "b"]
    for levels in (None, [1, 2, 3], [1, None, 2, 3]):
        with pytest.raises(ValueError, match=r"level.*\b4\b"):
            patterns.by_level(table, levels)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(1, 6))
def test_bins_are_in_order(acc1, bins):
    bins = min(bins, len(acc1))
    place = patterns.difficulty_bins(acc1, bins)
    sizes = np.bincount(place, minlength=bins)
    assert sizes.max() - sizes.min() <= 1
    for k in range(bins - 1):
        assert max(np.array(acc1)[place == k]) <= min(np.array(acc1)[place == k + 1])


def test_budgets_by_difficulty_by_a_plain_loop():
    rng = np.random.default_rng(3)
    acc1, labels = rng.random(53), rng.integers(0, 5, 53)
    found = patterns.by_difficulty(acc1, labels, (1, 2, 4, 8, 16))
    order = np.argsort(acc1)
    for row, rows in zip(found.itertuples(), np.array_split(order, 5), strict=True):
        assert row.questions == len(rows)
        assert row.acc1 == pytest.approx(acc1[rows].mean())
        assert row.budget == pytest.approx(COST[labels[rows]].mean())
    shares = found[["b=1", "b=2", "b=4", "b=8", "b=16"]].to_numpy()
    assert shares.sum(axis=1) == pytest.approx(1)
    assert shares @ COST == pytest.approx(found["budget"].to_numpy())
    assert patterns.label_shares(labels, 5) @ COST == pytest.approx(COST[labels].mean())


@given(
    st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=1, max_size=3),
    st.data(),
)
def test_the_nearest_mix_against_all_mixes(by_level, data):
    n, by_level = 6, np.array(by_level) / 20
    overall = np.array([data.draw(st.integers(0, 20)) / 20 for _ in by_level])
    counts, error = patterns.nearest_mix(by_level, overall, n)
    assert sum(counts) == n
    assert min(counts) >= 0
    assert error == pytest.approx(np.abs(by_level @ counts / n - overall).max())
    assert error <= min(
        np.abs(by_level @ c / n - overall).max() + 1e-12
        for c in product(range(n + 1), repeat=3)
        if sum(c) == n
    )


def test_whole_counts_against_all_counts():
    shares, cost = (0.5, 0.3, 0.2), 2.0
    every = [c for c in product(range(11), repeat=3) if sum(c) == 10 and np.dot(c, (1, 2, 4)) == 20]
    wanted = [c for c in every if np.abs(np.divide(c, 10) - shares).max() < 0.1 + 1e-6]
    assert patterns.whole_counts(shares, cost, (1, 2, 4), n=10, half_digit=0.1) == wanted
    assert patterns.whole_counts((0.5, 0.5), 3.0, (1, 2), n=10) == []
