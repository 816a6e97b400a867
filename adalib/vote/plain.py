"""The plain form of an answer: without typesetting, units and punctuation, and its exact value.

Answers are compared by this form. "$1{,}250.", "1250 dollars" and "1,250" all become "1250", whose
value is the exact fraction 1250; "x = 5" becomes "5", and "(b) Paris" the letter "B".
"""

from __future__ import annotations

import ast
import operator
import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

__all__ = ["Key", "arithmetic", "fraction", "plain_form", "value_key"]

_CLOSING = " *_\"'.,;:!?"  # what may close an answer without belonging to it
LONGEST_ANSWER = (
    1_000  # characters of an answer that are looked at; a longer one is compared word for word
)

# Every repetition below is over one simple class or bounded, so that no text makes the search slow.
_PLAIN = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3}(?!\d))?|\.\d+"
_FRACTION = r"\\[dtc]?frac\s?(?:\{\s?-?\d+\s?\}|\d)\s?(?:\{\s?\d+\s?\}|\d)"
NUMBER = re.compile(
    rf"(?<![\w.])[-+]?\$?(?:{_FRACTION}|\d+ \d+/\d+|\d+/\d+|{_PLAIN})\s?(?:\\?%)?(?!\w)"
)
_VALUE = re.compile(
    rf"([-+]?)\s?(?:\\frac\s?(?:\{{(-?\d+)\}}|(\d))\s?(?:\{{(\d+)\}}|(\d))"
    rf"|(\d+) (\d+)/(\d+)|(\d+)/(\d+)|({_PLAIN}))"
)
_UNIT = re.compile(
    rf"([-+]?\s?(?:\d+/\d+|{_PLAIN}))\s?([^\W\d_][^\d^{{}}]{{0,60}})(?:\^?\{{?[23]\}}?)?"
)
# For example "\frac{1}{2} square feet".
_FORMULA_UNIT = re.compile(r"(.*(?:\}|\\pi)) ([a-z][a-z /.-]{1,60})(?:\^?\{?[23]\}?)?")
CHOICE = re.compile(
    r"[(\[]?([A-Ja-j])[)\].:]{0,2}|(?:[(\[]([A-J])[)\]]|([A-J])[).:]) .*"
    r"|([A-J]),? (?:because|since|as) .*"
)
# For example "12 (twelve)" and "20 (4 * 5)".
_ASIDE = re.compile(r"(?<=\d) \((?:[\d\s.,+*/=%-]{1,40}|[a-zA-Z]{3}[a-zA-Z\s]{0,40})\)$")
_VARIABLE = re.compile(r"[a-zA-Z](?:_?\w|_\{\w{1,3}\}|\(\w\))?")
TRUTH = re.compile(r"\W{0,5}(yes|no|true|false)\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]{3}")
COMMAND = re.compile(r"\\(?:begin|end)\{\w*\}|\\[a-zA-Z]+|\b(?:sqrt|frac|sin|cos|tan|log|exp)\b")
_TYPESETTING = [
    (re.compile(pattern), plain)
    for pattern, plain in [
        (r"(?<!\\)\\!", ""),  # 1,\!000
        (
            r"\\(?:text|mathrm|textbf|mathbf|textit|mathit|mbox|operatorname)\s?\{([^{}]{0,200})\}",
            r" \1 ",
        ),
        (
            r"\\(?:left|right|big|Big|displaystyle|limits)(?![a-zA-Z])|(?<!\\)\\[,;:()\[\]]|[`~]",
            " ",
        ),
        (r"\\?[$€£¥₹]", ""),
        (r"(?<!\\)\\ ", " "),  # but not the end of a matrix's row
        (r"\\[dtc]frac", r"\\frac"),
        (r"\s?\^\s?\{?\s?\\circ\s?\}?|\\degree|°", " degrees "),
        (r"\\%", "%"),
        (r"\{,\}", ","),
        (r"\s+", " "),
    ]
]
_SYMBOLS = str.maketrans(
    {"²": "^2", "³": "^3", "−": "-", "×": "*", "÷": "/", "π": "\\pi ", "∞": "\\infty ", "⁄": "/"}
)
_SCALES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_SYMBOL_UNITS = re.compile(
    r"[cmk]m|[km]g|gm|[cm]l|in|ft|yd|mi|lb|lbs|oz|hr|hrs|yr|min|sec|ms|mph|kph|hz|am|pm"
)
_NOT_UNITS = re.compile(r"sqrt|sin|cos|tan|log|exp|mod|and")

