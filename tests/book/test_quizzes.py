"""The quizzes as they are kept: five a chapter or more, every option explained, and the right one not given away."""

from __future__ import annotations

import re

import nbformat
import pytest
from conftest import ROOT

CHAPTERS = [
    path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if "## Quiz" in path.read_text(encoding="utf-8")
]
OPTION = re.compile(r"^ +- \[(?P<mark>[ x])\] (?P<text>.+?) \*(?P<why>[^*].*)\*$")


def questions(path) -> list[list[re.Match]]:
    """The options of every question of a chapter's quiz."""
    text = "\n".join(c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown")
    quiz = text.split("## Quiz")[1].split("\n:::\n")[0]
    asked = re.split(r"^\d+\. ", quiz, flags=re.MULTILINE)[1:]
    return [[OPTION.match(line) for line in part.splitlines() if line.lstrip().startswith("- [")] for part in asked]


def test_every_chapter_and_the_appendix_ask():
    numbered = {path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")}
    assert {path.stem for path in CHAPTERS} == numbered | {"appendix_markets"}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_five_questions_each_with_one_right_option_and_every_option_explained(path):
    asked = questions(path)
    assert len(asked) >= 5
    for options in asked:
        assert len(options) >= 3
        assert None not in options, "an option needs a text and its explanation in italics"
        assert [option["mark"] for option in options].count("x") == 1
        assert len({option["text"] for option in options}) == len(options)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_right_option_of_a_chapter_has_no_fixed_place(path):
    places = [[option["mark"] for option in options].index("x") for options in questions(path)]
    assert max(places.count(place) for place in places) <= 3


def test_neither_length_nor_place_gives_the_right_option_away():
    """Over the book the right option is the longest, the shortest, or in one place hardly more often than chance."""
    asked = [options for path in CHAPTERS for options in questions(path)]
    chance = sum(1 / len(options) for options in asked)
    longest = shortest = 0
    places = [0, 0, 0, 0, 0]
    for options in asked:
        right = next(option for option in options if option["mark"] == "x")
        others = [len(option["text"]) for option in options if option is not right]
        longest += len(right["text"]) > max(others)
        shortest += len(right["text"]) < min(others)
        places[options.index(right)] += 1
    assert longest <= chance
    assert shortest <= chance * 1.1
    assert max(places) <= 1.25 * chance
