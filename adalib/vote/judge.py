r"""The judge: are two formulas the same mathematics?

Each formula is parsed once, by math-verify, and becomes a *form*: its shape and its fingerprint,
the values of its components to 60 digits at four fixed points. Formulas of equal shape whose
fingerprints agree to 30 digits are equal.

Computer algebra can be made to run for ever (``9^{9^{9^9}}``). So every limit counts something in
the text or in a value and is checked before the expensive operation. What is not compared is
therefore the same on every machine, busy or idle.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import math_verify.parser
import sympy
from antlr4.atn.PredictionMode import PredictionMode
from latex2sympy2_extended.latex2sympy2 import PSParser
from mpmath import MPContext
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

__all__ = ["WORK", "Form", "Reading", "read", "read_number", "work"]

WORK = 5_000  # what reading all the answers to one question may take, by the count of `work`

_LENGTH = 200  # characters
_DEPTH = 8  # brackets within brackets
_FUNCTIONS = 10  # names of functions
_LARGEST_EXPONENT = 10_000  # exponent, logarithm of a power, argument of a factorial
_POINTS = 4
_BASE = math_verify.parser.LatexExtractionConfig()
# Units are dropped before we are asked; here the m of 5m is a variable.
_LATEX = [replace(_BASE, normalization_config=replace(_BASE.normalization_config, units=False))]
math_verify.parser.TIMEOUT_WARNING_SHOWN = (
    True  # it warns that it keeps no clock; our limits are counted
)

full_parse = PSParser.math


def _in_two_stages(parser: Any) -> Any:
    """Parse with ANTLR's fast prediction, which is right if it succeeds, else with the full one."""
    parser._interp.predictionMode = PredictionMode.SLL
    try:
        return full_parse(parser)
    except (
        Exception
    ):  # a syntax error, which the parser's listener raises without a class of its own
        parser.reset()
        parser._interp.predictionMode = PredictionMode.LL
        return full_parse(parser)


PSParser.math = _in_two_stages

_lock = threading.Lock()  # neither the parser nor the precision of mpmath is made for threads
_VARIABLE = (sympy.Symbol, AppliedUndef)
_mp = MPContext()
_mp.dps = 60
_FINE = _mp.mpf("1e-30")
_ZERO = _mp.mpf("1e-45")
_ROUNDED = _mp.mpf("5e-7")

_FUNCTION = re.compile(r"\\(?:arc)?(?:sin|cos|tan|cot|sec|csc|log|ln|exp|max|min)")
_DEAR = re.compile(rf"{_FUNCTION.pattern}|\\cup|\\cap|\\setminus|\|")  # slow to read
_SMALL_FACTORIAL = re.compile(r"\(\w{1,3}(?:\s?[+-]\s?\w{1,3})?\)\s?!")  # (n + 1)!
_LARGE = "a number too large to work out"
_REFUSED = [  # what the parser itself would work out, however large, or would be slow to read
    (re.compile(r"(?:\^|\*\*)[\s{(+-]*\d{4}|\d{4}\s?!|\d[eE][-+]?\d{4}"), _LARGE),
    (re.compile(r"\\[dt]?binom(?!\{\d{1,4}\}\{\d{1,4}\}|\{[^{}^!\\]{1,12}\}\{\w\})"), _LARGE),
    (re.compile(r"[)\]}!]\s?!|\^\s?\w+\s?!|(?:[\^_]\s?(?:\w|\{\w*\})\s?){3}"), "a tower"),
    (re.compile(r"\\sqrt\s?\[(?!\w{1,3}\])"), "a root that is no plain number"),
    (
        re.compile(
            r"\\(?:sum|prod|i{0,3}int|oint|lim|det|gcd|lcm|partial|operatorname|xrightarrow)|vmatrix|Vmatrix"
            r"|\\[Gg]amma[\s{(]*\d|\\[Gg]amma\s?[({]|(?:\||vert)\s?_|\\\|"
        ),
        "an operation that is not worked out",
    ),
]


class _GivenUpError(ValueError):
    """A limit was met; the text says which."""


class Form(NamedTuple):
    """What a formula is: its shape, and the values of its parts at the fixed points."""

    shape: tuple
    values: tuple[tuple, ...] = ()
    loose: tuple[
        bool, ...
    ] = ()  # the parts that are decimals, which agree with what rounds to them at six places

    def agrees(self, other: Form) -> bool:
        """Whether the shapes are equal and the fingerprints agree."""
        return self.shape == other.shape and all(
            _near(u, v, p or q)
            for us, vs, p, q in zip(self.values, other.values, self.loose, other.loose, strict=True)
            for u, v in zip(us, vs, strict=True)
        )


