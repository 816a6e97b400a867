"""A question to ask each student about their own sheet, which the sheet does not ask.

Which answer of a sheet it is about, and what is asked, differs from student to student: whoever
handed in the output of a friend's script cannot know what will come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any
from zlib import crc32

import numpy as np

from adabook import exact
from adabook.homework import COST, Question, best_mix_of_rules
from adabook.tasks import Task


def oral_question(drawn: Mapping[str, Question | Task]) -> tuple[str, str]:
    """A question about one answer of a sheet, and what is right."""
    able = [name for name in _ASKED if name in drawn]
    sheet = "\n".join(question.text for question in drawn.values())
    name = able[crc32(sheet.encode()) % len(able)]
    question = drawn[name]
    assert isinstance(question, Question)
    asked, answer = _ASKED[name](question)
    return f"In your question *{name}*: {asked}", answer


def _number(question: Question, pattern: str) -> Fraction:
    """A number that a question prints."""
    return Fraction(re.search(pattern, question.text)[1])  # type: ignore[index]


def _table(question: Question) -> np.ndarray:
    """The table of a question, as it is printed."""
    return exact.table(np.rint(100 * np.array(question.table)).astype(int), 100)


def _budget(question: Question) -> Fraction:
    return _number(question, r"(?:budget (?:is|of)|average of|spends) (\d\.?\d*)[ ,.]")


def _rising(question: Question) -> tuple[str, str]:
    """Who moves first as the price rises."""
    acc, price = _table(question), _number(question, r"price ([\d.]+\d)")
    asked = f"the price is {float(price):.5f}. "
    higher = [step for step in exact.steps(acc, COST) if step.slope > price]
    if not higher:
        reason = "at this price all have the cheapest already, and a higher price buys no more"
        return f"{asked}Which question changes its budget as the price rises, and why?", reason
    last = higher[-1]
    return (
        f"{asked}Which question is the first to change its budget as it rises, and where?",
        f"{'ABCD'[last.row]}, from {COST[last.high]} to {COST[last.low]}, at "
        f"{float(last.slope):.4f}: the step brings "
        f"{float(acc[last.row, last.high] - acc[last.row, last.low]):.2f} and costs "
        f"{COST[last.high] - COST[last.low]}.",
    )


def _split(question: Question) -> tuple[str, str]:
    """Who is randomised, and how often."""
    best = exact.best_within(_table(question), COST, _budget(question))
    asked = "which question is randomised, between which budgets, and how often does it get more?"
    if not best.share or not best.step:
        return asked, "none: the steps that fit spend the whole budget, or nothing is left to buy."
    low, high = COST[best.step.low], COST[best.step.high]
    return asked, (
        f"{'ABCD'[best.step.row]}, between {low} and {high}; {high} with chance "
        f"{float(best.share):.4f}. (Where two steps are equally steep, either is right.)"
    )


def _satisfied(question: Question) -> tuple[str, str]:
    """At which price complementary slackness holds."""
    best = exact.best_within(_table(question), COST, _budget(question))
    return (
        "which price would leave nothing unspent, if one question is randomised, and how do you "
        "find it?",
        f"{float(best.lam):.4f}: the slope of the step at which the budget runs out"
        + (", here with nothing left over." if not best.share else "."),
    )


def _minimum(question: Question) -> tuple[str, str]:
    """On which side of the price the dual function is least."""
    price = _number(question, r"price ([\d.]+\d)")
    lam = exact.best_within(_table(question), COST, _budget(question)).lam
    side = "a higher" if lam > price else "a lower"
    why = "the slope is negative here" if lam > price else "the slope is positive here"
    return (
        "is the dual function least at a higher or at a lower price, and where?",
        f"At {side} one, {float(lam):.4f}: {why}, and the function is convex.",
    )


def _one_more(question: Question) -> tuple[str, str]:
    """What one budget more would overstate."""
    count, p = int(_number(question, r"^(\d+) budgets")), _number(question, r"accuracy ([\d.]+\d);")
    overstated = 1 - (1 - p) ** (count + 1) - p
    return (
        "with one budget more, how large is the overstatement, and what is its limit?",
        f"{float(overstated):.4f}; with many budgets the claim goes to 1, so the limit is "
        f"{float(1 - p):g}.",
    )


def _break_even(question: Question) -> tuple[str, str]:
    """At which cost the same accuracy would gain nothing."""
    one, four = (_number(question, rf"{word} ([\d.]+\d)") for word in ("everyone scores", "score"))
    accuracy = _number(question, r"and scores ([\d.]+\d)")
    return (
        "at which cost would a policy with the same accuracy gain nothing?",
        f"{float(1 + 3 * (accuracy - one) / (four - one)):.3f}: the mix that is as accurate gives "
        f"four answers to {float((accuracy - one) / (four - one)):.1%} of the questions.",
    )


def _heaviest(question: Question) -> tuple[str, str]:
    """Which row of a log moves the estimate most."""
    rows = re.findall(r"^(\d+) +(\d) +([\d.]+) +([01]) +(\d)$", question.text, re.M)
    counts = {at: right == "1" and got == mine for at, got, _, right, mine in rows}
    weights = {at: 1 / Fraction(p) for at, _, p, *_ in rows if counts[at]}
    most = max(weights.values(), default=Fraction(0))
    named = [at for at, weight in weights.items() if weight == most]
    return (
        "which row moves the estimate most, by how much, and why?",
        f"Row {' or '.join(named)}, by {float(most / len(rows)):.4f}: of the rows that agree and "
        "were right it was the least probable, so it stands for the most."
        if named
        else "None: no row that agrees was right, so the estimate is 0.",
    )


def _best_plan(question: Question) -> tuple[str, str]:
    """Which whole plan is best, and what is left over."""
    acc, budget = _table(question), _budget(question)
    plan, _ = exact.best_whole(acc, COST, budget)
    given = ", ".join(f"{'ABCD'[at]} gets {COST[column]}" for at, column in enumerate(plan))
    left = budget * len(acc) - COST[plan].sum()
    return (
        "name a plan that reaches the best whole accuracy. How many answers does it leave unspent?",
        f"For example {given}: {float(left):g} of {float(budget * len(acc)):g} in all.",
    )


def _shares(question: Question) -> tuple[str, str]:
    """How often each of three rules is drawn."""
    rows = re.findall(r"^(\w+) +([\d.]+) +([\d.]+) +([\d.]+)$", question.text, re.M)
    limits = [
        _number(question, pattern)
        for pattern in (r"take ([\d.]+) units", r"and ([\d.]+) of waiting")
    ]
    names = [name for name, *_ in rows]
    columns = zip(*(row[1:] for row in rows), strict=True)
    acc, tokens, waiting = (list(map(Fraction, column)) for column in columns)
    shares = best_mix_of_rules(acc, [tokens, waiting], limits)[1]
    given = ", ".join(
        f"{name} {float(share):.4f}" for name, share in zip(names, shares, strict=True)
    )
    return "how often is each of the three rules drawn?", f"With these shares: {given}."


def _one_try_more(question: Question) -> tuple[str, str]:
    """What one more try would add to the chance of a pass."""
    p, most = _number(question, r"chance ([\d.]+\d)"), int(_number(question, r"after (\d+) in"))
    return (
        "by how much does the chance of a pass rise if one answer more is allowed, and what does "
        "that cost on average?",
        f"The chance rises by {float((1 - p) ** most * p):.4f}, for {float((1 - p) ** most):.4f} "
        "answers more: it is asked only where all before it have failed.",
    )


def _rest_alone(question: Question) -> tuple[str, str]:
    """Which budgets reach the value of the dynamic program."""
    left = int(_number(question, r"if (\d+) answers are left"))
    acc = _table(question)[1:]
    plans, reached = exact.whole_plans(acc, COST, left)
    plan = plans[reached.argmax()]
    unused = left - COST[plan].sum()
    return (
        "which budgets of B and C reach it, and is an answer left over?",
        f"For example B gets {COST[plan[0]]} and C gets {COST[plan[1]]}; {unused} left over.",
    )


def _other_way(question: Question) -> tuple[str, str]:
    """What an oracle claims for its own choice."""
    rows = re.findall(r"^[A-C] +((?:[\d.]+ *){4})$", question.text, re.M)
    halves = [
        np.array([list(map(Fraction, row.split())) for row in rows[at : at + 3]], dtype=object)
        for at in (0, 3)
    ]
    price = _number(question, r"price ([\d.]+\d)\?")
    claims = [exact.mean(exact.chosen(half, exact.labels_at(half, COST, price))) for half in halves]
    return (
        "what does each half claim for its own choice, and why is that too much on average?",
        f"{float(claims[0]):.4f} and {float(claims[1]):.4f}: each chooses what was lucky in it.",
    )


#: What can be asked of a question of homework, by its name.
_ASKED: dict[str, Callable[[Question], Any]] = {
    "bill": _rising,
    "bound": _split,
    "slackness": _satisfied,
    "subgradient": _minimum,
    "curse": _one_more,
    "equal cost": _break_even,
    "whole": _best_plan,
    "log": _heaviest,
    "two limits": _shares,
    "tries": _one_try_more,
    "rest": _rest_alone,
    "cross-fit": _other_way,
}
