"""Reading an answer out of a text, and telling when two answers are the same.

A text is reduced to the answer it gives, the answer to a plain form without units and typesetting; plain forms are
compared as exact numbers where they are numbers, as mathematics where they look like it, and as words otherwise.

What an answer is can be told in one word, its kind: ``number``, ``choice``, ``yesno``, ``label:red,green``,
``json:total.value``, ``regex:Total (\\d+)``, ``python:module:function`` (of the text, giving the answer or ""), or
``auto``. ``auto`` tries, in this order: an answer that is marked as one (a box, "Answer:", "####"); a reply that is
nothing but a letter, or nothing but yes or no; a number where a result stands in the last line. It reads no number out
of code, a time or a story.
"""

from __future__ import annotations

import ast
import asyncio
import json
import math
import operator
import re
import unicodedata
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adalib.vote.judge import Reading

__all__ = ["Meaning", "answer_classes", "answer_reader", "extract_answer", "is_free_text", "judged", "same_answer"]

_TAIL = 200_000  # characters read from the end of a text; no answer is given earlier than that
_MARKERS = 200  # times that a text may say "Answer:" and give none before we stop looking
_CLOSING = " *_\"'.,;:!?"  # what may close an answer without belonging to it
_LINE = 1_000  # characters of an answer that are looked at; a longer one is compared word for word

# Every repetition below is over one simple class or bounded, so that no text makes the search slow.
_OPENED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACES = re.compile(_OPENED.pattern + r"|\\.|[{}]", re.DOTALL)
_MARKER = re.compile(r"answer(?: is)?\s{0,3}(?:\*\*|__)?\s{0,3}[:=]|answer is\b|####", re.IGNORECASE)
_PLAIN = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3}(?!\d))?|\.\d+"
_FRACTION = r"\\[dtc]?frac\s?(?:\{\s?-?\d+\s?\}|\d)\s?(?:\{\s?\d+\s?\}|\d)"
_NUMBER = re.compile(rf"(?<![\w.])[-+]?\$?(?:{_FRACTION}|\d+ \d+/\d+|\d+/\d+|{_PLAIN})\s?(?:\\?%)?(?!\w)")
_VALUE = re.compile(
    rf"([-+]?)\s?(?:\\frac\s?(?:\{{(-?\d+)\}}|(\d))\s?(?:\{{(\d+)\}}|(\d))|(\d+) (\d+)/(\d+)|(\d+)/(\d+)|({_PLAIN}))"
)
_UNIT = re.compile(rf"([-+]?\s?(?:\d+/\d+|{_PLAIN}))\s?([^\W\d_][^\d^{{}}]{{0,60}})(?:\^?\{{?[23]\}}?)?")
_FORMULA_UNIT = re.compile(r"(.*(?:\}|\\pi)) ([a-z][a-z /.-]{1,60})(?:\^?\{?[23]\}?)?")  # \frac{1}{2} square feet
_CHOICE = re.compile(
    r"[(\[]?([A-Ja-j])[)\].:]{0,2}|(?:[(\[]([A-J])[)\]]|([A-J])[).:]) .*|([A-J]),? (?:because|since|as) .*"
)
_ASIDE = re.compile(r"(?<=\d) \((?:[\d\s.,+*/=%-]{1,40}|[a-zA-Z]{3}[a-zA-Z\s]{0,40})\)$")  # 12 (twelve), 20 (4 * 5)
_VARIABLE = re.compile(r"[a-zA-Z](?:_?\w|_\{\w{1,3}\}|\(\w\))?")
_CONNECTED = re.compile(r"\b(?:in|per|for|each|every|from|after|because|since|at|of|on|when|if|so|as)\b")
_WORD = re.compile(r"[^\W\d_]{3}")
_UNMATHEMATICAL = re.compile(r"[:@#?&;~'\"]|\d\s+\d|\d\.\d+\.|[-+*/=^]\s?$|^\s?[*/=^]")
_COMMAND = re.compile(r"\\(?:begin|end)\{\w*\}|\\[a-zA-Z]+|\b(?:sqrt|frac|sin|cos|tan|log|exp)\b")
_TYPESETTING = [
    (re.compile(pattern), plain)
    for pattern, plain in [
        (r"(?<!\\)\\!", ""),  # 1,\!000
        (r"\\(?:text|mathrm|textbf|mathbf|textit|mathit|mbox|operatorname)\s?\{([^{}]{0,200})\}", r" \1 "),
        (r"\\(?:left|right|big|Big|displaystyle|limits)(?![a-zA-Z])|(?<!\\)\\[,;:()\[\]]|[`~]", " "),
        (r"\\?[$€£¥₹]", ""),
        (r"(?<!\\)\\ ", " "),  # but not the end of a matrix's row
        (r"\\[dtc]frac", r"\\frac"),
        (r"\s?\^\s?\{?\s?\\circ\s?\}?|\\degree|°", " degrees "),
        (r"\\%", "%"),
        (r"\{,\}", ","),
        (r"\s+", " "),
    ]
]
_SYMBOLS = str.maketrans({"²": "^2", "³": "^3", "−": "-", "×": "*", "÷": "/", "π": "\\pi ", "∞": "\\infty ", "⁄": "/"})
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SYMBOL_UNITS = re.compile(r"[cmk]m|[km]g|gm|[cm]l|in|ft|yd|mi|lb|lbs|oz|hr|hrs|yr|min|sec|ms|mph|kph|hz|am|pm")
_NOT_UNITS = re.compile(r"sqrt|sin|cos|tan|log|exp|mod|and")

