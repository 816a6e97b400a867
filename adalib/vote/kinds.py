"""Read answers of a kind that the user names in one word, such as ``number`` or ``choice``.

``number``, ``choice``, ``yesno``, ``label:red,green``, ``json:total.value`` and ``auto`` are data,
and a file may name them. ``regex:Total (\\d+)`` and ``python:module:function`` come from the
command line and never from a file, because a function is code and a pattern can be made to run for
hours. The function gets the text and returns the answer, "" for none. Patterns are matched by RE2,
whose time grows with the length of the text alone, so no pattern and no text can block a server.

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
from itertools import islice
from typing import Any

from adalib.vote.extract import extract_answer
from adalib.vote.plain import LONGEST_ANSWER, TRUTH

# (text, whether it was finished) -> the answer, "" where there is none
Reader = Callable[[str, bool], str]

FROM_THE_USER = ("regex", "python")  # kinds that no file may bring
_KINDS = (
    "auto, number, choice, yesno, label:a,b, json:field, regex:pattern or python:module:function"
)

_TAIL = 20_000  # characters read from the end of a text
_MAX_SHOWN_WORK = 1_500  # characters; a longer text without a marked answer is taken for prose
_MAX_SHORT = 200  # characters of a text that may be an answer as it is
_MAX_OBJECTS = 50  # braces tried as the beginning of a JSON object
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = re.compile(
    r"^\s*(?:return|def|class|import|from|print|for|while|if|elif|else|var|let|const)\b|[;{}]\s*$|=>|=="
)
_NO_NUMBER = re.compile(  # dates, times, years, versions
    r"\d+(?:[:/.-]\d+){2,}|\b\d{1,2}:\d\d\b"
    r"|\b(?:in|since|by|until|of) (?:1[5-9]|20)\d\d\b|\bv\d[\d.]*"
)
# A letter that is all of a text, or that its option follows: "(B)", "B. Paris".
_LETTER = re.compile(r"[\s*_(\[]*([A-J])(?:[\s*_)\].:]*|[)\].:][\s*_]*\s.{0,200})", re.DOTALL)
_NAMED_LETTER = re.compile(
    r"\b(?:answer|option|choice)\b(?: is)?[\s:*_(\[]{0,6}([A-J])\b(?!')", re.IGNORECASE
)
_CALCULATION = re.compile(r"\d\s?[-+*/×x=]\s?\$?\d")
# A number at the end of a line, after a word that states a result: "She pays 12 dollars."
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
    """Return the labels of ``label:red,green``."""
    return tuple(label.strip() for label in detail.split(",") if label.strip())


def _compiled(pattern: str) -> Any:
    """Compile the user's pattern with RE2, which cannot backtrack."""
    try:
        import re2
    except ModuleNotFoundError:
        raise ValueError("the kind regex needs a package: run pip install google-re2") from None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise ValueError(
            f"the kind regex:{pattern[:80]} holds no regular expression of RE2 ({reason}); "
            "mend the pattern"
        ) from None


def _match(pattern: Any, text: str, finished: bool) -> str:
    """Return the last match in the text: its first group, or all of it if the pattern has none."""
    matches = deque(pattern.finditer(text[-_TAIL:]), maxlen=1)
    if not matches:
        return ""
    answer = matches[0][1 if pattern.groups else 0]
    return (answer or "").strip()  # a group that took no part in the match is None


def is_free_text(text: str) -> bool:
    """Whether a text without an answer did not attempt one: code, or many words and no sums."""
    return "```" in text or (len(text) > _MAX_SHORT and not _CALCULATION.search(text))


def short_text(text: str) -> str:
    """Return a text that may be an answer as it is; "" where it is long or code."""
    if len(text) > _MAX_SHORT or is_free_text(text) or _CODE.search(text):
        return ""
    return text.strip()


