"""Homework with numbers of one's own: everyone gets the same questions about other tables.

The student's id and the name of the sheet are the seed. `homework` is for practice: it says right,
or gives a hint. In the assignment that `make homework` writes, the name of the sheet is a secret
that the teacher keeps, so that its numbers and keys cannot be drawn again from the id alone. Every
key is computed in fractions (`adabook.exact`), from the numbers that the question prints.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import ceil, comb
from typing import Any, NamedTuple

import numpy as np

from adabook import exact
from adabook.exact import best_whole, best_within, chosen, labels_at, mean, whole_plans
from adabook.exercises import Checked, Checker, Exercise
from adabook.exercises.values import Value
from adabook.tasks import Task, function_task, judged, proof_task


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
    ['label', 'bill', 'price', 'bound', 'dual', ..., 'log', 'give up', 'function', 'proof']
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
    answer: Fraction
    hint: str
    more: str
    wrong: Mapping[str, Fraction]
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
def drawn_questions(
    student: str, sheet: str, kind: str = "homework"
) -> Mapping[str, Question | Task]:
    """Draw a student's questions from the id, the sheet and its kind, a key of `SHEETS`."""
    signed = unicodedata.normalize("NFC", student).strip()
    words = [sheet, signed] if kind == "homework" else [kind, sheet, signed]
    seed = hashlib.sha256("\0".join(words).encode())
    rng = np.random.default_rng(int.from_bytes(seed.digest()[:8], "big"))
    tasks = {"function": function_task, "proof": proof_task}
    return {
        name: tasks[name](rng) if name in tasks else _telling(_QUESTIONS[name], rng)
        for name in SHEETS[kind]
    }


def _telling(make: Callable[[np.random.Generator], Question], rng: np.random.Generator) -> Question:
    """Draw a question until none of its typical mistakes leads to the right answer."""
    while True:
        question = make(rng)
        if all(
            abs(value - question.answer) > 2 * question.tolerance
            for value in question.wrong.values()
        ):
            break
    question = question._replace(wrong=_distinct(question.wrong, question.tolerance))
    if question.tolerance:
        text = f"{question.text}\nThe tolerance is {question.tolerance:g}."
        question = question._replace(text=text)
    return question


def _distinct(wrong: Mapping[str, Fraction], tolerance: float) -> dict[str, Fraction]:
    """Mistakes by their hints, where those that lead to one number share a hint.

    >>> _distinct({"add": 3, "double": 3, "halve": 1}, 0.1)
    {'add; or double': 3, 'halve': 1}
    """
    shared: list[tuple[list[str], Fraction]] = []
    for hint, value in wrong.items():
        alike = [hints for hints, other in shared if abs(other - value) <= 2 * tolerance]
        if alike:
            alike[0].append(hint)
        else:
            shared.append(([hint], value))
    return {"; or ".join(hints): value for hints, value in shared}


#: What the four columns of every table cost.
COST = np.array([1, 2, 4, 8], dtype=object)


def _table(rng: np.random.Generator, n: int = 4) -> np.ndarray:
    """Accuracies in hundredths that climb, with a dip here and there."""
    start = rng.integers(5, 60, (n, 1))
    steps = rng.integers(-5, 25, (n, COST.size - 1)).cumsum(axis=1)
    return exact.table(np.clip(np.hstack([start, start + steps]), 0, 99), 100)


def _shown(acc: np.ndarray) -> str:
    """A table of accuracies as text, questions as letters."""
    rows = ["question  " + "".join(f"b={c:<5g}" for c in COST)]
    rows += [
        f"{'ABCDEFGH'[i]:<10}" + "".join(f"{float(a):<7.2f}" for a in row)
        for i, row in enumerate(acc)
    ]
    return "\n".join(rows)


def _listed(acc: np.ndarray) -> list[list[float]]:
    """A table for a notebook."""
    return acc.astype(float).tolist()


def _some_price(rng: np.random.Generator) -> Fraction:
    """A price of five digits that is no slope between two points, so that nothing is tied."""
    return Fraction(int(rng.integers(10, 90)), 1000) + Fraction(37, 100_000)


def _some_budget(rng: np.random.Generator, most: int = 14) -> Fraction:
    """A budget in quarters."""
    return Fraction(int(rng.integers(5, most)), 4)


