"""What a student gets: notebooks without solutions. Quizzes stay as they are: they are practice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

_MARK = re.compile(
    r"^(?P<fence>:{3,})\{solution-(?P<which>start|end)\}.*?^(?P=fence)\s*?$", re.M | re.S
)
_WHOLE = re.compile(r"^:{3,}\{solution\}", re.M)


def _parts(cells: Sequence[NotebookNode]) -> Iterator[tuple[int, str, bool]]:
    """The parts of all cells: the place of its cell, its text, and whether a solution holds it."""
    inside = False
    for at, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            yield at, cell.source, inside
            continue
        if _WHOLE.search(cell.source):
            raise ValueError(
                "mark a solution with {solution-start} and {solution-end}, not with {solution}"
            )
        begin = 0
        for mark in _MARK.finditer(cell.source):
            yield at, cell.source[begin : mark.start()], inside
            begin = mark.end()
            opens = mark["which"] == "start"
            if opens and inside:
                raise ValueError("a solution opens inside another")
            if not opens and not inside:
                raise ValueError("a solution ends that was never opened")
            inside = opens
        yield at, cell.source[begin:], inside
    if inside:
        raise ValueError("the last solution has no {solution-end}")


def without_solutions(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The cells without what stands between the marks of a solution."""
    kept: dict[int, list[str]] = {}
    for at, part, is_solution in _parts(cells):
        if part.strip() and not is_solution:
            kept.setdefault(at, []).append(part.strip("\n"))
    return [NotebookNode({**cells[at], "source": "\n\n".join(kept[at])}) for at in kept]


def solution_cells(cells: Sequence[NotebookNode]) -> tuple[list[str], list[tuple[int, str]]]:
    """The texts of the solutions, and their code with its place among the cells."""
    solutions = [(at, part) for at, part, is_one in _parts(cells) if is_one and part.strip()]
    texts = [part.strip() for at, part in solutions if cells[at].cell_type == "markdown"]
    return texts, [(at, part) for at, part in solutions if cells[at].cell_type == "code"]


def for_students(notebook: NotebookNode) -> NotebookNode:
    """Return a chapter as students get it, without its solutions."""
    return NotebookNode({**notebook, "cells": without_solutions(notebook.cells)})
