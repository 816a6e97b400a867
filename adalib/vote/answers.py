"""When two answers are the same, and the classes of equal answers.

Plain forms are compared as exact numbers where they are numbers, as mathematics where they look
like it, and as words otherwise.
"""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from adalib.vote.plain import COMMAND, WORD, Key, plain_form, value_key

if TYPE_CHECKING:
    from adalib.vote.judge import Reading

__all__ = ["answer_classes", "is_formula", "judged", "same_answer"]

_UNMATHEMATICAL = re.compile(r"[:@#?&;~'\"]|\d\s+\d|\d\.\d+\.|[-+*/=^]\s?$|^\s?[*/=^]")


def same_answer(a: str, b: str) -> bool:
    r"""Whether two answers are the same answer.

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
    return bool(a and b) and _same(a, b)


def answer_classes(answers: Sequence[str]) -> np.ndarray:
    """Number the answers by equivalence class, in order of first appearance.

    An answer joins the first class whose first member it equals, so the classes are a partition
    even where equivalence by itself is not transitive. An empty answer never votes and is -1; a
    formula too large to work out equals only what is written like it. Explained in the chapter "One
    question, many answers".

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


def judged(answers: Sequence[str]) -> tuple[np.ndarray, dict[str, str]]:
    """Return the classes of `answer_classes`, and the formulas given up, with the limit each met.

    An answer is compared only with classes whose values lie near its own: the work does not grow
    with their square.
    """
    texts = [plain_form(answer) for answer in answers]
    first: dict[Key, str] = {}
    for text in filter(None, dict.fromkeys(texts)):
        first.setdefault(value_key(text), text)
    formulas = [text for key, text in first.items() if isinstance(key, str) and _mathematical(text)]
    if len(formulas) == 1 and (len(first) == 1 or _never_a_number(formulas[0])):
        formulas = []  # nothing to compare it with: reading takes milliseconds
    readings = _readings(formulas)
    classes: dict[Key, int] = {}
    members: list[str] = []  # the first member of each class
    drawers: dict[tuple, list[int]] = {}  # the classes by where their values lie
    for key, text in first.items():
        places = _places(key, readings.get(text))
        near = {
            c
            for shape, step in places
            for at in (step - 1, step, step + 1)
            for c in drawers.get((shape, at), ())
        }
        classes[key] = next((c for c in sorted(near) if _same(members[c], text)), len(members))
        if classes[key] == len(members):
            members.append(text)
            for place in places:
                drawers.setdefault(place, []).append(classes[key])
    given_up = {text: reading.given_up for text, reading in readings.items() if reading.given_up}
    own = {text: classes[value_key(text)] if text else -1 for text in set(texts)}
    return np.array([own[text] for text in texts], dtype=int), given_up


def _same(a: str, b: str) -> bool:
    """Whether two plain answers are the same; the commonest cases first."""
    p = value_key(a)
    q = value_key(b)
    if p == q:
        return True
    if isinstance(p, tuple) and isinstance(q, tuple):
        return any(_close(x, y) for x in p for y in q)
    for plain, key in ((a, q), (b, p)):  # a percentage is no formula, a variable no number
        if isinstance(key, tuple) and (len(key) == 2 or _never_a_number(plain)):
            return False
    if not (_mathematical(a) and _mathematical(b)) or _judge() is None:
        return False
    return _reading(a).equals(_reading(b))


def is_formula(answer: str) -> bool:
    """Return whether comparing this answer takes computer algebra, which adalib[math] installs."""
    plain = plain_form(answer)
    return isinstance(value_key(plain), str) and bool(plain) and _mathematical(plain)


@cache
def _judge() -> ModuleType | None:
    """Load the module that compares formulas on first use: computer algebra takes a second.

    Without adalib[math] there is none. Formulas are then compared letter by letter, and one warning
    says so.
    """
    try:
        return import_module("adalib.vote.judge")
    except ModuleNotFoundError as error:
        warnings.warn(
            f"formulas are compared letter by letter, because {error.name} is missing; "
            "run pip install 'adalib[math]' to compare them as mathematics",
            stacklevel=2,
        )
        return None


def _readings(formulas: list[str]) -> dict[str, Reading]:
    """Read the formulas of one question in their order, until they have taken too much work."""
    judge = _judge() if formulas else None
    if judge is None:
        return {}
    taken = itertools.accumulate(map(judge.work, formulas))
    too_much = judge.Reading(given_up="more formulas than are read for one question")
    return {
        text: _reading(text) if so_far <= judge.WORK else too_much
        for text, so_far in zip(formulas, taken, strict=True)
    }


def _reading(plain: str) -> Reading:
    """What the judge makes of an answer."""
    from adalib.vote.judge import read, read_number

    key = value_key(plain)
    return read(plain) if isinstance(key, str) else read_number(key[0])


def _places(key: Key, reading: Reading | None) -> list[tuple[tuple, int]]:
    """Return the drawers in which equal answers lie, give or take one, for each meaning."""
    places: list[tuple[tuple, float | Fraction]] = []
    if isinstance(key, tuple):
        places = [(("value",), value) for value in key]
    elif reading:
        # Those that agree have the first value nearly in common.
        forms = (*reading.forms, *reading.right_side)
        places = [
            (form.shape, float(form.values[0][0].real) if form.values else 0.0) for form in forms
        ]
    # What is near, absolutely or relatively, is at most a drawer apart; all that is huge lies
    # together.
    return [
        (shape, math.floor(1000 * math.asinh(max(-1e300, min(value, 1e300)))))
        for shape, value in places
    ]


def _close(p: Fraction, q: Fraction) -> bool:
    if p.denominator == 1 or q.denominator == 1:
        return p == q
    return abs(p - q) * 10**6 <= min(Fraction(1), max(abs(p), abs(q)))


@lru_cache(maxsize=200_000)
def _never_a_number(plain: str) -> bool:
    """Holds a variable, a list or a relation."""
    return re.search(r"[a-df-hj-zA-Z,=<>]", COMMAND.sub(" ", plain)) is not None


@lru_cache(maxsize=200_000)
def _mathematical(plain: str) -> bool:
    """Return whether math-verify should read this answer.

    It makes something of nearly anything: 10:30 it divides, 12 12 it multiplies.
    """
    return (
        plain.isascii()
        and not plain.isalpha()
        and plain.count("=") < 2
        and sum(map(plain.count, "([{")) == sum(map(plain.count, ")]}"))
        and not _UNMATHEMATICAL.search(plain.replace("&", ",") if "matrix}" in plain else plain)
        and not WORD.search(COMMAND.sub(" ", plain))
    )
