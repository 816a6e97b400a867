r"""The judge: are two formulas the same mathematics?

Each formula is parsed once, by math-verify, and becomes a *form*: its shape and its fingerprint,
the values of its components at four fixed points (`adalib.vote.formulas`). Formulas of equal shape
whose fingerprints agree are equal. A formula that is too large to read is given up, and equals only
what is written like it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import sympy
from antlr4.atn.PredictionMode import PredictionMode
from latex2sympy2_extended.latex2sympy2 import PSParser
from math_verify.parser import (
    LatexExtractionConfig,
    extract_target_from_pred,
    get_extraction_regexes,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from adalib.vote.formulas import (
    MP,
    ZERO,
    GivenUpError,
    check_formula,
    near,
    number_at_points,
    values_at_points,
    work,
)

WORK = 5_000  # what reading all the answers to one question may take, by the count of `work`

_BASE = LatexExtractionConfig()
# Units are dropped before we are asked; here the m of 5m is a variable.
_LATEX = [replace(_BASE, normalization_config=replace(_BASE.normalization_config, units=False))]
_VARIABLE = (sympy.Symbol, AppliedUndef)
_lock = threading.Lock()  # neither the parser nor the precision of mpmath is made for threads

_whose = threading.local()  # .ours in a thread that reads a formula here, and nowhere else

full_parse = PSParser.math


def in_two_stages(parser: Any) -> Any:
    """Parse with ANTLR's fast prediction, which is right if it succeeds, else with the full one.

    Another thread, which asks math-verify for itself at the same time, gets the full one alone.
    """
    if not getattr(_whose, "ours", False):
        return full_parse(parser)
    parser._interp.predictionMode = PredictionMode.SLL
    try:
        return full_parse(parser)
    except Exception:  # the parser's listener raises a syntax error without a class of its own
        parser.reset()
        parser._interp.predictionMode = PredictionMode.LL
        return full_parse(parser)


@contextmanager
def _two_stages() -> Iterator[None]:
    """Parse in two stages; other users of the parser see no change."""
    PSParser.math, _whose.ours = in_two_stages, True
    try:
        yield
    finally:
        PSParser.math, _whose.ours = full_parse, False


def _parsed(text: str) -> list:
    """Return what math-verify reads a formula as, the plainest first; nothing if it cannot.

    Its own `parse` does this too, and warns once that it keeps no clock; our limits are counted.
    """
    try:
        with _two_stages():
            return extract_target_from_pred(f"${text}$", get_extraction_regexes(_LATEX))
    except Exception:  # whatever its parser, or sympy, makes of a formula that it cannot read
        return []


class Form(NamedTuple):
    """What a formula is: its shape, and the values of its components at the fixed points."""

    shape: tuple
    values: tuple[tuple, ...] = ()
    #: Which components are decimals, which also agree with what rounds to them at six places.
    decimal: tuple[bool, ...] = ()

    def agrees(self, other: Form) -> bool:
        """Whether the shapes are equal and the fingerprints agree."""
        if self.shape != other.shape:
            return False
        components = zip(self.values, other.values, self.decimal, other.decimal, strict=True)
        for mine, theirs, mine_decimal, theirs_decimal in components:
            rounded = mine_decimal or theirs_decimal
            if not all(near(a, b, rounded) for a, b in zip(mine, theirs, strict=True)):
                return False
        return True


class Reading(NamedTuple):
    """What a formula may mean: nothing where it met a limit or is no mathematics."""

    forms: tuple[Form, ...] = ()
    right_side: tuple[Form, ...] = ()  # of an equation: the forms of its right-hand side
    given_up: str = ""  # the limit that it met

    def equals(self, other: Reading) -> bool:
        """Whether the two share a form; an equation also equals its right-hand side."""
        if _share_a_form(self.forms, other.forms):
            return True
        if bool(self.right_side) == bool(other.right_side):
            return False
        return _share_a_form(self.right_side or self.forms, other.right_side or other.forms)


def _share_a_form(forms: tuple[Form, ...], others: tuple[Form, ...]) -> bool:
    return any(form.agrees(other) for form in forms for other in others)


def read_all(formulas: Sequence[str]) -> dict[str, Reading]:
    """Read the formulas of one question in their order, until they have taken too much work."""
    too_much = Reading(given_up="more formulas than are read for one question")
    readings = {}
    work_so_far = 0
    for text in formulas:
        work_so_far += work(text)
        readings[text] = read(text) if work_so_far <= WORK else too_much
    return readings


@lru_cache(maxsize=100_000)
def read(text: str) -> Reading:
    """Read a formula (LaTeX or plain, without dollar signs), once."""
    try:
        check_formula(text)
        with _lock:
            parsed = _parsed(text)
            return _meaning(parsed[0]) if parsed else Reading()
    except GivenUpError as limit:
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
    """Return the reading of a plain number."""
    with _lock:
        return Reading((Form(("value",), (number_at_points(number),), (False,)),))


def _meaning(node: Any) -> Reading:
    """Return all that a parsed formula may mean, the plainest first."""
    if isinstance(node, sympy.And):
        return _meaning_of_relations(_as_written(node))
    if isinstance(node, Relational):
        return _meaning_of_relations([node])
    forms = [_form(node)]
    if isinstance(node, sympy.FiniteSet):
        elements = [_form(element) for element in _as_written(node)]
        forms.append(_joined("tuple", elements))
        if len(elements) == 1:
            forms += elements
    elif isinstance(node, sympy.Interval) and node.left_open and node.right_open:
        forms.append(_joined("tuple", [_form(node.start), _form(node.end)]))  # (1, 2), as a pair
    return Reading(tuple(forms))


def _meaning_of_relations(relations: list) -> Reading:
    """Return what equations or inequalities joined by "and" may mean, such as 3 < x < 4."""
    right_side: tuple[Form, ...] = ()
    if all(isinstance(relation, sympy.Eq) for relation in relations):
        right_side = _meaning(relations[-1].rhs).forms
    all_hold = _joined("and", [_relation(relation) for relation in relations])
    return Reading((all_hold, *_interval_of(relations)), right_side)


def _as_written(node: Any) -> list:
    """Return the arguments in the order in which they were written, where sympy kept it."""
    return list(getattr(node, "_unsorted_args", node.args))


def _form(node: Any) -> Form:
    """Return the normal form of an expression, by which equal answers are found."""
    if isinstance(node, sympy.Tuple):
        return _joined("tuple", [_form(entry) for entry in node])
    if isinstance(node, sympy.Set):
        return _form_of_set(node)
    if isinstance(node, sympy.MatrixBase):
        return _joined("matrix", [_form(entry) for entry in node.flat()], *node.shape)
    if isinstance(node, sympy.MatMul) and not any(factor.is_Matrix for factor in node.args[:-1]):
        *numbers, matrix = node.args
        return _form(matrix.applyfunc(lambda entry: sympy.Mul(*numbers, entry, evaluate=False)))
    if isinstance(node, Relational):
        return _relation(node)
    if not isinstance(node, sympy.Expr) or node.is_Matrix:
        raise GivenUpError(f"{type(node).__name__}, which is not worked out")
    values = tuple(values_at_points(node))
    return Form(("value",), (values,), (isinstance(node, sympy.Float),))


def _form_of_set(node: Any) -> Form:
    """Return the form of a set: its elements, its ends, or its pieces, however it was written."""
    if isinstance(node, sympy.FiniteSet):
        return _joined("set", _sorted(node.args))
    if isinstance(node, sympy.Interval):
        opened = (bool(node.left_open), bool(node.right_open))
        return _joined("interval", [_form(node.start), _form(node.end)], *opened)
    simple = _with_fractions(node)
    if isinstance(simple, sympy.Interval | sympy.FiniteSet):
        return _form(simple)
    if isinstance(simple, sympy.Union):
        return _joined("union", _sorted(simple.args))
    return Form((str(simple),))


def _joined(kind: str, parts: list[Form], *details: object) -> Form:
    """Return the form of something that is made of parts."""
    return Form(
        shape=(kind, *details, *(part.shape for part in parts)),
        values=sum((part.values for part in parts), ()),
        decimal=sum((part.decimal for part in parts), ()),
    )


def _sorted(nodes: Any) -> list[Form]:
    """Return the forms of a set's elements in a fixed order, which no rounding changes."""

    def order(form: Form) -> tuple:
        first = form.values[0][0] if form.values else MP.mpc(0)
        parts = (first.real, first.imag)
        rounded = [MP.nint(part * 10**20) if MP.isfinite(part) else part for part in parts]
        return str(form.shape), *rounded

    return sorted((_form(node) for node in nodes), key=order)


