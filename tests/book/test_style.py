"""What of the house style a machine can hold: length, rates with "per", one format for intervals,
plain headings."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT, prose, toc_pages

from contents import chapters

CHAPTERS = [page.stem for page in chapters(appendices=False)]
PAGES = [*(page for page in toc_pages() if page != "book/references"), "README"]

UNITS = "answers|samples|tokens|cents|points|dollars|calls"
NUMBER = r"[+−-]?(?:\d[\d.]*|\{(?:points|glue:text)\}`[^`]+`)"
RULES = {
    "a rate has per": re.compile(
        rf"\b(?:{UNITS}) an? (?:question|answer|day|month|second|request)\b"
        r"|\b(?:row|column|line|deck|file|token)"
        r" an? (?:question|answer|budget|line|chapter|student|setting)\b"
    ),
    "an interval is [low, high]": re.compile(rf"\({NUMBER}(?: points)? to {NUMBER}(?: points)?\)"),
    "the spelling is British": re.compile(
        r"\b(?:behavior|optimiz|randomiz|normaliz|summariz|formaliz|neighbor)\w*"
    ),
}


def text_of(page: str) -> str:
    """The prose of a page, without listings and without the titles of references."""
    file = ROOT / f"{page}.md"
    text = (
        file.read_text(encoding="utf-8")
        if file.exists()
        else prose(page.removeprefix("notebooks/"))
    )
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def running_words(chapter: str) -> int:
    """Words of a chapter's running text: no exercises, quiz, formulas, directives or signposts."""
    before_exercises, _, rest = prose(chapter).partition("\n## Exercises")
    text = before_exercises + rest[rest.find("\n## Takeaways") :]
    text = re.sub(r"\$\$.*?\$\$|```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"\$[^$]*\$", "symbol", text)
    signpost = r"\*(?:Stop|Next stop) .*\*"
    text = re.sub(rf"^(?::.*|\(.*\)=|{signpost})$", "", text, flags=re.MULTILINE)
    return len(text.split())


def test_the_book_can_be_finished():
    counted = {chapter: running_words(chapter) for chapter in CHAPTERS}
    assert max(counted.values()) <= 2_500, counted
    assert sum(counted.values()) <= 22_000, counted


@pytest.mark.parametrize("page", PAGES)
def test_the_style_of_the_house(page):
    text = text_of(page)
    for rule, broken in RULES.items():
        found = [
            " ".join(text[max(0, one.start() - 40) : one.end() + 20].split())
            for one in broken.finditer(text)
        ]
        assert found == [], rule