_TIMES = re.compile(r"(?<=[\d)])\s?(?:\\times|\\cdot|[xX])\s?(?=[\d(.-])|(?<=[\d)])(?=\()")
_SUM = re.compile(r"[\d\s.+*/()^-]{1,100}")
_POWER = re.compile(r"\^\s?\{\s?(-?\d{1,6})\s?\}")
_BITS = 65_536  # of a power; larger ones are not worked out
_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}

_Key = tuple[Fraction, ...] | str  # the numbers that an answer may stand for (two for a percentage), or its letters
Reader = Callable[[str, bool], str]  # (text, whether it was finished) -> the answer, "" where there is none
Embed = Callable[[Sequence[str]], Awaitable[tuple[list[list[float]], int]]]  # texts -> vectors, and tokens read

# What the kinds of answers look for.
_LATE = 20_000  # characters read from the end of a text by kind
_LONG = 1_500  # characters from which an unmarked text is taken for prose
_PROSE = 200  # characters of which a short answer has fewer
_OBJECTS = 50  # braces tried as the beginning of an object
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = re.compile(r"^\s*(?:return|def|class|import|from|print|for|while|if|elif|else|var|let|const)\b|[;{}]\s*$|=>|==")
_NO_NUMBER = re.compile(  # dates, times, years, versions
    r"\d+(?:[:/.-]\d+){2,}|\b\d{1,2}:\d\d\b|\b(?:in|since|by|until|of) (?:1[5-9]|20)\d\d\b|\bv\d[\d.]*"
)
_LETTER = re.compile(r"[\s*_(\[]*([A-J])(?:[\s*_)\].:]*|[)\].:][\s*_]*\s.{0,200})", re.DOTALL)
_NAMED = re.compile(r"\b(?:answer|option|choice)\b(?: is)?[\s:*_(\[]{0,6}([A-J])\b(?!')", re.IGNORECASE)
_TRUTH = re.compile(r"\W{0,5}(yes|no|true|false)\b", re.IGNORECASE)
_WORKED = re.compile(r"\d\s?[-+*/×x=]\s?\$?\d")
_RESULT = re.compile(
    r"(?:^|=|≈|:|\b(?:is|are|was|were|be|equals?|to|makes?|gives?|gets?|costs?|has|have|had|totals?|leaves?|pays?|needs?"
    r"|takes?|so|thus|therefore|exactly|about|only)\b)[\s*_$]*(-?\$?[\d.,/]*\d%?)"
    r"(?: ?[^\W\d_]{1,9})?(?: [^\W\d_]{1,30}){0,4}[\s*_.!$]{0,9}$",
    re.IGNORECASE,
)