def _auto(text: str, finished: bool) -> str:
    """Read an answer of any kind: marked, a letter, yes or no, or a worked-out number."""
    text = _FENCE.sub("\n", text[-_TAIL:])
    marked = extract_answer(text, finished=False)
    if marked or not finished:
        return marked
    letter = _LETTER.fullmatch(text)
    if letter and letter[1] != "I":  # which is a word, too
        return letter[1]
    truth = TRUTH.match(text)
    if truth and len(text) < 40:
        return _as_yes_no(truth[1])
    line = _last_line(text)
    if len(text) > _MAX_SHOWN_WORK or _CODE.search(line) or _NO_NUMBER.search(line):
        return ""
    result = _RESULT.search(line)
    if result:
        return extract_answer(result[1])
    return extract_answer(line) if _CALCULATION.search(text) else ""


def _number(text: str, finished: bool) -> str:
    """Read a number: the marked one, else the last of a finished text."""
    text = _FENCE.sub("\n", text[-_TAIL:])
    marked = extract_answer(text, finished=False)
    line = _last_line(text)
    if marked or not finished or _CODE.search(line):
        return marked
    return extract_answer(_NO_NUMBER.sub(" ", line))


def _choice(text: str, finished: bool) -> str:
    """Read a letter of a multiple choice: marked, alone, or the last one named."""
    marked = extract_answer(text, finished=False)
    short = text if len(text) < 200 else ""
    for passage in (marked, short, _last_line(text)):
        letter = _LETTER.fullmatch(passage)
        if letter:
            return letter[1]
    named = _NAMED_LETTER.findall(text[-_TAIL:])
    return named[-1].upper() if named else ""


def _yes_no(text: str, finished: bool) -> str:
    """Read yes or no: marked, at the beginning of the last line, or of the text."""
    marked = extract_answer(text, finished=False)
    last_line = _last_line(text) if finished else ""
    for passage in (marked, last_line, text):
        truth = TRUTH.match(passage)
        if truth:
            return _as_yes_no(truth[1])
    return ""


def _as_yes_no(word: str) -> str:
    """Return "yes" for yes and true, else "no"."""
    return "yes" if word.lower() in ("yes", "true") else "no"


def _label(labels: tuple[str, ...], text: str, finished: bool) -> str:
    """Return the label that comes last in the marked answer, else in the last line, else anywhere.

    Of two that end at the same place the longer one counts: "dark red", not "red".
    """
    marked = extract_answer(text, finished=False)
    for passage in (marked, _last_line(text), text[-_TAIL:]):
        folded = passage.casefold()
        end_of = {label: _end_of_last(label.casefold(), folded) for label in labels}
        last = max(labels, key=lambda label: (end_of[label], len(label)))
        if end_of[last]:
            return last
    return ""


def _end_of_last(word: str, text: str) -> int:
    """Return where a word, whole, last ends in a text; 0 if it does not occur."""
    start = text.rfind(word)
    while start >= 0:
        end = start + len(word)
        neighbours = text[start - 1 : start] + text[end : end + 1]
        if not any(letter.isalnum() or letter == "_" for letter in neighbours):
            return end
        start = text.rfind(word, 0, end - 1)
    return 0


def _field(path: tuple[str, ...], text: str, finished: bool) -> str:
    """Return a field of the first JSON object in the text that has it."""
    text = text[-_TAIL:]
    braces = islice(re.finditer(r"\{", text), _MAX_OBJECTS)
    for start in [brace.start() for brace in braces]:
        try:
            value: Any = json.JSONDecoder().raw_decode(text, start)[0]
            for name in path:
                value = value[name]
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
        return value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return ""


def imported_function(name: str) -> Callable[..., Any]:
    """Import ``module:function``, which the user named; ValueError if there is none."""
    module, _, function = name.partition(":")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError):
        found = None
    if not callable(found):
        raise ValueError(f"python:{name} is no function that can be imported; name one of a text")
    return found


def _last_line(text: str) -> str:
    """Return the end of the last line that is not blank."""
    return text.strip().rsplit("\n", 1)[-1][-LONGEST_ANSWER:]
