"""Exercises that are judged by what an answer does: an object with a property, a function, or a proof.

A function is tried on nasty and random inputs against brute force. A proof is a chain of lines, each no larger than the
next, with a sentence between two that says why; a line is a function of the objects that it names. What comes back is
the smallest input on which an answer fails. Numbers do not prove a step; but a false step falls at once, and so does a
chain that only mixes the sides of its claim. An answer that does everywhere what a known mistake does is told so.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from adalib.teach.exercises.cases import (
    Broken,
    Case,
    Inputs,
    Late,
    apply,
    described,
    limited,
    shrunk,
)

__all__ = [
    "Build",
    "Construction",
    "Fault",
    "Proof",
    "Value",
    "as_name",
    "as_number",
    "hashed",
    "same",
    "value",
]

_CASES = 200  # on which a function is tried
_PROOF_CASES = 2000
_ALIKE = 60  # cases on which a function or a line must agree with a known one
_SECONDS = 20.0
_PROOF_SECONDS = 30.0
_ROUNDING = 1e-9

Line = Callable[..., Any]


class Fault(NamedTuple):
    """What is wrong with an answer: a hint, and the smallest case that shows it."""

    hint: str
    picture: str = ""


class Construction(NamedTuple):
    """An exercise with many right answers: ``fault`` looks at the reader's own object and says what it still lacks."""

    fault: Callable[[Any], str | None]
    more: str


def same(got: Any, best: Any, case: Case | None = None) -> str | None:
    """Compare what a function returned with what is best: None if they agree, else what differs.

    >>> same([1, 2], np.array([1.0, 2.0])), same([1], [1, 2]), same("x", 2.0)
    (None, 'it returned 1 entry instead of 2', "it returned 'x', which is no number")
    """
    if best is None or got is None:
        return None if got is best else f"it returned {got!r}"
    try:
        values, wanted = np.asarray(got, dtype=float), np.asarray(best, dtype=float)
    except (TypeError, ValueError):
        return (
            f"it returned {got!r}, which is no number"
            if np.ndim(best) == 0
            else f"it returned {got!r}"
        )
    if values.size != wanted.size:
        return f"it returned {values.size} {'entry' if values.size == 1 else 'entries'} instead of {wanted.size}"
    close = np.isclose(values.ravel(), wanted.ravel(), rtol=1e-6, atol=1e-8)
    return None if close.all() else "it is not the best here"


class Build(NamedTuple):
    """An exercise whose answer is a function: its inputs, the same by brute force, two hints, and typical mistakes.

    The mistakes are functions too, by what each is called. ``judge(got, best, case)`` says what is wrong, or None;
    ``picture(got, best, case)`` draws a case, where listing its values is not enough.

    >>> numbers = Inputs(lambda rng: {"x": rng.normal(size=3)}, {"x": ("place",)})
    >>> largest = Build(numbers, max, "compare them all", "max does it", {"that is the smallest": min})
    >>> largest.fault(lambda x: sorted(x)[-1]) is None, largest.fault(min).hint
    (True, 'that is the smallest')
    """

    inputs: Inputs
    best: Callable[..., Any]
    hint: str
    more: str
    mistakes: Mapping[str, Callable[..., Any]]
    judge: Callable[[Any, Any, Case], str | None] = same
    picture: Callable[[Any, Any, Case], str] | None = None

    def fault(self, function: Any) -> Fault | str | None:
        """None for a right function, else its mistake and the smallest input that shows it."""
        if not callable(function):
            return "give the function itself, without calling it"
        now: Case = {}  # the input at work, to be shown if time runs out

        def fails(case: Case) -> bool:
            now.clear()
            now.update(case)
            return self._wrong(function, case) is not None

        try:
            with limited(_SECONDS):
                case = next(filter(fails, self.inputs.cases(_CASES)), None)
                return (
                    None
                    if case is None
                    else self._shown(function, shrunk(case, self.inputs, fails))
                )
        except Late:
            return Fault(
                f"after {_SECONDS:g} seconds it was still at work; does its loop end",
                described(now),
            )

    def empty(self, function: Any) -> bool:
        """Whether a function is still the one that was handed out, which returns nothing."""
        case = next(self.inputs.cases(1))
        try:
            with limited(_SECONDS):
                return (
                    callable(function)
                    and apply(function, case) is None
                    and apply(self.best, case) is not None
                )
        except (Broken, Late):
            return False

    def _shown(self, function: Callable[..., Any], case: Case) -> Fault:
        what = self._wrong(function, case) or ""
        try:
            got = apply(function, case)
        except Broken:
            return Fault(what, described(case))
        named = next(
            (name for name, wrong in self.mistakes.items() if self._alike(function, wrong)), None
        )
        best = apply(self.best, case)
        drawn = (
            self.picture(got, best, case) if self.picture else described(case, yours=got, best=best)
        )
        return Fault(named or f"{what}; {self.hint}", drawn)

    def _wrong(self, function: Callable[..., Any], case: Case) -> str | None:
        """What is wrong with a function on one input."""
        best = apply(self.best, case)
        try:
            got = apply(function, case)
        except Broken as broken:
            return str(broken)
        if got is None and best is not None:
            return "it returned nothing; does it end with return"
        try:
            return self.judge(got, best, case)
        except (TypeError, ValueError, IndexError):
            return f"it returned {got!r}"

    def _alike(self, function: Callable[..., Any], wrong: Callable[..., Any]) -> bool:
        """Whether a function does what a known mistake does, everywhere that was tried."""
        try:
            cases = self.inputs.first(_ALIKE)
            return all(same(apply(function, case), apply(wrong, case)) is None for case in cases)
        except Broken:
            return False


