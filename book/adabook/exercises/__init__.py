"""The book's exercises, for practice: each answers "right" or a hint, and none gives a mark.

An exercise asks for a value (`values`), for an object with a property (`constructions`), for a
function (`build_*`) or for a proof (`proofs`). The solution cell of a value exercise, in its
chapter, is the only place where its answer is written: ``solution("letgo", slope, hint=...,
wrong={...})``. Building the book records it in ``recorded.json`` (``book/_ext/recorded.py``). From
there ``check`` and the box on the page can tell right from wrong, also where the solutions were cut
out. Marks come from homework with a teacher's secret (``make otter``), never from here.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from adabook.exercises import build_answers, build_tables, constructions, proofs
from adabook.exercises.judged import Build, Construction, Fault, Proof, Unanswered
from adabook.exercises.values import Value

__all__ = ["Checked", "Checker", "Solution", "checks", "recorded"]

#: What the build writes down of the value exercises.
RECORD = Path(__file__).with_name("recorded.json")

Exercise = Value | Build | Construction | Proof

#: The exercises that are judged by what an answer does, by chapter and name.
JUDGED: dict[tuple[str, str], Exercise] = {
    **build_tables.EXERCISES,
    **build_answers.EXERCISES,
    **proofs.EXERCISES,
    **constructions.EXERCISES,
}


@dataclass(frozen=True)
class Checked:
    """The verdict on an answer; ``right`` is None while there is none.

    ``hint`` names the mistake where it is a known one, ``more`` is the second hint, and ``picture``
    is the smallest case on which a function or a proof fails. An exercise of a ``chapter`` has a
    box on its page to answer in.
    """

    name: str
    right: bool | None
    hint: str = ""
    more: str = ""
    picture: str = ""
    chapter: str = ""

    def __repr__(self) -> str:
        if self.right is None:
            return f"Exercise {self.name}: not answered yet.{f' {self.hint}.' if self.hint else ''}"
        if self.right:
            return f"Exercise {self.name}: right."
        further = " (A second hint: check(...).more)" if self.more else ""
        shown = f"\n{self.picture}" if self.picture else ""
        stop = "" if self.hint.endswith("?") else "."
        return f"Exercise {self.name}: not yet. Hint: {self.hint}{stop}{further}{shown}"

    def _repr_html_(self) -> str | None:
        if self.right is None and self.chapter:
            name = html.escape(self.name)
            place = f'data-chapter="{self.chapter}" data-name="{name}"'
            return f'<p class="adalib-answer" {place}>Exercise {name}: not answered yet.</p>'
        if not self.picture:
            return None
        verdict, _, picture = repr(self).partition("\n")
        return f"<p>{html.escape(verdict)}</p><pre>{html.escape(picture)}</pre>"


@dataclass(frozen=True, repr=False)
class Solution(Checked):
    """A right answer that brings the exercise along, for the build to record."""

    recorded: Value | None = None

    #: The format under which an executed notebook holds it.
    MIME = "application/vnd.adalib.solution+json"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        kept = self.recorded._asdict() if self.recorded else {}
        return {"text/plain": repr(self), self.MIME: {"chapter": self.chapter, **kept}}


class Checker:
    """``check(name, answer)`` for some exercises: practice with hints, without marks.

    ``solution`` writes one of the exercises down.
    """

    def __init__(self, exercises: Mapping[str, Exercise], chapter: str = "") -> None:
        self.exercises = dict(exercises)
        self.chapter = chapter

    def __repr__(self) -> str:
        names = ", ".join(self.exercises)
        return f"check(name, answer) is practice and gives no marks; the names are {names}"

    def __call__(self, name: str, answer: Any) -> Checked:
        """Say whether an exercise is answered, rightly or not yet."""
        exercise = self.exercises.get(name)
        if answer is None:
            within = exercise.tolerance if isinstance(exercise, Value) else 0
            hint = f"The tolerance is {within:g}" if within else ""
            return Checked(name, None, hint, chapter=self.chapter)
        if exercise is None:
            names = ", ".join(self.exercises)
            hint = f"there is no exercise {name!r} here; the names are {names}"
            return Checked(str(name), False, hint)
        try:
            fault = exercise.fault(answer)
        except Exception as error:  # an answer can be any object; an error becomes a hint
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            fault = f"your answer could not be read: {kind}{error}"
        if fault is None:
            return Checked(name, True)
        if isinstance(fault, Unanswered):
            return Checked(name, None, fault.hint, chapter=self.chapter)
        hint, picture = fault if isinstance(fault, Fault) else (fault, "")
        return Checked(name, False, hint, exercise.more, picture)

    def solution(self, name: str, answer: Any, hint: str, more: str = "", **about: Any) -> Solution:
        """Write an exercise down; ``about`` has the tolerance and the typical mistakes.

        A typical mistake that would be taken for another one is refused.
        """
        wrong = {key: _plain(mistake) for key, mistake in about.pop("wrong", {}).items()}
        exercise = Value(name, _plain(answer), hint, more, **about, wrong=wrong)
        for expected, mistake in {None: exercise.answer, **wrong}.items():
            found = exercise.fault(mistake)
            if found != expected:
                raise ValueError(
                    f"exercise {name!r}: {mistake!r} gets the hint {found!r}, not {expected!r}"
                )
        self.exercises[name] = exercise
        return Solution(name, True, chapter=self.chapter, recorded=exercise)


def _plain(value: Any) -> float | str:
    """A number or a name that JSON can hold."""
    return value if isinstance(value, str) else float(value)


def checks(chapter: str) -> tuple[Checker, Callable[..., Solution]]:
    """A chapter's ``check`` and ``solution``.

    >>> check, solution = checks("data")
    >>> check("sum", None), solution("sum", 4, hint="count on your fingers")
    (Exercise sum: not answered yet., Exercise sum: right.)
    >>> check("sum", [4.0]), check("sum", 5)
    (Exercise sum: right., Exercise sum: not yet. Hint: count on your fingers.)
    """
    exercises: dict[str, Exercise] = {
        name: Value(name, **kept) for name, kept in recorded().get(chapter, {}).items()
    }
    exercises |= {name: exercise for (place, name), exercise in JUDGED.items() if place == chapter}
    check = Checker(exercises, chapter)
    return check, check.solution


@cache
def recorded() -> dict[str, dict[str, Any]]:
    """What the last build recorded of the value exercises, by chapter and name."""
    return json.loads(RECORD.read_text(encoding="utf-8"))
