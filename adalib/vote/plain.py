r"""The plain form of an answer: without typesetting, units and closing punctuation.

Answers are compared by this form. "$1{,}250.", "1250 dollars" and "1,250" all become "1250", "x =
5" becomes "5", and "(b) Paris" the letter "B".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from adalib.vote.plain_numbers import DIGITS, arithmetic, fraction

#: Characters of an answer that are looked at; a longer one is compared word for word.
LONGEST_ANSWER = 1_000

_OPENING = " *_\"'#,;:"  # what may open an answer without belonging to it
_CLOSING = " *_\"'.,;:!?"  # what may close it

# Every repetition below is over one simple class or bounded, so that no text makes the search slow.
CHOICE = re.compile(
    r"[(\[]?([A-Ja-j])[)\].:]{0,2}|(?:[(\[]([A-J])[)\]]|([A-J])[).:]) .*"
    r"|([A-J]),? (?:because|since|as) .*"
)
TRUTH = re.compile(r"\W{0,5}(yes|no|true|false)\b", re.IGNORECASE)
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
