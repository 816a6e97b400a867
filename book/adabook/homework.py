"""Homework with numbers of one's own: everyone gets the same questions about other tables.

The student's id and the name of the sheet are the seed. `homework` is for practice: it says right,
or gives a hint. In the assignment that `make homework` writes, the name of the sheet is a secret
that the teacher keeps, so that its numbers and keys cannot be drawn again from the id alone.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from adabook.exercises import Checked, Checker, Exercise
from adabook.exercises.values import Value
from adabook.tasks import Task, all_plans, function_task, judged, proof_task
from adalib.evaluate.baselines import best_mix
from adalib.solve.frontier import frontier
from adalib.solve.integer import integer_optimum
from adalib.solve.oracle import chosen, oracle_labels
from adalib.vote.estimators import majority


class Homework:
    """One student's questions on one sheet; `homework` makes it.

    Attributes
    ----------
    student, sheet : str
        Whose questions these are, and of which sheet.
    questions : dict of str to str
        The text of every question by its name.
    """

    def __init__(self, student: str, sheet: str) -> None:
        self.student = student
        self.sheet = sheet
        questions = drawn_questions(student, sheet)
        self.questions = {name: question.text for name, question in questions.items()}

    def __repr__(self) -> str:
        texts = [f"[{name}] {text}" for name, text in self.questions.items()]
        return f"Homework {self.sheet} of {self.student}\n\n" + "\n\n".join(texts)

    def check(self, name: str, answer: Any) -> Checked:
        """Say whether an answer is right, or give a hint. This is practice, and no mark is kept."""
        return Checker(exercises(self.student, self.sheet))(name, answer)


def homework(student: str, sheet: str = "practice") -> Homework:
    """Draw a student's own homework: the same questions as everyone's, with other numbers.

    Explained in the page "Homework".

    Parameters
    ----------
    student : str
        The student's id. Spaces around it do not matter.
    sheet : str
        Which sheet; another name gives other numbers.

    Examples
    --------
    >>> mine = homework("ada")
    >>> list(mine.questions)  # doctest: +ELLIPSIS
    ['label', 'bill', 'price', 'bound', 'dual', ..., 'log', 'function', 'proof']
    >>> mine.check("curse", 99)  # doctest: +ELLIPSIS
    Exercise "curse": not yet. Hint: it claims 0 only if all of them fail. ...
    """
    return Homework(student, sheet)


def exercises(student: str, sheet: str) -> dict[str, Exercise]:
    """The exercises that check a student's answers, by the names of the questions."""
    questions = drawn_questions(student, sheet)
    return {name: exercise_of(name, question.key()) for name, question in questions.items()}


def exercise_of(name: str, key: Mapping[str, Any]) -> Exercise:
    """The exercise that judges a question, made from its key."""
    return judged(**key) if "variant" in key else Value(name, **key)


class Question(NamedTuple):
    """A text for the student, the answer, two hints, and typical mistakes by the hint to each.

    ``table`` holds the accuracies that the question is about, one row per question asked.
    """

    text: str
    answer: float
    hint: str
    more: str
    wrong: Mapping[str, float]
    tolerance: float = 1e-3
    table: list[list[float]] | None = None

    @property
    def points(self) -> int:
        """What a right answer is worth."""
        return Value.points

    def key(self) -> dict[str, Any]:
        """What a grader needs to judge an answer."""
        return {
            "answer": float(self.answer),
            "hint": self.hint,
            "more": self.more,
            "tolerance": self.tolerance,
            "wrong": {hint: float(value) for hint, value in self.wrong.items()},
        }


@lru_cache(maxsize=1024)  # a class is drawn for its notebooks, and again for its keys
def drawn_questions(student: str, sheet: str) -> Mapping[str, Question | Task]:
    """Draw a student's questions from the id and the sheet: numbers first, then two tasks."""
    signed = unicodedata.normalize("NFC", student).strip()
    seed = hashlib.sha256(f"{sheet}\0{signed}".encode())
    rng = np.random.default_rng(int.from_bytes(seed.digest()[:8], "big"))
    return {
        **{name: _telling(make, rng) for name, make in _QUESTIONS.items()},
        "function": function_task(rng),
        "proof": proof_task(rng),
    }


