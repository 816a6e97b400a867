"""What the page on attaching topics says about the book's data is so."""

from __future__ import annotations

import re

import numpy as np
import pytest
from conftest import ROOT

import adalib

TEXT = (ROOT / "book" / "topics.md").read_text(encoding="utf-8")
SETUP, SUBGRADIENT, MARKET = re.findall(r"```python\n(.*?)```", TEXT, re.S)


def run(*listings: str) -> dict:
    """The names that listings of the page make."""
    names: dict = {}
    for listing in listings:
        exec(listing, names)
    return names


@pytest.fixture(scope="module")
def table():
    names = run(SETUP)
    return names["acc"], names["cost"]


def walk(acc, cost, size):
    """The bounds on the way, and the last price; ``size(k)`` is the length of step number k."""
    price, bounds = 0.0, []
    for step in range(1, 201):
        labels = adalib.oracle_labels(acc, cost, price)
        bounds.append(price * 2 + (acc - price * cost).max(axis=1).mean())
        price = max(price + size(step) * (cost[labels].mean() - 2), 0)
    return np.array(bounds), price


def test_steps_that_shrink_converge(table):
    best = adalib.frontier(*table).at(2)
    bounds, price = walk(*table, lambda step: 0.01 / step**0.5)
    assert run(SETUP, SUBGRADIENT)["price"] == price
    assert price == pytest.approx(best.lam, abs=0.01)
    assert min(bounds) == pytest.approx(best.bound, abs=1e-3)


def test_the_twins_settle_under_a_penalty():
    names = run(SETUP, MARKET)
    assert names["bought"].mean() == pytest.approx(2, abs=0.01)
    assert names["price"] == pytest.approx(0.35 / 3, abs=0.005)