class Proof(NamedTuple):
    """An exercise whose answer is a chain of lines ``first <= ... <= last``, with a sentence between each two.

    ``objects`` makes from an input all that a line may name. Any road will do whose every step holds and that has, on
    the way, ``ideas`` lines with something new (`_new`; 0 where the idea is to write a side in another form); a shorter
    one is told ``jump``. ``mistakes`` are lines typically written. No sentence is judged, but none may be missing.

    >>> numbers = Inputs(lambda rng: {"a": float(rng.random()), "b": float(rng.random())}, {})
    >>> claim = Proof(numbers, dict, lambda a, b: 0.0, lambda a, b: a + b, "where is a alone", "", "", {})
    >>> claim.fault([lambda a: 0 * a, "a is no less", lambda a: a, "nor is b", lambda a, b: a + b]) is None
    True
    >>> claim.fault([lambda a: 0 * a, lambda a, b: a - b, lambda a, b: a + b]).hint[:13]
    'step 1 breaks'
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

    def fault(self, chain: Any) -> Fault | str | None:
        """None for a chain that holds, passes all it must and gives its reasons, else the first step that fails."""
        lines = (
            [part for part in chain if not isinstance(part, str)]
            if isinstance(chain, Sequence)
            else []
        )
        if len(lines) < 2 or not all(map(callable, lines)):
            return "give a list of lines, each a function such as lambda acc, lam: ..."
        known = set(self.objects(next(self.inputs.cases(1))))
        for number, line in enumerate(lines, 1):
            unknown = set(inspect.signature(line).parameters) - known
            if unknown:
                return f"line {number} names {', '.join(sorted(unknown))}; the objects are {', '.join(sorted(known))}"
        try:
            with limited(_PROOF_SECONDS):
                return self._tried(lines) or _unexplained(chain)
        except Late:
            return f"after {_PROOF_SECONDS:g} seconds a line was still at work"

    def _tried(self, chain: list[Line]) -> Fault | str | None:
        broken = (
            (case, place)
            for case in self.inputs.cases(_PROOF_CASES)
            if (place := self._breaks(chain, case))
        )
        case, place = next(broken, ({}, None))
        if place is None:
            return None if len(chain) > 2 and self._new(chain[1:-1]) >= self.ideas else self.jump

        def breaks_there(smaller: Case) -> bool:
            # The same step must break in the smaller case too: another one would be another story.
            found = self._breaks(chain, smaller)
            return found is not None and found[0] == place[0]

        case = shrunk(case, self.inputs, breaks_there)
        _, what = self._breaks(chain, case) or place
        named = next(
            (said for said, wrong in self.mistakes.items() if self._has(chain, wrong)), None
        )
        return Fault(f"{what}; {named or self.hint}", described(self.objects(case)))

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
            claimed = _evaluated(line, objects)
            if abs(values[number - 1] - claimed) > _ROUNDING:
                said = f"the {name} line is {values[number - 1]:.4g} here, and that side of the claim is {claimed:.4g}"
                return -number, said
        for step, (low, high) in enumerate(pairwise(values), 1):
            if low > high + _ROUNDING:
                return (
                    step,
                    f"step {step} breaks: line {step} is {low:.4g} and line {step + 1} is {high:.4g}",
                )
        return None

    def _new(self, lines: list[Line]) -> int:
        """How many different lines name an object that no side of the claim names, or are no mix of the two sides."""
        cases = [self.objects(case) for case in self.inputs.first(_ALIKE)]
        sides = np.array(
            [[1.0, _evaluated(self.first, one), _evaluated(self.last, one)] for one in cases]
        )
        claimed = _used(self.first, cases) | _used(self.last, cases)
        found = set()
        for line in lines:
            values, names = np.array([_evaluated(line, one) for one in cases]), _used(line, cases)
            mix = sides @ np.linalg.lstsq(sides, values)[0]
            if names - claimed or not np.allclose(values, mix, rtol=0, atol=_ROUNDING):
                found.add((*values.round(9), *sorted(names)))
        return len(found)

    def _has(self, chain: list[Line], wrong: Line) -> bool:
        """Whether one of the lines is this one in every case that was tried."""
        cases = [self.objects(case) for case in self.inputs.first(_ALIKE)]
        return any(
            all(abs(_or_nan(line, one) - _or_nan(wrong, one)) <= _ROUNDING for one in cases)
            for line in chain
        )


def _used(line: Line, cases: Sequence[Mapping[str, Any]]) -> set[str]:
    """The objects that a line works with, not only names: in some case it has no value without them."""
    without = {
        name: [{**one, name: one[name] * np.nan} for one in cases]
        for name in inspect.signature(line).parameters
    }
    return {
        name
        for name, spoilt in without.items()
        if any(math.isnan(_or_nan(line, one)) for one in spoilt)
    }


def _unexplained(chain: Sequence[Line | str]) -> str | None:
    """What to say to a chain with a step that has no sentence, between its two lines, in which a word stands."""
    lines = [callable(part) for part in chain if callable(part) or re.search(r"\w", part)]
    step = next(
        (sum(lines[:after]) for after in range(1, len(lines)) if lines[after - 1] and lines[after]),
        None,
    )
    return (
        f"the lines hold; now say why step {step} does, in a sentence in quotes between its lines"
        if step
        else None
    )


def _evaluated(line: Line, objects: Mapping[str, Any]) -> float:
    """What a line comes to, given the objects that it names."""
    number = np.asarray(
        apply(line, {name: objects[name] for name in inspect.signature(line).parameters})
    )
    if number.size != 1 or number.dtype.kind not in "biuf" or not np.isfinite(number.item()):
        raise Broken(f"it is {number!r}, not one number")
    return float(number.item())


def _or_nan(line: Line, objects: Mapping[str, Any]) -> float:
    try:
        return _evaluated(line, objects)
    except Broken:
        return math.nan


# Numbers and names

_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_EXACT = 1e-6  # the tolerance of an answer that has to be exact

Key = dict[str, Any]


class Value(NamedTuple):
    """What is kept of an exercise: keys of the right answer and of typical wrong ones, each with what is said to it.

    ``hint`` is said to any other answer, ``more`` is the second hint; the name of the exercise salts the hashes.
    """

    name: str
    key: Key
    hint: str
    more: str
    tolerance: float
    wrong: list[Key]

    def fault(self, answer: Any) -> str | None:
        """None for a right answer, else the typical mistake that it is, else the hint."""
        if self._opens(self.key, answer):
            return None
        if "step" in self.key and math.isnan(as_number(answer)):
            return "that is no number; give one, such as 0.875 or 7/8"
        named = next((key["said"] for key in self.wrong if self._opens(key, answer)), None)
        return (
            self._rounded(answer, 0.01)
            or named
            or self._rounded(answer)
            or self._slip(answer)
            or self.hint
        )

    def _rounded(self, answer: Any, most: float = math.inf) -> str | None:
        """What to say to the right number with too few digits: they leave half a unit of the last one open."""
        number, step = as_number(answer), self.key.get("step", math.inf)
        written = answer.strip() if isinstance(answer, str) else repr(number)
        digits = re.fullmatch(r"[+-]?\d*(?:[.,](\d+)(%?)|%)", written)
        half = (
            0.5 * 10.0 ** -(len(digits[1] or "") + 2 * written.endswith("%"))
            if digits and number
            else 0.0
        )
        cells = (
            range(-round(half / step), round(half / step) + 1)
            if step < half < min(most, 500 * step)
            else ()
        )
        if any(self._opens(self.key, number + cell * step) for cell in cells):
            within = np.format_float_positional(self.tolerance or _EXACT, trim="-")
            return f"near, but rounded too far; a number counts within {within}"
        return None

    def _slip(self, answer: Any) -> str | None:
        """What is the matter with a number that is right but for how it is written."""
        number = as_number(answer)
        if "step" not in self.key or not math.isfinite(number) or self._opens(self.key, 0):
            return None
        if self._opens(self.key, -number):
            return "the sign is turned round"
        if self._opens(self.key, number / 100):
            return "that is a percentage; write a % sign after it, or give the share"
        if isinstance(answer, str) and "," in answer and self._opens(self.key, number / 1000):
            return "three digits after a comma are read as thousands; write a decimal point"
        return None

    def _opens(self, key: Key, answer: Any) -> bool:
        if "step" not in key:
            return hashed(f"{self.name}:{as_name(answer)}") in key["right"]
        cell = as_number(answer) / key["step"] + 0.5
        return math.isfinite(cell) and hashed(f"{self.name}:{math.floor(cell)}") in key["right"]


def value(
    name: str,
    answer: Any,
    hint: str,
    more: str = "",
    tolerance: float = 0.0,
    wrong: Mapping[str, Any] | None = None,
) -> Value:
    """Keep an exercise: its answer, how far off still counts, two hints, and typical mistakes by what is said to them.

    >>> half = value("half", 0.5, "think of a coin", tolerance=1e-3, wrong={"that is one more": 1.5})
    >>> half.fault("1/2"), half.fault(1.5), half.fault(7), half.fault("half")
    (None, 'that is one more', 'think of a coin', 'that is no number; give one, such as 0.875 or 7/8')
    """
    mistakes = [
        {**_key(name, mistake, tolerance), "said": said} for said, mistake in (wrong or {}).items()
    ]
    return Value(name, _key(name, answer, tolerance), hint, more, tolerance, mistakes)


def _key(name: str, answer: Any, tolerance: float) -> Key:
    """The cells, or the text, that count as this answer, as hashes."""
    if isinstance(answer, str):
        return {"right": [hashed(f"{name}:{as_name(answer)}")]}
    within = tolerance or _EXACT
    step = within / 2
    first, last = (math.floor((float(answer) + end) / step + 0.5) for end in (-within, within))
    return {"step": step, "right": [hashed(f"{name}:{cell}") for cell in range(first, last + 1)]}


def hashed(text: str) -> str:
    """The FNV-1a hash of a text, 64 bits in hexadecimal.

    >>> hashed("a")
    'af63dc4c8601ec8c'
    """
    number = _OFFSET
    for byte in text.encode():
        number = (number ^ byte) * _PRIME & _MASK
    return f"{number:016x}"


def as_number(answer: Any) -> float:
    """Read a number: a plain one, the only entry of an array, or a text such as "7/8", "87.5%" or "1,024"; else NaN.

    A comma that can only be a decimal one is read so: "0,676" and "2,75", and not "1,024".

    >>> as_number([0.875]), as_number("7/8"), as_number("87.5 %"), as_number("1,024"), as_number("many")
    (0.875, 0.875, 0.875, 1024.0, nan)
    >>> as_number("0,676"), as_number("-2,75")
    (0.676, -2.75)
    """
    try:
        if isinstance(answer, Fraction):
            return float(answer)
        entry = np.asarray(answer).item()  # fails where there are several
        if not isinstance(entry, str):
            return float(entry)
        text = re.sub(r"\s", "", entry).replace("\N{MINUS SIGN}", "-")
        comma = re.fullmatch(r"([+-]?)(\d*),(\d+)(%?)", text)
        if comma and (len(comma[3]) != 3 or not int(comma[2] or 0)):
            text = text.replace(",", ".")
        text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
        top, _, bottom = text.removesuffix("%").partition("/")
        return float(top) / float(bottom or 1) / (100 if text.endswith("%") else 1)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError, AttributeError):
        return math.nan


def as_name(answer: Any) -> str:
    """Read a name: without quotes, capitals and spaces at the ends.

    >>> as_name(" 'Word-Trees' "), as_name(np.array(["word-trees"]))
    ('word-trees', 'word-trees')
    """
    if not isinstance(answer, str):
        values = np.asarray(answer, dtype=object)
        answer = str(values.item()) if values.size == 1 else str(answer)
    return " ".join(answer.strip().strip("\"'`").lower().split())