def _telling(make: Callable[[np.random.Generator], Question], rng: np.random.Generator) -> Question:
    """Draw a question until none of its typical mistakes leads to the right answer."""
    while True:
        question = make(rng)
        distances = np.abs(np.array(list(question.wrong.values())) - question.answer)
        if distances.min() > 2 * question.tolerance:
            break
    question = question._replace(wrong=_distinct(question.wrong, question.tolerance))
    if question.tolerance:
        text = f"{question.text}\nThe tolerance is {question.tolerance:g}."
        question = question._replace(text=text)
    return question


def _distinct(wrong: Mapping[str, float], tolerance: float) -> dict[str, float]:
    """Mistakes by their hints, where those that lead to one number share a hint.

    >>> _distinct({"add": 3.0, "double": 3.0, "halve": 1.0}, 0.1)
    {'add; or double': 3.0, 'halve': 1.0}
    """
    shared: list[tuple[list[str], float]] = []
    for hint, value in wrong.items():
        alike = [hints for hints, other in shared if abs(other - value) <= 2 * tolerance]
        if alike:
            alike[0].append(hint)
        else:
            shared.append(([hint], value))
    return {"; or ".join(hints): value for hints, value in shared}


#: What the four columns of every table cost.
COST = np.array([1.0, 2.0, 4.0, 8.0])


def _table(rng: np.random.Generator, n: int = 4) -> np.ndarray:
    """Accuracies in hundredths that climb, with a dip here and there."""
    start = rng.integers(5, 60, (n, 1))
    steps = rng.integers(-5, 25, (n, COST.size - 1)).cumsum(axis=1)
    return np.clip(np.hstack([start, start + steps]), 0, 99) / 100


def _shown(acc: np.ndarray) -> str:
    """A table of accuracies as text, questions as letters."""
    rows = ["question  " + "".join(f"b={c:<5g}" for c in COST)]
    rows += [
        f"{'ABCDEFGH'[i]:<10}" + "".join(f"{a:<7.2f}" for a in row) for i, row in enumerate(acc)
    ]
    return "\n".join(rows)


def _some_price(rng: np.random.Generator) -> float:
    """A price that is no slope between two points, so that nothing is tied."""
    return float(np.round(rng.uniform(0.01, 0.09), 3)) + 0.00037


def _first_stop(acc: np.ndarray, lam: float) -> np.ndarray:
    """A mistake: the columns before the first step that does not pay."""
    pays = np.diff(acc) > lam * np.diff(COST)
    return np.hstack([pays, np.zeros((len(acc), 1), bool)]).argmin(axis=1)


def _label(rng: np.random.Generator) -> Question:
    """Ask for one question's best budget at a price."""
    acc = _table(rng, 1)
    lam = _some_price(rng)
    label = int(oracle_labels(acc, COST, lam)[0])
    # A column's number that is also a budget is not told from that budget.
    column = {} if label in COST else {"that is the column; give the budget": label}
    return Question(
        f"At the price {lam:.5f}, which budget does this question take?\n{_shown(acc)}",
        COST[label],
        "compare accuracy minus price times budget in all four columns",
        f"the first column's net value is {acc[0, 0] - lam:.4f}; compute the others, and take "
        "the largest",
        {
            **column,
            "that is the most accurate budget; subtract the price": COST[acc[0].argmax()],
            "that is where the next step stops paying; look beyond it too": float(
                COST[_first_stop(acc, lam)][0]
            ),
            "that is the net value; give the budget that has it": acc[0, label] - lam * COST[label],
        },
        tolerance=0,
        table=acc.tolist(),
    )


def _bill(rng: np.random.Generator) -> Question:
    """Ask for the average cost at a price."""
    acc = _table(rng)
    lam = _some_price(rng)
    labels = oracle_labels(acc, COST, lam)
    paid = float(COST[labels].mean())
    return Question(
        f"At the price {lam:.5f}, what does the oracle spend on a question, on "
        f"average?\n{_shown(acc)}",
        paid,
        "find each question's best budget, and average the budgets",
        f"question A takes {COST[labels[0]]:g}; do the same for the others",
        {
            "that is the sum; give the average": paid * len(acc),
            "that is the average accuracy": float(chosen(acc, labels).mean()),
            "that is the cost at a price of zero; use the price": float(
                COST[acc.argmax(axis=1)].mean()
            ),
            "that is in money; count answers": lam * paid,
            "the sign of the price is wrong: what is spent is subtracted": float(
                COST[(acc + lam * COST).argmax(axis=1)].mean()
            ),
            "that stops at the first step that does not pay; look beyond it": float(
                COST[_first_stop(acc, lam)].mean()
            ),
        },
        table=acc.tolist(),
    )


