"""What an answer is: a number, a letter, yes or no, a label, a field of JSON, or whatever one's own function reads.

A kind is told in one word: ``number``, ``choice``, ``yesno``, ``label:red,green``, ``json:total.value``,
``regex:Total (\\d+)``, ``python:module:function`` (of the text, giving the answer or ""), and ``auto``. ``auto`` tries,
in this order: an answer that is marked as one (a box, "Answer:", "####"); a reply that is nothing but a letter, or
nothing but yes or no; a number where a result stands in the last line. It reads no number out of code, a time or a
story.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from adalib.vote.answers import extract_answer

__all__ = ["answer_reader", "is_free_text"]

Reader = Callable[[str, bool], str]  # (text, whether it was finished) -> the answer, "" where there is none

_TAIL = 20_000  # characters read from the end of a text
_LONG = 1_500  # characters from which an unmarked text is taken for prose
_PROSE = 200  # characters of which a short answer has fewer
_LINE = 1_000  # and of its last line
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


@lru_cache
def answer_reader(kind: str = "auto") -> Reader:
    r"""The function that reads answers of a kind out of texts.

    >>> read = answer_reader("choice")
    >>> read("**B**", True), read("(B) Paris", True), read("I think the answer is B.", True)
    ('B', 'B', 'B')
    >>> answer_reader("auto")("    return x+1", True), answer_reader("json:n")('{"n": 3}', True)
    ('', '3')
    """
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
        return partial(_own, _imported(more))
    known = "auto, number, choice, yesno, label:a,b, json:field, regex:pattern or python:module:function"
    raise ValueError(f"the kind of answers is {kind[:80]!r}; choose {known}")


def is_free_text(text: str) -> bool:
    """Whether a text without an answer is no try at one: code, or many words and no sums."""
    return "```" in text or (len(text) > _PROSE and not _WORKED.search(text))


def _auto(text: str, finished: bool) -> str:
    text = _FENCE.sub("\n", text[-_TAIL:])
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
    text = _FENCE.sub("\n", text[-_TAIL:])
    marked = extract_answer(text, finished=False)
    line = _last_line(text)
    if marked or not finished or _CODE.search(line):
        return marked
    return extract_answer(_NO_NUMBER.sub(" ", line))


def _choice(text: str, finished: bool) -> str:
    marked, line = extract_answer(text, finished=False), _last_line(text)
    for told in (marked, text if len(text) < 200 else "", line):
        if letter := _LETTER.fullmatch(told):
            return letter[1]
    named = _NAMED.findall(text[-_TAIL:])
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
    for told in (extract_answer(text, finished=False), _last_line(text), text[-_TAIL:]):
        if found := whole.findall(told):
            return next(one for one in labels if one.casefold() == found[-1].casefold())
    return ""


def _field(path: tuple[str, ...], text: str, finished: bool) -> str:
    """A field of the first object in the text that has it."""
    text = text[-_TAIL:]
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
    found = deque(pattern.finditer(text[-_TAIL:]), maxlen=1)
    return (found[0][1 if pattern.groups else 0] or "").strip() if found else ""


def _imported(name: str) -> Callable[[str], Any]:
    module, _, function = name.partition(":")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError):
        raise ValueError(f"python:{name} cannot be imported; name a function as python:module:function") from None
    if not callable(found):
        raise ValueError(f"python:{name} is no function; name one that takes a text and gives the answer")
    return found


def _own(function: Callable[[str], Any], text: str, finished: bool) -> str:
    return str(function(text) or "").strip()


def _last_line(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1][-_LINE:]
