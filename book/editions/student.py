"""What a student gets: the sources without solutions, and quizzes without marked options.

Solutions are cut out of the source before anything else sees it, so that neither a page, nor its
source, nor the search index can hold them. A quiz keeps its explanations, locked;
``book/_static/locked.js`` opens them on the page. The lock hides an answer from a reader of the
source, as a folded solution does; it is no secret.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Mapping

from nbformat import NotebookNode

from editions.text import spelled_out
from mathml import to_mathml

_MARK = re.compile(
    r"^(?P<fence>:{3,})\{solution-(?P<which>start|end)\}.*?^(?P=fence)\s*?$", re.M | re.S
)
_WHOLE = re.compile(r"^:{3,}\{solution\}", re.M)
# An option of a quiz: its mark, its text, and the explanation in italics that ends it.
_OPTION = re.compile(
    r"^(?P<dash> *- )\[(?P<mark>[ xX])\] "
    r"(?P<text>(?:.|\n(?! *- \[| *\d+\. |:::|\n))*?)"
    r" *\*(?P<why>[^*]+)\*[ ]*$",
    re.M,
)
_ASKS = (
    r"^(?P<fence>:{3,})\{admonition\}[^\n]*\n:class:[^\n]*\b(?:quiz|prompt)\b.*?^(?P=fence)\s*?$"
)
_QUIZ = re.compile(_ASKS, re.M | re.S)


def _parts(text: str, inside: bool) -> Iterator[tuple[str, bool]]:
    """The parts of a Markdown cell, each with whether it belongs to a solution."""
    if _WHOLE.search(text):
        raise ValueError(
            "mark a solution with {solution-start} and {solution-end}, not with {solution}"
        )
    at = 0
    for mark in _MARK.finditer(text):
        opens = mark["which"] == "start"
        if opens == inside:
            raise ValueError(
                "a solution opens inside another"
                if opens
                else "a solution ends that was never opened"
            )
        yield text[at : mark.start()], inside
        at = mark.end()
        inside = opens
    yield text[at:], inside


def _walk(cells: list[NotebookNode]) -> Iterator[tuple[NotebookNode, list[tuple[str, bool]]]]:
    """Every cell with its parts; a code cell is one part."""
    inside = False
    for cell in cells:
        parts = (
            list(_parts(cell.source, inside))
            if cell.cell_type == "markdown"
            else [(cell.source, inside)]
        )
        yield cell, parts
        inside = parts[-1][1]
    if inside:
        raise ValueError("the last solution has no {solution-end}")


def without_solutions(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells without what stands between the marks of a solution."""
    kept = []
    for cell, parts in _walk(cells):
        text = "\n\n".join(
            part.strip("\n") for part, solution in parts if not solution and part.strip()
        )
        if text:
            kept.append(NotebookNode({**cell, "source": text}))
    return kept


def solution_cells(cells: list[NotebookNode]) -> tuple[list[str], list[tuple[int, str]]]:
    """The texts of the solutions, and their code with its place among the cells."""
    texts = []
    code = []
    for at, (cell, parts) in enumerate(_walk(cells)):
        for part, solution in parts:
            if solution and part.strip():
                if cell.cell_type == "code":
                    code.append((at, part))
                else:
                    texts.append(part.strip())
    return texts, code


def lock(text: str, salt: str) -> str:
    """Return a text that cannot be read without its salt, in letters that any file may hold."""
    state = 2166136261
    locked = bytearray()
    for byte in salt.encode():
        state = (state ^ byte) * 16777619 & 0xFFFFFFFF
    for byte in text.encode():
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        locked.append(byte ^ state >> 24)
    return base64.urlsafe_b64encode(bytes(locked)).decode().rstrip("=")


def locked_quizzes(text: str, values: Mapping[str, str]) -> str:
    """A Markdown text whose quizzes and prompts show neither which option is right nor why.

    Of a prompt with a single option, a number to be guessed, the option itself is locked, too.
    ``values`` are the numbers that explanations quote.
    """

    def lock_option(option: re.Match, guessed: bool) -> str:
        shown = option["text"]
        why = spelled_out(" ".join(option["why"].split()), values)
        why = re.sub(r"\$([^$]+)\$", lambda formula: to_mathml(formula[1]), why)
        mark = "1" if option["mark"] in "xX" else "0"
        salt = f"{zlib.crc32((shown + why).encode()):08x}"
        kept = lock(json.dumps([mark, why, spelled_out(shown, values) if guessed else ""]), salt)
        span = f'<span class="quiz-lock" data-salt="{salt}" data-lock="{kept}"></span>'
        return f"{option['dash']}[ ] {'' if guessed else shown + ' '}{span}"

    def lock_quiz(quiz: re.Match) -> str:
        options = len(re.findall(r"^ *- \[[ xX]\] ", quiz[0], re.M))
        locked = _OPTION.sub(lambda option: lock_option(option, guessed=options == 1), quiz[0])
        if locked.count("quiz-lock") != options:
            raise ValueError(
                f"every option of a quiz ends with its explanation in italics: {quiz[0][:60]!r}"
            )
        return locked

    return _QUIZ.sub(lock_quiz, text)


def for_students(notebook: NotebookNode, values: Mapping[str, str]) -> NotebookNode:
    """Return a chapter as students get it; ``values`` are the numbers that its quizzes quote."""
    cells = without_solutions(notebook.cells)
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = locked_quizzes(cell.source, values)
    return NotebookNode({**notebook, "cells": cells})