def _relation(node: Any) -> Form:
    """Normalise an equation up to a factor, an inequality up to a positive one.

    The smaller side of an inequality is on the left.
    """
    left = node.lhs
    right = node.rhs
    kind = type(node).__name__
    mirrored = {"GreaterThan": "LessThan", "StrictGreaterThan": "StrictLessThan"}
    if kind in mirrored:
        left, right = right, left
        kind = mirrored[kind]
    if not (isinstance(left, sympy.Expr) and isinstance(right, sympy.Expr)):
        return _joined(kind, [_form(left), _form(right)])
    sides = zip(values_at_points(left), values_at_points(right), strict=True)
    gaps = [a - b for a, b in sides]
    scale = gaps[0] if kind in ("Equality", "Unequality") else abs(gaps[0])
    if abs(scale) > ZERO:
        gaps = [gap / scale for gap in gaps]
    return Form((kind, ("value",)), (tuple(gaps),), (False,))


def _interval_of(relations: list) -> list[Form]:
    """Return the interval that inequalities give one variable, such as 3 < x < 4; else nothing."""
    low = -sympy.oo
    high = sympy.oo
    low_open = high_open = True
    variables = set()
    for relation in relations:
        if isinstance(relation, sympy.Eq | sympy.Ne):
            return []
        smaller = relation.lts
        larger = relation.gts
        strict = isinstance(relation, sympy.StrictLessThan | sympy.StrictGreaterThan)
        if isinstance(smaller, _VARIABLE) and not larger.free_symbols and high == sympy.oo:
            high = larger
            high_open = strict
            variables.add(smaller)
        elif isinstance(larger, _VARIABLE) and not smaller.free_symbols and low == -sympy.oo:
            low = smaller
            low_open = strict
            variables.add(larger)
        else:
            return []
    if len(variables) != 1:
        return []
    return [_joined("interval", [_form(low), _form(high)], low_open, high_open)]


def _with_fractions(node: Any) -> Any:
    """Return a set with every number rounded to a fraction, which sympy handles exactly."""
    if isinstance(node, sympy.Interval):
        return sympy.Interval(
            _with_fractions(node.start), _with_fractions(node.end), node.left_open, node.right_open
        )
    if isinstance(node, sympy.Expr):
        value = values_at_points(node)[0].real
        return node if MP.isinf(value) else sympy.Rational(int(MP.nint(value * 10**30)), 10**30)
    return node.func(*map(_with_fractions, node.args)) if node.args else node
