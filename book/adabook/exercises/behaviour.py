"""Exercises judged by what an answer does: an object with a property, a function, or a proof.

A function is tried on nasty and random inputs against brute force. A proof is a chain of lines,
each no larger than the next; a line is a function of the objects that it names. The reader gets
back the smallest input on which the answer fails. Numbers do not prove a step, but they refute a
false one at once. A chain also needs something that does not merely combine the two sides of its
claim. An answer that agrees with a known mistake on every input is told the name of that mistake.
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

from adabook import plain_data
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
_ALIKE = 60  # cases on which a function or a line must agree with a known one
_MOVES = (-8.0, -2.0, -0.5, 0.01, 0.5, 2.0, 8.0)  # to find where the two sides of a claim are equal
_OWN = 0.03  # the share of cases on which a line with an idea differs from its claim
_ROUNDING = 1e-9

Line = Callable[..., Any]


class Fault(NamedTuple):
    """What is wrong with an answer: a hint, and the smallest case that shows it."""

    hint: str
    picture: str = ""


class Unanswered(NamedTuple):
    """The function is still the one that was handed out, so there is nothing to judge."""

    hint: str


@dataclass(frozen=True)
class Construction:
    """An exercise with many right answers: ``judge`` says what the reader's object still lacks."""

    judge: Callable[[Any], str | None]
    more: str

    def fault(self, answer: Any) -> Fault | Unanswered | str | None:
        """Return None for an object with the property, else what it lacks."""
        mine = Stopwatch(SECONDS).around(answer) if callable(answer) else answer
        return _unless_late(lambda: self.judge(mine))


def same(got: Any, best: Any, case: Case | None = None) -> str | None:
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
    close = np.isclose(values.ravel(), wanted.ravel(), rtol=1e-6, atol=1e-8)
    return None if close.all() else "its result is not the best here"