def _first_stop(acc: np.ndarray, lam: Fraction) -> np.ndarray:
    """A mistake: the columns before the first step that does not pay."""
    pays = np.diff(acc) > lam * np.diff(COST)
    return np.hstack([pays, np.zeros((len(acc), 1), bool)]).argmin(axis=1)


def _label(rng: np.random.Generator) -> Question:
    """Ask for one question's best budget at a price; each budget is the answer equally often."""
    wanted = int(rng.integers(COST.size))
    while True:
        acc, lam = _table(rng, 1), _some_price(rng)
        label = int(labels_at(acc, COST, lam)[0])
        dearest, first_stop = int(acc[0].argmax()), int(_first_stop(acc, lam)[0])
        if label == wanted and {dearest, first_stop} != {label}:
            break
    mistakes = {
        "that is the column; give the budget": Fraction(label),
        "that is the most accurate budget; subtract the price": Fraction(COST[dearest]),
        "that is where the next step stops paying; look beyond it too": Fraction(COST[first_stop]),
        "that is the net value; give the budget that has it": acc[0, label] - lam * COST[label],
    }
    # A column's number that is also a budget is not told from that budget.
    others = {hint: value for hint, value in mistakes.items() if value != COST[label]}
    if label in COST:
        others.pop("that is the column; give the budget", None)
    return Question(
        f"At the price {float(lam):.5f}, which budget does this question take?\n{_shown(acc)}",
        Fraction(COST[label]),
        "compare accuracy minus price times budget in all four columns",
        f"the first column's net value is {float(acc[0, 0] - lam):.4f}; compute the others, and "
        "take the largest",
        others,
        tolerance=0,
        table=_listed(acc),
    )


def _bill(rng: np.random.Generator) -> Question:
    """Ask for the average cost at a price."""
    acc = _table(rng)
    lam = _some_price(rng)
    labels = labels_at(acc, COST, lam)
    paid = mean(COST[labels])
    return Question(
        f"At the price {float(lam):.5f}, what does the oracle spend on a question, on "
        f"average?\n{_shown(acc)}",
        paid,
        "find each question's best budget, and average the budgets",
        f"question A takes {COST[labels[0]]}; do the same for the others",
        {
            "that is the sum; give the average": paid * len(acc),
            "that is the average accuracy": mean(chosen(acc, labels)),
            "that is the cost at a price of zero; use the price": mean(COST[acc.argmax(axis=1)]),
            "that is in money; count answers": lam * paid,
            "the sign of the price is wrong: what is spent is subtracted": mean(
                COST[(acc + lam * COST).argmax(axis=1)]
            ),
            "that stops at the first step that does not pay; look beyond it": mean(
                COST[_first_stop(acc, lam)]
            ),
        },
        table=_listed(acc),
    )


def _price(rng: np.random.Generator) -> Question:
    """Ask for a price at which a budget is spent."""
    acc = _table(rng)
    budget = _some_budget(rng)
    lam = best_within(acc, COST, budget).lam
    prices = [*exact.prices(acc, COST), Fraction(0)]
    at = prices.index(lam)
    gains = [
        acc[step.row, step.high] - acc[step.row, step.low]
        for step in exact.steps(acc, COST)
        if step.slope == lam
    ]
    return Question(
        f"What is the lowest price at which the oracle spends {float(budget):g} per question or "
        f"less?\n{_shown(acc)}",
        lam,
        "try the slopes between the points of each question, from the largest down",
        "buy the steepest steps first, and add up their costs; the first that no longer fits "
        "sets the price",
        {
            "at that price it spends less, and a lower price still fits": prices[max(at - 1, 0)],
            "at that price it spends too much": prices[min(at + 1, len(prices) - 1)],
            "that is the gain of the step; a price is per answer": max(gains, default=lam),
        },
        tolerance=1e-4,
        table=_listed(acc),
    )


