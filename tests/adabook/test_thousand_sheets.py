"""Homework's keys against other code: a thousand sheets, each table solved by trying everything."""

from __future__ import annotations

import itertools
import re
from math import comb

import numpy as np
import pytest
from scipy.optimize import linprog

from adabook.exercises.cases import best_value, between, bill, oracle, prices
from adabook.homework import drawn_questions

COST = np.array([1.0, 2.0, 4.0, 8.0])


def number(text, pattern):
    """A number that a question names."""
    return float(re.search(pattern, text)[1])


def price(text):
    return number(text, r"price ([\d.]+\d)")


def budget(text):
    return number(text, r"(?:budget (?:is|of)|average of) ([\d.]+\d|\d)")


def dual(acc, lam, limit):
    return np.mean([max(row - lam * COST) for row in acc]) + lam * limit


def plans_within(acc, total):
    """All plans of a table that cost no more, and what each reaches in all."""
    plans = np.array(list(itertools.product(range(4), repeat=len(acc))))
    plans = plans[COST[plans].sum(axis=1) <= total + 1e-9]
    return plans, acc[np.arange(len(acc)), plans].sum(axis=1)


def whole(acc, limit):
    """The best of all 256 plans within a budget."""
    return plans_within(acc, limit * len(acc))[1].max() / len(acc)


def label(text, acc):
    return COST[oracle(acc, COST, price(text))[0]]


def spent(text, acc):
    return bill(acc, COST, price(text))


def least_price(text, acc):
    limit = number(text, r"spends ([\d.]+) per")
    return min(lam for lam, above in between(acc, COST) if bill(acc, COST, above) <= limit + 1e-9)


def bound(text, acc):
    return best_value(acc, COST, budget(text))


def dual_at(text, acc):
    return dual(acc, price(text), budget(text))


def dual_value(text, acc):
    lam = min(prices(acc, COST), key=lambda lam: dual(acc, lam, budget(text)))
    return max(acc[0] - lam * COST)


def slackness(text, acc):
    return price(text) * (budget(text) - spent(text, acc))


def subgradient(text, acc):
    up, down = (dual(acc, price(text) + step, budget(text)) for step in (1e-7, -1e-7))
    return (up - down) / 2e-7


def gap(text, acc):
    return bound(text, acc) - whole(acc, budget(text))


def harm(text, acc):
    total = number(text, r"^(\d+) answers")
    who = "ABCD".index(re.search(r"does question ([A-D]) pay", text)[1])
    plans, reached = plans_within(acc, total)
    now = reached.max() - acc[who, plans[reached.argmax(), who]]
    return plans_within(np.delete(acc, who, axis=0), total - 1)[1].max() - now


def log(text, _):
    rows = re.findall(r"^\d+ +(\d) +([\d.]+) +([01]) +(\d)$", text, re.M)
    return sum(int(right) / float(p) for got, p, right, mine in rows if got == mine) / len(rows)


def subsets(text, _):
    answers = re.search(r"Six answers: (.*?)\. The", text)[1].split(", ")
    size = int(number(text, r"pick (\d)"))
    won = 0.0
    for part in itertools.combinations(answers, size):
        votes = [part.count(one) for one in ("7", "8", "9")]
        won += (votes[0] == max(votes) > 0) / votes.count(max(votes))
    return won / comb(6, size)


def curse(text, _):
    count, right = int(number(text, r"^(\d+) budgets")), number(text, r"accuracy ([\d.]+\d);")
    claims = [
        any(tries) * np.prod([right if one else 1 - right for one in tries])
        for tries in itertools.product((0, 1), repeat=count)
    ]
    return sum(claims) - right


def equal_cost(text, _):
    one, four = number(text, r"scores ([\d.]+\d), four"), number(text, r"four score ([\d.]+\d)")
    return number(text, r"and scores ([\d.]+\d)") - np.interp(
        number(text, r"spent ([\d.]+\d)"), [1, 4], [one, four]
    )


def two_limits(text, _):
    rows = re.findall(r"^(?:single|vote|race) +([\d.]+) +([\d.]+) +([\d.]+)", text, re.M)
    acc, tokens, waiting = np.array(rows, dtype=float).T
    limits = [number(text, r"take ([\d.]+) units"), number(text, r"and ([\d.]+) of waiting")]
    found = linprog(-acc, A_ub=[tokens, waiting], b_ub=limits, A_eq=[[1, 1, 1]], b_eq=[1])
    return -found.fun


SOLVED = {
    "label": label,
    "bill": spent,
    "price": least_price,
    "bound": bound,
    "dual": dual_at,
    "dual value": dual_value,
    "slackness": slackness,
    "subgradient": subgradient,
    "subsets": subsets,
    "curse": curse,
    "equal cost": equal_cost,
    "two limits": two_limits,
    "whole": gap,
    "harm": harm,
    "log": log,
}


def read_table(text):
    """The table of accuracies that a question prints."""
    rows = re.findall(r"^[A-H] +((?:[\d.]+ *){4})$", text, re.M)
    return np.array([row.split() for row in rows], dtype=float)


@pytest.mark.parametrize(
    "students", [range(250), pytest.param(range(250, 1000), marks=pytest.mark.nightly)], ids=str
)
def test_a_thousand_sheets_have_the_keys_that_other_code_finds(students):
    wrong = []
    for student in students:
        drawn = drawn_questions(str(student), "a thousand sheets")
        for name, solve in SOLVED.items():
            question = drawn[name]
            found = solve(question.text, read_table(question.text))
            if abs(found - question.answer) > max(question.tolerance / 2, 1e-9):
                wrong.append((student, name, found, question.answer))
        asked = drawn["bound"]
        # Two mistakes that lead to one number share a hint.
        (mistake,) = (value for hint, value in asked.wrong.items() if "without randomising" in hint)
        if abs(whole(read_table(asked.text), budget(asked.text)) - mistake) > 1e-9:
            wrong.append((student, "without randomising"))
    assert wrong == []
