"""Exercises with many right answers: what a reader's own object still lacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from adabook.exercises.behaviour import Construction
from adabook.exercises.values import as_number
from adabook.paper.theorems import Case, figure_bounds, recovery, strong_duality
from adabook.plain_data import listed
from adalib.datasets.populations import Population
from adalib.evaluate.crossfit import rehearse_oracle
from adalib.learn.features import text_features
from adalib.serve.budget import BudgetController
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import UtilityTable, check_table

Judge = Callable[[Any], str | None]

EXERCISES: dict[tuple[str, str], Construction] = {}  # by chapter and name

#: The three questions of the chapters on prices, of which the exercise "exact" asks.
_THREE = [[0.9, 0.9, 0.9], [0.2, 0.6, 0.8], [0.3, 0.3, 0.75]], [1, 2, 4]


#: Numbers that a question may hold as words.
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS = {
    **{word: float(at) for at, word in enumerate(_SMALL.split())},
    **{word: 10.0 * at for at, word in enumerate(_TENS.split(), 2)},
    **{"hundred": 1e2, "thousand": 1e3, "million": 1e6, "dozen": 12.0, "pair": 2.0},
    **{"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4},
}
#: Words and signs that ask for the same to be done with two numbers.
_OPERATIONS = (
    "+ plus and add adds added with sum total together more gets gains wins buys finds",
    "- \N{MINUS SIGN} minus less subtract without fewer loses eats sells gives drops",
    "* \N{MULTIPLICATION SIGN} times product multiply multiplied each every",
    "/ \N{DIVISION SIGN} : over divide divided into per share shared ratio",
)


def _exercise(chapter: str, name: str, more: str) -> Callable[[Judge], Judge]:
    """Register a judge as an exercise of a chapter, with its second hint."""

    def keep(fault: Judge) -> Judge:
        EXERCISES[chapter, name] = Construction(fault, more)
        return fault

    return keep


def _parts(answer: Any, *names: str) -> Any:
    """Split an answer into a table, a number and the rest, or raise ValueError with the mend."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2 + len(names):
        raise ValueError(f"give (acc, cost, {', '.join(names)})")
    acc, cost, number, *rest = answer
    if np.isnan(as_number(number)):
        raise ValueError(f"{names[0]} is {number!r}; give a number")
    return *check_table(acc, cost), as_number(number), *rest


@_exercise(
    "duality",
    "gap",
    "with C = (1, 2) and Acc = (0, 1) for everyone, think of a budget between two costs",
)
def _gap(answer: Any) -> str | None:
    """A table and a budget with a duality gap of 0.1 or more."""
    acc, cost, budget = _parts(answer, "budget")
    if len(acc) < 2:
        return "take two questions or more; one question is the chapter's own example"
    gap = strong_duality(Case(UtilityTable(acc, cost), budget)).printed[0].gap
    if gap >= 0.1:
        return None
    return (
        f"the gap is {gap:.3f}; make one step expensive but valuable, and the budget slightly "
        "too small for it"
    )


@_exercise(
    "duality", "exact", "the frontier of the table lists the budgets that a price spends in full"
)
def _exact(answer: Any) -> str | None:
    """A budget at which the best policy of the table `_THREE` reaches the lowest bound."""
    budget = as_number(answer)
    if np.isnan(budget):
        return "give one number, a budget"
    if not 1 < budget < 4:
        return (
            "the budget must lie strictly between 1, the cheapest policy, and 4, the most expensive"
        )
    # Six digits of a budget such as 7/3 may lie below it, where its last step does not fit.
    if strong_duality(Case(UtilityTable(*_THREE), budget + 1e-6)).printed[0].gap <= 1e-6:
        return None
    if abs(frontier(*_THREE).cost - budget).min() < 0.05:
        return (
            "close, but rounded too much; give six digits after the point, or a fraction such "
            "as 11/4"
        )
    return "there is a gap at that budget; think of a budget that the oracle spends in full"


@_exercise(
    "a_duality",
    "perfect",
    "two questions are enough: one with a steep, expensive step and one with a flat, cheap step",
)
def _perfect(answer: Any) -> str | None:
    """A table on which a perfect copy of the oracle breaks the printed bound."""
    acc, cost, budget = _parts(answer, "budget")
    if len(np.unique(acc, axis=0)) < len(acc):
        return "no two questions may have the same curve; copies are the appendix's own example"
    lam = frontier(acc, cost).at(budget).lam
    if (
        not recovery(Case(UtilityTable(acc, cost), budget, lam, oracle_labels(acc, cost, lam)))
        .printed[1]
        .holds
    ):
        return None
    return (
        "the oracle loses nothing at that budget; its next step should not fit, while a smaller, "
        "less steep one does"
    )


@_exercise(
    "a_duality",
    "mean gap",
    "let more answers hurt one question in ten, and let the policy err there",
)
def _mean_gap(answer: Any) -> str | None:
    """A policy whose regret is three times what the mean gap allows."""
    acc, cost, lam, labels = _parts(answer, "lam", "labels")
    whole = [int(label) if label == int(label) else label for label in labels]
    drawn = figure_bounds(Case(UtilityTable(acc, cost), 0.0, lam, whole)).printed[1]
    if drawn.left >= 3 * drawn.right > 0:
        return None
    sides = f"the regret is {drawn.left:.3f} and the mean gap times eps {drawn.right:.3f}"
    return f"{sides}; err on few of many questions, and only where the gap is large"