class Reading(NamedTuple):
    """What a formula may mean: nothing where it met a limit or is no mathematics."""

    forms: tuple[Form, ...] = ()
    right_side: tuple[Form, ...] = ()  # of an equation: the forms of its right-hand side
    given_up: str = ""  # the limit that it met

    def equals(self, other: Reading) -> bool:
        """Whether the two share a form; an equation also equals its right-hand side."""
        pairs = [(self.forms, other.forms)]
        if bool(self.right_side) != bool(other.right_side):
            pairs.append((self.right_side or self.forms, other.right_side or other.forms))
        return any(
            one.agrees(another) for ones, others in pairs for one in ones for another in others
        )


def work(text: str) -> int:
    """What reading a formula takes at most, counted in its text: a unit is about a millisecond."""
    return 20 + len(text) + 30 * len(_DEAR.findall(text)) if len(text) <= _LENGTH else 0


@lru_cache(maxsize=100_000)
def read(text: str) -> Reading:
    """Read a formula (LaTeX or plain, without dollar signs), once."""
    try:
        _check(text)
        with _lock:
            parsed = math_verify.parse(
                f"${text}$", _LATEX, fallback_mode="no_fallback", parsing_timeout=None
            )
            return _meaning(parsed[0]) if parsed else Reading()
    except _GivenUpError as limit:
        return Reading(given_up=str(limit))
    except (
        ArithmeticError,
        AttributeError,
        NotImplementedError,
        RecursionError,
        TypeError,
        ValueError,
    ):
        return Reading()  # it has no value, or is no mathematics


@lru_cache(maxsize=100_000)
def read_number(number: Fraction) -> Reading:
    """The reading of a plain number."""
    with _lock:
        value = _mp.mpf(number.numerator) / number.denominator
        return Reading((Form(("value",), ((value,) * _POINTS,), (False,)),))


def _check(text: str) -> None:
    """Refuse by counting what would be slow to parse, or to work out while it is parsed."""
    if len(text) > _LENGTH:
        raise _GivenUpError(f"longer than {_LENGTH} characters")
    for pattern, what in _REFUSED:
        if pattern.search(_SMALL_FACTORIAL.sub("", text)):
            raise _GivenUpError(what)
    if len(_FUNCTION.findall(text)) > _FUNCTIONS:
        raise _GivenUpError(f"more than {_FUNCTIONS} functions")
    if text.count("|") > 2 * _DEPTH:
        raise _GivenUpError(f"brackets nested deeper than {_DEPTH}")
    raised: list[bool] = []  # for each open bracket, whether it is an exponent
    last = ""
    grown = 1
    for at, mark in enumerate(text):
        if mark in "([{":
            raised.append(last == "^")
        elif mark in ")]}":
            del raised[-1:]
        elif mark == "^" and (
            sum(raised) > 1 or (any(raised) and re.match(r"\^[\s{(+-]*\d\d", text[at:]))
        ):
            raise _GivenUpError("a tower")
        elif mark == "^" and last in ")}" and (power := re.match(r"\^[\s{(+-]*(\d+)", text[at:])):
            grown *= int(power[1])  # powers of powers
        if len(raised) > _DEPTH:
            raise _GivenUpError(f"brackets nested deeper than {_DEPTH}")
        last = mark if mark != " " else last
    if grown > _LARGEST_EXPONENT:
        raise _GivenUpError(_LARGE)


def _meaning(node: Any) -> Reading:
    """All that a parsed formula may mean, the plainest first."""
    if isinstance(node, sympy.And | Relational):
        links = (
            list(getattr(node, "_unsorted_args", node.args))
            if isinstance(node, sympy.And)
            else [node]
        )
        right_side = (
            _meaning(links[-1].rhs).forms
            if all(isinstance(link, sympy.Eq) for link in links)
            else ()
        )
        return Reading(
            (_joined("and", [_relation(link) for link in links]), *_range(links)), right_side
        )
    forms = [_form(node)]
    if isinstance(node, sympy.FiniteSet):
        written = [_form(part) for part in getattr(node, "_unsorted_args", node.args)]
        forms += [_joined("tuple", written), *(written if len(written) == 1 else ())]
    elif (
        isinstance(node, sympy.Interval) and node.left_open and node.right_open
    ):  # (1, 2) may be a pair
        forms.append(_joined("tuple", [_form(node.start), _form(node.end)]))
    return Reading(tuple(forms))


