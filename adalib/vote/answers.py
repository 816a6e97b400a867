"""When two answers are the same, and the classes of equal answers.

Plain forms are compared as exact numbers where they are numbers, as mathematics where they look
like it, and as words otherwise.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from adalib.extras import install_words
from adalib.vote.plain import COMMAND, WORD, Key, plain_form, value_key

if TYPE_CHECKING:
    from adalib.vote.judge import Reading

_VARIABLE_OR_LIST = re.compile(r"[a-df-hj-zA-Z,=<>]")  # but e and i are numbers
_UNMATHEMATICAL = re.compile(r"[:@#?&;~'\"]|\d\s+\d|\d\.\d+\.|[-+*/=^]\s?$|^\s?[*/=^]")


def same_answer(a: str, b: str) -> bool:
    r"""Return whether two answers are the same answer.

    Numbers are compared exactly (1,000 = 1000, 1/2 = 0.5 = ``\frac12``), but two that are not whole
    also agree when they differ by under a millionth, so 0.333333 is 1/3 and 0.33 is not. Units and
    currency are ignored. A percentage equals both its readings (50% = 50 and 50% = 0.5), for
    questions ask for either; 50 and 0.5 differ, and a share that is a whole number above 1 does not
    count (6000% is not 60). Formulas are compared by their values at a few fixed points, words
    without case and spaces, and a choice by its letter ("(B) Paris" = "b"). An empty answer equals
    none. Explained in the chapter "One question, many answers".

    Parameters
    ----------
    a, b : str
        As extracted or as given.

    Returns
    -------
    bool
        True if the two count as one answer in a vote.

    Examples
    --------
    >>> same_answer("1/2", "0.5"), same_answer("$1,000", "1000 dollars")
    (True, True)
    >>> same_answer("x+1", "1+x"), same_answer("", "")
    (True, False)
    """
    a = plain_form(a)
    b = plain_form(b)
    return bool(a and b) and _same(a, b, _reading)


def answer_classes(answers: Sequence[str]) -> np.ndarray:
    """Number the answers by equivalence class, in order of first appearance.

    An answer joins the first class whose first member it equals, so the classes are a partition
    even where equivalence by itself is not transitive. An empty answer never votes and is -1; a
    formula too large to work out equals only what is written like it.

    Parameters
    ----------
    answers : sequence of str
        The sampled answers to one question.

    Returns
    -------
    ndarray of int, shape (len(answers),)
        The number of each answer's class; -1 for an empty answer.

    Examples
    --------
    >>> answer_classes(["7", "1/2", "", "0.5", "7.0"])
    array([ 0,  1, -1,  1,  0])
    """
    return judged(answers)[0]


class ClassesSoFar:
    """The classes of the answers to one question while they arrive."""

    def __init__(self) -> None:
        self._class_of: dict[str, int] = {}
        self._first_members: list[str] = []  # by class

    def add(self, answer: str) -> int:
        """Return the class of one more answer, as `answer_classes` numbers it."""
        if answer not in self._class_of:
            answers = [*self._class_of, answer]
            self._class_of = dict(zip(answers, answer_classes(answers).tolist(), strict=True))
            if self._class_of[answer] == len(self._first_members):
                self._first_members.append(answer)
        return self._class_of[answer]

    def first_member(self, answer: str) -> str | None:
        """Return the first answer that this one equals; None if it could not be read."""
        number = self.add(answer)
        return None if number < 0 else self._first_members[number]


def judged(answers: Sequence[str]) -> tuple[np.ndarray, dict[str, str]]:
    """Return the classes of `answer_classes`, and the limit that each formula given up has met."""
    texts = [plain_form(answer) for answer in answers]
    first_text: dict[Key, str] = {}  # for each value, the first text that has it
    for text in filter(None, dict.fromkeys(texts)):
        first_text.setdefault(value_key(text), text)
    formulas = _formulas_to_compare(first_text)
    judge = _judge() if formulas else None
    readings = judge.read_all(formulas) if judge else {}
    class_of = _classes_of_values(first_text, lambda text: readings.get(text) or _reading(text))
    classes = [class_of[value_key(text)] if text else -1 for text in texts]
    given_up = {text: reading.given_up for text, reading in readings.items() if reading.given_up}
    return np.array(classes, dtype=int), given_up


def _formulas_to_compare(first_text: dict[Key, str]) -> list[str]:
    """Return the texts that computer algebra has to read."""
    formulas = [
        text for key, text in first_text.items() if isinstance(key, str) and _mathematical(text)
    ]
    if len(formulas) == 1 and (len(first_text) == 1 or _never_a_number(formulas[0])):
        return []  # there is nothing to compare it with, and reading takes milliseconds
    return formulas


def _classes_of_values(
    first_text: dict[Key, str], reading: Callable[[str], Reading]
) -> dict[Key, int]:
    """Number the values by equivalence class, in their order."""
    class_of: dict[Key, int] = {}
    first_members: list[str] = []  # by class
    for key, text in first_text.items():
        equal = (
            number for number, member in enumerate(first_members) if _same(member, text, reading)
        )
        class_of[key] = next(equal, len(first_members))
        if class_of[key] == len(first_members):
            first_members.append(text)
    return class_of


def _same(a: str, b: str, reading: Callable[[str], Reading]) -> bool:
    """Whether two plain answers are the same; the commonest cases first."""
    key_a = value_key(a)
    key_b = value_key(b)
    if key_a == key_b:
        return True
    if isinstance(key_a, tuple) and isinstance(key_b, tuple):
        return any(_close(x, y) for x in key_a for y in key_b)
    for formula, key in ((a, key_b), (b, key_a)):
        # A percentage, which has two values, equals no formula, and no number has a variable.
        if isinstance(key, tuple) and (len(key) == 2 or _never_a_number(formula)):
            return False
    if not (_mathematical(a) and _mathematical(b)) or _judge() is None:
        return False
    return reading(a).equals(reading(b))


def is_formula(answer: str) -> bool:
    """Return whether comparing this answer takes computer algebra (the extra math)."""
    plain = plain_form(answer)
    return isinstance(value_key(plain), str) and bool(plain) and _mathematical(plain)


@cache
def _judge() -> ModuleType | None:
    """Load the module that compares formulas on first use: computer algebra takes a second.

    Without the extra math there is none. Formulas are then compared letter by letter, and one
    warning says so.
    """
    try:
        return import_module("adalib.vote.judge")
    except ModuleNotFoundError as error:
        warnings.warn(
            f"formulas are compared letter by letter, because {error.name} is missing; "
            f"run {install_words('math')} to compare them as mathematics",
            stacklevel=2,
        )
        return None


def _reading(plain: str) -> Reading:
    """Return what the judge makes of a plain answer, a formula or a number."""
    from adalib.vote.judge import read, read_number

    key = value_key(plain)
    return read(plain) if isinstance(key, str) else read_number(key[0])


def _close(p: Fraction, q: Fraction) -> bool:
    """Whether two numbers agree: whole ones exactly, others to a millionth, relative below 1."""
    if p.denominator == 1 or q.denominator == 1:
        return p == q
    return abs(p - q) * 10**6 <= min(Fraction(1), max(abs(p), abs(q)))


@lru_cache(maxsize=200_000)
def _never_a_number(plain: str) -> bool:
    """Whether a text holds a variable, a list or a relation."""
    return _VARIABLE_OR_LIST.search(COMMAND.sub(" ", plain)) is not None


@lru_cache(maxsize=200_000)
def _mathematical(plain: str) -> bool:
    """Return whether math-verify should read this answer.

    It makes something of nearly anything: it divides 10:30, and multiplies 12 12.
    """
    if not plain.isascii() or plain.isalpha() or plain.count("=") > 1:
        return False
    opened = sum(map(plain.count, "([{"))
    closed = sum(map(plain.count, ")]}"))
    if opened != closed:
        return False
    # The & between the entries of a matrix is mathematics.
    symbols = plain.replace("&", ",") if "matrix}" in plain else plain
    return not (_UNMATHEMATICAL.search(symbols) or WORD.search(COMMAND.sub(" ", plain)))
