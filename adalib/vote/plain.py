r"""The plain form of an answer, and the exact number that it is.

Answers are compared by their plain form, which has no typesetting, units or closing punctuation.
"$1{,}250.", "1250 dollars" and "1,250" all become "1250", "x = 5" becomes "5", and "(b) Paris" the
letter "B". Where the plain form is a number, such as "2 1/2", "\frac{5}{2}", "2.5e3" or "(1 + 2)^2
/ 3", its value is a fraction, so that nothing is rounded: 0.1 + 0.2 is 3/10.
"""

from __future__ import annotations

import ast
import operator
import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

#: What a plain answer is recognised by: the numbers that it may stand for (two for a percentage),
#: or its letters.
Key = tuple[Fraction, ...] | str

#: Characters of an answer that are looked at; a longer one is compared word for word.
LONGEST_ANSWER = 1_000

# Every repetition below is over one simple class or bounded, so that no text makes the search slow.
#: A number without a sign: thousands commas, decimals, a power of ten.
DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3}(?!\d))?|\.\d+"
_LATEX_FRACTION = r"\\[dtc]?frac\s?(?:\{\s?-?\d+\s?\}|\d)\s?(?:\{\s?\d+\s?\}|\d)"
# A number as much of Europe writes it, which no other reading fits: 1.000,50 and 1.234.567.
_DOTTED = r"\d{1,3}(?:(?:\.\d{3})+,\d{1,2}|(?:\.\d{3}){2,})(?![\d.,]*\d)"
#: A number anywhere in a text, with its sign, its dollar and its percent.
NUMBER = re.compile(
    rf"(?<![\w.])[-+]?\$?(?:{_LATEX_FRACTION}|\d+ \d+/\d+|\d+/\d+|{_DOTTED}|{DIGITS})"
    r"\s?(?:\\?%)?(?!\w)"
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

_OPENING = " *_\"'#,;:"  # what may open an answer without belonging to it
_CLOSING = " *_\"'.,;:!?"  # what may close it

CHOICE = re.compile(
    r"[(\[]?([A-Ja-j])[)\].:]{0,2}|(?:[(\[]([A-J])[)\]]|([A-J])[).:]) .*"
    r"|([A-J]),? (?:because|since|as) .*"
)
WORD = re.compile(r"[^\W\d_]{3}")
COMMAND = re.compile(r"\\(?:begin|end)\{\w*\}|\\[a-zA-Z]+|\b(?:sqrt|frac|sin|cos|tan|log|exp)\b")

# A number and its unit, such as "12 square feet" and "5 cm^2".
_WITH_UNIT = re.compile(
    rf"(?P<number>[-+]?\s?(?:\d+/\d+|{DIGITS}))\s?"
    r"(?P<unit>[^\W\d_][^\d^{}]{0,60})(?:\^?\{?[23]\}?)?"
)
# A formula and its unit, such as "\frac{1}{2} square feet".
_FORMULA_WITH_UNIT = re.compile(
    r"(?P<formula>.*(?:\}|\\pi)) (?P<unit>[a-z][a-z /.-]{1,60})(?:\^?\{?[23]\}?)?"
)
# A repetition of the number, such as "12 (twelve)" and "20 (4 * 5)".
_ASIDE = re.compile(r"(?<=\d) \((?:[\d\s.,+*/=%-]{1,40}|[a-zA-Z]{3}[a-zA-Z\s]{0,40})\)$")
_VARIABLE = re.compile(r"[a-zA-Z](?:_?\w|_\{\w{1,3}\}|\(\w\))?")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_WITH_DOTS = re.compile(rf"(?<![\d.,]){_DOTTED}")
_COMMA_AS_POINT = str.maketrans(",", ".", ".")
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


@lru_cache(maxsize=200_000)
def plain_form(answer: str) -> str:
    """Return an answer without typesetting, currency, units, thousands commas and closing marks."""
    if len(answer) > LONGEST_ANSWER:
        return answer.strip()
    text = _without_typesetting(answer)
    choice = CHOICE.fullmatch(text)
    if choice:
        return next(letter for letter in choice.groups() if letter).upper()
    text = _right_side(text)
    if not _has_bracket(text):  # (1,200) is a pair
        text = _WITH_DOTS.sub(lambda number: number.group().translate(_COMMA_AS_POINT), text)
        text = _THOUSANDS.sub(lambda number: number.group().replace(",", ""), text)
    return _without_unit(text)


def _without_typesetting(answer: str) -> str:
    """Return an answer in plain characters, without what only surrounds or repeats it."""
    # Before normalising, which turns ² into 2, and after it, which makes some of these symbols.
    text = unicodedata.normalize("NFKC", answer.translate(_SYMBOLS)).translate(_SYMBOLS)
    for pattern, plain in _TYPESETTING:
        text = pattern.sub(plain, text)
    text = text.lstrip(_OPENING).rstrip(_CLOSING)
    text = _ASIDE.sub("", text)
    if text.endswith((")", "]")) and not _has_bracket(text):  # nothing opened it
        text = text[:-1].rstrip(_CLOSING)
    return text


def _has_bracket(text: str) -> bool:
    return any(bracket in text for bracket in "([{")


def _right_side(text: str) -> str:
    """Return the 5 of "x = 5" and of "2 + 3 = 5"; any other text unchanged."""
    left, equals, right = text.partition("=")
    if not equals or "=" in right or "," in right:
        return text
    if _VARIABLE.fullmatch(left.strip()) or arithmetic(left) is not None:
        return right.strip()
    return text


def _without_unit(text: str) -> str:
    """Return a number without its unit, with its scale ("3 million") multiplied in."""
    measured = _WITH_UNIT.fullmatch(text)
    if not measured:
        return _formula_without_unit(text)
    apart = text[measured.end("number")] == " "
    number = measured["number"].replace(",", "").strip()
    words = _words(measured["unit"])
    if words[0] in _SCALES:
        factor = fraction(number)
        if factor is not None:
            return str(factor * _SCALES[words[0]])
    if words[0] in ("percent", "percentage"):
        return number + "%"
    return number if all(_is_unit(word, apart) for word in words) else text


def _formula_without_unit(text: str) -> str:
    """Return a formula without its unit."""
    measured = _FORMULA_WITH_UNIT.fullmatch(text)
    if measured and all(_is_unit(word, apart=True) for word in _words(measured["unit"])):
        return measured["formula"]
    return text


def _words(unit: str) -> list[str]:
    """Return the words of a unit: "km/h per day" has four."""
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
