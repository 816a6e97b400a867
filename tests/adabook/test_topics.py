"""What the page on attaching topics says about the book's data is so."""

from __future__ import annotations

import re

import numpy as np
import pytest
from conftest import ROOT
from scipy.optimize import linprog

import adalib
from adalib.solve.integer import integer_optimum

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


@pytest.mark.parametrize("count", [20, 50, 100])
def test_the_relaxation_is_nearly_tight(table, count):
    acc, cost = table
    bound = adalib.frontier(acc[:count], cost).at(2).bound
    gap = bound - integer_optimum(acc[:count], cost, 2).accuracy
    assert -1e-9 <= gap <= 1 / count


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


def test_a_constant_step_circles(table):
    bounds, _ = walk(*table, lambda step: 0.1)
    rises = np.diff(bounds)[-20:] > 1e-3
    assert 2 <= rises.sum() <= 18


def test_few_of_many_columns_are_generated():
    full = adalib.load("word-fewshot").take(range(20)).table(budgets=range(1, 33))
    acc, cost = full.acc, full.cost
    count = len(acc)
    columns = [{0} for _ in range(count)]
    while True:
        pairs = [(row, column) for row in range(count) for column in sorted(columns[row])]
        rows, chosen = np.array(pairs).T
        found = linprog(
            -acc[rows, chosen] / count,
            A_ub=[cost[chosen] / count],
            b_ub=[2],
            A_eq=(rows == np.arange(count)[:, None]).astype(float),
            b_eq=np.ones(count),
        )
        price = -found.ineqlin.marginals[0]
        worth = -found.eqlin.marginals * count
        net = acc - price * cost
        better = net.max(axis=1) > worth + 1e-9
        if not better.any():
            break
        for row in np.flatnonzero(better):
            columns[row].add(int(net[row].argmax()))
    assert -found.fun == pytest.approx(adalib.frontier(acc, cost).at(2).bound)
    assert np.mean([len(one) for one in columns]) < 8


def test_the_twins_settle_under_a_penalty():
    names = run(SETUP, MARKET)
    assert names["bought"].mean() == pytest.approx(2, abs=0.01)
    assert names["price"] == pytest.approx(0.35 / 3, abs=0.005)
