"""Reading the answer that a text gives: a box, a marked line, or the last number."""

from __future__ import annotations

import re
from collections import deque

from adalib.vote.plain import CHOICE, COMMAND, LONGEST_ANSWER, NUMBER, WORD, plain_form, value_key

__all__ = ["extract_answer"]

_TAIL = 200_000  # characters read from the end of a text; no answer is given earlier than that
_MARKERS = 200  # times that a text may say "Answer:" and give none before we stop looking

_OPENED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACES = re.compile(_OPENED.pattern + r"|\\.|[{}]", re.DOTALL)
_MARKER = re.compile(
    r"answer(?: is)?\s{0,3}(?:\*\*|__)?\s{0,3}[:=]|answer is\b|####", re.IGNORECASE
)
_CONNECTED = re.compile(
    r"\b(?:in|per|for|each|every|from|after|because|since|at|of|on|when|if|so|as)\b"
)


def extract_answer(text: str, finished: bool = True) -> str:
    r"""Read the answer that a text gives.

    The last balanced ``\boxed{...}``; else what follows the last "Answer:", "answer is" or "####";
    else, if the text was finished, the last number in it; else "". Typesetting, ``$``, units,
    closing full stops and thousands commas are dropped. Explained in the chapter "One question,
    many answers".

    Parameters
    ----------
    text : str
        What the model wrote: any text, of any length (the last 200,000 characters are read).
    finished : bool
        False when the text was cut by a length limit: its last number is then a number on the way,
        not an answer.

    Returns
    -------
    str
        The answer in plain form, or "" if none could be read.

    Examples
    --------
    >>> extract_answer(r"So the total is \boxed{\$1{,}250.} dollars")
    '1250'
    >>> extract_answer("Answer: 12 apples.")
    '12'
    >>> extract_answer("First 3, then 4"), extract_answer("First 3, then 4", finished=False)
    ('4', '')
    """
    text = text[-_TAIL:]
    boxed = _last_boxed(text)
    if boxed:
        return plain_form(boxed)
    for marker in reversed(deque(_MARKER.finditer(text), maxlen=_MARKERS)):
        line = (
            text[marker.end() : marker.end() + LONGEST_ANSWER].lstrip(" \t\r\n*_:=").split("\n")[0]
        )
        line = _OPENED.split(line)[-1] if finished else line  # a box that was never closed
        answer = _from_sentence(re.split(r"[.;]\s", line)[0])
        if answer:
            return answer
    numbers = NUMBER.findall(text) if finished else []
    return plain_form(numbers[-1]) if numbers else ""


def _last_boxed(text: str) -> str:
    """Return the content of the last ``\boxed{...}`` whose braces balance, in one pass."""
    opened: list[
        int
    ] = []  # where the content of each open brace begins; negative when it is an ordinary brace
    begin = -1
    content = ""
    start = re.search(r"\\boxed|\\fbox", text)
    for token in _BRACES.finditer(text, start.start()) if start else ():
        mark = token.group()
        if mark == "}":
            at = opened.pop() if opened else -1
            if at > begin and text[at : token.start()].strip():
                begin = at
                content = text[at : min(token.start(), at + LONGEST_ANSWER)]
        elif mark == "{":
            opened.append(-1)
        elif mark[-1] == "{" and len(mark) > 2:
            opened.append(token.end())
    return content


def _from_sentence(sentence: str) -> str:
    """Return the answer after "Answer:", as it is or as the one number of a sentence."""
    answer = plain_form(sentence)
    if isinstance(value_key(answer), str) and not CHOICE.fullmatch(answer):
        before, equals, after = answer.rpartition("=")
        after = plain_form(after)
        if equals and "," not in before and not isinstance(value_key(after), str):
            return after
        numbers = NUMBER.findall(answer)
        if numbers and WORD.search(COMMAND.sub(" ", answer)):
            if len(numbers) == 1:
                return plain_form(numbers[0])
            # "42 because ...", "42 pages in 7 days", "so it is 42"
            if answer.count(" ") > 5 or _CONNECTED.search(answer):
                return plain_form(numbers[0] if NUMBER.match(answer) else numbers[-1])
    return answer
