r"""Which formulas are too large to read, decided by counting in their text.

Computer algebra can be made to run for ever (``9^{9^{9^9}}``). So every limit counts something in
the text, or in a value while it is worked out, and is checked before the expensive operation. What
is refused is therefore the same on every machine, busy or idle.
"""

from __future__ import annotations

import re

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