def _price(rng: np.random.Generator) -> Question:
    """Ask for a price at which a budget is spent."""
    acc = _table(rng)
    budget = float(rng.integers(5, 14) / 4)
    path = frontier(acc, COST)
    lam = path.at(budget).lam
    prices = np.unique(path.lam)
    at = int(np.abs(prices - lam).argmin())
    # What the step brings that is bought at this price and not just above it.
    after, before = (
        chosen(acc, oracle_labels(acc, COST, price)) for price in (max(lam - 1e-9, 0), lam + 1e-9)
    )
    return Question(
        f"What is the lowest price at which the oracle spends {budget:g} per question or "
        f"less?\n{_shown(acc)}",
        lam,
        "try the slopes between the points of each question, from the largest down",
        "buy the steepest steps first, and add up their costs; the first that no longer fits "
        "sets the price",
        {
            "at that price it spends less, and a lower price still fits": prices[
                min(at + 1, prices.size - 1)
            ],
            "at that price it spends too much": prices[max(at - 1, 0)],
            "that is the gain of the step; a price is per answer": float((after - before).max()),
        },
        tolerance=1e-4,
        table=acc.tolist(),
    )


def _bound(rng: np.random.Generator) -> Question:
    """Ask for the upper bound at a budget."""
    acc = _table(rng)
    budget = float(rng.integers(5, 14) / 4)
    path = frontier(acc, COST)
    best = path.at(budget)
    whole = integer_optimum(acc, COST, budget).accuracy
    whole_step = float(path.accuracy[path.cost > budget + 1e-9].min(initial=1))
    alike = float(best_mix(acc, COST, budget).expected(acc).mean())
    return Question(
        f"What is the best mean accuracy for an average of {budget:g}, if one question is "
        f"randomised?\n{_shown(acc)}",
        best.bound,
        "take the steepest steps while they fit, and part of the first that does not",
        f"buy all steps that are steeper than {best.lam:.4f} per answer, and spend what is left "
        "at that slope",
        {
            "that is the best without randomising": whole,
            "that takes the whole last step, which costs too much": whole_step,
            "that is the best mix that treats all questions alike": alike,
        },
        tolerance=1e-4,
        table=acc.tolist(),
    )


def _priced(rng: np.random.Generator) -> tuple[np.ndarray, float, float, np.ndarray]:
    """A table, a price that ties nothing, a budget, and the oracle's labels at that price."""
    acc = _table(rng)
    lam = _some_price(rng)
    return acc, lam, float(rng.integers(5, 24) / 4), oracle_labels(acc, COST, lam)


def _dual(rng: np.random.Generator) -> Question:
    """Ask for the dual function at a price."""
    acc, lam, budget, labels = _priced(rng)
    net = float((acc - lam * COST).max(axis=1).mean())
    return Question(
        f"The budget is {budget:g} per question. What is the value of the dual function at the "
        f"price {lam:.5f}?\n{_shown(acc)}",
        net + lam * budget,
        "average the best net values, and add the price times the budget",
        f"the best net value of question A is {(acc[0] - lam * COST).max():.4f}",
        {
            "the price of the budget is missing": net,
            "add the price times the budget; do not subtract it": net - lam * budget,
            "that is the accuracy of the oracle at this price": float(chosen(acc, labels).mean()),
            "the dual averages over questions; it does not add them up": net * len(acc)
            + lam * budget,
        },
        tolerance=1e-4,
        table=acc.tolist(),
    )


def _dual_value(rng: np.random.Generator) -> Question:
    """Ask for one question's variable in the solution of the dual program."""
    acc = _table(rng)
    budget = float(rng.integers(5, 14) / 4) + 0.1  # no plan of four costs this, so one price solves
    lam = frontier(acc, COST).at(budget).lam
    net = acc[0] - lam * COST
    dearest = acc[0].argmax()
    mistake = "that is the net value of the most accurate budget, which need not be the best"
    return Question(
        f"The budget is {budget:g} per question, and policies may randomise. In the solution of "
        "the dual program, what is the value of question A, its variable next to the "
        f"price?\n{_shown(acc)}",
        float(net.max()),
        "find the price that solves the dual, and question A's best net value at that price",
        f"the price is {lam:.4f}",
        {
            "that is the best accuracy of A; subtract the price of its budget": acc[0].max(),
            "that is the price; the value of a question is asked for": lam,
            **({mistake: net[dearest]} if dearest != net.argmax() else {}),
            "that is the net value of A's cheapest budget, which is not its best": net[0],
            "that is the price of what A buys": lam * COST[net.argmax()],
        },
        tolerance=1e-4,
        table=acc.tolist(),
    )