def _bound(rng: np.random.Generator) -> Question:
    """Ask for the upper bound at a budget."""
    acc = _table(rng)
    budget = _some_budget(rng)
    best = best_within(acc, COST, budget)
    whole = best_whole(acc, COST, budget)[1]
    # With all steps of the slope at which money runs out, or with all that there are.
    taken = labels_at(acc, COST, best.lam - Fraction(1, 10**9)) if best.lam else best.labels
    alike = best_within(acc.sum(axis=0)[None] / Fraction(len(acc)), COST, budget).bound
    return Question(
        f"What is the best mean accuracy for an average of {float(budget):g}, if one question is "
        f"randomised?\n{_shown(acc)}",
        best.bound,
        "take the steepest steps while they fit, and part of the first that does not",
        f"buy all steps that are steeper than {float(best.lam):.4f} per answer, and spend what is "
        "left at that slope",
        {
            "that is the best without randomising": whole,
            "that takes the whole last step, which costs too much": mean(chosen(acc, taken)),
            "that is the best mix that treats all questions alike": alike,
        },
        tolerance=1e-4,
        table=_listed(acc),
    )


def _priced(rng: np.random.Generator) -> tuple[np.ndarray, Fraction, Fraction, np.ndarray]:
    """A table, a price that ties nothing, a budget, and the oracle's labels at that price."""
    acc = _table(rng)
    lam = _some_price(rng)
    return acc, lam, _some_budget(rng, 24), labels_at(acc, COST, lam)


def _dual(rng: np.random.Generator) -> Question:
    """Ask for the dual function at a price."""
    acc, lam, budget, labels = _priced(rng)
    net = mean((acc - lam * COST).max(axis=1))
    return Question(
        f"The budget is {float(budget):g} per question. What is the value of the dual function at "
        f"the price {float(lam):.5f}?\n{_shown(acc)}",
        net + lam * budget,
        "average the best net values, and add the price times the budget",
        f"the best net value of question A is {float((acc[0] - lam * COST).max()):.4f}",
        {
            "the price of the budget is missing": net,
            "add the price times the budget; do not subtract it": net - lam * budget,
            "that is the accuracy of the oracle at this price": mean(chosen(acc, labels)),
            "the dual averages over questions; it does not add them up": net * len(acc)
            + lam * budget,
        },
        tolerance=1e-4,
        table=_listed(acc),
    )


def _dual_value(rng: np.random.Generator) -> Question:
    """Ask for one question's variable in the solution of the dual program."""
    acc = _table(rng)
    # No plan of four costs this, so one price solves.
    budget = _some_budget(rng) + Fraction(1, 10)
    lam = best_within(acc, COST, budget).lam
    net = acc[0] - lam * COST
    dearest = acc[0].argmax()
    mistake = "that is the net value of the most accurate budget, which need not be the best"
    return Question(
        f"The budget is {float(budget):g} per question, and policies may randomise. In the "
        "solution of the dual program, what is the value of question A, its variable next to the "
        f"price?\n{_shown(acc)}",
        net.max(),
        "find the price that solves the dual, and question A's best net value at that price",
        f"the price is {float(lam):.4f}",
        {
            "that is the best accuracy of A; subtract the price of its budget": acc[0].max(),
            "that is the price; the value of a question is asked for": lam,
            **({mistake: net[dearest]} if dearest != net.argmax() else {}),
            "that is the net value of A's cheapest budget, which is not its best": net[0],
            "that is the price of what A buys": lam * COST[net.argmax()],
        },
        tolerance=1e-4,
        table=_listed(acc),
    )


def _slackness(rng: np.random.Generator) -> Question:
    """Ask for the term that complementary slackness sets to zero."""
    acc, lam, budget, labels = _priced(rng)
    paid = mean(COST[labels])
    budget += max(0, ceil(paid - budget) + 1)
    return Question(
        f"At the price {float(lam):.5f} the oracle stays within a budget of {float(budget):g} per "
        "question. By how much is complementary slackness violated: what is the price times the "
        f"unspent budget?\n{_shown(acc)}",
        lam * (budget - paid),
        "find what the oracle spends at this price; what is left over is unspent",
        f"the oracle spends {float(paid):g} per question",
        {
            "that is the unspent budget; multiply it by the price": budget - paid,
            "that is the price of the whole budget": lam * budget,
            "that is the price of what is spent": lam * paid,
            "that adds over questions; the budget is an average": lam * (budget - paid) * len(acc),
        },
        tolerance=1e-4,
        table=_listed(acc),
    )