def extract_answer(text: str, finished: bool = True) -> str:
    r"""Read the answer that a text gives.

    The last balanced ``\boxed{...}``; else what follows the last "Answer:", "answer is" or "####"; else, if the text
    was finished, the last number in it; else "". Typesetting, ``$``, units, closing full stops and thousands commas
    are dropped. Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    text : str
        What the model wrote: any text, of any length (the last 200,000 characters are read).
    finished : bool
        False when the text was cut by a length limit: its last number is then a number on the way, not an answer.

    Returns
    -------
    str

    Examples
    --------
    >>> extract_answer(r"So the total is \boxed{\$1{,}250.} dollars"), extract_answer("Answer: 12 apples.")
    ('1250', '12')
    >>> extract_answer("First 3, then 4"), extract_answer("First 3, then 4", finished=False)
    ('4', '')
    """
    text = text[-_TAIL:]
    boxed = _last_boxed(text)
    if boxed:
        return _plain(boxed)
    for marker in reversed(deque(_MARKER.finditer(text), maxlen=_MARKERS)):
        line = text[marker.end() : marker.end() + _LINE].lstrip(" \t\r\n*_:=").split("\n")[0]
        line = _OPENED.split(line)[-1] if finished else line  # a box that was never closed
        answer = _from_sentence(re.split(r"[.;]\s", line)[0])
        if answer:
            return answer
    numbers = _NUMBER.findall(text) if finished else []
    return _plain(numbers[-1]) if numbers else ""


def same_answer(a: str, b: str) -> bool:
    r"""Whether two answers are the same answer.

    Numbers are compared exactly (1,000 = 1000, 1/2 = 0.5 = ``\frac12``), but two that are not whole also agree when
    they differ by under a millionth, so 0.333333 is 1/3 and 0.33 is not. Units and currency are ignored. A percentage
    equals both its readings (50% = 50 and 50% = 0.5), for questions ask for either; 50 and 0.5 differ. Formulas are
    compared by their values at a few fixed points, words without case and spaces, and a choice by its letter
    ("(B) Paris" = "b"). An empty answer equals none. Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    a, b : str
        As extracted or as given.

    Returns
    -------
    bool

    Examples
    --------
    >>> same_answer("1/2", "0.5"), same_answer("$1,000", "1000 dollars"), same_answer("x+1", "1+x"), same_answer("", "")
    (True, True, True, False)
    """
    a, b = _plain(a), _plain(b)
    return bool(a and b) and _same(a, b)


def answer_classes(answers: Sequence[str]) -> np.ndarray:
    """Number the answers by equivalence class, in order of first appearance.

    An answer joins the first class whose first member it equals, so the classes are a partition even where
    equivalence by itself is not transitive. An empty answer never votes and is -1; a formula too large to work out
    equals only what is written like it. Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    answers : sequence of str
        The sampled answers to one question.

    Returns
    -------
    ndarray of int, shape (len(answers),)

    Examples
    --------
    >>> answer_classes(["7", "1/2", "", "0.5", "7.0"])
    array([ 0,  1, -1,  1,  0])
    """
    return judged(answers)[0]