def _slackness(rng: np.random.Generator) -> Question:
    """Ask for the term that complementary slackness sets to zero."""
    acc, lam, budget, labels = _priced(rng)
    paid = float(COST[labels].mean())
    budget += max(0.0, np.ceil(paid - budget) + 1)
    return Question(
        f"At the price {lam:.5f} the oracle stays within a budget of {budget:g} per question. By "
        "how much is complementary slackness violated: what is the price times the unspent "
        f"budget?\n{_shown(acc)}",
        lam * (budget - paid),
        "find what the oracle spends at this price; what is left over is unspent",
        f"the oracle spends {paid:g} per question",
        {
            "that is the unspent budget; multiply it by the price": budget - paid,
            "that is the price of the whole budget": lam * budget,
            "that is the price of what is spent": lam * paid,
            "that adds over questions; the budget is an average": lam * (budget - paid) * len(acc),
        },
        tolerance=1e-4,
        table=acc.tolist(),
    )


def _subgradient(rng: np.random.Generator) -> Question:
    """Ask for the slope of the dual function."""
    acc, lam, budget, labels = _priced(rng)
    paid = float(COST[labels].mean())
    return Question(
        f"The budget is {budget:g} per question. What is the slope of the dual function at the "
        f"price {lam:.5f}, where nothing is tied?\n{_shown(acc)}",
        budget - paid,
        "the best net values fall as the price rises; how fast, and what does the budget add",
        f"the oracle spends {paid:g} per question at this price",
        {
            "the sign is reversed: below its minimum the dual function falls": paid - budget,
            "the budget is missing": -paid,
            "that is the cost; the slope is the budget minus the cost": paid,
            "a slope is per unit of price; do not multiply by the price": lam * (budget - paid),
        },
        table=acc.tolist(),
    )


def _subsets(rng: np.random.Generator) -> Question:
    """Ask for the accuracy of a vote over all subsets."""
    answers = ["7", "7", "8", "9", ""]
    answers = [answers[i] for i in rng.permutation(5)] + [str(rng.choice(["7", "8", "9"]))]
    b = int(rng.integers(3, 5))
    votes = np.array([majority(part).get("7", 0.0) for part in combinations(answers, b)])
    blanks = [
        majority([answer or "none" for answer in part]).get("7", 0.0)
        for part in combinations(answers, b)
    ]
    windows = [majority(answers[start : start + b]) for start in range(0, 7 - b, b)]
    none_right = comb(6 - answers.count("7"), b) / len(votes)
    listed = ", ".join(answer or "(empty)" for answer in answers)
    return Question(
        f"Six answers: {listed}. The right one is 7. Average the vote over all ways to pick {b} "
        "of them.",
        float(votes.mean()),
        f"list the ways to pick {b} of six; ties share, empty answers do not vote",
        f"there are {len(votes)} ways; {(votes == 1).sum()} of them are won without a tie",
        {
            "that is the share of right answers": answers.count("7") / 6,
            "that counts a tie as lost; a tie is shared": float((votes == 1).mean()),
            "that counts a tie as won; a tie is shared": float((votes > 0).mean()),
            "that lets the empty answer vote": float(np.mean(blanks)),
            "that is pass@b: a vote must be won, and not only contain the right answer": (
                1 - none_right
            ),
            "that votes in windows, where each answer is used once": float(
                np.mean([votes_of.get("7", 0.0) for votes_of in windows])
            ),
        },
    )


def _curse(rng: np.random.Generator) -> Question:
    """Ask how much the oracle overstates where no budget helps."""
    budgets = int(rng.integers(2, 7))
    p = int(rng.integers(3, 8)) / 10
    claimed = 1 - (1 - p) ** budgets
    return Question(
        f"{budgets} budgets all have true accuracy {p:g}; each is tried once, and the oracle "
        "takes the best. By how much is its claim too high, on average?",
        claimed - p,
        "it claims 0 only if all of them fail",
        f"all of them fail with chance {1 - p:g} to the power of {budgets}; otherwise it claims 1",
        {
            "that is the claim; subtract the truth": claimed,
            "that is the chance that all of them fail": 1 - claimed,
            "that adds up chances, which overlap": budgets * p - p,
            "that is the error of one lucky try": 1 - p,
        },
    )


