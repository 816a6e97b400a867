"""The notation page tells the truth: every symbol is used in the chapter that it names."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT, prose

import contents

# A symbol is a row of tokens; a word inside \text{} or \mathrm{} is one of them, spaces and braces
# are none.
TOKEN = re.compile(
    r"\\(?:text|mathrm|operatorname\*?|begin|end|tag|mathbf|mathcal)\{[^{}]*\}|\\[a-zA-Z]+|\\.|\S"
)
NO_TOKEN = {r"\,", r"\;", r"\!", r"\:", r"\quad", r"\left", r"\right", "{", "}"}
NO_TOKEN |= {r"\big", r"\Big", r"\bigl", r"\bigr"}


def tokens(formula: str) -> list[str]:
    return [token for token in TOKEN.findall(formula) if token not in NO_TOKEN]


def formulas(path) -> list[list[str]]:
    text = re.sub(r"`[^`]*`", "", prose(path.stem))
    return [
        tokens(shown or inline)
        for shown, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$]+?)\$", text, re.S)
    ]


def holds(formula: list[str], symbol: list[str]) -> bool:
    """Whether a formula holds a symbol, and not only as the start of one with an index."""
    n = len(symbol)
    return any(
        formula[i : i + n] == symbol and (i + n == len(formula) or formula[i + n] not in "_^")
        for i in range(len(formula) - n + 1)
    )


# Of every chapter, in the order of the book.
CHAPTERS = {page.key: formulas(page.path) for page in contents.chapters(appendices=False)}
LISTED: dict[str, list[str]] = {}
for line in (ROOT / "book" / "notation.md").read_text(encoding="utf-8").split("\n"):
    if row := re.fullmatch(r"\| (.+?) \| (.+) \| chapter \{ch\}`(\w+)` \|", line.strip()):
        for written in re.findall(r"\$([^$]+)\$", row[1]):
            LISTED.setdefault(written.split("=")[0].strip(), []).append(row[3])


@pytest.mark.parametrize("written", LISTED)
def test_a_symbol_is_used_where_the_page_says(written):
    symbol = tokens(written)
    found = [
        chapter
        for chapter, shown in CHAPTERS.items()
        if any(holds(formula, symbol) for formula in shown)
    ]
    assert set(LISTED[written]) <= set(found), f"used only in {found}: mend book/notation.md"
