"""What a course hands out and collects: each student's own homework, tokens that hold the answers, flaws to find.

A token cannot be changed on the way, nor handed in as another student's without that student's key. Every key is made
from the class's secret, which only the teacher knows. The score is not in the token: the teacher's side draws the same
questions and grades the answers anew, so a student who alters this package gains nothing by it. An exam draws other
numbers than practice does. What is not protected is told in the page "Homework and exams".
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations, count
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from adalib.datasets.populations import Population, beta_population, flat_null
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.solve.frontier import frontier
from adalib.solve.oracle import chosen, oracle_labels
from adalib.table import UtilityTable
from adalib.teach.exercises import Checked, Checker, checks
from adalib.teach.exercises.judged import Value, as_name, as_number, value
from adalib.vote.estimators import majority

__all__ = [
    "NULLS",
    "SINS",
    "Flaw",
    "Grade",
    "HandedIn",
    "Homework",
    "Question",
    "class_list",
    "find_the_flaw",
    "grade",
]
__all__ += ["hand_in", "homework", "seal", "student_key"]


@dataclass(frozen=True, repr=False)
class HandedIn(Checked):
    """What became of an answer to homework; ``token`` seals all answers so far: hand in the last one."""

    token: str = ""


@dataclass(frozen=True, repr=False)
class Taken(HandedIn):
    """What an exam says of an answer: that it was taken."""

    def __repr__(self) -> str:
        return f"Question {self.name}: {self.hint}."


class Question(NamedTuple):
    """A text for the student, the answer, two hints, and typical mistakes by what is said to them."""

    text: str
    answer: float
    hint: str
    more: str
    wrong: Mapping[str, float]
    tolerance: float = 1e-3

    def exercise(self, name: str) -> Value:
        """The exercise that checks it."""
        return value(name, self.answer, self.hint, self.more, self.tolerance, self.wrong)

    def asked(self) -> Question:
        """The question as an exam shows it: nothing but its text."""
        return self._replace(answer=float("nan"), hint="", more="", wrong={})


@dataclass(eq=False)
class Homework:
    """One student's questions; `homework` makes it. In an exam answers are taken without a word about them."""

    student: str
    name: str
    questions: dict[str, Question]
    exam: bool = False
    salt: str = ""
    _key: str = field(default="", repr=False)
    _answers: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        parts = [f"[{name}] {question.text}" for name, question in self.questions.items()]
        return f"Homework {self.name} of {self.student}\n\n" + "\n\n".join(parts)

    def check(self, name: str, answer: Any) -> HandedIn:
        """Take an answer, say whether it is right (not in an exam), and return the token of all answers so far."""
        if name in self.questions and answer is not None:
            number = as_number(answer)
            self._answers[name] = number if np.isfinite(number) else as_name(answer)
        if self.exam:
            said = "taken" if name in self._answers else f"no question here is called {name!r}"
            return Taken(name, None, said, token=self.token)
        checked = Checker(
            {key: question.exercise(key) for key, question in self.questions.items()}
        )(name, answer)
        return HandedIn(checked.name, checked.right, checked.hint, checked.more, token=self.token)

    @property
    def token(self) -> str:
        """All answers so far, sealed; without a key the seal is worth nothing, and grading says so."""
        what = {
            "student": self.student,
            "sheet": self.name,
            "answers": self._answers,
            "at": int(time.time()),
        }
        return seal(what | {"exam": self.exam, "salt": self.salt}, self._key or "practice")


def homework(
    student_id: str, name: str = "1", key: str = "", exam: bool = False, salt: str = ""
) -> Homework:
    """A student's own homework: the same questions as everyone's, with other numbers.

    Explained in the page "Homework and exams".

    Parameters
    ----------
    student_id : str
        Whose; it is the seed.
    name : str
        Which sheet; another name gives other numbers.
    key : str
        The student's key, from the teacher (``python -m adalib.teach keys``). Without it one can practise.
    exam : bool
        Take answers without saying whether they are right. The numbers are others than at home.
    salt : str
        A word that the teacher tells when the exam begins; other salts give other numbers.

    Examples
    --------
    >>> mine = homework("ada")
    >>> mine.check("curse", 99).right, mine.check("curse", 99).token[:8]
    (False, 'adalib1.')
    """
    questions = _drawn(student_id, name, exam, salt)
    shown = (
        {asked: question.asked() for asked, question in questions.items()} if exam else questions
    )
    return Homework(student_id, name, shown, exam, salt, key)


