"""Homework's keys against other code: a thousand sheets, recomputed in fractions as printed."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import on_paper
import pytest
from scipy.optimize import linprog

from adabook.homework import COST as PAID
from adabook.homework import SHEETS, drawn_questions

COST = [1, 2, 4, 8]


def number(text, pattern):
    """A number that a question prints, as it is printed."""
    return Fraction(re.search(pattern, text)[1])


def price(text):
    return number(text, r"price ([\d.]+\d)")


def budget(text):
    return number(text, r"(?:budget (?:is|of)|average of) ([\d.]+\d|\d)")


def label(text, acc):
    return COST[on_paper.oracle(acc, COST, price(text))[0]]


def spent(text, acc):
    return on_paper.spent(acc, COST, price(text))


def least_price(text, acc):
    return on_paper.best_price(acc, COST, number(text, r"spends (\d\.?\d*) per"))


def bound(text, acc):
    return on_paper.bound(acc, COST, budget(text))


def dual_at(text, acc):
    return on_paper.dual(acc, COST, price(text), budget(text))


def dual_value(text, acc):
    lam = min(on_paper.slopes(acc, COST), key=lambda p: on_paper.dual(acc, COST, p, budget(text)))
    return max(a - lam * c for a, c in zip(acc[0], COST, strict=True))


def slackness(text, acc):
    return price(text) * (budget(text) - spent(text, acc))


def subgradient(text, acc):
    near = Fraction(1, 10**9)
    up, down = (
        on_paper.dual(acc, COST, price(text) + step, budget(text)) for step in (near, -near)
    )
    return (up - down) / (2 * near)


def gap(text, acc):
    return bound(text, acc) - on_paper.whole(acc, COST, budget(text) * len(acc))[0] / len(acc)


def harm(text, acc):
    total = int(number(text, r"^(\d+) answers"))
    who = "ABCD".index(re.search(r"does question ([A-D]) pay", text)[1])
    reached, plans = on_paper.whole(acc, COST, total)
    (plan,) = plans
    others = [row for at, row in enumerate(acc) if at != who]
    return on_paper.whole(others, COST, total - 1)[0] - (reached - acc[who][plan[who]])


def log(text, _):
    rows = re.findall(r"^\d+ +(\d) +([\d.]+) +([01]) +(\d)$", text, re.M)
    return sum(int(right) / Fraction(p) for got, p, right, mine in rows if got == mine) / len(rows)


def subsets(text, _):
    answers = re.search(r"Six answers: (.*?)\. The", text)[1].split(", ")
    size = int(number(text, r"pick (\d)"))
    won = Fraction(0)
    for part in itertools.combinations(answers, size):
        votes = [part.count(one) for one in ("7", "8", "9")]
        won += Fraction(votes[0] == max(votes) > 0, votes.count(max(votes)))
    return won / comb(6, size)


def curse(text, _):
    count, right = int(number(text, r"^(\d+) budgets")), number(text, r"accuracy ([\d.]+\d);")
    claim = Fraction(0)
    for tries in itertools.product((0, 1), repeat=count):
        chance = Fraction(1)
        for one in tries:
            chance *= right if one else 1 - right
        claim += chance * any(tries)
    return claim - right


def equal_cost(text, _):
    one, four = number(text, r"scores ([\d.]+\d), four"), number(text, r"four score ([\d.]+\d)")
    share = (number(text, r"spent ([\d.]+\d)") - 1) / 3
    return number(text, r"and scores ([\d.]+\d)") - ((1 - share) * one + share * four)


def two_limits(text, _):
    rows = re.findall(r"^(?:single|vote|race) +([\d.]+) +([\d.]+) +([\d.]+)", text, re.M)
    acc, tokens, waiting = np.array(rows, dtype=float).T
    limits = [
        float(number(text, pattern))
        for pattern in (r"take ([\d.]+) units", r"and ([\d.]+) of waiting")
    ]
    found = linprog(-acc, A_ub=[tokens, waiting], b_ub=limits, A_eq=[[1, 1, 1]], b_eq=[1])
    return -found.fun


def rest(text, acc):
    left = int(number(text, r"if (\d+) answers are left"))
    return max(
        (
            b + c
            for b, paid in zip(acc[1], COST, strict=True)
            for c, more in zip(acc[2], COST, strict=True)
            if paid + more <= left
        )
    )


def stop(text, _):
    """All eight rules that say in which of three states to go on."""
    price, now, agrees, after, differs, certain, high, better, low = map(
        Fraction, re.findall(r"(?<![\d.])0\.\d+", text)[:9]
    )
    ends = certain, high * better + low * (1 - better)
    found = []
    for on, on_after, on_differs in itertools.product((0, 1), repeat=3):
        good = ends[0] - price if on_after else after
        bad = ends[1] - price if on_differs else differs
        found.append(agrees * good + (1 - agrees) * bad - price if on else now)
    return max(found)


def tries(text, _):
    p, most = number(text, r"chance ([\d.]+\d)"), int(number(text, r"after (\d+) in"))
    return sum(p * (1 - p) ** (k - 1) * k for k in range(1, most)) + most * (1 - p) ** (most - 1)


def give_up(text, _):
    """Work back from the thirtieth try, with beliefs updated one failure at a time."""
    share, p = number(text, r"share ([\d.]+) of"), number(text, r"chance ([\d.]+) at")
    cost, beliefs = number(text, r"costs ([\d.]+\d),"), [share]
    for _ in range(29):
        beliefs.append(beliefs[-1] * (1 - p) / (1 - beliefs[-1] * p))
    worth, stops = Fraction(0), 30
    for failures in reversed(range(30)):
        chance = beliefs[failures] * p
        worth = max(chance + (1 - chance) * worth - cost, Fraction(0))
        stops = failures if worth == 0 else stops
    return stops


def cross_fit(text, acc):
    first, second = acc[:3], acc[3:]
    price_ = number(text, r"price ([\d.]+\d)\?")
    found = []
    for choose, score in ((first, second), (second, first)):
        labels = on_paper.oracle(choose, COST, price_)
        found += [row[column] for row, column in zip(score, labels, strict=True)]
    return on_paper.mean(found)


def shuffles(text, _):
    gain = number(text, r"gains ([+-][\d.]+\d) points")
    nulls = [Fraction(one) for one in re.findall(r"[+-]\d\.\d", text.partition("anew")[2])]
    return Fraction(1 + sum(one >= gain for one in nulls), 1 + len(nulls))


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
    "give up": give_up,
    "rest": rest,
    "stop": stop,
    "tries": tries,
    "cross-fit": cross_fit,
    "shuffles": shuffles,
}


def read_table(text):
    """The table of accuracies that a question prints."""
    rows = re.findall(r"^[A-H] +((?:[\d.]+ *){4})$", text, re.M)
    return [list(map(Fraction, row.split())) for row in rows]


def everything(student, sheet):
    """The questions of all kinds of sheets, one of each name."""
    drawn = {}
    for kind in SHEETS:
        drawn |= drawn_questions(str(student), sheet, kind)
    return drawn


@pytest.mark.parametrize(
    "students", [range(50), pytest.param(range(50, 1000), marks=pytest.mark.nightly)], ids=str
)
def test_a_thousand_sheets_have_the_keys_that_other_code_finds(students):
    wrong = []
    for student in students:
        drawn = everything(student, "a thousand sheets")
        for name, solve in SOLVED.items():
            question = drawn[name]
            found = solve(question.text, read_table(question.text))
            # The two limits are solved by the simplex method, in floats.
            if abs(found - question.answer) > (1e-9 if name == "two limits" else 0):
                wrong.append((student, name, found, question.answer))
        asked = drawn["bound"]
        # Two mistakes that lead to one number share a hint.
        (mistake,) = (value for hint, value in asked.wrong.items() if "without randomising" in hint)
        acc = read_table(asked.text)
        if on_paper.whole(acc, COST, 4 * budget(asked.text))[0] / 4 != mistake:
            wrong.append((student, "without randomising"))
    assert wrong == []


def test_an_answer_is_not_guessed_from_the_question():
    """No value of a question is that of more than half of a class; each budget is a label."""
    drawn = [everything(student, "a class of sixty") for student in range(60)]
    for name in SOLVED:
        found = Counter(questions[name].answer for questions in drawn)
        assert max(found.values()) <= 30, name
        assert len(found) >= 4, name
    assert {questions["label"].answer for questions in drawn} == set(PAID)
    assert len({questions["subsets"].answer for questions in drawn}) > 12
