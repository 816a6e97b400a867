"""Homework: each student's own questions, from a seed, and a token that holds what was answered.

What is protected, and what is not: a token cannot be changed on the way, and nobody can hand one in as another student
without that student's key. The score is not in the token; the teacher's side draws the same questions and grades the
answers anew, so a student who alters this package gains nothing by it. Not protected: who sat at the keyboard, and what
was looked up. The package can compute the answers, since it checks them; that is a calculator, and allowed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adalib.teach.course.questions import Question, draw_questions
from adalib.teach.course.tokens import open_token, read_owner, seal, student_key
from adalib.teach.exercises import Checked, Checker
from adalib.teach.exercises.reading import as_name, as_number

__all__ = ["Grade", "HandedIn", "Homework", "grade", "homework"]


@dataclass(frozen=True, repr=False)
class HandedIn(Checked):
    """What became of an answer to homework.

    Attributes
    ----------
    token : str
        All answers so far, sealed: hand in the last one.
    """

    token: str = ""


@dataclass(eq=False)
class Homework:
    """One student's questions; `homework` makes it.

    Attributes
    ----------
    student, name : str
        Whose it is, and which sheet.
    questions : dict of str to Question
    exam : bool
        Whether answers are taken without a word about them.
    """

    student: str
    name: str
    questions: dict[str, Question]
    exam: bool = False
    _key: str = field(default="", repr=False)
    _answers: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        parts = [f"[{name}] {question.text}" for name, question in self.questions.items()]
        return f"Homework {self.name} of {self.student}\n\n" + "\n\n".join(parts)

    def check(self, name: str, answer: Any) -> HandedIn:
        """Take an answer, say whether it is right (not in an exam), and return the token of all answers so far."""
        found = Checker({key: question.exercise for key, question in self.questions.items()})(name, answer)
        if name in self.questions and answer is not None:
            number = as_number(answer)
            self._answers[name] = number if np.isfinite(number) else as_name(answer)
        if self.exam:
            found = Checked(name, None, "Taken down" if name in self._answers else "")
        return HandedIn(found.name, found.right, found.hint, found.more, token=self.token)

    @property
    def token(self) -> str:
        """All answers so far, sealed; without a key the seal is worth nothing, and grading says so."""
        return seal({"student": self.student, "sheet": self.name, "answers": self._answers}, self._key or "practice")


def homework(student_id: str, name: str = "1", key: str = "", exam: bool = False) -> Homework:
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
        Take answers without saying whether they are right.

    Returns
    -------
    Homework

    Examples
    --------
    >>> mine = homework("ada")
    >>> mine.check("curse", 99).right, mine.check("curse", 99).token[:8]
    (False, 'adalib1.')
    """
    seed = int.from_bytes(hashlib.sha256(f"{name}\0{student_id}".encode()).digest()[:8], "big")
    return Homework(student_id, name, draw_questions(np.random.default_rng(seed)), exam, key)


@dataclass(frozen=True)
class Grade:
    """What a token is worth: right answers of how many, or why it was refused."""

    student: str
    sheet: str
    right: tuple[str, ...]
    of: int
    refused: str = ""


def grade(token: str, secret: str) -> Grade:
    """Check a token's seal and grade its answers anew.

    Explained in the page "Homework and exams".

    Parameters
    ----------
    token : str
    secret : str
        The class's.

    Returns
    -------
    Grade
        With ``refused`` where the seal does not fit, and no points.

    Examples
    --------
    >>> mine = homework("ada", key=student_key("our secret", "ada"))
    >>> truth = mine.questions["curse"].exercise.truth()
    >>> grade(mine.check("curse", truth).token, "our secret").right
    ('curse',)
    >>> grade(mine.token, "another secret").refused
    'the seal does not fit: it was changed, or sealed with another key'
    """
    student = ""
    try:
        student = read_owner(token)
        content = open_token(token, student_key(secret, student))
    except ValueError as error:
        return Grade(student, "", (), 0, str(error))
    sheet, answers = content.get("sheet"), content.get("answers")
    if not isinstance(sheet, str) or not isinstance(answers, dict):
        return Grade(student, "", (), 0, "the token holds no sheet and answers; hand in the one that check returned")
    asked = homework(student, sheet).questions
    right = tuple(name for name in asked if name in answers and asked[name].exercise.fault(answers[name]) is None)
    return Grade(student, sheet, right, len(asked))
