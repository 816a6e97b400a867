"""The questions of a homework, drawn from a seed: every student has another table and another answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost, chosen, oracle_labels
from adalib.teach.exercises import Exercise
from adalib.vote.estimators import majority

__all__ = ["Question", "draw_questions"]

_COST = np.array([1.0, 2.0, 4.0, 8.0])


class Question(NamedTuple):
    """A text for the student, and the exercise that checks the answer."""

    text: str
    exercise: Exercise


def draw_questions(rng: np.random.Generator) -> dict[str, Question]:
    """One student's questions, by name.

    Examples
    --------
    >>> mine, yours = (draw_questions(np.random.default_rng(seed)) for seed in (1, 2))
    >>> list(mine), mine["bill"].text == yours["bill"].text
    (['label', 'bill', 'price', 'bound', 'subsets', 'curse', 'equal cost'], False)
    """
    makers: dict[str, Callable[[np.random.Generator], Question]] = {
        "label": _label,
        "bill": _bill,
        "price": _price,
        "bound": _bound,
        "subsets": _subsets,
        "curse": _curse,
        "equal cost": _equal_cost,
    }
    return {name: make(rng) for name, make in makers.items()}


def _table(rng: np.random.Generator, n: int = 4) -> np.ndarray:
    """Accuracies in hundredths that climb, with a dip here and there."""
    start = rng.integers(5, 60, (n, 1))
    steps = rng.integers(-5, 25, (n, _COST.size - 1)).cumsum(axis=1)
    return np.clip(np.hstack([start, start + steps]), 0, 99) / 100


def _shown(acc: np.ndarray) -> str:
    rows = ["question  " + "".join(f"b={c:<5g}" for c in _COST)]
    rows += [f"{'ABCDEFGH'[i]:<10}" + "".join(f"{a:<7.2f}" for a in row) for i, row in enumerate(acc)]
    return "\n".join(rows)


def _label(rng: np.random.Generator) -> Question:
    acc = _table(rng, 1)
    # A price that is no slope between two points, so that nothing is tied.
    lam = float(np.round(rng.uniform(0.01, 0.09), 3)) + 0.00037
    label = int(oracle_labels(acc, _COST, lam)[0])
    return Question(
        f"At the price {lam:.5f}, which budget does this question take?\n{_shown(acc)}",
        Exercise(
            lambda: float(_COST[label]),
            "compare accuracy minus price times budget in all four columns",
            wrong={
                "that is a column; the budget is asked for": lambda: label if label not in _COST else -1,
                "that is the most accurate budget; the price counts": lambda: float(_COST[acc[0].argmax()]),
            },
        ),
    )


def _bill(rng: np.random.Generator) -> Question:
    acc, lam = _table(rng), float(np.round(rng.uniform(0.01, 0.09), 3)) + 0.00037
    paid = average_cost(acc, _COST, lam)
    return Question(
        f"At the price {lam:.5f}, what does the oracle spend on a question, on average?\n{_shown(acc)}",
        Exercise(
            lambda: paid,
            "find each question's best budget, and average the budgets",
            1e-3,
            wrong={
                "that is the sum; the average is asked for": lambda: paid * len(acc),
                "that is the average accuracy": lambda: float(chosen(acc, oracle_labels(acc, _COST, lam)).mean()),
            },
        ),
    )


def _price(rng: np.random.Generator) -> Question:
    acc, budget = _table(rng), float(rng.integers(5, 14) / 4)
    lam = frontier(acc, _COST).at(budget).lam
    return Question(
        f"What is the lowest price at which the oracle spends {budget:g} a question or less?\n{_shown(acc)}",
        Exercise(lambda: lam, "try the slopes between the points of each question, from the largest down", 1e-4),
    )


def _bound(rng: np.random.Generator) -> Question:
    acc, budget = _table(rng), float(rng.integers(5, 14) / 4)
    found = frontier(acc, _COST).at(budget)
    return Question(
        f"What is the best mean accuracy for an average of {budget:g}, if one question may toss a coin?\n{_shown(acc)}",
        Exercise(
            lambda: found.bound,
            "take the steepest steps while they fit, and a part of the first that does not",
            1e-4,
            wrong={"that is without the coin": lambda: found.accuracy if found.accuracy < found.bound - 2e-4 else -1},
        ),
    )


def _subsets(rng: np.random.Generator) -> Question:
    answers = ["7", "7", "8", "9", ""]
    answers = [answers[i] for i in rng.permutation(5)] + [str(rng.choice(["7", "8", "9"]))]
    b = int(rng.integers(3, 5))
    value = float(np.mean([majority(part).get("7", 0.0) for part in combinations(answers, b)]))
    said = ", ".join(answer or "(empty)" for answer in answers)
    return Question(
        f"Six answers: {said}. The right one is 7. Average the vote over all ways to pick {b} of them.",
        Exercise(
            lambda: value,
            f"list the ways to pick {b} of six; ties share, empty answers do not vote",
            1e-3,
            wrong={"that is the share of right answers": lambda: answers.count("7") / 6 if value != 0.5 else -1},
        ),
    )


def _curse(rng: np.random.Generator) -> Question:
    budgets, p = int(rng.integers(2, 7)), int(rng.integers(3, 8)) / 10
    claimed = 1 - (1 - p) ** budgets
    return Question(
        f"{budgets} budgets all have true accuracy {p:g}; each is tried once, and the oracle takes the best. "
        "By how much is its claim too high, on average?",
        Exercise(
            lambda: claimed - p,
            "it claims 0 only if all of them fail",
            1e-3,
            wrong={"that is the claim; subtract the truth": lambda: claimed},
        ),
    )


def _equal_cost(rng: np.random.Generator) -> Question:
    one, four, spent = rng.integers(40, 60) / 100, rng.integers(62, 75) / 100, rng.integers(15, 36) / 10
    mix = one + (spent - 1) / 3 * (four - one)
    accuracy = float(np.round(mix + rng.integers(-30, 60) / 1000, 3))
    return Question(
        f"One answer for everyone has accuracy {one:.2f}, four have {four:.2f}. A policy was allowed 4, spent "
        f"{spent:.1f} and has accuracy {accuracy:.3f}. What is its gain over the mix of 1 and 4 at equal cost?",
        Exercise(
            lambda: accuracy - mix,
            "compare with the mix that costs what the policy spent",
            1e-3,
            wrong={
                "that is against four answers, which it was allowed; it spent less": lambda: accuracy - four,
                "that is against one answer, which costs less": lambda: accuracy - one,
            },
        ),
    )
