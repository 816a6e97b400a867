"""Plain arithmetic, exactly: what is "3 x 4 - 1/2" worth?

Most answers to compare are numbers, or sums and products of numbers. They are worked out here as fractions, without
computer algebra and without running anything.
"""

from __future__ import annotations

import ast
import operator
import re
from fractions import Fraction

__all__ = ["arithmetic"]

_LONGEST = 200  # characters; a longer "expression" is prose or an attack
_TIMES = re.compile(r"(?<=[\d)])\s?(?:\\times|\\cdot|[xX])\s?(?=[\d(.-])|(?<=[\d)])(?=\()")
_SUM = re.compile(r"[\d\s.+*/()^-]{1,100}")
_POWER = re.compile(r"\^\s?\{\s?(-?\d{1,6})\s?\}")
_BITS = 65_536  # of a power; larger ones are not worked out
_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def arithmetic(text: str) -> Fraction | None:
    r"""Work out a sum, product or small power of plain numbers, exactly.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    text : str
        An expression such as "12 + 5", "3 x 4" or "(1 + 2)^2 / 3".

    Returns
    -------
    Fraction or None
        Its value; None when it is not plain arithmetic, is over 100 characters, or divides by zero.

    Examples
    --------
    >>> arithmetic("3 x 4 - 1/2"), arithmetic("x + 1")
    (Fraction(23, 2), None)
    """
    text = _POWER.sub(r"^(\1)", _TIMES.sub("*", text)).strip() if len(text) <= _LONGEST else ""
    if not _SUM.fullmatch(text):
        return None
    try:
        return _value(ast.parse(text.replace("^", "**"), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, MemoryError, RecursionError):
        return None


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return -_value(node.operand) if isinstance(node.op, ast.USub) else _value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = _value(node.left), _value(node.right)
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if power.denominator == 1 and size * abs(power) < _BITS:
            return base ** int(power)
    raise ValueError("not plain arithmetic")