def _drawn(student: str, sheet: str, exam: bool, salt: str) -> dict[str, Question]:
    """A student's questions, with their answers, and the precision that each wants."""
    salted = ("exam", salt) if exam else (salt,) if salt else ()
    seed = hashlib.sha256("\0".join((sheet, _signed(student), *salted)).encode())
    rng = np.random.default_rng(int.from_bytes(seed.digest()[:8], "big"))
    drawn = {asked: make(rng) for asked, make in _QUESTIONS.items()}
    for asked, question in drawn.items():
        if question.tolerance:
            drawn[asked] = question._replace(
                text=f"{question.text}\nA number counts within {question.tolerance:g}."
            )
    return drawn


def hand_in(check: Checker, student: str, key: str) -> str:
    """A token of what was answered to a chapter's exercises: ``hand_in(check, "ada", key)`` at its notebook's end.

    Values are graded anew. Of functions and proofs the token only says whether they passed on the student's machine.
    """
    answers = {}
    for name, answer in check.given.items():
        number = as_number(answer)
        answers[name] = (
            answer
            if isinstance(answer, bool)
            else number
            if np.isfinite(number)
            else as_name(answer)
        )
    what = {
        "student": student,
        "sheet": f"chapter {check.chapter}",
        "answers": answers,
        "at": int(time.time()),
    }
    return seal(what, key or "practice")


@dataclass(frozen=True)
class Grade:
    """What a token is worth, or why it was refused; ``at`` is when it was made, by the student's own clock."""

    student: str
    sheet: str
    right: tuple[str, ...]
    of: int
    refused: str = ""
    at: int = 0


def grade(token: str, secret: str, salt: str | None = None) -> Grade:
    """Check a token's seal with the class's secret, and grade its answers anew; a refused token has no points.

    With a ``salt`` only that exam's tokens count, else only homework. Explained in the page "Homework and exams".

    Examples
    --------
    >>> mine = homework("ada", key=student_key("our secret", "ada"))
    >>> grade(mine.check("curse", mine.questions["curse"].answer).token, "our secret").right
    ('curse',)
    >>> grade(mine.token, "another secret").refused
    'the seal does not fit: it was changed, or sealed with another key'
    """
    student = ""
    try:
        body, mac, content = _opened(token)
        student = _signed(str(content.get("student", "")))
        if not hmac.compare_digest(mac, _mac(body, student_key(secret, student))):
            raise ValueError("the seal does not fit: it was changed, or sealed with another key")
    except ValueError as error:
        return Grade(student, "", (), 0, str(error))
    sheet, answers, at = content.get("sheet"), content.get("answers"), content.get("at", 0)
    if not (
        isinstance(sheet, str)
        and isinstance(answers, dict)
        and isinstance(at, int)
        and 0 <= at < 2**33
    ):
        return Grade(
            student,
            "",
            (),
            0,
            "it holds no sheet and answers, or no time; hand in what check returned",
        )
    exam, used = bool(content.get("exam")), str(content.get("salt", ""))
    if (exam, used) != (salt is not None, salt or ""):
        why = (
            "an exam, or of salted homework"
            if salt is None
            else "another exam, or of practice: the salt is another"
        )
        return Grade(student, sheet, (), 0, f"it is of {why}")
    if sheet.startswith("chapter "):
        asked: Mapping[str, Any] = checks(sheet.removeprefix("chapter "))[0].exercises
    else:
        asked = {
            name: question.exercise(name)
            for name, question in _drawn(student, sheet, exam, used).items()
        }

    def holds(name: str, given: Any) -> bool:
        """Of a function or a proof the token only says that it passed; a value is checked again."""
        return (
            not isinstance(asked[name], Value)
            if given is True
            else asked[name].fault(given) is None
        )

    right = [name for name in asked if name in answers and holds(name, answers[name])]
    return Grade(student, sheet, tuple(right), len(asked), at=at)