def _subgradient(rng: np.random.Generator) -> Question:
    """Ask for the slope of the dual function."""
    acc, lam, budget, labels = _priced(rng)
    paid = mean(COST[labels])
    return Question(
        f"The budget is {float(budget):g} per question. What is the slope of the dual function at "
        f"the price {float(lam):.5f}, where nothing is tied?\n{_shown(acc)}",
        budget - paid,
        "the best net values fall as the price rises; how fast, and what does the budget add",
        f"the oracle spends {float(paid):g} per question at this price",
        {
            "the sign is reversed: below its minimum the dual function falls": paid - budget,
            "the budget is missing": -paid,
            "that is the cost; the slope is the budget minus the cost": paid,
            "a slope is per unit of price; do not multiply by the price": lam * (budget - paid),
        },
        table=_listed(acc),
    )


def _subsets(rng: np.random.Generator) -> Question:
    """Ask for the accuracy of a vote over all subsets."""
    right, empty = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    answers = [*["7"] * right, *[""] * empty, *rng.choice(["8", "9"], 6 - right - empty)]
    answers = [str(answers[i]) for i in rng.permutation(6)]
    b = int(rng.integers(2, 6))
    parts = list(combinations(answers, b))
    votes = [_won(part) for part in parts]
    blanks = [_won([answer or "none" for answer in part]) for part in parts]
    windows = [_won(answers[start : start + b]) for start in range(0, 7 - b, b)]
    none_right = Fraction(comb(6 - right, b), len(parts))
    listed = ", ".join(answer or "(empty)" for answer in answers)
    return Question(
        f"Six answers: {listed}. The right one is 7. Average the vote over all ways to pick {b} "
        "of them.",
        mean(votes),
        f"list the ways to pick {b} of six; ties share, empty answers do not vote",
        f"there are {len(votes)} ways; {votes.count(Fraction(1))} of them are won without a tie",
        {
            "that is the share of right answers": Fraction(right, 6),
            "that counts a tie as lost; a tie is shared": mean(vote == 1 for vote in votes),
            "that counts a tie as won; a tie is shared": mean(vote > 0 for vote in votes),
            "that lets the empty answer vote": mean(blanks),
            "that is pass@b: a vote must be won, and not only contain the right answer": (
                1 - none_right
            ),
            "that votes in windows, where each answer is used once": mean(windows),
        },
    )


def _won(answers: Sequence[str]) -> Fraction:
    """The share of the vote that 7 wins; empty answers do not vote.

    >>> _won(["7", "8", ""]), _won(["", ""])
    (Fraction(1, 2), Fraction(0, 1))
    """
    votes = Counter(answer for answer in answers if answer)
    winners = [answer for answer in votes if votes[answer] == max(votes.values())]
    return Fraction("7" in winners, len(winners) or 1)


def _curse(rng: np.random.Generator) -> Question:
    """Ask how much the oracle overstates where no budget helps."""
    budgets = int(rng.integers(2, 7))
    p = Fraction(int(rng.integers(6, 17)), 20)
    claimed = 1 - (1 - p) ** budgets
    return Question(
        f"{budgets} budgets all have true accuracy {float(p):g}; each is tried once, and the "
        "oracle takes the best. By how much is its claim too high, on average?",
        claimed - p,
        "it claims 0 only if all of them fail",
        f"all of them fail with chance {float(1 - p):g} to the power of {budgets}; otherwise it "
        "claims 1",
        {
            "that is the claim; subtract the truth": claimed,
            "that is the chance that all of them fail": 1 - claimed,
            "that adds up chances, which overlap": budgets * p - p,
            "that is the error of one lucky try": 1 - p,
        },
    )


