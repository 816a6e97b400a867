"""Tables of very many columns: one pass over them finds what looking from every corner at every column finds."""

import numpy as np
import pytest

from adalib.solve import envelope
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels

RNG = np.random.default_rng(5)


def cases(k):
    """Noisy, rising, concave, stepped with ties, and flat tables, with common costs or own ones."""
    n = 30
    rising = np.sort(RNG.random((n, k)), axis=1)
    concave = 1 - np.exp(-np.outer(RNG.random(n) * 3, np.linspace(0, 1, k)))
    stepped = np.round(rising, 1)
    even, own = np.arange(1.0, k + 1), np.cumsum(RNG.integers(0, 3, (n, k)), axis=1) + 1.0
    for acc in (RNG.random((n, k)), rising, concave, stepped, np.full((n, k), 0.5)):
        yield acc, even
        yield acc, own
        yield acc, np.maximum(even, 4.0)  # the first columns cost the same


@pytest.mark.parametrize("k", [2, 3, 9, 70])
def test_one_pass_finds_the_walk_s_steps(monkeypatch, k):
    for acc, cost in cases(k):
        monkeypatch.setattr(envelope, "_WIDE", 10**6)
        walked = frontier(acc, cost)
        monkeypatch.setattr(envelope, "_WIDE", 0)
        scanned = frontier(acc, cost)
        low, high = walked.cost[0], walked.cost[-1]
        assert scanned.cost[[0, -1]] == pytest.approx([low, high])
        for budget in np.linspace(low, high, 9)[1:]:
            one, other = walked.at(budget), scanned.at(budget)
            # Steps of one slope may be taken in another order, along the same line.
            assert other.bound == pytest.approx(one.bound)
            assert other.cost <= budget * (1 + 1e-12)
            assert other.accuracy + other.lam * (budget - other.cost) == pytest.approx(one.bound)
            assert other.lam == pytest.approx(one.lam, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_thousands_of_columns(seed):
    acc = np.round(np.sort(np.random.default_rng(seed).random((5, 3000)), axis=1), 3)
    cost = np.arange(1.0, 3001)
    found = frontier(acc, cost)
    # At a price between two breakpoints there are no ties: the labels are each row's own best.
    for place in range(len(found.lam) - 1):
        price = (found.lam[place] + found.lam[place + 1]) / 2
        labels = oracle_labels(acc, cost, price)
        assert cost[labels].mean() == pytest.approx(found.cost[place + 1])