def class_list(
    roster: pd.DataFrame,
    id_column: str,
    grades: Iterable[Grade],
    sheet: str,
    due: datetime | None = None,
) -> tuple[pd.DataFrame, list[Grade]]:
    """The roster with points, and the grades that did not count.

    Of several grades of a student the latest that was made before ``due`` counts. A student without one is absent.
    """
    last, names = due.timestamp() if due else float("inf"), roster[id_column].map(_signed)
    best: dict[str, Grade] = {}
    left_out = []
    for one in grades:
        if not one.refused and one.sheet != sheet:
            one = replace(one, refused=f"it is of sheet {one.sheet!r}, not {sheet!r}")
        elif not one.refused and one.student not in set(names):
            one = replace(one, refused=f"no student of the roster is called {one.student!r}")
        elif not one.refused and one.at > last:
            one = replace(one, refused="it was made too late")
        if one.refused:
            left_out.append(one)
        elif one.student not in best or one.at >= best[one.student].at:
            best[one.student] = one
    rows = [best.get(student) for student in names]
    told = [str(len(one.right)) if one else "" for one in rows]
    made = [one and datetime.fromtimestamp(one.at, UTC).isoformat(" ", "minutes") for one in rows]
    when = [
        at or (who and "absent") for at, who in zip(made, names, strict=True)
    ]  # Canvas: a nameless row
    return roster.assign(**{f"Homework {sheet}": told, "made at (UTC)": when}), left_out


# Tokens

_MARK = "adalib1"


def student_key(secret: str, student: str) -> str:
    """The key of one student, made from the class's secret; it tells nothing about the secret or another's key."""
    if not secret:
        raise ValueError(
            "the class's secret is empty; give a long random text that only the teacher has"
        )
    return hmac.new(
        secret.encode(), f"student:{_signed(student)}".encode(), hashlib.sha256
    ).hexdigest()[:32]


def _signed(student: str) -> str:
    """A name as tokens and lists have it: no spaces around it, and accents that are one character with their letter."""
    return unicodedata.normalize("NFC", student).strip()


def seal(content: dict[str, Any], key: str) -> str:
    """Write a token: the content, readable by anyone, and a seal that only the key's owner can make."""
    body = _text(json.dumps(content, sort_keys=True, ensure_ascii=False).encode())
    return f"{_MARK}.{body}.{_mac(body, key)}"


def _opened(token: str) -> tuple[str, str, dict[str, Any]]:
    """The body of a token, its seal, and what the body says."""
    mark, body, mac = [*token.strip().split(".", 2), "", ""][:3]
    if mark != _MARK or not body or not mac:
        raise ValueError(f"this is no token; one starts with {_MARK}. and has three parts")
    try:
        content = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, RecursionError):  # no base64, no text, no JSON, or nested without end
        content = None
    if not isinstance(content, dict):
        raise ValueError("the token cannot be read; copy all of it")
    return body, mac, content


def _mac(body: str, key: str) -> str:
    return _text(hmac.new(key.encode(), body.encode(), hashlib.sha256).digest())


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


# The questions of a homework

_COST = np.array([1.0, 2.0, 4.0, 8.0])


def _table(rng: np.random.Generator, n: int = 4) -> np.ndarray:
    """Accuracies in hundredths that climb, with a dip here and there."""
    start = rng.integers(5, 60, (n, 1))
    steps = rng.integers(-5, 25, (n, _COST.size - 1)).cumsum(axis=1)
    return np.clip(np.hstack([start, start + steps]), 0, 99) / 100


def _shown(acc: np.ndarray) -> str:
    rows = ["question  " + "".join(f"b={c:<5g}" for c in _COST)]
    rows += [
        f"{'ABCDEFGH'[i]:<10}" + "".join(f"{a:<7.2f}" for a in row) for i, row in enumerate(acc)
    ]
    return "\n".join(rows)


def _some_price(rng: np.random.Generator) -> float:
    """A price that is no slope between two points, so that nothing is tied."""
    return float(np.round(rng.uniform(0.01, 0.09), 3)) + 0.00037


