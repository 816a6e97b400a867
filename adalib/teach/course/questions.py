"""The questions of a homework, drawn from a seed: every student has another table and another answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from adalib.evaluate.baselines import best_mix
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
    pays = np.append(np.diff(acc[0]) > lam * np.diff(_COST), False)
    return Question(
        f"At the price {lam:.5f}, which budget does this question take?\n{_shown(acc)}",
        Exercise(
            lambda: float(_COST[label]),
            "compare accuracy minus price times budget in all four columns",
            more=f"the first column is worth {acc[0, 0] - lam:.4f}; compute the others, and take the largest",
            wrong={
                "that is a column; the budget is asked for": lambda: label if label not in _COST else -1,
                "that is the most accurate budget; the price counts": lambda: float(_COST[acc[0].argmax()]),
                "that is where the next step stops paying; look past it, too": lambda: float(_COST[pays.argmin()]),
                "that is the net value; the budget that has it is asked for": lambda: float(
                    acc[0, label] - lam * _COST[label]
                ),
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
            more=f"question A takes {_COST[oracle_labels(acc, _COST, lam)[0]]:g}; do the same for the others",
            wrong={
                "that is the sum; the average is asked for": lambda: paid * len(acc),
                "that is the average accuracy": lambda: float(chosen(acc, oracle_labels(acc, _COST, lam)).mean()),
                "that is the bill at a price of zero; the price counts": lambda: average_cost(acc, _COST, 0.0),
                "that is in money; answers are asked for": lambda: lam * paid,
            },
        ),
    )


def _price(rng: np.random.Generator) -> Question:
    acc, budget = _table(rng), float(rng.integers(5, 14) / 4)
    path = frontier(acc, _COST)
    lam, prices = path.at(budget).lam, np.unique(path.lam)
    at = int(np.abs(prices - lam).argmin())
    return Question(
        f"What is the lowest price at which the oracle spends {budget:g} a question or less?\n{_shown(acc)}",
        Exercise(
            lambda: lam,
            "try the slopes between the points of each question, from the largest down",
            1e-4,
            more="buy the steepest steps first, and add up their costs; the first that no longer fits names the price",
            wrong={
                "there it spends less, and a lower price still fits": lambda: prices[min(at + 1, prices.size - 1)],
                "there it spends more than it may": lambda: prices[max(at - 1, 0)],
                "that is the gain of the step; a price is for one answer": lambda: _step_gain(acc, lam),
            },
        ),
    )


def _step_gain(acc: np.ndarray, lam: float) -> float:
    """What the step brings that is bought at this price and not just above it."""
    after, before = (chosen(acc, oracle_labels(acc, _COST, price)) for price in (lam - 1e-9, lam + 1e-9))
    return float((after - before).max())


def _bound(rng: np.random.Generator) -> Question:
    acc, budget = _table(rng), float(rng.integers(5, 14) / 4)
    path = frontier(acc, _COST)
    found = path.at(budget)
    return Question(
        f"What is the best mean accuracy for an average of {budget:g}, if one question may toss a coin?\n{_shown(acc)}",
        Exercise(
            lambda: found.bound,
            "take the steepest steps while they fit, and a part of the first that does not",
            1e-4,
            more=f"buy all steps that are steeper than {found.lam:.4f} an answer, and spend what is left at that slope",
            wrong={
                "that is without the coin": lambda: found.accuracy,
                "that takes the whole of the last step, and costs too much": lambda: float(
                    path.accuracy[path.cost > budget + 1e-9].min(initial=1)
                ),
                "that is the best mix that treats all questions alike": lambda: float(
                    best_mix(acc, _COST, budget).expected(acc).mean()
                ),
            },
        ),
    )


def _subsets(rng: np.random.Generator) -> Question:
    answers = ["7", "7", "8", "9", ""]
    answers = [answers[i] for i in rng.permutation(5)] + [str(rng.choice(["7", "8", "9"]))]
    b = int(rng.integers(3, 5))
    votes = [majority(part).get("7", 0.0) for part in combinations(answers, b)]
    value = float(np.mean(votes))
    said = ", ".join(answer or "(empty)" for answer in answers)
    blanks = [majority([answer or "none" for answer in part]).get("7", 0.0) for part in combinations(answers, b)]
    return Question(
        f"Six answers: {said}. The right one is 7. Average the vote over all ways to pick {b} of them.",
        Exercise(
            lambda: value,
            f"list the ways to pick {b} of six; ties share, empty answers do not vote",
            1e-3,
            more=f"there are {len(votes)} ways; {sum(vote == 1 for vote in votes)} of them are won without a tie",
            wrong={
                "that is the share of right answers": lambda: answers.count("7") / 6,
                "that counts a tie as lost; it is shared": lambda: float(np.mean([vote == 1 for vote in votes])),
                "that counts a tie as won; it is shared": lambda: float(np.mean([vote > 0 for vote in votes])),
                "that lets the empty answer vote": lambda: float(np.mean(blanks)),
            },
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
            more=f"all of them fail with chance {1 - p:g} to the power of {budgets}; else it claims 1",
            wrong={
                "that is the claim; subtract the truth": lambda: claimed,
                "that is the chance that all of them fail": lambda: 1 - claimed,
                "that adds the chances up, and they overlap": lambda: budgets * p - p,
                "that is how far one lucky try is off": lambda: 1 - p,
            },
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
            more=f"the mix gives four answers to a share of ({spent:.1f} - 1) / 3 of the questions",
            wrong={
                "that is against four answers, which it was allowed; it spent less": lambda: accuracy - four,
                "that is against one answer, which costs less": lambda: accuracy - one,
                "that gives four answers to a quarter of what was spent; everyone has one answer already": lambda: (
                    accuracy - one - spent / 4 * (four - one)
                ),
                "that is the mix; subtract it from the policy's accuracy": lambda: mix,
            },
        ),
    )
