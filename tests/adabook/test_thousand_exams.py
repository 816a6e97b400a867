"""The keys of exams against other code: a thousand papers, recomputed in fractions as printed."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import on_paper
import pytest

from editions import exam

COST = [1, 2, 4]
LETTERS = "XYZ"


def tables(text):
    """The tables of a paper, three questions each."""
    rows = re.findall(r"^\| [XYZ] \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.M)
    found = [list(map(Fraction, row)) for row in rows]
    return [found[at : at + 3] for at in range(0, len(found), 3)]


def number(text, pattern):
    return Fraction(re.search(pattern, text)[1])


def budget(text):
    return number(text, r"budget is (\d\.?\d*) ")


def plan_of(text):
    """A plan that a text names, as columns."""
    named = dict(re.findall(r"([XYZ]) takes (\d)", text))
    return [COST.index(int(named[letter])) for letter in LETTERS]


def scored(acc, plan):
    return on_paper.mean(row[column] for row, column in zip(acc, plan, strict=True))


def written(text):
    """The numbers with a point of a text, in order."""
    return [Fraction(one) for one in re.findall(r"(?<![\d.])\d+\.\d+", text)]


def agrees(said, found):
    """Whether a number with four digits after the point is a rounding of another."""
    return abs(said - found) <= Fraction(1, 20_000)


def programs(text, key):
    (acc,) = tables(text)
    limit = budget(text)
    value, lam = on_paper.bound(acc, COST, limit), on_paper.best_price(acc, COST, limit)
    yield "value", agrees(number(key, r"value is ([\d.]+);"), value)
    yield "dual", agrees(number(key, r"dual value is ([\d.]+),"), value)
    yield "price", agrees(number(key, r"\$\\lambda=([\d.]+)\$"), lam)
    for letter, row in zip(LETTERS, acc, strict=True):
        net = max(a - lam * c for a, c in zip(row, COST, strict=True))
        yield letter, agrees(number(key, rf"u_{letter}=([\d.]+)\$"), net)
    who, high, share, low = re.search(
        r"; ([XYZ]) gets (\d) answers\s+with chance ([\d.]+) and otherwise (\d)", key
    ).groups()
    # The mixed plan, with what the others take at this price, spends the budget and has the value.
    row = LETTERS.index(who)
    others = on_paper.oracle(acc, COST, lam)
    low, high, share = COST.index(int(low)), COST.index(int(high)), Fraction(share)
    plans = [[at if i == row else other for i, other in enumerate(others)] for at in (low, high)]
    paid = [on_paper.mean(COST[column] for column in plan) for plan in plans]
    yield "spends", abs((1 - share) * paid[0] + share * paid[1] - limit) <= Fraction(1, 5000)
    got = (1 - share) * scored(acc, plans[0]) + share * scored(acc, plans[1])
    yield "reaches", abs(got - value) <= Fraction(1, 10_000)


def conditions(text, key):
    (acc,) = tables(text)
    limit, price, plan = budget(text), number(text, r"the price ([\d.]+\d) and"), plan_of(text)
    paid = on_paper.mean(COST[column] for column in plan)
    yield "plan", plan == on_paper.oracle(acc, COST, price)
    yield "unspent", paid < limit
    yield "cost", agrees(number(key, r"plan costs ([\d.]+\d),"), paid)
    slack = number(key, r"unspent budget is\s+([\d.]+\d)\.")
    yield "slack", agrees(slack, price * (limit - paid))
    best = number(key, r"\(3\) \$\\lambda=([\d.]+)\$")
    yield "price", agrees(best, on_paper.best_price(acc, COST, limit))


def staircase(text, key):
    (acc,) = tables(text)
    prices = on_paper.changes(acc, COST)
    first, second = key.split("\n\n")[:2]
    said = written(first)
    yield "prices", len(said) == len(prices)
    yield "each", all(map(agrees, said, prices))
    listed, free = re.search(r"cost is (.*?);.*it is (.*?)\.\n?$", second, re.S).groups()
    costs = [on_paper.spent(acc, COST, price) for price in prices]
    yield "costs", len(listed.split(", ")) == len(costs)
    close = Fraction(1, 2000)  # four digits in all
    yield (
        "cost",
        all(abs(Fraction(a) - b) <= close for a, b in zip(listed.split(", "), costs, strict=False)),
    )
    yield "free", abs(Fraction(free) - on_paper.spent(acc, COST, 0)) <= close


def halving(text, key):
    (acc,) = tables(text)
    low, high = Fraction(0), Fraction(2, 5)
    tried = re.findall(r"([\d.]+) costs ([\d.]+): \[([\d.]+), ([\d.]+)\]", key)
    yield "steps", len(tried) == 4
    for said in tried:
        middle = (low + high) / 2
        paid = on_paper.spent(acc, COST, middle)
        low, high = (low, middle) if paid <= budget(text) else (middle, high)
        price, cost, *ends = map(Fraction, said)
        yield "interval", [price, *ends] == [middle, low, high]
        yield "cost", abs(cost - paid) <= Fraction(1, 2000)
    yield "end", number(key, r"high end, ([\d.]+\d)") == high


def gap(text, key):
    (acc,) = tables(text)
    worth, plans = on_paper.whole(acc, COST, 3 * budget(text))
    value = on_paper.bound(acc, COST, budget(text))
    yield "whole", agrees(number(key, r"accuracy is ([\d.]+\d),"), worth / 3)
    yield "plan", tuple(plan_of(key)) in plans
    yield "bound", agrees(number(key, r"\(2\) ([\d.]+\d)\."), value)
    yield "gap", agrees(number(key, r"\(3\) ([\d.]+\d)\."), value - worth / 3)


def crossfit(text, key):
    first, second = tables(text)
    price = number(text, r"at the price ([\d.]+\d)\?")
    plans = [on_paper.oracle(half, COST, price) for half in (first, second)]
    said = re.search(r"The first: (.*?)\. The second: (.*?)\.\n", key, re.S).groups()
    yield "plans", [plan_of(one) for one in said] == plans
    claims, scores = [
        [scored(half, plan) for half, plan in zip(halves, plans, strict=True)]
        for halves in ((first, second), (second, first))
    ]
    numbers = written(key.partition("(2)")[2].partition("**Deductions")[0])
    found = [*claims, *scores, on_paper.mean(scores)]
    yield "numbers", len(numbers) == len(found)
    yield "each", all(map(agrees, numbers, found))


MADE = [exam.programs, exam.conditions, exam.staircase, exam.halving, exam.gap, exam.crossfit]
SOLVED = [programs, conditions, staircase, halving, gap, crossfit]


@pytest.mark.parametrize(
    "seeds", [range(100), pytest.param(range(100, 1000), marks=pytest.mark.nightly)], ids=str
)
@pytest.mark.parametrize(("make", "solve"), list(zip(MADE, SOLVED, strict=True)))
def test_a_thousand_papers_have_the_keys_that_other_code_finds(make, solve, seeds):
    wrong = []
    for seed in seeds:
        asked = make(np.random.default_rng(seed))
        wrong += [(seed, what) for what, holds in solve(asked.text, asked.key) if not holds]
    assert wrong == []


#: The question of homework that asks for a number which a long question asks for, too.
TWICE = [("integrality gap", "Whole"), ("Karush", "Slackness"), ("pair of linear", "Dual value")]


def test_no_paper_asks_a_thing_twice():
    for number in range(150):
        titles = [one.title for one in exam.drawn_exam(f"exam-{number}", "twenty letters or more")]
        assert len(set(titles)) == len(titles) == 6
        for long, short in TWICE:
            assert not (any(long in title for title in titles) and short in titles)


def test_one_twelfth_and_a_quarter_over_three_are_one_price():
    """In floats a step from 1 to 4 that brings 0.25 lies one last digit away from 1/12."""
    acc = exam.exact.table([[30, 30, 55]], 100)
    assert exam.exact.prices(acc, exam._COST) == [Fraction(1, 12)]
    assert exam.cost_at(acc, exam._COST, Fraction(1, 12)) == 1
