"""What a student gets: notebooks without solutions. Quizzes stay as they are: they are practice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

_MARK = re.compile(
    r"^(?P<fence>:{3,})\{solution-(?P<which>start|end)\}.*?^(?P=fence)\s*?$", re.M | re.S
)
_WHOLE = re.compile(r"^:{3,}\{solution\}", re.M)


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


def for_students(notebook: NotebookNode) -> NotebookNode:
    """Return a chapter as students get it, without its solutions."""
    return NotebookNode({**notebook, "cells": without_solutions(notebook.cells)})
