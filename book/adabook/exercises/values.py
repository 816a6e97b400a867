"""Exercises whose answer is one number or one name, with typical mistakes by their hints.

``exercises.js`` compares in the same way on the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

_EXACT = 1e-6  # the tolerance of an answer that has to be exact
_MOST_ROUNDED = 60  # a number that is off by more tolerances than this is not called close


@dataclass(frozen=True)
class Value:
    """An exercise: its answer, two hints, its tolerance, and typical mistakes by their hints.

    >>> half = Value("half", 0.5, "think of a coin", "", 1e-3, {"that is one more": 1.5})
    >>> half.fault("1/2"), half.fault(1.5), half.fault(7)
    (None, 'that is one more', 'think of a coin')
    >>> half.fault("half")
    'that is not a number; give one, such as 0.875 or 7/8'
    """

    name: str
    answer: float | str
    hint: str
    more: str = ""
    tolerance: float = 0.0
    wrong: Mapping[str, float | str] = field(default_factory=dict)
    points = 1  # what a right answer is worth, here and in the other kinds of exercise

    def fault(self, answer: Any) -> str | None:
        """Return None for a right answer, else the typical mistake that it is, else the hint."""
        if self._is(answer, self.answer):
            return None
        is_number = not isinstance(self.answer, str)
        if is_number and _is_pair(answer):
            whole, part = answer
            return f"{whole},{part} is a pair of numbers in Python; write a point: {whole}.{part}"
        if is_number and math.isnan(as_number(answer)):
            return "that is not a number; give one, such as 0.875 or 7/8"
        named = next((hint for hint, value in self.wrong.items() if self._is(answer, value)), None)
        if not is_number:
            return named or self.hint
        return (
            self._rounded(answer, 0.01)
            or named
            or self._rounded(answer)
            or self._slip(answer)
            or self.hint
        )

    def _is(self, answer: Any, value: float | str) -> bool:
        """Whether an answer is this value, within the tolerance."""
        if isinstance(value, str):
            return as_name(answer) == as_name(value)
        # Half of a millionth of the tolerance forgives the last digit of a float.
        return abs(as_number(answer) - value) <= (self.tolerance or _EXACT) * (1 + 5e-7)

    def _rounded(self, answer: Any, most: float = math.inf) -> str | None:
        """Return the hint for a right number with too few digits: half a unit is open."""
        number = as_number(answer)
        written = answer.strip() if isinstance(answer, str) else repr(number)
        digits = re.fullmatch(r"[+-]?\d*(?:[.,](\d+)(%?)|%)", written)
        if not digits or not number or isinstance(self.answer, str):
            return None
        within = self.tolerance or _EXACT
        half = 0.5 * 10.0 ** -(len(digits[1] or "") + 2 * written.endswith("%"))
        is_rough = within / 2 < half < min(most, _MOST_ROUNDED * within)
        if is_rough and abs(number - float(self.answer)) <= half + within:
            shown = np.format_float_positional(within, trim="-")
            return f"close, but rounded too much; the tolerance is {shown}"
        return None

    def _slip(self, answer: Any) -> str | None:
        """What is the matter with a number that is right but for how it is written."""
        number = as_number(answer)
        if not math.isfinite(number) or self._is(0, self.answer):
            return None
        if self._is(-number, self.answer):
            return "the sign is reversed"
        if self._is(number / 100, self.answer):
            return "that is a percentage; write a % sign after it, or give the share"
        if isinstance(answer, str) and "," in answer and self._is(number / 1000, self.answer):
            return "three digits after a comma are read as thousands; write a decimal point"
        return None


def _is_pair(answer: Any) -> bool:
    """Whether this is what ``mine = 0,76`` makes: two whole numbers.

    >>> _is_pair((0, 76)), _is_pair((0.5, 1)), _is_pair([1])
    (True, False, False)
    """
    return isinstance(answer, (tuple, list)) and [type(one) for one in answer] == [int, int]


def as_number(answer: Any) -> float:
    """Read a number, the only entry of an array, or a text such as "7/8" or "87.5%"; else NaN.

    A comma that can only be a decimal one is read so: "0,676" and "2,75", and not "1,024".

    >>> as_number([0.875]), as_number("7/8"), as_number("87.5 %")
    (0.875, 0.875, 0.875)
    >>> as_number("1,024"), as_number("many")
    (1024.0, nan)
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
