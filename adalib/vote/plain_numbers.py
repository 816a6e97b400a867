r"""Numbers in plain answers: where a text has one, and its exact value as a fraction.

"1,250", "2 1/2", "\frac{5}{2}", "2.5e3" and "(1 + 2)^2 / 3" all are numbers. Values are fractions,
so that nothing is rounded: 0.1 + 0.2 is 3/10.
"""

from __future__ import annotations

import ast
import operator
import re
from fractions import Fraction
from functools import lru_cache

# Every repetition below is over one simple class or bounded, so that no text makes the search slow.
#: A number without a sign: thousands commas, decimals, a power of ten.
DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3}(?!\d))?|\.\d+"
_LATEX_FRACTION = r"\\[dtc]?frac\s?(?:\{\s?-?\d+\s?\}|\d)\s?(?:\{\s?\d+\s?\}|\d)"
#: A number anywhere in a text, with its sign, its dollar and its percent.
NUMBER = re.compile(
    rf"(?<![\w.])[-+]?\$?(?:{_LATEX_FRACTION}|\d+ \d+/\d+|\d+/\d+|{DIGITS})\s?(?:\\?%)?(?!\w)"
)
# A text that is one number: \frac{1}{2} or \frac12, 2 1/2 or 1/2, or digits.
_VALUE = re.compile(
    r"(?P<sign>[-+]?)\s?(?:"
    r"\\frac\s?(?:\{(?P<top>-?\d+)\}|(?P<top_digit>\d))"
    r"\s?(?:\{(?P<bottom>\d+)\}|(?P<bottom_digit>\d))"
    r"|(?:(?P<whole>\d+) )?(?P<over>\d+)/(?P<under>\d+)"
    rf"|(?P<decimal>{DIGITS}))"
)

_TIMES = re.compile(r"(?<=[\d)])\s?(?:\\times|\\cdot|[xX])\s?(?=[\d(.-])|(?<=[\d)])(?=\()")
_POWER = re.compile(r"\^\s?\{\s?(-?\d{1,6})\s?\}")
_ARITHMETIC = re.compile(r"[\d\s.+*/()^-]{1,100}")
_MAX_BITS = 65_536  # of a power; larger ones are not worked out
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}

#: What a plain answer is recognised by: the numbers that it may stand for (two for a percentage),
#: or its letters.
Key = tuple[Fraction, ...] | str


@lru_cache(maxsize=200_000)
def value_key(plain: str) -> Key:
    """Return what a plain answer is recognised by: its exact values, or its letters."""
    text = plain.removesuffix("%").strip()
    number = fraction(text)
    if number is None:
        number = arithmetic(text)
    if number is None:
        return "".join(plain.split()).casefold()
    if not plain.endswith("%"):
        return (number,)
    share = number / 100
    # 6000% is no way to write 60: where the share is a whole number, only 100% is read as one.
    return (number,) if share == int(share) and abs(share) > 1 else (number, share)


def fraction(text: str) -> Fraction | None:
    """Return the number that a text is, as a fraction; None if it is none."""
    match = _VALUE.fullmatch(text) if len(text) < 300 else None
    if match is None:
        return None
    if match["decimal"]:
        value = Fraction(match["decimal"].replace(",", ""))
    else:
        numerator = int(match["top"] or match["top_digit"] or match["over"])
        denominator = int(match["bottom"] or match["bottom_digit"] or match["under"])
        if denominator == 0:
            return None
        value = int(match["whole"] or 0) + Fraction(numerator, denominator)
    return -value if match["sign"] == "-" else value


def arithmetic(text: str) -> Fraction | None:
    """Work out a sum, product or small power of numbers, such as "(1 + 2)^2 / 3", exactly.

    Return None for anything else.
    """
    if len(text) > 200:
        return None
    text = _POWER.sub(r"^(\1)", _TIMES.sub("*", text)).strip()
    if not _ARITHMETIC.fullmatch(text):
        return None
    try:
        return _evaluated(ast.parse(text.replace("^", "**"), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, MemoryError, RecursionError):
        return None


def _evaluated(node: ast.expr) -> Fraction:
    """Return the exact value of parsed arithmetic; raise ValueError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _evaluated(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if not isinstance(node, ast.BinOp):
        raise ValueError("not plain arithmetic")
    left = _evaluated(node.left)
    right = _evaluated(node.right)
    if type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](left, right)
    if not isinstance(node.op, ast.Pow) or right.denominator != 1:
        raise ValueError("not plain arithmetic")
    bits = max(left.numerator.bit_length(), left.denominator.bit_length())
    if bits * abs(right) >= _MAX_BITS:
        raise ValueError("a power too large to work out")
    return left ** int(right)
