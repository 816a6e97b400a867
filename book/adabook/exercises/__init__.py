"""The book's exercises, for practice: each answers "right" or a hint, and none gives a mark.

An exercise asks for a value (`values`), for an object with a property (`constructions`), for a
function (`build_*`) or for a proof (`proofs`). What is known of a value exercise, its answer, its
tolerance, two hints and typical mistakes, is data: ``answers/CHAPTER.json``. From there ``check``
and the box on the page tell right from wrong, also where the solutions were cut out, and a test
compares the answer with what the chapter's solution computes. Marks come from homework with a
teacher's secret (``make homework``), never from here.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from adabook.exercises import build_answers, build_tables, constructions, proofs
from adabook.exercises.behaviour import Build, Construction, Fault, Holds, Proof, Unanswered
from adabook.exercises.values import Value
from adabook.plain_data import listed

__all__ = ["Checked", "Checker", "checks", "value_exercises"]

#: One file per chapter: its value exercises by name.
ANSWERS = Path(__file__).with_name("answers")

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

    Of a proof it says that every step holds: a person marks it. ``hint`` names the mistake where it
    is a known one, ``more`` is the second hint, and ``picture`` is the smallest case on which a
    function or a proof fails. An exercise of a ``chapter`` has a box on its page to answer in.
    """

    name: str
    right: bool | None
    hint: str = ""
    more: str = ""
    picture: str = ""
    chapter: str = ""

    def __repr__(self) -> str:
        if self.right is None:
            return f'Exercise "{self.name}": no answer yet.{f" {self.hint}." if self.hint else ""}'
        if self.right:
            return f'Exercise "{self.name}": {self.hint or "right."}'
        further = " (A second hint: check(...).more)" if self.more else ""
        shown = f"\n{self.picture}" if self.picture else ""
        stop = "" if self.hint.endswith("?") else "."
        return f'Exercise "{self.name}": not yet. Hint: {self.hint}{stop}{further}{shown}'

    def _repr_html_(self) -> str | None:
        if self.right is None and self.chapter:
            name = html.escape(self.name)
            place = f'data-chapter="{self.chapter}" data-name="{name}"'
            return f'<p class="adalib-answer" {place}>No answer yet.</p>'
        if not self.picture:
            return None
        verdict, _, picture = repr(self).partition("\n")
        return f"<p>{html.escape(verdict)}</p><pre>{html.escape(picture)}</pre>"


class Checker:
    """``check(name, answer)`` for some exercises: practice with hints, without marks."""

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
            fault = exercise.fault(listed(answer))
        except Exception as error:  # an answer can be any object; an error becomes a hint
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            fault = f"your answer could not be read: {kind}{error}"
        if fault is None or isinstance(fault, Holds):
            return Checked(name, True, fault.hint if fault else "")
        if isinstance(fault, Unanswered):
            return Checked(name, None, fault.hint, chapter=self.chapter)
        hint, picture = fault if isinstance(fault, Fault) else (fault, "")
        return Checked(name, False, hint, exercise.more, picture)


def checks(chapter: str) -> Checker:
    """A chapter's ``check``.

    >>> check = checks("test")
    >>> check("thrift", None)
    Exercise "thrift": no answer yet. The tolerance is 0.001.
    >>> check("thrift", 0.55 - 0.528), check("thrift", 0.05).hint
    (Exercise "thrift": right., 'that compares with one answer for everyone, which costs 1')
    """
    exercises: dict[str, Exercise] = {
        name: Value(name, **about) for name, about in _values(chapter).items()
    }
    exercises |= {name: exercise for (place, name), exercise in JUDGED.items() if place == chapter}
    return Checker(exercises, chapter)


def value_exercises() -> dict[str, dict[str, dict[str, Any]]]:
    """What is known of the value exercises, by chapter and name."""
    return {path.stem: _values(path.stem) for path in sorted(ANSWERS.glob("*.json"))}


@cache
def _values(chapter: str) -> dict[str, dict[str, Any]]:
    """Those of a chapter, by name; its notebook reads no other's."""
    file = ANSWERS / f"{chapter}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
