"""Exercises judged by what an answer does: an object with a property, a function, or a proof.

A function is tried on nasty and random inputs against brute force. A proof is a chain of lines,
each no larger than the next; a line is a function of the objects that it names. The reader gets
back the smallest input on which the answer fails. Numbers refute a false step at once, and prove
none: a proof is commented on here and marked by a person. An answer that agrees with a known
mistake on every input is told the name of that mistake.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from adabook.exercises.cases import (
    Broken,
    Case,
    Inputs,
    Late,
    Stopwatch,
    apply,
    described,
    shrunk,
)

#: A reader's functions may work for so many seconds in all; the hint to one that was stopped names
#: them.
SECONDS = 20.0

_CASES = 200  # on which a function is tried
PROOF_CASES = 2000  # on which every step of a proof is tried
#: What is said of a proof in which nothing is wrong.
HOLDS = "every step holds in all cases that were tried. Is each one argued, in words?"
_ALIKE = 60  # cases on which a function or a line must agree with a known one
_ROUNDING = 1e-9

Line = Callable[..., Any]


class Fault(NamedTuple):
    """What is wrong with an answer: a hint, and the smallest case that shows it."""

    hint: str
    picture: str = ""


class Holds(NamedTuple):
    """Every step of a proof holds where it was tried; the hint says what that does not mean."""

    hint: str


class Unanswered(NamedTuple):
    """The function is still the one that was handed out, so there is nothing to judge."""

    hint: str


#: What an exercise says of an answer; None of one that is right.
Verdict = Fault | Holds | Unanswered | str | None


@dataclass(frozen=True)
class Construction:
    """An exercise with many right answers: ``judge`` says what the reader's object still lacks."""

    judge: Callable[[Any], str | None]
    more: str
    points = 2

    def fault(self, answer: Any) -> Verdict:
        """Return None for an object with the property, else what it lacks."""
        mine = Stopwatch(SECONDS).around(answer) if callable(answer) else answer
        return _unless_late(lambda: self.judge(mine))


def same(got: Any, best: Any, **_: Any) -> str | None:
    """Compare what a function returned with what is best: None if they agree, else what differs.

    >>> same([1, 2], np.array([1.0, 2.0])), same([1], [1, 2]), same("x", 2.0)
    (None, 'it returned 1 entry instead of 2', "it returned 'x', which is not a number")
    """
    if best is None or got is None:
        return None if got is best else f"it returned {got!r}"
    try:
        values = np.asarray(got, dtype=float)
        wanted = np.asarray(best, dtype=float)
    except (TypeError, ValueError):
        kind = ", which is not a number" if np.ndim(best) == 0 else ""
        return f"it returned {got!r}{kind}"
    if values.size != wanted.size:
        entries = "entry" if values.size == 1 else "entries"
        return f"it returned {values.size} {entries} instead of {wanted.size}"
    close = np.isclose(values.ravel(), wanted.ravel(), rtol=1e-6, atol=1e-6)  # six digits will do
    return None if close.all() else "its result is not the best here"