def judged(answers: Sequence[str]) -> tuple[np.ndarray, dict[str, str]]:
    """The classes of `answer_classes`, and the formulas that were given up, each with the limit that it met.

    An answer is compared only with classes whose values lie near its own: the work does not grow with their square."""
    texts = [_plain(answer) for answer in answers]
    first: dict[_Key, str] = {}
    for text in filter(None, dict.fromkeys(texts)):
        first.setdefault(_key(text), text)
    formulas = [text for key, text in first.items() if isinstance(key, str) and _mathematical(text)]
    if len(formulas) == 1 and (len(first) == 1 or _never_a_number(formulas[0])):
        formulas = []  # nothing to compare it with: reading takes milliseconds
    readings = {text: _reading(text) for text in formulas}
    classes: dict[_Key, int] = {}
    members: list[str] = []  # the first member of each class
    drawers: dict[tuple, list[int]] = {}  # the classes by where their values lie
    for key, text in first.items():
        places = _places(key, readings.get(text))
        near = {c for shape, step in places for at in (step - 1, step, step + 1) for c in drawers.get((shape, at), ())}
        classes[key] = next((c for c in sorted(near) if _same(members[c], text)), len(members))
        if classes[key] == len(members):
            members.append(text)
            for place in places:
                drawers.setdefault(place, []).append(classes[key])
    given_up = {text: reading.given_up for text, reading in readings.items() if reading.given_up}
    own = {text: classes[_key(text)] if text else -1 for text in set(texts)}
    return np.array([own[text] for text in texts], dtype=int), given_up


def _last_boxed(text: str) -> str:
    """The content of the last ``\\boxed{...}`` whose braces balance, in one pass over the braces."""
    opened: list[int] = []  # where the content of each open brace begins; negative when it is an ordinary brace
    begin, content = -1, ""
    start = re.search(r"\\boxed|\\fbox", text)
    for token in _BRACES.finditer(text, start.start()) if start else ():
        mark = token.group()
        if mark == "}":
            at = opened.pop() if opened else -1
            if at > begin and text[at : token.start()].strip():
                begin, content = at, text[at : min(token.start(), at + _LINE)]
        elif mark == "{":
            opened.append(-1)
        elif mark[-1] == "{" and len(mark) > 2:
            opened.append(token.end())
    return content


def _from_sentence(sentence: str) -> str:
    """The answer in what follows "Answer:": as it stands, or the one number of a sentence in words."""
    answer = _plain(sentence)
    if isinstance(_key(answer), str) and not _CHOICE.fullmatch(answer):
        before, equals, after = answer.rpartition("=")
        after = _plain(after)
        if equals and "," not in before and not isinstance(_key(after), str):
            return after
        numbers = _NUMBER.findall(answer)
        if numbers and _WORD.search(_COMMAND.sub(" ", answer)):
            if len(numbers) == 1:
                return _plain(numbers[0])
            # "42 because ...", "42 pages in 7 days", "so it is 42"
            if answer.count(" ") > 5 or _CONNECTED.search(answer):
                return _plain(numbers[0] if _NUMBER.match(answer) else numbers[-1])
    return answer


@lru_cache(maxsize=200_000)
def _plain(answer: str) -> str:
    """An answer without typesetting, currency, units, thousands commas and closing punctuation."""
    if len(answer) > _LINE:
        return answer.strip()
    text = unicodedata.normalize("NFKC", answer.translate(_SYMBOLS)).translate(_SYMBOLS)
    for pattern, plain in _TYPESETTING:
        text = pattern.sub(plain, text)
    text = text.lstrip(" *_\"'#,;:").rstrip(_CLOSING)
    text = _ASIDE.sub("", text)
    if text[-1:] in (")", "]") and not any(bracket in text for bracket in "([{"):
        text = text[:-1].rstrip(_CLOSING)
    choice = _CHOICE.fullmatch(text)
    if choice:
        return next(letter for letter in choice.groups() if letter).upper()
    name, equals, value = text.partition("=")
    if equals and not re.search("[=,]", value) and (_VARIABLE.fullmatch(name.strip()) or arithmetic(name) is not None):
        text = value.strip()  # x = 5, 2 + 3 = 5
    if not any(bracket in text for bracket in "([{"):  # (1,200) is a pair
        text = re.sub(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])", lambda number: number.group().replace(",", ""), text)
    with_unit = _UNIT.fullmatch(text)
    if not with_unit:
        formula = _FORMULA_UNIT.fullmatch(text)
        return formula[1] if formula and all(_is_unit(word, True) for word in _words(formula[2])) else text
    apart = text[with_unit.end(1)] == " "
    number = with_unit[1].replace(",", "").strip()
    words = _words(with_unit[2])
    factor = _fraction(number) if words[0] in _SCALES else None
    if factor is not None:
        return str(factor * _SCALES[words[0]])
    if words[0] in ("percent", "percentage"):
        return number + "%"
    return number if all(_is_unit(word, apart) for word in words) else text


