"""What of the house style a machine can hold: rates with "per", one format for intervals, British
spelling."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT, prose, toc_pages

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


@pytest.mark.parametrize("page", PAGES)
def test_the_style_of_the_house(page):
    text = text_of(page)
    for rule, broken in RULES.items():
        found = [
            " ".join(text[max(0, one.start() - 40) : one.end() + 20].split())
            for one in broken.finditer(text)
        ]
        assert found == [], rule
