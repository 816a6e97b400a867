"""Exercises of chapters 2 and 3: an answer reached another way passes, a near miss does not."""

from __future__ import annotations

import numpy as np
import pytest

import adalib
from adalib.teach.exercises import chapter_02, chapter_03


@pytest.fixture(scope="module")
def word():
    return adalib.load("word-fewshot")


def said(chapter, name, value) -> str:
    """What a chapter's check answers, as one word."""
    return repr(chapter.check(name, value)).split(": ")[1].split(".")[0].strip()


def envelope_value(acc, cost, budget):
    """Best mean accuracy at an average cost, coins allowed, by ternary search of the convex dual function."""
    low, high = 0.0, 1.0
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if adalib.dual(acc, cost, left, budget) < adalib.dual(acc, cost, right, budget):
            high = right
        else:
            low = left
    return adalib.dual(acc, cost, low, budget)


def test_the_price_at_which_sixteen_is_let_go(word):
    table, row = word.table(), word.ids.index("word-trees-05")
    prices = np.linspace(0, 0.1, 100_001)
    takes = np.argmax(table.acc[row] - prices[:, None] * table.cost, axis=1)
    last = prices[np.flatnonzero(takes == 4)[-1]]
    assert said(chapter_02, "letgo", last) == "right"
    assert said(chapter_02, "letgo", last + 0.001) == "not yet"
    assert said(chapter_02, "letgo", None) == "not answered yet"


def test_what_is_spent_at_a_price():
    table = adalib.load("word-hot").table()
    spent = np.mean([table.cost[int(np.argmax(row - 0.02 * table.cost))] for row in table.acc])
    assert said(chapter_02, "spend", spent) == "right"
    assert said(chapter_02, "spend", spent * 1.01) == "not yet"


def test_what_telling_questions_apart_is_worth(word):
    table = word.table()
    best = np.mean([max(row - 0.02 * table.cost) for row in table.acc])
    same = max(np.mean(table.acc[:, j]) - 0.02 * table.cost[j] for j in range(table.k))
    assert said(chapter_02, "uniform", best - same) == "right"
    assert said(chapter_02, "uniform", best) == "not yet"


def test_a_second_answer_is_bought_although_it_brings_less_than_the_price(word):
    table, count = word.table(), 0
    for row in table.acc:
        best = max(range(5), key=lambda j: (row[j] - 0.03 * table.cost[j], -j))
        count += best >= 2 and row[1] - row[0] < 0.03
    assert count > 150
    assert said(chapter_02, "second", count) == "right"
    assert said(chapter_02, "second", count - 1) == "not yet"


def test_what_one_more_answer_is_worth():
    table = adalib.load("word-hot").table()
    two, three = (envelope_value(table.acc, table.cost, budget) for budget in (2, 3))
    assert said(chapter_03, "worth", three - two) == "right"
    assert said(chapter_03, "worth", (three - two) * 1.05) == "not yet"


def test_what_the_mix_needs(word):
    table = word.table()
    goal, means = envelope_value(table.acc, table.cost, 2), table.acc.mean(axis=0)
    needed = min(
        table.cost[i] + (goal - means[i]) / (means[j] - means[i]) * (table.cost[j] - table.cost[i])
        for i in range(table.k)
        for j in range(table.k)
        if means[i] <= goal < means[j]
    )
    assert said(chapter_03, "save", needed) == "right"
    assert said(chapter_03, "save", needed + 0.1) == "not yet"


def test_the_frontier_in_tokens(word):
    table = word.table(cost="tokens")
    bound = envelope_value(table.acc, table.cost, table.cost[:, 1].mean())
    assert said(chapter_03, "tokens", bound) == "right"
    assert said(chapter_03, "tokens", bound - 0.002) == "not yet"