def _equal_cost(rng: np.random.Generator) -> Question:
    """Ask for the gain over a mix of equal cost."""
    one = Fraction(int(rng.integers(40, 60)), 100)
    four = Fraction(int(rng.integers(62, 75)), 100)
    spent = Fraction(int(rng.integers(15, 36)), 10)
    mix = one + (spent - 1) / 3 * (four - one)
    accuracy = round(mix + Fraction(int(rng.integers(-30, 60)), 1000), 3)
    quarter = accuracy - one - spent / 4 * (four - one)
    return Question(
        f"One answer for everyone scores {float(one):.2f}, four score {float(four):.2f}. A policy "
        f"was allowed 4, spent {float(spent):.1f} and scores {float(accuracy):.3f}. What is its "
        "gain over the mix of 1 and 4 at equal cost?",
        accuracy - mix,
        "compare with the mix that costs what the policy spent",
        f"the mix gives four answers to a share of ({float(spent):.1f} - 1) / 3 of the questions",
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
    tokens = [Fraction(1), *(Fraction(int(rng.integers(*ends)), 2) for ends in ((5, 8), (4, 8)))]
    waiting = [
        Fraction(1),
        Fraction(int(rng.integers(5, 9)), 2),
        Fraction(int(rng.integers(2, 5)), 4),
    ]
    first = int(rng.integers(40, 56))
    gains = 0, int(rng.integers(8, 16)), int(rng.integers(3, 8))
    acc = [Fraction(first + gain, 100) for gain in gains]
    limits = [Fraction(2), Fraction(int(rng.integers(9, 13)), 8)]
    best, _ = best_mix_of_rules(acc, [tokens, waiting], limits)
    free, _ = best_mix_of_rules(acc, [tokens], limits[:1])
    fast, _ = best_mix_of_rules(acc, [waiting], limits[1:])
    fits = [
        a for a, t, w in zip(acc, tokens, waiting, strict=True) if t <= limits[0] and w <= limits[1]
    ]
    rules = ["rule      accuracy  tokens  waiting"] + [
        f"{name:<10}{float(a):<10.2f}{float(t):<8g}{float(w):g}"
        for name, a, t, w in zip(("single", "vote", "race"), acc, tokens, waiting, strict=True)
    ]
    return Question(
        f"Each question is answered by one of three rules, which may be drawn at random. On "
        f"average a question may take {float(limits[0]):g} units of tokens and "
        f"{float(limits[1]):g} of waiting. What is the best mean accuracy?\n" + "\n".join(rules),
        best,
        "three shares add up to one; which limits are used up at the best mix",
        "both limits are used up: solve for the shares, or price tokens and waiting",
        {
            "that mix waits too long; there are two limits": free,
            "that mix takes too many tokens; there are two limits": fast,
            "that is the best single rule within both limits; mix them": max(fits),
        },
    )


def _whole(rng: np.random.Generator) -> Question:
    """Ask how far the best plan without a split lies below the program."""
    acc = _table(rng)
    budget = _some_budget(rng)
    best = best_within(acc, COST, budget)
    whole = best_whole(acc, COST, budget)[1]
    sorted_steps = "sorted steps need not be the best whole plan"
    return Question(
        f"The budget is {float(budget):g} per question. How large is the integrality gap, by which "
        "the best mean accuracy of plans that randomise exceeds the best of those that do "
        f"not?\n{_shown(acc)}",
        best.bound - whole,
        "find both: the steepest steps with part of the last, and the best of all whole plans",
        f"with one question randomised {float(best.bound):.4f} can be reached",
        {
            "only one question is split, and yet there is a gap here": Fraction(0),
            **({sorted_steps: best.bound - best.accuracy} if best.accuracy < whole else {}),
            "that adds over questions; accuracies are averages": (best.bound - whole) * len(acc),
            "that is the best whole plan; subtract it": whole,
        },
        tolerance=1e-4,
        table=_listed(acc),
    )


def _harm(rng: np.random.Generator) -> Question:
    """Ask what the question that harms the others most pays by the rule of VCG."""
    while True:
        acc = _table(rng)
        total = int(rng.integers(8, 15))
        plans, sums = whole_plans(acc, COST, total)
        best = np.flatnonzero(sums == sums.max())
        own = chosen(acc, plans[best[0]])
        without = [
            whole_plans(np.delete(acc, i, axis=0), COST, total - 1)[1].max()
            for i in range(len(acc))
        ]
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
        f"question {'ABCD'[who]} buys {bought}; the others reach {float(own.sum() - own[who]):.2f} "
        "now",
        {
            "that is what its answers bring to itself": own[who] - acc[who, 0],
            "its first answer stays with it, so the others do not share all": (
                whole_plans(others, COST, total)[1].max() - own.sum() + own[who]
            ),
            "that is what the others reach; subtract it from what they could": own.sum() - own[who],
            "that is one price for each further answer": (
                best_within(acc, COST, Fraction(total, len(acc))).lam * (bought - 1)
            ),
        },
        table=_listed(acc),
    )