def _words(unit: str) -> list[str]:
    return [word for word in re.split(r"[\s/.()-]+", unit.lower()) if word]


def _is_unit(word: str, apart: bool) -> bool:
    """Any word, but where it touches the number only what is no product of variables: 5 m and 5cm and 5days, not 5m."""
    if len(word) == 1:
        return apart and word in "mgshlcf"
    if _SYMBOL_UNITS.fullmatch(word):
        return True
    return len(word) > (2 if apart else 3) and word.isalpha() and not _NOT_UNITS.fullmatch(word)


@lru_cache(maxsize=200_000)
def _key(plain: str) -> _Key:
    """What a plain answer is known by."""
    text = plain.removesuffix("%").strip()
    number = _fraction(text)
    if number is None:
        number = arithmetic(text)
    if number is None:
        return "".join(plain.split()).casefold()
    return (number, number / 100) if plain.endswith("%") else (number,)


def _same(a: str, b: str) -> bool:
    """Whether two plain answers are the same; the commonest cases first."""
    p, q = _key(a), _key(b)
    if p == q:
        return True
    if isinstance(p, tuple) and isinstance(q, tuple):
        return any(_close(x, y) for x in p for y in q)
    for plain, key in ((a, q), (b, p)):  # a percentage is no formula, a variable no number
        if isinstance(key, tuple) and (len(key) == 2 or _never_a_number(plain)):
            return False
    return _mathematical(a) and _mathematical(b) and _reading(a).equals(_reading(b))


def _reading(plain: str) -> Reading:
    """What the judge makes of an answer."""
    from adalib.vote.judge import read, read_number  # here, because computer algebra takes a second to load

    key = _key(plain)
    return read(plain) if isinstance(key, str) else read_number(key[0])


def _places(key: _Key, reading: Reading | None) -> list[tuple[tuple, int]]:
    """The drawers in which answers equal to this one lie, give or take one: of each of its meanings, by its value."""
    places: list[tuple[tuple, float | Fraction]] = []
    if isinstance(key, tuple):
        places = [(("value",), value) for value in key]
    elif reading:
        forms = (*reading.forms, *reading.told)  # those that agree have the first value nearly in common
        places = [(form.shape, float(form.values[0][0].real) if form.values else 0.0) for form in forms]
    # What is near, absolutely or relatively, is at most a drawer apart; all that is huge lies together.
    return [(shape, math.floor(1000 * math.asinh(max(-1e300, min(value, 1e300))))) for shape, value in places]


