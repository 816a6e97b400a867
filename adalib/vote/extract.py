"""Read the answer that a text gives: what it marks as one, else a number, a letter or its words."""

from __future__ import annotations

import re
from collections import deque
from typing import Literal, get_args

from adalib.vote.plain import CHOICE, COMMAND, LONGEST_ANSWER, NUMBER, WORD, plain_form, value_key

Kind = Literal["number", "choice", "text"]

_SHORT = 200  # characters of a text that may itself be the answer
_TAIL = 200_000  # characters read from the end of a text; no answer is given earlier than that
_MAX_MARKERS = 200  # times that a text may say "Answer:" and give none before we stop looking

_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BOX_OR_BRACE = re.compile(_BOX.pattern + r"|\\.|[{}]", re.DOTALL)
_MARKER = re.compile(
    r"answer(?: is)?\s{0,3}(?:\*\*|__)?\s{0,3}[:=]|answer is\b|####", re.IGNORECASE
)
# A letter that is all of a text, or that its option follows: "(B)", "B. Paris".
_LETTER = re.compile(r"[\s*_(\[]*([A-J])(?:[\s*_)\].:]*|[)\].:][\s*_]*\s.{0,200})", re.DOTALL)
_NAMED_LETTER = re.compile(
    r"\b(?:answer|option|choice)\b(?: is)?[\s:*_(\[]{0,6}([A-J])\b(?!')", re.IGNORECASE
)
# A word by which a sentence goes on after its answer: "42 because", "42 pages in 7 days".
_CONNECTIVE = re.compile(
    r"\b(?:in|per|for|each|every|from|after|because|since|at|of|on|when|if|so|as)\b"
)


def extract_answer(text: str, finished: bool = True, kind: Kind = "number") -> str:
    r"""Read the answer that a text gives.

    It is the last balanced ``\boxed{...}``, else what follows the last "Answer:", "answer is" or
    "####". If the text marks no answer, ``kind`` says what to look for instead. Typesetting, ``$``,
    units, closing full stops and thousands commas are dropped. Explained in the chapter "One
    question, many answers".

    Parameters
    ----------
    text : str
        What the model wrote: any text, of any length (the last 200,000 characters are read).
    finished : bool
        False when the text was cut by a length limit: its last number is then a number on the way,
        not an answer, and only a marked answer counts.
    kind : {"number", "choice", "text"}
        Without a marked answer, the last number of the text; the letter of a multiple choice, which
        is also all that counts in a marked answer; or the whole text, if it is short.

    Returns
    -------
    str
        The answer in plain form, or "" if none could be read.

    Raises
    ------
    ValueError
        If ``kind`` is none of these words.

    Examples
    --------
    >>> extract_answer(r"So the total is \boxed{\$1{,}250.} dollars")
    '1250'
    >>> extract_answer("Answer: 12 apples.")
    '12'
    >>> extract_answer("First 3, then 4"), extract_answer("First 3, then 4", finished=False)
    ('4', '')
    >>> extract_answer("I choose option (C).", kind="choice"), extract_answer("Paris", kind="text")
    ('C', 'Paris')
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be 'number', 'choice' or 'text', got {kind!r}")
    text = text[-_TAIL:]
    marked = _marked(text, finished)
    if kind == "choice":
        return _letter(marked, text)
    if marked or not finished:
        return marked
    if kind == "text":
        return plain_form(text) if len(text) <= _SHORT else ""
    numbers = NUMBER.findall(text)
    return plain_form(numbers[-1]) if numbers else ""


def marks_answer(text: str) -> bool:
    """Return whether a text marks a place for its answer: a box, "Answer:", "####"."""
    return bool(_BOX.search(text) or _MARKER.search(text))


def _marked(text: str, finished: bool) -> str:
    """Return the answer in a box, else the one after a marker; "" if nothing is marked."""
    boxed = _last_boxed(text)
    if boxed:
        return plain_form(boxed)
    for marker in reversed(deque(_MARKER.finditer(text), maxlen=_MAX_MARKERS)):
        answer = _marked_answer(text[marker.end() : marker.end() + LONGEST_ANSWER], finished)
        if answer:
            return answer
    return ""


def _letter(marked: str, text: str) -> str:
    """Return the letter of a choice: marked, alone on the last line, or the last one named."""
    short = text if len(text) <= _SHORT else ""
    last_line = text.strip().rsplit("\n", 1)[-1]
    for passage in (marked, short, last_line):
        letter = _LETTER.fullmatch(passage)
        if letter:
            return letter[1]
    named = _NAMED_LETTER.findall(text)
    return named[-1].upper() if named else ""


def _last_boxed(text: str) -> str:
    r"""Return the content of the last ``\boxed{...}`` whose braces balance, in one pass."""
    content = ""
    content_start = -1
    starts: list[int] = []  # of the content of each open box; -1 for an ordinary open brace
    first_box = re.search(r"\\boxed|\\fbox", text)
    if first_box is None:
        return ""
    for token in _BOX_OR_BRACE.finditer(text, first_box.start()):
        mark = token.group()
        if mark == "{":
            starts.append(-1)
        elif mark == "}":
            start = starts.pop() if starts else -1
            end = token.start()
            if start > content_start and text[start:end].strip():
                content_start = start
                content = text[start : min(end, start + LONGEST_ANSWER)]
        elif _BOX.fullmatch(mark):  # not an escaped character, such as \{
            starts.append(token.end())
    return content


def _marked_answer(after: str, finished: bool) -> str:
    """Return the answer in what follows "Answer:"; "" if there is none."""
    line = after.lstrip(" \t\r\n*_:=").split("\n")[0]
    if finished:
        line = _BOX.split(line)[-1]  # what follows a box that was never closed
    first_sentence = re.split(r"[.;]\s", line)[0]
    return _answer_of_sentence(first_sentence)


def _answer_of_sentence(sentence: str) -> str:
    """Return a sentence that is an answer, or the one number that it gives."""
    answer = plain_form(sentence)
    if not isinstance(value_key(answer), str) or CHOICE.fullmatch(answer):
        return answer
    before, equals, after = answer.rpartition("=")
    result = plain_form(after)
    if equals and "," not in before and not isinstance(value_key(result), str):
        return result
    numbers = NUMBER.findall(answer)
    if not numbers or not WORD.search(COMMAND.sub(" ", answer)):
        return answer
    if len(numbers) == 1:
        return plain_form(numbers[0])
    if answer.count(" ") > 5 or _CONNECTIVE.search(answer):
        # "42 because ..." begins with its answer, "so it is 42" ends with it.
        return plain_form(numbers[0] if NUMBER.match(answer) else numbers[-1])
    return answer