@_exercise(
    "estimation",
    "null",
    "three answers with chance 1/3 each are flat too: a vote favours none of them",
)
def _null(population: Any) -> str | None:
    """A population on which no budget helps, and the oracle still claims a gain."""
    if not isinstance(population, Population) or population.n < 50:
        return "give an adalib.Population of at least 50 questions"
    acc = population.acc()
    moved = np.abs(acc - acc[:, :1]).max(axis=1)
    if moved.max() > 1e-9:
        return (
            f"question {moved.argmax()} gains or loses with some budget; make its answers "
            "equally likely, or certain"
        )
    if np.isclose(acc[:, 0], 0.5).any():
        return (
            f"question {np.isclose(acc[:, 0], 0.5).argmax()} is a fair coin; find another way "
            "to make it flat"
        )
    if np.min(rehearse_oracle(population, 48, [2]).optimism.low) <= 0:
        certain = np.isin(acc[:, 0].round(9), (0, 1)).mean()
        if certain == 1:
            why = "because every answer is certain; make some uncertain"
        elif certain:
            why = "because the answers to too many questions are certain; make more uncertain"
        else:
            why = "or too little to be seen; take more questions, or answers that are less rare"
        return f"the oracle overstates nothing here, {why}"
    return None


@_exercise(
    "learning",
    "blind",
    "the features count words and symbols; replace a word by one of the same length",
)
def _blind(answer: Any) -> str | None:
    """Two different questions that all text features take for the same."""
    if (
        not isinstance(answer, (tuple, list))
        or len(answer) != 2
        or not all(isinstance(text, str) for text in answer)
    ):
        return "give a pair of texts"
    words = [re.findall(r"\w+", text.lower()) for text in answer]
    if min(map(len, words)) < 4:
        return "each question needs at least four words"
    if not all(text.strip().endswith("?") for text in answer):
        return "each text must be a question, so it ends with a question mark"
    numbers = [
        sorted(
            float(word) if word.isdecimal() else _NUMBERS[word]
            for word in own
            if word.isdecimal() or word in _NUMBERS
        )
        for own in words
    ]
    if min(map(len, numbers)) < 2:
        return "each question must ask for a sum of two numbers or more, such as 12 and 34"
    signs = [re.findall(r"[^\w\s.?!,]", text) for text in answer]
    if all(sorted(one) == sorted(other) for one, other in (words, signs)):
        return (
            "the two use the same words and signs; change one, so that they ask for different sums"
        )
    asked = [
        {at for at, known in enumerate(_OPERATIONS) if {*own, *sign} & {*known.split()}}
        for own, sign in zip(words, signs, strict=True)
    ]
    if numbers[0] == numbers[1] and asked[0] == asked[1]:
        return "both ask for the same sum; change a number, or what is done with the numbers"
    features = text_features(list(answer))
    apart = [name for name in features if features[name][0] != features[name][1]]
    return f"{apart[0]} tells them apart" if apart else None


@_exercise(
    "b_replication", "thin", "ten gains too small to buy, and one large gain from a small budget"
)
def _thin(table: Any) -> str | None:
    """A table whose first half gains more and is bought nothing."""
    if (
        not isinstance(table, UtilityTable)
        or table.acc.shape != (20, 5)
        or table.budgets != (1, 2, 4, 8, 16)
    ):
        return "give an adalib.UtilityTable of 20 questions with cost [1, 2, 4, 8, 16]"
    gain = table.acc[:, -1] - table.acc[:, 0]
    one = gain[:10].mean()
    other = gain[10:].mean()
    if one <= other + 1e-9:
        return (
            f"the first ten gain {one:.3f} on average and the last ten {other:.3f}; let the "
            "first ten gain more"
        )
    labels = frontier(table.acc, table.cost).at(1.5).labels
    if labels[:10].any():
        row = np.flatnonzero(labels[:10])[0]
        return (
            f"the oracle buys more for row {row}, one of the first ten; spread their gain thinner"
        )
    if not labels[10:].any():
        return (
            "the oracle buys nothing for the last ten either; let one of them gain a lot "
            "from a small budget"
        )
    return None


@_exercise(
    "deploy",
    "controller",
    "the logarithm of the price adds up what was spent above the budget, question by question",
)
def _controller(mine: Any) -> str | None:
    """Compare a reader's ``prices(costs, budget, first, step)`` with the package's controller."""
    rng = np.random.default_rng(11)
    for budget, first, step in ((4.0, 0.02, 0.2), (1.5, 0.3, 0.05)):
        costs = rng.choice([1, 2, 3, 8, 16], 40).astype(float)
        controller = BudgetController(budget, first, step=step)
        truth = []
        for cost in costs:
            controller.open(budget)
            controller.close(budget, cost)
            truth.append(controller.price)
        try:
            prices = np.asarray(listed(mine(costs, budget, first, step)), dtype=float)
        except Exception as error:
            return (
                f"it raised an error ({type(error).__name__}); it is called as mine(costs, "
                "budget, first, step)"
            )
        if prices.shape != (len(costs),):
            return "return one price per cost: the price after that question"
        if not np.allclose(prices, truth):
            return "the logarithm moves by step * (cost - budget) / budget after every question"
    return None