def _label(rng: np.random.Generator) -> Question:
    acc, lam = _table(rng, 1), _some_price(rng)
    label = int(oracle_labels(acc, _COST, lam)[0])
    pays = np.append(np.diff(acc[0]) > lam * np.diff(_COST), False)
    return Question(
        f"At the price {lam:.5f}, which budget does this question take?\n{_shown(acc)}",
        _COST[label],
        "compare accuracy minus price times budget in all four columns",
        f"the first column is worth {acc[0, 0] - lam:.4f}; compute the others, and take the largest",
        {
            "that is a column; the budget is asked for": label if label not in _COST else -1,
            "that is the most accurate budget; the price counts": _COST[acc[0].argmax()],
            "that is where the next step stops paying; look past it, too": _COST[pays.argmin()],
            "that is the net value; the budget that has it is asked for": acc[0, label]
            - lam * _COST[label],
        },
        tolerance=0,
    )


def _bill(rng: np.random.Generator) -> Question:
    acc, lam = _table(rng), _some_price(rng)
    labels = oracle_labels(acc, _COST, lam)
    paid = float(_COST[labels].mean())
    return Question(
        f"At the price {lam:.5f}, what does the oracle spend on a question, on average?\n{_shown(acc)}",
        paid,
        "find each question's best budget, and average the budgets",
        f"question A takes {_COST[labels[0]]:g}; do the same for the others",
        {
            "that is the sum; the average is asked for": paid * len(acc),
            "that is the average accuracy": float(chosen(acc, labels).mean()),
            "that is the cost at a price of zero; the price counts": float(
                _COST[acc.argmax(axis=1)].mean()
            ),
            "that is in money; answers are asked for": lam * paid,
        },
    )


def _price(rng: np.random.Generator) -> Question:
    acc, budget = _table(rng), float(rng.integers(5, 14) / 4)
    path = frontier(acc, _COST)
    lam, prices = path.at(budget).lam, np.unique(path.lam)
    at = int(np.abs(prices - lam).argmin())
    # What the step brings that is bought at this price and not just above it.
    after, before = (
        chosen(acc, oracle_labels(acc, _COST, price)) for price in (lam - 1e-9, lam + 1e-9)
    )
    return Question(
        f"What is the lowest price at which the oracle spends {budget:g} per question or less?\n{_shown(acc)}",
        lam,
        "try the slopes between the points of each question, from the largest down",
        "buy the steepest steps first, and add up their costs; the first that no longer fits names the price",
        {
            "there it spends less, and a lower price still fits": prices[
                min(at + 1, prices.size - 1)
            ],
            "there it spends more than it may": prices[max(at - 1, 0)],
            "that is the gain of the step; a price is for one answer": float(
                (after - before).max()
            ),
        },
        tolerance=1e-4,
    )


def _bound(rng: np.random.Generator) -> Question:
    acc, budget = _table(rng), float(rng.integers(5, 14) / 4)
    path = frontier(acc, _COST)
    best = path.at(budget)
    dearer = float(path.accuracy[path.cost > budget + 1e-9].min(initial=1))
    alike = float(best_mix(acc, _COST, budget).expected(acc).mean())
    return Question(
        f"What is the best mean accuracy for an average of {budget:g}, if one question is randomised?\n{_shown(acc)}",
        best.bound,
        "take the steepest steps while they fit, and a part of the first that does not",
        f"buy all steps that are steeper than {best.lam:.4f} per answer, and spend what is left at that slope",
        {
            "that is without randomising": best.accuracy,
            "that takes the whole of the last step, and costs too much": dearer,
            "that is the best mix that treats all questions alike": alike,
        },
        tolerance=1e-4,
    )


def _subsets(rng: np.random.Generator) -> Question:
    answers = ["7", "7", "8", "9", ""]
    answers = [answers[i] for i in rng.permutation(5)] + [str(rng.choice(["7", "8", "9"]))]
    b = int(rng.integers(3, 5))
    votes = np.array([majority(part).get("7", 0.0) for part in combinations(answers, b)])
    blanks = [
        majority([answer or "none" for answer in part]).get("7", 0.0)
        for part in combinations(answers, b)
    ]
    said = ", ".join(answer or "(empty)" for answer in answers)
    return Question(
        f"Six answers: {said}. The right one is 7. Average the vote over all ways to pick {b} of them.",
        float(votes.mean()),
        f"list the ways to pick {b} of six; ties share, empty answers do not vote",
        f"there are {len(votes)} ways; {(votes == 1).sum()} of them are won without a tie",
        {
            "that is the share of right answers": answers.count("7") / 6,
            "that counts a tie as lost; it is shared": float((votes == 1).mean()),
            "that counts a tie as won; it is shared": float((votes > 0).mean()),
            "that lets the empty answer vote": float(np.mean(blanks)),
        },
    )