def _equal_cost(rng: np.random.Generator) -> Question:
    """Ask for the gain over a mix of equal cost."""
    one = rng.integers(40, 60) / 100
    four = rng.integers(62, 75) / 100
    spent = rng.integers(15, 36) / 10
    mix = one + (spent - 1) / 3 * (four - one)
    accuracy = float(np.round(mix + rng.integers(-30, 60) / 1000, 3))
    quarter = accuracy - one - spent / 4 * (four - one)
    return Question(
        f"One answer for everyone scores {one:.2f}, four score {four:.2f}. A policy was "
        f"allowed 4, spent {spent:.1f} and scores {accuracy:.3f}. What is its gain over the "
        "mix of 1 and 4 at equal cost?",
        accuracy - mix,
        "compare with the mix that costs what the policy spent",
        f"the mix gives four answers to a share of ({spent:.1f} - 1) / 3 of the questions",
        {
            "that compares with four answers, which it was allowed; it spent less": accuracy - four,
            "that compares with one answer, which costs less": accuracy - one,
            "that gives four answers to a share of cost / 4; every question already has one "
            "answer": quarter,
            "that is the mix; subtract it from the policy's accuracy": mix,
        },
    )


def _two_limits(rng: np.random.Generator) -> Question:
    """Ask for the best mix of three rules under a limit on tokens and one on waiting."""
    tokens = np.array([1, rng.integers(5, 8) / 2, rng.integers(4, 8) / 2])
    waiting = np.array([1, rng.integers(5, 9) / 2, rng.integers(2, 5) / 4])
    gains = rng.integers(8, 16), rng.integers(3, 8)
    acc = rng.integers(40, 56) / 100 + np.array([0, *gains]) / 100
    limits = np.array([2.0, rng.integers(9, 13) / 8])
    best = _best_mix_of_rules(acc, np.array([tokens, waiting]), limits)
    free = _best_mix_of_rules(acc, np.array([tokens]), limits[:1])
    fast = _best_mix_of_rules(acc, np.array([waiting]), limits[1:])
    fits = (tokens <= limits[0]) & (waiting <= limits[1])
    rules = ["rule      accuracy  tokens  waiting"] + [
        f"{name:<10}{a:<10.2f}{t:<8g}{w:g}"
        for name, a, t, w in zip(("single", "vote", "race"), acc, tokens, waiting, strict=True)
    ]
    return Question(
        f"Each question is answered by one of three rules, which may be drawn at random. On "
        f"average a question may take {limits[0]:g} units of tokens and {limits[1]:g} of waiting. "
        "What is the best mean accuracy?\n" + "\n".join(rules),
        best,
        "three shares add up to one; which limits are used up at the best mix",
        "both limits are used up: solve for the shares, or price tokens and waiting",
        {
            "that mix waits too long; there are two limits": free,
            "that mix takes too many tokens; there are two limits": fast,
            "that is the best single rule within both limits; mix them": float(acc[fits].max()),
        },
    )


def _whole(rng: np.random.Generator) -> Question:
    """Ask how far the best plan without a split lies below the program."""
    acc = _table(rng)
    budget = float(rng.integers(5, 14) / 4)
    path = frontier(acc, COST)
    best = path.at(budget)
    whole = integer_optimum(acc, COST, budget).accuracy
    sorted_steps = "sorted steps need not be the best whole plan"
    return Question(
        f"The budget is {budget:g} per question. How large is the integrality gap, by which the "
        "best mean accuracy of plans that randomise exceeds the best of those that do "
        f"not?\n{_shown(acc)}",
        best.bound - whole,
        "find both: the steepest steps with part of the last, and the best of all whole plans",
        f"with one question randomised {best.bound:.4f} can be reached",
        {
            "only one question is split, and yet there is a gap here": 0,
            **({sorted_steps: best.bound - best.accuracy} if best.accuracy < whole - 1e-9 else {}),
            "that adds over questions; accuracies are averages": (best.bound - whole) * len(acc),
            "that is the best whole plan; subtract it": whole,
        },
        tolerance=1e-4,
        table=acc.tolist(),
    )