def _log(rng: np.random.Generator) -> Question:
    """Ask what a plan would have scored, from the log of another."""
    bought, planned = rng.choice(COST, (2, 8))
    planned[:4] = bought[:4]
    chance = [Fraction(one) for one in rng.choice(["1/10", "1/5", "1/4", "2/5", "1/2"], 8)]
    right = rng.permuted(np.arange(8) % 2).tolist()
    agrees = bought == planned
    weights = [agree / p for agree, p in zip(agrees.tolist(), chance, strict=True)]
    earned = sum(weight for weight, one in zip(weights, right, strict=True) if one)
    rows = ["row  bought  chance  right  your plan"] + [
        f"{at:<5}{b:<8g}{float(p):<8g}{r:<7}{mine:g}"
        for at, (b, p, r, mine) in enumerate(zip(bought, chance, right, planned, strict=True), 1)
    ]
    return Question(
        "A log says which budget each question got, with what chance it was drawn, and whether the "
        "vote was right. What is the accuracy of your plan by inverse propensity?\n"
        + "\n".join(rows),
        earned / 8,
        "a row counts one over its chance where your plan agrees and the vote was right",
        f"{agrees.sum()} rows agree, and all {agrees.size} count below",
        {
            "that is the share of right rows among those that agree; weigh them": mean(
                one for one, agree in zip(right, agrees, strict=True) if agree
            ),
            "that is the share of right rows in the log": mean(right),
            "all rows of the log count below": earned / int(agrees.sum()),
            "that divides by the weights; divide by the number of rows": earned / sum(weights),
        },
    )


def _rest(rng: np.random.Generator) -> Question:
    """Ask for a value of the dynamic program of the knapsack."""
    acc = _table(rng, 3)
    left = int(rng.integers(5, 13))
    plans, sums = whole_plans(acc[1:], COST, left)
    greedy = best_within(acc[1:], COST, Fraction(left, 2))
    even = sum(max(row[left >= 2 * COST]) for row in acc[1:])
    return Question(
        f"Questions are served from the last one back. Let V be the most that B and C can reach "
        f"together, the sum of their accuracies, if {left} answers are left for the two and plans "
        f"do not randomise. What is V?\n{_shown(acc)}",
        sums.max(),
        "for each budget of B, add the best that C can reach with what is left",
        f"there are {len(plans)} pairs of budgets that fit",
        {
            "that is the mean of the two; V adds them up": sums.max() / 2,
            "that takes the steepest steps while they fit; other pairs fit, too": (
                2 * greedy.accuracy
            ),
            "that gives both the same limit; what one does not use is left to the other": even,
            "A is served later; V is of B and C": whole_plans(acc, COST, left)[1].max(),
        },
        table=_listed(acc),
    )


