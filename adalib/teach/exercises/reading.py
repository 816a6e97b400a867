"""What a person types, read as the number or the name that was meant."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["as_name", "as_number"]


def as_number(answer: Any) -> float:
    """Read a number: a plain one, the only entry of an array, or a text such as "7/8", "87.5%" or "1,024"; else NaN.

    Examples
    --------
    >>> as_number([0.875]), as_number("7/8"), as_number("87.5 %"), as_number("1,024"), as_number("many")
    (0.875, 0.875, 0.875, 1024.0, nan)
    """
    try:
        if isinstance(answer, str):
            return _from_text(answer)
        if isinstance(answer, Fraction):
            return float(answer)
        values = np.asarray(answer)
        if values.dtype.kind == "U":
            return _from_text(str(values.item()))
        return float(values.item()) if values.size == 1 else math.nan
    except (TypeError, ValueError, ZeroDivisionError, OverflowError, AttributeError):
        return math.nan


def as_name(answer: Any) -> str:
    """Read a name: without quotes, capitals and spaces at the ends.

    Examples
    --------
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