@dataclass(frozen=True)
class Build:
    """An exercise whose answer is a function, judged against brute force.

    ``mistakes`` are functions too, by the name of each mistake. ``judge(got, best, **case)``
    says what is wrong, or None; ``picture(got, best, **case)`` draws a case where a list of its
    values is not enough.

    >>> numbers = Inputs(lambda rng: {"x": rng.normal(size=3)}, {"x": ("place",)})
    >>> mistakes = {"that is the smallest": min}
    >>> largest = Build(numbers, max, "compare them all", "one pass is enough", mistakes)
    >>> largest.fault(lambda x: sorted(x)[-1]) is None, largest.fault(min).hint
    (True, 'that is the smallest')
    """

    inputs: Inputs
    brute_force: Callable[..., Any]
    hint: str
    more: str
    mistakes: Mapping[str, Callable[..., Any]]
    judge: Callable[..., str | None] = same
    picture: Callable[..., str] | None = None
    points = 3

    def fault(self, function: Any) -> Verdict:
        """Return None for a right function, else its mistake and a smallest failing input."""
        if not callable(function):
            return "give the function itself, without calling it"
        function = Stopwatch(SECONDS).around(function)
        now: Case = {}  # the input at work, to be shown if time runs out

        def fails(case: Case) -> bool:
            now.clear()
            now.update(case)
            return self._wrong(function, case) is not None

        def judged() -> Fault | Unanswered | None:
            now.update(next(self.inputs.cases(1)))
            if self._returns_nothing(function, now):
                return Unanswered("Your function does not return anything yet")
            case = next(filter(fails, self.inputs.cases(_CASES)), None)
            if case is None:
                return None
            return self._shown(function, shrunk(case, self.inputs, fails))

        return _unless_late(judged, lambda: described(now))

    def _returns_nothing(self, function: Callable[..., Any], case: Case) -> bool:
        """Whether a function returns nothing where something is to be returned."""
        try:
            nothing = apply(function, case) is None
        except Broken:
            return False
        return nothing and apply(self.brute_force, case) is not None

    def _shown(self, function: Callable[..., Any], case: Case) -> Fault:
        """Name the mistake of a function, and show the input on which it fails."""
        what = self._wrong(function, case) or ""
        try:
            got = apply(function, case)
        except Broken:
            return Fault(what, described(case))
        known_mistakes = (
            name for name, mistake in self.mistakes.items() if self._alike(function, mistake)
        )
        named = next(known_mistakes, None)
        best = apply(self.brute_force, case)
        if self.picture:
            picture = self.picture(got, best, **case)
        else:
            picture = described(case, yours=got, best=best)
        return Fault(named or f"{what}; {self.hint}", picture)

    def _wrong(self, function: Callable[..., Any], case: Case) -> str | None:
        """What is wrong with a function on one input."""
        best = apply(self.brute_force, case)
        try:
            got = apply(function, case)
        except Broken as broken:
            return str(broken)
        if got is None and best is not None:
            return "it returned nothing; is a return statement missing"
        try:
            return self.judge(got, best, **case)
        except (TypeError, ValueError, IndexError):
            return f"it returned {got!r}"

    def _alike(self, function: Callable[..., Any], mistake: Callable[..., Any]) -> bool:
        """Whether a function does what a known mistake does on every input that is tried."""
        try:
            cases = self.inputs.first(_ALIKE)
            return all(same(apply(function, case), apply(mistake, case)) is None for case in cases)
        except Broken:
            return False