def _form(node: Any) -> Form:
    """Return the normal form of an expression, by which equal answers are found."""
    if isinstance(node, sympy.Tuple):
        return _joined("tuple", [_form(part) for part in node])
    if isinstance(node, sympy.FiniteSet):
        return _joined("set", sorted((_form(part) for part in node.args), key=_order))
    if isinstance(node, sympy.Interval):
        return _joined(
            "interval",
            [_form(node.start), _form(node.end)],
            bool(node.left_open),
            bool(node.right_open),
        )
    if isinstance(
        node, sympy.Set
    ):  # by its pieces, in whatever unions and differences it was written
        simple = _rounded(node)
        if isinstance(simple, sympy.Interval | sympy.FiniteSet):
            return _form(simple)
        pieces = [_form(part) for part in simple.args] if isinstance(simple, sympy.Union) else []
        return _joined("union", sorted(pieces, key=_order)) if pieces else Form((str(simple),))
    if isinstance(node, sympy.MatrixBase):
        return _joined("matrix", [_form(entry) for entry in node.flat()], *node.shape)
    if isinstance(node, sympy.MatMul) and all(
        not part.is_Matrix for part in node.args[:-1]
    ):  # a number times a matrix
        return _form(
            node.args[-1].applyfunc(lambda entry: sympy.Mul(*node.args[:-1], entry, evaluate=False))
        )
    if isinstance(node, Relational):
        return _relation(node)
    if not isinstance(node, sympy.Expr) or node.is_Matrix:
        raise _GivenUpError(f"{type(node).__name__}, which is not worked out")
    return Form(("value",), (tuple(_at_points(node)),), (isinstance(node, sympy.Float),))


def _joined(kind: str, parts: list[Form], *more: object) -> Form:
    shape = (kind, *more, *(part.shape for part in parts))
    return Form(
        shape, sum((part.values for part in parts), ()), sum((part.loose for part in parts), ())
    )


def _order(form: Form) -> tuple:
    """Sorts the elements of a set, also where two of them differ by a rounding."""
    first = form.values[0][0] if form.values else _mp.mpc(0)
    rounded = [
        _mp.nint(part * 10**20) if _mp.isfinite(part) else part for part in (first.real, first.imag)
    ]
    return str(form.shape), *rounded


def _relation(node: Any) -> Form:
    """Normalise an equation up to a factor, an inequality up to a positive one.

    The smaller side of an inequality is on the left.
    """
    left = node.lhs
    right = node.rhs
    kind = type(node).__name__
    if kind in ("StrictGreaterThan", "GreaterThan"):
        left, right, kind = right, left, {"G": "LessThan", "S": "StrictLessThan"}[kind[0]]
    if not (isinstance(left, sympy.Expr) and isinstance(right, sympy.Expr)):
        return _joined(kind, [_form(left), _form(right)])
    gap = [u - v for u, v in zip(_at_points(left), _at_points(right), strict=True)]
    scale = gap[0] if kind in ("Equality", "Unequality") else abs(gap[0])
    return Form(
        (kind, ("value",)), (tuple(d / scale if abs(scale) > _ZERO else d for d in gap),), (False,)
    )


def _range(links: list) -> list[Form]:
    """The interval that inequalities say of one variable: 3 < x, or 3 < x < 4."""
    low = -sympy.oo
    high = sympy.oo
    opened = [True, True]
    variables = set()
    for link in links:
        if isinstance(link, sympy.Eq | sympy.Ne):
            return []
        strict = isinstance(link, sympy.StrictLessThan | sympy.StrictGreaterThan)
        if isinstance(link.lts, _VARIABLE) and not link.gts.free_symbols and high == sympy.oo:
            high, opened[1] = link.gts, strict
            variables.add(link.lts)
        elif isinstance(link.gts, _VARIABLE) and not link.lts.free_symbols and low == -sympy.oo:
            low, opened[0] = link.lts, strict
            variables.add(link.gts)
        else:
            return []
    return [_joined("interval", [_form(low), _form(high)], *opened)] if len(variables) == 1 else []


def _rounded(node: Any) -> Any:
    """Return the set with every number rounded to a fraction, which sympy handles exactly."""
    if isinstance(node, sympy.Interval):
        return sympy.Interval(
            _rounded(node.start), _rounded(node.end), node.left_open, node.right_open
        )
    if isinstance(node, sympy.Expr):
        value = _at_points(node)[0].real
        return node if _mp.isinf(value) else sympy.Rational(int(_mp.nint(value * 10**30)), 10**30)
    return node.func(*map(_rounded, node.args)) if node.args else node


