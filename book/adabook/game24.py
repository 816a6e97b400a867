"""The Game of 24: make 24 from four numbers, each used once, by + - * / and brackets.

The checker reads an expression as a tree and never runs it: a model's answer is data.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from fractions import Fraction

_LONGEST = 200  # characters; four numbers need far fewer
_MEANS = {ast.Add: operator.add, ast.Sub: operator.sub}
_MEANS |= {ast.Mult: operator.mul, ast.Div: operator.truediv}


def makes_24(puzzle: str, answer: str) -> bool:
    """Whether an answer such as "(10 - 4) * (6 - 2) = 24" uses the four numbers and makes 24.

    >>> makes_24("4 9 10 13", "(13 - 9) * (10 - 4) = 24"), makes_24("4 9 10 13", "4 * 6 = 24")
    (True, False)
    """
    left = answer.split("=")[0].strip()
    try:
        tree = ast.parse(left[:_LONGEST], mode="eval").body
        used = list(_numbers(tree))
        return sorted(used) == sorted(map(int, puzzle.split())) and _value(tree) == 24
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return False


def _numbers(tree: ast.AST) -> Iterator[int]:
    """The whole numbers of an expression; ValueError for anything that is no number."""
    if isinstance(tree, ast.BinOp):
        yield from _numbers(tree.left)
        yield from _numbers(tree.right)
    elif isinstance(tree, ast.Constant) and type(tree.value) is int:
        yield tree.value
    else:
        raise ValueError("not an expression of four numbers")


def _value(tree: ast.AST) -> Fraction:
    """The value of an expression, exactly; ValueError for other operations."""
    if isinstance(tree, ast.Constant):
        return Fraction(tree.value)  # type: ignore[arg-type]
    if not isinstance(tree, ast.BinOp) or type(tree.op) not in _MEANS:
        raise ValueError("not one of + - * /")
    return _MEANS[type(tree.op)](_value(tree.left), _value(tree.right))