_TIMES = re.compile(r"(?<=[\d)])\s?(?:\\times|\\cdot|[xX])\s?(?=[\d(.-])|(?<=[\d)])(?=\()")
_SUM = re.compile(r"[\d\s.+*/()^-]{1,100}")
_POWER = re.compile(r"\^\s?\{\s?(-?\d{1,6})\s?\}")
_BITS = 65_536  # of a power; larger ones are not worked out
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}

# The numbers that an answer may stand for (two for a percentage), or its letters.
Key = tuple[Fraction, ...] | str


@lru_cache(maxsize=200_000)
def plain_form(answer: str) -> str:
    """An answer without typesetting, currency, units, thousands commas and closing punctuation."""
    if len(answer) > LONGEST_ANSWER:
        return answer.strip()
    text = unicodedata.normalize("NFKC", answer.translate(_SYMBOLS)).translate(_SYMBOLS)
    for pattern, plain in _TYPESETTING:
        text = pattern.sub(plain, text)
    text = text.lstrip(" *_\"'#,;:").rstrip(_CLOSING)
    text = _ASIDE.sub("", text)
    if text[-1:] in (")", "]") and not any(bracket in text for bracket in "([{"):
        text = text[:-1].rstrip(_CLOSING)
    choice = CHOICE.fullmatch(text)
    if choice:
        return next(letter for letter in choice.groups() if letter).upper()
    name, equals, value = text.partition("=")
    if (
        equals
        and not re.search("[=,]", value)
        and (_VARIABLE.fullmatch(name.strip()) or arithmetic(name) is not None)
    ):
        text = value.strip()  # x = 5, 2 + 3 = 5
    if not any(bracket in text for bracket in "([{"):  # (1,200) is a pair
        text = re.sub(
            r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])",
            lambda number: number.group().replace(",", ""),
            text,
        )
    with_unit = _UNIT.fullmatch(text)
    if not with_unit:
        formula = _FORMULA_UNIT.fullmatch(text)
        return (
            formula[1]
            if formula and all(_is_unit(word, True) for word in _words(formula[2]))
            else text
        )
    apart = text[with_unit.end(1)] == " "
    number = with_unit[1].replace(",", "").strip()
    words = _words(with_unit[2])
    factor = fraction(number) if words[0] in _SCALES else None
    if factor is not None:
        return str(factor * _SCALES[words[0]])
    if words[0] in ("percent", "percentage"):
        return number + "%"
    return number if all(_is_unit(word, apart) for word in words) else text


@lru_cache(maxsize=200_000)
def value_key(plain: str) -> Key:
    """What a plain answer is known by."""
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


def _words(unit: str) -> list[str]:
    return [word for word in re.split(r"[\s/.()-]+", unit.lower()) if word]


def _is_unit(word: str, apart: bool) -> bool:
    """Return whether a word may be a unit.

    Where it touches the number it must not be a product of variables: 5 m, 5cm and 5days, not 5m.
    """
    if len(word) == 1:
        return apart and word in "mgshlcf"
    if _SYMBOL_UNITS.fullmatch(word):
        return True
    return len(word) > (2 if apart else 3) and word.isalpha() and not _NOT_UNITS.fullmatch(word)


def arithmetic(text: str) -> Fraction | None:
    """Work out a sum, product or small power of numbers, such as "(1 + 2)^2 / 3", exactly.

    Return None for anything else.
    """
    text = _POWER.sub(r"^(\1)", _TIMES.sub("*", text)).strip() if len(text) <= 200 else ""
    if not _SUM.fullmatch(text):
        return None
    try:
        return _worked_out(ast.parse(text.replace("^", "**"), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, MemoryError, RecursionError):
        return None


def _worked_out(node: ast.expr) -> Fraction:
    """Work out a parsed sum exactly; raise ValueError for anything but arithmetic."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _worked_out(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left = _worked_out(node.left)
        right = _worked_out(node.right)
        if type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](left, right)
        size = max(left.numerator.bit_length(), left.denominator.bit_length())
        if isinstance(node.op, ast.Pow) and right.denominator == 1 and size * abs(right) < _BITS:
            return left ** int(right)
    raise ValueError("not plain arithmetic")


def fraction(text: str) -> Fraction | None:
    """Return the number that a text is, as a fraction; None if it is none."""
    match = _VALUE.fullmatch(text) if len(text) < 300 else None
    if not match:
        return None
    sign, top, top1, bottom, bottom1, whole, part, of, over, under, decimal = match.groups()
    if decimal:
        value = Fraction(decimal.replace(",", ""))
    else:
        above = int(top or top1 or part or over)
        below = int(bottom or bottom1 or of or under)
        if below == 0:
            return None
        value = int(whole or 0) + Fraction(above, below)
    return -value if sign == "-" else value
