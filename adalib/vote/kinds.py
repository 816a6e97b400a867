"""The kind of an answer, in one word.

``number``, ``choice``, ``yesno``, ``label:red,green``, ``json:total.value`` or ``auto`` are data,
and a file may name them. ``regex:Total (\\d+)`` and ``python:module:function`` (of the text, giving
the answer or "") come from the command line of the person who runs the program, and never from a
file: a function is code, and a pattern can be made to run for hours. Patterns are matched by RE2,
whose time grows with the length of the text alone, so that no pattern and no text can hold a
server.

``auto`` tries, in this order: an answer that is marked as one (a box, "Answer:", "####"); a reply
that is nothing but a letter, or nothing but yes or no; a number where the last line states a
result. It reads no number out of code, a time or a story.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from adalib.vote.extract import extract_answer
from adalib.vote.plain import LONGEST_ANSWER, TRUTH

__all__ = [
    "Reader",
    "answer_reader",
    "imported_function",
    "is_free_text",
    "short_text",
    "storable_kind",
]

# (text, whether it was finished) -> the answer, "" where there is none
Reader = Callable[[str, bool], str]

FROM_THE_USER = ("regex", "python")  # kinds that no file may bring
_KINDS = (
    "auto, number, choice, yesno, label:a,b, json:field, regex:pattern or python:module:function"
)

_LATE = 20_000  # characters read from the end of a text by kind
_LONG = 1_500  # characters from which an unmarked text is taken for prose
_PROSE = 200  # characters of which a short answer has fewer
_OBJECTS = 50  # braces tried as the beginning of an object
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = re.compile(
    r"^\s*(?:return|def|class|import|from|print|for|while|if|elif|else|var|let|const)\b|[;{}]\s*$|=>|=="
)
_NO_NUMBER = re.compile(  # dates, times, years, versions
    r"\d+(?:[:/.-]\d+){2,}|\b\d{1,2}:\d\d\b"
    r"|\b(?:in|since|by|until|of) (?:1[5-9]|20)\d\d\b|\bv\d[\d.]*"
)
_LETTER = re.compile(r"[\s*_(\[]*([A-J])(?:[\s*_)\].:]*|[)\].:][\s*_]*\s.{0,200})", re.DOTALL)
_NAMED = re.compile(
    r"\b(?:answer|option|choice)\b(?: is)?[\s:*_(\[]{0,6}([A-J])\b(?!')", re.IGNORECASE
)
_WORKED = re.compile(r"\d\s?[-+*/×x=]\s?\$?\d")
_RESULT = re.compile(
    r"(?:^|=|≈|:|\b(?:is|are|was|were|be|equals?|to|makes?|gives?|gets?|costs?|has|have|had|totals?|leaves?|pays?|needs?"
    r"|takes?|so|thus|therefore|exactly|about|only)\b)[\s*_$]*(-?\$?[\d.,/]*\d%?)"
    r"(?: ?[^\W\d_]{1,9})?(?: [^\W\d_]{1,30}){0,4}[\s*_.!$]{0,9}$",
    re.IGNORECASE,
)


@lru_cache
def answer_reader(kind: str = "auto") -> Reader:
    """Return the function that reads answers of a kind out of texts.

    It compiles the pattern of a ``regex:`` and imports the function of a ``python:``, so ``kind``
    must come from the user; what a file says goes through `storable_kind` first.
    """
    word, _, detail = kind.partition(":")
    plain: dict[str, Reader] = {
        "auto": _auto,
        "number": _number,
        "choice": _choice,
        "yesno": _yes_no,
    }
    if word in plain and not detail:
        return plain[word]
    if word == "label" and _labels(detail):
        return partial(_label, _labels(detail))
    if word == "json" and detail:
        return partial(_field, tuple(detail.split(".")))
    if word == "regex" and detail:
        return partial(_match, _compiled(detail))
    if word == "python" and detail.count(":") == 1:
        function = imported_function(detail)
        return lambda text, finished: str(function(text) or "").strip()
    if word in FROM_THE_USER and not detail:
        example = "regex:PATTERN" if word == "regex" else "python:module:function"
        raise ValueError(
            f"these answers are read by a {word} of your own, which no file may bring; "
            f"give --kind {example}, as when the router was fitted"
        )
    raise ValueError(f"the kind of answers is {kind[:80]!r}; choose {_KINDS}")


def storable_kind(kind: Any) -> str:
    """Return what a file may say about the kind of its answers; raise ValueError for anything else.

    A kind that only the user may give is reduced to its first word, which `answer_reader` refuses
    with the option to give. Nothing is imported or compiled here.
    """
    if not isinstance(kind, str):
        raise ValueError(f"the kind of answers is no text; choose {_KINDS}")
    word, _, detail = kind.partition(":")
    if word in FROM_THE_USER:
        return word
    answer_reader(kind)
    return kind


def _labels(detail: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, detail.split(","))))


def _compiled(pattern: str) -> Any:
    """Compile a pattern of the user's by RE2, which cannot backtrack."""
    try:
        import re2
    except ModuleNotFoundError:
        raise ValueError("the kind regex needs a package: run pip install google-re2") from None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise ValueError(
            f"the kind regex:{pattern[:80]} holds no regular expression of RE2 ({why}); "
            "mend the pattern"
        ) from None