@dataclass(frozen=True)
class Build:
    """An exercise whose answer is a function, judged against brute force.

    ``mistakes`` are functions too, by the name of each mistake. ``judge(got, best, case)`` says
    what is wrong, or None; ``picture(got, best, case)`` draws a case where a list of its values is
    not enough.

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
    judge: Callable[[Any, Any, Case], str | None] = same
    picture: Callable[[Any, Any, Case], str] | None = None

    def fault(self, function: Any) -> Fault | Unanswered | str | None:
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
        draw = self.picture or (lambda got, best, case: described(case, yours=got, best=best))
        return Fault(named or f"{what}; {self.hint}", draw(got, best, case))

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
            return self.judge(got, best, case)
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

    ``objects`` makes from an input all that a line may name. Any road will do whose every step
    holds and that brings in ``ideas``: lines on the way, or sums on the way to a line, that do not
    merely combine the two sides. A chain without them is told ``jump``. ``mistakes`` are lines
    typically written. Sentences between the lines are welcome, but they are not judged.

    >>> def draw(rng):
    ...     a, b, c = np.sort(rng.random(3)).tolist()
    ...     return {"a": a, "b": b, "c": c}
    >>> claim = Proof(Inputs(draw, {}), dict, lambda a: a, lambda c: c, "where is b", "", "", {})
    >>> claim.fault([lambda a: a, "b is no less", lambda b: b, "nor is c", lambda c: c]) is None
    True
    >>> claim.fault([lambda a: a, lambda a, b, c: (1 - b) * a + b * c, lambda c: c])
    'where is b'
    """

    inputs: Inputs
    objects: Callable[[Case], dict[str, Any]]
    first: Line
    last: Line
    jump: str
    hint: str
    more: str
    mistakes: Mapping[str, Line]
    ideas: int = 1

    def fault(self, chain: Any) -> Fault | Unanswered | str | None:
        """Return None for a chain that holds, else the first step that fails."""
        parts = chain if isinstance(chain, Sequence) else []
        lines = [part for part in parts if not isinstance(part, str)]
        if len(lines) < 2 or not all(map(callable, lines)):
            return "give a list of lines, each a function such as lambda acc, lam: ..."
        names = set(self.objects(next(self.inputs.cases(1))))
        for number, line in enumerate(lines, 1):
            others = set(inspect.signature(line).parameters) - names
            if others:
                listed = ", ".join(sorted(others))
                return f"line {number} names {listed}; the objects are {', '.join(sorted(names))}"
        watch = Stopwatch(SECONDS)
        timed = [watch.around(line) for line in lines]
        return _unless_late(lambda: self._broken(timed))

    def _broken(self, chain: list[Line]) -> Fault | str | None:
        """Return the first step of a chain that fails, with the case that shows it."""
        breaks = (
            (case, place)
            for case in self.inputs.cases(PROOF_CASES)
            if (place := self._breaks(chain, case))
        )
        case, place = next(breaks, ({}, None))
        if place is None:
            return None if self._count_ideas(chain) >= self.ideas else self.jump

        def breaks_there(smaller: Case) -> bool:
            # The same step must break in the smaller case too: another one would be another story.
            found = self._breaks(chain, smaller)
            return found is not None and found[0] == place[0]

        case = shrunk(case, self.inputs, breaks_there)
        _, what = self._breaks(chain, case) or place
        known_mistakes = (
            name for name, mistake in self.mistakes.items() if self._has(chain, mistake)
        )
        named = next(known_mistakes, self.hint)
        return Fault(f"{what}; {named}", described(self.objects(case)))

    def _breaks(self, chain: list[Line], case: Case) -> tuple[int, str] | None:
        """The first place at which a chain does not hold: its number, and what happens there."""
        objects = self.objects(case)
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

    def _count_ideas(self, chain: list[Line]) -> int:
        """How many different lines and partial sums are more than a combination of the two sides.

        The claim links its objects: the oracle is the oracle of these accuracies at this price. We
        change every object by itself, which cuts the links, until both sides are equal. Whatever
        combines the sides, with any weights, then equals them, and so proves nothing.
        """

        def on_level(line: Line) -> np.ndarray:
            return np.array([_or_nan(line, objects) for objects in self._levelled])

        sides = on_level(self.first)
        ends = [on_level(chain[0]), on_level(chain[-1])]

        def own(lines: Sequence[Line]) -> set[tuple[float, ...]]:
            """The values of lines that are neither a combination nor a copy of the sides."""
            values = map(on_level, lines)
            return {
                tuple(one.round(6))
                for one in values
                if _differ(one, sides)
                and not any(np.array_equal(one, end) for end in ends)
                and not _is_average(one, *ends)
            }

        found = own(chain[1:-1])
        if len(found) < self.ideas:
            found |= own(self._partial_sums(chain))
        return len(found)

    @cached_property
    def _holding(self) -> list[dict[str, Any]]:
        """Objects of some cases, for which the claim holds."""
        return [self.objects(case) for case in self.inputs.first(_ALIKE)]

    @cached_property
    def _levelled(self) -> list[dict[str, Any]]:
        """Objects without their links, moved to where both sides of the claim are equal."""
        rng = np.random.default_rng(1)
        level = []
        for objects in self._holding:
            columns = [np.shape(value)[1] for value in objects.values() if np.ndim(value) == 2]
            cut = {name: _changed(value, columns, rng) for name, value in objects.items()}
            for name in rng.permutation([name for name in cut if _is_real(cut[name])] * 3):
                moved = self._level(cut, str(name), rng)
                if moved is not None:
                    level.append(moved)
                    break
        return level

    def _level(
        self, objects: Mapping[str, Any], name: str, rng: np.random.Generator
    ) -> dict[str, Any] | None:
        """The objects with one of them moved until both sides are equal, or None."""
        direction = rng.uniform(-1, 1, np.shape(objects[name]))

        def moved(far: float) -> dict[str, Any]:
            value = objects[name] + far * direction
            return {**objects, name: value if np.ndim(value) else float(value)}

        def lead(far: float) -> float:
            return _or_nan(self.last, moved(far)) - _or_nan(self.first, moved(far))

        for (near, lead_near), (far, lead_far) in pairwise((move, lead(move)) for move in _MOVES):
            if lead_near * lead_far < 0:
                root = _root(lead, near, far)
                found = moved(root)
                # A choice may jump, and a negative price is no case at all.
                if abs(lead(root)) < _ROUNDING and (np.ndim(found[name]) or found[name] >= 0):
                    return found
        return None

    def _partial_sums(self, chain: list[Line]) -> list[Line]:
        """What is left of a line without one of its summands, if that is a step on the way to it.

        Who adds two inequalities in one line has written two steps.
        """
        found: list[Line] = []
        for before, line in pairwise(chain):
            for place in range(len(_summands(line, self._holding[0]))):
                rest = _without(line, place)
                if all(
                    _or_nan(before, objects) - _ROUNDING
                    <= _or_nan(rest, objects)
                    <= _or_nan(line, objects) + _ROUNDING
                    for objects in self._holding
                ):
                    found.append(rest)
        return found

    def _has(self, chain: list[Line], mistake: Line) -> bool:
        """Whether one of the lines is this one in every case that was tried."""
        return any(
            all(
                abs(_or_nan(line, objects) - _or_nan(mistake, objects)) <= _ROUNDING
                for objects in self._holding
            )
            for line in chain
        )