@dataclass(frozen=True)
class Proof:
    """An exercise whose answer is a chain ``first <= ... <= last``, in any number of steps.

    ``objects(**case)`` makes from an input all that a line may name. A step that fails is shown
    with the smallest case; ``mistakes`` are lines typically written. Where every step holds, that
    is said, and no more: whether the steps are argued, a person has to read. ``jump`` asks for the
    idea where a chain has no line between its two sides.

    >>> def draw(rng):
    ...     a, b, c = np.sort(rng.random(3)).tolist()
    ...     return {"a": a, "b": b, "c": c}
    >>> claim = Proof(Inputs(draw, {}), dict, lambda a: a, lambda c: c, "where is b", "", "", {})
    >>> claim.fault([lambda a: a, "b is no less", lambda b: b, "nor is c", lambda c: c]).hint
    'every step holds in all cases that were tried. Is each one argued, in words?'
    >>> claim.fault([lambda a: a, lambda b: 2 * b, lambda c: c]).hint
    'step 2 fails: line 2 is 2 and line 3 is 1; '
    """

    inputs: Inputs
    objects: Callable[..., dict[str, Any]]
    first: Line
    last: Line
    jump: str
    hint: str
    more: str
    mistakes: Mapping[str, Line]
    points = 4

    def fault(self, chain: Any) -> Verdict:
        """Return the first step that fails, or `Holds`."""
        parts = chain if isinstance(chain, Sequence) else []
        lines = [part for part in parts if not isinstance(part, str)]
        if len(lines) < 2 or not all(map(callable, lines)):
            return "give a list of lines, each a function such as lambda acc, lam: ..."
        names = set(self.objects(**next(self.inputs.cases(1))))
        for number, line in enumerate(lines, 1):
            others = set(inspect.signature(line).parameters) - names
            if others:
                listed = ", ".join(sorted(others))
                return f"line {number} names {listed}; the objects are {', '.join(sorted(names))}"
        watch = Stopwatch(SECONDS)
        timed = [watch.around(line) for line in lines]
        return _unless_late(lambda: self._broken(timed))

    def _broken(self, chain: list[Line]) -> Fault | Holds:
        """Return the first step of a chain that fails, with the case that shows it."""
        breaks = (
            (case, place)
            for case in self.inputs.cases(PROOF_CASES)
            if (place := self._breaks(chain, case))
        )
        case, place = next(breaks, ({}, None))
        if place is None:
            return Holds(
                HOLDS if len(chain) > 2 else f"{HOLDS} One road between the sides: {self.jump}."
            )

        def breaks_there(smaller: Case) -> bool:
            # The same step must break in the smaller case too: another one would be another story.
            found = self._breaks(chain, smaller)
            return found is not None and found[0] == place[0]

        case = shrunk(case, self.inputs, breaks_there)
        _, what = self._breaks(chain, case) or place
        known_mistakes = (
            name
            for name, mistake in self.mistakes.items()
            if any(self._is(line, mistake) for line in chain)
        )
        named = next(known_mistakes, self.hint)
        return Fault(f"{what}; {named}", described(self.objects(**case)))

    def _breaks(self, chain: list[Line], case: Case) -> tuple[int, str] | None:
        """The first place at which a chain does not hold: its number, and what happens there."""
        objects = self.objects(**case)
        values = []
        for number, line in enumerate(chain, 1):
            try:
                values.append(_evaluated(line, objects))
            except Broken as broken:
                return number, f"line {number} has no value: {broken}"
        for number, name, line in ((1, "first", self.first), (len(chain), "last", self.last)):
            written = values[number - 1]
            claimed = _evaluated(line, objects)
            if abs(written - claimed) > _ROUNDING:
                what = f"the {name} line is {written:.4g} here"
                return -number, f"{what}, but that side of the claim is {claimed:.4g}"
        for step, (low, high) in enumerate(pairwise(values), 1):
            if low > high + _ROUNDING:
                what = f"line {step} is {low:.4g} and line {step + 1} is {high:.4g}"
                return step, f"step {step} fails: {what}"
        return None

    def _is(self, line: Line, other: Line) -> bool:
        """Whether a line is another one in every case that is tried."""
        return all(
            abs(_or_nan(line, objects) - _or_nan(other, objects)) <= _ROUNDING
            for objects in self._some_objects
        )

    @cached_property
    def _some_objects(self) -> list[dict[str, Any]]:
        """What a line may name, in some cases."""
        return [self.objects(**case) for case in self.inputs.first(_ALIKE)]


@lru_cache(maxsize=128)
def _parameters(line: Line) -> tuple[str, ...]:
    """The objects that a line names; it is evaluated thousands of times."""
    return tuple(inspect.signature(line).parameters)


def _evaluated(line: Line, objects: Mapping[str, Any]) -> float:
    """What a line comes to, given the objects that it names."""
    named = {name: objects[name] for name in _parameters(line)}
    number = np.asarray(apply(line, named))
    if number.size != 1 or number.dtype.kind not in "biuf" or not np.isfinite(number.item()):
        raise Broken(f"it is {number!r}, not one number")
    return float(number.item())


def _or_nan(line: Line, objects: Mapping[str, Any]) -> float:
    """What a line comes to, NaN if it has no value."""
    try:
        with np.errstate(all="ignore"):  # a changed object may have no logarithm
            return _evaluated(line, objects)
    except Broken:
        return math.nan


def _unless_late(judge: Callable[[], Any], picture: Callable[[], str] = lambda: "") -> Verdict:
    """What ``judge`` finds, in silence, or a hint once the reader's time is up."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # hundreds of calls print nothing
            return judge()
    except Late:
        hint = f"it was still running after {SECONDS:g} seconds; does its loop end"
        return Fault(hint, picture())
