"""Checks for the exercises of the book: each computes the truth, and answers with a hint, never with the truth.

One module a chapter names its exercises; a chapter imports ``check`` from its own module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

__all__ = ["Construction", "Exercise", "checker"]


class Exercise(NamedTuple):
    """What is true, what to tell a reader who missed it, and how far off still counts."""

    truth: Callable[[], Any]
    hint: str
    tolerance: float = 0.0

    def fault(self, answer: Any) -> str | None:
        """None for a right answer, else the hint."""
        return None if _agrees(answer, self.truth(), self.tolerance) else self.hint


class Construction(NamedTuple):
    """An exercise with many right answers: ``fault`` looks at the reader's own object and says what it still lacks.

    Examples
    --------
    >>> check = checker({"even": Construction(lambda n: "it leaves a remainder" if n % 2 else None)})
    >>> check("even", 3), check("even", 8)
    Exercise even: not yet. Hint: it leaves a remainder.
    Exercise even: right.
    (None, None)
    """

    fault: Callable[[Any], str | None]


def checker(exercises: Mapping[str, Exercise | Construction]) -> Callable[[str, Any], None]:
    """Make a chapter's ``check(name, answer)``, which prints whether an exercise is answered, rightly or not yet.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    exercises : mapping of str to Exercise or Construction
        The chapter's exercises by name.

    Examples
    --------
    >>> check = checker({"sum": Exercise(lambda: 4, "count on your fingers")})
    >>> check("sum", None), check("sum", 5), check("sum", 4)
    Exercise sum: not answered yet.
    Exercise sum: not yet. Hint: count on your fingers.
    Exercise sum: right.
    (None, None, None)
    """

    def check(name: str, answer: Any) -> None:
        if name not in exercises:
            raise ValueError(f"no exercise here is called {name!r}; the names are {', '.join(exercises)}")
        if answer is None:
            print(f"Exercise {name}: not answered yet.")
        elif (hint := exercises[name].fault(answer)) is None:
            print(f"Exercise {name}: right.")
        else:
            print(f"Exercise {name}: not yet. Hint: {hint}.")

    return check


def _agrees(answer: Any, truth: Any, tolerance: float) -> bool:
    if isinstance(truth, str):
        return str(answer).strip() == truth
    try:
        return abs(float(answer) - truth) <= tolerance
    except (TypeError, ValueError):
        return False
