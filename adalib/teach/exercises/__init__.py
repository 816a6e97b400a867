"""Checks for the exercises of the book: each computes the truth, and answers with a hint, never with the truth.

One module a chapter names its exercises; a chapter imports ``check`` from its own module. An exercise asks for a value
(`Exercise`), for an object with a property (`Construction`), for a function (`build`) or for a proof (`prove`). On a
page without a kernel an exercise that was not answered yet becomes a box to answer in (`page`).
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from adalib.teach.exercises.page import answer_box, key
from adalib.teach.exercises.reading import as_name, as_number

__all__ = ["Checked", "Checker", "Construction", "Exercise", "Fault", "Kind", "checker"]


@dataclass(frozen=True)
class Checked:
    """What became of an answer.

    Attributes
    ----------
    name : str
        The exercise's.
    right : bool or None
        None while there is no answer.
    hint : str
        Empty unless the answer is wrong. It names the mistake where the mistake is a known one.
    more : str
        The second hint, for those whom the first did not help; empty where there is none.
    picture : str
        The smallest case on which a function or a proof fails, and what it did there; empty for other exercises.
    """

    name: str
    right: bool | None
    hint: str = ""
    more: str = ""
    picture: str = ""
    _box: str = field(default="", repr=False)

    def __repr__(self) -> str:
        if self.right is None:
            return f"Exercise {self.name}: not answered yet.{f' {self.hint}.' if self.hint else ''}"
        if self.right:
            return f"Exercise {self.name}: right."
        further = " (A second hint: check(...).more)" if self.more else ""
        return f"Exercise {self.name}: not yet. Hint: {self.hint}.{further}" + (
            f"\n{self.picture}" if self.picture else ""
        )

    def _repr_html_(self) -> str | None:
        if self._box or not self.picture:
            return self._box or None
        said, _, picture = repr(self).partition("\n")
        return f"<p>{html.escape(said)}</p><pre>{html.escape(picture)}</pre>"


class Fault(NamedTuple):
    """What is wrong with an answer: a hint, and the smallest case that shows it."""

    hint: str
    picture: str = ""


class Kind(Protocol):
    """What every kind of exercise can do."""

    more: str

    def fault(self, answer: Any) -> Fault | str | None:
        """None for a right answer, else what is wrong with it."""

    def box(self, name: str) -> str:
        """The exercise on a page."""


class Exercise(NamedTuple):
    """An exercise whose answer is a number or a name.

    Attributes
    ----------
    truth : callable
        Computes the right answer.
    hint, more : str
        What to tell a reader who missed it, first and second.
    tolerance : float
        How far off still counts.
    wrong : mapping of str to callable
        Typical wrong answers: what each is called, and how one arrives at it.

    Examples
    --------
    >>> half = Exercise(lambda: 0.5, "think of a coin", 1e-3, wrong={"that is one minus it": lambda: 1.5})
    >>> half.fault("1/2"), half.fault(1.5), half.fault(7), half.fault("half")
    (None, 'that is one minus it', 'think of a coin', 'that is no number; give one, such as 0.875 or 7/8')
    """

    truth: Callable[[], Any]
    hint: str
    tolerance: float = 0.0
    more: str = ""
    wrong: Mapping[str, Callable[[], Any]] = {}

    def fault(self, answer: Any) -> str | None:
        """None for a right answer, else the typical mistake that it is, else the hint."""
        truth = self.truth()
        if _agrees(answer, truth, self.tolerance):
            return None
        if not isinstance(truth, str) and math.isnan(as_number(answer)):
            return "that is no number; give one, such as 0.875 or 7/8"
        for name, value in self.wrong.items():
            if _agrees(answer, value(), self.tolerance):
                return name
        return self.hint

    def box(self, name: str) -> str:
        """The exercise on a page."""
        wrong = [{**key(name, value(), self.tolerance), "said": said} for said, value in self.wrong.items()]
        return answer_box(name, self.hint, key(name, self.truth(), self.tolerance), self.more, wrong)


class Construction(NamedTuple):
    """An exercise with many right answers: ``fault`` looks at the reader's own object and says what it still lacks.

    Examples
    --------
    >>> check = checker({"even": Construction(lambda n: "it leaves a remainder" if n % 2 else None)})
    >>> check("even", 3), check("even", 8)
    (Exercise even: not yet. Hint: it leaves a remainder., Exercise even: right.)
    """

    fault: Callable[[Any], str | None]
    more: str = ""

    def box(self, name: str) -> str:
        """The exercise on a page."""
        return answer_box(name, "", None)


class Checker(NamedTuple):
    """A chapter's ``check(name, answer)``; `checker` makes it."""

    exercises: Mapping[str, Kind]

    def __call__(self, name: str, answer: Any) -> Checked:
        """Say whether an exercise is answered, rightly or not yet."""
        if name not in self.exercises:
            names = ", ".join(self.exercises)
            return Checked(str(name), False, f"no exercise here is called {name!r}; the names are {names}")
        exercise = self.exercises[name]
        if hasattr(exercise, "empty") and exercise.empty(answer):
            return Checked(name, None, "Your function returns nothing so far", _box=exercise.box(name))
        if answer is None:
            within = getattr(exercise, "tolerance", 0)
            stated = f"A number counts within {within:g}" if within else ""
            return Checked(name, None, stated, _box=exercise.box(name))
        try:
            fault = exercise.fault(answer)
        except Exception as error:  # an answer can be any object at all; whatever it does is a hint, never a traceback
            fault = f"your answer could not be read: {type(error).__name__}: {error}"
        if fault is None:
            return Checked(name, True)
        hint, picture = fault if isinstance(fault, Fault) else (fault, "")
        return Checked(name, False, hint, exercise.more, picture)


def checker(exercises: Mapping[str, Kind]) -> Checker:
    """Make a chapter's ``check(name, answer)``, which says whether an exercise is answered, rightly or not yet.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    exercises : mapping of str to Exercise, Construction, Build or Proof
        The chapter's exercises by name.

    Examples
    --------
    >>> check = checker({"sum": Exercise(lambda: 4, "count on your fingers")})
    >>> check("sum", None), check("sum", 5)
    (Exercise sum: not answered yet., Exercise sum: not yet. Hint: count on your fingers.)
    >>> check("sum", [4.0]).right
    True
    """
    return Checker(exercises)


def _agrees(answer: Any, truth: Any, tolerance: float) -> bool:
    if isinstance(truth, str):
        return as_name(answer) == as_name(truth)
    number = as_number(answer)
    # The last digit of a float is nobody's mistake.
    return abs(number - truth) <= tolerance + 1e-9 * max(1.0, abs(truth)) if math.isfinite(number) else False
