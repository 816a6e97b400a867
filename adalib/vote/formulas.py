r"""The values of a formula at four fixed points, to 60 digits: its fingerprint.

Two expressions that agree at four points to 30 digits are taken as equal. The points are made from
the names of the variables by a hash, so they are the same on every machine and on every run.

Computer algebra can be made to run for ever (``9^{9^{9^9}}``). So limits count something in the
text, or in a value while it is worked out, and are checked before the expensive operation. What is
refused is therefore the same on every machine, busy or idle.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from mpmath import MPContext
from sympy.core.function import AppliedUndef

#: Largest exponent, logarithm of a power, and argument of a factorial.
LARGEST_EXPONENT = 10_000
TOO_LARGE = "a number too large to work out"

_MAX_LENGTH = 200  # characters
_MAX_DEPTH = 8  # brackets within brackets
_MAX_FUNCTIONS = 10  # names of functions

_FUNCTION = re.compile(r"\\(?:arc)?(?:sin|cos|tan|cot|sec|csc|log|ln|exp|max|min)")
_SLOW_TO_READ = re.compile(rf"{_FUNCTION.pattern}|\\cup|\\cap|\\setminus|\|")
_SMALL_FACTORIAL = re.compile(r"\(\w{1,3}(?:\s?[+-]\s?\w{1,3})?\)\s?!")  # (n + 1)!
_EXPONENT = re.compile(r"\^[\s{(+-]*(\d+)")
# What the parser itself would work out, however large, or would be slow to read; and why not.
_REFUSED = [
    (re.compile(r"(?:\^|\*\*)[\s{(+-]*\d{4}|\d{4}\s?!|\d[eE][-+]?\d{4}"), TOO_LARGE),
    (re.compile(r"\\[dt]?binom(?!\{\d{1,4}\}\{\d{1,4}\}|\{[^{}^!\\]{1,12}\}\{\w\})"), TOO_LARGE),
    (re.compile(r"[)\]}!]\s?!|\^\s?\w+\s?!|(?:[\^_]\s?(?:\w|\{\w*\})\s?){3}"), "a tower"),
    (re.compile(r"\\sqrt\s?\[(?!\w{1,3}\])"), "a root that is no plain number"),
    (
        re.compile(
            r"\\(?:sum|prod|i{0,3}int|oint|lim|det|gcd|lcm|partial|operatorname|xrightarrow)"
            r"|vmatrix|Vmatrix"
            r"|\\[Gg]amma[\s{(]*\d|\\[Gg]amma\s?[({]|(?:\||vert)\s?_|\\\|"
        ),
        "an operation that is not worked out",
    ),
]

_POINTS = 4

#: The numbers with 60 digits that all values are.
MP = MPContext()
MP.dps = 60
#: A value below this is zero.
ZERO = MP.mpf("1e-45")
_AGREE = MP.mpf("1e-30")  # relative difference of two values that are equal
_ROUNDED = MP.mpf("5e-7")  # difference of a value and the decimal, to six places, that it rounds to


class GivenUpError(ValueError):
    """A formula met a limit; the text says which."""


def work(text: str) -> int:
    """Return what reading a formula takes at most, in units of about a millisecond."""
    if len(text) > _MAX_LENGTH:
        return 0  # it is refused unread
    return 20 + len(text) + 30 * len(_SLOW_TO_READ.findall(text))


def check_formula(text: str) -> None:
    """Raise GivenUpError for a formula that would be slow to parse, or to work out on the way."""
    if len(text) > _MAX_LENGTH:
        raise GivenUpError(f"longer than {_MAX_LENGTH} characters")
    searched = _SMALL_FACTORIAL.sub("", text)
    for pattern, reason in _REFUSED:
        if pattern.search(searched):
            raise GivenUpError(reason)
    if len(_FUNCTION.findall(text)) > _MAX_FUNCTIONS:
        raise GivenUpError(f"more than {_MAX_FUNCTIONS} functions")
    if text.count("|") > 2 * _MAX_DEPTH:
        raise GivenUpError(f"brackets nested deeper than {_MAX_DEPTH}")
    _check_nesting(text)


def _check_nesting(text: str) -> None:
    """Refuse deep brackets, towers of exponents, and powers of powers that multiply up."""
    in_exponent: list[bool] = []  # for each open bracket, whether it holds an exponent
    previous = ""  # the last character that is no space
    product_of_powers = 1
    for place, character in enumerate(text):
        if character in "([{":
            in_exponent.append(previous == "^")
        elif character in ")]}":
            del in_exponent[-1:]  # a bracket that nothing opened closes nothing
        elif character == "^":
            exponent = _EXPONENT.match(text, place)
            has_two_digits = exponent is not None and len(exponent[1]) > 1
            if sum(in_exponent) > 1 or (any(in_exponent) and has_two_digits):
                raise GivenUpError("a tower")
            if exponent is not None and previous in ")}":
                product_of_powers *= int(exponent[1])
        if len(in_exponent) > _MAX_DEPTH:
            raise GivenUpError(f"brackets nested deeper than {_MAX_DEPTH}")
        if character != " ":
            previous = character
    if product_of_powers > LARGEST_EXPONENT:
        raise GivenUpError(TOO_LARGE)


def values_at_points(node: Any) -> list:
    """Return the values of a sympy expression at the fixed points.

    ValueError if it has no value there, GivenUpError if it is too large or not worked out.
    """
    if node.free_symbols or node.atoms(AppliedUndef):
        return [_value(node, point) for point in range(_POINTS)]
    return [_value(node, 0)] * _POINTS


def number_at_points(number: Fraction) -> tuple:
    """Return a plain number as the values of an expression."""
    return (MP.mpf(number.numerator) / number.denominator,) * _POINTS


def near(a: Any, b: Any, rounded: bool) -> bool:
    """Return whether two values are equal; ``rounded`` if one is a decimal of few places."""
    if MP.isinf(a) or MP.isinf(b):
        return bool(a == b)
    allowed = _ROUNDED if rounded else max(ZERO, _AGREE * max(abs(a), abs(b)))
    return bool(abs(a - b) <= allowed)


def _value(node: Any, point: int) -> Any:
    """Return the value of an expression at one point."""
    if isinstance(node, sympy.Rational):
        return MP.mpc(MP.mpf(int(node.p)) / int(node.q))
    if isinstance(node, sympy.Float):
        return MP.mpc(MP.mpf(str(node)))  # the decimal that was written, not the nearest double
    if node.is_Atom and str(node) in _CONSTANTS:
        return _CONSTANTS[str(node)]
    if node.is_Symbol:
        return MP.mpc(_variable_at(node.name, point))
    if node.is_Atom:  # 1/0
        raise ValueError("no value")
    name = type(node).__name__
    unknown_function = isinstance(node, AppliedUndef)
    if name not in _OPERATIONS and not unknown_function:
        raise GivenUpError(f"{name}, which is not worked out")
    arguments = [_value(argument, point) for argument in node.args]
    if unknown_function:  # f(x) is a variable of its own for every f and x
        digits = [MP.nstr(argument, 20) for argument in arguments]
        return MP.mpc(_variable_at(f"{node.func}({digits})", point))
    value = MP.mpc(_OPERATIONS[name](*arguments))
    if MP.isnan(value) or (MP.isinf(value) and name != "Add"):
        raise ValueError("no value")
    return value


@lru_cache(maxsize=10_000)
def _variable_at(name: str, point: int) -> Any:
    """Return the value of a variable at a point.

    It is from 1 to 2 at the first point, where logarithms and roots exist. At the others it has
    either sign, and at every second one it is below 1 in size.
    """
    digest = int.from_bytes(hashlib.sha256(f"{point} {name}".encode()).digest(), "big")
    sign = -1 if point and digest & 1 else 1
    return sign * (1 - point % 2 + MP.mpf(digest) / 2**256)


def _add(*terms: Any) -> Any:
    """Add up; infinity plus anything is infinity."""
    return next(filter(MP.isinf, terms), None) or MP.fsum(terms)


def _power(base: Any, exponent: Any) -> Any:
    """Raise to a power, exactly where the exponent is whole; refuse a huge result."""
    if base == 0:
        return MP.mpf(0) ** exponent.real
    if abs(exponent) > LARGEST_EXPONENT or abs(exponent * MP.log(base)) > LARGEST_EXPONENT:
        raise GivenUpError(TOO_LARGE)
    whole = exponent.imag == 0 and exponent.real == int(exponent.real)
    return base ** int(exponent.real) if whole else base**exponent


def _log(x: Any, base: Any = None) -> Any:
    return MP.log(x) / (1 if base is None else MP.log(base))


def _of_small(function: Callable) -> Callable:
    """Return the function, which refuses large arguments."""

    def limited(*arguments: Any) -> Any:
        if any(abs(argument) > LARGEST_EXPONENT for argument in arguments):
            raise GivenUpError(TOO_LARGE)
        return function(*arguments)

    return limited


def _of_real(function: Callable) -> Callable:
    """Return the function of real numbers, which refuses large arguments."""

    def of_real_parts(*arguments: Any) -> Any:
        if any(abs(argument.imag) > ZERO for argument in arguments):
            raise ValueError("no value")
        return function(*(argument.real for argument in arguments))

    return _of_small(of_real_parts)


_CONSTANTS = {
    "pi": MP.mpc(MP.pi),
    "e": MP.mpc(MP.e),
    "E": MP.mpc(MP.e),
    "I": MP.mpc(MP.j),
    "oo": MP.mpc(MP.inf),
    "-oo": MP.mpc(-MP.inf),
}
_TRIGONOMETRIC = ("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh")
_INVERSE = ("asin", "acos", "atan", "acot", "asec", "acsc", "asinh", "acosh", "atanh")
_COUNTING = ("factorial", "binomial", "gamma")
# By the name of the sympy class.
_OPERATIONS: dict[str, Callable] = {
    "Add": _add,
    "Mul": lambda *factors: MP.fprod(factors),
    "Pow": _power,
    "exp": lambda x: _power(_CONSTANTS["E"], x),
    "log": _log,
    "Abs": abs,
    "UnevaluatedExpr": lambda x: x,
    # A whole number that comes out a rounding below itself is still one.
    "floor": _of_real(lambda x: MP.floor(x + _AGREE)),
    "ceiling": _of_real(lambda x: MP.ceil(x - _AGREE)),
    "Mod": _of_real(lambda x, y: x - y * MP.floor(x / y + _AGREE)),
    "Max": _of_real(max),
    "Min": _of_real(min),
    **{name: _of_small(getattr(MP, name)) for name in (*_TRIGONOMETRIC, *_INVERSE, *_COUNTING)},
}