def _match(pattern: Any, text: str, finished: bool) -> str:
    """The last match in the text: its first group, or all of it where the pattern has none."""
    found = deque(pattern.finditer(text[-_LATE:]), maxlen=1)
    return (found[0][1 if pattern.groups else 0] or "").strip() if found else ""


def is_free_text(text: str) -> bool:
    """Whether a text without an answer is no try at one: code, or many words and no sums."""
    return "```" in text or (len(text) > _PROSE and not _WORKED.search(text))


def short_text(text: str) -> str:
    """A text that may be an answer as it stands, "" where it is long or code."""
    return (
        text.strip()
        if len(text) <= _PROSE and not is_free_text(text) and not _CODE.search(text)
        else ""
    )


def _auto(text: str, finished: bool) -> str:
    """Read an answer of any kind: marked, a letter, yes or no, or a worked-out number."""
    text = _FENCE.sub("\n", text[-_LATE:])
    marked = extract_answer(text, finished=False)
    if marked or not finished:
        return marked
    if (letter := _LETTER.fullmatch(text)) and letter[1] != "I":  # which is a word, too
        return letter[1]
    if len(text) < 40 and (truth := TRUTH.match(text)):
        return _as_yes_no(truth[1])
    line = _last_line(text)
    if len(text) > _LONG or _CODE.search(line) or _NO_NUMBER.search(line):
        return ""
    if result := _RESULT.search(line):
        return extract_answer(result[1])
    return extract_answer(line) if _WORKED.search(text) else ""


def _number(text: str, finished: bool) -> str:
    """Read a number: the marked one, else the last of a finished text."""
    text = _FENCE.sub("\n", text[-_LATE:])
    marked = extract_answer(text, finished=False)
    line = _last_line(text)
    return (
        marked
        if marked or not finished or _CODE.search(line)
        else extract_answer(_NO_NUMBER.sub(" ", line))
    )


def _choice(text: str, finished: bool) -> str:
    """Read a letter of a multiple choice: marked, alone, or the last one named."""
    marked = extract_answer(text, finished=False)
    line = _last_line(text)
    for place in (marked, text if len(text) < 200 else "", line):
        if letter := _LETTER.fullmatch(place):
            return letter[1]
    named = _NAMED.findall(text[-_LATE:])
    return named[-1].upper() if named else ""


def _yes_no(text: str, finished: bool) -> str:
    for place in (extract_answer(text, finished=False), _last_line(text) if finished else "", text):
        if truth := TRUTH.match(place):
            return _as_yes_no(truth[1])
    return ""


def _as_yes_no(word: str) -> str:
    return "yes" if word.lower() in ("yes", "true") else "no"


def _label(labels: tuple[str, ...], text: str, finished: bool) -> str:
    """The label that comes last in the marked answer, else in the last line, else anywhere."""
    for place in (extract_answer(text, finished=False), _last_line(text), text[-_LATE:]):
        ends = [(_end_of_last(label.casefold(), place.casefold()), label) for label in labels]
        end, longest = max((end, len(label)) for end, label in ends)
        if end:
            return next(label for at, label in ends if (at, len(label)) == (end, longest))
    return ""


def _end_of_last(word: str, text: str) -> int:
    """Return where a word, whole, last ends in a text; 0 if it does not occur."""
    start = text.rfind(word)
    while start >= 0:
        end = start + len(word)
        touches = text[start - 1 : start] + text[end : end + 1]
        if not any(letter.isalnum() or letter == "_" for letter in touches):
            return end
        start = text.rfind(word, 0, end - 1)
    return 0


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


def imported_function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    try:
        found = getattr(import_module(module), function)
        if not callable(found):
            raise ValueError
    except (ImportError, AttributeError, ValueError):
        raise ValueError(
            f"python:{name} is no function that can be imported; name one of a text"
        ) from None
    return found


def _last_line(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1][-LONGEST_ANSWER:]
