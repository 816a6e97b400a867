"""Exercises whose answer is a number or a name, kept as hashes: right and wrong can be told without knowing the answer.

A number is right within a tolerance. The line of numbers is cut into cells of half the tolerance, and what is kept are
the salted hashes of the cells that are right, and of those that are typical mistakes. ``book/_static/exercises.js``
looks up what a reader typed in the same way. That hides the answer from a reader of the source, as a folded solution
does; it is no secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Value", "as_name", "as_number", "hashed", "value"]

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
        return next((key["said"] for key in self.wrong if self._opens(key, answer)), self.hint)

    def _opens(self, key: Key, answer: Any) -> bool:
        if "step" not in key:
            return hashed(f"{self.name}:{as_name(answer)}") in key["right"]
        cell = as_number(answer) / key["step"] + 0.5
        return math.isfinite(cell) and hashed(f"{self.name}:{math.floor(cell)}") in key["right"]


def value(
    name: str, answer: Any, hint: str, more: str = "", tolerance: float = 0.0, wrong: Mapping[str, Any] | None = None
) -> Value:
    """Keep an exercise: its answer, how far off still counts, two hints, and typical mistakes by what is said to them.

    Examples
    --------
    >>> half = value("half", 0.5, "think of a coin", tolerance=1e-3, wrong={"that is one more": 1.5})
    >>> half.fault("1/2"), half.fault(1.5), half.fault(7), half.fault("half")
    (None, 'that is one more', 'think of a coin', 'that is no number; give one, such as 0.875 or 7/8')
    """
    mistakes = [{**_key(name, mistake, tolerance), "said": said} for said, mistake in (wrong or {}).items()]
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

    >>> as_number([0.875]), as_number("7/8"), as_number("87.5 %"), as_number("1,024"), as_number("many")
    (0.875, 0.875, 0.875, 1024.0, nan)
    """
    try:
        if isinstance(answer, Fraction):
            return float(answer)
        entry = np.asarray(answer).item()  # fails where there are several
        return _from_text(entry) if isinstance(entry, str) else float(entry)
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


def _from_text(text: str) -> float:
    plain = re.sub(r"\s|(?<=\d),(?=\d{3}\b)", "", text).replace("\N{MINUS SIGN}", "-")
    share = plain.endswith("%")
    top, _, bottom = plain.removesuffix("%").partition("/")
    return float(top) / float(bottom or 1) / (100 if share else 1)