def _curse(rng: np.random.Generator) -> Question:
    budgets, p = int(rng.integers(2, 7)), int(rng.integers(3, 8)) / 10
    claimed = 1 - (1 - p) ** budgets
    return Question(
        f"{budgets} budgets all have true accuracy {p:g}; each is tried once, and the oracle takes the best. "
        "By how much is its claim too high, on average?",
        claimed - p,
        "it claims 0 only if all of them fail",
        f"all of them fail with chance {1 - p:g} to the power of {budgets}; else it claims 1",
        {
            "that is the claim; subtract the truth": claimed,
            "that is the chance that all of them fail": 1 - claimed,
            "that adds up chances, which overlap": budgets * p - p,
            "that is how far one lucky try is off": 1 - p,
        },
    )


def _equal_cost(rng: np.random.Generator) -> Question:
    one, four, spent = (
        rng.integers(40, 60) / 100,
        rng.integers(62, 75) / 100,
        rng.integers(15, 36) / 10,
    )
    mix = one + (spent - 1) / 3 * (four - one)
    accuracy = float(np.round(mix + rng.integers(-30, 60) / 1000, 3))
    quarter = accuracy - one - spent / 4 * (four - one)
    return Question(
        f"One answer for everyone has accuracy {one:.2f}, four have {four:.2f}. A policy was allowed 4, spent "
        f"{spent:.1f} and has accuracy {accuracy:.3f}. What is its gain over the mix of 1 and 4 at equal cost?",
        accuracy - mix,
        "compare with the mix that costs what the policy spent",
        f"the mix gives four answers to a share of ({spent:.1f} - 1) / 3 of the questions",
        {
            "that is against four answers, which it was allowed; it spent less": accuracy - four,
            "that is against one answer, which costs less": accuracy - one,
            "that gives four answers to a quarter of what was spent; everyone has one answer already": quarter,
            "that is the mix; subtract it from the policy's accuracy": mix,
        },
    )


_QUESTIONS = {
    "label": _label,
    "bill": _bill,
    "price": _price,
    "bound": _bound,
    "subsets": _subsets,
    "curse": _curse,
}
_QUESTIONS |= {"equal cost": _equal_cost}

# Find the flaw. A null is an experiment in which there is nothing to find: on a flat population no budget helps any
# question; with shuffled labels the policy knows nothing about the questions. A sound evaluation reports no gain on
# either. Each sin reports one on at least one of them, and how large it is there is the proof.

#: The sins, and how a paper with such a sin would describe what was done.
SINS = {
    "in-sample": "Budgets were chosen on 48 answers per question. Accuracy is the mean of the vote over these answers.",
    "overspent": "Budgets were chosen on 48 answers per question and scored on 48 others. The price was lowered until "
    "the average reached the target. The mix is the best one at the target.",
    "leak": "A table of features of each question chose the budgets: its length, its topic, and how often a "
    "single answer was right among the 48 answers that score. They chose nothing else.",
    "tie rule": "Budgets were chosen on 48 answers per question and scored on 48 others. A vote counts as right if the "
    "right answer is among those with the most votes.",
    "noise": "Budgets were chosen on 48 answers per question and scored on 48 others, for ten questions. We report the "
    "most successful of twenty runs.",
}
NULLS = ("flat", "shuffled")
_BUDGETS, _SAMPLES, _LEAST = (1, 2, 4, 8, 16), 48, 0.008


