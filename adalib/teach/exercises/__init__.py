"""Checks for the exercises of the book: each computes the truth, and answers with a hint, never with the truth.

One module a chapter names its exercises; a chapter imports ``check`` from its own module. On a page without a kernel an
exercise that was not answered yet becomes a box to answer in (`page`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from adalib.teach.exercises.page import answer_box, key

__all__ = ["Checked", "Construction", "Exercise", "checker"]


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
        Empty unless the answer is wrong.
    """

    name: str
    right: bool | None
    hint: str = ""
    _box: str = field(default="", repr=False)

    def __repr__(self) -> str:
        if self.right is None:
            return f"Exercise {self.name}: not answered yet."
        return f"Exercise {self.name}: right." if self.right else f"Exercise {self.name}: not yet. Hint: {self.hint}."

    def _repr_html_(self) -> str | None:
        return self._box or None


class Exercise(NamedTuple):
    """What is true, what to tell a reader who missed it, and how far off still counts."""

    truth: Callable[[], Any]
    hint: str
    tolerance: float = 0.0

    def fault(self, answer: Any) -> str | None:
        """None for a right answer, else the hint."""
        return None if _agrees(answer, self.truth(), self.tolerance) else self.hint

    def box(self, name: str) -> str:
        """The exercise on a page."""
        return answer_box(name, self.hint, key(name, self.truth(), self.tolerance))


class Construction(NamedTuple):
    """An exercise with many right answers: ``fault`` looks at the reader's own object and says what it still lacks.

    Examples
    --------
    >>> check = checker({"even": Construction(lambda n: "it leaves a remainder" if n % 2 else None)})
    >>> check("even", 3), check("even", 8)
    (Exercise even: not yet. Hint: it leaves a remainder., Exercise even: right.)
    """

    fault: Callable[[Any], str | None]

    def box(self, name: str) -> str:
        """The exercise on a page."""
        return answer_box(name, "", None)


def checker(exercises: Mapping[str, Exercise | Construction]) -> Callable[[str, Any], Checked]:
    """Make a chapter's ``check(name, answer)``, which says whether an exercise is answered, rightly or not yet.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    exercises : mapping of str to Exercise or Construction
        The chapter's exercises by name.

    Examples
    --------
    >>> check = checker({"sum": Exercise(lambda: 4, "count on your fingers")})
    >>> check("sum", None), check("sum", 5)
    (Exercise sum: not answered yet., Exercise sum: not yet. Hint: count on your fingers.)
    >>> check("sum", 4).right
    True
    """

    def check(name: str, answer: Any) -> Checked:
        if name not in exercises:
            raise ValueError(f"no exercise here is called {name!r}; the names are {', '.join(exercises)}")
        exercise = exercises[name]
        if answer is None:
            return Checked(name, None, _box=exercise.box(name))
        hint = exercise.fault(answer)
        return Checked(name, hint is None, hint or "")

    return check


def _agrees(answer: Any, truth: Any, tolerance: float) -> bool:
    if isinstance(truth, str):
        return str(answer).strip() == truth
    try:
        return abs(float(answer) - truth) <= tolerance
    except (TypeError, ValueError):
        return False
