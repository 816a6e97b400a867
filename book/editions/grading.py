"""The instructor's notes on grading: kind, time and typical mistakes of every exercise.

All of it is read from where it is written already: kinds and order from the notebooks, mistakes
from the exercises that judge the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat

from adabook.exercises import Exercise, checks
from adabook.exercises.behaviour import Construction
from adabook.exercises.values import Value
from contents import Page, pages
from directives import Block, blocks

#: Minutes that an exercise takes, by the word that opens it.
MINUTES = {"read": 5, "compute": 10, "build": 20, "prove": 30}

_PAGE = """# Notes on grading

The chapters' exercises are practice: their solutions are in the book, and `check` gives hints and no marks. Marks come from homework with your secret (`make homework`). If you grade a chapter all the same, a value counts 1 point, a construction 2, a function 3 and a proof 4. Minutes are for a student who has just read the chapter.

A check of a proof tries its lines on many cases, and says which step fails or that none does. It gives no points: read the reasons between the lines yourself, or ask for one aloud.

| kind | full points | half | none |
|---|---|---|---|
| a value | within the tolerance that the check names | the right way written down and a slip at the end | a number without a way, if you asked for one |
| a construction | the object has the property, with a sentence why | the property fails at a margin | an object of another kind |
| a function | right on every case of the check | right but for ties, or for an empty input | right on one example alone |
| a proof | each step holds, and you accept its reason | one step without a reason | a step that fails on a case |

"""


class Row(NamedTuple):
    """An exercise as the page lists it."""

    number: str
    kind: str
    core: bool
    name: str
    mistakes: list[str]

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return MINUTES[self.kind]


def rows(page: Page) -> list[Row]:
    """The exercises of a page, in their order."""
    found = []
    exercises = checks(page.key).exercises
    for at, (heading, name) in enumerate(_asked(page.path), 1):
        exercise = exercises[name]
        number = f"{page.number}.{at}" if page.number else str(at)
        kind = heading.split()[0]
        found.append(Row(number, kind, "(core)" in heading, name, _loses(exercise)))
    return found


def _asked(path: Path) -> Iterator[tuple[str, str]]:
    """The heading of every exercise of a notebook, and the name that its check calls it."""
    heading = ""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            for part in blocks(cell.source):
                if isinstance(part, Block) and part.name == "exercise":
                    heading = part.argument
        elif heading and (asked := re.search(r'\bcheck\(\s*"([^"]+)"', cell.source)):
            yield heading, asked[1]
            heading = ""


def _loses(exercise: Exercise) -> list[str]:
    """The typical mistakes that an exercise tells apart."""
    if isinstance(exercise, Value):
        return list(exercise.wrong)
    if isinstance(exercise, Construction):
        return [exercise.more]
    return [exercise.hint, *exercise.mistakes]


def grading_page(root: Path) -> str:
    """The page as Markdown, for the book under ``root``."""
    parts = [_PAGE]
    for page in pages(root):
        listed = rows(page) if page.path.suffix == ".ipynb" else []
        if not listed:
            continue
        place = f"{page.place.capitalize()}: {page.title}" if page.number else page.title
        minutes = sum(row.minutes for row in listed)
        core = sum(row.minutes for row in listed if row.core)
        lines = [
            f"## {place}",
            "",
            f"Exercises take {minutes} minutes in all, the core ones {core}.",
            "",
            "| exercise | kind | minutes | typical mistakes, or what helps to see it |",
            "|---|---|---|---|",
        ]
        for row in listed:
            kind = f"{row.kind} (core)" if row.core else row.kind
            mistakes = " • ".join(row.mistakes).replace("|", "\\|")
            title = f"{row.number} *{row.name}*"
            cells = [title, kind, str(row.minutes), mistakes]
            lines.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(lines) + "\n\n")
    return "".join(parts)