def arithmetic(text: str) -> Fraction | None:
    """Work out a sum, product or small power of plain numbers such as "(1 + 2)^2 / 3", exactly; None if it is none."""
    text = _POWER.sub(r"^(\1)", _TIMES.sub("*", text)).strip() if len(text) <= 200 else ""
    if not _SUM.fullmatch(text):
        return None
    try:
        return _worked_out(ast.parse(text.replace("^", "**"), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, MemoryError, RecursionError):
        return None


def _worked_out(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _worked_out(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _worked_out(node.left), _worked_out(node.right)
        if type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](left, right)
        size = max(left.numerator.bit_length(), left.denominator.bit_length())
        if isinstance(node.op, ast.Pow) and right.denominator == 1 and size * abs(right) < _BITS:
            return left ** int(right)
    raise ValueError("not plain arithmetic")


def _fraction(text: str) -> Fraction | None:
    match = _VALUE.fullmatch(text) if len(text) < 300 else None
    if not match:
        return None
    sign, top, top1, bottom, bottom1, whole, part, of, over, under, decimal = match.groups()
    if decimal:
        value = Fraction(decimal.replace(",", ""))
    else:
        above, below = int(top or top1 or part or over), int(bottom or bottom1 or of or under)
        if below == 0:
            return None
        value = int(whole or 0) + Fraction(above, below)
    return -value if sign == "-" else value


def _close(p: Fraction, q: Fraction) -> bool:
    if p.denominator == 1 or q.denominator == 1:
        return p == q
    return abs(p - q) * 10**6 <= min(Fraction(1), max(abs(p), abs(q)))


@lru_cache(maxsize=200_000)
def _never_a_number(plain: str) -> bool:
    """Holds a variable, a list or a relation."""
    return re.search(r"[a-df-hj-zA-Z,=<>]", _COMMAND.sub(" ", plain)) is not None


@lru_cache(maxsize=200_000)
def _mathematical(plain: str) -> bool:
    """Worth asking math-verify, which makes something of nearly anything: 10:30 it divides, 12 12 it multiplies."""
    return (
        plain.isascii()
        and not plain.isalpha()
        and plain.count("=") < 2
        and sum(map(plain.count, "([{")) == sum(map(plain.count, ")]}"))
        and not _UNMATHEMATICAL.search(plain.replace("&", ",") if "matrix}" in plain else plain)
        and not _WORD.search(_COMMAND.sub(" ", plain))
    )


@lru_cache
def answer_reader(kind: str = "auto") -> Reader:
    """The function that reads answers of a kind out of texts."""
    word, _, more = kind.partition(":")
    plain: dict[str, Reader] = {"auto": _auto, "number": _number, "choice": _choice, "yesno": _yes_no}
    if word in plain and not more:
        return plain[word]
    if word == "label" and (labels := tuple(filter(None, map(str.strip, more.split(","))))):
        return partial(_label, labels)
    if word == "json" and more:
        return partial(_field, tuple(more.split(".")))
    if word == "regex" and more:
        try:
            return partial(_match, re.compile(more))
        except re.error as error:
            raise ValueError(f"the kind {kind!r} holds no regular expression ({error}); mend the pattern") from None
    if word == "python" and more.count(":") == 1:
        own = _imported(more)
        return lambda text, finished: str(own(text) or "").strip()
    known = "auto, number, choice, yesno, label:a,b, json:field, regex:pattern or python:module:function"
    raise ValueError(f"the kind of answers is {kind[:80]!r}; choose {known}")


def is_free_text(text: str) -> bool:
    """Whether a text without an answer is no try at one: code, or many words and no sums."""
    return "```" in text or (len(text) > _PROSE and not _WORKED.search(text))


class Meaning:
    """Answers in words that are one by their meaning: by a function of two, or by embeddings with a cosine of ``at``.

    Numbers, letters, formulas, yes or no and words with other numbers in them are never one by meaning."""

    def __init__(self, own: str = "", embed: Embed | None = None, at: float = 0.8, price: float = 0.0) -> None:
        self.own, self.embed = _imported(own) if own else same_answer, embed
        self.at, self.price = at, price  # in dollars per million tokens

    async def find(self, new: str, known: Sequence[str]) -> tuple[str | None, int]:
        """The known answer that means the same, if one does, and the tokens that were read to tell."""
        words = [one for one in known if _numbers_of(one) == _numbers_of(new) is not None]
        if not words or not self.embed:
            return await asyncio.to_thread(lambda: next((one for one in words if self.own(one, new)), None)), 0
        rows, read = await self.embed([new, *words])
        unit = np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)
        near = unit[1:] @ unit[0]
        return words[int(near.argmax())] if near.max() >= self.at else None, read


def short_text(text: str) -> str:
    """A text that may be an answer as it stands, "" where it is long or code."""
    return text.strip() if len(text) <= _PROSE and not is_free_text(text) and not _CODE.search(text) else ""


def _numbers_of(answer: str) -> list[str] | None:
    """The numbers in an answer in words, None for one in figures, letters or a formula, and for yes or no."""
    plain = _plain(answer)
    in_words = _WORD.search(_COMMAND.sub(" ", plain)) and not _TRUTH.fullmatch(plain)
    return _NUMBER.findall(plain) if in_words else None


def _auto(text: str, finished: bool) -> str:
    text = _FENCE.sub("\n", text[-_LATE:])
    marked = extract_answer(text, finished=False)
    if marked or not finished:
        return marked
    if (letter := _LETTER.fullmatch(text)) and letter[1] != "I":  # which is a word, too
        return letter[1]
    if len(text) < 40 and (truth := _TRUTH.match(text)):
        return _as_yes_no(truth[1])
    line = _last_line(text)
    if len(text) > _LONG or _CODE.search(line) or _NO_NUMBER.search(line):
        return ""
    if result := _RESULT.search(line):
        return extract_answer(result[1])
    return extract_answer(line) if _WORKED.search(text) else ""


def _number(text: str, finished: bool) -> str:
    text = _FENCE.sub("\n", text[-_LATE:])
    marked, line = extract_answer(text, finished=False), _last_line(text)
    return marked if marked or not finished or _CODE.search(line) else extract_answer(_NO_NUMBER.sub(" ", line))


def _choice(text: str, finished: bool) -> str:
    marked, line = extract_answer(text, finished=False), _last_line(text)
    for told in (marked, text if len(text) < 200 else "", line):
        if letter := _LETTER.fullmatch(told):
            return letter[1]
    named = _NAMED.findall(text[-_LATE:])
    return named[-1].upper() if named else ""


def _yes_no(text: str, finished: bool) -> str:
    for told in (extract_answer(text, finished=False), _last_line(text) if finished else "", text):
        if truth := _TRUTH.match(told):
            return _as_yes_no(truth[1])
    return ""


def _as_yes_no(word: str) -> str:
    return "yes" if word.lower() in ("yes", "true") else "no"


def _label(labels: tuple[str, ...], text: str, finished: bool) -> str:
    """The label that stands last in what is marked, else in the last line, else anywhere."""
    longest_first = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    whole = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)", re.IGNORECASE)
    for told in (extract_answer(text, finished=False), _last_line(text), text[-_LATE:]):
        if found := whole.findall(told):
            return next(one for one in labels if one.casefold() == found[-1].casefold())
    return ""


def _field(path: tuple[str, ...], text: str, finished: bool) -> str:
    """A field of the first object in the text that has it."""
    text = text[-_LATE:]
    for start in [brace.start() for brace in re.finditer(r"\{", text)][:_OBJECTS]:
        try:
            value: Any = json.JSONDecoder().raw_decode(text, start)[0]
            for name in path:
                value = value[name]
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
        return value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return ""


def _match(pattern: re.Pattern[str], text: str, finished: bool) -> str:
    found = deque(pattern.finditer(text[-_LATE:]), maxlen=1)
    return (found[0][1 if pattern.groups else 0] or "").strip() if found else ""


def _imported(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    try:
        found = getattr(import_module(module), function)
        if not callable(found):
            raise ValueError
    except (ImportError, AttributeError, ValueError):
        raise ValueError(f"python:{name} is no function that can be imported; name one of a text") from None
    return found


def _last_line(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1][-_LINE:]
