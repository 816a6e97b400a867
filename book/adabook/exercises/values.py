"""Exercises whose answer is one number or one name, of which only slow hashes are kept.

The number line is cut into cells of half the tolerance. The record of an exercise holds the hash of
every cell that counts as right, and of those that a typical mistake lands in. A hash repeats
SHA-256 some thousand times over a salt that was drawn when the book was built, so that guessing
takes time and a list of guesses made for one build is worth nothing for another. That slows a
reader down who wants to guess all answers. It does not stop one: an answer to three digits has a
thousand candidates.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

#: How often a hash repeats SHA-256; ``exercises.js`` does the same.
ROUNDS = 4_000

_EXACT = 1e-6  # the tolerance of an answer that has to be exact
_MOST_STEPS = 120  # a number rounded further than this is not called near

Key = dict[str, Any]


class Value(NamedTuple):
    """What is kept of an exercise: keys of the right answer and of typical mistakes, and the hints.

    Each mistake has its own ``hint``. Any other answer gets the exercise's ``hint``, and ``more``
    is a second one. The ``salt`` and the name of the exercise go into every hash.
    """

    name: str
    salt: str
    key: Key
    hint: str
    more: str
    tolerance: float
    wrong: list[Key]

    def fault(self, answer: Any) -> str | None:
        """Return None for a right answer, else the typical mistake that it is, else the hint."""
        if self._opens(self.key, answer):
            return None
        if "step" in self.key and math.isnan(as_number(answer)):
            return "that is not a number; give one, such as 0.875 or 7/8"
        named = next((key["hint"] for key in self.wrong if self._opens(key, answer)), None)
        return (
            self._rounded(answer, 0.01)
            or named
            or self._rounded(answer)
            or self._slip(answer)
            or self.hint
        )

    def _rounded(self, answer: Any, most: float = math.inf) -> str | None:
        """Return the hint for a right number with too few digits: half a unit is open."""
        number = as_number(answer)
        step = self.key.get("step", math.inf)
        written = answer.strip() if isinstance(answer, str) else repr(number)
        digits = re.fullmatch(r"[+-]?\d*(?:[.,](\d+)(%?)|%)", written)
        if not digits or not number:
            return None
        half = 0.5 * 10.0 ** -(len(digits[1] or "") + 2 * written.endswith("%"))
        if not step < half < min(most, _MOST_STEPS * step):
            return None
        # Five cells in a row count as right, so looking at every fourth one misses none.
        cells = range(-round(half / step), round(half / step) + 4, 4)
        if any(self._opens(self.key, number + cell * step) for cell in cells):
            within = np.format_float_positional(self.tolerance or _EXACT, trim="-")
            return f"close, but rounded too much; the tolerance is {within}"
        return None

    def _slip(self, answer: Any) -> str | None:
        """What is the matter with a number that is right but for how it is written."""
        number = as_number(answer)
        if "step" not in self.key or not math.isfinite(number) or self._opens(self.key, 0):
            return None
        if self._opens(self.key, -number):
            return "the sign is reversed"
        if self._opens(self.key, number / 100):
            return "that is a percentage; write a % sign after it, or give the share"
        if isinstance(answer, str) and "," in answer and self._opens(self.key, number / 1000):
            return "three digits after a comma are read as thousands; write a decimal point"
        return None

    def _opens(self, key: Key, answer: Any) -> bool:
        """Whether an answer falls into one of the cells of a key, or is its name."""
        if "step" not in key:
            return hashed(f"{self.salt}:{self.name}:{as_name(answer)}") in key["right"]
        cell = as_number(answer) / key["step"] + 0.5
        if not math.isfinite(cell):
            return False
        return hashed(f"{self.salt}:{self.name}:{math.floor(cell)}") in key["right"]


def value(
    name: str,
    answer: Any,
    hint: str,
    more: str = "",
    tolerance: float = 0.0,
    wrong: Mapping[str, Any] | None = None,
    salt: str = "",
) -> Value:
    """Keep an exercise: its answer, its tolerance, two hints, and mistakes by their hint.

    Without a ``salt`` a new one is drawn.

    >>> mistakes = {"that is one more": 1.5}
    >>> half = value("half", 0.5, "think of a coin", tolerance=1e-3, wrong=mistakes)
    >>> half.fault("1/2"), half.fault(1.5), half.fault(7)
    (None, 'that is one more', 'think of a coin')
    >>> half.fault("half")
    'that is not a number; give one, such as 0.875 or 7/8'
    """
    salt = salt or secrets.token_hex(8)
    mistakes = [
        {**_key(f"{salt}:{name}", mistake, tolerance), "hint": mistake_hint}
        for mistake_hint, mistake in (wrong or {}).items()
    ]
    key = _key(f"{salt}:{name}", answer, tolerance)
    return Value(name, salt, key, hint, more, tolerance, mistakes)


def _key(salted_name: str, answer: Any, tolerance: float) -> Key:
    """The cells, or the text, that count as this answer, as hashes."""
    if isinstance(answer, str):
        return {"right": [hashed(f"{salted_name}:{as_name(answer)}")]}
    within = tolerance or _EXACT
    step = within / 2
    first, last = (math.floor((float(answer) + end) / step + 0.5) for end in (-within, within))
    hashes = [hashed(f"{salted_name}:{cell}") for cell in range(first, last + 1)]
    return {"step": step, "right": hashes}


@lru_cache(maxsize=4096)
def hashed(text: str) -> str:
    """SHA-256 of a text, repeated `ROUNDS` times; its first 16 hexadecimal digits.

    >>> hashed("a")
    'd6c0d568d1df7ec2'
    """
    digest = text.encode()
    for _ in range(ROUNDS):
        digest = hashlib.sha256(digest).digest()
    return digest.hex()[:16]


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