def _near(u: Any, v: Any, loose: bool) -> bool:
    if _mp.isinf(u) or _mp.isinf(v):
        return bool(u == v)
    return bool(abs(u - v) <= (_ROUNDED if loose else max(_ZERO, _FINE * max(abs(u), abs(v)))))


def _at_points(node: Any) -> list:
    """The values of an expression at the fixed points; one without variables is worked out once."""
    varies = node.free_symbols or node.atoms(AppliedUndef)
    return (
        [_value(node, point) for point in range(_POINTS)] if varies else [_value(node, 0)] * _POINTS
    )


def _value(node: Any, point: int) -> Any:
    """The value of an expression at a point, by walking its tree."""
    if isinstance(node, sympy.Rational):
        return _mp.mpc(_mp.mpf(int(node.p)) / int(node.q))
    if isinstance(node, sympy.Float):
        return _mp.mpc(_mp.mpf(str(node)))  # the decimal that was written, not the nearest double
    if node.is_Atom and str(node) in _CONSTANTS:
        return _CONSTANTS[str(node)]
    if node.is_Symbol:
        return _mp.mpc(_place(node.name, point))
    if node.is_Atom:  # 1/0
        raise ValueError("no value")
    name = type(node).__name__
    variable = isinstance(node, AppliedUndef)
    if name not in _OPERATIONS and not variable:
        raise _GivenUpError(f"{name}, which is not worked out")
    parts = [_value(part, point) for part in node.args]
    if variable:  # f(x): a variable of its own for every f and x
        return _mp.mpc(_place(f"{node.func}({[_mp.nstr(part, 20) for part in parts]})", point))
    value = _mp.mpc(_OPERATIONS[name](*parts))
    if _mp.isnan(value) or (_mp.isinf(value) and name != "Add"):
        raise ValueError("no value")
    return value


@lru_cache(maxsize=10_000)
def _place(name: str, point: int) -> Any:
    """Return the value of a variable at a point.

    It lies from 1 to 2 at the first point; at the others it has either sign, at some below 1.
    """
    digits = int.from_bytes(hashlib.sha256(f"{point} {name}".encode()).digest(), "big")
    return (-1 if point and digits & 1 else 1) * (1 - point % 2 + _mp.mpf(digits) / 2**256)


def _power(base: Any, exponent: Any) -> Any:
    if base == 0:
        return _mp.mpf(0) ** exponent.real
    if abs(exponent) > _LARGEST_EXPONENT or abs(exponent * _mp.log(base)) > _LARGEST_EXPONENT:
        raise _GivenUpError(_LARGE)
    whole = exponent.imag == 0 and exponent.real == int(exponent.real)
    return base ** int(exponent.real) if whole else base**exponent


def _limited(function: Callable, real: bool = False) -> Callable:
    """A function of arguments up to a size, and of real ones alone."""

    def limited(*parts: Any) -> Any:
        if any(abs(part) > _LARGEST_EXPONENT for part in parts):
            raise _GivenUpError(_LARGE)
        if real and any(abs(part.imag) > _ZERO for part in parts):
            raise ValueError("no value")
        return function(*(part.real if real else part for part in parts))

    return limited


_CONSTANTS = {"pi": _mp.pi, "e": _mp.e, "E": _mp.e, "I": _mp.j, "oo": _mp.inf, "-oo": -_mp.inf}
_CONSTANTS = {name: _mp.mpc(value) for name, value in _CONSTANTS.items()}
_TRIGONOMETRIC = ("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh")
_INVERSE = ("asin", "acos", "atan", "acot", "asec", "acsc", "asinh", "acosh", "atanh")
_OPERATIONS: dict[str, Callable] = {
    "Add": lambda *parts: next(filter(_mp.isinf, parts), None) or _mp.fsum(parts),
    "Mul": lambda *parts: _mp.fprod(parts),
    "Pow": _power,
    "exp": lambda x: _power(_CONSTANTS["E"], x),
    "log": lambda x, base=None: _mp.log(x) / (_mp.log(base) if base is not None else 1),
    "Abs": abs,
    "UnevaluatedExpr": lambda x: x,
    # A whole number that comes out a rounding below itself is still one.
    "floor": _limited(lambda x: _mp.floor(x + _FINE), real=True),
    "ceiling": _limited(lambda x: _mp.ceil(x - _FINE), real=True),
    "Mod": _limited(lambda x, y: x - y * _mp.floor(x / y + _FINE), real=True),
    "Max": _limited(max, real=True),
    "Min": _limited(min, real=True),
    **{
        name: _limited(getattr(_mp, name))
        for name in (*_TRIGONOMETRIC, *_INVERSE, "factorial", "binomial", "gamma")
    },
}