@dataclass(frozen=True)
class Flaw:
    """Results with one planted sin, and what was done in the words of the authors; `find_the_flaw` makes them."""

    methods: str
    _sin: str
    _seed: int

    @property
    def table(self) -> pd.DataFrame:
        """The results: target, cost, accuracy, the mix it is compared with, and the gain."""
        return self._results(None)

    def run(self, null: str) -> pd.DataFrame:
        """The same experiment where there is nothing to find: ``null`` is "flat" or "shuffled"."""
        if null not in NULLS:
            raise ValueError(f"null is {null!r}; choose one of {', '.join(NULLS)}")
        return self._results(null)

    def check(self, sin: str, null: str, gain: Any) -> Checked:
        """Say whether the sin is named, and shown by a null that reports a gain: the largest gain of that table."""
        hint = self._fault(as_name(sin), as_name(null), as_number(gain))
        return Checked("flaw", not hint, hint)

    def _fault(self, sin: str, null: str, gain: float) -> str:
        if sin not in SINS:
            return f"the sins are {', '.join(SINS)}"
        if null not in NULLS:
            return f"the nulls are {', '.join(NULLS)}"
        shown = float(self.run(null)["gain"].max())
        if shown < _LEAST:
            return "that null reports next to no gain, so it shows nothing; try the other one"
        if abs(gain - shown) > 2e-3:
            return f'read the largest gain off run("{null}"), to three digits'
        return (
            ""
            if sin == self._sin
            else "the null is well chosen, but that was not done; read the methods again"
        )

    def _results(self, null: str | None) -> pd.DataFrame:
        size, runs = (10, 20) if self._sin == "noise" else (150, 1)
        seed = self._seed
        people = (
            flat_null(size, seed=seed)
            if null == "flat"
            else beta_population(size, 0.6, 0.5, seed=seed)
        )
        tables = [
            _once(self._sin, people, seed + number, null == "shuffled") for number in range(runs)
        ]
        return max(tables, key=lambda table: float(table["gain"].max())).round(4)


def find_the_flaw(seed: int = 0) -> Flaw:
    """Results to distrust: name what is wrong with them, and show it with a null. The seed chooses sin and numbers.

    Explained in the page "Homework and exams".

    Examples
    --------
    >>> flaw = find_the_flaw(3)
    >>> list(flaw.table.columns)
    ['target', 'cost', 'accuracy', 'mix', 'gain']
    >>> flaw.check("noise", "flat", 0.5).right
    False
    """
    sin = list(SINS)[int(np.random.default_rng([seed, 7]).integers(len(SINS)))]
    # Some draws hide their sin from both nulls; the next draw is taken until one shows it.
    draws = (Flaw(SINS[sin], sin, seed + 1000 * again) for again in count())
    return next(
        flaw for flaw in draws if max(flaw.run(null)["gain"].max() for null in NULLS) >= _LEAST
    )


def _once(sin: str, population: Population, seed: int, shuffled: bool) -> pd.DataFrame:
    halves = (population.sample(_SAMPLES, seed=2 * seed + half) for half in (0, 1))
    first, second = (
        _generous(half) if sin == "tie rule" else half.table(_BUDGETS) for half in halves
    )
    score = first if sin == "in-sample" else second
    # What is scored has chosen, too: that is the leak, whatever the features are called.
    choose = (first.acc + second.acc) / 2 if sin == "leak" else first.acc
    path, rows = frontier(choose, first.cost), []
    for target in (1.5, 2.0, 3.0):
        allowed = path.cost[min(int(np.searchsorted(path.cost, 1.6 * target)), path.cost.size - 1)]
        labels = path.at(max(target, float(allowed)) if sin == "overspent" else target).labels
        if shuffled:
            labels = np.random.default_rng(seed).permutation(labels)
        cost, accuracy = float(first.cost[labels].mean()), float(chosen(score.acc, labels).mean())
        mix = float(
            best_mix(score.acc, score.cost, target if sin == "overspent" else cost)
            .expected(score.acc)
            .mean()
        )
        rows.append(
            {
                "target": target,
                "cost": cost,
                "accuracy": accuracy,
                "mix": mix,
                "gain": accuracy - mix,
            }
        )
    return pd.DataFrame(rows)


def _generous(answers: Responses) -> UtilityTable:
    """Accuracies in which every tie with the right answer in it is a win, from votes over windows."""
    acc = np.empty((answers.n, len(_BUDGETS)))
    for column, budget in enumerate(_BUDGETS):
        windows = answers.classes[:, : _SAMPLES // budget * budget].reshape(answers.n, -1, budget)
        right = answers.values[:, : windows.shape[1] * budget].reshape(windows.shape)
        votes = (windows[..., None] == windows[..., None, :]).sum(axis=-1)
        top = (votes == votes.max(axis=-1, keepdims=True)) & (right > 0)
        acc[:, column] = top.any(axis=-1).mean(axis=-1)
    return UtilityTable(acc, np.array(_BUDGETS))