def _harm(rng: np.random.Generator) -> Question:
    """Ask what the question that harms the others most pays by the rule of VCG."""
    while True:
        acc = _table(rng)
        total = int(rng.integers(8, 15))
        plans, sums = _fitting(acc, total)
        best = np.flatnonzero(sums > sums.max() - 1e-9)
        own = acc[np.arange(len(acc)), plans[best[0]]]
        without = [_fitting(np.delete(acc, i, axis=0), total - 1)[1].max() for i in range(len(acc))]
        harms = np.array(without) - (own.sum() - own)
        who = int(harms.argmax())
        if best.size == 1 and harms[who] > 0:
            break
    bought = COST[plans[best[0], who]]
    others = np.delete(acc, who, axis=0)
    return Question(
        f"{total} answers are for sale, and each question keeps its first. Plans do not randomise, "
        "and the best one for all is taken. A question pays the harm that it does: what the others "
        "could reach together if it had one answer, less what they reach now. How much does "
        f"question {'ABCD'[who]} pay?\n{_shown(acc)}",
        harms[who],
        "find the best plan for all, and the best plan for the others with one answer less",
        f"question {'ABCD'[who]} buys {bought:g}; the others reach {own.sum() - own[who]:.2f} now",
        {
            "that is what its answers bring to itself": own[who] - acc[who, 0],
            "its first answer stays with it, so the others do not share all": float(
                _fitting(others, total)[1].max() - own.sum() + own[who]
            ),
            "that is what the others reach; subtract it from what they could": own.sum() - own[who],
            "that is one price for each further answer": frontier(acc, COST)
            .at(total / len(acc))
            .lam
            * (bought - 1),
        },
        tolerance=1e-3,
        table=acc.tolist(),
    )


def _fitting(acc: np.ndarray, total: float) -> tuple[np.ndarray, np.ndarray]:
    """All plans that cost no more than the total, and what each reaches in all."""
    plans = all_plans(acc)
    plans = plans[COST[plans].sum(axis=1) <= total]
    return plans, acc[np.arange(len(acc)), plans].sum(axis=1)


def _log(rng: np.random.Generator) -> Question:
    """Ask what a plan would have scored, from the log of another."""
    bought, planned = rng.choice(COST, (2, 8))
    planned[:4] = bought[:4]
    chance = rng.choice([0.1, 0.2, 0.25, 0.4, 0.5], 8)
    right = rng.permuted(np.arange(8) % 2)
    agrees = bought == planned
    weights = agrees / chance
    rows = ["row  bought  chance  right  your plan"] + [
        f"{at:<5}{b:<8g}{p:<8g}{r:<7}{mine:g}"
        for at, (b, p, r, mine) in enumerate(zip(bought, chance, right, planned, strict=True), 1)
    ]
    return Question(
        "A log says which budget each question got, with what chance it was drawn, and whether the "
        "vote was right. What is the accuracy of your plan by inverse propensity?\n"
        + "\n".join(rows),
        float((weights * right).mean()),
        "a row counts one over its chance where your plan agrees and the vote was right",
        f"{agrees.sum()} rows agree, and all {agrees.size} count below",
        {
            "that is the share of right rows among those that agree; weigh them": float(
                right[agrees].mean()
            ),
            "that is the share of right rows in the log": float(right.mean()),
            "all rows of the log count below": float((weights * right).sum() / agrees.sum()),
            "that divides by the weights; divide by the number of rows": float(
                (weights * right).sum() / weights.sum()
            ),
        },
    )


def _best_mix_of_rules(acc: np.ndarray, takes: np.ndarray, limits: np.ndarray) -> float:
    """The best accuracy of a random choice of rules within limits: a corner of the program."""
    walls = np.vstack([takes, -np.eye(acc.size)])
    heights = np.append(limits, np.zeros(acc.size))
    best = 0.0
    for tight in combinations(range(len(walls)), acc.size - 1):
        system = np.vstack([walls[list(tight)], np.ones(acc.size)])
        if abs(np.linalg.det(system)) > 1e-9:
            shares = np.linalg.solve(system, [*heights[list(tight)], 1])
            if (walls @ shares <= heights + 1e-9).all():
                best = max(best, float(acc @ shares))
    return best


_QUESTIONS = {
    "label": _label,
    "bill": _bill,
    "price": _price,
    "bound": _bound,
    "dual": _dual,
    "dual value": _dual_value,
    "slackness": _slackness,
    "subgradient": _subgradient,
    "subsets": _subsets,
    "curse": _curse,
    "equal cost": _equal_cost,
    "two limits": _two_limits,
    "whole": _whole,
    "harm": _harm,
    "log": _log,
}