def _root(lead: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign between two places, by halving."""
    at_low = lead(low)
    for _ in range(60):
        middle = (low + high) / 2
        if lead(middle) * at_low > 0:
            low = middle
        else:
            high = middle
    return high


def _differ(values: np.ndarray, sides: np.ndarray) -> bool:
    """Whether a line has values of its own where both sides are equal, on most cases."""
    return np.mean(abs(values - sides) > 1e-6 * (1 + abs(sides))) > _OWN


def _is_average(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> bool:
    """Whether a line is the same weighted average of two others in every case.

    Who writes the sides of a claim with other objects than we do has sides that differ where ours
    are equal, and so has their average.
    """
    apart = abs(last - first) > 1e-6 * (1 + abs(first))
    if apart.sum() < 2:
        return False
    weights = (values - first)[apart] / (last - first)[apart]
    inside = 1e-6 < weights[0] < 1 - 1e-6  # else it is one of the two, written in another way
    return bool(inside and np.ptp(weights) < 1e-6)


def _summands(line: Line, objects: Mapping[str, Any]) -> list[float]:
    """The numbers that a line adds up; none where it has no value."""
    values = [objects[name] for name in _parameters(line)]
    try:
        if hasattr(line, "parts"):  # the line runs in another process
            return line.parts(*values)
        return plain_data.parts(line, values)
    except Exception:  # a reader's function may do anything
        return []


def _without(line: Line, place: int) -> Line:
    """A line less one of its summands."""
    signature = inspect.signature(line)

    def rest(*values: Any) -> float:
        objects = dict(zip(signature.parameters, values, strict=True))
        added = _summands(line, objects)
        return _evaluated(line, objects) - added[place] if place < len(added) else math.nan

    rest.__signature__ = signature  # type: ignore[attr-defined]
    return rest


def _is_real(value: Any) -> bool:
    """Whether an object is made of real numbers, which can be scaled."""
    return np.asarray(value).dtype.kind == "f"


def _changed(value: Any, columns: Sequence[int], rng: np.random.Generator) -> Any:
    """Return another value of the same kind: numbers within a factor of two, or other labels."""
    if _is_real(value):
        scaled = np.asarray(value) * rng.uniform(0, 2, np.shape(value))
        return scaled if np.ndim(value) else float(scaled)
    if np.ndim(value):
        return rng.integers(0, columns[0], np.shape(value))
    return int(rng.integers(1, max(value, 1) + 1))


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


def _unless_late(
    judge: Callable[[], Any], picture: Callable[[], str] = lambda: ""
) -> Fault | Unanswered | str | None:
    """What ``judge`` finds, in silence, or a hint once the reader's time is up."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # hundreds of calls print nothing
            return judge()
    except Late:
        hint = f"it was still running after {SECONDS:g} seconds; does its loop end"
        return Fault(hint, picture())
