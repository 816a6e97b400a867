"""Another road to an exercise than its solution's is right."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from roads import ROADS
from scipy.optimize import linprog

import adalib
from adabook.exercises import checks
from adabook.exercises.cases import best_value


def check_right(chapter, name, answer):
    checked = checks(chapter)(name, answer)
    assert checked.right, checked.hint


@pytest.mark.parametrize("place", ROADS, ids="-".join)
def test_it_is_right(place):
    check_right(*place, ROADS[place]())


# Values


def test_passing_at_sixteen_by_counting_subsets(word):
    wrong = (1 - word.values).sum(axis=1).astype(int)
    passed = np.mean([1 - comb(int(count), 16) / comb(96, 16) for count in wrong])
    check_right("data", "pass16", passed)


def test_the_last_of_many_prices_at_which_a_question_takes_sixteen(word):
    table = word.table()
    row = table.acc[word.ids.index("word-trees-05")]
    prices = np.linspace(0, 0.1, 100_001)
    takes = np.argmax(row - prices[:, None] * table.cost, axis=1)
    check_right("oracle", "letgo", prices[np.flatnonzero(takes == 4)[-1]])


def test_the_third_answer_by_the_dual():
    hot = adalib.load("word-hot").table()
    two, three = (best_value(hot.acc, hot.cost, budget) for budget in (2, 3))
    check_right("budgets", "worth", three - two)


def test_the_first_of_two_by_pairs():
    tokens = adalib.load("aime-gpt-oss-20b").tokens
    pairs = list(combinations(range(tokens.shape[1]), 2))
    shorter = np.mean([np.minimum(tokens[:, i], tokens[:, j]).mean() for i, j in pairs])
    check_right("deploy", "tails", 2 * shorter / tokens.mean())


def test_what_is_sent_to_the_large_by_bisection_on_a_table_made_by_hand():
    small, large = (adalib.load(f"story-qwen{size}").table() for size in ("05", "15"))
    acc = np.hstack([small.acc, large.acc])
    cost = np.append(small.cost, 10 * large.cost)
    order = cost.argsort(kind="stable")
    lam = adalib.bisect(acc[:, order], cost[order], 5).lam
    labels = order[adalib.oracle_labels(acc[:, order], cost[order], lam)]
    check_right("models", "sent", (labels >= small.k).mean())


def test_the_price_of_power_by_the_linear_program():
    bounds = [(0, most) for most in (120, 200, 150, 100, 60)]
    solved = linprog([2, 9, 31, 48, 95], A_eq=[[1] * 5], b_eq=[500], bounds=bounds)
    check_right("markets", "demand", solved.eqlin.marginals[0])


def test_repeats_by_a_scan():
    """The number for the middle questions with the smallest variance, the rest to the others."""
    middle = np.linspace(1, 30, 29_001)
    others = (1300 - 40 * middle) / 20
    with np.errstate(divide="ignore"):
        variance = 40 * 0.25 / middle + 20 * 0.09 / others
    check_right("markets", "repeats", middle[np.where(others >= 1, variance, np.inf).argmin()])