def _stop(rng: np.random.Generator) -> Question:
    """Ask what a state is worth by backward induction, two answers before the end."""
    agree, better = (Fraction(int(rng.integers(4, 9)), 10) for _ in range(2))
    now, after, differ = (Fraction(int(rng.integers(*ends)), 100) for ends in _WORTH[:3])
    last = [Fraction(int(rng.integers(*ends)), 100) for ends in _WORTH[3:]]
    price = Fraction(int(rng.integers(2, 9)), 100)
    ends = [last[0], better * last[1] + (1 - better) * last[2]]

    def value(price: Fraction, pays: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
        states = [pays(one, end - price) for one, end in zip((after, differ), ends, strict=True)]
        return pays(now, agree * states[0] + (1 - agree) * states[1] - price)

    one_ahead = max(now, agree * after + (1 - agree) * differ - price)
    return Question(
        f"An answer costs {float(price):.2f}, and a vote is worth its accuracy. Now it is worth "
        f"{float(now):.2f}. The next answer agrees with chance {float(agree):g}, and the vote is "
        f"worth {float(after):.2f}; else it is worth {float(differ):.2f}. One more answer may "
        f"follow. After an agreement it makes the vote worth {float(last[0]):.2f} for certain; "
        f"else {float(last[1]):.2f} with chance {float(better):g} and {float(last[2]):.2f} "
        "otherwise. What is it worth now, less what is still paid, if one stops at the best time?",
        value(price, max),
        "work back: what is each of the two states worth, if it may stop or ask once more",
        f"the state after an agreement is worth {float(max(after, ends[0] - price)):.2f}",
        {
            "the next answers are free in yours; each costs the price": value(Fraction(0), max),
            "that looks one answer ahead; a second may follow": one_ahead,
            "that always asks to the end; where the vote is worth more, stop": value(
                price, lambda stop, on: on
            ),
            "that stops at once": now,
        },
    )


#: From and to which hundredth the worths of `_stop` are drawn: now, after, differ, and the last.
_WORTH = (50, 65), (62, 76), (40, 56), (70, 90), (66, 90), (38, 50)


def _tries(rng: np.random.Generator) -> Question:
    """Ask how many answers are paid if each is checked."""
    p, most = Fraction(int(rng.integers(4, 15)), 20), int(rng.integers(3, 7))
    passes = 1 - (1 - p) ** most
    return Question(
        f"Each answer to a question is right with chance {float(p):g}, and can be checked. One "
        f"stops at the first that passes, and after {most} in any case. How many answers are paid "
        "for, on average?",
        passes / p,
        "the second answer is paid for if the first has failed, the third if two have failed",
        f"add up the chances that 0, 1, ..., {most - 1} answers have failed",
        {
            "that has no cap": 1 / p,
            "that is the cap; most stop before it": Fraction(most),
            "that is the chance of a pass; the number of answers is asked for": passes,
            "that is how many of all would pass": most * p,
        },
    )


def _give_up(rng: np.random.Generator) -> Question:
    """Ask after how many failures a question whose answers can be checked is given up."""
    while True:
        share = Fraction(int(rng.integers(4, 10)), 10)  # of questions that ever pass
        p = Fraction(int(rng.integers(4, 15)), 20)
        price = Fraction(int(rng.integers(2, 13)), 100)
        weights = [share * (1 - p) ** failures for failures in range(30)]
        chances = [p * weight / (weight + 1 - share) for weight in weights]
        failures = sum(chance > price for chance in chances)
        # The price is worth the first tries and not all, and nobody needs a fourth digit.
        if 1 < failures < 12 and min(abs(chance - price) for chance in chances) > 1e-3:
            break
    planned = next(b for b in range(1, 99) if chances[0] * (1 - p) ** b <= price)
    return Question(
        f"Answers can be checked. A share {float(share):g} of the questions passes with chance "
        f"{float(p):g} at every try, and the others never pass. A try costs {float(price):g}, and "
        "a question that passes is worth 1. After how many failures do you give up on a question?",
        Fraction(failures),
        "after each failure, how likely is it that the question is one of those that pass",
        f"before the first try the chance is {float(chances[0]):.3f}; a failure multiplies the "
        f"weight of the questions that pass by {float(1 - p):g}",
        {
            "one more try is still worth its price": Fraction(failures - 1),
            "the last of these tries is worth less than its price": Fraction(failures + 1),
            "that plans all tries at once; here you stop at a pass": Fraction(planned),
        },
        tolerance=0,
    )


def _cross_fit(rng: np.random.Generator) -> Question:
    """Ask for the cross-fitted accuracy of an oracle."""
    first = _table(rng, 3)
    second = np.clip(first + exact.table(rng.integers(-12, 13, first.shape), 100), 0, 1)
    lam = _some_price(rng)
    halves = first, second
    plans = [labels_at(half, COST, lam) for half in halves]
    claims = [mean(chosen(half, plan)) for half, plan in zip(halves, plans, strict=True)]
    scores = [mean(chosen(half, plan)) for half, plan in zip(halves[::-1], plans, strict=True)]
    both = (first + second) / 2
    return Question(
        "Two halves of the answers estimate the same accuracies. What is the cross-fitted "
        f"accuracy of the oracle at the price {float(lam):.5f}?\nfirst half\n{_shown(first)}\n"
        f"second half\n{_shown(second)}",
        mean(scores),
        "let each half choose, let the other half score, and average",
        f"the choice of the first half scores {float(scores[0]):.4f} on the second",
        {
            "each half scores its own choice in yours": mean(claims),
            "that is one way; choose on the second half, too": scores[0],
            "that chooses on the mean of the halves, and none is left to score": mean(
                chosen(both, labels_at(both, COST, lam))
            ),
        },
    )


def _shuffles(rng: np.random.Generator) -> Question:
    """Ask how often a null does as well as what was found."""
    count = int(rng.choice([9, 19, 24, 39]))
    nulls = [Fraction(int(one), 10) for one in rng.integers(-25, 26, count)]
    gain = Fraction(int(rng.integers(8, 24)), 10)
    as_good = sum(one >= gain for one in nulls)
    listed = ", ".join(f"{float(one):+.1f}" for one in nulls)
    return Question(
        f"A policy gains {float(gain):+.1f} points. With its labels dealt to other questions, "
        f"{count} times anew, it gains {listed}. What is the p-value, if the real deal counts as "
        "one of those that are possible?",
        Fraction(1 + as_good, 1 + count),
        "count the deals that gain as much or more, the real one among them",
        f"{as_good} of the {count} shuffled deals gain as much or more",
        {
            "the real deal is one of those that are possible": Fraction(as_good, count),
            "that is the share of deals that gain less": 1 - Fraction(1 + as_good, 1 + count),
            "that counts gains of either sign": Fraction(
                1 + sum(abs(one) >= gain for one in nulls), 1 + count
            ),
        },
    )


def best_mix_of_rules(
    acc: list[Fraction], takes: list[list[Fraction]], limits: list[Fraction]
) -> tuple[Fraction, list[Fraction]]:
    """The best random choice of three rules within limits, a corner: its accuracy and its shares.

    >>> acc, takes = [Fraction(1, 2), Fraction(1), Fraction(1, 2)], [Fraction(x) for x in (1, 3, 1)]
    >>> best_mix_of_rules(acc, [takes], [Fraction(2)])[0]
    Fraction(3, 4)
    """
    walls = [*takes, *([Fraction(-(i == j)) for j in range(3)] for i in range(3))]
    heights = [*limits, *[Fraction(0)] * 3]

    def total(row: list[Fraction], shares: list[Fraction]) -> Fraction:
        return sum((x * y for x, y in zip(row, shares, strict=True)), Fraction(0))

    corners = []
    for one, two in combinations(range(len(walls)), 2):
        system = [walls[one], walls[two], [Fraction(1)] * 3]
        shares = _solved(system, [heights[one], heights[two], 1])
        if shares and all(
            total(wall, shares) <= height for wall, height in zip(walls, heights, strict=True)
        ):
            corners.append((total(acc, shares), shares))
    return max(corners)


def _solved(system: list[list[Fraction]], right: list[Any]) -> list[Fraction]:
    """The solution of three equations by Cramer's rule; nothing where there is not exactly one."""

    def volume(a: list, b: list, c: list) -> Any:
        return (
            a[0] * (b[1] * c[2] - b[2] * c[1])
            - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
        )

    columns = [list(column) for column in zip(*system, strict=True)]
    whole = volume(*columns)
    return [
        Fraction(volume(*[right if i == j else column for j, column in enumerate(columns)])) / whole
        for i in range(3)
        if whole
    ]


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
    "give up": _give_up,
    "rest": _rest,
    "stop": _stop,
    "tries": _tries,
    "cross-fit": _cross_fit,
    "shuffles": _shuffles,
}

#: The sheets of a course by their names: that of the two weeks, and six of a term.
SHEETS = {
    "homework": (
        *("label", "bill", "price", "bound", "dual", "dual value", "slackness", "subgradient"),
        *("subsets", "curse", "equal cost", "two limits", "whole", "harm", "log", "give up"),
        *("function", "proof"),
    ),
    "prices": ("label", "bill", "price", "bound", "equal cost"),
    "kkt": ("dual", "dual value", "slackness", "subgradient", "proof"),
    "limits": ("two limits", "harm", "function"),
    "stopping": ("whole", "rest", "stop"),
    "checks": ("tries", "give up", "curse"),
    "nulls": ("subsets", "cross-fit", "shuffles", "log"),
}
